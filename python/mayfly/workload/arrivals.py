"""Poisson arrivals, and the named random streams all workloads draw from.

One name per source of randomness: a run with other sizes keeps its arrival times, a longer run begins with the shorter
one. Only uniform numbers are taken from numpy, by inversion everything else, so that a seed means the same in every
version.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.limits import DRAWN_BYTES, refuse_flows

MAX_ARRIVALS = 100_000_000
"""Largest expected number of arrivals of one draw."""


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Open the random stream of run ``seed`` that these names call.

    Parameters
    ----------
    seed : int
        0 to 2^64 - 1.
    *names : str or int
        Source of randomness, and index where there are several: ``stream(1, "arrivals")``, ``stream(1, "cbr", 3)``.

    Returns
    -------
    numpy.random.Generator
        PCG64, seeded with the SHA-256 of seed and names: same arguments, same numbers, on every platform.

    Raises
    ------
    MayflyError
        The seed is outside its bounds.

    Examples
    --------
    >>> stream(1, "arrivals").random(3).round(6).tolist()
    [0.21356, 0.127396, 0.585294]
    >>> float(stream(1, "sizes").random()) == float(stream(1, "arrivals").random())
    False
    """
    check_seed(seed)
    # Lengths keep ("ab", "c") and ("a", "bc") apart.
    key = b"".join(b"%d:%s" % (len(part), part) for part in (str(part).encode() for part in (seed, *names)))
    digest = hashlib.sha256(key).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest, "big"))))


def check_seed(seed: int) -> None:
    """Refuses what is no seed of a run."""
    if not (isinstance(seed, int) and 0 <= seed < 2**64):
        raise MayflyError(f"seed = {seed}: must be a whole number from 0 to {2**64 - 1}")


def arrival_rate(load_bps: float, mean_wire_bytes: float) -> float:
    """Flows per second that offer ``load_bps``.

    Parameters
    ----------
    load_bps : float
        Offered load on the wire, headers included, bit/s, > 0.
    mean_wire_bytes : float
        Mean bytes of a flow on the wire, headers included, > 0.

    Returns
    -------
    float
        Arrival rate, 1/s.

    Raises
    ------
    MayflyError
        A value is not above 0 and finite.

    Examples
    --------
    >>> round(arrival_rate(8e6, 40 * 1500), 3)
    16.667
    """
    for name, value in (("load_bps", load_bps), ("mean_wire_bytes", mean_wire_bytes)):
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    return load_bps / (8 * mean_wire_bytes)


def poisson(rng: np.random.Generator, rate: float, duration_s: float) -> Floats:
    """Arrival times of a Poisson process.

    Parameters
    ----------
    rng : numpy.random.Generator
        Stream of the gaps.
    rate : float
        Arrivals per second, > 0.
    duration_s : float
        Length of the window, s, > 0; at most 10^8 arrivals may be expected in it.

    Returns
    -------
    numpy.ndarray, shape (n,), float64
        Ascending times in [0, duration_s), s.

    Raises
    ------
    MayflyError
        A value is outside its bounds.

    Examples
    --------
    >>> times = poisson(stream(1, "arrivals"), 16.7, 1000.0)
    >>> abs(len(times) - 16700) < 4 * 16700**0.5
    True
    >>> bool((poisson(stream(1, "arrivals"), 16.7, 10.0) == times[times < 10]).all())
    True
    """
    for name, value in (("rate", rate), ("duration_s", duration_s)):
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    expected = rate * duration_s
    refuse_many(expected)
    gaps = [exponential(rng, math.ceil(expected + 6 * math.sqrt(expected)) + 1)]
    times = np.cumsum(gaps[0])
    while times[-1] < expected:
        gaps.append(exponential(rng, len(times)))
        times = np.cumsum(np.concatenate(gaps))
    times /= rate
    return times[times < duration_s]


def refuse_many(expected: float, what: str = "rate x duration_s") -> None:
    """Refuses arrivals that are beyond any draw, or beyond the memory of the command.

    Parameters
    ----------
    expected : float
        Expected number.
    what : str
        How messages call it.

    Raises
    ------
    MayflyError
        They are too many.
    """
    if not expected <= MAX_ARRIVALS:
        raise MayflyError(f"{what} = {expected:.6g}: must be at most {MAX_ARRIVALS} arrivals")
    refuse_flows(expected, DRAWN_BYTES, what)


def exponential(rng: np.random.Generator, n: int) -> Floats:
    """``n`` exponential numbers of mean 1, one uniform number each."""
    return -np.log1p(-rng.random(n))


def choice(rng: np.random.Generator, among: int, n: int) -> Integers:
    """``n`` whole numbers uniform on 0..among-1, one uniform number each."""
    return np.floor(rng.random(n) * among).astype(np.int64)
