"""Verdicts follow from what is measured and what is printed."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.papers.declaration import (
    Claim,
    Difference,
    Experiment,
    Printed,
    Row,
    Runs,
    Verdict,
    compared,
    single_run_interval,
)
from mayfly.papers.page import cells, markdown, section
from mayfly.papers.rows import alike, below, not_above
from mayfly.papers.wired_measures import cbr, transfers

NOTHING = Runs(())


def fixed(*values: float):
    return lambda runs: np.array(values)


def verdict(ours, printed=None, margin=None) -> Verdict:
    row = Row("row", fixed(*ours), "", Printed(printed) if printed is not None else None, margin and fixed(*margin))
    return compared(row, NOTHING).verdict


def test_a_printed_number_inside_the_interval_of_single_runs_agrees_whatever_the_direction() -> None:
    assert verdict([0.9, 1.0, 1.1], 1.05, [-1.0, -1.1, -1.2]) is Verdict.AGREES


def test_a_printed_number_outside_leaves_the_direction_to_decide() -> None:
    assert verdict([0.9, 1.0, 1.1], 9.0, [1.0, 1.1, 1.2]) is Verdict.DIRECTION
    assert verdict([0.9, 1.0, 1.1], 9.0, [-1.0, 1.1, 0.1]) is Verdict.UNDECIDED
    assert verdict([0.9, 1.0, 1.1], 9.0, [-1.0, -1.1, -1.2]) is Verdict.DIFFERS
    assert verdict([0.9, 1.0, 1.1], 9.0) is Verdict.DIFFERS


def test_none_observed_agrees_with_a_printed_zero_only_when_single_runs_have_none() -> None:
    assert verdict([0.0, 0.0, 0.0], 0.0) is Verdict.AGREES
    assert verdict([0.01, 0.012, 0.011], 0.0) is Verdict.DIFFERS


def test_the_interval_of_single_runs_holds_the_next_run_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(1)
    draws = rng.lognormal(0.0, 0.4, (4000, 6))
    inside = [low <= row[5] <= high for row in draws for low, high in [single_run_interval(row[:5])]]
    assert np.mean(inside) == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 4000) ** 0.5)


def test_one_replication_and_a_row_without_claim_are_refused() -> None:
    with pytest.raises(MayflyError, match="must be at least 2"):
        single_run_interval(np.array([1.0]))
    with pytest.raises(MayflyError, match="printed number or a direction"):
        Row("row", fixed(1.0))


def test_direction_rows_compare_in_the_direction_they_say() -> None:
    low, high = fixed(1.0, 1.1, 0.9), fixed(2.0, 2.1, 1.9)
    assert compared(below("row", low, high), NOTHING).verdict is Verdict.DIRECTION
    assert compared(below("row", high, low), NOTHING).verdict is Verdict.DIFFERS
    assert compared(not_above("row", low, high), NOTHING).verdict is Verdict.DIRECTION
    assert compared(not_above("row", high, low), NOTHING).verdict is Verdict.DIFFERS
    assert compared(alike("row", (fixed(1.0, 2.0, 3.0), fixed(1.1, 2.1, 3.1))), NOTHING).verdict is Verdict.DIRECTION
    assert compared(alike("row", (low, high)), NOTHING).verdict is Verdict.DIFFERS


def claim(row: Row, difference: Difference | None = None) -> Claim:
    return Claim("some-4.1-claim", "Chen 2012, 4.6", "it is so", "`wired`", (row,), difference)


def test_a_claim_needs_a_reason_exactly_when_it_does_not_hold() -> None:
    holds = Row("row", fixed(1.0, 1.1), margin=fixed(1.0, 1.1))
    fails = Row("row", fixed(1.0, 1.1), margin=fixed(-1.0, -1.1))
    off = Row("row", fixed(1.0, 1.1), "s", Printed(50.0), fixed(1.0, 1.01))
    assert claim(holds).check(NOTHING).expected
    assert not claim(fails).check(NOTHING).expected
    assert claim(fails, Difference(Verdict.DIFFERS, "why")).check(NOTHING).expected
    assert not claim(fails, Difference(Verdict.UNDECIDED, "another matter")).check(NOTHING).expected
    assert not claim(holds, Difference(Verdict.DIRECTION, "stale")).check(NOTHING).expected
    assert not claim(off).check(NOTHING).expected, "the printed number is far off"
    assert claim(off, Difference(Verdict.DIRECTION, "why")).check(NOTHING).expected


def short(identity: str, measure, **more) -> Experiment:
    overrides = {"duration": "30s", "workload.load": 8_000_000, "network.buffer": 50, **more.pop("overrides", {})}
    return Experiment(identity, overrides, ("fifo", "las", "efd"), 2, measure, **more)


def test_an_experiment_is_simulated_once_and_on_common_flows() -> None:
    calls = []

    def measure(run) -> dict[str, float]:
        calls.append(run.discipline.id)
        return {"flows": float(run.records.height), "delivered": float(run.records["delivered_bytes"].sum())}

    runs = Runs([short("once", measure)])
    flows = {discipline: runs.values("once", discipline, "flows") for discipline in ("fifo", "las", "efd")}
    assert sorted(calls) == ["efd", "efd", "fifo", "fifo", "las", "las"]
    assert flows["fifo"].shape == (2,)
    assert flows["fifo"][0] != flows["fifo"][1]
    assert (flows["fifo"] == flows["efd"]).all()
    assert list(runs.seconds) == ["once"]


@pytest.mark.parametrize(
    ("asked", "known"),
    [(("twice", "fifo", "flows"), "once"), (("once", "sfq", "flows"), "fifo"), (("once", "fifo", "loss"), "flows")],
)
def test_what_is_not_declared_is_refused_with_what_there_is(asked: tuple[str, str, str], known: str) -> None:
    runs = Runs([short("once", lambda run: {"flows": 1.0})])
    with pytest.raises(MayflyError, match=f"not declared; there are .*{known}"):
        runs.values(*asked)


def test_measures_of_a_run_are_consistent_with_each_other() -> None:
    runs = Runs([short("wired", transfers, overrides={"sample_interval": 0.1})])

    def of(name: str, discipline: str = "efd") -> np.ndarray:
        return runs.values("wired", discipline, name)

    assert (of("short_s") < of("long_s")).all()
    assert (of("short_packets") < of("long_packets")).all()
    assert (of("table_max") <= 50).all()
    assert (of("table_above_queue") == 0).all()
    assert (of("table_mean", "las") > of("table_mean")).all()
    assert ((of("high_share") > 0) & (of("high_share") < 1)).all()
    assert ((of("run2c_rule_share") > 0) & (of("run2c_rule_share") < 1)).all()
    assert (of("unfinished_small") <= of("unfinished")).all()
    assert (of("table_mean", "fifo") == 0).all()


def test_a_cbr_flow_alone_leaves_at_its_own_pace_and_loses_what_does_not_fit() -> None:
    flow = {"workload.cbr": [{"rate": 64_000, "packet": 1500, "start": "1s"}], "duration": "100s"}
    light = short("light", cbr, overrides=flow | {"workload.load": 100_000, "network.buffer": 1000}, trace_udp=True)
    runs = Runs([light])
    assert (runs.values("light", "efd", "loss") == 0).all()
    assert (runs.values("light", "efd", "regular") > 0.95).all()
    assert (runs.values("light", "efd", "batched") == 0).all()
    crowd = flow | {"workload.load": 30_000_000, "network.buffer": 5}
    runs = Runs([short("crowded", cbr, overrides=crowd, trace_udp=True)])
    assert (runs.values("crowded", "fifo", "loss") > 0.1).all()


def test_the_page_shows_printed_numbers_ours_and_the_reason() -> None:
    row = Row("FIFO", fixed(1.0, 1.1, 1.2), "s", Printed(3.264, (3.211, 3.317)), fixed(1.0, 1.1, 1.2), "below LAS")
    finding = claim(row, Difference(Verdict.DIRECTION, "Because of the load.")).check(NOTHING)
    assert cells(finding.rows[0]) == [
        "FIFO (s)",
        "3.264 [3.211, 3.317]",
        "1.1 [0.8516, 1.348]",
        "[0.6973, 1.726]",
        "below LAS",
        "same direction",
    ]
    text = section(finding)
    assert "### some-4.1-claim" in text
    assert "**Same direction.** Because of the load." in text
    experiment = short("once", lambda run: {"flows": 1.0})
    page = markdown("Title", "Introduction.", [finding], [experiment], NOTHING)
    assert page.startswith("# Title\n\nIntroduction.\n")
    assert "| [some-4.1-claim](#some-41-claim) | it is so | same direction |" in page
    assert "| once | `wired`, `duration = 30s`" in page
    assert "| 1 to 2 | not run |" in page
