"""Figures of a prediction beside what was: what counts, what is in, what is chance."""

import math

import numpy as np
import pytest

from mayfly.verify.figures import BOUNDS, KINDS, Figure, classes, felt_row, figure, figures
from mayfly.verify.outcome import Asked, Outcome, asked_of, measured
from mayfly.verify.verification import Pair, _best, errors, worst


def step(actor, place, program, took_s, size=50_000, **more):
    who = {"actor": actor, "step": place, "program": program, "client": 0}
    return who | {"start_s": 1.0, "end_s": 1.0 + took_s, "bytes": size} | more


def outcome(times, pings=(), discipline="fifo"):
    steps = {("a", place): time for place, time in enumerate(times)}
    return Outcome(discipline, steps, {}, {}, np.array(pings), {}, {}, {"down": 0, "up": 0})


def asked(count, size=50_000, program="get"):
    keys = [("a", place) for place in range(count)]
    return Asked(dict.fromkeys(keys, size), dict.fromkeys(keys, program))


def test_what_did_not_end_or_failed_does_not_count():
    steps = [
        step("a", 0, "get", 1.0),
        step("a", 1, "get", 2.0) | {"failed": "curl 28"},
        {key: value for key, value in step("a", 2, "get", 3.0).items() if key != "end_s"},
        step("p", 0, "ping", 10.0, rtts_s=[0.012, 0.03, 0.02]),
        step("b", 0, "page", 0.8, transfers=[{"time_s": 0.3}, {"time_s": 0.5}]),
    ]
    found = measured("fifo", steps, {"down": 3, "up": 0})
    assert found.steps_s == {("a", 0): pytest.approx(1.0), ("b", 0): pytest.approx(0.8)}
    assert found.first_s == {("b", 0): 0.3}
    # What a packet waits more than the fastest.
    assert found.pings_s == pytest.approx([0.0, 0.018, 0.008])
    assert set(asked_of(steps).bytes) == {("a", 0), ("p", 0), ("b", 0)}


def test_figures_are_over_the_steps_that_ended_everywhere():
    real = outcome(np.linspace(1.0, 2.0, 21))
    guess = outcome(np.linspace(1.0, 2.0, 20))
    (median,) = [one for one in figures(real, [guess], asked(30)) if one.name == "transfers to 100 kB p50"]
    assert (median.n, median.real, median.predicted) == (20, 1.45, pytest.approx(1 + 9 / 19))
    # 0.95 of 20: one is beyond it, and that is told; of 0.99 none is.
    names = {one.name for one in figures(real, [guess], asked(30))}
    assert "transfers to 100 kB p95" in names and "transfers to 100 kB p99" not in names
    assert not any("transfers" in one.name for one in figures(outcome([1.0] * 7), [outcome([1.0] * 7)], asked(7)))


@pytest.mark.parametrize(
    ("kind", "real", "predicted", "half", "state"),
    [
        ("p50", 1.0, 1.049, 0.0, "in"),
        ("p50", 1.0, 1.06, 0.0, "out"),
        ("p50", 1.0, 1.06, 0.02, "?"),
        ("p95", 1.0, 0.86, 0.0, "in"),
        ("felt", 0.0001, 0.00109, 0.0, "in"),
        ("felt", 0.1, 0.13, 0.0, "out"),
        ("mos", 4.2, 4.35, 0.0, "in"),
        ("mos", 4.2, 3.9, 0.0, "out"),
        ("share", 0.0, 0.004, 0.0, "in"),
        ("count", 100, 119, 0.0, "in"),
    ],
)
def test_a_figure_is_in_out_or_within_reach_of_chance(kind, real, predicted, half, state):
    assert Figure("x", kind, real, predicted, half, 9).state == state


def test_the_reach_of_chance_is_that_of_one_more_run():
    one = figure("x", "p50", [1.0, 0.9, 1.0, 1.1], 9)
    # Student's t of 2 degrees of freedom, a spread of 0.1, one run beside the mean of three.
    assert one.half == pytest.approx(4.3027 * 0.1 * math.sqrt(4 / 3), rel=1e-4)
    assert figure("x", "p50", [1.0, 0.9], 9).half == 0.0


def test_every_kind_has_a_name_and_a_bound():
    assert KINDS.keys() == BOUNDS.keys()


def test_errors_are_counted_by_kind():
    own = [Figure("x", "p50", 1.0, value, 0.0, 9) for value in (1.0, 1.04, 1.2)]
    pair = Pair("office", "fifo", "lfq", "simulator", own, ["lfq"], ["lfq"])
    row = errors([pair])["p50"]
    assert (row["figures"], row["in"], row["out"], row["median"]) == (3, 2, 1, pytest.approx(0.04))
    assert errors([pair])["p95"]["median"] is None
    assert worst([pair], 9) == [(pair, own[2])]


def test_the_better_one_is_that_of_the_rule():
    slow = outcome(np.linspace(1.0, 2.0, 40), pings=np.full(50, 0.2))
    fast = outcome(np.linspace(0.1, 0.2, 40), pings=np.full(50, 0.01), discipline="fq_codel")
    wanted = asked(40)
    rows = [felt_row(one.discipline, [one], wanted, set(wanted.bytes)) for one in (slow, fast)]
    assert rows[0]["users"]["short"]["p95_s"] == pytest.approx(1.0 + 37 / 39)
    assert _best(rows) == ["fq_codel"]
    # Of two that are alike nobody would notice which it is; fifo is simpler.
    assert _best([rows[0], rows[0] | {"id": "fq_codel", "label": "fq_codel"}]) == ["fifo", "fq_codel"]
    assert _best([rows[1] | {"id": "fifo", "label": "fifo"}, rows[1]])[0] == "fifo"


def test_classes_of_steps():
    both = Asked(
        {("a", 0): 10, ("a", 1): 500_000, ("a", 2): 5_000_000}, {("a", 0): "page", ("a", 1): "get", ("a", 2): "put"}
    )
    assert classes(both) == {
        "pages": {("a", 0)},
        "transfers to 100 kB": set(),
        "transfers to 1 MB": {("a", 1)},
        "transfers above 1 MB": {("a", 2)},
    }
