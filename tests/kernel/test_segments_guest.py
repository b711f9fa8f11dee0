"""The guest that drops, delays and marks what it is told to: it does the same again, and keeps the link's times."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from mayfly.engines import guest
from mayfly.engines.segments import traces
from mayfly.engines.segments.patterns import BASE, DELAY_S, MTU, PACKET_S, RATE_BPS, Options, patterns
from mayfly.engines.segments.simulated import in_kernel
from mayfly.errors import MayflyError

pytestmark = pytest.mark.kernel

SAMPLES = Path(__file__).parents[1] / "engines"
NAMES = {guest.KERNEL: "segments.jsonl.gz", guest.NEWEST: "segments-7.3.jsonl.gz"}
CLOCK_NS = 10_000
"""Readings of the clock, 256 ns each, between what is due and what happens."""


@pytest.fixture(scope="module", autouse=True)
def kernel():
    try:
        guest.kernel(traces.HZ)
    except MayflyError as error:
        pytest.skip(str(error))


def test_the_kernel_does_again_what_is_kept_of_it(tmp_path):
    # BBR draws the phase of its cycle.
    kept = {one.id: one for one in traces.read(SAMPLES / NAMES[guest.series()]) if one.pattern["congestion"] != "bbr"}
    again = tmp_path / "again.jsonl"
    traces.write(again, [row for row in patterns() if row.id in kept])
    found = list(traces.read(again))
    assert len(found) == len(kept) > 20
    for one in found:
        events, before = in_kernel(one), in_kernel(kept[one.id])
        assert [(event.sent, event.what) for event in events] == [(event.sent, event.what) for event in before], one.id
        for event, other in zip(events, before, strict=True):
            assert abs(event.time_ns - other.time_ns) < CLOCK_NS, one.id


def test_packets_come_when_rate_and_delay_say(tmp_path):
    whole = next(row for row in patterns() if row.clause == "unimpaired" and row.options == BASE)
    path = tmp_path / "one.jsonl"
    traces.write(path, [replace(whole, segments=10, options=Options(timestamps=False))])
    (one,) = traces.read(path)
    data = [packet for packet in one.packets if packet.bytes]
    assert len(data) == 10
    # The first waits for the acknowledgement that completes the handshake.
    header_s = (MTU - one.mss) * 8 / RATE_BPS
    for number, packet in enumerate(data):
        due_ns = data[0].time_ns + (header_s + (number + 1) * PACKET_S + DELAY_S) * 1e9
        assert packet.arrival_ns == pytest.approx(due_ns, abs=CLOCK_NS)
    answers = [packet for packet in one.packets if packet.direction == 1][1:]
    for packet, answer in zip(data, answers, strict=True):
        assert 0 <= answer.time_ns - packet.arrival_ns < CLOCK_NS
