"""Flow lists drawn from a workload file.

Principle: arrivals of a class are a renewal process in equilibrium (Cox 1962) in a time that runs as fast as the class
is active, so that each period gets its share. Sizes, times, ends and openers have a random stream each; another load
moves arrivals and leaves sizes as they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.limits import DRAWN_BYTES, refuse_flows
from mayfly.profile.workload.laws import cov
from mayfly.profile.workload.schema import Class, Workload
from mayfly.workload.arrivals import MAX_ARRIVALS, stream
from mayfly.workload.lists import flow_list
from mayfly.workload.mix import check_packet

MSS, HEADER = 1460, 40

MOST_AT_ONCE = 1_000_000
"""Arrivals beyond a hundred times their mean number: who has more has a law whose gaps are next to nothing beside their
mean."""


def draw(
    workload: Workload,
    *,
    duration_s: float,
    seed: int = 1,
    load_bps: float | None = None,
    mss: int = MSS,
    header_bytes: int = HEADER,
) -> pl.DataFrame:
    """Draw a flow list.

    Parameters
    ----------
    workload : Workload
        What to draw from.
    duration_s : float
        Flows start in [0, duration_s), s, above 0. The periods of the workload begin again when they are over.
    seed : int
        Of all random streams, 0 to 2^64 - 1.
    load_bps : float, optional
        What the busier direction is to offer on average, headers included, bit/s: all rates of arrival are multiplied
        by one factor. As measured when not given.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 14)
        As :func:`mayfly.workload.lists.flow_list` returns it; ``group`` is the class.

    Raises
    ------
    MayflyError
        A value is outside its bounds, or no flow arrives.
    """
    if not 0 < duration_s < math.inf:
        raise MayflyError(f"duration = {duration_s} s: must be above 0 and finite")
    check_packet(mss, header_bytes)
    factor = scale(workload, load_bps, mss, header_bytes)
    expected = sum(mean_flows(one, workload, duration_s, factor) for one in workload.class_)
    refuse_flows(expected, DRAWN_BYTES, f"duration = {duration_s:g} s")
    parts = [_flows(one, workload, duration_s, seed, factor) for one in workload.class_]
    parts = [part for part in parts if part.height]
    if not parts:
        raise MayflyError(f"duration = {duration_s} s: no flow arrives in it: must be longer")
    flows = pl.concat(parts, how="diagonal").sort("start_s", maintain_order=True)
    return flow_list(flows, mss=mss, source="workload")


def scale(workload: Workload, load_bps: float | None, mss: int = MSS, header_bytes: int = HEADER) -> float:
    """Factor on all rates of arrival for a load of the busier direction, as :func:`draw` takes it."""
    if load_bps is None:
        return 1.0
    if not 0 < load_bps < math.inf:
        raise MayflyError(f"load = {load_bps} bit/s: must be above 0 and finite")
    return load_bps / max(expected_bps(workload, mss, header_bytes).values())


def expected_bps(workload: Workload, mss: int = MSS, header_bytes: int = HEADER) -> dict[str, float]:
    """Load that the laws of a workload offer in each direction, data packets with headers, bit/s."""
    found = {"down": 0.0, "up": 0.0}
    for one in workload.class_:
        found[one.direction] += 8 * one.rate * mean_wire_bytes(one, mss, header_bytes)
    return found


def mean_wire_bytes(one: Class, mss: int = MSS, header_bytes: int = HEADER) -> float:
    """Mean of the bytes of a flow on the wire, headers included.

    Notes
    -----
    A TCP flow of X bytes takes ceil(X / MSS) packets, of mean sum over j >= 0 of P(X > j MSS).
    """
    if one.datagrams is not None:
        size, packet, weights = (
            np.asarray(getattr(one.datagrams, name)) for name in ("size_bytes", "packet_bytes", "weights")
        )
        return float(np.average(np.ceil(size / (packet - UDP_HEADER_BYTES)) * packet, weights=weights))
    assert one.size is not None, one.key  # as Class holds
    largest = float(one.size.quantile(np.array([1.0]))[0])
    packets = float(one.size.sf(mss * np.arange(math.ceil(largest / mss) + 1)).sum())
    return one.size.mean() + header_bytes * packets


def mean_flows(one: Class, workload: Workload, duration_s: float, factor: float) -> float:
    """Mean number of flows in [0, duration_s)."""
    return one.rate * factor * float(np.interp(duration_s, *clock(one, workload, duration_s)))


def expected_flows(one: Class, workload: Workload, duration_s: float, factor: float) -> tuple[float, float]:
    """Mean number of flows in [0, duration_s) and its deviation, which is cov of the gaps x sqrt(mean) for many."""
    mean = mean_flows(one, workload, duration_s, factor)
    return mean, cov(one.gap) * math.sqrt(mean)


def clock(one: Class, workload: Workload, duration_s: float) -> tuple[Floats, Floats]:
    """The time of arrivals against time: both at the ends of the periods, which recur up to the duration."""
    lengths = np.array([period.end_s - period.start_s for period in workload.period])
    rounds = math.ceil(duration_s / workload.duration_s)
    if rounds * len(lengths) > MAX_ARRIVALS:
        raise MayflyError(f"duration = {duration_s} s: more than {MAX_ARRIVALS} periods: must be shorter")
    lengths = np.tile(lengths, rounds)
    runs = np.cumsum(lengths * np.tile(one.activity, rounds))
    return np.concatenate([[0.0], np.cumsum(lengths)]), np.concatenate([[0.0], runs])


def starts(one: Class, workload: Workload, duration_s: float, seed: int, factor: float) -> Floats:
    """Ascending times of arrival in [0, duration_s), s."""
    times, runs = clock(one, workload, duration_s)
    end = float(np.interp(duration_s, times, runs))
    rate = one.rate * factor
    expected = rate * end
    if expected > MAX_ARRIVALS:
        raise MayflyError(f"class {' '.join(one.key)}: {expected:.6g} arrivals: must be at most {MAX_ARRIVALS}")
    rng = stream(seed, "workload", *one.key, "arrivals")
    mean = one.gap.mean()
    gaps = [one.gap.residual(1 - rng.random(1)) / mean]
    reached = gaps[0]
    while reached[-1] < expected:
        more = one.gap.quantile(1 - rng.random(max(len(reached), math.ceil(1.1 * expected), 16)))
        gaps.append(more / mean)
        # All gaps are added up anew, so that a longer run begins with the shorter one to the last digit.
        reached = np.cumsum(np.concatenate(gaps))
        if len(reached) > MOST_AT_ONCE + 100 * expected:
            raise MayflyError(f"class {' '.join(one.key)}: gap: too many arrivals at one time")
    found = np.interp(reached[reached < expected] / rate, runs, times)
    return found[found < duration_s]


def _flows(one: Class, workload: Workload, duration_s: float, seed: int, factor: float) -> pl.DataFrame:
    begun = starts(one, workload, duration_s, seed, factor)
    n = len(begun)
    columns: dict[str, Any] = {"start_s": begun, "direction": pl.repeat(one.direction, n, eager=True)}
    columns["protocol"] = pl.repeat(one.protocol, n, eager=True)

    def uniform(name: str) -> Floats:
        return 1 - stream(seed, "workload", *one.key, name).random(n)

    pairs = _weighted(one.ends.weights, uniform("ends"))
    for name in ("src", "dst"):
        columns[name] = pl.Series(getattr(one.ends, name), dtype=pl.String).gather(pairs)
    by_sender = uniform("openers") <= one.opened_by_sender
    columns["opened_by"] = pl.Series(["receiver", "sender"]).gather(by_sender.astype(np.int64))
    columns["group"] = pl.repeat(one.name, n, eager=True)
    if one.datagrams is not None:
        rows = _weighted(one.datagrams.weights, uniform("sizes"))
        for name in ("size_bytes", "packet_bytes", "rate_bps"):
            columns[name] = np.asarray(getattr(one.datagrams, name))[rows]
        del columns["opened_by"]
    else:
        assert one.size is not None, one.key  # as Class holds
        columns["size_bytes"] = np.maximum(np.rint(one.size.quantile(uniform("sizes"))), 1).astype(np.int64)
        if one.rtt is not None:
            columns["rtt_s"] = one.rtt.quantile(uniform("rtts"))
    return pl.DataFrame(columns)


def _weighted(weights: list[float], uniform: Floats) -> Integers:
    """Rows by weight, of uniform numbers in (0, 1]."""
    shares = np.cumsum(weights) / np.sum(weights)
    shares[-1] = 1.0
    return np.searchsorted(shares, uniform, side="left")
