"""TCP transfers of a law as arrays: when they start, and how large they are.

Nothing here needs a table or a scenario: a plain run draws its transfers without the libraries for these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mayfly.arrays import Floats, Integers, Numbers
from mayfly.errors import MayflyError
from mayfly.laws.sizes import SizeLaw
from mayfly.workload.arrivals import arrival_rate, stream
from mayfly.workload.hosts import Hosts
from mayfly.workload.renewal import Arrivals, Poisson, Recorded

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
    transport : str, optional
        Name of the part's transport; that of all transfers when not given.
    """

    share: float
    up_share: float = 0.0
    rtt_s: float | None = None
    group: str | None = None
    transport: str | None = None


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
    transport : str, optional
        Name of their transport; that of the run when not given.
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
    transport: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    arrivals: Arrivals = field(default_factory=Poisson)
    parts: tuple[Part, ...] = ()


def offering(transfers: Transfers, duration_s: float, seed: int, wire: int) -> tuple[Floats, Integers]:
    """Starts and sizes of transfers that offer a load.

    Parameters
    ----------
    transfers : Transfers
        The laws; their arrivals have a rate.
    duration_s : float
        They start in [0, duration_s), s.
    seed : int
        Seed of the run.
    wire : int
        Length of a full packet, bytes.

    Returns
    -------
    starts, sizes : numpy.ndarray, shape (n_flows,)
        Ascending times, s; whole packets.

    Raises
    ------
    MayflyError
        No load, or sizes without a mean to make a load of.
    """
    law, arrivals, load_bps = transfers.law, transfers.arrivals, transfers.load_bps
    assert not isinstance(arrivals, Recorded)
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


def whole(sizes: Numbers) -> Integers:
    """Sizes rounded up to whole packets, at least one."""
    rounded: Integers = np.ceil(np.clip(sizes, 1, LARGEST_BYTES)).astype(np.int64)
    return rounded


def up_to(law: SizeLaw, packets: float, expected: float, rng: np.random.Generator) -> Integers:
    """Draw sizes until their sum comes nearest to ``packets``; at least one."""
    sizes = whole(law.sample(rng, math.ceil(expected) + 1))
    while sizes.sum() < packets:
        sizes = np.concatenate([sizes, whole(law.sample(rng, len(sizes)))])
    return sizes[: max(1, np.abs(np.cumsum(sizes) - packets).argmin() + 1)]


def payload_bytes(sizes: Integers, mss: int) -> Integers:
    """Sizes in bytes; a power law without bound may draw more packets than a transfer can have that ends."""
    found: Integers = np.minimum(sizes, LARGEST_BYTES // mss) * mss
    return found
