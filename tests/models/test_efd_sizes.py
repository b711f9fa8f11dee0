"""The model of EFD for flows of all sizes: its limits, and one packet simulation."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import mayfly
from mayfly.cli.app import app
from mayfly.laws.service_spec import service_law
from mayfly.models.efd.sizes import TOLERANCE, Dumbbell, EfdSizes, low_states
from mayfly.models.efd.subflow_law import FlowPackets, measured_shares
from mayfly.models.queue.flow_records import Link, beside, by_class
from mayfly.models.tcp.latency import Path, unloaded
from mayfly.simulate.run import named, run_one, workload

WIRED = FlowPackets.of_law(service_law("zipf:min=6,mean=40,cov=6"))
SIZES = np.array([1, 6, 10, 20, 50, 100, 200, 1000, 10_000])


def wired(rho, threshold, rtt_s):
    return EfdSizes(WIRED, rho, threshold, Dumbbell.of_rates(10e6, rtt_s, access_bps=100e6))


@pytest.mark.parametrize("path", [{"rtt_s": 0.1}, {"rtt_s": 1e-4}, {"rtt_s": 0.02, "per_ack": 1, "initial_window": 2}])
def test_a_flow_that_meets_nobody_takes_the_time_of_slow_start(path):
    path = Path(packet_s=1.2e-3, window=43, **path)
    model = EfdSizes(WIRED, 0.5, 20, Dumbbell(path))
    followed = np.arange(1, 300)
    assert model.alone(followed) == pytest.approx(unloaded(followed, path).closed_s, rel=1e-9)
    # Larger ones go on as in the last three windows, which may hold a pause between windows more or less.
    large = np.array([1000, 10_000])
    pause_s = max(path.rtt_s - path.window * path.packet_s, 0.0)
    allowed = large * pause_s / (3 * path.window - 1) + 1e-6
    assert np.all(np.abs(model.alone(large) - unloaded(large, path).closed_s) < allowed)


@pytest.mark.parametrize("packets", [1, 3])
def test_flows_of_one_flight_far_apart_are_the_queue_of_pollaczek_and_khinchine(packets):
    rho, shares = 0.6, np.zeros(packets)
    shares[-1] = 1.0
    model = EfdSizes(FlowPackets(shares), rho, 5, Dumbbell(Path(30.0, packet_s=1.0, window=43)))
    # Wait of the first of a batch, of the others behind it, and the transmission itself.
    queue = rho * (packets * rho / (2 * (1 - rho)) + (packets - 1) / 2 + 1)
    # The search ends where a round, half of a step, moves the queue by less than the tolerance.
    assert model.means.high == pytest.approx(queue, rel=2 * TOLERANCE / (1 - rho))


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
def test_without_round_trips_and_with_all_packets_high_large_flows_share_the_link(rho):
    window, packets = 10, 3000
    flows = FlowPackets.of_law(service_law(f"deterministic:value={packets}"))
    network = Dumbbell(Path(1e-9, packet_s=1.0, window=window), buffer=1e6)
    model = EfdSizes(flows, rho, packets, network)
    assert model.means.high_load == pytest.approx(rho, abs=TOLERANCE)
    shared = packets / (1 - rho)
    # The packets before the window is full, and set-up and tear-down, find the windows of the others: a round each.
    rounds = 2 + np.log(window / 3) / np.log(1.5)
    allowed = (rounds + 1) * window / (1 - rho)
    assert abs(float(model.response(packets)) - shared) < allowed + shared * TOLERANCE / (1 - rho)


def test_small_flows_wait_for_windows_where_all_packets_are_high():
    model = EfdSizes(WIRED, 0.5, 100, Dumbbell.of_rates(10e6, 0.0))
    shared = 6 * 1.2e-3 / 0.5
    assert float(model.response(6)) > 1.2 * shared


@pytest.mark.parametrize(("threshold", "rtt_s"), [(20, 0.0), (20, 0.02), (1, 0.0)])
@pytest.mark.slow
def test_times_grow_with_size_and_with_load(threshold, rtt_s):
    before = 0.0
    for rho in (0.2, 0.5, 0.8):
        model = wired(rho, threshold, rtt_s)
        assert np.all(np.diff(model.response(np.arange(1, 2000))) >= 0)
        times = model.response(SIZES)
        assert np.all(times > before)
        before = times


def test_the_first_flight_and_the_rest_are_two_subflows_without_propagation():
    """The second acknowledgement is back after the third packet has begun: see docs/papers/chen-2012-subflows.md."""
    threshold = 20
    model = wired(0.5, threshold, 0.0)
    assert model.means.high_load == pytest.approx(0.5 * WIRED.beyond[: threshold + 3].sum() / WIRED.mean, rel=1e-3)
    assert wired(0.5, 1, 0.0).means.high_load == pytest.approx(0.5 * 2 / WIRED.mean, rel=1e-3)


def test_states_of_the_low_queue_sum_up():
    for load in (0.05, 0.5, 0.9, 0.99):
        probability, flows = low_states(load)
        assert probability.sum() == pytest.approx(1, abs=1e-12)
        assert probability @ flows == pytest.approx(load / (1 - load), rel=1e-9)


def test_the_model_is_near_a_packet_simulation_that_others_are_far_from():
    """docs/models/efd-sizes.md: at 20 ms and loads to 0.7 within 3 % up to 200 packets, 5 % beyond."""
    duration, rtt_s, threshold, load = 2000.0, 0.02, 20, 0.5
    fields = {"network.delay": rtt_s / 2, "network.access_delay": 0, "network.exit_delay": 0, "duration": duration}
    fields |= {"workload.load": load * 10e6 * 1460 / 1500, "workload.exact_load": True, "sample_interval": 0}
    scenario = mayfly.load_scenario("wired", fields | {"warm_up": 50})
    [discipline] = named(f"efd(threshold={threshold * 1500})")
    records = run_one(scenario, discipline, workload(scenario)).records
    link = Link(10e6, duration, 50.0)
    sizes = records["size_packets"].to_numpy()
    rho = sizes.sum() * 1.2e-3 / duration
    model = EfdSizes(FlowPackets(measured_shares(sizes)), rho, threshold, wired(load, threshold, rtt_s).network)
    told = {name: beside(records, name, link, path=True) for name in ("ps", "las")}
    times = pl.Series("model_s", model.response(told["ps"]["size_packets"]))
    told["efd-sizes"] = told["ps"].with_columns(times)
    off = {name: by_class(flows, link, [1, 11, 51, 201]) for name, flows in told.items()}
    simulated, half = off["las"]["simulated_mean_s"].to_numpy(), off["las"]["ci95_s"].to_numpy()
    allowed = half + np.array([0.03, 0.03, 0.03, 0.05]) * simulated
    assert np.all(half[:3] < 0.1 * simulated[:3])
    far = {name: np.abs(table["model_mean_s"].to_numpy() - simulated) > allowed for name, table in off.items()}
    assert not far["efd-sizes"].any(), off["efd-sizes"]
    assert far["ps"].any() and far["las"].any()


def run(*arguments):
    return CliRunner().invoke(app, ["model", "efd-sizes", "--law", "zipf:min=6,mean=40,cov=6", *map(str, arguments)])


def test_the_command_answers_in_seconds():
    result = run("--rho", 0.5, "--rtt", "20ms", "--at", "100,6", "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    assert (found["policy"], found["rho"], found["threshold"], found["rtt_s"]) == ("efd-sizes", 0.5, 20, 0.02)
    assert found["at"] == [6, 100]
    assert found["response_time"] == pytest.approx(wired(0.5, 20, 0.02).response([6, 100]).tolist(), rel=1e-12)
    assert all(alone < time for alone, time in zip(found["alone"], found["response_time"], strict=True))
    shown = run("--rho", 0.5)
    assert "of the packets go through the high queue" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rho", 1.0), "rho = 1: must be above 0 and below 1"),
        (("--rho", 0.5, "--threshold", 0), "threshold = 0: must be from 1 to 100000 packets"),
        (("--rho", 0.5, "--at", 0.5), "at = 0.5: must be whole packets, from 1"),
        (("--rho", 0.5, "--buffer", 0), "buffer = 0: must be at least 1 packet"),
        (("--rho", 0.5, "--header", 0), "header = 0: must be above 0, at most the packet of 1500 bytes"),
        (("--rho", 0.5, "--window", 2), "window = 2: must be at least the initial one, 3"),
        (("--rho", 0.5, "--packet", 0), "packet = 0: must be above 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    assert str(run(*arguments).exception) == message
