"""Verdicts follow from what is measured and what is printed."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly_papers.chen2012.wired.measures import cbr, transfers
from mayfly_papers.declare.agreement import narrow
from mayfly_papers.declare.declaration import (
    Claim,
    Difference,
    Experiment,
    Printed,
    Row,
    Runs,
    Verdict,
    compared,
    mean_interval,
    single_run_interval,
)
from mayfly_papers.declare.markdown import cells, markdown, section
from mayfly_papers.declare.rows import alike, at_least, at_most, below, greater_by, not_above, within

NOTHING = Runs(())


def fixed(*values: float):
    return lambda runs: np.array(values)


def verdict(ours, printed=None, margin=None) -> Verdict:
    row = Row("row", fixed(*ours), "", Printed(printed) if printed is not None else None, margin and fixed(*margin))
    return compared(row, NOTHING).verdict


def test_a_printed_number_inside_the_interval_of_single_runs_agrees_whatever_the_direction() -> None:
    assert verdict([0.95, 1.0, 1.05], 1.05, [-1.0, -1.1, -1.2]) is Verdict.AGREES


def test_a_band_wider_than_a_factor_of_2_never_agrees() -> None:
    """Inside it the direction decides, and nothing does where there is none."""
    assert narrow(single_run_interval(np.array([0.95, 1.0, 1.05]))) and not narrow((0.3, 0.9))
    assert verdict([0.5, 1.0, 2.0], 1.0, [1.0, 1.1, 1.2]) is Verdict.DIRECTION
    assert verdict([0.5, 1.0, 2.0], 1.0, [-1.0, -1.1, -1.2]) is Verdict.DIFFERS
    assert verdict([0.5, 1.0, 2.0], 1.0) is Verdict.UNDECIDED
    assert verdict([0.5, 1.0, 2.0], 100.0) is Verdict.DIFFERS
    assert verdict([-0.1, 0.1, 0.0], 0.0) is Verdict.UNDECIDED


def test_a_direction_that_holds_far_from_the_print_shows_the_factor() -> None:
    def told(printed: float) -> str:
        row = Row("row", fixed(1.0, 1.01, 0.99), "s", Printed(printed), fixed(1.0, 1.1, 1.2))
        return cells(compared(row, NOTHING))[-1]

    assert told(2.9) == "same direction"
    assert told(4.2) == "same direction, off by a factor of 4.2"
    assert told(0.2) == "same direction, off by a factor of 5"
    none = Row("row", fixed(0.0, 0.0, 0.0), "s", Printed(0.2), fixed(1.0, 1.1, 1.2))
    assert cells(compared(none, NOTHING))[-1] == "same direction, off by any factor: ours is 0"


def test_a_word_shows_its_threshold_and_what_twice_that_gives() -> None:
    near = fixed(1.30, 1.31, 1.32)
    for row, told in (
        (within("row", near, 1.25, direction="alike"), "same direction"),
        (within("row", near, 1.1, direction="alike"), "differs"),
        (at_most("row", near, 1.25, direction="negligible"), "same direction"),
        (at_most("row", near, 0.5, direction="negligible"), "differs"),
        (at_least("row", near, 2, direction="drastic"), "same direction"),
        (at_least("row", near, 3, direction="drastic"), "differs"),
        (at_least("row", fixed(0.84, 0.85, 0.86), 0.9, direction="nearly all"), "same direction"),
    ):
        found = compared(row, NOTHING)
        assert (found.verdict, str(found.at_twice)) == (Verdict.DIFFERS, told)
        assert cells(found)[-1] == f"differs, at twice: {told}"
        assert any(letter.isdigit() for letter in row.direction), "the threshold is shown"
    holds = compared(within("row", near, 2), NOTHING)
    assert holds.at_twice is Verdict.DIRECTION and cells(holds)[-1] == "same direction"


def test_a_bound_that_only_tells_the_way_has_no_threshold() -> None:
    for row in (at_most("row", fixed(1.2, 1.21, 1.22), 1), at_least("row", fixed(-0.2, -0.21, -0.22), 0)):
        found = compared(row, NOTHING)
        assert found.verdict is Verdict.DIFFERS and found.at_twice is None and cells(found)[-1] == "differs"


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
    with pytest.raises(MayflyError, match="must be at least 2"):
        mean_interval(np.array([1.0]))
    with pytest.raises(MayflyError, match="printed number or a direction"):
        Row("row", fixed(1.0))


def test_values_that_leave_no_interval_are_refused() -> None:
    with pytest.raises(MayflyError, match=r"row 'row': margins .*inf.*: must be finite"), np.errstate(divide="ignore"):
        compared(below("row", fixed(0.0, 1.0), fixed(1.0, 2.0)), NOTHING)
    with pytest.raises(MayflyError, match=r"row 'row': values .*nan.*: must be finite"):
        compared(Row("row", fixed(1.0, np.nan), margin=fixed(1.0, 1.1)), NOTHING)
    zero, one = fixed(0.0, 0.1), fixed(1.0, 1.1)
    assert compared(below("row", zero, one, logarithms=False), NOTHING).verdict is Verdict.DIRECTION
    assert compared(below("row", one, zero, logarithms=False), NOTHING).verdict is Verdict.DIFFERS


def test_direction_rows_compare_in_the_direction_they_say() -> None:
    low, high = fixed(1.0, 1.1, 0.9), fixed(2.0, 2.1, 1.9)
    assert compared(below("row", low, high), NOTHING).verdict is Verdict.DIRECTION
    assert compared(below("row", high, low), NOTHING).verdict is Verdict.DIFFERS
    assert compared(not_above("row", low, high), NOTHING).verdict is Verdict.DIRECTION
    assert compared(not_above("row", high, low), NOTHING).verdict is Verdict.DIFFERS
    assert compared(alike("row", (fixed(1.0, 2.0, 3.0), fixed(1.1, 2.1, 3.1))), NOTHING).verdict is Verdict.DIRECTION
    assert compared(alike("row", (low, high)), NOTHING).verdict is Verdict.DIFFERS


def test_rows_over_experiments_of_unlike_replications_compare_what_both_have() -> None:
    few, many = fixed(1.0, 1.1), fixed(2.0, 2.1, 0.5, 0.5)
    for row in (below("row", few, many), greater_by("row", many, few)):
        found = compared(row, NOTHING)
        assert found.verdict is Verdict.DIRECTION
        assert found.replications == 2


def claim(row: Row, difference: Difference | None = None) -> Claim:
    return Claim("some-4.1-claim", "Chen 2012, 4.6", "it is so", "`wired`", (row,), difference)


HOLDS = Row("row", fixed(1.0, 1.1), margin=fixed(1.0, 1.1))
BORDERLINE = Row("row", fixed(1.0, 1.1), margin=fixed(-1.0, 1.1))
FAILS = Row("row", fixed(1.0, 1.1), margin=fixed(-1.0, -1.1))
NUMBER_OFF = Row("row", fixed(1.0, 1.1), "s", Printed(50.0), fixed(1.0, 1.01))


def expected(row: Row, explained: Verdict | None = None) -> bool:
    return claim(row, Difference(explained, "why") if explained else None).check(NOTHING).expected


def test_a_claim_that_differs_needs_a_reason_why_it_fails() -> None:
    assert not expected(FAILS)
    assert not expected(FAILS, Verdict.DIRECTION), "the reason is for a number whose direction holds"
    assert expected(FAILS, Verdict.DIFFERS)
    assert expected(FAILS, Verdict.UNDECIDED)


def test_a_reason_why_a_claim_fails_is_contradicted_when_every_row_holds() -> None:
    for explained in (Verdict.DIFFERS, Verdict.UNDECIDED):
        assert not expected(HOLDS, explained)
        assert not expected(NUMBER_OFF, explained)
        both = Claim("both", "source", "says", "settings", (HOLDS, FAILS), Difference(explained, "why"))
        assert both.check(NOTHING).expected, "one row fails as explained"
    for explained in (None, Verdict.DIRECTION):
        assert expected(HOLDS, explained)
        assert expected(NUMBER_OFF, explained)


def test_an_undecided_claim_contradicts_nothing_and_its_page_tells_the_replications() -> None:
    for explained in (None, Verdict.DIRECTION, Verdict.UNDECIDED, Verdict.DIFFERS):
        assert expected(BORDERLINE, explained)
    assert "**Undecided with 2 replications.**" in section(claim(BORDERLINE).check(NOTHING))
    beside = Claim("both", "source", "says", "settings", (BORDERLINE, FAILS), Difference(Verdict.DIFFERS, "Why."))
    assert "**Differs, some rows undecided with 2 replications.** Why." in section(beside.check(NOTHING))
    assert "replications" not in section(claim(FAILS).check(NOTHING))


def short(identity: str, measure, **more) -> Experiment:
    overrides = {"duration": "30s", "workload.load": 8_000_000, "network.buffer": 50, **more.pop("overrides", {})}
    return Experiment(identity, overrides, more.pop("disciplines", ("fifo", "las", "efd")), 2, measure, **more)


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
    labels = ("fifo", "las", "run2c", "efd")
    runs = Runs([short("wired", transfers, overrides={"sample_interval": 0.1}, disciplines=labels)])

    def of(name: str, discipline: str = "efd") -> np.ndarray:
        return runs.values("wired", discipline, name)

    assert (of("short_s") < of("long_s")).all()
    assert (of("short_packets") < of("long_packets")).all()
    assert (of("table_max") <= 50).all()
    assert (of("table_above_queue") == 0).all()
    assert (of("table_mean", "las") > of("table_mean")).all()
    assert ((of("high_share") > 0) & (of("high_share") < 1)).all()
    assert ((of("high_share", "run2c") > 0) & (of("high_share", "run2c") < 1)).all()
    assert (of("unfinished_small") <= of("unfinished")).all()
    assert (of("table_mean", "fifo") == 0).all()
    with pytest.raises(MayflyError, match="fifo, high_share: not declared"):
        of("high_share", "fifo")


def test_a_cbr_flow_alone_leaves_at_its_own_pace_and_loses_what_does_not_fit() -> None:
    cbr_flow = {"rate": 64_000, "packet": 1500, "start": "1s", "group": "cbr"}
    flow = {"workload.cbr": [cbr_flow], "duration": "100s", "trace": ["cbr"]}
    light = short("light", cbr, overrides=flow | {"workload.load": 100_000, "network.buffer": 1000})
    runs = Runs([light])
    assert (runs.values("light", "efd", "loss") == 0).all()
    assert (runs.values("light", "efd", "regular") > 0.95).all()
    assert (runs.values("light", "efd", "batched") == 0).all()
    crowd = flow | {"workload.load": 30_000_000, "network.buffer": 5}
    runs = Runs([short("crowded", cbr, overrides=crowd)])
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
    assert "**Same direction.** Because of the load. *(argued)*" in text
    shown = claim(row, Difference(Verdict.DIRECTION, "Because of the load.", "less-load")).check(NOTHING)
    assert "**Same direction.** Because of the load. *(tested: less-load)*" in section(shown)
    experiment = short("once", lambda run: {"flows": 1.0})
    page = markdown("Title", "Introduction.", [finding], [experiment], NOTHING)
    assert page.startswith("# Title\n\nIntroduction.\n")
    assert "| [some-4.1-claim](#some-41-claim) | it is so | same direction |" in page
    assert "| once | `wired`, `duration = 30s`" in page
    assert "| 1 to 2 | not run |" in page
