"""Plain runs: the crate ``runs`` writes the files and figures that the package writes, to the bit."""

import gzip
import json
import threading
import time

import polars as pl
import pytest
from drawn_lists import drawn
from invocation import mayfly_here

from mayfly.comparison import checked, plain
from mayfly.comparison.comparison import compare, run
from mayfly.discipline_registry import disciplines
from mayfly.scenario.overrides import merged
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload

PLAIN = [name for name in checked.documents() if name != "tables"]


def both(tmp_path, scenario, discipline, flows, duration=None, seed=None, overrides=()):
    """Folders that the plain way and the usual one have filled; 20 s after the end of the warm-up when not told."""
    duration = duration or f"{load_scenario(scenario).warm_up + 20}s"
    found = plain.plain_run(scenario, discipline, flows, duration=duration, seed=seed, overrides=overrides)
    assert found is not None
    changed = {"replications": 1, "duration": duration} | ({} if seed is None else {"seed": int(seed)})
    changed |= merged(overrides, {})
    usual = run(load_scenario(scenario, changed), discipline, flows)
    found.write(tmp_path / "plain")
    usual.write(tmp_path / "usual", report=False)
    return tmp_path / "plain", tmp_path / "usual"


def summary_of(folder):
    """The summary without what differs from run to run."""
    text = (folder / "summary.json").read_text()
    document = json.loads(text)
    del document["files"]
    assert all(row.pop("cpu_s") >= 0 for row in document["disciplines"])
    return json.dumps(document)


def same_files(ours, usual):
    for name in ("flows.parquet", "samples.parquet"):
        one, other = (pl.read_parquet(folder / name) for folder in (ours, usual))
        assert one.schema == other.schema
        assert one.equals(other, null_equal=True), name
        told = [pl.read_parquet_metadata(folder / name) for folder in (ours, usual)]
        keys = ("mayfly.table", "mayfly.schema", "mayfly.columns")
        assert [told[0][key] for key in keys] == [told[1][key] for key in keys]
    # As text, so that the order of keys and the last bit of every figure count.
    assert summary_of(ours) == summary_of(usual)


@pytest.mark.parametrize(
    ("scenario", "discipline", "flows"),
    [
        *((name, "fifo", 60) for name in PLAIN),
        *(("wired-ns2", name, 323) for name in ("fifo", "efd(threshold=40000)", "las", "fq_codel", "cake", "lfq")),
        ("wired", "pie", 1500),
        ("wired", "fifo", 1),
        ("red-ns2", "red", 700),
    ],
)
def test_both_ways_write_the_same(tmp_path, scenario, discipline, flows):
    same_files(*both(tmp_path, scenario, discipline, drawn(tmp_path / "flows.csv", flows, flows)))


@pytest.mark.parametrize(
    ("scenario", "discipline", "preset"),
    [
        *(("wired", "fifo", preset) for preset in PRESETS),
        *(("wired-ns2", "fq_codel", preset) for preset in PRESETS if preset != "quic"),
        ("red", "red", "linux"),
    ],
)
def test_presets_of_tcp_and_buffers_are_plain(tmp_path, scenario, discipline, preset):
    overrides = (f"tcp.preset={preset}", "network.buffer=60")
    flows = drawn(tmp_path / "flows.csv", 400, 4)
    same_files(*both(tmp_path, scenario, discipline, flows, overrides=overrides))


@pytest.mark.parametrize("overrides", [("tcp.preset=linux",), ("network.buffer=30kB",), ("network.buffer=17",)])
def test_what_a_scenario_draws_under_another_setting_gives_the_same(tmp_path, overrides):
    same_files(*both(tmp_path, "wired-ns2", "fifo", None, "60s", overrides=overrides))


@pytest.mark.parametrize(
    "overrides",
    [
        ("network.rate=1mbit",),
        ("tcp.preset=nothing",),
        ("tcp.preset=[1]",),
        ("network.buffer=0",),
        ("network.buffer=20ms",),
        ("network.buffer",),
        ("network.buffer=20", "seed=3"),
    ],
)
def test_other_settings_are_left_to_the_usual_way(overrides):
    assert plain.plain_run("wired", "fifo", duration="20s", overrides=overrides) is None


def test_a_list_as_it_is_drawn_gives_the_same(tmp_path):
    flows = workload(load_scenario("wired-ns2", {"duration": "60s"}))
    flows.select("flow_id", "start_s", "src", "dst", size_packets=flows["size_bytes"] // 1460).write_csv(
        tmp_path / "flows.csv"
    )
    same_files(*both(tmp_path, "wired-ns2", "efd", tmp_path / "flows.csv", duration="60s", seed="7"))


DRAWN = [name for name, document in checked.documents().items() if document.get("drawn")]


def test_the_wired_scenarios_draw_plain_transfers():
    assert DRAWN == ["wired", "wired-ns2"]


@pytest.mark.parametrize("scenario", DRAWN)
@pytest.mark.parametrize(
    ("discipline", "duration", "seed"),
    [("fifo", "20s", None), ("efd(threshold=40000)", "60.5s", "7"), ("las", "300s", "2"), ("fifo", "1ms", "5")],
)
def test_what_a_scenario_draws_gives_the_same(tmp_path, scenario, discipline, duration, seed):
    if duration == "1ms":
        # Nothing arrives: the usual way says so.
        assert plain.plain_run(scenario, discipline, duration=duration, seed=seed) is None
        return
    same_files(*both(tmp_path, scenario, discipline, None, duration, seed))


@pytest.mark.parametrize(
    "how",
    [
        {"scenario": "web"},
        {"scenario": "enterprise"},
        {"duration": "100000s"},
        {"duration": "999999999s"},
        {"discipline": "nothing"},
    ],
)
def test_draws_that_are_not_plain_are_left_to_the_usual_way(how):
    assert plain.plain_run(**({"scenario": "wired", "discipline": "fifo"} | how)) is None


@pytest.mark.parametrize("more", [["--stream"], ["--stream", "--no-flows"], ["--engine", "fluid"], ["--windows", "4"]])
def test_streams_windows_and_fluids_are_no_plain_runs(tmp_path, monkeypatch, more):
    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr(plain, "plain_run", refused)
    given = ["simulate", "wired", "--discipline", "fifo", "--duration", "20s", "--out", tmp_path / "out", "--json"]
    assert mayfly_here(*given, *more).status == 0


def test_every_flow_alone_in_time_gives_the_same(tmp_path):
    """Nothing is unfinished, and one transfer is so large that the times alone of others follow from it."""
    path = tmp_path / "flows.csv"
    path.write_text("size_bytes,start_s\n1,0\n1460,1\n1461,2e0\n900000,3.5\n700001,10\n438000,17\n")
    same_files(*both(tmp_path, "wired", "fifo", path, duration="30s"))


def test_a_list_in_gzip_gives_the_same(tmp_path):
    path = drawn(tmp_path / "flows.csv", 40, 3, columns=("start_s", "size_packets"))
    packed = tmp_path / "flows.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same_files(*both(tmp_path, "wired", "fifo", packed))


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("start_s,size_packets,group\n0,10,web\n", {}),
        ("start_s,size_packets\n0,10\n", {"scenario": "wlan"}),
        ("start_s,size_packets\n0,10\n", {"scenario": "whatif.toml"}),
        ("start_s,size_packets\n0,10\n", {"duration": "soon"}),
        ("start_s,size_packets\n0,10\n", {"duration": "0"}),
        ("start_s,size_packets\n0,10\n", {"seed": "-1"}),
        ("start_s,size_packets\n0,10\n", {"discipline": "fifo,efd"}),
        ("start_s,size_packets\n0,10\n", {"discipline": "nothing"}),
        ("start_s,size_packets\n30,10\n", {"duration": "20s"}),
        ("start_s,size_packets\n0,ten\n", {}),
        ("start_s,size_packets\n0,1é\n", {}),
    ],
)
def test_what_is_not_plain_is_left_to_the_usual_way(tmp_path, text, how):
    path = tmp_path / "flows.csv"
    path.write_text(text)
    given = {"scenario": "wired", "discipline": "fifo", "flows": path} | how
    assert plain.plain_run(**given) is None


def test_a_file_of_the_name_of_a_ready_scenario_goes_first(tmp_path, monkeypatch):
    drawn(tmp_path / "flows.csv", 5, 1)
    monkeypatch.chdir(tmp_path)
    assert plain.plain_run("wired", "fifo", "flows.csv") is not None
    (tmp_path / "wired").write_text('duration = "5s"\n')
    assert plain.plain_run("wired", "fifo", "flows.csv") is None


def test_the_command_prints_the_same_table(tmp_path):
    """Plain or not: with a setting that changes nothing it is not."""
    path = drawn(tmp_path / "flows.csv", 50, 2)
    given = ["simulate", "wired", "--discipline", "fifo", "--flows", path, "--duration", "20s", "--out"]
    ours, usual = (
        mayfly_here(*given, tmp_path / name, *more)
        for name, more in (("a", ()), ("b", ("--set", "trace_limit=1000000")))
    )
    assert (ours.status, usual.status) == (0, 0)
    assert ours.out.replace(str(tmp_path / "a"), "") == usual.out.replace(str(tmp_path / "b"), "")


def test_an_interrupt_stops_the_run(tmp_path, monkeypatch):
    path = drawn(tmp_path / "flows.csv", 2000, 2, end_s=2000.0)
    told = []

    def progress(share):
        told.append(share)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plain.plain_run("wired", "fifo", path, duration="100000s", progress=progress)
    until = time.monotonic() + 10
    while any(thread.name == "run" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert len(told) == 1


def test_checked_scenarios_are_as_a_check_gives_them():
    """After a change of a scenario, its model or a table: ``python -m mayfly.comparison.checked``."""
    found = checked.documents()
    assert {path.stem for path in plain.CHECKED.glob("*.json")} == set(found)
    for name, document in found.items():
        assert (plain.CHECKED / f"{name}.json").read_text(encoding="utf-8") == checked.text_of(document), name


EVERY = ",".join(one["id"] for one in disciplines() if one["id"] not in plain.ESTIMATING)


@pytest.mark.parametrize(
    ("scenario", "disciplines", "flows", "how"),
    [
        ("wired", "fifo,efd", None, {"duration": "2s"}),
        ("wired", None, None, {"duration": "60s", "seed": "3"}),
        ("wired", EVERY, None, {"duration": "30s", "replications": "1"}),
        ("wired-ns2", "fifo,red,fq_codel", 323, {"duration": "30s", "overrides": ["tcp.preset=linux"]}),
        ("wired", "fifo,las", 2500, {"duration": "30s", "overrides": ["network.buffer=40"]}),
        ("red-ns2", "fifo", 60, {}),
        ("wired", "las,efd(threshold=40000)", 1, {"duration": "20s"}),
    ],
)
def test_both_ways_compare_the_same(tmp_path, scenario, disciplines, flows, how):
    """Records, samples, summary with its recommendation, and the page, in which every plot is."""
    flows = None if flows is None else drawn(tmp_path / "flows.csv", flows, flows)
    found = plain.plain_comparison(scenario, disciplines, flows, **how)
    assert found is not None
    changed = merged(how.pop("overrides", ()), how)
    usual = compare(load_scenario(scenario, changed), disciplines, flows)
    assert found.write(tmp_path / "a").keys() == usual.write(tmp_path / "b").keys()
    for name in ("flows.parquet", "samples.parquet"):
        one, other = (pl.read_parquet(tmp_path / folder / name) for folder in "ab")
        assert one.equals(other, null_equal=True), name
    assert summary_of(tmp_path / "a") == summary_of(tmp_path / "b")
    assert (tmp_path / "a" / "report.html").read_text() == (tmp_path / "b" / "report.html").read_text()


@pytest.mark.parametrize(
    "how",
    [{"replications": "2"}, {"disciplines": "fifo,nothing"}, {"scenario": "wlan"}, {"disciplines": "fifo,estmred"}],
)
def test_comparisons_that_are_not_plain_are_left_to_the_usual_way(how):
    assert plain.plain_comparison(**({"scenario": "wired", "disciplines": "fifo,efd", "duration": "2s"} | how)) is None


@pytest.mark.parametrize("more", [["--engine", "linux"], ["--models"], ["--models-path"], ["--trace-flow", "1"]])
def test_models_traces_and_engines_are_no_plain_comparisons(tmp_path, monkeypatch, more):
    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr(plain, "plain_comparison", refused)
    # What is refused comes after the choice of the way.
    given = ["compare", "wired", "--disciplines", "nothing", "--duration", "2s", "--out", tmp_path / "out"]
    assert mayfly_here(*given, *more).status == 2
