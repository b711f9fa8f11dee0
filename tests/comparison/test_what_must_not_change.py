"""Changes of a question that leave its answer as it is: other units, swapped sides, idle time, files, a longer list."""

import gzip
import math
import struct
from pathlib import Path

import pytest

import mayfly
from mayfly.workload.connections import read_captures

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
NEAR = "10.10.0.0/24"
TIMES = ("short", "long", "pages")
TWO = "fifo,fq_codel"


def asked(path=OFFICE, rate="10mbit/4mbit", buffer="300/100", disciplines=TWO, internal=NEAR, **more):
    return mayfly.whatif(path, rate, buffer, internal=internal, disciplines=disciplines, replications=1, **more).summary


@pytest.fixture(scope="module")
def office():
    return asked()


@pytest.fixture(scope="module")
def packets():
    """The header of the capture, and its records: seconds, microseconds, captured bytes, length."""
    data = gzip.decompress(OFFICE.read_bytes())
    found, at = [], 24
    while at < len(data):
        seconds, fraction, length, whole = struct.unpack_from("<IIII", data, at)
        found.append((seconds, fraction, data[at + 16 : at + 16 + length], whole))
        at += 16 + length
    return data[:24], found


def written(path, header, records):
    parts = [struct.pack("<IIII", seconds, part, len(frame), whole) + frame for seconds, part, frame, whole in records]
    path.write_bytes(header + b"".join(parts))
    return path


def felt(summary):
    return {row["label"]: row["users"] for row in summary["disciplines"]}


def advice(summary):
    found = summary["recommendation"]
    return {name: found[name] for name in ("kind", "discipline", "equal", "command", "commands", "as_loaded")}


def test_both_rates_in_other_units_are_the_same_question(office):
    same = asked(rate="10000kbit/4000kbit")
    assert felt(same) == felt(office) and advice(same) == advice(office)


@pytest.mark.parametrize("factor", [0.5, 2])
def test_with_both_rates_scaled_the_command_is_scaled(office, factor):
    """Whatever is chosen: each direction is shaped to 95 % of its own rate."""
    found = asked(rate=f"{round(10_000 * factor)}kbit/{round(4000 * factor)}kbit")["recommendation"]
    own = office["recommendation"]
    assert found["kind"] == own["kind"] == "use"
    for rates in ("down_bps", "up_bps"):
        assert found["commands"][rates] == factor * own["commands"][rates]
    assert (own["commands"]["down_bps"], own["commands"]["up_bps"]) == (9_500_000, 3_800_000)


def test_a_link_that_is_never_full_has_no_command():
    """At ten times the rates of the office nothing waits."""
    found = asked(rate="100mbit/40mbit")["recommendation"]
    assert (found["kind"], found["commands"]) == ("never_full", None)


def test_with_the_sides_swapped_the_directions_swap(office):
    """The far side as the near one: down becomes up, in rates, buffers, loads, times of transfers and the command."""
    rows = read_captures(OFFICE).connections
    ends = {*rows["opener"], *rows["responder"]}
    others = sorted(end for end in ends if not end.startswith("10.10.0."))
    swapped = asked(rate="4mbit/10mbit", buffer="100/300", internal=others)
    commands, turned = (summary["recommendation"]["commands"] for summary in (office, swapped))
    for one, other in (("down", "up"), ("up", "down")):
        mine, theirs = office["links"][one], swapped["links"][other]
        assert (mine["rate_bps"], mine["buffer"]) == (theirs["rate_bps"], theirs["buffer"])
        assert math.isclose(mine["offered_mbps"], theirs["offered_mbps"], rel_tol=1e-3)
        assert commands[f"{one}_bps"] == turned[f"{other}_bps"]
        for label, users in felt(office).items():
            assert users["transfers"][one] == felt(swapped)[label]["transfers"][other], label
    # So that the two directions cannot stand for each other.
    transfers = felt(office)["fifo"]["transfers"]
    assert transfers["down"] != transfers["up"]
    for label, users in felt(office).items():
        theirs = felt(swapped)[label]
        assert (users["downloads"], users["uploads"]) == (theirs["uploads"], theirs["downloads"]), label
        assert users["short"] == theirs["short"], label


def test_idle_time_at_the_end_changes_no_choice_and_no_response_time(office, packets, tmp_path):
    header, records = packets
    seconds, part, frame, whole = records[-1]
    late = asked(written(tmp_path / "late.pcap", header, [*records, (seconds + 60, part, frame, whole)]))
    assert advice(late)["discipline"] == advice(office)["discipline"]
    assert advice(late)["command"] == advice(office)["command"]
    for label, own in felt(office).items():
        for name in TIMES:
            assert felt(late)[label][name]["p50_s"] == pytest.approx(own[name]["p50_s"], rel=0.02), (label, name)
        # Pings count while the link is busy, so that idle minutes make no queue shorter.
        assert felt(late)[label]["ping"]["p95_ms"] == pytest.approx(own["ping"]["p95_ms"], rel=0.1), label


def test_a_capture_in_two_files_is_the_capture(packets, tmp_path):
    header, records = packets
    half = len(records) // 2
    one, two = (
        written(tmp_path / f"{name}.pcap", header, part)
        for name, part in (("one", records[:half]), ("two", records[half:]))
    )
    apart = mayfly.profile([one, two], internal=NEAR, bootstrap=0).document()
    whole = mayfly.profile(OFFICE, internal=NEAR, bootstrap=0).document()
    for name in ("composition", "site", "round_trips", "link"):
        assert apart.get(name) == whole.get(name), name


def test_a_discipline_more_changes_no_figure_of_the_others(office):
    longer = asked(disciplines=f"{TWO},pie,sfq")
    assert {label: felt(longer)[label] for label in felt(office)} == felt(office)
