"""Profile and whatif see one link in a capture: the same sides, the same busier direction, the same doubts."""

from pathlib import Path

import pytest

import mayfly
from mayfly.profile.answer import profile
from mayfly.profile.sentences import first_sentences

DATA = Path(__file__).parents[3] / "shared/data/pcap"
OFFICE = "captures/office.pcap.gz"


def seen(path, **options):
    """Bytes by direction and doubts of the profile, offered load and notes of whatif."""
    document = profile([path], bootstrap=0, **options).document()
    fields = {"replications": 1, "duration": "1s", "probes.ping": False, "probes.call": False}
    summary = mayfly.whatif(path, "10mbit", 300, disciplines="fifo", overrides=fields, **options).summary
    return document, summary


def shared(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the checkout")
    return str(path)


@pytest.mark.parametrize(
    "name", ["enterprise_ad_lab.pcap.gz", "oddities/ip-in-mpls.pcap.gz", "echo_connections.pcap.gz"]
)
def test_profile_and_whatif_find_the_same_busier_direction(name):
    document, summary = seen(shared(name))
    ways = document["link"]["directions"]
    assert sum(way["bytes"] for way in ways.values()) > 0
    # Whatif replays payload in packets of its own: the shares are close, not equal.
    whole = sum(way["bytes"] for way in ways.values())
    # An echo is as long as its call: neither direction is busier, but for headers.
    if abs(ways["down"]["bytes"] - ways["up"]["bytes"]) > 0.1 * whole:
        assert max(ways, key=lambda way: ways[way]["bytes"]) == summary["links"]["busier"]
    offered = {way: summary["links"][way]["offered_mbps"] or 0.0 for way in ways}
    for way, of in ways.items():
        assert offered[way] / sum(offered.values()) == pytest.approx(of["bytes"] / whole, abs=0.1)


def test_traffic_of_one_side_is_told_by_both():
    document, summary = seen(shared("enterprise_ad_lab.pcap.gz"))
    for told in (first_sentences(document), summary["notes"]):
        assert any("pass between hosts of one side" in sentence for sentence in told)


def test_a_clock_that_jumped_by_days_is_told_by_both():
    document, summary = seen(shared("tcptrace_urgent.dmp.gz"))
    for told in (first_sentences(document), summary["notes"]):
        (said,) = [sentence for sentence in told if "a clock that jumped" in sentence]
        assert "cut it there" in said


def test_a_capture_without_a_jump_has_no_such_doubt():
    document, summary = seen(OFFICE, internal=["10.10.0.0/24"])
    assert not any("jumped" in sentence for sentence in [*first_sentences(document), *summary.get("notes", [])])
    assert document["link"]["near"]["crossing"] > 0.99
