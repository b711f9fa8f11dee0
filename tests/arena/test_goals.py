"""What the best discipline is to reach: bounds beside figures that are constructed."""

import pytest

from mayfly.arena.arena import DEPLOYABLE
from mayfly.arena.goals import GOALS, RIVALS, Goal, outcomes
from mayfly.arena.reasons import REASONS
from mayfly.arena.rows import ROWS, Row
from mayfly.arena.verdicts import Place

TIME = Row("t", "time", "e", "f", "s")
SHARE = Row("h", "share", "e", "f", "share", "higher")


def place(mean, ci95=None):
    return Place(mean, ci95, "ties", 0.0)


def reached(goal, row, board):
    [found] = outcomes("lfq", {row.id: board}, [goal], [row])
    return found


def test_a_bound_is_the_most_or_the_least_as_the_row_has_it():
    most = reached(Goal("t", 0.5), TIME, {"lfq": place(0.4, [0.3, 0.5])})
    assert most.met and most.by == pytest.approx(0.2) and not most.sure
    least = reached(Goal("h", 0.8), SHARE, {"lfq": place(0.6, [0.5, 0.7])})
    assert not least.met and least.by == pytest.approx(-0.25) and least.sure


def test_a_bound_may_be_a_multiple_of_another_or_of_the_best_other():
    assert reached(Goal("t", 0.5), TIME, {"lfq": place(0.4)}).sure is None
    board = {"lfq": place(1.0), "a": place(0.9), "b": place(0.99), "c": place(3.0)}
    assert not reached(Goal("t", 1.05, "a"), TIME, board).met
    assert reached(Goal("t", 1.05, "b"), TIME, board).limit == pytest.approx(1.0395)
    assert reached(Goal("t", 1.05, RIVALS), TIME, board).limit == pytest.approx(0.945)
    # Where higher is better the best other is the greatest.
    assert reached(Goal("h", 0.95, RIVALS), SHARE, board).limit == pytest.approx(2.85)


def test_what_the_board_has_no_figure_of_is_left_out():
    assert outcomes("lfq", {"t": {"a": place(1.0)}}, [Goal("t", 1.0)], [TIME]) == []
    assert outcomes("lfq", {"t": {"lfq": place(1.0)}}, [Goal("t", 1.0, "a"), Goal("t", 1.0, RIVALS)], [TIME]) == []
    assert outcomes("lfq", {}) == []


def test_goals_and_reasons_are_of_rows_and_disciplines_that_there_are():
    rows = {row.id for row in ROWS}
    assert {goal.row for goal in GOALS} <= rows and len({goal.row for goal in GOALS}) == len(GOALS)
    assert {goal.beside for goal in GOALS} <= {"", RIVALS, *DEPLOYABLE}
    assert set(REASONS) <= set(DEPLOYABLE) and {row for told in REASONS.values() for row in told} <= rows
