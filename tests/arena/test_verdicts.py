"""Who leads, ties and trails, on constructed figures."""

import pytest

from mayfly.arena.rows import ROWS, Row
from mayfly.arena.verdicts import badness, best_of, pairs, places, worse

TIME = Row("t", "time", "e", "f", "s")
SHARE = Row("h", "share", "e", "f", "share", "higher")
ATTACK = Row("a", "attack", "e", "f", "times", "one", 0.05)

CLOSE = {1: 1.0, 2: 1.2, 3: 0.9}
SLOWER = {seed: 1.5 * value for seed, value in CLOSE.items()}


def test_a_paired_difference_counts_though_seeds_differ_more():
    assert worse(TIME, SLOWER, CLOSE) == pytest.approx(0.5)
    assert worse(TIME, CLOSE, SLOWER) == pytest.approx(-1 / 3)
    # The same means, but the difference has another sign with another seed.
    assert worse(TIME, {1: 1.5, 2: 0.9, 3: 1.3}, CLOSE) is None


def test_less_than_the_tie_is_alike_however_sure():
    assert worse(TIME, {seed: 1.02 * value for seed, value in CLOSE.items()}, CLOSE) is None
    assert worse(Row("t", "t", "e", "f", "s", tie=0.6), SLOWER, CLOSE) is None


def test_higher_is_better_and_less_than_a_fair_share_is_no_loss_of_an_attacker():
    assert worse(SHARE, {1: 0.5, 2: 0.5}, {1: 0.9, 2: 0.9}) == pytest.approx(0.4 / 0.9)
    assert badness(ATTACK, 0.3) == badness(ATTACK, 1.0) == 1.0
    assert worse(ATTACK, {1: 0.99, 2: 0.98}, {1: 0.1, 2: 0.2}) is None
    assert worse(ATTACK, {1: 3.0, 2: 3.1}, {1: 1.0, 2: 1.01}) == pytest.approx(2.0, abs=0.1)


def test_who_is_starved_is_as_bad_as_who_takes_that_much_more():
    row = Row("a", "share", "e", "f", "times", "even", 0.05)
    assert badness(row, 0.25) == badness(row, 4.0) == 4.0 and badness(row, 1.0) == 1.0
    assert badness(row, 0.0) == badness(row, 1e-9) > 100


def test_the_best_leads_alone_or_ties_with_all_that_cannot_be_told_from_it():
    found = places(TIME, {"a": CLOSE, "b": SLOWER, "c": {seed: 2 * value for seed, value in CLOSE.items()}, "d": {}})
    assert {label: place.verdict for label, place in found.items()} == {"a": "leads", "b": "trails", "c": "trails"}
    assert found["c"].by == pytest.approx(1.0) and found["a"].ci95[0] < 1.0333 < found["a"].ci95[1]
    tied = places(TIME, {"a": CLOSE, "b": {1: 1.1, 2: 1.1, 3: 1.0}, "c": SLOWER})
    assert [tied[label].verdict for label in "abc"] == ["ties", "ties", "trails"]
    assert places(TIME, {"a": {}}) == {}
    # One that ties by its noise is named first, but is not the best.
    assert best_of(TIME, places(TIME, {"b": {1: 0.1, 2: 9.0, 3: 0.2}, "a": CLOSE})) == "a"
    assert best_of(SHARE, places(SHARE, {"a": {1: 0.5, 2: 0.5}, "b": {1: 0.9, 2: 0.9}})) == "b"


def test_who_is_better_somewhere_and_worse_nowhere_dominates():
    board = {"t": {"a": CLOSE, "b": SLOWER}, "h": {"a": {1: 0.9, 2: 0.9}, "b": {1: 0.9, 2: 0.9}}}
    one, other = pairs([TIME, SHARE], board)
    assert (one["better"], one["worse"], one["alike"], one["dominates"]) == (1, 0, 1, True)
    assert (other["better"], other["worse"], other["dominates"]) == (0, 1, False)


def test_what_may_be_nothing_at_all_has_a_finite_distance():
    loss = Row("l", "loss", "e", "f", "share", tie=0.001)
    assert worse(loss, {1: 0.02, 2: 0.021}, {1: 0.0, 2: 0.0}) == pytest.approx(20.5)


def test_rows_are_declared_once_and_of_known_experiments():
    from mayfly.arena.trial import BY_ID

    assert len({row.id for row in ROWS}) == len(ROWS) == len({row.title for row in ROWS})
    assert {row.experiment for row in ROWS} == set(BY_ID)
