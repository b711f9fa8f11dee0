"""The model fitted to a trace, on traces whose law is known."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.link_trace.answer import fitted
from mayfly.link_trace.fitting import autocorrelation, fit, judge, of_rates
from mayfly.link_trace.kinds import make
from mayfly.link_trace.trace import of_steps


def test_a_known_process_is_found_again():
    random = np.random.default_rng(7)
    keep, count = np.exp(-0.1 / 3.0), 40_000
    noise = random.standard_normal(count)
    score = np.empty(count)
    score[0] = noise[0]
    for row in range(1, count):
        score[row] = keep * score[row - 1] + np.sqrt(1 - keep * keep) * noise[row]
    model = of_rates(np.exp(16 + 0.5 * score))
    # Half of 40 000 steps of 0.1 s are 1300 memories: the autocorrelation is known to a few per cent.
    share = model.weight * np.exp(-3.0 / model.memories_s[0]) + (1 - model.weight) * np.exp(-3.0 / model.memories_s[1])
    assert share == pytest.approx(np.exp(-1), abs=0.06)
    assert model.quantiles_bps[50] == pytest.approx(np.exp(16), rel=0.1)
    assert model.breaks == 0


def test_outages_that_come_whatever_the_rate_is_keep_their_length():
    random = np.random.default_rng(3)
    rates = 1e7 * np.exp(0.2 * random.standard_normal(20_000))
    for begin in range(50, 20_000, 100):
        rates[begin : begin + 5] = 0.0
    model = of_rates(rates)
    assert model.breaks == pytest.approx(0.1 / 9.5, rel=0.05) and model.returns == pytest.approx(0.2, rel=0.05)


def test_outages_that_come_from_a_rate_that_falls_are_its_lowest_values():
    assert fit(make("lte", 600.0, seed=1)).breaks == 0


def test_the_model_of_one_half_is_as_near_to_the_other_as_that_half_is():
    for kind in ("lte", "wifi", "starlink"):
        rows = {row["figure"]: row for row in judge(make(kind, 1200.0, seed=2)).rows}
        for bin_text in ("100 ms", "1 s"):
            row = rows[f"distance of the rates over {bin_text}"]
            # Both are samples: one of 600 s is within 1.63 root of 2 / n of another at 1 %, n the number of memories.
            assert row["model"] <= row["first"] + 0.12, (kind, row)
        row = rows["autocorrelation at 1 s"]
        assert abs(row["model"] - row["first"]) < 0.2, (kind, row)


def test_a_draw_has_the_seed_and_the_length_asked_for():
    model = fit(make("wifi", 60.0, seed=1))
    one, same, other = (model.drawn(30.0, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.rate_bps, same.rate_bps) and not np.array_equal(one.rate_bps, other.rate_bps)
    assert one.period_s == 30.0


def test_a_short_or_dead_trace_is_refused():
    with pytest.raises(MayflyError, match="must be at least 20 s to be fitted"):
        fit(make("wifi", 10.0))
    with pytest.raises(MayflyError, match="intervals of 100 ms with service"):
        fit(of_steps("dead", [0.0, 1.0], [1e6, 0.0], 60.0))


def test_the_answer_says_what_the_model_is():
    found = fitted(make("wifi", 60.0, seed=1))
    assert "no further from" in found.sentences()[1] or "further from" in found.sentences()[1]
    assert len(found.table().rows) == len(found.judgement.rows)
    assert found.document()["model"]["median_bps"] > 0


def test_the_autocorrelation_of_what_is_constant_is_none():
    assert autocorrelation(np.ones(50), [1, 2]).tolist() == [0.0, 0.0]
