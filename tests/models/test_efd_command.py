"""`mayfly model efd` and `mayfly model gaps` from the command line."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from mayfly.cli.app import app
from mayfly.comparison.comparison import compare
from mayfly.errors import MayflyError
from mayfly.models.efd.subflow_table import arrival_gaps, data_packets, flow_times, read_subflows
from mayfly.scenario.scenario import load_scenario

WIRED = ("--law", "zipf:min=6,mean=40,cov=6", "--rho", "0.5")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fields = {"duration": "60s", "workload.load": "5mbit", "subflows": True}
    return compare(load_scenario("wired", fields), "efd,efd(high=las)").write(folder, report=False)["subflows"]


def answered(*arguments):
    result = CliRunner().invoke(app, ["model", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def refused(*arguments):
    return str(CliRunner().invoke(app, ["model", *map(str, arguments)]).exception)


def test_the_document_holds_queues_and_times():
    found = answered("efd", *WIRED, "--at", "20,6", "--variant", "fifo+fifo,las+las")
    assert (found["policy"], found["rho"], found["threshold"], found["unit"]) == ("efd", 0.5, 20, "packets")
    assert found["at"] == [6, 20]
    assert [row["variant"] for row in found["variants"]] == ["fifo+fifo", "las+las"]
    assert set(found["queues"]) == {"all", "high", "low"}
    for queue in found["queues"].values():
        assert sum(queue["share"]) == pytest.approx(1, abs=1e-9)
    assert max(found["queues"]["high"]["size"]) == 20
    assert max(found["queues"]["low"]["size"]) == 23
    row = found["variants"][0]
    with_control, without = row["flow_response_time"], row["flow_response_time_without_control"]
    assert np.subtract(with_control, without) == pytest.approx([4 / (1 - found["high_load"])] * 2, rel=1e-9)


def test_a_rate_makes_seconds():
    packets, seconds = answered("efd", *WIRED), answered("efd", *WIRED, "--rate", "10mbit")
    assert seconds["unit"] == "s"
    for ours, theirs in zip(packets["variants"], seconds["variants"], strict=True):
        assert theirs["flow_response_time"] == pytest.approx(np.multiply(ours["flow_response_time"], 1.2e-3), rel=1e-12)


def test_measured_subflows_take_the_place_of_flights(table):
    label = "efd(high=las)"
    found = answered("efd", *WIRED, "--subflows", table, "--discipline", label, "--since", "10s")
    sizes = data_packets(pl.read_parquet(table).filter(pl.col("discipline") == label, pl.col("queued_s") >= 10))
    # Flows are cut by the law; the last piece of each is short.
    measured = (sizes <= 3).mean()
    guessed = sum(found["queues"]["all"]["share"][:3])
    assert found["queues"]["all"]["size"][:3] == [1, 2, 3]
    assert guessed == pytest.approx(measured, abs=0.1)
    assert str(table) in found["splitting"]


def test_the_gaps_are_those_of_the_table(table):
    found = answered("gaps", table, "--discipline", "efd")
    times = pl.read_parquet(table).filter(discipline="efd")["queued_s"].sort().to_numpy()
    gaps = np.diff(times)
    assert found["gaps"] + found["together"] == len(gaps)
    assert found["mean_s"] == pytest.approx(gaps[gaps > 0].mean(), rel=1e-12)
    assert [(fit["law"], fit["by"]) for fit in found["fits"]][:3] == [
        (law, "mean") for law in ("exponential", "lognormal", "weibull")
    ]
    assert all(len(fit["qq"]["law_s"]) == 99 for fit in found["fits"])


def test_tables_are_printed(table):
    result = CliRunner().invoke(app, ["model", "efd", *WIRED])
    assert "sub-flows of at most so many packets" in result.stdout
    assert "of the load of 0.5" in result.stdout
    result = CliRunner().invoke(app, ["model", "gaps", str(table), "--discipline", "efd"])
    assert "weibull" in result.stdout


def test_runs_do_not_mix():
    rows = pl.DataFrame({"replication": [0, 1, 0, 1], "queued_s": [1.0, 1.5, 3.0, 3.5]})
    gaps, together = arrival_gaps(rows)
    assert (gaps.tolist(), together) == ([2.0, 2.0], 0)


def test_times_of_flows_leave_out_the_idle_time(table):
    times = flow_times(pl.read_parquet(table), 10e6)
    assert times.height > 500
    assert (times["queueing_s"] <= times["total_s"] + 1e-9).all()
    one = times.filter(subflows=1)
    assert one["queueing_s"].to_list() == pytest.approx(one["total_s"].to_list(), rel=1e-9)
    # The link sends every packet of a flow while one of its sub-flows is there.
    sent = pl.col("high_wire_bytes", "low_wire_bytes").sum()
    wire = pl.read_parquet(table).group_by("discipline", "flow_id").agg(sent)
    joined = times.join(wire, on=["discipline", "flow_id"])
    needed_s = (joined["high_wire_bytes"] + joined["low_wire_bytes"]) * 8 / 10e6
    assert (joined["queueing_s"] >= needed_s - 1e-6).all()


def test_a_subflow_that_begins_in_the_last_transmission_counts_from_its_end():
    own = {"flow_id": [1, 1], "queued_s": [0.0, 1.5], "left_s": [1.0, 2.0], "last_wire_bytes": [125, 125]}
    assert flow_times(pl.DataFrame(own), 1000.0).select("total_s", "queueing_s", "subflows").row(0) == (3.0, 3.0, 2)


def test_what_cannot_be_is_refused(tmp_path, table):
    for arguments, message in (
        ((*WIRED, "--at", "0.5"), "at = 0.5: must be whole packets, from 1 to 1e+07"),
        ((*WIRED, "--variant", "sjf"), "variant = sjf: must be one of fifo+fifo, las+fifo, fifo+las, las+las"),
        ((*WIRED[:3], "1.0"), "rho = 1.0: must be above 0 and below 1"),
        ((*WIRED, "--threshold", "0"), "threshold = 0: must be at least 1 packet"),
        ((*WIRED, "--packet", "0", "--rate", "1mbit"), "packet = 0: must be above 0 bytes"),
    ):
        assert refused("efd", *arguments) == message
    assert "has several, name one of efd, efd(high=las)" in refused("gaps", table)
    assert "must be one of efd, efd(high=las) in" in refused("gaps", table, "--discipline", "las")
    assert "has no sub-flow from 100 s on" in refused("gaps", table, "--discipline", "efd", "--since", "100s")
    assert "not a table of sub-flows" in refused("gaps", tmp_path / "absent.parquet")
    pl.DataFrame({"size": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(MayflyError, match="has no column queued_s"):
        read_subflows(tmp_path / "other.parquet")
