"""UDP flows that send in bursts: the column, its bounds, and what the simulator makes of it."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import bursts_of, texts

from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import run_one
from mayfly.workload.bursts import checked, of_flow, scaled, written
from mayfly.workload.lists import flow_list, read_flows, write_flows
from mayfly.workload.mix import offered, scale_load

TEXT = "0:1000x3/0.5 2:100"


def flows(*texts, **columns):
    return pl.DataFrame({"start_s": [1.0] * len(texts), "protocol": "udp", "bursts": texts} | columns)


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.integers(29, 65535), st.integers(1, 10**6), st.integers(1, 10**9)),
        min_size=1,
        max_size=8,
    )
)
def test_bursts_read_as_they_were_written(drawn):
    at_ns, rows = 0, []
    for pause, length, packets, gap in drawn:
        rows.append((0, at_ns + pause, gap if packets > 1 else 0, packets, length))
        at_ns += pause + gap * packets
    kept = [row for row in rows if row[1] + row[2] * row[3] < 6e16]
    if not kept:
        return
    _, at, gaps, packets, lengths = (np.array(column) for column in zip(*kept, strict=True))
    (text,) = written(pl.Series([of_flow(at * 1e-9, lengths, packets, gaps * 1e-9)]))
    found = bursts_of(text)
    assert found["packets"].to_list() == packets.tolist()
    assert found["packet_bytes"].to_list() == lengths.tolist()
    # Seconds in a float64 hold nanoseconds up to 50 days.
    assert np.abs(found["at_ns"].to_numpy() - at).max() <= at.max() * 2.0**-52
    assert found["gap_ns"].to_list() == gaps.tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "row 1: bursts = '': must be bursts such as"),
        ("0:1000 ", "must be bursts such as"),
        ("-1:1000", "must be bursts such as"),
        ("0:1000x5", "must be bursts such as"),
        ("nan:1000", "must be bursts such as"),
        ("0:28", "row 1: burst 0:28x1/0: must be 29 to 65535 bytes"),
        ("0:99999", "must be 29 to 65535 bytes"),
        ("0:1000x0/1", "must be at least one packet"),
        ("1e300:1000", "must be over within 2 years"),
        ("0:1000x1/1e300", "must be over within 2 years"),
        ("0:1000x100/1 98.9:1000", "row 1: burst 98.9:1000x1/0: must be after the one before it"),
        (" ".join(["0:65535x999999999999/0"] * 300), "size_bytes = 9007199254740992: must be a whole number from 1 to"),
    ],
)
def test_what_are_no_bursts_is_refused(text, told):
    with pytest.raises(MayflyError) as caught:
        flow_list(flows(text))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bursts_that_are_no_text_are_checked_as_text_is():
    given = [{"at_ns": 0, "gap_ns": 10**9, "packets": 3, "packet_bytes": 1000}]
    late = [*given, {"at_ns": 10**9, "packet_bytes": 100}]
    for own, told in (
        (late, "burst 1:100x1/0: must be after the one before it"),
        ([{"at_ns": 0, "packet_bytes": 28}], "row 1: burst 0:28x1/0: must be 29 to 65535 bytes"),
        ([{"at_ns": -1, "packet_bytes": 100}], "bursts: field at_ns is -1 in a row: must be at least 0"),
        ([{"at_ns": 0}], "bursts: field packet_bytes is missing"),
        ([1], "must be a list of structs"),
    ):
        with pytest.raises(MayflyError) as caught:
            flow_list(pl.DataFrame({"start_s": [1.0], "protocol": "udp", "bursts": [own]}))
        assert told in str(caught.value) and "\n" not in str(caught.value)
    named = flow_list(pl.DataFrame({"start_s": [1.0], "protocol": "udp", "bursts": [given]}))
    assert named.equals(flow_list(flows("0:1000x3/1")))
    with pytest.raises(MayflyError, match=r"row 1: bursts = 0:1000x3/1: must be empty unless protocol is udp"):
        flow_list(named.select("start_s", "bursts"))


def test_size_rate_and_length_follow_from_the_bursts():
    row = flow_list(flows(TEXT)).row(0, named=True)
    assert (row["size_bytes"], row["packet_bytes"], row["rate_bps"]) == (2988, 1000, 3100 * 8 / 2)
    with pytest.raises(MayflyError, match="size_bytes = 7: must be the payload of its bursts"):
        flow_list(flows(TEXT, size_bytes=7))
    with pytest.raises(MayflyError, match="must be empty unless protocol is udp"):
        flow_list(flows(TEXT).with_columns(protocol=pl.lit("tcp")))


def test_a_list_without_bursts_has_no_such_column(tmp_path):
    plain = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [100]}))
    assert "bursts" not in plain.columns
    mixed = flow_list(
        pl.DataFrame(
            {"start_s": [0.0, 1.0], "protocol": "udp", "rate_bps": 1e6, "bursts": [None, TEXT]}
            | {"size_bytes": [972, None]}
        )
    )
    for name in ("flows.csv", "flows.parquet"):
        write_flows(mixed, tmp_path / name)
        assert read_flows(tmp_path / name).equals(mixed)


def test_what_bursts_offer_and_how_they_scale():
    own = flow_list(flows(TEXT))
    assert offered(own)["down"]["wire_bytes"] == 3100
    assert offered(own)["span_s"] == pytest.approx(2.0)
    faster = scale_load(own, 0.5, 49_600.0)
    assert texts(faster, "bursts") == ["0:1000x3/0.25 1:100"]
    found = checked(pl.Series([None, TEXT, None]))
    assert written(scaled(found["bursts"], 1.0)).to_list() == [None, TEXT, None]
    assert found["wire_bytes"].to_list() == [None, 3100, None]


def test_the_simulator_sends_them_when_they_are_due():
    own = flow_list(flows("0.25:1000x3/0.5 2:100"))
    scenario = load_scenario("wired", {"duration": "10s", "trace": ["0"]})
    result = run_one(scenario, parse("fifo"), own)
    access_s = np.array([8000, 8000, 8000, 800]) / 100e6 + 1e-3
    assert result.packets["departed_s"].to_numpy() == pytest.approx(
        np.array([1.25, 1.75, 2.25, 3.0]) + access_s, abs=1e-9
    )
    record = result.records.row(0, named=True)
    assert (record["packets_sent"], record["delivered_bytes"]) == (4, 2988)
    assert math.isclose(record["finish_s"], 3.0 + 800 / 100e6 * 2 + 800 / 10e6 + 3e-3, abs_tol=1e-9)


def test_lists_of_no_bursts_and_rows_that_were_filtered_away(tmp_path):
    start = pl.Series("start_s", [0.0, 1.0])
    fine, wrong = {"at_ns": 0, "packet_bytes": 100}, {"at_ns": 0, "packet_bytes": -4}
    several = pl.DataFrame([start, pl.Series("bursts", [[fine], [wrong]])]).with_columns(protocol=pl.lit("udp"))
    assert flow_list(several.head(1)).height == flow_list(several.filter(pl.col("start_s") < 1)).height == 1
    with pytest.raises(MayflyError, match="packet_bytes is -4"):
        flow_list(several)
    for none in (pl.Series("bursts", [[]]), pl.Series("bursts", [[]], dtype=written_type())):
        with pytest.raises(MayflyError, match="row 1: bursts"):
            flow_list(pl.DataFrame([start[:1], none]).with_columns(protocol=pl.lit("udp")))
    # What is accepted as data is accepted as text.
    meets = [{"at_ns": 0, "gap_ns": 10, "packets": 3, "packet_bytes": 100}, {"at_ns": 19, "packet_bytes": 100}]
    flows = flow_list(pl.DataFrame([start[:1], pl.Series("bursts", [meets])]).with_columns(protocol=pl.lit("udp")))
    write_flows(flows, tmp_path / "flows.csv")
    assert read_flows(tmp_path / "flows.csv").equals(flows)


def written_type():
    return checked(pl.Series([TEXT]))["bursts"].dtype
