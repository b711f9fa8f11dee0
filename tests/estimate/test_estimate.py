"""The run of the estimator and its command, on samples of our own simulator and on impossible ones."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from invocation import mayfly_here, refused_here

from mayfly.errors import MayflyError
from mayfly.estimate import Samples, estimate, methods, parameters, read_samples
from mayfly.estimate.estimate import doubts

OURS = Path(__file__).parents[2] / "captures" / "red-queue.csv.gz"
LINK = ("--rate", "28mbit", "--packet", "1000B", "--rtt", "100ms")


@pytest.fixture(scope="module")
def ours():
    return read_samples(OURS)


def of(*columns, n=600, step=0.033):
    time_s = step * np.arange(1, n + 1)
    return Samples(time_s, *(np.resize(np.array(column, float), n) for column in columns))


@pytest.mark.parametrize("method", [row["id"] for row in methods()])
@pytest.mark.parametrize("ticks", [None, 1000])
def test_every_method_gives_shares_and_says_what_it_doubts(method, ticks, ours):
    found = estimate(ours, "28mbit", "100ms", method=method, ticks=ticks)
    shares = np.array(found.columns["share"])
    assert len(shares) == (len(ours.time_s) - 1) // 20
    assert ((shares >= 0) & (shares <= 1)).all()
    assert set(found.columns["doubt"]) <= {None, *doubts()}
    json.dumps(found.document(), allow_nan=False)


def test_integers_follow_floating_point(ours):
    """The share goes by z over R_0, twice with R_0 = 0.1 s and with the root of p = 0.02, each to half of 2^-14."""
    bound = 2 * 2**-15 / 0.1 + 2**-15 / 0.02 / 2
    for method in ("basic", "p0", "loss", "multihop", "cbr"):
        by_float, by_integer = (
            np.array(estimate(ours, "28mbit", "100ms", method=method, ticks=ticks).columns["share"])
            for ticks in (None, 1000)
        )
        assert abs(by_float - by_integer).max() < bound


def test_the_truth_is_scored_from_the_asked_time_on(ours):
    found = estimate(ours, "28mbit", "100ms", method="p0", from_s=100.0)
    document = found.document()
    series = document["series"]
    assert series[0]["time_s"] - found.settings["estimation_s"] >= 100.0 - 1e-3
    errors = [row["estimate"] - row["actual"] for row in series]
    assert document["mse"] == pytest.approx(np.mean(np.square(errors)))
    assert document["relative_error"] == pytest.approx(sum(errors) / sum(row["actual"] for row in series))
    # 22 sources of 125 packets/s.
    after = ours.time_s > 100
    rate = ours.nonresponsive[after].sum() / (after.sum() * 0.033)
    assert rate == pytest.approx(2750, abs=22 / (after.sum() * 0.033))


def test_a_time_step_of_the_samples_finer_than_a_third_of_a_round_trip_is_gathered():
    found = estimate(of([20, 30], [40], [0, 1], n=3000, step=0.011), "28mbit", "100ms")
    assert found.settings["sampling"] == pytest.approx(0.033, rel=1e-5)
    assert len(found.columns["time_s"]) == 2999 // 60


def test_a_range_of_round_trips_counts_as_one():
    low, high, queue_s = 0.0244, 0.1755, 30 / 3500
    found = estimate(of([30], [120], [3]), "28mbit", "24.4ms..175.5ms")
    ends = low + queue_s, high + queue_s
    # <1/R> over <1/R²> of evenly spread R, by numbers.
    times = np.linspace(*ends, 200_001)
    assert found.settings["rtt_s"] + queue_s == pytest.approx((1 / times).mean() / (1 / times**2).mean(), rel=1e-4)


def test_samples_that_cannot_be_used_are_counted_and_told():
    samples = of([20], [120], [3])
    samples.queue_pkts[100], samples.drops[200], samples.time_s[300], samples.time_s[400:] = (
        math.nan, -3, math.inf, samples.time_s[400:] + 50
    )  # fmt: skip
    found = estimate(samples, "28mbit", "100ms", method="p0")
    assert found.faults == {"numbers": 3, "clock": 0, "gaps": 1}
    assert found.columns["doubt"].count("faulty") == 4
    assert "3 with impossible numbers, 1 with a gap before" in found.sentences()[-1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rate": "0"}, "rate = '0'"),
        ({"rtt": "0s"}, "propagation = 0: must be a number from 0.00001 to 100 s"),
        ({"rtt": "5ms..5ms"}, "an ascending range"),
        ({"packet": "20B"}, "packet = '20B': must be from 29B"),
        ({"method": "best"}, "unknown method 'best': choose from default, response, basic"),
        ({"ticks": 0}, "ticks = 0"),
        ({"options": {"gamma_2": 2}}, "gamma_2 = 2: must be a number from 0.0001 to 1.999"),
        ({"options": {"gama_2": 1}}, "parameter = gama_2: must be one of rtt, "),
        ({"options": {"start": "soon"}}, "start = 'soon': must be a number"),
    ],
)
def test_impossible_values_are_refused(changed, said):
    with pytest.raises(MayflyError) as error:
        estimate(**({"samples": of([20], [120], [3]), "rate": "28mbit", "rtt": "100ms"} | changed))
    assert said in str(error.value)


def test_a_clock_that_stands_still_is_refused():
    with pytest.raises(MayflyError, match="a clock that moves on"):
        estimate(of([20], [120], [3], step=0.0), "28mbit", "100ms")


def test_every_parameter_is_taken_at_its_bounds():
    for row in parameters():
        for value in (row["min"], row["max"]):
            estimate(of([20], [120], [3], n=50), "28mbit", "100ms", options={row["name"]: value})


def test_the_command_prints_table_and_document_and_writes_page_and_series(tmp_path):
    page, series = tmp_path / "page.html", tmp_path / "series.csv"
    shown = mayfly_here("estimate", OURS, *LINK, "--method", "p0", "--out", page, "--from", "50s")
    assert shown.status == 0 and "mean squared error" in shown.out
    # The answer comes first, how good it is after it.
    assert shown.out.index("% of the traffic does not respond to drops") < shown.out.index("mean squared error")
    assert "Share that does not respond" in page.read_text()
    document = mayfly_here("estimate", OURS, *LINK, "--plot", series, "--json", "--set", "start=10s").document
    assert {"method", "mse", "relative_error", "series"} <= document.keys()
    assert {"time_s", "estimate", "actual"} <= document["series"][0].keys()
    assert pl.read_csv(series).height == document["estimates"] == len(document["series"])


def test_the_command_refuses_in_a_line(tmp_path):
    assert "must end in .csv or .html" in refused_here("estimate", OURS, *LINK, "--out", tmp_path / "page.txt")
    assert "cannot be read" in refused_here("estimate", tmp_path, *LINK, "--json")
    assert "rate = 'much'" in refused_here("estimate", OURS, *LINK, "--rate", "much")
    assert "choose from default" in refused_here("estimate", OURS, *LINK, "--method", "best", "--json")


def test_a_path_stands_for_its_samples_and_other_things_are_refused():
    by_path, read = (estimate(one, "28mbit", "100ms") for one in (OURS, read_samples(OURS)))
    assert [str(value) for value in by_path.columns.values()] == [str(value) for value in read.columns.values()]
    with pytest.raises(MayflyError, match=r"^samples = int: must be Samples or the path of a file of samples$"):
        estimate(5, "10mbit", "20ms")
