"""Size laws and arrivals as a scenario gives them."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.registry import LAWS
from mayfly.laws.section import Sizes
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.run import workload
from mayfly.workload.mix import offered
from mayfly.workload.renewal import Recorded, WeibullGaps

GIVEN = {
    "zipf": {"minimum": 2, "maximum": 400, "mean": 10},
    "pareto": {"minimum": 2, "maximum": 400, "exponent": 1.5},
    "pareto-ii": {"shape": 3, "mean": 10},
    "bipareto": {"body": 0.5, "tail": 3.5, "bend": 20, "mean": 10},
    "lognormal": {"mean": 10, "cov": 2},
    "weibull": {"shape": 0.7, "mean": 10},
    "exponential": {"mean": 10},
    "hyperexponential": {"mean": 10, "cov": 2},
    "shifted-exponential": {"mean": 10, "minimum": 3},
    "constant": {"size": 10},
    "empirical": {"file": "sizes.csv"},
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sizes.csv").write_text("size_packets,cdf\n1,0.5\n10,0.9\n100,1\n")
    (tmp_path / "sample.csv").write_text("size_packets\n4\n1\n1\n10\n")
    (tmp_path / "starts.csv").write_text("start_s\n3.5\n0\n99\n7.25\n")
    return tmp_path


def wired(fields, duration="1000s", **more):
    return load_scenario("wired", {"duration": duration} | fields | more)


def packets(flows):
    return flows["size_bytes"].to_numpy() / 1460


@pytest.mark.parametrize("name", LAWS)
def test_a_scenario_reaches_every_law_and_offers_its_load(name, here):
    law = Sizes(law=name, **GIVEN[name]).drawn("sizes")
    flows = workload(wired({"workload.sizes": {"law": name, **GIVEN[name]}}))
    sizes = packets(flows)
    n, mean = len(sizes), law.mean_packets()
    # Distribution of whole sizes: Dvoretzky-Kiefer-Wolfowitz, beyond this distance once in 10^6 draws.
    k = np.unique(sizes)
    below = np.searchsorted(np.sort(sizes), k, side="right") / n
    assert np.abs(law.cdf(k) - below).max() < math.sqrt(math.log(2e6) / (2 * n)) + 1e-12
    # Variance of a compound Poisson sum: rate x duration x E[size^2], the second moment of the sizes drawn.
    deviation = 8 * math.sqrt((sizes**2).mean()) / (mean * math.sqrt(8e6 * 1000 / (mean * 12000)))
    assert abs(offered(flows, span_s=1000.0)["down"]["mbps"] - 8) < 4 * deviation


def test_the_flat_form_is_the_same_law():
    flat = load_scenario("wired", {"duration": "50s", "workload.minimum": 2.0, "workload.cov": 4})
    table = wired({"workload.sizes": {"law": "zipf", "minimum": 2, "mean": 40, "cov": 4}}, "50s")
    assert workload(flat).equals(workload(table))


def test_a_law_with_two_moments_goes_without_a_table(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('duration = "50s"\n[workload]\nload = "8mbit"\nlaw = "lognormal"\nmean = 40\ncov = 3\n')
    flows = workload(load_scenario(file))
    assert flows.equals(workload(wired({"workload.sizes": {"law": "lognormal", "mean": 40, "cov": 3}}, "50s")))
    file.write_text('[workload]\nload = "8mbit"\nlaw = "lognormal"\n')
    with pytest.raises(MayflyError, match="given nothing: law lognormal takes mean and cov"):
        workload(load_scenario(file))


@pytest.mark.parametrize(("scenario", "section"), [("wired", "workload.sizes"), ("web", "workload.web.sizes")])
def test_a_law_is_set_whole_or_field_by_field(scenario, section):
    whole = load_scenario(scenario, {"duration": "50s", section: {"law": "constant", "size": 5}})
    fields = load_scenario(scenario, {"duration": "50s", f"{section}.law": "constant", f"{section}.size": 5})
    assert whole == fields
    assert workload(whole)["size_bytes"].max() == 5 * whole.tcp.mss
    with pytest.raises(MayflyError, match=rf"unknown field {section}.laws; did you mean {section}.law\?"):
        load_scenario(scenario, {f"{section}.laws": "constant"})


def test_a_sample_of_sizes_is_a_law(here):
    sizes = packets(workload(wired({"workload.sizes": {"law": "empirical", "file": "sample.csv"}})))
    for size, share in ((1, 0.5), (4, 0.25), (10, 0.25)):
        assert abs((sizes == size).mean() - share) < 4 * math.sqrt(share * (1 - share) / len(sizes))


@pytest.mark.parametrize("section", ["web", "http"])
def test_objects_of_pages_take_a_law(section):
    many = {f"workload.{section}": {"sessions": 50, "session_gap": "1s", "sizes": {"law": "constant", "size": 7}}}
    flows = workload(wired(many, "100s", **{"workload.load": None}))
    if section == "web":
        assert packets(flows).tolist() == [7.0] * flows.height
    else:
        assert set(flows["script"].explode().struct.unnest().filter(~pl.col("up"))["size_bytes"]) == {7 * 1460}


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_weibull_gaps_have_their_mean_and_deviation(shape):
    law = WeibullGaps(shape)
    gaps, n = law.gaps(7, 200_000), 200_000
    powers = [math.gamma(1 + k / shape) / math.gamma(1 + 1 / shape) ** k for k in range(5)]
    assert law.cov() == pytest.approx(math.sqrt(powers[2] - 1), rel=1e-12)
    for k in (1, 2):
        assert abs((gaps**k).mean() - powers[k]) < 4 * math.sqrt((powers[2 * k] - powers[k] ** 2) / n)


@pytest.mark.parametrize("shape", [0.3, 0.5, 1.0, 3.0])
def test_weibull_arrivals_are_in_equilibrium_from_the_start(shape):
    law, seeds = WeibullGaps(shape), 400
    counts = np.array([len(law.starts(seed, 2.0, 5.0)) for seed in range(seeds)])
    # An ordinary process has (cov^2 - 1) / 2 more: 14.1 at a shape of 0.3, 2 at 0.5.
    assert abs(counts.mean() - 10) < 4 * counts.std(ddof=1) / math.sqrt(seeds)
    longer = law.starts(3, 2.0, 50.0)
    assert law.starts(3, 2.0, 5.0).tolist() == longer[longer < 5.0].tolist()


def test_weibull_arrivals_come_in_bursts_and_offer_the_load():
    given = {
        "workload.arrivals": "weibull",
        "workload.arrival_shape": 0.5,
        "workload.sizes": {"law": "constant", "size": 4},
    }
    flows = workload(wired(given))
    gaps = np.diff(flows["start_s"].to_numpy())
    rate, n = 8e6 / (4 * 12000), len(gaps)
    # Gamma(1 + k/shape) / Gamma(1 + 1/shape)^k = (2k)! / 2^k: 1, 6, 90, 2520.
    assert abs(gaps.mean() * rate - 1) < 4 * math.sqrt(5 / n)
    assert abs((gaps**2).mean() * rate**2 - 6) < 4 * math.sqrt((2520 - 36) / n)
    # Asymptotic variance of a renewal count: cov^2 x rate x time.
    assert abs(flows.height - rate * 1000) < 4 * math.sqrt(5 * rate * 1000)


def test_other_arrivals_leave_sizes_and_poisson_times_as_they_are():
    poisson = workload(wired({}, "50s"))
    weibull = workload(wired({"workload.arrivals": "weibull", "workload.arrival_shape": 0.5}, "50s"))
    n = min(poisson.height, weibull.height)
    assert poisson["size_bytes"][:n].equals(weibull["size_bytes"][:n])
    assert not poisson["start_s"][:n].equals(weibull["start_s"][:n])


def test_an_exact_load_goes_with_weibull_arrivals():
    given = {"workload.arrivals": "weibull", "workload.arrival_shape": 0.5, "workload.exact_load": True}
    flows = workload(wired(given))
    wire = offered(flows, span_s=1000.0)["down"]["wire_bytes"]
    assert abs(wire - 1e9) <= flows["size_bytes"].max() / 1460 * 1500 / 2
    assert flows["start_s"].min() > 0 and flows["start_s"].max() < 1000


def test_a_file_of_start_times_is_followed(here):
    traced = {"workload.arrivals": "trace", "workload.arrival_file": "starts.csv", "workload.load": None}
    flows = workload(wired(traced, "50s"))
    assert flows["start_s"].to_list() == [0.0, 3.5, 7.25]
    assert flows["size_bytes"].to_list() == workload(wired({}, "50s"))["size_bytes"][:3].to_list()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"workload.law": "lognormal"},
            "minimum = 6.0: law lognormal takes mean and cov; mu and sigma; or give workload.sizes",
        ),
        ({"workload.sizes": {"law": "gauss"}}, "workload.sizes.law = 'gauss': must be 'zipf', 'pareto',"),
        ({"workload.sizes": {"mean": 3}}, "workload.sizes.law: field required"),
        ({"workload.sizes": {"law": "weibull", "shape": 0.01, "mean": 3}}, "shape = 0.01: must be from 0.1 to 100"),
        ({"workload.sizes": {"law": "exponential"}}, "workload.sizes: given nothing: law exponential takes mean"),
        ({"workload.sizes": {"law": "exponential", "mean": -4}}, "mean = -4.0: must be above 0, at most 1e+07 MSS"),
        ({"workload.sizes": {"law": "exponential", "scale": 4}}, "scale = 4.0: law exponential takes mean"),
        ({"workload.sizes": {"law": "empirical", "file": "none.csv"}}, "none.csv: not a table of size_packets"),
        ({"workload.sizes": {"law": "empirical", "file": "starts.csv"}}, "starts.csv: not a table of size_packets"),
        ({"workload.sizes": {"law": "pareto-ii", "shape": 1, "scale": 4}}, "sizes have no finite mean"),
        ({"workload.sizes": {"law": "lognormal", "meen": 4}}, "did you mean workload.sizes.mean?"),
        (
            {"workload.web": {"sizes": {"law": "constant", "size": 1.5}}},
            "workload.web.sizes: size = 1.5: must be a whole",
        ),
        ({"workload.arrivals": "weibull"}, "arrival_shape = none: must be given with arrivals = weibull"),
        ({"workload.arrival_shape": 0.5}, "arrival_shape = 0.5: only goes with arrivals = weibull"),
        (
            {"workload.arrivals": "weibull", "workload.arrival_shape": 0.1},
            "arrival_shape = 0.1: must be greater than or",
        ),
        ({"workload.arrivals": "trace", "workload.arrival_file": "starts.csv"}, "load = 8000000: must be left out"),
        (
            {"workload.arrivals": "trace", "workload.arrival_file": "sizes.csv", "workload.load": None},
            "sizes.csv: not a table with the column start_s",
        ),
        (
            {
                "workload.load": None,
                "workload.exact_load": True,
                "workload.arrivals": "trace",
                "workload.arrival_file": "a",
            },
            "exact_load = true: must be left out with arrivals = trace",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_in_one_line(fields, told, here):
    with pytest.raises(MayflyError) as caught:
        workload(wired(fields, "10s"))
    assert told in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "shown"), [("-1\n", "-1.0"), ("0\nnan\n", "nan"), ("1e10\n", "1e10|10000000000.0"), ("", "nothing")]
)
def test_start_times_that_cannot_be_are_refused(rows, shown, tmp_path):
    file = tmp_path / "starts.csv"
    file.write_text("start_s\n" + rows)
    with pytest.raises(MayflyError, match=rf"starts\.csv: .*start_s = ({shown}): must be from 0"):
        Recorded(file).starts(1, None, 10.0)


def test_the_bounds_of_the_registry_are_those_of_the_laws():
    for law in LAWS.values():
        for parameter in law.parameters:
            for value in (math.nextafter(parameter.low, -math.inf), math.nextafter(parameter.high, math.inf), math.nan):
                given = {name: value for name, value in GIVEN[law.id].items() if name != parameter.name}
                with pytest.raises(MayflyError, match=rf"^{parameter.name} = .*: must be "):
                    law.make({**given, parameter.name: value})
