"""Sub-flows of EFD: the two ways to guess them against brute force, their response times against closed forms."""

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.efd import cuts as efd_cuts
from mayfly.models.efd.cuts import Cuts
from mayfly.models.efd.flights import Flights, flight_count, flights, windows
from mayfly.models.efd.subflow_law import FlowPackets, SubflowLaw, measured_shares
from mayfly.models.efd.variants import VARIANTS, EfdModel
from mayfly.models.queue import las
from mayfly.models.queue.jobs import levels, simulate_poisson
from mayfly.models.queue.mg1 import MG1

WIRED = FlowPackets.of_law(service_law("zipf:min=6,mean=40,cov=6"))
MEASURED = np.array([0.3, 0.25, 0.2, 0.0, 0.1, 0.05, 0.05, *np.zeros(30), 0.05])


def model(splitting=None, rho=0.5, threshold=20, flows=WIRED):
    return EfdModel(flows, rho, threshold, splitting or Flights())


def test_windows_are_the_sequence_of_the_thesis():
    # Chen 2012, 5.3.2.1: without a cap, and with one of 64.5 kB.
    assert windows(11, 10**9).tolist() == [1, 2, 3, 4, 6, 9, 13, 19, 27, 38, 54]
    assert windows(12).tolist() == [1, 2, 3, 4, 6, 9, 13, 19, 27, 38, 43, 43]


@pytest.mark.parametrize("packets", [0, 1, 2, 3, 6, 7, 121, 122, 164, 165, 166, 1000, 12_121])
def test_flights_add_up_to_the_flow(packets):
    sizes = flights(packets)
    assert sizes.sum() == packets
    assert (sizes[:-1] == windows(len(sizes))[:-1]).all()
    assert len(sizes) == 0 or 0 < sizes[-1] <= windows(len(sizes))[-1]


@pytest.mark.parametrize("window", [1, 2, 5, 43, 1000])
def test_counts_of_flights_are_the_sum_over_flows(window):
    flows = FlowPackets(np.random.default_rng(1).dirichlet(np.ones(400)))
    expected = np.zeros(1000)
    for size, share in enumerate(flows.shares, start=1):
        np.add.at(expected, flights(size, window) - 1, share)
    counts = Flights(window).counts(flows)
    assert counts == pytest.approx(expected[: len(counts)], rel=1e-12, abs=1e-15)
    assert expected[len(counts) :].sum() == 0
    cost = np.r_[0.0, np.random.default_rng(2).random(400)]
    totals = Flights(window).totals(cost)
    assert totals == pytest.approx([cost[flights(size, window)].sum() for size in range(401)], rel=1e-12)
    # The mean over flows of a cost is that over their sub-flows.
    assert flows.shares @ totals[1:] == pytest.approx(counts @ cost[1 : len(counts) + 1], rel=1e-12)


def drawn_cuts(rng, size, shares):
    """Sub-flows of one flow, drawn."""
    found = []
    while size > 0:
        found.append(min(size, int(rng.choice(len(shares), p=shares)) + 1))
        size -= found[-1]
    return found


def test_counts_of_cuts_are_those_of_drawn_flows():
    rng = np.random.default_rng(3)
    flows = FlowPackets(np.r_[np.zeros(2), np.full(48, 1 / 48)])
    trials = 4000
    drawn = np.zeros((trials, len(MEASURED)))
    for trial, size in enumerate(rng.integers(3, 51, trials)):
        np.add.at(drawn[trial], np.array(drawn_cuts(rng, size, MEASURED)) - 1, 1)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(trials)
    counts = Cuts(MEASURED).counts(flows)
    counts = np.r_[counts, np.zeros(len(MEASURED) - len(counts))]
    # 38 means at once: 4 standard errors; of sizes rarer than one in 400 flows nothing can be said.
    told = counts > 1 / 400
    assert told.sum() > 30
    assert np.all(np.abs(drawn.mean(axis=0) - counts)[told] < 4 * error[told])


def test_cuts_keep_all_packets_and_cost():
    rng = np.random.default_rng(4)
    flows = FlowPackets(rng.dirichlet(np.ones(300)))
    counts = Cuts(MEASURED).counts(flows)
    assert SubflowLaw(counts).packets == pytest.approx(flows.mean, rel=1e-12)
    cost = np.r_[0.0, rng.random(300)]
    totals = Cuts(MEASURED).totals(cost)
    assert flows.shares @ totals[1:] == pytest.approx(counts @ cost[1 : len(counts) + 1], rel=1e-12)
    assert Cuts(MEASURED).totals(np.arange(301.0)) == pytest.approx(np.arange(301), rel=1e-12)


def test_cuts_of_one_size_are_the_flow_in_pieces():
    pieces = Cuts(np.array([0.0, 0.0, 1.0]))
    assert pieces.reached(7).tolist() == [1, 0, 0, 1, 0, 0, 1, 0]
    assert pieces.totals(np.array([0.0, 1, 10, 100, 0, 0, 0, 0, 0])).tolist() == [
        0,
        1,
        10,
        100,
        101,
        110,
        200,
        201,
        210,
    ]


def test_long_recursions_are_those_of_short_ones(monkeypatch):
    rng = np.random.default_rng(5)
    # A law with a heavy tail, sizes 1, 2, ..., 3000.
    shares = np.arange(1, 3001) ** -2.1
    cuts, flows = Cuts(shares / shares.sum()), FlowPackets(rng.dirichlet(np.ones(20_000)))
    cost = np.r_[0.0, rng.random(20_000)]
    direct = cuts.reached(20_000), cuts.counts(flows), cuts.totals(cost)
    monkeypatch.setattr(efd_cuts, "DIRECT", 0)
    fast = cuts.reached(20_000), cuts.counts(flows), cuts.totals(cost)
    for one, other in zip(direct, fast, strict=True):
        assert np.abs(one - other).max() < 1e-11 * np.abs(one).max()


def test_of_a_long_flow_one_packet_in_a_mean_ends_a_subflow():
    # Blackwell's theorem; the law has no period.
    mean = MEASURED @ np.arange(1, len(MEASURED) + 1)
    assert Cuts(MEASURED).reached(5000)[-1] == pytest.approx(1 / mean, rel=1e-9)


def test_long_flows_are_cut_into_the_measured_law():
    counts = Cuts(MEASURED).counts(FlowPackets(np.r_[np.zeros(99_999), 1.0]))
    shares = counts / counts.sum()
    # The last sub-flow of 20 000 or so is cut short.
    assert np.abs(shares - MEASURED).max() < 1e-4


def test_what_cannot_be_is_refused():
    with pytest.raises(MayflyError, match="no sub-flow has a packet"):
        measured_shares([0, 0])
    with pytest.raises(MayflyError, match="must be whole"):
        measured_shares([1.5])
    with pytest.raises(MayflyError, match="window = 0"):
        Flights(0).counts(WIRED)
    with pytest.raises(MayflyError, match=r"variant = sjf\+fifo: must be one of fifo\+fifo"):
        model().subflow_response("sjf+fifo", np.array([1]))
    for rho, threshold in ((0.0, 20), (1.0, 20), (0.5, 0)):
        with pytest.raises(MayflyError, match="must be"):
            model(rho=rho, threshold=threshold)


def test_a_law_is_rounded_up_to_packets():
    flows = FlowPackets.of_law(service_law("exponential:mean=7.5"))
    n = np.arange(1, 101)
    assert flows.shares[:100] == pytest.approx(np.exp(-(n - 1) / 7.5) * (1 - np.exp(-1 / 7.5)), rel=1e-9)
    # The mean of the geometric law, but for the packets beyond the largest.
    assert flows.mean == pytest.approx(1 / (1 - np.exp(-1 / 7.5)), rel=2e-9)
    assert WIRED.mean == pytest.approx(40, rel=1e-3)
    assert len(WIRED.shares) == 12_121
    with pytest.raises(MayflyError, match=r"largest flow = .*: must be at most 10000000 packets"):
        FlowPackets.of_law(service_law("pareto-ii:shape=1.2,mean=12"))


def test_the_two_queues_share_the_packets():
    law = SubflowLaw(Cuts(MEASURED).counts(WIRED))
    for threshold in (1, 2, 5, 20, 37):
        high, low = law.high(threshold), law.low(threshold)
        assert high.per_flow == pytest.approx(law.per_flow, rel=1e-12)
        assert high.packets + low.packets == pytest.approx(law.packets, rel=1e-12)
        assert low.per_flow == pytest.approx(law.counts[threshold:].sum(), rel=1e-12)
    assert law.low(38) is None
    assert law.high(38) is law


def test_las_in_both_queues_is_las():
    ours = model()
    at = np.arange(1, 44)
    assert ours.subflow_response("las+las", at) == pytest.approx(las.response(ours.queue, at), rel=1e-12)


def test_with_a_threshold_beyond_all_subflows_the_high_queue_is_alone():
    ours = model(threshold=43)
    at = np.arange(1, 44)
    assert ours.high_load == pytest.approx(0.5, rel=1e-12)
    for low in ("fifo", "las"):
        assert ours.subflow_response(f"fifo+{low}", at) == pytest.approx(at / 0.5, rel=1e-12)
        assert ours.subflow_response(f"las+{low}", at) == pytest.approx(las.response(ours.queue, at), rel=1e-12)


def test_the_high_queue_does_not_see_the_low_one_nor_its_order():
    at = np.arange(1, 21)
    fifo = [model().subflow_response(f"fifo+{low}", at) for low in ("fifo", "las")]
    assert np.array_equal(*fifo)
    assert fifo[0] == pytest.approx(at / (1 - model().high_load), rel=1e-12)
    assert np.array_equal(*(model().subflow_response(f"las+{low}", at) for low in ("fifo", "las")))


def test_flights_are_counted_as_they_are_listed_and_grow_as_the_sum_of_the_formula():
    sizes = np.array([0, 1, 2, 3, 10, 43, 500, 20_000])
    assert flight_count(sizes).tolist() == [len(flights(int(size))) for size in sizes]
    n = np.arange(1, 30)
    held = (1 + 2**-0.5) * (2 ** (n / 2) - 1) / (2**0.5 - 1)
    # Rounding down takes less than a packet from each window.
    counted = np.cumsum(windows(29, 10**9))
    assert np.all((counted <= held) & (counted > held - n))


@pytest.mark.parametrize("variant", VARIANTS)
def test_subflows_without_others_take_their_own_time(variant):
    at = np.arange(1, 44)
    assert model(rho=1e-9).subflow_response(variant, at) == pytest.approx(at, rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_responses_grow_with_size_and_load(variant):
    at = np.arange(1, 44)
    before = np.zeros(len(at))
    for rho in (0.1, 0.3, 0.5, 0.7, 0.9):
        response = model(rho=rho).subflow_response(variant, at)
        assert np.all(np.diff(response) > 0)
        assert np.all(response > before)
        before = response


def test_a_flow_of_three_packets_is_six_subflows():
    # Chen 2012, 5.3.2.1: T(3) = 5 T_sub(1) + 1 T_sub(2).
    ours = model()
    one, two = ours.subflow_response("las+fifo", np.array([1, 2]))
    assert ours.flow_response("las+fifo", np.array([3]))[0] == pytest.approx(5 * one + two, rel=1e-12)
    assert ours.flow_response("las+fifo", np.array([3]), control=False)[0] == pytest.approx(one + two, rel=1e-12)


@pytest.mark.parametrize("splitting", [Flights(), Cuts(MEASURED)])
def test_a_flow_takes_the_sum_of_its_subflows(splitting):
    ours = model(splitting)
    at = np.array([1, 6, 20, 21, 150, 12_121])
    without = ours.flow_response("fifo+las", at, control=False)
    cost = np.r_[0.0, ours.subflow_response("fifo+las", np.arange(1, 12_122))]
    assert without == pytest.approx(splitting.totals(cost)[at], rel=1e-12)
    with_control = ours.flow_response("fifo+las", at)
    assert with_control - without == pytest.approx(np.full(6, 4 * cost[1]), rel=1e-9)
    # In shared service of the high queue alone a flow's time does not depend on how it is cut.
    alone = EfdModel(WIRED, 0.5, 20_000, splitting)
    assert alone.flow_response("fifo+fifo", at, control=False) == pytest.approx(at / 0.5, rel=1e-9)


def test_the_queue_has_the_load_of_the_flows():
    for splitting in (Flights(), Cuts(MEASURED)):
        ours = model(splitting, rho=0.7)
        assert isinstance(ours.queue, MG1)
        assert ours.queue.load(np.inf) == pytest.approx(0.7, rel=1e-12)
        # One flow brings per_flow sub-flows.
        assert ours.queue.arrival_rate == pytest.approx(0.7 / WIRED.mean * ours.subflows.per_flow, rel=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("splitting", [Flights(), Cuts(MEASURED)], ids=["flights", "cuts"])
def test_response_times_are_those_of_simulated_subflows(splitting, variant):
    ours = model(splitting, rho=0.6, threshold=10)
    high, _, low = variant.replace("fifo", "ps").partition("+")
    edges = np.array([0, 1, 2, 5, 10, 20, 43])

    def told(sizes):
        table = ours.subflow_response(variant, np.arange(44))
        return table[sizes.astype(int)]

    # 48 means, of which one would be outside in a run of the tests out of a hundred.
    found = simulate_poisson(levels(f"{high}|{low}", [10]), ours.queue.law, 0.6, 2e6, edges, less=told, level=1 - 2e-4)
    middle = told(edges[1:])
    # Sharing behind the threshold is solved within a part in a million (mayfly.models.queue.levels).
    assert np.all(np.abs(found.mean) < found.half_width + 1e-6 * middle)
    assert np.all(found.half_width < 0.05 * middle)
