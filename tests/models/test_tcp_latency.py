"""Times of TCP transfers: without loss the packet simulator's own, with loss the errors that the page states."""

import json
import math

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import mayfly
from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES
from mayfly.models.tcp.latency import Path, completion, handshake_s, latency, unloaded

SCENE = """
duration = "{seconds}s"
[network]
rate = "{rate}"
delay = "50ms"
access_rate = "10gbit"
exit_rate = "10gbit"
access_delay = "0s"
exit_delay = "0s"
buffer = 1000000
reverse_buffer = 1000000
loss = {loss}
[tcp]
{tcp}
"""


def simulated(path, sizes, *, times=1, apart=0.05, rate="1gbit", loss=0.0, tcp="", rest=600.0) -> pl.DataFrame:
    """Records of transfers between hosts of their own, one begun each ``apart``; ``last_s``: from SYN to last data."""
    count = len(sizes) * times
    flows = pl.DataFrame(
        {
            "start_s": np.arange(count) * apart,
            "src": [f"s{k}" for k in range(count)],
            "dst": [f"r{k}" for k in range(count)],
            "direction": ["down"] * count,
            "protocol": ["tcp"] * count,
            "size_bytes": np.tile(sizes, times) * 1460,
        }
    )
    path.write_text(SCENE.format(seconds=count * apart + rest, rate=rate, loss=loss, tcp=tcp))
    records = mayfly.run(mayfly.load_scenario(path), "fifo", flows).records
    return records.with_columns(last_s=pl.col("last_data_s") - pl.col("start_s"))


@pytest.mark.parametrize(
    ("given", "tcp"),
    [
        ({"per_ack": 1, "window": 1000}, 'delayed_ack = "0s"\nreceiver_window = 1000'),
        ({"per_ack": 1, "window": 43}, 'delayed_ack = "0s"'),
        ({"per_ack": 2, "window": 1000}, "receiver_window = 1000"),
        ({"per_ack": 2, "window": 43, "initial_window": 1}, "initial_window = 1"),
        ({"per_ack": 2, "window": 43, "initial_window": 10}, "initial_window = 10"),
    ],
)
def test_without_loss_the_flights_are_those_of_the_simulator(tmp_path, given, tcp):
    sizes = [1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 20, 40, 43, 44, 100, 200, 500]
    records = simulated(tmp_path / "s.toml", sizes, tcp=tcp, apart=5.0)
    found = unloaded(sizes, Path(0.1, **given))
    # A packet takes 12 us on the link, control packets a third of one: no more than 60 of them are ever in a row.
    np.testing.assert_allclose(found.delivered_s, records["last_s"], atol=2e-3)
    np.testing.assert_allclose(found.closed_s, records["response_time_s"], atol=2e-3)


def test_a_slow_link_paces_what_slow_start_sends(tmp_path):
    sizes = [1, 3, 10, 43, 44, 200, 1000]
    records = simulated(tmp_path / "s.toml", sizes, rate="5mbit", tcp="receiver_window = 1000", apart=20.0)
    # 40 bytes each way are part of the round trip of a small packet; that of a full one has them once.
    found = unloaded(sizes, Path(0.1 + 2 * 40 * 8 / 5e6, packet_s=1500 * 8 / 5e6, window=1000))
    rounds = found.flights * 40 * 8 / 5e6
    assert (np.abs(found.delivered_s - records["last_s"]) <= rounds + 20e-6).all()


def test_flights_by_hand():
    one = Path(0.1, per_ack=1, initial_window=1, window=8)
    # 1, 2, 4, 8, 8, ...
    assert unloaded([1, 2, 3, 4, 7, 8, 15, 16, 23, 24], one).flights.tolist() == [1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    # 3, 3, 6, 9: an acknowledgement for two packets opens the way for three.
    two = unloaded([3, 4, 6, 7, 12, 13, 21, 22], Path(0.1))
    assert two.flights.tolist() == [1, 2, 2, 3, 3, 4, 4, 5]
    assert unloaded(1, Path(0.1)).delivered_s.tolist() == [pytest.approx(0.15)]


def test_the_parts_without_loss():
    path = Path(0.1, per_ack=1, initial_window=2)
    found = latency([2, 6, 14], path)
    # Rounds: log2(d / 2 + 1).
    np.testing.assert_allclose(found.slow_start_s, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(found.total_s, [0.2, 0.3, 0.4])
    np.testing.assert_allclose(found.total_s, unloaded([2, 6, 14], path).delivered_s + 0.05)
    limited = latency([1000], Path(0.1, per_ack=1, initial_window=2, window=8)).slow_start_s
    # 2 + 4 + 8 packets in 3 rounds, then 8 a round.
    assert float(limited[0]) == pytest.approx(0.1 * (3 + (1000 - 14) / 8))
    sizes = np.arange(1, 200)
    counted = latency(sizes, path, slow_start="counted").total_s
    np.testing.assert_allclose(counted, unloaded(sizes, path).delivered_s + 0.05)
    assert (counted >= latency(sizes, path).total_s - 1e-9).all(), "whole flights take no less than parts of them"


def test_a_lost_syn_costs_timeouts_that_double():
    rng = np.random.default_rng(1)
    path = Path(0.1, syn_loss=0.1, syn_rto_s=3.0)
    failures = rng.geometric(0.9, (2, 400_000)) - 1
    drawn = 0.1 + (3.0 * (2.0**failures - 1)).sum(axis=0)
    assert handshake_s(path) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 400_000**0.5)


@pytest.mark.parametrize("p", [0.001, 0.02, 0.2])
def test_slow_start_ends_at_the_first_loss(p):
    """The counted mean against drawn first losses; a path that loses nothing after them."""
    path, size = Path(0.1, loss=p, per_ack=2), 60
    times = unloaded(np.arange(1, size + 1), path).delivered_s - 0.05
    first = np.minimum(np.random.default_rng(2).geometric(p, 200_000), size)
    drawn = times[first - 1]
    found = float(latency(size, path, slow_start="counted").slow_start_s[0])
    assert found == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 200_000**0.5)


def test_latency_rises_with_size_and_loss():
    sizes, path = np.array([1, 3, 10, 30, 100, 300, 1000, 3000]), Path(0.1, window=43)
    for kind in ("bursts", "independent"):
        rows = [latency(sizes, Path(0.1, loss=p, window=43), losses=kind).total_s for p in (0, 1e-9, 1e-3, 0.01, 0.05)]
        assert (np.diff(rows, axis=1) > 0).all()
        assert (np.diff(rows[1:], axis=0) > 0).all()
        np.testing.assert_allclose(rows[1], rows[0], rtol=1e-4)
    assert float(latency(10**6, Path(0.1, loss=0.01)).avoidance_s[0]) == pytest.approx(10**6 / 65.9, rel=0.01)
    assert latency(7, path).packets.tolist() == [7]


@pytest.mark.slow
@pytest.mark.parametrize(("delayed_ack", "per_ack"), [("0s", 1), ("200ms", 2)])
def test_mean_latency_beside_the_simulator(tmp_path, delayed_ack, per_ack):
    """The bounds that docs/models/tcp.md states, 1 - 1.96 deviations of the mean beyond them."""
    sizes, times = np.array([5, 20, 100, 500]), 300
    tcp = f'delayed_ack = "{delayed_ack}"\nreceiver_window = 1000\nrecovery = "sack"'
    bounds = {0.001: (0.9, 1.2, 0.7, 1.3), 0.01: (0.8, 1.3, 0.7, 1.8), 0.05: (0.6, 1.1, 0.7, 2.1)}
    for loss, (least, most, burst_least, burst_most) in bounds.items():
        records = simulated(tmp_path / "s.toml", sizes, times=times, loss=loss, tcp=tcp)
        found = records.group_by("size_packets").agg(pl.col("last_s").mean(), pl.col("last_s").std().alias("sd"))
        found = found.sort("size_packets")
        mean, error = found["last_s"].to_numpy(), 1.96 * found["sd"].to_numpy() / times**0.5
        path = Path(0.1, loss=loss, per_ack=per_ack, window=1000)
        model = latency(sizes, path, slow_start="counted", losses="independent").total_s - 0.05
        assert (model >= least * (mean - error)).all() and (model <= most * (mean + error)).all(), (loss, model / mean)
        paper = latency(sizes, path).total_s - 0.05
        assert (paper >= burst_least * (mean - error)).all(), (loss, paper / mean)
        assert (paper <= burst_most * (mean + error)).all(), (loss, paper / mean)


def test_completion_is_the_time_alone_and_what_the_queue_adds():
    path = Path(0.1, packet_s=0.001, per_ack=1)
    sizes = np.array([3, 10, 30])
    empty = completion(sizes, path, sizes * 0.001)
    np.testing.assert_allclose(empty, unloaded(sizes, path).closed_s)
    np.testing.assert_allclose(completion(sizes, path, sizes * 0.001 + 0.02), empty + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.5, 0.8])
@pytest.mark.parametrize(("discipline", "policy"), [("scfq", "ps"), ("las", "las")])
def test_completion_beside_the_simulator(load, discipline, policy):
    """Sizes up to 200 packets within 8 %, without loss, over 100 ms; larger ones are too few in 1500 s."""
    given = {"network.delay": "48ms", "network.buffer": 100_000, "network.reverse_buffer": 100_000}
    given |= {"workload.load": f"{10 * load}mbit", "duration": "1500s", "warm_up": "50s", "sample_interval": "0s"}
    records = mayfly.run(mayfly.load_scenario("wired", given), discipline).records
    records = records.filter(pl.col("finish_s").is_not_null() & (pl.col("size_packets") < 200))
    sizes = records["size_packets"].to_numpy()
    path = Path(0.1001, packet_s=0.0012, window=43)
    queue = MG1(service_law("zipf:min=6,mean=40,cov=6"), load)
    model = completion(sizes, path, POLICIES[policy].response(queue, sizes.astype(float)) * path.packet_s)
    times = records["response_time_s"].to_numpy()
    for low, high in [(6, 7), (7, 10), (10, 20), (20, 50), (50, 200)]:
        part = (sizes >= low) & (sizes < high)
        assert model[part].mean() / times[part].mean() == pytest.approx(1, abs=0.08), (low, high)


def test_the_command_tells_rates_and_times():
    words = ["model", "tcp", "--size", "20,100", "--rtt", "100ms", "--loss", "1%", "--rate", "10mbit"]
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.exception
    document = json.loads(result.stdout)
    path = Path(0.1, 0.01, 0.0012, window=43)
    assert document["sizes"][1]["unloaded"]["closed_s"] == pytest.approx(float(unloaded(100, path).closed_s[0]))
    assert len(document["throughput"]) == 4
    assert "losses in bursts" in CliRunner().invoke(app, words, env={"COLUMNS": "200"}).stdout
    lossless = json.loads(CliRunner().invoke(app, ["model", "tcp", "--loss", "0", "--json"]).stdout)
    assert lossless["throughput"][0]["packets_per_s"] == pytest.approx(430)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Path(0.0), "rtt_s = 0: must be above 0 s"),
        (lambda: Path(0.1, loss=1.0), "loss = 1: must be from 0 to below 1"),
        (lambda: Path(0.1, syn_loss=0.5), "syn_loss = 0.5: must be from 0 to below 0.5"),
        (lambda: Path(0.1, window=2), "window = 2: must be at least the initial one, 3"),
        (lambda: Path(0.1, per_ack=0), "per_ack = 0: must be a whole number from 1"),
        (lambda: Path(0.1, rto_s=math.nan), "rto_s = nan: must be 0 s or more"),
        (lambda: unloaded([5, 0], Path(0.1)), "packets = 0: must be whole numbers from 1 to 2000000"),
        (lambda: unloaded([1.5], Path(0.1)), "packets = 1.5: must be whole numbers"),
        (lambda: latency([0.5], Path(0.1)), "packets = 0.5: must be from 1"),
        (lambda: latency([5], Path(0.1), losses="odd"), "losses = odd: must be bursts or independent"),
        (lambda: latency([5], Path(0.1), slow_start="odd"), "slow_start = odd: must be continuous or counted"),
        (lambda: completion([5], Path(0.1), [1.0]), "packet_s = 0: must be above 0 s"),
    ],
)
def test_bad_input_is_refused_with_its_value_and_bound(call, message):
    with pytest.raises(MayflyError) as refused:
        call()
    assert message in str(refused.value)
