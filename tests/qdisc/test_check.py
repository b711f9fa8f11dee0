"""`mayfly check`: ping and load now, next to what a what-if predicted."""

import json
import shutil
from dataclasses import replace

import pytest
from invocation import refused_here

from mayfly.errors import MayflyError
from mayfly.qdisc import check as module
from mayfly.qdisc.check import Check, Prediction, Second, check, counters, predicted
from mayfly.qdisc.interface import arrives_through
from mayfly.qdisc.pings import Ping, Pings, pings_of

LINES = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.500000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=250 ms
[1700000000.510000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=260 ms (DUP!)
[1700000001.000000] 64 bytes from 192.0.2.1: icmp_seq=3 ttl=63 time=0.031 ms
From 192.0.2.7 icmp_seq=4 Destination Host Unreachable

--- 192.0.2.1 ping statistics ---
4 packets transmitted, 2 received, +1 duplicates, 50% packet loss, time 604ms
rtt min/avg/max/mdev = 0.031/125.015/250.000/124.984 ms
"""


def test_answers_of_ping_have_the_time_of_their_packet_and_count_once():
    found = pings_of(LINES.splitlines())
    assert found.sent == 4 and found.lost == 2
    assert [one[1] for one in found.answers] == [0.25, 0.000031]
    assert found.answers[0][0] == pytest.approx(1700000000.25)


PROMISED = Prediction(
    "summary.json",
    "fq_codel",
    "mayfly qdisc load eth0 --both-ways --down 8mbit --up 2mbit --discipline fq_codel",
    {"down": 8_000_000, "up": 2_000_000},
    before_s=0.2,
    loaded_s=0.05,
    busy_share=0.4,
    error=0.2,
)


def measured(added_s, busy=10, loaded=True, device="eth9", promised=PROMISED):
    """Ten seconds with 5 pings each, of which the first so many are busy in the way up and wait."""
    seconds = [Second(float(at), at + 1.0, 1000, 200_000 if at < busy else 199_000) for at in range(10)]
    pings = [(0.2 * n, 0.01 + (added_s if 0.2 * n < busy else 0.0)) for n in range(50)] + [(10.5, 0.01)]
    return Check(device, "192.0.2.1", promised, tuple(seconds), Pings(tuple(pings), 52), loaded, ("fq_codel",), 3, 1)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (measured(0.055), "as_predicted"),
        (measured(0.0605), "worse"),
        (measured(0.039), "better"),
        (measured(0.055, busy=2), "idle"),
        (measured(0.3, loaded=False), "not_loaded"),
        (replace(measured(0.3), pings=Pings((), 50)), "no_answer"),
        (measured(0.051, promised=replace(PROMISED, error=None)), "worse"),
    ],
)
def test_the_verdict_is_that_of_the_expected_error(found, verdict):
    assert found.verdict() == verdict
    document = found.document()
    assert document["verdict"] == verdict and json.loads(json.dumps(document, allow_nan=False)) == document
    assert len(found.table().rows) == 8 and repr(found).startswith("<Check: device 'eth9'")


def test_a_second_is_busy_from_four_fifths_in_either_direction():
    """1.6 of 2 Mbit/s up; 199 kB in a second are less."""
    assert [len(measured(0.05, busy=many).busy()) for many in (0, 4, 10)] == [0, 4, 10]
    assert measured(0.05, busy=4).document()["measured"]["busy_share"] == 0.4


def test_pings_of_seconds_that_are_not_busy_do_not_count():
    """The 95th percentile over all of them would be that of an idle link."""
    assert measured(0.07, busy=4).added_s() == pytest.approx(0.07)


def test_what_is_not_loaded_is_said_with_the_command_for_this_interface():
    (said,) = measured(0.3, loaded=False).leading()
    assert said.startswith("eth9 has fq_codel, and not fq_codel in both directions: load adds 300 ms to a ping")
    assert "`mayfly qdisc load eth9 --both-ways" in said and said.endswith("is predicted to make it 50.0 ms.")


def summary(**more):
    commands = {"load": "mayfly qdisc load eth0", "up": [], "down_bps": 8_000_000, "up_bps": 2_000_000}
    return {
        "recommendation": {
            "discipline": "cake",
            "commands": commands,
            "as_loaded": [
                {"discipline": "fq_codel", "figures": {"ping_p95": 0.08}},
                {"discipline": "cake", "figures": {"ping_p95": 0.09}},
            ],
        },
        "disciplines": [{"users": {"ping": {"idle_ms": 35.0, "p95_ms": 240.0, "busy_share": 0.4}}}],
        "expected_errors": {"felt": {"median": 0.1, "p90": 0.6}},
    } | more


def test_a_prediction_is_what_load_adds(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    found = predicted(tmp_path)
    assert found == predicted(tmp_path / "summary.json")
    assert (found.before_s, found.loaded_s, found.error) == (pytest.approx(0.205), pytest.approx(0.055), 0.6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file or directory; `mayfly whatif CAPTURE --out DIR` writes one"),
        ("{", "no JSON"),
        ("[]", "that recommends a command to load"),
        (json.dumps(summary(recommendation=None)), "that recommends a command to load"),
        (json.dumps(summary(disciplines=[])), "that recommends a command to load"),
    ],
)
def test_what_is_no_prediction_is_refused(tmp_path, text, said):
    path = tmp_path / "summary.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(MayflyError, match=said):
        predicted(path)


def test_options_are_refused_with_their_bounds(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    for words, said in (
        (["a b"], "device = 'a b': must be the name of an interface"),
        (["nope0"], "device = 'nope0': there is no such interface"),
        (["lo", "--for", "0.5s"], "--for = 0.5 s: must be from 1 s to 24 h"),
    ):
        assert said in refused_here("check", *words, "--ping", "127.0.0.1", "--prediction", tmp_path)
    for host in ("-f", "a b", "$(x)", ""):
        with pytest.raises(MayflyError, match="must be the name or the address of a host"):
            Ping(host)


@pytest.mark.skipif(shutil.which("ping") is None or shutil.which("tc") is None, reason="no ping, or no tc")
def test_at_the_loopback_it_counts_what_ping_sends(tmp_path, monkeypatch):
    """84 bytes of IP and 14 of Ethernet, there and back: the counters are those of the interface that was asked for."""
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    told = []
    before = counters("lo")
    found = check("lo", "127.0.0.1", tmp_path, 1.5, told.append)
    if not found.pings.answers:
        pytest.skip("ping has no rights here")
    after = counters("lo")
    assert after[0] - before[0] >= sum(one.down_bytes for one in found.seconds) >= 3 * 2 * 98
    assert found.pings.sent >= 3 and found.verdict() == "idle" and told and max(told) <= 1
    monkeypatch.setattr(module, "COUNTERS", str(tmp_path / "none"))
    (tmp_path / "none").write_text("Inter-| Receive\n  lo2: 1 2 3 4 5 6 7 8 9\n")
    with pytest.raises(MayflyError, match="no such interface"):
        counters("lo")


ARRIVING = [
    {"protocol": "all", "pref": 49152, "kind": "matchall", "chain": 0},
    {
        "protocol": "all",
        "pref": 49152,
        "kind": "matchall",
        "chain": 0,
        "options": {
            "handle": 1,
            "not_in_hw": True,
            "actions": [
                {
                    "order": 1,
                    "kind": "mirred",
                    "mirred_action": "redirect",
                    "direction": "egress",
                    "to_dev": "ifb0",
                    "control_action": {"type": "stolen"},
                }
            ],
        },
    },
]
"""As `tc -j filter show` of iproute2 6.1 has the printed lines."""


@pytest.mark.parametrize(
    ("text", "found"), [(json.dumps(ARRIVING), "ifb0"), ("[]", None), ("", None), (json.dumps(ARRIVING[:1]), None)]
)
def test_the_device_of_what_arrives_is_that_of_the_filter(monkeypatch, text, found):
    """The printed lines of tc have ifb0, and mayfly qdisc load has ifb4eth0."""
    monkeypatch.setattr("mayfly.qdisc.system.program", lambda name: name)
    monkeypatch.setattr("mayfly.qdisc.interface.output", lambda command: text)
    assert arrives_through("eth0") == found
