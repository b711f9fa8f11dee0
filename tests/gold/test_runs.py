"""Tables and summaries of runs of plain transfers are those of ``tests/data/gold``, on both ways to them.

Jobs of plain transfers load no library for tables (:mod:`mayfly.comparison.plain`); the other way is that of all other
runs.
"""

import json

import polars as pl
import pytest
from drawn_lists import drawn
from gold import at_once, check, table

from mayfly.comparison import plain
from mayfly.comparison.comparison import compare, run
from mayfly.scenario.overrides import merged
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import load_scenario


def simulated_plainly(scenario, chosen, flows, **how):
    job = plain.ready_job(scenario, **how, command="simulate")
    return plain.plain_comparison(job, chosen, flows, command="simulate")


def simulated(scenario, chosen, flows, overrides=(), **how):
    given = {"replications": 1} | how | ({"seed": int(how["seed"])} if "seed" in how else {})
    return run(load_scenario(scenario, given | merged(overrides, {})), chosen, flows)


def compared_plainly(scenario, chosen, flows, **how):
    return plain.plain_comparison(plain.ready_job(scenario, **how), chosen, flows)


def compared(scenario, chosen, flows, overrides=(), **how):
    return compare(load_scenario(scenario, merged(overrides, how)), chosen, flows)


QUIC = {name for name, fields in PRESETS.items() if fields.get("recovery") == "quic"}
"""They do not go with the hosts of ns-2."""

ONE = pytest.mark.parametrize("way", [simulated_plainly, pytest.param(simulated, marks=pytest.mark.slow)])
SEVERAL = pytest.mark.parametrize("way", [compared_plainly, pytest.param(compared, marks=pytest.mark.slow)])


def holds(folder, way, scenario, chosen, transfers, **how):
    """Compares the tables and the summary of a run of so many listed transfers, None for those of the scenario."""
    flows = None if transfers is None else drawn(folder / "flows.csv", transfers, transfers)
    result = way(scenario, chosen, flows, **how)
    result.write(folder, report=False)
    summary = json.loads((folder / "summary.json").read_text())
    del summary["files"]
    # It names the list, and has tests of its own (tests/workload/test_account.py).
    summary.pop("account", None)
    assert all(row.pop("cpu_s") >= 0 for row in summary["disciplines"])
    case = f"{way.__name__.removesuffix('_plainly')} {scenario}, {chosen}, {transfers} transfers"
    case = ", ".join([case, *(f"{key} {value}" for key, value in how.items())])
    summary["scenario"] = at_once(summary["scenario"])
    flows, samples = (table(pl.read_parquet(folder / f"{name}.parquet")) for name in ("flows", "samples"))
    check("runs", case, {"flows": flows, "samples": at_once(samples), "summary": summary})


def until(scenario):
    """20 s after the end of the warm-up."""
    return f"{load_scenario(scenario).warm_up + 20}s"


@ONE
@pytest.mark.parametrize(
    ("scenario", "discipline", "transfers"),
    [
        *(
            (name, "fifo", 60)
            for name in sorted(path.stem for path in plain.CHECKED.glob("*.json"))
            if f"{name}.json" != plain.TABLES
        ),
        *(("wired-ns2", name, 323) for name in ("fifo", "efd(threshold=40000)", "las", "fq_codel", "cake", "lfq")),
        ("wired", "pie", 1500),
        ("wired", "fifo", 1),
        ("red-ns2", "red", 700),
    ],
)
def test_a_list_gives_its_tables_and_figures(tmp_path, way, scenario, discipline, transfers):
    holds(tmp_path, way, scenario, discipline, transfers, duration=until(scenario))


@ONE
@pytest.mark.parametrize(
    ("scenario", "discipline", "preset"),
    [
        *(("wired", "fifo", preset) for preset in PRESETS),
        *(("wired-ns2", "fq_codel", preset) for preset in PRESETS if preset not in QUIC),
        ("red", "red", "linux"),
    ],
)
def test_presets_of_tcp_give_their_tables_and_figures(tmp_path, way, scenario, discipline, preset):
    overrides = (f"tcp.preset={preset}", "network.buffer=60")
    holds(tmp_path, way, scenario, discipline, 400, duration=until(scenario), overrides=overrides)


@ONE
@pytest.mark.parametrize("scenario", ["wired", "wired-ns2"])
@pytest.mark.parametrize(
    ("discipline", "how"),
    [
        ("fifo", {"duration": "20s"}),
        ("efd(threshold=40000)", {"duration": "60.5s", "seed": "7"}),
        ("las", {"duration": "300s", "seed": "2"}),
        ("fifo", {"duration": "60s", "overrides": ("tcp.preset=linux",)}),
        ("fifo", {"duration": "60s", "overrides": ("network.buffer=30kB",)}),
    ],
)
def test_what_a_scenario_draws_gives_its_tables_and_figures(tmp_path, way, scenario, discipline, how):
    holds(tmp_path, way, scenario, discipline, None, **how)


@SEVERAL
@pytest.mark.parametrize(
    ("scenario", "chosen", "transfers", "how"),
    [
        ("wired", "fifo,efd", None, {"duration": "2s"}),
        ("wired", None, None, {"duration": "60s", "seed": "3"}),
        ("wired", "fifo,las,lars,lfq,cake,pie,sfq,red", None, {"duration": "30s", "replications": "1"}),
        ("wired-ns2", "fifo,red,fq_codel", 323, {"duration": "30s", "overrides": ("tcp.preset=linux",)}),
        ("wired", "fifo,las", 2500, {"duration": "30s", "overrides": ("network.buffer=40",)}),
        ("red-ns2", "fifo", 60, {}),
        ("wired", "las,efd(threshold=40000)", 1, {"duration": "20s"}),
    ],
)
def test_comparisons_give_their_tables_and_figures(tmp_path, way, scenario, chosen, transfers, how):
    holds(tmp_path, way, scenario, chosen, transfers, **how)
