"""Jobs of plain transfers: which runs are one, and what they give where ``tests/gold/test_runs.py`` has no gold."""

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
from mayfly.errors import MayflyError
from mayfly.scenario.overrides import merged
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload


def ready(scenario, disciplines, flows=None, command="compare", **how):
    """What the command does with the job of a ready scenario."""
    job = plain.ready_job(scenario, command=command, **how)
    return plain.plain_comparison(job, disciplines, flows, command=command)


def both(tmp_path, scenario, discipline, flows, duration=None, seed=None):
    """Folders filled by a plain run and by the usual way; 20 s after the end of the warm-up when not told."""
    duration = duration or f"{load_scenario(scenario).warm_up + 20}s"
    found = ready(scenario, discipline, flows, command="simulate", duration=duration, seed=seed)
    assert found is not None
    changed = {"replications": 1, "duration": duration} | ({} if seed is None else {"seed": int(seed)})
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


SETTINGS = [
    ("network.delay=21ms", "network.reverse_delay=5ms"),
    ("network.rate=9mbit", "network.reverse_rate=2mbit", "network.buffer=20ms"),
    ("network.access_rate=20mbit", "network.exit_rate=12mbit", "network.exit_rate_up=3mbit"),
    ("network.access_delay=7ms", "network.exit_delay=9ms"),
    ("network.loss=0.01", "network.impairment=[{direction='data', do='drop', segment=3}]"),
    ("network.reverse_discipline=same", "network.reverse_buffer=10"),
    ("network.buffer_counts_transmission=true", "clock_phase=3ms", "tcp.tick=10ms"),
    ("tcp.mss=1000", "tcp.congestion=cubic", "tcp.initial_window=3", "tcp.min_rto=1s"),
    ("tcp.preset=linux", "tcp.ecn=accurate"),
    ("warm_up=4s", "seed=9", "title=Mine", "name=mine"),
    ("workload.load=4mbit", "workload.exact_load=false", "workload.senders=2"),
    ("workload.cov=5",),
]
"""Values of all kinds of settings under which runs are plain."""


@pytest.mark.parametrize("overrides", SETTINGS, ids=lambda overrides: overrides[0])
@pytest.mark.parametrize("flows", [None, 200])
def test_under_any_setting_both_ways_compare_the_same(tmp_path, overrides, flows):
    """Records, samples, summary with its recommendation, and the page, in which every plot is."""
    flows = None if flows is None else drawn(tmp_path / "flows.csv", flows, flows)
    scenario = load_scenario("wired", merged(overrides, {"duration": "20s"}))
    found = plain.plain_comparison(checked.job_of(scenario), "fifo,efd,las", flows)
    assert found is not None
    usual = compare(scenario, "fifo,efd,las", flows)
    assert found.write(tmp_path / "a").keys() == usual.write(tmp_path / "b").keys()
    same_files(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "report.html").read_text() == (tmp_path / "b" / "report.html").read_text()


@pytest.mark.parametrize(
    "overrides",
    [
        ("network.symmetric=true",),
        ("network.topology=parking-lot",),
        ("network.shaper={share=0.9}",),
        ("replications=2",),
        ("nonresponsive=web",),
        ("mark_of={web=1}",),
        ("trace=1",),
        ("subflows=true",),
        ("stop_when_idle=true",),
        ("sample_interval=100ms",),
        ("probes.ping=true",),
    ],
    ids=lambda overrides: overrides[0],
)
def test_a_job_is_one_link_with_nothing_besides_its_list(overrides):
    assert checked.job_of(load_scenario("wired", merged(overrides, {}))) is None


@pytest.mark.parametrize(
    "overrides",
    [
        ("workload.up_share=0.3",),
        ("workload.users=4",),
        ("workload.group=a",),
        ("workload.sizes={law='lognormal', mean=40, cov=3}",),
        ("workload.cbr=[{rate='1mbit'}]",),
    ],
    ids=lambda overrides: overrides[0],
)
def test_a_job_draws_plain_transfers_only(overrides):
    job = checked.job_of(load_scenario("wired", merged(overrides, {})))
    assert job.drawn is None and plain.plain_comparison(job, "fifo,efd") is None


def test_a_law_that_cannot_be_refuses_draws_only(tmp_path):
    scenario = load_scenario("wired", {"workload.mean": 4, "duration": "20s"})
    with pytest.raises(MayflyError, match="mean = 4"):
        compare(scenario, "fifo,efd")
    assert plain.plain_comparison(checked.job_of(scenario), "fifo,efd") is None
    flows = drawn(tmp_path / "flows.csv", 20, 1)
    for draws in (True, False):
        assert plain.plain_comparison(checked.job_of(scenario, draws=draws), "fifo,efd", flows) is not None


def test_the_law_of_a_ready_scenario_is_solved_once():
    """And another is not taken for it."""
    solved = checked.job_of(load_scenario("wired", {"network.delay": "21ms"})).drawn
    assert solved == checked.documents()["wired"]["drawn"]
    other = checked.job_of(load_scenario("wired", {"workload.senders": 3})).drawn
    assert other["fields"] == solved["fields"] and other["senders"] != solved["senders"]
    for name in ("../scenarios/checked/wired", "w" * 300):
        named = load_scenario("wired-ns2", {"name": name})
        assert checked.job_of(named).drawn == checked.documents()["wired-ns2"]["drawn"]


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
def test_other_settings_of_a_ready_scenario_are_checked_first(overrides):
    assert plain.ready_job("wired", duration="20s", overrides=overrides, command="simulate") is None


def test_a_list_as_it_is_drawn_gives_the_same(tmp_path):
    flows = workload(load_scenario("wired-ns2", {"duration": "60s"}))
    flows.select("flow_id", "start_s", "src", "dst", size_packets=flows["size_bytes"] // 1460).write_csv(
        tmp_path / "flows.csv"
    )
    same_files(*both(tmp_path, "wired-ns2", "efd", tmp_path / "flows.csv", duration="60s", seed="7"))


DRAWN = [name for name, document in checked.documents().items() if document.get("drawn")]


def test_the_wired_scenarios_draw_plain_transfers():
    assert DRAWN == ["wired", "wired-ns2"]


@pytest.mark.parametrize(
    "how",
    [
        {"scenario": "web"},
        {"scenario": "enterprise"},
        {"duration": "100000s"},
        {"duration": "999999999s"},
        {"disciplines": "nothing"},
    ],
)
def test_draws_that_are_not_plain_are_left_to_the_usual_way(how):
    given = {"scenario": "wired", "disciplines": "fifo"} | how
    assert ready(**given, command="simulate") is None


@pytest.mark.parametrize("more", [["--stream"], ["--stream", "--no-flows"], ["--engine", "fluid"], ["--windows", "4"]])
def test_streams_windows_and_fluids_are_no_plain_runs(tmp_path, monkeypatch, more):
    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr(plain, "plain_comparison", refused)
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
        ("start_s,size_packets\n0,10\n", {"disciplines": "fifo,efd"}),
        ("start_s,size_packets\n0,10\n", {"disciplines": "nothing"}),
        ("start_s,size_packets\n30,10\n", {"duration": "20s"}),
        ("start_s,size_packets\n0,ten\n", {}),
        ("start_s,size_packets\n0,1é\n", {}),
    ],
)
def test_what_is_not_plain_is_left_to_the_usual_way(tmp_path, text, how):
    path = tmp_path / "flows.csv"
    path.write_text(text)
    given = {"scenario": "wired", "disciplines": "fifo", "flows": path} | how
    assert ready(**given, command="simulate") is None


def test_a_file_of_the_name_of_a_ready_scenario_goes_first(tmp_path, monkeypatch):
    drawn(tmp_path / "flows.csv", 5, 1)
    monkeypatch.chdir(tmp_path)
    assert ready("wired", "fifo", "flows.csv", command="simulate") is not None
    (tmp_path / "wired").write_text('duration = "5s"\n')
    assert ready("wired", "fifo", "flows.csv", command="simulate") is None


@pytest.mark.parametrize("more", [[], ["--set", "network.delay=21ms"]])
@pytest.mark.parametrize("command", [["simulate", "wired", "--discipline"], ["compare", "wired", "--disciplines"]])
def test_the_command_prints_the_same_table(tmp_path, monkeypatch, command, more):
    """Plain or not."""
    path = drawn(tmp_path / "flows.csv", 50, 2)
    given = [*command, "fifo", "--flows", path, "--duration", "20s", *more, "--out"]
    ours = mayfly_here(*given, tmp_path / "a")
    monkeypatch.setattr(plain, "plain_comparison", lambda *_, **__: None)
    usual = mayfly_here(*given, tmp_path / "b")
    assert (ours.status, usual.status) == (0, 0)
    assert ours.out.replace(str(tmp_path / "a"), "") == usual.out.replace(str(tmp_path / "b"), "")


def test_no_scenario_has_the_name_of_the_file_that_describes_tables(tmp_path, monkeypatch):
    """Before: a KeyError and a traceback, of `compare tables.toml` and of `compare tables`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables.toml").write_text('[network]\nrate = "10mbit"\nbuffer = 100\ndelay = "10ms"\n')
    (tmp_path / "list.csv").write_text("start_s,size_packets\n0.1,10\n")
    for name in (plain.TABLES.removesuffix(".json"), "tables"):
        refused = mayfly_here("compare", name, "--duration", "1s")
        assert refused.status == 2 and f"{name}: no such file; ready scenarios are" in refused.err
        named = mayfly_here("compare", "wired", "--duration", "1s", "--json", "--set", f"name={name}")
        assert named.status == 0, named.err
    own = mayfly_here("compare", "tables.toml", "--duration", "1s", "--flows", "list.csv", "--json")
    assert own.status == 0, own.err


def test_a_list_that_is_too_long_as_a_whole_is_counted_up_to_the_end_of_the_run(tmp_path, monkeypatch):
    """Before: refused for the memory of flows that start after the end."""
    path = tmp_path / "list.csv"
    path.write_text("start_s,size_packets\n" + "".join(f"{n},10\n" for n in range(1000)))
    given = ("compare", "wired", "--disciplines", "fifo,efd", "--flows", path, "--duration", "3s", "--json")
    monkeypatch.setattr(plain, "RECORD_BYTES", 10**12)
    assert mayfly_here(*given).status == 0


def test_a_file_of_a_user_runs_plainly(tmp_path, monkeypatch):
    """A scenario need not be ready: the usual way is not asked."""
    (tmp_path / "own.toml").write_text('duration = "9s"\n[workload]\nload = "1mbit"\n')

    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr("mayfly.comparison.comparison.compare", refused)
    given = ["compare", tmp_path / "own.toml", "--disciplines", "fifo,efd", "--out", tmp_path / "out", "--json"]
    assert mayfly_here(*given).status == 0


def test_an_interrupt_stops_the_run(tmp_path, monkeypatch):
    path = drawn(tmp_path / "flows.csv", 2000, 2, end_s=2000.0)
    told = []

    def progress(share):
        told.append(share)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job = plain.ready_job("wired", duration="100000s")
        plain.plain_comparison(job, "fifo", path, progress=progress)
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


def test_every_discipline_gives_the_same_both_ways(tmp_path):
    found = ready("wired", EVERY, duration="30s", replications="1")
    usual = compare(load_scenario("wired", {"duration": "30s"}), EVERY)
    assert found.write(tmp_path / "a").keys() == usual.write(tmp_path / "b").keys()
    same_files(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "report.html").read_text() == (tmp_path / "b" / "report.html").read_text()


@pytest.mark.parametrize(
    "how",
    [{"replications": "2"}, {"disciplines": "fifo,nothing"}, {"scenario": "wlan"}, {"disciplines": "fifo,estmred"}],
)
def test_comparisons_that_are_not_plain_are_left_to_the_usual_way(how):
    assert ready(**({"scenario": "wired", "disciplines": "fifo,efd", "duration": "2s"} | how)) is None


@pytest.mark.parametrize("more", [["--engine", "linux"], ["--models"], ["--models-path"], ["--trace-flow", "1"]])
def test_models_traces_and_engines_are_no_plain_comparisons(tmp_path, monkeypatch, more):
    def refused(*_, **__):
        raise AssertionError

    monkeypatch.setattr(plain, "plain_comparison", refused)
    # What is refused comes after the choice of the way.
    given = ["compare", "wired", "--disciplines", "nothing", "--duration", "2s", "--out", tmp_path / "out"]
    assert mayfly_here(*given, *more).status == 2
