"""What runs, what is there already, when seeds are enough, what is kept of a failure."""

import json

import polars as pl
import pytest
from files import grid, plan_of

import mayfly
from mayfly.errors import MayflyError
from mayfly.sweep.answer import answer, query
from mayfly.sweep.job import Job
from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import shard_of, sweep
from mayfly.sweep.store import Store
from mayfly.workers.workers import Local


def two() -> Local:
    return Local(2)


def test_a_sweep_runs_once_and_agrees_with_single_runs(tmp_path):
    plan, out = load_plan(grid(tmp_path)), tmp_path / "out"
    first = sweep(plan, out, make_workers=two)
    assert (first.ran, first.found, len(first.rows)) == (16, 0, 16)
    again = sweep(plan, out, make_workers=two)
    assert (again.ran, again.found) == (0, 16)
    fields = {"network.buffer": 20, "workload.load": "8mbit", "duration": "3s", "seed": 2}
    single = mayfly.run(mayfly.load_scenario("wired", fields), "efd").summary["disciplines"][0]
    sql = """select "short.mean_s" m, drops from results where discipline = 'efd' and seed = 2
             and "field.network.buffer" = 20 and "field.workload.load" = '8mbit'"""
    assert query(out, sql).rows() == [(single["short"]["mean_s"], single["drops"])]
    figures = answer(first, out).figures()
    assert [row["fields"]["network.buffer"] for row in figures] == [20] * 4 + [100] * 4
    # Another file that asks for one of the runs finds it.
    other = plan_of(tmp_path, 'scenario = "wired"\ndisciplines = "efd"\n[set]\nduration = 3.0\n"network.buffer" = 100')
    text = other.sweep.model_copy(update={"set": {**other.sweep.set, "workload.load": "8mbit"}})
    found = sweep(type(other)(text, *list(vars(other).values())[1:]), out, make_workers=two)
    assert (found.ran, found.found) == (0, 1)


@pytest.mark.parametrize(
    ("overrides", "discipline"),
    [({"duration": "20s"}, "efd"), ({"duration": "9s", "network.delay": "21ms", "tcp.preset": "linux"}, "fq_codel")],
)
def test_a_run_without_records_gives_the_row_that_tables_give(monkeypatch, overrides, discipline):
    def row(seed):
        found, records = Job("wired", overrides, {}, discipline, discipline, seed).run("key")
        assert found.pop("cpu_s") >= 0 and found["status"] == "done"
        return list(found.items()), records

    ours, none = row(3)
    monkeypatch.setattr("mayfly.sweep.job.plain_comparison", lambda *_, **__: None)
    usual, _ = row(3)
    assert (ours, none) == (usual, None)


def test_parts_make_the_whole(tmp_path):
    plan, out = load_plan(grid(tmp_path)), tmp_path / "out"
    ran = [sweep(plan, out, shard=(part, 3), make_workers=two).ran for part in range(3)]
    assert sum(ran) == 16 and max(ran) - min(ran) <= 1
    assert Store(out).table()["key"].n_unique() == 16
    assert sweep(plan, out, make_workers=two).ran == 0


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/", "-1/2", "1/9999999"])
def test_a_part_that_is_none_is_refused(text):
    with pytest.raises(MayflyError, match="must be I/N"):
        shard_of(text)


def test_seeds_are_added_until_the_mean_is_known(tmp_path):
    text = """
        scenario = "wired"
        disciplines = "fifo,efd"
        [set]
        duration = "3s"
        [fields]
        "network.buffer" = [20, 100]
        [stop]
        metric = "utilisation"
        relative_ci = 0.3
        min_seeds = 2
        max_seeds = 12
    """
    plan = plan_of(tmp_path, text)
    done = sweep(plan, tmp_path / "out", make_workers=two)
    assert set(done.seeds) == {0, 1}
    for point, buffer in enumerate((20, 100)):
        for label in ("fifo", "efd"):
            rows = [r for r in done.rows if r["discipline"] == label and r["field.network.buffer"] == buffer]
            assert sorted(row["seed"] for row in rows) == list(range(1, done.seeds[point] + 1))
        known = [
            row for row in answer(done, "out", ["utilisation"]).figures() if row["fields"]["network.buffer"] == buffer
        ]
        widths = [(row["utilisation"]["ci95"], row["utilisation"]["mean"]) for row in known]
        if done.seeds[point] < 12:
            assert all((high - low) / 2 <= 0.3 * mean for (low, high), mean in widths)
    again = sweep(plan, tmp_path / "out", make_workers=two)
    assert (again.ran, again.seeds) == (0, done.seeds)


def test_a_figure_that_no_run_has_is_told(tmp_path):
    text = 'scenario = "wired"\ndisciplines = "fifo"\n[set]\nduration = "3s"\n[stop]\nmetric = "short"'
    with pytest.raises(MayflyError, match=r"stop.metric = 'short': no such figure of a run; such as .*short.mean_s"):
        sweep(plan_of(tmp_path, text), tmp_path / "out", make_workers=two)


def test_a_failure_is_listed_and_runs_again_on_request_only(tmp_path):
    text = """
        scenario = "wired"
        disciplines = "fifo"
        design = "grid"
        [set]
        duration = "3s"
        [fields]
        "workload.minimum" = [6, 50]
        "workload.mean" = [40]
        "workload.cov" = [6]
    """
    plan, out = plan_of(tmp_path, text), tmp_path / "out"
    done = sweep(plan, out, make_workers=two)
    failed = answer(done, out).failures()
    assert len(failed) == 1 and failed[0]["field.workload.minimum"] == 50 and "minimum" in failed[0]["error"]
    assert "1 runs failed" in " ".join(answer(done, out).sentences())
    assert sweep(plan, out, make_workers=two).ran == 0
    assert sweep(plan, out, make_workers=two, retry_failed=True).ran == 1


def test_flow_records_are_kept_on_request(tmp_path):
    text = 'scenario = "wired"\ndisciplines = "fifo"\nrecords = true\nwarm_up = "mser"\n[set]\nduration = "3s"'
    out = tmp_path / "out"
    done = sweep(plan_of(tmp_path, text), out, make_workers=two)
    sql = "select count(*) n, any_value(key) k from records where start_s >= (select warm_up_s from results)"
    found = query(out, sql).row(0, named=True)
    assert found["k"] == done.rows[0]["key"]
    row = done.rows[0]
    assert found["n"] == row["flows_completed"] + row["flows_unfinished"]


def test_the_rule_of_a_hundred_seconds_needs_more_than_these(tmp_path):
    text = 'scenario = "wired"\ndisciplines = "fifo"\nwarm_up = "100s"\n[set]\nduration = "3s"'
    done = sweep(plan_of(tmp_path, text), tmp_path / "out", make_workers=two)
    assert "no transfer starts after 100 s" in done.rows[0]["error"]


def test_a_query_sees_the_results_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    Store(out, create=True).add({"key": "a", "status": "done", "discipline": "fifo", "seed": 1, "drops": 3})
    assert query(out, "select drops from results").rows() == [(3.0,)]
    assert query(out, "select drops, drops from results").width == 2
    for sql in (
        "select * from read_csv('/etc/passwd')",
        "copy results to 'x.csv'",
        "select x from results",
        "nonsense",
    ):
        with pytest.raises(MayflyError):
            query(out, sql)
    with pytest.raises(MayflyError, match="not the folder of a sweep"):
        query(tmp_path / "none", "from results")


def test_shards_of_different_runs_read_as_one(tmp_path):
    store = Store(tmp_path / "out", create=True)
    store.add({"key": "a", "status": "done", "discipline": "fifo", "seed": 1, "field.x": 20, "only.here": None})
    store.gather()
    store.add({"key": "b", "status": "done", "discipline": "fifo", "seed": 2, "field.x": "30kB", "more": 1})
    store.gather()
    store.add({"key": "c", "status": "failed", "discipline": "fifo", "seed": 3, "error": "why"})
    table = Store(tmp_path / "out").table().sort("key")
    assert table["key"].to_list() == ["a", "b", "c"] and table["seed"].dtype == pl.Int64
    assert len(list((tmp_path / "out" / "shards").iterdir())) == 2
    assert json.loads(next((tmp_path / "out" / "runs").glob("*.json")).read_text())["row"]["key"] == "c"
