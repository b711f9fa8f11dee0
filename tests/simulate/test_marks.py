"""Marks that packets carry: by group of the scenario, and by flow."""

import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.scenario.overrides import parse_override
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import named, run_one, workload

BULK = [
    {"flows": 1, "users": 1, "group": "small"},
    {"flows": 2, "users": 1, "group": "large"},
]


def ratio(discipline: str, flows_with: pl.Expr | None = None, **fields: object) -> float:
    """Goodput of the group ``large`` over that of ``small``, in 30 s of 10 Mbit/s."""
    own = {"workload.load": None, "workload.permanent": BULK, "duration": "30s", "sample_interval": 0, **fields}
    scenario = load_scenario("wired", {**own, "replications": 1})
    flows = workload(scenario)
    run = run_one(scenario, named([discipline])[0], flows if flows_with is None else flows.with_columns(flows_with))
    by_group = dict(run.records.group_by("group").agg(pl.col("delivered_bytes").sum()).iter_rows())
    return float(by_group["large"] / by_group["small"])


def test_users_weigh_what_their_packets_are_marked_with() -> None:
    assert ratio("lfq(weights=mark)", mark_of={"large": 3}) == pytest.approx(3.0, rel=0.05)
    assert ratio("lfq", mark_of={"large": 3}) == pytest.approx(1.0, rel=0.05)


def test_the_mark_of_a_flow_goes_before_that_of_its_group() -> None:
    own = pl.when(pl.col("group") == "small").then(3).cast(pl.Int64).alias("mark")
    assert ratio("lfq(weights=mark)", own, mark_of={"small": 1, "large": 3}) == pytest.approx(1.0, rel=0.05)


def test_flows_of_one_mark_are_one_user() -> None:
    assert ratio("lfq(user=mark)", mark_of={"small": 7, "large": 7}) == pytest.approx(2.0, rel=0.1)


def test_a_group_that_no_flow_has_is_refused() -> None:
    with pytest.raises(MayflyError, match=r"mark_of = 'nobody': must be a group of the flows"):
        ratio("lfq", mark_of={"nobody": 1})


def test_a_mark_has_32_bits() -> None:
    with pytest.raises(MayflyError, match="mark_of"):
        ratio("lfq", mark_of={"large": 2**32})


def test_a_mark_is_set_by_the_name_of_its_group() -> None:
    assert load_scenario("wired", dict([parse_override("mark_of.gold=3")])).mark_of == {"gold": 3}
    for wrong in ("mark_of.a.b=3", "mark_of.gold=x", "mark_of.=3"):
        with pytest.raises(MayflyError, match="mark_of"):
            load_scenario("wired", dict([parse_override(wrong)]))
