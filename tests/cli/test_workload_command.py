"""``mayfly workload``."""

import json
from pathlib import Path

import pytest
from invocation import mayfly_here, refused_here

from mayfly.workload.lists import read_flows

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


def test_formats_are_listed():
    document = json.loads(mayfly_here("workload", "formats", "--json").out)
    assert {"csv", "parquet", "pcap"} <= {row["id"] for row in document["formats"]}
    assert "flow list, Parquet" in mayfly_here("workload", "formats").out


def test_a_capture_becomes_a_list_that_runs(tmp_path):
    flows = tmp_path / "flows.parquet"
    done = mayfly_here("workload", "convert", OFFICE, flows, "--internal", "10.10.0.0/24")
    assert done.status == 0 and done.out.startswith("1407 flows (1039 TCP, 368 UDP)"), done.err
    run = ("--discipline", "fifo", "--duration", "5s", "--out", tmp_path / "out", "--json")
    listed = mayfly_here("simulate", "wired", "--flows", flows, *run).document
    captured = mayfly_here("simulate", "wired", "--flows", OFFICE, *run).document
    assert listed["disciplines"][0]["label"] == captured["disciplines"][0]["label"] == "fifo"


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_bad_row_is_refused_in_one_line(arguments, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("start_s,size_bytes\n0,1\n-1,1\n")
    line = refused_here("workload", "convert", bad, tmp_path / "out.csv", *arguments)
    assert line == f"{bad}: row 2: start_s = -1.0: must be a number from 0 to 1000000000 s"
    assert not (tmp_path / "out.csv").exists()


def test_a_workload_is_measured_and_drawn_from(tmp_path):
    made = tmp_path / "office.toml"
    document = mayfly_here("workload", "from", OFFICE, "--internal", "10.10.0.0/24", "--json", "-o", made).document
    assert document["files"] == {"workload": str(made)}
    assert {row["class"] for row in document["classes"]} == {"lc-rp"}
    flows = tmp_path / "flows.csv"
    asked = ("--duration", "30s", "--load", "5mbit", "--json", "-o", flows)
    drawn = mayfly_here("workload", "draw", made, *asked).document
    assert sum(row["flows"] for row in drawn["classes"]) == read_flows(flows).height
    down = sum(row["load_expected_bps"] for row in drawn["classes"] if row["direction"] == "down")
    assert abs(down / 5e6 - 1) < 1e-9
    assert refused_here("workload", "draw", made, "--duration", "0s", "-o", flows).startswith("duration = 0")
