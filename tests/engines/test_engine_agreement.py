"""The benchmark that puts kernel and simulator side by side: what it measures, and when two values agree."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import engine_agreement
from engine_agreement import CASES, Pair, agreement, agreements, fill, quantity, read

from mayfly.engines import linux
from mayfly.errors import MayflyError


def run(finish, *, sizes=(1000, 2000, 50_000), groups=("a", "a", "b"), delivered=(0, 0, 0), drops=5, **labels):
    flows = {
        **{"flow_id": [0, 1, 2], "size_bytes": list(sizes), "protocol": ["tcp"] * 3, "group": list(groups)},
        **{"finish_s": list(finish), "response_time_s": list(finish), "delivered_bytes": list(delivered)},
        "drops": [0, 0, 0],
    }
    return {"case": "wired", "discipline": "fifo", "seed": 1, **labels, "counters": {"drops": drops}, "flows": flows}


def measured(name, here, kernel):
    return quantity(name)[0](Pair(here, kernel))


@pytest.mark.parametrize(
    ("kernel", "bound", "verdict"),
    [
        ((1.04, 2.08, 3.12), 0.05, "in"),
        ((0.96, 1.92, 2.88), 0.05, "in"),
        ((1.06, 2.12, 3.18), 0.05, "out"),
        ((0.94, 1.88, 2.82), 0.05, "out"),
        ((1.06, 2.12, 3.18), 0.10, "in"),
        ((0.70, 2.40, 3.50), 0.05, "open"),
    ],
)
def test_a_value_is_in_out_or_not_told_apart_from_in(kernel, bound, verdict):
    assert agreement(list(zip((1.0, 2.0, 3.0), kernel, strict=True)), bound).verdict == verdict


def test_the_interval_is_that_of_a_ratio_of_means():
    found = agreement([(10, 11), (10, 13), (10, 12)], 0.05)
    # t of 2 degrees of freedom: 4.303; deviation of 1.1, 1.3, 1.2: 0.1.
    assert (found.ratio, found.half) == (pytest.approx(1.2), pytest.approx(4.303 * 0.1 / math.sqrt(3), rel=1e-3))
    # What moves both sides alike is no error of the ratio.
    assert agreement([(10, 12), (20, 24), (5, 6)], 0.05).half == pytest.approx(0, abs=1e-12)


def test_one_run_says_nothing_of_chance_and_a_simulator_without_drops_has_no_ratio():
    assert agreement([(1.0, 1.5)], 0.05).verdict == "open"
    assert agreement([(0, 3), (0, 5)], 0.1).verdict == "out"
    assert agreement([(0, 0), (0, 0)], 0.1).verdict == "in"


def test_classes_are_those_of_transfers_that_ended_on_both_sides():
    here, kernel = run((1.0, 2.0, 9.0)), run((1.5, None, 8.0), drops=7)
    assert measured("short, s", here, kernel) == (1.0, 1.5)
    assert measured("long, s", here, kernel) == (9.0, 8.0)
    assert measured("drops", here, kernel) == (5, 7)
    assert (quantity("short, s")[1], quantity("drops")[1]) == (0.05, 0.10)


def test_a_page_ends_with_its_last_transfer_and_counts_where_both_have_it():
    pages = {"groups": ("page 0", "page 0", "page 1")}
    here, kernel = run((1.0, 3.0, 5.0), **pages), run((4.0, 2.0, None), **pages)
    assert measured("page, s", here, kernel) == (3.0, 4.0)


def test_a_share_is_what_the_flows_of_a_group_delivered():
    here, kernel = run((1, 1, 1), delivered=(10**6, 2 * 10**6, 5)), run((1, 1, 1), delivered=(4 * 10**6, 0, 5))
    assert measured("share a", here, kernel) == (3.0, 4.0)


def test_runs_of_other_flows_are_refused():
    with pytest.raises(MayflyError, match="wired, seed 1: the two files are of other flows"):
        measured("short, s", run((1, 2, 3)), run((1, 2, 3), sizes=(1, 2, 3)))


def test_a_file_grows_by_what_it_has_not(tmp_path):
    path, asked = tmp_path / "runs.jsonl", []

    def one(case, discipline, seed):
        asked.append((case, discipline, seed))
        if seed == 5:
            raise MayflyError("no kernel")
        return run((1.0, 2.0, 9.0), case=case, discipline=discipline, seed=seed)

    for _ in range(2):
        fill(path, "^wired/fifo$", 1, one)
    assert asked == [("wired", "fifo", seed) for seed in (1, 2, 3, 4, 5, 5)]
    rows = read(path)
    assert len(rows) == len(path.read_text().splitlines()) == 4 and json.loads(path.read_text().splitlines()[0])
    (case, discipline, seeds, found), *rest = agreements(rows, rows)
    assert (case, discipline, seeds, [(what, one.verdict) for what, one in found], rest) == (
        *("wired", "fifo", 4),
        [(what, "in") for what in CASES["wired"].quantities],
        [],
    )
    table = engine_agreement.table(rows, rows)
    assert table.startswith("3 of 3 quantities in, 0 outside") and "| `fifo`, seeds: 4 | " in table


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_engine_takes_every_case(name):
    from mayfly.discipline_registry import parse

    case = CASES[name]
    scenario, flows = case.of(1, {})
    linux.refuse(scenario)
    linux.refuse_flows(scenario, flows)
    for discipline in case.disciplines:
        assert linux.guest_settings(scenario, parse(discipline), flows)["network"]["links"][0]["ways"][0]["leaf"]
    groups = {what.removeprefix("share ") for what in case.quantities if what.startswith("share ")}
    assert groups <= set(flows["group"].to_list())
