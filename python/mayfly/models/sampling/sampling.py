"""Flows caught by a lottery over their packets, as SIFT and X-Protect hold it: how many, and how many wrong ones.

Each packet is drawn with probability p; a flow is sampled once T_s of its packets were. Source: Chen 2012, 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Booleans, Floats, Numbers
from mayfly.errors import MayflyError
from mayfly.laws.sizes import QuantileLaw
from mayfly.laws.solving import MAX_PACKETS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def sampling_probability(
    packets: Numbers | Sequence[float] | float, probability: Floats | float, samples: float = 1
) -> Floats:
    """Probability that a flow is sampled.

    Parameters
    ----------
    packets : array_like
        Size of the flow, packets: whole numbers from 0.
    probability : array_like
        p, of a packet to be drawn, from 0 to 1; broadcast against ``packets``.
    samples : int
        T_s, from 1: packets drawn that make a flow sampled.

    Returns
    -------
    numpy.ndarray
        From 0 to 1, in the shape of both broadcast.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Chen 2012, Eq. 3.1: P_s(x) = 1 - sum over i < T_s of C(x, i) p^i (1-p)^(x-i), which is the regularised incomplete
    beta function I_p(T_s, x - T_s + 1): no sum, and no difference of numbers close to 1. Algorithm 2 asks for more than
    ``threshold`` samples where the equation asks for at least T_s; the equation stands here and in the disciplines.

    Examples
    --------
    >>> sampling_probability([10, 50, 100], 0.02).round(3).tolist()
    [0.183, 0.636, 0.867]
    >>> sampling_probability([49, 50], 1.0, samples=50).tolist()
    [0.0, 1.0]
    """
    from scipy.special import betainc

    packets, probability = np.asarray(packets, dtype=float), np.asarray(probability, dtype=float)
    whole = np.isfinite(packets) & (packets >= 0) & (packets == np.floor(packets))
    _checked("packets", packets, whole, "whole numbers from 0")
    _checked("probability", probability, (probability >= 0) & (probability <= 1), "from 0 to 1")
    _checked("samples", samples, samples >= 1 and samples == math.floor(samples), "a whole number from 1")
    enough = packets >= samples
    return np.where(enough, betainc(samples, np.where(enough, packets - samples, 0) + 1, probability), 0.0)


def packets_until_sampled(probability: Floats | float, samples: float = 1) -> Floats:
    """Packets that an endless flow sends on average until it is sampled.

    Parameters
    ----------
    probability : array_like
        p, of a packet to be drawn, from 0 to 1.
    samples : int
        T_s, from 1.

    Returns
    -------
    numpy.ndarray
        T_s / p, in the shape of ``probability``; infinite where nothing is drawn.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Chen 2012, 3.2: E(N) = T_s / p, the mean of the negative binomial law, which is geometric for T_s = 1. A threshold
    of T packets asks for p = T_s / T.

    Examples
    --------
    >>> packets_until_sampled([0.02, 0.2]).tolist(), float(packets_until_sampled(0.1, 5))
    ([50.0, 5.0], 50.0)
    """
    probability = np.asarray(probability, dtype=float)
    _checked("probability", probability, (probability >= 0) & (probability <= 1), "from 0 to 1")
    _checked("samples", samples, samples >= 1 and samples == math.floor(samples), "a whole number from 1")
    with np.errstate(divide="ignore"):
        return samples / probability


def _checked(name: str, value: ArrayLike, good: Booleans | bool, bound: str) -> None:
    if not np.all(good):
        wrong = np.broadcast_to(value, np.shape(good))[~np.asarray(good)]
        raise MayflyError(f"{name} = {wrong.flat[0]}: must be {bound}")


@dataclass(frozen=True)
class Misclassified:
    """Shares of all flows that a lottery puts on the wrong side of a threshold.

    Parameters
    ----------
    short_as_long : float
        Short and sampled: false positives.
    long_as_short : float
        Long and not sampled: false negatives.
    """

    short_as_long: float
    long_as_short: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.short_as_long + self.long_as_short


def misclassified(
    sizes: QuantileLaw | Sequence[float] | Floats,
    threshold: float,
    samples: float = 1,
    probability: float | None = None,
) -> Misclassified:
    """Share of the flows that are short and sampled, or long and not.

    Parameters
    ----------
    sizes : QuantileLaw or array_like, shape (n_sizes,)
        A law of :mod:`mayfly.laws.sizes`, whose real sizes are rounded up; or the share of the flows that have 1,
        2, 3, ... packets, which sum to 1.
    threshold : float
        T, packets, from 1: a flow of fewer is short, any other long.
    samples : int
        T_s, from 1: packets drawn that make a flow sampled.
    probability : float, optional
        p, of a packet to be drawn, from 0 to 1. T_s / T when not given: a flow then sends T packets on average until
        it is sampled.

    Returns
    -------
    Misclassified
        As shares of all flows.

    Raises
    ------
    MayflyError
        A value out of its bounds, shares that do not sum to 1, or a law that goes beyond 10^7 packets.

    Notes
    -----
    Chen 2012, 3.2, quotes 2.6 % for a bounded Pareto law from 1 to 10^6 with shape 1.1, T_s = 1 and T = 100. That is
    the law of whole sizes, P(k) ~ k^-2.1; real sizes rounded up give 4.4 %.

    Examples
    --------
    >>> from mayfly.laws.sizes import BoundedZipf
    >>> wrong = misclassified(BoundedZipf(1, 10**6, 1.1), threshold=100)
    >>> f"{wrong.short_as_long:.2%} + {wrong.long_as_short:.2%}"
    '2.56% + 0.06%'
    >>> misclassified(BoundedZipf(1, 10**6, 1.1), threshold=100, samples=100).total
    0.0
    """
    _checked("threshold", threshold, threshold >= 1, "at least 1 packet")
    if probability is None:
        _checked("samples", samples, samples <= threshold, f"at most threshold, {threshold:g} packets")
        probability = samples / threshold
    share = _shares(sizes)
    packets = np.arange(1, share.size + 1)
    sampled = sampling_probability(packets, probability, samples)
    short = packets < threshold
    return Misclassified(
        short_as_long=float(share[short] @ sampled[short]),
        long_as_short=float(share[~short] @ (1 - sampled[~short])),
    )


def _shares(sizes: QuantileLaw | Sequence[float] | Floats) -> Floats:
    """Shares of the flows that have 1, 2, 3, ... packets."""
    if isinstance(sizes, QuantileLaw):
        # A law without an end is cut where less is left than the sum can show.
        end = float(sizes.quantile(1 - 2**-50))
        _checked("largest size", end, end <= MAX_PACKETS, f"at most {MAX_PACKETS} packets")
        return np.diff(sizes.cdf(np.arange(math.ceil(end) + 1, dtype=float)))
    share = np.asarray(sizes, dtype=float)
    _checked("shape of sizes", str(share.shape), share.ndim == 1 and share.size > 0, "(n_sizes,), one share for each")
    _checked("share of flows", share, share >= 0, "at least 0")
    _checked("sum of shares", share.sum(), abs(share.sum() - 1) < 1e-9, "1")
    return share
