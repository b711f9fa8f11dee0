"""Runs against what can be written down: serialisation, slow start, queues, token buckets, fair shares.

Tolerances come from the form: none but the rounding of times to nanoseconds where it is exact, the mean gap between two
turns where it is a share, and nothing else.
"""

import heapq
import math
from random import Random

import numpy as np
import polars as pl
import pytest
from drawn_links import DISCIPLINES, SCHEMA

import mayfly

NANOSECOND = 1e-9
HEADER_BYTES = 28
"""IP and UDP of a datagram."""


def listed(rows):
    return pl.DataFrame([dict.fromkeys(SCHEMA) | {"direction": "down"} | row for row in rows], schema=SCHEMA)


def ran(overrides, discipline, flows):
    return mayfly.run(mayfly.load_scenario("wired", overrides), discipline, flows).records.sort("flow_id")


def datagram(flow, start_s, count, packet_bytes, rate_bps, src="1", dst="2"):
    return {
        "flow_id": flow,
        "start_s": start_s,
        "src": src,
        "dst": dst,
        "protocol": "udp",
        "size_bytes": count * (packet_bytes - HEADER_BYTES),
        "rate_bps": float(rate_bps),
        "packet_bytes": packet_bytes,
    }


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_datagrams_alone_take_the_sum_of_serialisation_and_propagation(discipline):
    """The last of n packets leaves n - 1 gaps after the first; each hop takes 8 L / R. Gaps are whole nanoseconds."""
    random = Random(discipline)
    for _ in range(2):
        rate, packet = random.choice([1, 5, 10, 100]) * 10**6, random.choice([100, 333, 1000, 1500])
        access, delay_ms, count = rate * random.choice([1, 4]), random.choice([0, 2, 9]), random.randint(1, 400)
        gap_ns = math.ceil(packet * 8e9 / (rate * random.uniform(0.05, 0.95)))
        overrides = {
            "duration": "600s",
            "network.rate": f"{rate}bit",
            "network.access_rate": f"{access}bit",
            "network.delay": f"{delay_ms}ms",
            "network.buffer": 1000,
            "tcp.preset": "ns2",
        }
        flows = listed([datagram(0, 1.5, count, packet, packet * 8e9 / gap_ns)])
        found = ran(overrides, discipline, flows)
        hops_s = packet * 8 * (2 / access + 1 / rate) + (delay_ms + 2) / 1000
        # Half a nanosecond of rounding for each of three hops, and of the gap, of which the rate is a float.
        expected_s = 1.5 + (count - 1) * gap_ns * 1e-9 + hops_s
        assert abs(found["last_data_s"][0] - expected_s) <= 2 * NANOSECOND
        assert found["packets_sent"][0] == count
        assert found["delivered_bytes"][0] == flows["size_bytes"][0]


def slow_start_s(size, mss, header, window, receiver_window, rates, delays):
    """When the last byte of a transfer on an empty path arrives: each ACK of a segment opens the window by one.

    Three hops there, three back, each of which sends one segment after the other; the ACK of the handshake goes first.
    """
    forward, back = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]

    def passes(free, at_s, size_bytes, rates, delays):
        for hop, (rate, delay) in enumerate(zip(rates, delays, strict=True)):
            free[hop] = max(free[hop], at_s) + size_bytes * 8 / rate
            at_s = free[hop] + delay
        return at_s

    def one_way(size_bytes):
        return sum(size_bytes * 8 / rate + delay for rate, delay in zip(rates, delays, strict=True))

    segments = math.ceil(size / mss)
    payloads = [mss] * (segments - 1) + [size - mss * (segments - 1)]
    now = 2 * one_way(header)
    passes(forward, now, header, rates, delays)
    sent = acknowledged = 0
    events, last = [], 0.0
    while True:
        while sent < segments and sent - acknowledged < min(window, receiver_window):
            last = passes(forward, now, payloads[sent] + header, rates, delays)
            sent += 1
            heapq.heappush(events, (passes(back, last, header, rates[::-1], delays[::-1]), sent))
        if not events:
            return last
        now, acknowledged = heapq.heappop(events)
        window += 1


@pytest.mark.parametrize("seed", range(40))
def test_a_transfer_alone_takes_what_slow_start_on_an_empty_path_takes(seed):
    random = Random(seed)
    rate = random.choice([1, 4, 10, 40, 100, 1000]) * 10**6
    rates = (rate * random.choice([1, 2, 8, 10]), rate, rate * random.choice([1, 4, 10]))
    delays_ms = [random.choice([0, 1, 3, 7, 20]) for _ in rates]
    mss, header = random.choice([500, 1000, 1448, 1460]), random.choice([20, 40, 52])
    receiver_window = random.choice([20, 43, 1000])
    size = random.choice([1, 100, mss, mss + 1, 10 * mss, 11 * mss, 20 * mss + 7, 100 * mss, 500 * mss - 3])
    overrides = {
        "duration": "600s",
        "network.access_rate": f"{rates[0]}bit",
        "network.rate": f"{rates[1]}bit",
        "network.exit_rate": f"{rates[2]}bit",
        "network.access_delay": f"{delays_ms[0]}ms",
        "network.delay": f"{delays_ms[1]}ms",
        "network.exit_delay": f"{delays_ms[2]}ms",
        "network.buffer": 100_000,
        "tcp.mss": mss,
        "tcp.header": header,
        "tcp.initial_window": 10,
        "tcp.receiver_window": receiver_window,
        "tcp.delayed_ack": "0s",
        "tcp.initial_rto": "50s",
        "tcp.min_rto": "50s",
        "tcp.max_rto": "60s",
    }
    flow = {"flow_id": 0, "start_s": 0.0, "src": "1", "dst": "2", "protocol": "tcp", "size_bytes": size}
    found = ran(overrides, "fifo", listed([flow]))["last_data_s"][0]
    expected = slow_start_s(size, mss, header, 10, receiver_window, rates, [delay / 1000 for delay in delays_ms])
    # A hop rounds to the nanosecond; there are at most 3 hops of each segment and 3 of its ACK in a row.
    assert abs(found - expected) <= NANOSECOND * (3 * size / mss + 12)


def poisson(seed, share, sizes, weights, duration_s):
    """Datagrams of one packet at a link of 10 Mbit/s: when each comes to the queue, s, and its bytes."""
    generator = np.random.default_rng(seed)
    mean_s = float(np.dot(sizes, weights)) * 8 / 1e7
    count = generator.poisson(share / mean_s * duration_s)
    # Whole nanoseconds, which what is computed with them has, too.
    starts = np.sort(generator.integers(0, int(duration_s * 1e9), count)) * 1e-9
    return starts, generator.choice(sizes, size=count, p=weights)


def waited(seed, discipline, share, sizes, weights, duration_s=60.0):
    """Time in the queue that a run has, and that of Lindley's recursion, W' = max(0, W + S - T), for each packet, s."""
    starts, lengths = poisson(seed, share, sizes, weights, duration_s)
    flows = pl.DataFrame(
        {
            "flow_id": np.arange(len(starts)),
            "start_s": starts,
            "src": np.arange(len(starts)) % 500 + 1,
            "dst": np.arange(len(starts)) % 500 + 1001,
            "direction": "down",
            "protocol": "udp",
            "size_bytes": lengths - HEADER_BYTES,
            "rate_bps": 1e6,
            "packet_bytes": lengths,
        }
    )
    overrides = {
        "duration": f"{duration_s + 60}s",
        "network.rate": "10mbit",
        "network.access_rate": "8gbit",
        "network.buffer": 1_000_000,
    } | {f"network.{name}delay": "0ms" for name in ("", "access_", "exit_")}
    last_s = ran(overrides, discipline, flows)["last_data_s"].to_numpy()
    service_ns = lengths * 800
    found_s = last_s - starts - (service_ns + 2 * lengths) * 1e-9
    arrivals_ns = np.rint(starts * 1e9).astype(np.int64) + lengths
    order = np.argsort(arrivals_ns, kind="stable")
    expected, free = np.empty(len(starts)), 0
    for at in order:
        begin = max(free, arrivals_ns[at])
        expected[at] = (begin - arrivals_ns[at]) * 1e-9
        free = begin + service_ns[at]
    return found_s, expected


DETERMINISTIC = ([1000], [1.0])
TWO_SIZES = ([100, 1500], [0.7, 0.3])


@pytest.mark.parametrize(("sizes", "weights"), [DETERMINISTIC, TWO_SIZES], ids=["M/D/1", "M/G/1"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.85])
def test_each_wait_of_a_fifo_is_that_of_lindleys_recursion(share, sizes, weights):
    found, expected = waited(round(share * 100), "fifo", share, sizes, weights)
    assert np.abs(found - expected).max() <= NANOSECOND


@pytest.mark.parametrize("discipline", ["las", "srpt", "drr", "scfq", "sfq", "fq", "efd"])
def test_without_losses_and_with_equal_packets_the_mean_wait_is_that_of_a_fifo(discipline):
    """In any order the link is never idle while a packet waits, and a packet is never cut (Kleinrock 1965)."""
    found, expected = waited(7, discipline, 0.8, *DETERMINISTIC)
    assert abs(found.mean() - expected.mean()) <= NANOSECOND


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "weights"), [DETERMINISTIC, TWO_SIZES], ids=["M/D/1", "M/G/1"])
def test_the_mean_wait_is_that_of_pollaczek_and_khinchine(sizes, weights):
    """E W = lambda E S^2 / (2 (1 - rho)), within 3.3 standard errors of ten seeds: once in a thousand it is not."""
    share, service_s = 0.6, np.array(sizes) * 8 / 1e7
    arrivals_per_s = share / float(np.dot(service_s, weights))
    expected = arrivals_per_s * float(np.dot(service_s**2, weights)) / (2 * (1 - share))
    means = np.array([waited(seed, "fifo", share, sizes, weights, 20.0)[0].mean() for seed in range(10)])
    error = means.std(ddof=1) / math.sqrt(len(means))
    # Student's t with 9 degrees of freedom, 99.9 % of both sides.
    assert abs(means.mean() - expected) <= 4.78 * error


@pytest.mark.parametrize("seed", range(10))
def test_a_burst_through_a_shaper_leaves_at_its_rate(seed):
    """The last of n packets leaves the shaper n - 1 times L / r after the first, which a full bucket lets pass."""
    random = Random(seed)
    rate = random.choice([10, 50, 100]) * 10**6
    shaped = int(rate * random.choice([0.1, 0.4, 0.8]))
    packet, count = random.choice([200, 700, 1500]), random.randint(50, 500)
    overrides = {
        "duration": "300s",
        "network.rate": f"{rate}bit",
        "network.access_rate": "8gbit",
        "network.buffer": 100_000,
        "network.shaper.rate": f"{shaped}bit",
    }
    found = ran(overrides, "fifo", listed([datagram(0, 0.5, count, packet, rate)]))
    expected = 0.5 + 2 * packet * 1e-9 + 0.003 + (count - 1) * packet * 8 / shaped + packet * 8 / rate
    assert abs(found["last_data_s"][0] - expected) <= 2 * NANOSECOND
    assert found["delivered_bytes"][0] == count * (packet - HEADER_BYTES)


def water_filled(wanted, capacity):
    """Max-min fair shares: who wants less than an equal share has it, and the others share the rest."""
    shares, rest = dict.fromkeys(wanted, 0.0), capacity
    for left, flow in zip(range(len(wanted), 0, -1), sorted(wanted, key=wanted.__getitem__), strict=True):
        shares[flow] = min(wanted[flow], rest / left)
        rest -= shares[flow]
    return shares


FAIR = ("drr", "fq", "sfq", "fq_codel", "dqfq", "lfq")
"""Those that take from the longest queue, or bound each, when the buffer is full."""


@pytest.mark.parametrize("discipline", FAIR)
@pytest.mark.parametrize("seed", range(3))
def test_datagrams_above_the_rate_get_max_min_fair_shares(discipline, seed):
    random = Random(seed)
    # A packet is a quantum, so that no flow has more of its turn than another.
    duration_s, packet, capacity = 60.0, 1514, 10_000_000
    wanted = {flow: capacity * random.choice([0.03, 0.1, 0.2, 0.4, 1.0]) for flow in range(random.randint(3, 8))}
    rows = [
        datagram(flow, random.random() * 0.01, 1 << 24, packet, rate, str(flow + 1), str(flow + 101))
        for flow, rate in wanted.items()
    ]
    overrides = {
        "duration": f"{duration_s}s",
        "network.rate": f"{capacity}bit",
        "network.access_rate": "100mbit",
        "network.buffer": 1000,
    }
    found = ran(overrides, discipline, listed(rows))
    shares = water_filled(wanted, capacity)
    greedy = [flow for flow, share in shares.items() if share < wanted[flow]]
    for flow, share in shares.items():
        packets = found["delivered_bytes"][flow] / (packet - HEADER_BYTES)
        expected = share * duration_s / 8 / packet
        # At the end the buffer is full of those that are not satisfied, in equal parts; the others have at most a round
        # waiting. Until the last one begins, after 10 ms, there are fewer to share with.
        waiting = 1000 / len(greedy) if flow in greedy else len(wanted) + 1
        assert abs(packets - expected) <= waiting + 0.01 * capacity / 8 / packet, (flow, wanted)


def lost_of(discipline, starts_s, rates_bps, buffer, packet_bytes=1000, duration_s=60.0):
    """Packets that each flow loses at a link of 10 Mbit/s."""
    rows = [
        datagram(flow, start_s, 1 << 24, packet_bytes, rate, str(flow + 1), str(flow + 101))
        for flow, (start_s, rate) in enumerate(zip(starts_s, rates_bps, strict=True))
    ]
    overrides = {
        "duration": f"{duration_s}s",
        "network.rate": "10mbit",
        "network.access_rate": "100mbit",
        "network.buffer": buffer,
    }
    return ran(overrides, discipline, listed(rows))["drops"].to_list()


@pytest.mark.parametrize("seed", range(5))
def test_scfq_loses_the_packets_that_a_fifo_loses(seed):
    """With tail drop and packets of one length as many wait at any time in every work-conserving order."""
    random = Random(seed)
    rates = [random.choice([1e6, 4e6, 10e6]) for _ in range(random.randint(3, 6))] + [1e7]
    starts = [random.random() * 0.01 for _ in rates]
    buffer = random.choice([5, 50, 300])
    lost = lost_of("fifo", starts, rates, buffer)
    assert sum(lost) > 1000
    assert lost_of("scfq", starts, rates, buffer) == lost


@pytest.mark.parametrize("discipline", ["fifo", "scfq"])
def test_of_equal_senders_in_step_with_the_link_the_one_that_comes_after_a_departure_has_all(discipline):
    """A place is free once in the time of a packet, 0.8 ms: whose packets come next after that takes each of them.

    The link sends in step with the first sender, whose first packet found it idle: from then on its packets come at the
    nanosecond at which one leaves, and an arrival goes before a departure. The second sender's come 0.3 ms later and
    find the place (phase effects: Floyd and Jacobson 1992).
    """
    lost = lost_of(discipline, [0.0, 0.0003], [1e7, 1e7], 1000)
    assert lost[1] == 0
    # Until the buffer of 1000 packets is full nothing is lost: two come for one that leaves.
    assert abs(lost[0] - (60 * 1e7 / 8000 - 1000)) <= 2


def test_a_victim_from_the_longest_queue_makes_equal_senders_equal():
    lost = lost_of("drr", [0.0, 0.0003], [1e7, 1e7], 1000)
    assert abs(lost[0] - lost[1]) <= 1
