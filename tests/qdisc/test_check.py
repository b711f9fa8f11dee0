"""`mayfly check`: ping and load now, next to what a what-if predicted."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import replace

import pytest
from invocation import COMMAND, heed_interrupts, refused_here

from mayfly.errors import MayflyError
from mayfly.qdisc import check as module
from mayfly.qdisc import pings
from mayfly.qdisc.check import Check, Direction, Prediction, Second, _direction, _is_leaf, check, counters, predicted
from mayfly.qdisc.interface import arrives_through
from mayfly.qdisc.pings import Ping, Pings, pings_of
from mayfly.qdisc.show import Row

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


LOADED = {
    "down": Direction(("fq_codel",), True, True, 8_000_000.0),
    "up": Direction(("fq_codel",), True, True, 2_000_000.0),
}
UNSHAPED = Direction(("fq_codel",), True)
NOTHING = Direction()


def measured(added_s, busy=10, ways=LOADED, device="eth9", promised=PROMISED):
    """Ten seconds with 5 pings each, of which the first so many are busy in the way up and wait."""
    seconds = [Second(float(at), at + 1.0, 1000, 210_527 if at < busy else 210_000) for at in range(10)]
    pings = [(0.2 * n, 0.01 + (added_s if 0.2 * n < busy else 0.0)) for n in range(50)] + [(10.5, 0.01)]
    return Check(device, "192.0.2.1", promised, tuple(seconds), Pings(tuple(pings), 52), ways, 3, 1)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (measured(0.055), "as_predicted"),
        (measured(0.0605), "worse"),
        (measured(0.039), "better"),
        (measured(0.055, busy=2), "idle"),
        (measured(0.3, ways=LOADED | {"down": NOTHING}), "not_loaded"),
        (replace(measured(0.3), pings=Pings((), 50)), "no_answer"),
        (measured(0.051, promised=replace(PROMISED, error=None)), "worse"),
    ],
)
def test_the_verdict_is_that_of_the_expected_error(found, verdict):
    assert found.verdict() == verdict
    document = found.document()
    assert document["verdict"] == verdict and json.loads(json.dumps(document, allow_nan=False)) == document
    assert len(found.table().rows) == 8 and repr(found).startswith("<Check: device 'eth9'")


def test_a_second_is_busy_from_four_fifths_of_the_link_in_either_direction():
    """The link has 2 / 0.95 Mbit/s up: 210,526.3 bytes are 80 % of a second, and 210,000 are less."""
    assert [len(measured(0.05, busy=many).busy()) for many in (0, 4, 10)] == [0, 4, 10]
    found = measured(0.05, busy=4)
    assert found.document()["measured"]["busy_share"] == 0.4
    assert any("84.2 % of the shaped rate, which is 95 % of it" in said for said in found.sentences())


def test_a_shaper_with_another_rate_is_said_and_decides_which_seconds_are_busy():
    """Within 1 % it is the predicted one: tc rounds. Twice the rate leaves no second busy."""

    def at(bps):
        return measured(0.05, ways=LOADED | {"up": replace(LOADED["up"], rate_bps=bps)})

    assert not any("where" in said for said in at(1_981_000.0).sentences())
    moved = at(4_000_000.0)
    assert moved.sentences()[0].startswith("fq_codel is loaded up at 4.00 Mbit/s where 2.00 Mbit/s was predicted")
    assert moved.verdict() == "idle" and moved.loaded and not moved.busy()
    assert len(at(1_000_000.0).busy()) == 10
    unknown = measured(0.05, ways=LOADED | {"up": replace(LOADED["up"], rate_bps=None)})
    assert len(unknown.busy()) == 10 and unknown.verdict() == "as_predicted"


def test_pings_of_seconds_that_are_not_busy_do_not_count():
    """The 95th percentile over all of them would be that of an idle link."""
    assert measured(0.07, busy=4).added_s() == pytest.approx(0.07)


def test_the_command_for_this_interface_stands_next_to_its_prediction():
    (said,) = measured(0.3, ways={"down": NOTHING, "up": NOTHING}).leading()
    assert said.startswith("Load adds 300 ms to a ping (95th percentile) without the command: `mayfly qdisc load eth9 ")
    assert said.endswith("--discipline fq_codel` is predicted to make it 50.0 ms.")
    lines = replace(PROMISED, load=None)
    (said,) = measured(0.3, ways={"down": NOTHING, "up": NOTHING}, promised=lines).leading()
    assert said.endswith(
        "without the command: the lines of recommendation.commands in summary.json are predicted to make it 50.0 ms."
    )


@pytest.mark.parametrize("busy", [0, 10])
@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ({"down": NOTHING}, "it up, and not down (no queue discipline)."),
        ({"down": UNSHAPED}, "it up, and not down (fq_codel without a shaper)."),
        ({"up": Direction(("pfifo",), False, True, 2e6)}, "it down, and not up (pfifo)."),
        ({"down": NOTHING, "up": UNSHAPED}, "no queue discipline down, and fq_codel without a shaper up."),
    ],
)
def test_what_is_not_loaded_is_said_by_direction_also_of_an_idle_link(ways, said, busy):
    found = measured(0.3, busy=busy, ways=LOADED | ways)
    assert found.sentences()[0] == f"fq_codel is not loaded in both directions: eth9 has {said}"
    assert found.document()["sentences"].count(found.sentences()[0]) == 1
    assert not any("not loaded" in said for said in measured(0.3, busy=busy).sentences())


def row(kind, handle, parent="root", options=None, **more):
    return Row("eth9", kind, handle, parent, options or {}, 0, 0, 0, 0, 0, **more)


TEXT = """class htb 6d66:1 root leaf 6d67: prio 0 rate 9500Kbit ceil 9500Kbit burst 1599b cburst 1599b
class fq_codel 6d67:1 parent 6d67:
"""
"""As iproute2 6.1 prints it, for `-j` too."""

CLASSES = '[{"class":"htb","handle":"6d66:1","root":true,"leaf":"0x6d67","prio":0,"rate":1000,"ceil":1187500}]'
"""As iproute2 6.2 and later: bytes/s."""


@pytest.mark.parametrize("text", [TEXT, CLASSES])
def test_the_rate_of_htb_is_that_of_the_class_of_the_discipline(monkeypatch, text):
    asked = []
    monkeypatch.setattr("mayfly.qdisc.system.program", lambda name: name)
    monkeypatch.setattr(module, "output", lambda command: asked.append(command) or text)
    rows = [row("htb", "6d66:"), row("fq_codel", "6d67:", "6d66:1")]
    assert _direction(rows, "fq_codel") == Direction(("fq_codel",), True, True, 9_500_000.0)
    assert asked == [["tc", "-j", "class", "show", "dev", "eth9"]]
    monkeypatch.setattr(module, "output", lambda command: "")
    assert _direction(rows, "fq_codel") == Direction(("fq_codel",), True, True, None)


@pytest.mark.parametrize(
    ("rows", "kind", "found"),
    [
        ([row("cake", "1:", options={"bandwidth": 125_000})], "cake", Direction(("cake",), True, True, 1e6)),
        ([row("cake", "1:", options={"bandwidth": "unlimited"})], "cake", Direction(("cake",), True)),
        ([row("lfq", "1:")], "lfq", Direction(("lfq",), True, True)),
        (
            [row("tbf", "1:", options={"rate": 125_000}), row("fq_codel", "2:", "1:1")],
            "fq_codel",
            Direction(("fq_codel",), True, True, 1e6),
        ),
        ([row("fq_codel", "0:")], "fq_codel", UNSHAPED),
        ([row("pfifo_fast", "0:")], "fq_codel", Direction(("pfifo_fast",))),
        ([], "fq_codel", NOTHING),
    ],
)
def test_a_direction_is_loaded_with_its_shaper_alone(rows, kind, found):
    assert _direction(rows, kind) == found


@pytest.mark.parametrize(
    "rows",
    [
        [row("mq", "0:"), row("fq_codel", "0:", ":1"), row("fq_codel", "0:", ":2")],
        [row("prio", "1:"), row("fq_codel", "10:", "1:1"), row("fq_codel", "20:", "1:2")],
        [row("htb", "1:"), row("tbf", "10:", "1:1"), row("fq_codel", "20:", "10:1"), row("fq_codel", "30:", "1:2")],
    ],
)
def test_drops_are_those_of_disciplines_without_others_below_them(rows):
    assert [one.kind for one in rows if _is_leaf(one, rows)] == ["fq_codel", "fq_codel"]


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
        "disciplines": [
            {"id": name, "users": {"ping": {"idle_ms": 35.0, "p95_ms": p95_ms, "busy_share": 0.4}}}
            for name, p95_ms in (("cake", 60.0), ("fifo", 240.0))
        ],
        "expected_errors": {"felt": {"median": 0.1, "p90": 0.6}},
    } | more


def test_a_prediction_is_of_added_delay_with_fifo_as_the_link_without_the_command(tmp_path):
    """Also where fifo is not the first of the rows."""
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    found = predicted(tmp_path)
    assert found == predicted(tmp_path / "summary.json")
    assert (found.before_s, found.loaded_s, found.error) == (pytest.approx(0.205), pytest.approx(0.055), 0.6)


def changed(at, value):
    """The summary with another value at keys, as JSON."""
    document = summary()
    *way, last = at.split("/")
    part = document
    for key in way:
        part = part[int(key) if isinstance(part, list) else key]
    part[last] = value
    return json.dumps(document)


NO_COMMAND = r"recommends no command \(keep what is there\)"
NOT_RUN = "not simulated, as with --replay packets and --engine linux"
NO_SUMMARY = "not a summary of `mayfly whatif`: "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file or directory; `mayfly whatif CAPTURE --out DIR` writes one"),
        ("{", NO_SUMMARY + "no JSON"),
        ("[" * 100_000, NO_SUMMARY + "no JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), NO_SUMMARY + "no JSON"),
        ("[]", NO_SUMMARY + "it has no recommendation"),
        (changed("recommendation", None), NO_COMMAND),
        (changed("recommendation/discipline", None), NO_COMMAND),
        (changed("recommendation/commands", None), "recommends no command, only cake"),
        (changed("recommendation/as_loaded", []), NOT_RUN),
        (changed("recommendation/as_loaded/1/discipline", "lfq"), NOT_RUN),
        (changed("recommendation/as_loaded/1/figures", {"ping_p95": None}), NOT_RUN),
        (changed("recommendation/as_loaded", {"figures": {}}), NO_SUMMARY + "recommendation.as_loaded must be a list"),
        (changed("recommendation", 7), NO_SUMMARY + "it has no recommendation.discipline"),
        (changed("recommendation/discipline", ["cake"]), NO_SUMMARY + "recommendation.discipline = .*must be text"),
        (changed("recommendation/commands/load", 7), NO_SUMMARY + "recommendation.commands.load = 7: must be text"),
        (changed("disciplines", []), NO_SUMMARY + "it has no users.ping.idle_ms"),
        (changed("disciplines", [7]), NO_SUMMARY + "disciplines must be a list of objects"),
        (changed("disciplines/1/users", []), NO_SUMMARY + "it has no users.ping"),
        (changed("expected_errors", [7]), NO_SUMMARY + "it has no expected_errors.felt.p90"),
        *(
            (
                changed("recommendation/commands/down_bps", value),
                NO_SUMMARY + "recommendation.commands.down_bps = .*from 1",
            )
            for value in (0, -1, 0.5, "8mbit", True, None, float("nan"), float("inf"), 10**400, 10**16)
        ),
        *(
            (changed("disciplines/1/users/ping", {"idle_ms": value}), "ping.idle_ms")
            for value in (float("nan"), float("-inf"), "35", None, -1)
        ),
    ],
)
def test_what_is_no_prediction_is_refused(tmp_path, text, said):
    path = tmp_path / "summary.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(MayflyError, match=said) as refused:
        predicted(path)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400
    assert str(refused.value).removeprefix(str(path)) in refused_here(
        "check", "lo", "--ping", "::1", "--prediction", path
    )


def test_a_prediction_without_pings_before_has_no_figure_of_these(tmp_path):
    ping = {"idle_ms": 35.0, "p95_ms": None, "busy_share": None}
    (tmp_path / "summary.json").write_text(changed("disciplines/1/users", {"ping": ping}))
    found = predicted(tmp_path)
    assert found.before_s is None and found.busy_share is None
    (said,) = measured(0.055, promised=replace(PROMISED, before_s=None)).leading()
    assert said.endswith("as predicted: 50.0 ms with fq_codel.")


def test_an_unknown_discipline_is_refused_before_ping_starts(tmp_path, monkeypatch):
    text = changed("recommendation/discipline", "nope").replace('"discipline": "cake"', '"discipline": "nope"')
    (tmp_path / "summary.json").write_text(text)
    monkeypatch.setattr(module, "Ping", lambda host: pytest.fail("ping has started"))
    with pytest.raises(MayflyError, match="nope"):
        check("lo", "127.0.0.1", tmp_path)


FAKE_PING = """#!/bin/sh
trap 'echo "1 packets transmitted, 0 received"; exit' INT
touch "$(dirname "$0")/started"
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("stopped", ["alone", "twice"])
def test_an_interrupt_ends_it_sooner_with_the_result(tmp_path, stopped):
    """The status is 0, and nothing is said of an interrupt."""
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    for name, text in (("ping", FAKE_PING), ("tc", "#!/bin/sh\necho '[]'\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    words = ["check", "lo", "--ping", "127.0.0.1", "--prediction", tmp_path, "--for", "10min", "--json"]
    path = f"{tmp_path}:{os.environ['PATH']}"
    with subprocess.Popen(
        [*COMMAND, *words],
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    ) as child:
        end = time.monotonic() + 60
        while not (tmp_path / "started").exists() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(1.3)
        for _ in range(2 if stopped == "twice" else 1):
            child.send_signal(signal.SIGINT)
        out, complaint = child.communicate(timeout=60)
    assert (child.returncode, complaint) == (0, b"")
    found = json.loads(out)
    assert found["verdict"] == "no_answer" and found["measured"]["pings"] == 1
    assert 1 <= len(found["seconds"]) < 60


def test_seconds_end_with_an_interrupt_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    assert module._seconds("lo", 60.0, lambda: False, None) == []
    assert time.monotonic() - began < 5 and signal.getsignal(signal.SIGINT) is before


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


def test_a_ping_that_ignores_interrupts_is_killed(tmp_path, monkeypatch):
    """It waited for ever: a job in the background passes on that interrupts are ignored."""
    (tmp_path / "ping").write_text(
        "#!/bin/sh\ntrap '' INT\necho '[10.5] 64 bytes: icmp_seq=1 ttl=64 time=500 ms'\nexec sleep 600\n"
    )
    (tmp_path / "ping").chmod(0o755)
    monkeypatch.setattr(pings.system, "program", lambda name: str(tmp_path / name))
    monkeypatch.setattr(pings, "_ENDS_WITHIN_S", 0.1)
    found = Ping("127.0.0.1")
    end = time.monotonic() + 30
    while found._lines.seek(0, os.SEEK_END) == 0 and time.monotonic() < end:
        time.sleep(0.02)
    assert found.stop() == Pings(((10.0, 0.5),), 1)


def can_ping():
    """Whether this machine lets its users ping themselves."""
    if shutil.which("ping") is None or shutil.which("tc") is None:
        return False
    return subprocess.run(["ping", "-n", "-c", "1", "-W", "5", "127.0.0.1"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_ping(), reason="no ping, no tc, or no right to ping")
def test_at_the_loopback_it_counts_what_ping_sends(tmp_path, monkeypatch):
    """84 bytes of IP and 14 of Ethernet, there and back: the counters are those of the interface that was asked for."""
    (tmp_path / "summary.json").write_text(json.dumps(summary()))
    fractions = []
    before = counters("lo")
    found = check("lo", "127.0.0.1", tmp_path, 1.5, fractions.append)
    after = counters("lo")
    assert after[0] - before[0] >= sum(one.down_bytes for one in found.seconds) >= 3 * 2 * 98
    assert found.pings.sent >= 3 and found.verdict() == "idle" and fractions and max(fractions) <= 1
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
