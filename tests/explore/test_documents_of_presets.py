"""Workload documents: what they hold is what `run_one` runs, and the sliders of the page move nothing but the link."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mayfly import _native
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.explore import documents
from mayfly.explore.catalogue import PRESETS, fixed_rtt_s
from mayfly.scenario.attacks import attack
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.columns import NEVER
from mayfly.simulate.run import native_run, run_one, workload
from mayfly.workload.bursts import BURST, BURSTS
from mayfly.workload.scripts import Train, column
from mayfly.workload.stages import NONE

MOST_FLOWS = 2000
TYPES = {
    **dict.fromkeys(("start_ns", "size_bytes", "rtt_ns", "gap_ns"), np.uint64),
    **dict.fromkeys(("src", "dst", "packet_bytes", "stage", "after", "mark"), np.uint32),
    **dict.fromkeys(("class", "transport", "application"), np.uint16),
    "flags": np.uint8,
}
ABSENT = {"rtt_ns": NEVER, "stage": NONE, "after": NONE}


def arrays(columns):
    """Columns of a document as the native module takes them."""
    found = {
        name: np.array([ABSENT[name] if value is None else value for value in values], TYPES[name])
        for name, values in columns.items()
        if not isinstance(values, dict)
    }
    return found | {"bursts": bursts_of(columns), "scripts": scripts_of(columns)}


def bursts_of(columns):
    rows = [[] for _ in columns["flags"]]
    for row, *burst in zip(*(columns["bursts"][name] for name in ("flow", *BURST.to_schema())), strict=True):
        rows[row].append(dict(zip(BURST.to_schema(), burst, strict=True)))
    return pl.DataFrame({"bursts": pl.Series([row or None for row in rows], dtype=BURSTS)})


def scripts_of(columns):
    own = columns["scripts"]
    rows = [[] for _ in columns["flags"]]
    names = ("flow", "forward", "bytes", "wait_ns", "pace_ns")
    for row, forward, size, wait_ns, pace_ns in zip(*(own[name] for name in names), strict=True):
        # A train that goes forward goes the way of its flow, which has flag 1 where it goes up.
        up = bool(columns["flags"][row] & 1) == bool(forward)
        rows[row].append(Train(up, size, wait_ns, pace_ns))
    parts = zip(*(own["parts"][name] for name in ("flow", "train", "number", "end")), strict=True)
    for row, train, _, end in sorted(parts):
        rows[row][train] = replace(rows[row][train], parts=(*rows[row][train].parts, end))
    for row, train in zip(own["streams"]["flow"], own["streams"]["train"], strict=True):
        rows[row][train] = replace(rows[row][train], streams=True)
    for row in own["done"]:
        rows[row][-1] = replace(rows[row][-1], done=True)
    return column([row or None for row in rows]).to_frame()


def run(document, settings=None):
    """Tables of the native module for a document, by way of its text."""
    document = json.loads(documents.text(document))
    found = _native.run(
        json.dumps(document["settings"] | (settings or {})), arrays(document["flows"]), _native.Control()
    )
    return {name: pl.DataFrame(table) for name, table in found.items() if table is not None}


def same(document, tables, result):
    """Whether the tables of a document are those of a run."""
    before = len(document["probes"])
    flows = tables["flows"][before:]
    compared = [name for name in flows.columns if name in result.records.columns]
    assert {"finish_s", "delivered_bytes", "drops"} <= set(compared)
    begun = result.records.height
    kept = flows if begun == flows.height else flows.filter(pl.col("begun_s").is_not_null())
    assert kept.height == begun
    for name in compared:
        # What a discipline with one class does not tell is null in records.
        if result.records[name].null_count() < begun:
            assert kept[name].equals(result.records[name].cast(kept[name].dtype)), name
    samples = tables["samples"]
    assert samples.equals(result.samples.select(samples.columns))
    packets = tables["probes"].sort("flow_id", "number")
    assert packets["received_s"].equals(result.probes["received_s"])
    assert packets["returned_s"].equals(result.probes["returned_s"])
    counters = tables["counters"].row(0, named=True)
    assert {name: result.counters[name] for name in ("sent_bytes", "reverse_sent_bytes", "end_ns")} == {
        name: counters[name] for name in ("sent_bytes", "reverse_sent_bytes", "end_ns")
    }


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("label", ["fifo", "lfq"])
def test_a_document_runs_as_its_scenario_does(name, label):
    document, discipline = documents.preset(name), parse(label)
    scenario = load_scenario(name)
    assert document["reverse_discipline"] == "same"
    tables = run(document, {"discipline": discipline.native, "reverse_discipline": discipline.native})
    same(document, tables, run_one(scenario, discipline, workload(scenario)))


@pytest.mark.parametrize("name", PRESETS)
def test_sliders_on_a_document_are_fields_of_the_scenario(name):
    document = documents.preset(name)
    settings = {"rate_bps": 6_000_000, "reverse_rate_bps": 3_000_000, "limit": {"bytes": 90_000}}
    settings |= {"reverse_limit": {"bytes": 90_000}, "delay_ns": 33_000_000}
    changes = {
        "network.rate": "6mbit",
        "network.reverse_rate": "3mbit",
        "network.buffer": "90kB",
        "network.delay": "33ms",
    }
    scenario = load_scenario(name, changes)
    same(document, run(document, settings), run_one(scenario, parse("fifo"), workload(scenario)))


@pytest.mark.parametrize("name", PRESETS)
def test_the_flow_list_depends_on_nothing_that_the_page_moves(name):
    own = documents._listed(native_run(load_scenario(name), parse("fifo"), workload(load_scenario(name))).columns)
    for changes in (
        {"network.rate": "1mbit"},
        {"network.reverse_rate": "1gbit", "network.rate": "1gbit"},
        {"network.buffer": 10},
        {"network.buffer": "5MB"},
        {"network.delay": "250ms"},
    ):
        scenario = load_scenario(name, changes)
        assert documents._listed(native_run(scenario, parse("lfq"), workload(scenario)).columns) == own, changes


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_what_the_figures_of_the_page_are_of(name):
    scenario = load_scenario(name)
    flows = workload(scenario)
    tcp = flows.filter(pl.col("protocol") == "tcp")
    assert flows.height <= MOST_FLOWS and 15 <= scenario.duration <= 30
    assert scenario.probes.ping and scenario.probes.call and scenario.tcp.preset == "linux"
    assert flows["rtt_s"].null_count() == flows.height, "the round-trip time is that of the slider"
    assert (tcp["size_bytes"] <= 100_000).sum() >= 50
    assert (tcp["size_bytes"] > 1_000_000).sum() >= 3
    assert fixed_rtt_s(scenario.network) == pytest.approx(0.004)
    if name != "attack":
        assert set(tcp.filter(pl.col("size_bytes") > 1_000_000)["direction"]) == {"down", "up"}
        assert "stage" in flows.columns and flows["stage"].n_unique() >= 20


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_congested_and_disciplines_differ(name):
    scenario = load_scenario(name)
    flows = workload(scenario)
    waits = {}
    for label in ("fifo", "fq_codel"):
        packets = run_one(scenario, parse(label), flows).probes.filter(probe="ping")
        waits[label] = (packets["returned_s"] - packets["sent_s"]).drop_nulls().quantile(0.95)
    assert waits["fifo"] > 3 * waits["fq_codel"]


def test_the_columns_of_a_document_have_one_length_and_probes_lead():
    document = documents.preset("office")
    flows = document["flows"]
    lengths = {len(values) for values in flows.values() if isinstance(values, list)}
    assert len(lengths) == 1
    assert document["probes"] == ["ping", "call_up", "call_down"]
    assert document["settings"]["probes"] == [0, 1, 2] and document["settings"]["echoes"] == [0]
    assert None in document["groups"] and flows["class"][0] == document["groups"].index(None)
    assert set(document["groups"]) == {"backup", "files", "meeting", "pages", "updates", "uploads", None}
    assert flows["rtt_ns"] == [None] * len(flows["rtt_ns"])
    # Alone it has no group, and is counted in no class.
    alone = {name: values for name, values in document["alone"].items() if isinstance(values, list)}
    assert alone.pop("class") == [] and {len(values) for values in alone.values()} == {1}


def test_the_frame_of_captures_has_no_flow_and_no_probe():
    frame = documents.template()
    assert frame["kind"] == "template" and frame["probes"] == [] and frame["alone"] is None
    assert {tuple(values) for values in frame["flows"].values() if isinstance(values, list)} == {()}
    assert set(frame["flows"]) == set(documents.preset("attack")["flows"])
    assert frame["settings"]["symmetric"] and frame["settings"]["stop_when_idle"]
    assert set(frame) == set(documents.preset("attack"))


def test_a_document_has_the_attacks_of_the_page_as_the_engine_draws_them(monkeypatch):
    split = next(row for row in documents.template()["attacks"] if row["id"] == "split")
    drawn = {"size": 5_000_000, "start_ns": 2_000_000_000, "every_ns": 10_000_000_000}
    assert split == {"id": "split", "least": 1, "most": 256, "source": {"batch": drawn}}
    staggered = replace(attack("address-flood"), page={})
    monkeypatch.setattr(documents, "ATTACKS", [staggered])
    with pytest.raises(MayflyError, match=r"^attack address-flood: cbr\.flows: must be left out: the page cannot draw"):
        documents.template()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("wlan", r"wlan: network\.wlan: must be left out"),
        ("parking-lot", r"parking-lot: network\.topology = 'parking-lot': must be left out"),
    ],
)
def test_a_scenario_that_is_no_single_link_is_refused(name, told):
    with pytest.raises(MayflyError, match=told):
        documents.preset(name)


def test_all_files_are_written_and_the_same_in_every_process(tmp_path):
    for number, seed in enumerate(("1", "2")):
        subprocess.run(
            [sys.executable, "-m", "mayfly.explore.documents", tmp_path / str(number)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    files = sorted(path.relative_to(tmp_path / "0").as_posix() for path in (tmp_path / "0").rglob("*"))
    assert files == sorted(
        ["catalogue.json", "template.json", "presets", *(f"presets/{name}.json" for name in PRESETS)]
    )
    for file in files:
        if file.endswith(".json"):
            assert (tmp_path / "0" / file).read_bytes() == (tmp_path / "1" / file).read_bytes()
            json.loads((tmp_path / "0" / file).read_text(encoding="utf-8"))


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert documents.main([str(tmp_path / "file")]) == 2
    assert documents.main([]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and "cannot be written" in lines[0] and "must have one folder" in lines[1]
