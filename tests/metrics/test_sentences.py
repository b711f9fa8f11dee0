"""The result in words."""

import numpy as np
import polars as pl
import pytest

from mayfly._native import NumpyStream
from mayfly.errors import MayflyError
from mayfly.metrics import answer
from mayfly.metrics.sentences import bootstrap_ratio


def run(label, times, sizes=None, protocol="tcp", sent=100, drops=0):
    count = len(times)
    return pl.DataFrame(
        {
            "flow_id": pl.Series(range(count), dtype=pl.Int64),
            "replication": 0,
            "discipline": label,
            "protocol": protocol,
            "size_bytes": pl.Series(range(1, count + 1) if sizes is None else sizes, dtype=pl.Int64),
            "finish_s": pl.Series(times, dtype=pl.Float64),
            "response_time_s": pl.Series(times, dtype=pl.Float64),
            "packets_sent": sent,
            "drops": drops,
        }
    )


def sentence(*runs, **options):
    return answer(pl.concat(runs), resamples=400, **options)


BASE = list(np.random.default_rng(7).uniform(1.0, 1.2, 3000))


def test_a_faster_discipline_is_sooner_and_its_largest_too():
    [text] = sentence(run("fifo", BASE), run("efd", [time / 4 for time in BASE]))
    assert text.startswith("with efd the median transfer finishes 4.0 times sooner than with fifo (95 % CI 4.0 to 4.0)")
    assert "the largest 1 % are 75 % faster (95 % CI -75 % to -75 %)" in text


def test_a_slower_discipline_is_later_and_its_largest_take_longer():
    slow = [2 * time for time in BASE]
    [text] = sentence(run("fifo", BASE), run("las", slow))
    assert "times later than with fifo" in text
    assert "sooner" not in text
    assert "the largest 1 % take 100 % longer (95 % CI +100 % to +100 %)" in text


def test_short_flows_may_win_while_the_largest_pay():
    times = [time * (0.5 if k < 2900 else 1.5) for k, time in enumerate(BASE)]
    [text] = sentence(run("fifo", BASE), run("efd", times))
    assert "sooner" in text
    assert "the largest 1 % take 50 % longer" in text


def test_noise_is_no_measurable_difference():
    noise = np.random.default_rng(8).lognormal(0, 0.5, (2, 3000))
    [text] = sentence(run("fifo", list(noise[0])), run("scfq", list(noise[1])))
    assert "there is no measurable difference from fifo in the median transfer (ratio" in text
    assert "the largest 1 % show no measurable difference" in text


def test_the_same_seed_gives_the_same_words_and_another_seed_other_bounds():
    runs = run("fifo", BASE), run("efd", list(np.array(BASE) * np.random.default_rng(1).uniform(0.1, 0.9, 3000)))
    assert sentence(*runs) == sentence(*runs)
    assert sentence(*runs, seed=1) != sentence(*runs, seed=99)


def test_fifo_is_the_baseline_wherever_it_stands_and_otherwise_the_first():
    one, two = run("efd", [1.0]), run("fifo", [2.0])
    assert "than with fifo" in sentence(one, two)[0]
    assert "than with efd" in sentence(one, run("las", [2.0]))[0]
    assert "than with fifo(limit=3)" in sentence(one, run("fifo(limit=3)", [2.0]))[0]
    assert sentence(one, two, baseline="efd")[0].startswith("with fifo the only transfer")


def test_one_flow_has_a_ratio_and_no_interval():
    [text] = sentence(run("fifo", [2.0]), run("efd", [1.0]))
    assert text == (
        "with efd the only transfer finished under both finishes 2.0 times sooner than with fifo "
        "(1 transfer: too few for an interval)"
    )


def test_equal_times_of_few_flows_are_as_soon():
    [text] = sentence(run("fifo", [2.0, 3.0]), run("efd", [2.0, 3.0]))
    assert "finishes as soon as with fifo" in text
    assert "the largest transfer takes as long as with fifo" in text


def test_equal_times_of_many_flows_are_no_difference():
    [text] = sentence(run("fifo", BASE), run("efd", BASE))
    assert text.count("no measurable difference") == 2


def test_only_flows_finished_under_both_are_compared():
    [text] = sentence(run("fifo", [9.0, 2.0, None]), run("efd", [None, 1.0, 5.0]))
    assert "finishes 2.0 times sooner" in text
    assert "unfinished" not in text


def test_unfinished_flows_are_told_when_they_differ():
    [text] = sentence(run("fifo", [1.0, 1.0, None]), run("efd", [None, 1.0, None]))
    assert "2 of 3 transfers do not finish (one does not under fifo)" in text


def test_nothing_finished_says_so():
    [text] = sentence(run("fifo", [None, None]), run("efd", [None, None]))
    assert text == "with efd no transfer finishes both here and with fifo"


def test_udp_alone_speaks_of_loss_and_of_nothing_else():
    [text] = sentence(run("fifo", [None], protocol="udp", drops=2), run("las", [None], protocol="udp", drops=60))
    assert text == "with las UDP loses 60 % of its packets (2.0 % with fifo)"
    [same] = sentence(run("fifo", [5.0], protocol="udp"), run("efd", [5.0], protocol="udp"))
    assert same == "with efd there is no measurable difference from fifo"


def test_one_discipline_has_no_answer():
    assert sentence(run("fifo", BASE)) == []
    assert sentence(run("fifo", [])) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "red"}, "baseline 'red': must be one of fifo, efd"),
        ({"resamples": 99}, "resamples = 99: must be at least 100"),
        ({"seed": -1}, "seed = -1: must be at least 0"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(MayflyError, match=message):
        answer(pl.concat([run("fifo", [1.0]), run("efd", [1.0])]), **options)


def test_a_response_time_of_zero_is_refused():
    with pytest.raises(MayflyError, match=r"response_time_s = 0\.0: must be above 0 s"):
        sentence(run("fifo", [1.0]), run("efd", [0.0]))


@pytest.mark.parametrize("flows", [400, 20_000])
def test_the_interval_of_a_mean_ratio_is_that_of_the_delta_method(flows):
    rng = np.random.default_rng(3)
    above, below = rng.lognormal(0.2, 0.4, flows), rng.lognormal(0.0, 0.4, flows)
    found = bootstrap_ratio(above, below, "mean", 2000, NumpyStream(4))
    spread = np.sqrt((above.var() / above.mean() ** 2 + below.var() / below.mean() ** 2) / flows)
    half = np.log(found.high / found.low) / 2
    # 2000 resamples know a 97.5 % quantile to about 3 % of the deviation; four times that is allowed.
    assert half == pytest.approx(1.96 * spread, rel=0.12)
    assert found.low < found.value < found.high


def test_half_a_million_flows_take_bounded_memory():
    rng = np.random.default_rng(3)
    above, below = rng.lognormal(0.5, 1.0, (2, 500_000))
    found = bootstrap_ratio(above, below, "median", 400, NumpyStream(1))
    exact = 1.2533 * np.sqrt(2) / np.sqrt(500_000)
    assert np.log(found.high / found.low) / 2 == pytest.approx(1.96 * exact, rel=0.3)
