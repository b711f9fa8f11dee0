"""Profile and whatif see one link in a capture: the same sides, the same busier direction, the same doubts."""

from pathlib import Path

import pytest

import mayfly
from mayfly.profile.answer import profile
from mayfly.profile.sentences import first_sentences, verdict
from mayfly.workload.connections import connections
from mayfly.workload.sides import near_side

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
def test_profile_and_whatif_take_the_same_ends_for_near(name):
    path = shared(name)
    traffic = profile([path], bootstrap=0).traffic
    pairs = {
        (traffic.hosts[near], traffic.hosts[far]) for near, far in zip(traffic.near_host, traffic.far_host, strict=True)
    }
    flows = mayfly.flows_of_capture(path)
    replayed = {
        (dst, src) if way == "down" else (src, dst) for src, dst, way in flows["src", "dst", "direction"].rows()
    }
    assert replayed and replayed <= pairs
    assert traffic.near == near_side(connections(path)[0]).hosts


@pytest.mark.parametrize("name", ["enterprise_ad_lab.pcap.gz", "echo_connections.pcap.gz"])
def test_the_busier_direction_is_the_same_in_both(name):
    """An echo server sends each byte back: only acknowledgements, which are no load, tell its directions apart."""
    document, summary = seen(shared(name))
    ways = document["link"]["directions"]
    assert max(ways, key=lambda way: ways[way]["bytes"]) == summary["links"]["busier"]


def test_traffic_of_one_side_is_told_by_both():
    document, summary = seen(shared("enterprise_ad_lab.pcap.gz"))
    for told in (first_sentences(document), summary["notes"]):
        assert any("pass between hosts of one side" in sentence for sentence in told)


def test_a_clock_that_jumped_by_days_is_told_by_both():
    document, summary = seen(shared("tcptrace_urgent.dmp.gz"))
    for told in (verdict(document), summary["notes"]):
        (said,) = [sentence for sentence in told if "a clock that jumped" in sentence]
        assert "cut it there" in said


def test_a_capture_without_a_jump_has_no_such_doubt():
    document, summary = seen(OFFICE, internal=["10.10.0.0/24"])
    assert not any("jumped" in sentence for sentence in [*first_sentences(document), *summary.get("notes", [])])
    assert document["link"]["near"]["crossing"] > 0.99
