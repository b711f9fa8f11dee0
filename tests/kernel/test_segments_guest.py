"""The guest that drops, delays and marks what it is told to: it repeats bit for bit, and keeps the link's times."""

from dataclasses import replace
from pathlib import Path

import guest
import pytest

from mayfly.engines.segments import traces
from mayfly.engines.segments.patterns import BASE, DELAY_S, MTU, PACKET_S, RATE_BPS, Options, patterns

pytestmark = pytest.mark.kernel

SAMPLE = Path(__file__).parents[1] / "engines" / "segments.jsonl.gz"


def told(rows):
    return guest.run("segments.py", {"rate_bps": RATE_BPS, "delay_s": DELAY_S, "mtu": MTU, "patterns": rows})


def test_the_kernel_does_again_what_is_kept_of_it():
    kept = [one for one in traces.read(SAMPLE) if one.pattern["congestion"] != "bbr"]
    result = told([one.pattern for one in kept])
    for one, row in zip(kept, result["patterns"], strict=True):
        assert row["finished"]
        again = [{**dict(zip(result["columns"], values, strict=True))} for values in row["packets"]]
        assert [traces.Packet(**{**fields, "sack": tuple(fields["sack"])}) for fields in again] == list(one.packets), (
            one.id
        )


def test_packets_come_when_rate_and_delay_say():
    whole = next(row for row in patterns() if row.clause == "unimpaired" and row.options == BASE)
    row = replace(whole, segments=10, options=Options(timestamps=False)).row()
    result = told([row])
    packets = [dict(zip(result["columns"], values, strict=True)) for values in result["patterns"][0]["packets"]]
    data = [packet for packet in packets if packet["bytes"]]
    assert len(data) == 10
    for number, packet in enumerate(data):
        due_s = data[0]["time_ns"] * 1e-9 + (number + 1) * PACKET_S + DELAY_S
        assert packet["arrival_ns"] * 1e-9 == pytest.approx(due_s, abs=1e-5)
    acks = [packet for packet in packets if packet["direction"] == 1][1:]
    for packet, answer in zip(data, acks, strict=True):
        assert 0 <= answer["time_ns"] - packet["arrival_ns"] < 10_000
