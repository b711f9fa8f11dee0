"""Kernel and simulator on the same losses, delays and marks: the comparison, on made-up events and recorded traces."""

from pathlib import Path

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.engines.segments import compared, page, shown, traces
from mayfly.engines.segments.patterns import BASE, patterns
from mayfly.engines.segments.simulated import Event, in_kernel, simulated
from mayfly.errors import MayflyError

SAMPLE = Path(__file__).parent / "segments.jsonl.gz"
SAMPLES = {"6.1": SAMPLE, "7.3": SAMPLE.with_name("segments-7.3.jsonl.gz")}
WINDOW_FILLS = "bbr/none/lost retransmission/15-2"
"""Its receiver's window does not grow while data waits in it (docs/kernel/segments)."""
MS = 1_000_000
MSS = 1000


def pattern(**fields):
    row = {"id": "cubic/sack+timestamps/single/1", "clause": "single", "congestion": "cubic", "impairments": []}
    return row | {"sack": True, "timestamps": True, "ecn": False, "tuned": False, "limit_s": 60.0} | fields


def trace(size=3 * MSS, **fields):
    link = {"rate_bps": 10_000_000, "delay_s": 0.02, "mtu": 1500}
    return traces.Trace(pattern(**fields), link, "6.1", 100, MSS, size, True, (), ())


def data(at_ms, number):
    return Event(round(at_ms * MS), True, ((number - 1) * MSS, MSS, 0))


def ack(at_ms, number, *edges):
    return Event(round(at_ms * MS), False, ((number - 1) * MSS, 0, tuple((edge - 1) * MSS for edge in edges)))


FLOW = [data(0, 1), data(0, 2), data(0, 3), ack(20, 2), ack(20, 2, 3, 4), data(40, 2), ack(60, 4)]


def changed(place, event):
    return [*FLOW[:place], event, *FLOW[place + 1 :]]


def test_the_same_events_are_equal_and_in_time():
    found = compared.of_events(trace(), FLOW, FLOW)
    assert (found.equal, found.in_time, found.kind()) == (True, True, "equal")


def test_another_segment_is_the_first_difference_and_named():
    found = compared.of_events(trace(), FLOW, changed(5, data(40, 3)))
    assert found.first == (5, 5)
    assert found.kind() == "Open: repair 1 / repair 1"
    found = compared.of_events(trace(4 * MSS), FLOW, changed(5, data(40, 4)))
    assert found.kind() == "Open: repair 1 / new data"
    assert any("* " in line and "40.000 > 2" in line and "40.000 > 4" in line for line in compared.side_by_side(found))


def test_a_segment_too_few_or_too_many_differs():
    without = [*FLOW[:5], *FLOW[6:]]
    assert compared.of_events(trace(), FLOW, without).kind() == "Open: repair 1 / nothing"
    assert compared.of_events(trace(), without, FLOW).kind() == "Open: nothing / repair 1"


def test_acknowledgements_differ_by_their_blocks():
    found = compared.of_events(trace(), FLOW, changed(4, ack(20, 2)))
    assert (found.first, found.kind()) == ((4, 4), "Open: ack / ack")


def test_what_comes_behind_the_acknowledgement_of_all_does_not_count():
    assert compared.of_events(trace(), [*FLOW, data(70, 3)], FLOW).equal


@pytest.mark.parametrize(("late_ms", "in_time"), [(0.0, True), (0.09, True), (9.9, True), (10.2, False)])
def test_a_segment_behind_a_quiet_time_may_be_a_tick_late(late_ms, in_time):
    # From 20 to 40 ms nothing happens, which is longer than a tick of 10 ms.
    found = compared.of_events(trace(), changed(5, data(40 + late_ms, 2)), FLOW)
    assert (found.equal, found.in_time) == (True, in_time)
    assert found.worst_ns == round(late_ms * MS)


def test_a_segment_that_an_acknowledgement_brought_about_may_not_be_late():
    near = changed(5, data(20.5, 2))
    found = compared.of_events(trace(), near, changed(5, data(22, 2)))
    assert (found.equal, found.in_time, found.kind()) == (True, False, "times")


def test_at_least_500_patterns_of_different_names():
    rows = patterns()
    assert len({row.id for row in rows}) == len(rows) >= 500
    assert {row.congestion for row in rows} == {"cubic", "reno", "bbr"}
    singles = [row for row in rows if row.clause == "single" and row.options == BASE and row.congestion == "cubic"]
    assert [row.impairments[0]["segment"] for row in singles] == list(range(1, 41))


def test_no_trace_is_refused_with_its_line(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text('{"pattern": {}}\n')
    with pytest.raises(MayflyError, match="line 1: no trace of a pattern"):
        list(traces.read(path))


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request):
    found = {one.id: one for one in traces.read(SAMPLES[request.param])}
    assert all(one.kernel.startswith(f"{request.param}.") for one in found.values())
    return found


def test_the_sample_is_one_of_every_clause(sample):
    assert {one.pattern["clause"] for one in sample.values()} == {row.clause for row in patterns()}
    assert all(one.finished for one in sample.values())


def test_impairments_of_the_simulator_meet_those_that_the_kernels_met(sample):
    # The first window is sent without anything heard of it: what comes of it is up to the link alone.
    for one in sample.values():
        if one.pattern["clause"] not in ("single", "pair", "burst", "reordering") or one.pattern["congestion"] == "bbr":
            continue
        kernel, here = in_kernel(one), simulated(one)
        acks = [[event for event in events if not event.sent][:10] for events in (kernel, here)]
        assert [event.what for event in acks[0]] == [event.what for event in acks[1]], one.id
        for theirs, ours in zip(*acks, strict=True):
            assert abs(theirs.time_ns - ours.time_ns) < 10_000, one.id


def test_unimpaired_flows_are_equal(sample):
    for one in sample.values():
        if one.pattern["clause"] == "unimpaired":
            assert compared.compared(one).equal, one.id


def test_a_trace_in_words_has_every_packet(sample):
    one = next(one for one in sample.values() if one.pattern["clause"] == "single")
    lines = list(shown.lines(one, states=False))
    assert len(lines) == 1 + len(one.packets)
    assert any(line.endswith("dropped") for line in lines)


def test_what_the_simulator_refuses_is_told(sample):
    one = next(iter(sample.values()))
    found = compared.compared(one, {"min_rto": "2s", "max_rto": "1s"})
    assert (found.equal, found.kind()) == (False, f"refused: {found.refused}")
    assert "max_rto" in found.refused


def test_the_page_tells_of_every_pattern_that_differs(sample):
    found = [compared.compared(one) for one in sample.values()]
    text = page.markdown(found)
    release = next(iter(sample.values())).kernel
    assert text.startswith(f"{len(found)} patterns (Linux {release}")
    for one in found:
        if not one.in_time:
            assert one.trace.id.rsplit("/", 1)[1] in text


def test_windows_send_what_the_kernels_send_segment_by_segment(sample):
    held = [one for one in sample.values() if not one.pattern["tuned"] and one.id != WINDOW_FILLS]
    assert sum(one.pattern["congestion"] == "bbr" for one in held) > 10 and len(held) > 35
    found = {one.id: compared.compared(one) for one in held}
    assert not [id for id, one in found.items() if not (one.equal and one.in_time)]


def test_receive_buffers_that_are_tuned_open_the_window_as_linux_7_3_does():
    """Losses at the start, of repairs, late: buffers widen above a gap, and held acknowledgements are stamped anew."""
    held = list(traces.read(SAMPLE.with_name("segments-7.3-tuned.jsonl.gz")))
    assert len(held) == 14 and all(one.pattern["tuned"] and one.kernel.startswith("7.3.") for one in held)
    found = [compared.compared(one) for one in held]
    assert not [one.trace.id for one in found if not (one.equal and one.in_time)]
