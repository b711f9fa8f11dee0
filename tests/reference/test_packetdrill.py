"""Scripts of packetdrill on the simulator's TCP, and on the kernel's: docs/kernel/packetdrill.md.

Every script in scope keeps the verdict recorded in benchmarks/packetdrill/verdicts.toml.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from packetdrill import page, results, wire
from packetdrill.play import play
from packetdrill.script import Command, Option, Packet, ScriptError, When, Word, parse
from packetdrill.simulated import LINUX, simulated

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")


def gtests() -> list[results.Case]:
    if not results.GTESTS.is_dir():
        pytest.skip("../shared/packetdrill, scripts that packetdrill comes with, is not here")
    return results.cases("gtests", results.GTESTS)


def selftests() -> list[results.Case]:
    try:
        return results.cases("selftests", results.selftests(CACHE))
    except results.UnavailableError as why:
        pytest.skip(str(why))


def in_scope(cases: list[results.Case]) -> list[results.Case]:
    groups = results.scope()
    return [case for case in cases if "out" not in groups[case.group]]


# The language.


def test_packets_have_what_the_script_says():
    text = (
        "0 < [ce] FP. 1:1001(1000) ack 2 win 3 <nop,TS val 4 ecr 5,sack 6:7 8:9>\n+0 > W5 1:1(0) <...> * > SEWA 0:0(0)"
    )
    first, second, third = (event.action for event in parse(text).events)
    options = (Option("nop"), Option("TS", (4, 5)), Option("sack", ((6, 7), (8, 9))))
    assert first == Packet(True, "FP.", None, 1, 1000, 2, 3, options, "ce")
    assert second == Packet(False, "W", 5, 1, 0, None, None, None)
    assert third == Packet(False, "SEWA", None, 0, 0, None, None, ())


def test_times_are_absolute_relative_ranges_or_any():
    script = parse("0 `true` +.1 `true` 0.5~1 > . 1:1(0) +1~+1.25 > . 1:1(0) * > . 1:1(0)")
    expected = [("absolute", 0, None), ("relative", 100_000, None), ("absolute", 500_000, 1_000_000)]
    expected += [("relative", 1_000_000, 1_250_000), ("any", 0, None)]
    assert [event.when for event in script.events] == [When(*when) for when in expected] or script.set_up


def test_calls_have_symbols_lists_structures_and_errors():
    text = '0 f(3, ..., A|B, [0x10], {x=1, y=2}, "ab"...) = -1 EPIPE (Broken pipe)\n+0...0.25 g() = 0'
    first, second = (event.action for event in parse(text).events)
    assert first.arguments == (3, "...", ("A", "B"), [16], {"x": 1, "y": 2}, "ab")
    assert (first.result, first.error, first.end_us) == (-1, "EPIPE", None) and isinstance(first.arguments[1], Word)
    assert (second.result, second.end_us) == (0, 250_000)


def test_options_defines_commands_and_comments():
    text = "--mss=7\n--define=N=5 // a comment\n`set up` /* and\nanother */ 0 `run` +0 listen(N, 1) = 0 `clean up`"
    script = parse(text)
    assert (script.options, script.set_up) == ({"mss": "7"}, Command("set up"))
    assert script.events[1].action.arguments[0] == "5" and script.clean_up == Command("clean up")


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("0 listen(3, 1) = 0\n\nwhat", 3, "a time expected"),
        ("0 < icmp unreachable [1:2(1)]", 1, "a packet of icmp is not TCP"),
        ("0 < S 0:0(0) <mood 3>", 1, "a TCP option mood is not known"),
        ("0 listen(3, 1)", 1, "the result of listen is missing"),
        ("\n0 > [wet] . 1:1(0)", 2, "[wet] is not known"),
    ],
)
def test_what_is_not_understood_is_told_with_its_line(text, line, why):
    with pytest.raises(ScriptError, match=f"^line {line}: ") as error:
        parse(text)
    assert why in str(error.value)


def test_segments_become_bytes_and_back():
    options = (Option("mss", (1000,)), Option("TS", (1, 2)), Option("sack", ((5, 9),)), Option("ECN", (("e0b", 7),)))
    packet = Packet(True, "SEP.", None, 1, 30, 5, 77, (*options, Option("nop"), Option("wscale", (7,))), "ect1")
    ends = ((b"\1\2\3\4", 10), (b"\5\6\7\x08", 20))
    data = wire.encoded(packet, ends, 1000, None)
    assert wire.checksum(data[:20]) == 0 and wire.ports(data) == (10, 20) and len(data) == data[2] * 256 + data[3]
    sent = wire.decoded(data, 3.5, own=0, peer=1000)
    assert (sent.flags, sent.seq, sent.length, sent.ack, sent.window, sent.ecn) == ("SPE.", 1, 30, 5, 77, "ect1")
    assert [o for o in sent.options if o.name not in ("nop", "eol")] == [o for o in packet.options if o.name != "nop"]


# A script of our own on the simulator, then the same with one thing wrong.

OPENING = """`sysctl -q net.ipv4.tcp_congestion_control=reno`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 60000 <mss 500,sackOK,TS val 7 ecr 0,nop,wscale 4>
+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 7,nop,wscale 5>
+.1 < . 1:1(0) ack 1 win 5000 <nop,nop,TS val 8 ecr 100>
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 1000) = 1000
+0 > P. 1:977(976) ack 1 <nop,nop,TS val 200 ecr 8>
+0 > P. 977:1001(24) ack 1 <nop,nop,TS val 200 ecr 8>
+0 write(4, ..., 30) = 30
+.1 < P. 1:101(100) ack 1001 win 5000 <nop,nop,TS val 9 ecr 200>
+0 > P. 1001:1031(30) ack 101 <nop,nop,TS val 300 ecr 9>
+0 %{ assert tcpi_unacked == 1, tcpi_unacked }%
+0 read(4, ..., 1000) = 100
+.1 < . 101:101(0) ack 1031 win 5000 <nop,nop,TS val 10 ecr 300>
+.1 close(4) = 0
+0 > F. 1031:1031(0) ack 101 <nop,nop,TS val 500 ecr 10>
+.1 < F. 101:101(0) ack 1032 win 5000 <nop,nop,TS val 11 ecr 500>
+0 > . 1032:1032(0) ack 102 <nop,nop,TS val 600 ecr 11>
"""


def failure(text: str):
    return play(parse(text), simulated(LINUX))


def test_a_connection_with_data_both_ways_goes_as_the_script_says():
    assert failure(OPENING) is None


@pytest.mark.parametrize(
    ("old", "new", "line", "kind"),
    [
        ("1:977(976)", "1:976(975)", 10, "packet"),
        ("P. 1001:1031(30) ack 101", "P. 1001:1031(30) ack 1", 14, "packet"),
        ("+0 > F. 1031", "+.1 > F. 1031", 19, "time"),
        ("tcpi_unacked == 1", "tcpi_unacked == 2", 15, "state"),
        ("tcpi_unacked == 1", "tcpi_mood == 2", 15, "state"),
        ("read(4, ..., 1000) = 100", "read(4, ..., 1000) = 99", 16, "call"),
        ("TS val 600 ecr 11", "TS val 600 ecr 10", 21, "packet"),
        ("+.1 close(4) = 0\n+0 > F.", "+.1 close(4) = 0\n+0 > R.", 19, "packet"),
        ("+0 read(", "+0 > . 1031:1031(0) ack 101\n+0 read(", 16, "packet"),
        ("+.1 close", "+0 < R. 101:101(0) ack 1031 win 5000\n+.1 close", 20, "no packet"),
        ("sysctl -q", "sysctl -q net.ipv4.tcp_mood=1\nsysctl -q", 1, "not there"),
    ],
)
def test_what_is_wrong_fails_in_its_line(old, new, line, kind):
    assert old in OPENING
    found = failure(OPENING.replace(old, new))
    assert found is not None and (found.line, found.kind) == (line, kind), found


ACCURATE = """`sysctl -q net.ipv4.tcp_ecn=3`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < [ect1] SEWA 0:0(0) win 5000 <mss 1000,sackOK>
+0 > [noecn] SEW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,sackOK>
+.1 < [ce] W. 1:1(0) ack 1 win 5000 <ECN e0b 1 ceb 0 e1b 1>
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 500) = 500
+0 > [ect0] P.6 1:501(500) ack 1 <ECN e1b 1 ceb 0 e0b 1>
+.1 < [ect0] P.6 1:101(100) ack 501 win 5000 <ECN e0b 1 ceb 500 e1b 1>
+0 > [ect0] .6 501:501(0) ack 101 <ECN e1b 1 ceb 0 e0b 101>
+0 %{ assert tcpi_delivered_ce == 1, tcpi_delivered_ce }%
+0 `sysctl -q net.ipv4.tcp_ecn_option=0`
+.1 < [ect1] . 101:201(100) ack 501 win 5000 <ECN e0b 1 ceb 500 e1b 1>
+0 > [ect0] .6 501:501(0) ack 201
"""


def test_accurate_ecn_goes_as_the_script_says():
    assert failure(ACCURATE) is None


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("SEW. 0", "SE. 0", 6),
        ("[noecn] SEW.", "[ect0] SEW.", 6),
        ("ceb 0 e0b 1,sackOK", "ceb 0 e0b 2,sackOK", 6),
        ("[ce] W.", "W.", 10),
        ("[ce] W.", "[ce] .", 10),
        ("P.6 1:501", "EAP. 1:501", 10),
        ("[ect0] P.6 1:501", "[ect1] P.6 1:501", 10),
        ("ack 1 <ECN e1b 1 ceb 0 e0b 1>", "ack 1", 10),
        ("e0b 101", "e0b 1", 12),
        ("tcpi_delivered_ce == 1", "tcpi_delivered_ce == 0", 13),
        ("tcp_ecn_option=0", "tcp_ecn_option=2", 16),
    ],
)
def test_what_is_wrong_with_accurate_ecn_fails_in_its_line(old, new, line):
    assert old in ACCURATE
    found = failure(ACCURATE.replace(old, new))
    assert found is not None and found.line == line, found


def test_a_connection_that_is_reset_answers_with_resets_and_errors():
    text = OPENING.split("+0 write")[0] + "+0 < R. 1:1(0) ack 1 win 5000\n+0 write(4, ..., 5) = -1 ECONNRESET (reset)\n"
    assert failure(text) is None
    assert failure(text + "+0 < . 1:1(0) ack 1 win 5000\n+0 > R 1:1(0)\n") is None
    unread = OPENING.split("+0 read")[0] + "+0 close(4) = 0\n+0 > R. 1031:1031(0) ack 101 <nop,nop,TS val 300 ecr 9>\n"
    assert failure(unread) is None


def test_tolerances_are_those_of_packetdrill():
    def late(by_ms: float, after_s: float) -> str:
        # Acknowledged `after_s` later, 100 ms being the RTT; what leaves then is expected late.
        due = f"+{by_ms / 1000} > F. 1:1(0) ack 1"
        return OPENING.split("+0 write")[0] + f"+{after_s} close(4) = 0\n{due} <nop,nop,TS val 1 ecr 8>\n"

    assert failure(late(3.9, 0.01)) is None
    assert failure(late(4.1, 0.01)) is not None
    relaxed = "--tolerance_usecs=9000\n" + late(8.9, 0.01)
    assert failure(relaxed) is None


# The scripts that others wrote.


def test_packetdrills_own_scripts_keep_their_verdicts():
    verdicts = [results.judge(case, simulated(LINUX)) for case in in_scope(gtests())]
    assert not results.changes(verdicts, "ours")


@pytest.mark.slow
def test_scripts_of_the_kernel_keep_their_verdicts():
    verdicts = [results.judge(case, simulated(LINUX)) for case in in_scope(selftests())]
    assert not results.changes(verdicts, "ours")


def test_every_failure_has_a_cause():
    found = results.recorded()
    told = [one for own in found.values() for named in own.values() for one in named.values()]
    assert len(told) > 100
    for one in told:
        assert one["verdict"] == "pass" or one["cause"] not in ("", results.UNEXPLAINED), one


def test_a_kernel_is_on_the_page_when_something_of_it_is_recorded():
    known = {"gtests": {"a": {"ours": {"verdict": "pass"}, "kernel": {"verdict": "pass"}}, "b": {}}}
    assert list(page.played(known)) == ["kernel"]
    case, scope = results.Case("gtests", "a", Path("a.pkt"), "ecn"), results.scope()
    assert "| ecn | RFC 3168 | 1 | 1 | 1 |" in page.passes([case], known, scope)
    known["gtests"]["b"] = {"newest": {"verdict": "fail", "line": 3, "cause": "late"}}
    assert list(page.played(known)) == ["kernel", "newest"]
    assert "| ecn | RFC 3168 | 1 | 1 | 1 | 0 of 0 |" in page.passes([case], known, scope)


@pytest.mark.slow
def test_the_page_is_what_is_recorded():
    shown = (ROOT / "docs" / "kernel" / "packetdrill.md").read_text(encoding="utf-8")
    assert shown == page.text(gtests() + selftests())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tcp", "mood=1"], "--tcp mood: "),
        (["--tcp", "recovery"], "must be FIELD=VALUE"),
        (["no.pkt"], "no.pkt: no such file"),
        (["--group", "mood"], "--group mood: must be one of accecn"),
        (["--record", "--tcp", "recovery=sack"], "--record is for the scripts of the collections"),
    ],
)
def test_bad_input_of_the_command_is_refused_in_one_line(arguments, said):
    command = [sys.executable, str(ROOT / "benchmarks" / "packetdrill"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr.splitlines()[-1], done.stderr


def test_a_script_that_changes_is_told(tmp_path, monkeypatch):
    case = results.Case("mine", "one", tmp_path / "one.pkt", "close")
    case.path.write_text(OPENING, encoding="utf-8")
    monkeypatch.setattr(results, "VERDICTS", tmp_path / "verdicts.toml")
    verdict = results.judge(case, simulated(LINUX))
    results.VERDICTS.write_text(results.written(results.record([verdict], "ours", {})), encoding="utf-8")
    assert results.changes([verdict], "ours") == []
    case.path.write_text(OPENING.replace("ack 102", "ack 103"), encoding="utf-8")
    worse = results.judge(case, simulated(LINUX))
    assert results.changes([worse], "ours")[0].startswith("one: recorded pass, now line 21: packet: expected . 1032")
