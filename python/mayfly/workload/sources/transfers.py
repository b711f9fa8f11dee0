"""TCP transfers with sizes of a law that arrive at random, or at the times of a file.

Arrival times, sizes, directions and parts each have a stream of their own; those of Poisson arrivals are the same under
every law of sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.sizes import SizeLaw
from mayfly.workload.arrivals import arrival_rate, stream
from mayfly.workload.ends import Hosts
from mayfly.workload.renewal import Arrivals, Poisson

LARGEST_BYTES = 2**40 - 1
"""Largest size of a transfer that ends."""


@dataclass(frozen=True)
class Part:
    """Transfers that differ from the others in direction or path, as those of an intranet do (Chen 2012, 9.3.1).

    Parameters
    ----------
    share : float
        Probability that a transfer belongs to the part, hence its share of the load too; 0 to 1.
    up_share : float
        Probability that a transfer of the part goes up.
    rtt_s : float, optional
        Round-trip time without queueing, s; that of the path when not given.
    group : str, optional
        Name of the part's group; that of all transfers when not given.
    """

    share: float
    up_share: float = 0.0
    rtt_s: float | None = None
    group: str | None = None


@dataclass(frozen=True)
class Transfers:
    """TCP transfers.

    Parameters
    ----------
    law : SizeLaw
        Sizes in packets; rounded up where the law is continuous.
    load_bps : float, optional
        Offered load on the wire, headers included, bit/s, > 0; None with arrivals that set the load themselves.
    up_share : float
        Probability that a transfer goes up, from a receiver to a sender; 0 to 1.
    exact_load : bool
        Keep as many transfers as come nearest to ``load_bps`` x duration, and stretch or squeeze their arrival times to
        fill the duration. Off, a draw of heavy-tailed sizes offers several percent more or less than asked.
    users : int, optional
        Users each transfer is drawn from; its end points are drawn apart from each other when not given.
    group : str, optional
        Name of the transfers' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    arrivals : Poisson, WeibullGaps, Recorded
        When they start; :mod:`mayfly.workload.renewal`.
    parts : tuple of Part
        Parts with a direction and a path of their own; ``up_share`` is that of what they leave.
    """

    law: SizeLaw
    load_bps: float | None
    up_share: float = 0.0
    exact_load: bool = False
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    arrivals: Arrivals = field(default_factory=Poisson)
    parts: tuple[Part, ...] = ()


def transfer_flows(transfers: Transfers, duration_s: float, seed: int, mss: int, header_bytes: int) -> pl.DataFrame:
    """Draw start, size and direction of transfers.

    Parameters
    ----------
    transfers : Transfers
        The laws.
    duration_s : float
        They start in [0, duration_s), s.
    seed : int
        Seed of the run.
    mss, header_bytes : int
        Payload of a full packet and header of every packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 3)
        ``start_s, size_bytes, direction``; with parts also ``rtt_s`` and ``group``.

    Raises
    ------
    MayflyError
        A value is outside its bounds, or the law has no mean to make a load of.
    """
    for up_share in (transfers.up_share, *(part.up_share for part in transfers.parts)):
        if not 0 <= up_share <= 1:
            raise MayflyError(f"up_share = {up_share}: must be from 0 to 1")
    law, arrivals = transfers.law, transfers.arrivals
    if arrivals.has_rate:
        starts, sizes = _offering(transfers, duration_s, seed, mss + header_bytes)
    else:
        for name, given in (("load", transfers.load_bps), ("exact_load", transfers.exact_load or None)):
            if given is not None:
                raise MayflyError(f"{name} = {given}: must be left out where a file has the arrivals")
        starts = arrivals.starts(seed, None, duration_s)
        sizes = whole(law.sample(stream(seed, "sizes"), len(starts)))
    # A power law without bound may draw more than a transfer can have that ends.
    size_bytes = np.minimum(sizes, LARGEST_BYTES // mss) * mss
    rows = pl.DataFrame({"start_s": starts, "size_bytes": size_bytes})
    up_share: float | Floats = transfers.up_share
    if transfers.parts:
        part = _drawn_parts(transfers.parts, seed, len(starts))
        rest = Part(0.0, transfers.up_share)
        of = [*transfers.parts, rest]
        up_share = np.array([one.up_share for one in of])[part]
        rows = rows.with_columns(
            rtt_s=pl.Series([one.rtt_s for one in of], dtype=pl.Float64).gather(part),
            group=pl.Series([one.group or transfers.group for one in of], dtype=pl.String).gather(part),
        )
    up = stream(seed, "directions").random(len(starts)) < up_share
    return rows.with_columns(direction=pl.Series(np.where(up, "up", "down")))


def _drawn_parts(parts: tuple[Part, ...], seed: int, n: int) -> Floats:
    """Place of the part of each of ``n`` transfers; ``len(parts)`` where it belongs to none."""
    shares = [part.share for part in parts]
    if not (min(shares) >= 0 and sum(shares) <= 1 + 1e-9):
        raise MayflyError(f"share = {', '.join(map(str, shares))}: must be at least 0 and together at most 1")
    edges = np.cumsum(shares)
    # Shares of 0.45 + 0.45 + 0.09 + 0.01 are all there is, whatever their binary fractions sum up to.
    edges[-1] = 1.0 if abs(edges[-1] - 1) <= 1e-9 else edges[-1]
    return np.searchsorted(edges, stream(seed, "parts").random(n), side="right")


def _offering(transfers: Transfers, duration_s: float, seed: int, wire: int) -> tuple[Floats, Floats]:
    """Starts and sizes of transfers that offer the load; ``wire`` is the length of a full packet, bytes."""
    law, arrivals, load_bps = transfers.law, transfers.arrivals, transfers.load_bps
    if load_bps is None:
        raise MayflyError("load: must be given, unless a file has the arrivals")
    if not math.isfinite(law.mean_packets()):
        raise MayflyError(f"load = {load_bps}: the sizes have no finite mean: must have a tail exponent above 1")
    rate = arrival_rate(load_bps, law.mean_packets() * wire)
    if not transfers.exact_load:
        starts = arrivals.starts(seed, rate, duration_s)
        return starts, whole(law.sample(stream(seed, "sizes"), len(starts)))
    sizes = up_to(law, load_bps * duration_s / 8 / wire, rate * duration_s, stream(seed, "sizes"))
    # Given n arrivals, those of a Poisson process are n uniform numbers in order: n gaps over the sum of n + 1.
    gaps = np.cumsum(arrivals.gaps(seed, len(sizes) + 1))
    return gaps[:-1] / gaps[-1] * duration_s, sizes


def whole(sizes: Floats) -> Floats:
    """Sizes rounded up to whole packets, at least one."""
    return np.ceil(np.clip(sizes, 1, LARGEST_BYTES)).astype(np.int64)


def up_to(law: SizeLaw, packets: float, expected: float, rng: np.random.Generator) -> Floats:
    """Draw sizes until their sum comes nearest to ``packets``; at least one."""
    sizes = whole(law.sample(rng, math.ceil(expected) + 1))
    while sizes.sum() < packets:
        sizes = np.concatenate([sizes, whole(law.sample(rng, len(sizes)))])
    return sizes[: max(1, np.abs(np.cumsum(sizes) - packets).argmin() + 1)]
