"""Workloads made of a profile: what is measured, the file, and what is drawn from it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.profile.workload.answer import Made, drawn_from
from mayfly.profile.workload.draw import draw, expected_bps, expected_flows, mean_wire_bytes, scale, starts
from mayfly.profile.workload.laws import Fitted, Measured, cov, measured
from mayfly.profile.workload.measure import workload_from, workload_of_flows
from mayfly.profile.workload.schema import Period, read_workload, write_workload
from mayfly.workload.lists import flow_list
from mayfly.workload.mix import offered

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"
NEAR = ["10.10.0.0/24"]


def known(n=4000, seed=1, rate=20.0):
    """Lognormal sizes, exponential gaps, one class each way."""
    rng = np.random.default_rng(seed)
    parts = []
    for way, mu in (("down", 8.0), ("up", 6.0)):
        begins = np.cumsum(rng.exponential(1 / rate, n))
        sizes = np.maximum(np.rint(rng.lognormal(mu, 1.2, n)), 1).astype(int)
        columns = {"start_s": begins, "direction": [way] * n, "size_bytes": sizes, "rtt_s": rng.lognormal(-3, 0.3, n)}
        parts.append(pl.DataFrame(columns | {"group": ["lc-ls"] * n}))
    flows = flow_list(pl.concat(parts))
    return flows, float(flows["start_s"].max()) + 1e-6


def distance(values, law):
    """Largest distance between the distribution function of values and a law with steps at them."""
    x, counts = np.unique(values, return_counts=True)
    return float(np.abs(np.cumsum(counts) / counts.sum() - (1 - law.sf(x))).max())


@pytest.fixture(scope="module")
def office():
    return workload_from([OFFICE], internal=NEAR, bin_s=5.0)


def test_a_file_holds_all_of_it(office, tmp_path):
    write_workload(office, tmp_path / "w.toml")
    assert read_workload(tmp_path / "w.toml") == office


def test_every_flow_that_began_in_the_capture_is_in_one_class(office):
    found = profile([OFFICE], internal=NEAR, bin_s=5.0, bootstrap=0)
    began = found.frame.filter((pl.col("protocol") == "udp") | (pl.col("opener_from") == "syn"))
    carried = sum(
        began.filter(
            (pl.col(f"{end}_distinct_bytes") > 0) | ((pl.col("protocol") == "udp") & (pl.col(f"{end}_packets") > 0))
        ).height
        for end in ("opener", "responder")
    )
    assert sum(one.flows for one in office.class_) == carried
    assert office.left_out["flows"] == 1


def test_what_is_drawn_has_the_rates_and_sizes_of_the_file(office):
    duration = 2000.0
    flows = draw(office, duration_s=duration, seed=3)
    for one in office.class_:
        drawn = flows.filter(group=one.name, direction=one.direction, protocol=one.protocol)
        mean, deviation = expected_flows(one, office, duration, 1.0)
        assert abs(drawn.height - mean) < 4 * deviation
        law = one.size or Measured(**rows(one.datagrams))
        sizes = measured(drawn["size_bytes"].to_numpy(), 10**6)
        # Kolmogorov and Smirnov at 0.1 %: 1.95 / sqrt(n); sizes between steps were rounded to whole bytes.
        worst = max(abs(distance_at(sizes, law, x + 0.5)) for x in sizes.values)
        assert worst < 1.95 / drawn.height**0.5


def rows(datagrams):
    steps, which = np.unique(np.asarray(datagrams.size_bytes, dtype=float), return_inverse=True)
    return {"values": steps.tolist(), "weights": np.bincount(which, weights=datagrams.weights).tolist()}


def distance_at(sizes, law, x):
    return float(sizes.sf(np.array([x]))[0] - law.sf(np.array([x]))[0])


def test_measuring_what_was_drawn_finds_the_laws_again():
    flows, duration = known()
    first = workload_of_flows(flows, duration, fit=("size", "gap", "rtt"))
    drawn = draw(first, duration_s=400.0, seed=7)
    again = workload_of_flows(drawn, 400.0, fit=("size", "gap", "rtt"))
    for one, mu in zip(first.class_, (8.0, 6.0), strict=True):
        # The laws that made the flows: mu within 4 of its deviations, 1.2 / sqrt(n).
        assert (one.size.law, one.rtt.law) == ("lognormal", "lognormal")
        assert abs(one.size.parameters["mu"] - mu) < 4 * 1.2 / one.flows**0.5
        assert cov(one.gap) == pytest.approx(1, abs=0.1)
    for one, other in zip(first.class_, again.class_, strict=True):
        n = other.flows
        assert abs(other.rate - one.rate) < 4 * cov(one.gap) * (one.rate / 400) ** 0.5
        for measure, deviation in (("size", 1.2), ("rtt", 0.3)):
            shift = getattr(other, measure).quantile(np.array([0.5])) / getattr(one, measure).quantile(np.array([0.5]))
            # The median of n lognormal values has the deviation sqrt(pi / 2) sigma / sqrt(n) of its logarithm.
            assert abs(float(np.log(shift[0]))) < 4 * 1.2533 * deviation / n**0.5


def test_a_load_moves_arrivals_and_leaves_sizes():
    flows, duration = known()
    workload = workload_of_flows(flows, duration)
    factor = scale(workload, 2e6)
    assert max(expected_bps(workload).values()) * factor == pytest.approx(2e6)
    drawn = draw(workload, duration_s=1000.0, seed=1, load_bps=2e6)
    one = workload.class_[0]
    n = expected_flows(one, workload, 1000.0, factor)[0]
    # Relative deviation of a sum of n sizes, n itself at random.
    deviation = ((cov(one.size) ** 2 + cov(one.gap) ** 2) / n) ** 0.5
    assert abs(offered(drawn, span_s=1000.0)["down"]["mbps"] / 2 - 1) < 4 * deviation
    assert set(drawn.filter(direction="down")["size_bytes"]) <= {max(round(x), 1) for x in one.size.values}


def test_the_mean_on_the_wire_is_that_of_the_flows(office):
    flows, duration = known()
    for workload, span in ((workload_of_flows(flows, duration, points=10**6), duration),):
        for way in ("down", "up"):
            mbps = offered(flows, span_s=span)[way]["mbps"]
            assert expected_bps(workload)[way] == pytest.approx(mbps * 1e6, rel=1e-9)
    # In 400 steps the bytes stay, and packets are those of the steps.
    assert expected_bps(workload_of_flows(flows, duration))["down"] == pytest.approx(
        offered(flows, span_s=duration)["down"]["mbps"] * 1e6, rel=2e-3
    )


def test_periods_get_their_share_and_come_again():
    n = 3000
    begins = np.sort(np.concatenate([np.random.default_rng(1).uniform(0, 100, n), np.linspace(100, 200, n // 3)]))
    flows = flow_list(
        pl.DataFrame({"start_s": begins, "size_bytes": [1000] * len(begins), "group": ["lc-rp"] * len(begins)})
    )
    periods = [Period(start_s=0, end_s=100, mean_bps=0), Period(start_s=100, end_s=200.5, mean_bps=0)]
    workload = workload_of_flows(flows, 200.5, periods=periods)
    assert workload.class_[0].activity == pytest.approx([3000 / 100 / (4000 / 200.5), 1000 / 100.5 / (4000 / 200.5)])
    drawn = starts(workload.class_[0], workload, 401.0, 5, 1.0)
    counts = np.histogram(drawn, [0, 100, 200.5, 300.5, 401])[0]
    for count, mean in zip(counts, [3000, 1000, 3000, 1000], strict=True):
        assert abs(count - mean) < 4 * max(cov(workload.class_[0].gap), 1) * mean**0.5


def test_arrivals_are_in_equilibrium_and_a_longer_draw_begins_with_a_shorter_one():
    """Bursty gaps, runs of two mean gaps: the mean number of arrivals is rate x time from the start."""
    flows, duration = known(400)
    workload = workload_of_flows(flows, duration)
    bursty = Fitted(law="weibull", parameters={"shape": 0.5, "scale": 1.0}, maximum=200.0)
    for gap in (bursty, Measured(values=[0.0, 0.1, 5.0], weights=[1.0, 5.0, 1.0])):
        one = workload.class_[0].model_copy(update={"gap": gap})
        span = 2 / one.rate
        counts = np.array([len(starts(one, workload, span, seed, 1.0)) for seed in range(4000)])
        assert abs(counts.mean() - 2) < 4 * counts.std() / len(counts) ** 0.5
    longer = draw(workload, duration_s=20.0, seed=2)
    assert draw(workload, duration_s=10.0, seed=2).equals(longer.filter(pl.col("start_s") < 10), null_equal=True) or (
        draw(workload, duration_s=10.0, seed=2)
        .drop("flow_id")
        .equals(longer.filter(pl.col("start_s") < 10).drop("flow_id"))
    )


def test_a_cut_law_has_the_mean_of_what_is_drawn_from_it():
    rng = np.random.default_rng(1)
    for law in (
        Fitted(law="pareto", parameters={"minimum": 10.0, "exponent": 0.9}, maximum=1e6),
        Fitted(law="two exponentials", parameters={"share_1": 0.7, "mean_1": 1.0, "mean_2": 50.0}, maximum=400.0),
        Fitted(law="exponential", parameters={"mean": 3.0}, maximum=40.0, zero=0.25),
        Measured(values=[1.0, 4.0, 100.0], weights=[5.0, 3.0, 1.0]),
    ):
        drawn = law.quantile(1 - rng.random(200_000))
        assert abs(drawn.mean() - law.mean()) < 4 * drawn.std() / 200_000**0.5
        if law.law == "pareto":
            low, high, k = 10.0, 1e6, 0.9
            square = k * low**k * (high ** (2 - k) - low ** (2 - k)) / ((2 - k) * (1 - (low / high) ** k))
            assert law.square() == pytest.approx(square, rel=1e-5)
        else:
            assert cov(law) == pytest.approx(drawn.std() / drawn.mean(), rel=0.02)
        # Times to the next arrival have the mean E[X^2] / 2 E[X].
        left = law.residual(1 - rng.random(200_000))
        assert abs(left.mean() - law.square() / (2 * law.mean())) < 4 * left.std() / 200_000**0.5


def test_a_folder_of_a_profile_gives_the_workload_of_its_captures(office, tmp_path):
    profile([OFFICE], internal=NEAR, bin_s=5.0, bootstrap=0).write(tmp_path)
    for place in (tmp_path, tmp_path / "profile.json"):
        other = workload_from([place])
        assert other.class_ == office.class_ and other.period == office.period
    with pytest.raises(MayflyError, match="no folder that mayfly profile wrote"):
        workload_from([tmp_path.parent])


def test_the_answer_is_json_without_nan(office, tmp_path):
    document = Made(office).document()
    json.dumps(document, allow_nan=False)
    assert sum(document["expected_bps"].values()) == pytest.approx(
        sum(8 * one.rate * mean_wire_bytes(one) for one in office.class_)
    )
    drawn = drawn_from(Made(office).write(tmp_path / "w.toml"), duration_s=60.0)
    json.dumps(drawn.document(), allow_nan=False)
    assert sum(row["flows"] for row in drawn.document()["classes"]) == drawn.flows.height


@pytest.mark.slow
def test_a_site_with_several_classes_is_drawn_by_class():
    """Simulated attacks on a Windows domain: many classes, UDP of single packets, gaps of all lengths."""
    path = ROOT.parent / "shared" / "data" / "pcap" / "enterprise_ad_lab.pcap.gz"
    if not path.exists():
        pytest.skip("enterprise_ad_lab.pcap.gz is not beside the checkout")
    made = workload_from([path], bin_s=60.0)
    assert {one.name for one in made.class_} >= {"lc-rp", "lc-ls", "ls-ls"} and len(made.period) > 1
    duration = 20 * made.duration_s
    flows = draw(made, duration_s=duration, seed=2)
    for one in made.class_:
        if one.flows < 8:
            continue
        drawn = flows.filter(group=one.name, direction=one.direction, protocol=one.protocol)
        same = [other for other in made.class_ if (other.name, *other.key[2:]) == (one.name, *one.key[2:])]
        expected = [expected_flows(other, made, duration, 1.0) for other in same]
        deviation = sum(sd**2 for _, sd in expected) ** 0.5
        assert abs(drawn.height - sum(mean for mean, _ in expected)) < 4 * deviation


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("version = 1", "version = 2"),
        ("rate = ", "rate = -"),
        ('protocol = "tcp"', 'protocol = "sctp"'),
        ("activity = [1.0]", "activity = [2.0]"),
        ("activity = [1.0]", "activity = [1.0, 1.0]"),
        ("end_s = ", "end_s = 1"),
        ("gap = {", "gap = { extra = 1,"),
    ],
)
def test_a_file_with_a_wrong_value_is_refused_in_one_line(office, tmp_path, changed, told):
    path = Path(Made(office).write(tmp_path / "w.toml"))
    text = path.read_text(encoding="utf-8")
    assert changed in text
    path.write_text(text.replace(changed, told, 1), encoding="utf-8")
    with pytest.raises(MayflyError, match=r"w\.toml: ") as caught:
        read_workload(path)
    assert "\n" not in str(caught.value)


def test_wrong_requests_are_refused(office):
    flows, duration = known(100)
    with pytest.raises(MayflyError, match="fit = sizes: must be one of gap, size, rtt"):
        workload_of_flows(flows, duration, fit=("sizes",))
    with pytest.raises(MayflyError, match="points = 1: must be at least 2"):
        workload_of_flows(flows, duration, points=1)
    with pytest.raises(MayflyError, match="group: must be one of"):
        workload_of_flows(flows.with_columns(group=pl.lit("web")), duration)
    with pytest.raises(MayflyError, match="duration = 0 s: must be above 0"):
        draw(office, duration_s=0)
    with pytest.raises(MayflyError, match="load = 0 bit/s: must be above 0"):
        draw(office, duration_s=1.0, load_bps=0)
