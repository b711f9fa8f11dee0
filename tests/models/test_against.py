"""A model against records: by hand, and against a queue whose truth is known."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.signal import medfilt

from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete
from mayfly.models.queue import flow_records as against
from mayfly.models.queue.flow_records import Link
from mayfly.models.queue.mg1 import MG1

LINK = Link(rate_bps=12e6, duration_s=1000.0)
MS = 1e-3
"""A full packet takes as long."""


def records(start_s, packets, response_s, **more) -> pl.DataFrame:
    packets = np.asarray(packets)
    table = pl.DataFrame({"start_s": start_s, "size_packets": packets, "response_time_s": response_s})
    done = pl.col("start_s") + pl.col("response_time_s")
    fixed = {"protocol": pl.lit("tcp"), "direction": pl.lit("down")}
    return table.with_columns(size_bytes=pl.col("size_packets") * 1460, finish_s=done, **fixed).with_columns(**more)


def first_come(seed: int, jobs: int, rho: float) -> pl.DataFrame:
    """Flows of geometric sizes through a queue that serves one after another, by Lindley's recursion."""
    rng = np.random.default_rng(seed)
    packets = rng.geometric(0.1, jobs)
    service = LINK.wire_bytes(packets) * LINK.byte_s
    gaps = rng.exponential(LINK.wire_bytes(10) * LINK.byte_s / rho, jobs)
    start = np.cumsum(gaps)
    # Work found: the walk less its lowest point so far.
    walk = np.r_[0.0, np.cumsum(service[:-1] - gaps[1:])]
    return records(start, packets, walk - np.minimum.accumulate(walk) + service)


def test_by_hand():
    flows = records([0.0, 1.0, 2.0, 3.0], [1, 1, 4, 40], [3 * MS, 5 * MS, 8 * MS, 80 * MS])
    work = (46 * 1500 + 16 * 40) * 8 / 12e6
    assert LINK.queue(flows).rho == pytest.approx(work / 1000)
    table = against.against(flows, "ps", LINK, edges=[1, 4, 100])
    assert table["size_packets_low"].to_list() == [1, 4]
    assert table["size_packets_high"].to_list() == [1, 40]
    assert table["flows"].to_list() == [2, 2]
    assert table["simulated_mean_s"].to_list() == pytest.approx([4 * MS, 44 * MS])
    ps = np.array([1660, (4 * 1500 + 160 + 40 * 1500 + 160) / 2]) * 8 / 12e6 / (1 - work / 1000)
    assert table["model_mean_s"].to_list() == pytest.approx(ps.tolist())
    assert table["error"].to_list() == pytest.approx((ps / [4 * MS, 44 * MS] - 1).tolist())
    assert table["ci95_s"].to_list() == [None, None]


def test_flows_of_the_warm_up_unfinished_ones_and_others_do_not_count_for_means():
    flows = records([0.0, 200.0, 300.0, 400.0], [1, 1, 1, 1], [9.0, 2 * MS, None, 4.0])
    flows = flows.with_columns(protocol=pl.Series(["tcp", "tcp", "tcp", "udp"]))
    link = Link(12e6, 1000.0, warm_up_s=100.0)
    assert against.beside(flows, "las", link)["start_s"].to_list() == [200.0]
    # The one of the warm-up and the unfinished one are work.
    assert link.queue(flows).rho == pytest.approx(3 * 1660 * 8 / 12e6 / 1000)
    twice = pl.concat([flows.with_columns(replication=pl.lit(k)) for k in (0, 1)])
    assert link.queue(twice).rho == pytest.approx(link.queue(flows).rho)


def test_what_the_path_takes_beyond_the_link_is_added_to_the_model():
    flows = records([0.0], [10], [40 * MS], slowdown=pl.lit(2.0))
    without, with_path = (against.beside(flows, "ps", LINK, path=path)["model_s"][0] for path in (False, True))
    assert with_path - without == pytest.approx(20 * MS - LINK.wire_bytes(10) * LINK.byte_s)


def test_intervals_hold_the_mean_of_the_theory_as_often_as_they_say():
    packets = np.arange(1, 400)
    law = Discrete(LINK.wire_bytes(packets), 0.1 * 0.9 ** (packets - 1))
    within, given_the_run = [], []
    for seed in range(60):
        flows = first_come(seed, 40_000, 0.5)
        link = Link(12e6, float(flows["start_s"][-1]) + 1e-9)
        nominal, own = (against.against(flows, "fifo", link, queue=known) for known in (MG1(law, 0.5), None))
        wide = nominal.drop_nulls()
        off = (wide["model_mean_s"] - wide["simulated_mean_s"]).to_numpy()
        within.append(np.mean(np.abs(off) <= wide["ci95_s"].to_numpy()))
        given_the_run.append(against.errors(own.drop_nulls())["median"])
    # The intervals of one run are not independent: the 60 runs are.
    assert np.mean(within) == pytest.approx(0.95, abs=3 * np.std(within) / math.sqrt(60))
    assert abs(np.mean(given_the_run)) < 3 * np.std(given_the_run) / math.sqrt(60)


def test_flows_counted_for_independent_would_claim_too_much():
    flows = first_come(1, 40_000, 0.9)
    table = against.against(flows, "fifo", Link(12e6, float(flows["start_s"][-1]) + 1e-9), edges=[1])
    naive = 1.96 * flows["response_time_s"].std() / math.sqrt(flows.height)
    assert table["ci95_s"][0] > 3 * naive


def test_raw_means_and_the_median_filter():
    rng = np.random.default_rng(3)
    packets = np.repeat(np.arange(1, 41), 3)
    flows = records(np.arange(120.0), packets, rng.exponential(1.0, 120)).with_columns(model_s=pl.lit(1.0))
    points = against.by_size(flows, window=7)
    assert points["size_packets"].to_list() == list(range(1, 41))
    raw = flows["response_time_s"].to_numpy().reshape(40, 3).mean(axis=1)
    assert points["simulated_mean_s"].to_numpy() == pytest.approx(raw)
    assert points["filtered_s"].to_numpy()[3:-3] == pytest.approx(medfilt(raw, 7)[3:-3])
    assert points["filtered_s"].min() > 0
    assert against.by_size(flows)["filtered_s"].to_numpy() == pytest.approx(raw)


def test_error_figures():
    table = pl.DataFrame({"simulated_mean_s": [1.0] * 10, "model_mean_s": [0.9, 1.3, 1.1, 1.0, 1.2, *[1.05] * 5]})
    assert against.errors(table) == {"median": pytest.approx(0.05), "p90": pytest.approx(0.2)}
    starved = table.with_columns(model_mean_s=pl.lit(math.inf))
    assert against.errors(starved) == {"median": math.inf, "p90": math.inf}
    assert against.errors(table.clear()) == {"median": None, "p90": None}


def test_overload_starves_the_large_and_says_so():
    flows = records(np.arange(1000.0), np.r_[np.ones(999, int), 10**6], np.r_[np.full(999, 2 * MS), 900.0])
    table = against.against(flows, "las", LINK)
    assert LINK.queue(flows).rho > 1
    assert np.isfinite(table["model_mean_s"][0]) and np.isinf(table["model_mean_s"][-1])


def test_refusals():
    flows = records([0.0], [1], [1.0])
    with pytest.raises(MayflyError, match="direction up"):
        Link(1e6, 10.0, direction="up").queue(flows)
    with pytest.raises(MayflyError, match="rate = 0"):
        Link(0, 10.0)
    with pytest.raises(MayflyError, match="warm_up = 10"):
        Link(1e6, 10.0, warm_up_s=10)
    with pytest.raises(MayflyError, match="window = 4"):
        against.by_size(against.beside(flows, "ps", LINK), window=4)
    with pytest.raises(MayflyError, match="threshold"):
        against.against(flows, "ps", LINK, threshold=3)


def test_flows_replayed_as_jobs_take_what_lindley_says():
    flows = first_come(4, 2_000, 0.7)
    told = against.replayed(flows.sample(fraction=1.0, shuffle=True, seed=1), "fifo", LINK)
    assert told["jobs_s"].to_numpy() == pytest.approx(told["response_time_s"].to_numpy(), rel=1e-6)
    twice = pl.concat([flows.with_columns(replication=pl.lit(k)) for k in (0, 1)])
    assert against.replayed(twice, "fifo", LINK)["jobs_s"].sum() == pytest.approx(2 * told["jobs_s"].sum())
