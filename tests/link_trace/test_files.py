"""Traces of links in files: what is read, what is refused, and that what is written is read back."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.link_trace.files import read_trace, write_trace
from mayfly.link_trace.kinds import make
from mayfly.link_trace.trace import OPPORTUNITY_BYTES, of_steps


def written(folder, text, name="trace.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_csv_file_is_read_with_its_units_and_its_end(tmp_path):
    text = "# measured at home\ntime_ms,rate_mbps,added_delay_ms\n1000,8,0\n1500,0,20\n\n2000,2.5,5\n4000,,\n"
    trace = read_trace(written(tmp_path, text))
    assert trace.at_ns.tolist() == [0, 500_000_000, 1_000_000_000]
    assert trace.rate_bps.tolist() == [8_000_000, 0, 2_500_000]
    assert trace.added_delay_ns.tolist() == [0, 20_000_000, 5_000_000]
    assert trace.period_s == 3.0
    assert trace.mean_bps == pytest.approx((8e6 * 0.5 + 2.5e6 * 2.0) / 3.0)
    assert trace.outages == [(0.5, 0.5)]


def test_without_an_end_the_last_step_lasts_as_long_as_the_one_before(tmp_path):
    assert read_trace(written(tmp_path, "time_s,rate_bps\n0,1e6\n2,3e6\n")).period_s == 4.0
    assert read_trace(written(tmp_path, "time_s,rate_bps\n7,1e6\n")).period_s == 1.0


def test_mahimahi_counts_instants_and_wraps_the_last_one(tmp_path):
    trace = read_trace(written(tmp_path, "3\n3\n10\n", "cell.down"))
    # The instant at the end is that at the begin of the next period.
    assert trace.at_ns.tolist() == [0, 3_000_000, 3_000_000]
    assert trace.period_s == 0.01 and trace.has_opportunities
    assert trace.mean_bps == pytest.approx(3 * OPPORTUNITY_BYTES * 8 / 0.01)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("5\n3\n", "line 2: 3: must be no less than the line before, 5"),
        ("5\n\n7\n", "line 2: : must be a time in whole milliseconds"),
        ("5\n-3\n", "line 2: -3: must be a time in whole milliseconds"),
        ("5\n6.5\n", "line 2: 6.5: must be a time"),
        ("0\n0\n", "line 2: 0: must be above 0"),
        ("time_s\n1\n", "line 1: time_s: must be a head with time_s or time_ms, and rate_bps"),
        ("time_s,rate_bps,rate_mbps\n", "line 1: time_s,rate_bps,rate_mbps: must be one of"),
        ("time_s,rate_bps,colour\n0,1,2\n", "line 1: colour: must be time, rate"),
        ("time_s,rate_bps\n", "has a head only"),
        ("time_s,rate_bps\n0,1e6\n0,2e6\n", "line 3: time_s = 0: must be above that of the line before"),
        ("time_s,rate_bps\n0,-1\n", "line 2: rate_bps = -1: must be from 0 to 4e+11"),
        ("time_s,rate_mbps\n0,inf\n", "line 2: rate_mbps = inf: must be from 0 to 400000"),
        ("time_s,rate_mbps\n0,many\n", "line 2: rate_mbps = many: must be from 0"),
        ("time_s,rate_bps,added_delay_ms\n0,1e6,70000\n", "added_delay_ms = 70000: must be from 0 to 60000"),
        ("time_s,rate_bps\n0,1e6,7\n", "line 2: 0,1e6,7: must be 2 values"),
        ("time_s,rate_bps\n0,1e6\n1,\n2,5\n", "line 4: 2,5: must be nothing after"),
        ("time_s,rate_bps\n0,100\n1,\n", "mean rate of 100 bit/s: must be at least 1 kbit/s"),
        ("time_s,rate_bps\n0,1e6\n700000,1e6\n", "line 3: time_s = 700000: must be within 7 days"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path, text, says):
    with pytest.raises(MayflyError) as refused:
        read_trace(written(tmp_path, text))
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(MayflyError, match="not a trace of a link: No such file"):
        read_trace(tmp_path / "nowhere.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MayflyError, match="not a trace"):
        read_trace(tmp_path / "bytes.csv")


@pytest.mark.parametrize("kind", ["lte", "starlink", "wifi", "dsl"])
def test_a_trace_is_read_back_as_it_was_written(tmp_path, kind):
    trace = make(kind, 30.0, seed=4, parameters={"mean": "6mbit"})
    write_trace(trace, tmp_path / "one.csv")
    back = read_trace(tmp_path / "one.csv")
    assert np.array_equal(back.at_ns, trace.at_ns) and np.array_equal(back.rate_bps, trace.rate_bps)
    assert back.period_ns == trace.period_ns
    assert np.array_equal(back.added_delay_ns, trace.added_delay_ns)


def test_instants_carry_the_bits_of_the_steps_they_stand_for(tmp_path):
    trace = make("wifi", 20.0, seed=2)
    write_trace(trace, tmp_path / "one.up")
    back = read_trace(tmp_path / "one.up")
    for at in np.linspace(0.5, 20.0, 40):
        # The last bits of a millisecond wait for its end, those of an opportunity for the last of them; the line that
        # says how long the trace is may be one more.
        slack = 2 * 8 * OPPORTUNITY_BYTES + 0.001 * trace.rate_bps.max()
        assert abs(back.bits(0.0, at) - trace.bits(0.0, at)) <= slack


def test_nothing_is_left_of_a_trace_that_cannot_be_written(tmp_path):
    with pytest.raises(MayflyError, match="sends less than one packet"):
        write_trace(of_steps("slow", [0.0], [1000.0], 1.0), tmp_path / "slow.up")
    with pytest.raises(MayflyError, match="cannot be written"):
        write_trace(of_steps("fine", [0.0], [1e6], 1.0), tmp_path / "nowhere" / "fine.csv")
    assert list(tmp_path.iterdir()) == []
