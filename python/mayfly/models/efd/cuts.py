"""Flows cut by chance into sub-flows of a given law: the second of two ways to guess their sub-flows under EFD.

Each sub-flow of a flow is drawn independently from a measured law, the last takes what is left. Source: Chen 2012,
5.3.2.2, where flows are cut by random numbers; here the means of all such cuts follow from the renewal equation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.models.efd.subflow_law import FlowPackets, measured_shares

DIRECT = 1e9
"""Products up to which the recursions go term by term: a second or so."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Splitting of flows by independent draws.

    Parameters
    ----------
    shares : numpy.ndarray, shape (largest,)
        Of the drawn sub-flows of 1, 2, ... packets; they sum to 1.
    """

    shares: Floats

    @classmethod
    def of_subflows(cls, packets: Floats) -> Cuts:
        """Take the law of measured sub-flows, sizes in packets, in any order.

        Examples
        --------
        >>> Cuts.of_subflows([1, 1, 2]).shares.round(3).tolist()
        [0.667, 0.333]
        """
        return cls(measured_shares(packets))

    def reached(self, packets: int) -> Floats:
        """Probability that a sub-flow ends with each packet of a long flow.

        Parameters
        ----------
        packets : int
            Of the flow.

        Returns
        -------
        numpy.ndarray, shape (packets + 1,)
            u_0 = 1 for its beginning, u_1 for its first packet, ...

        Notes
        -----
        The renewal equation u_n = sum of p_k u_(n-k) over k = 1, ..., n.

        Examples
        --------
        >>> Cuts(np.array([0.5, 0.5])).reached(3).tolist()
        [1.0, 0.5, 0.75, 0.625]
        """
        return self._recursion(np.r_[1.0, np.zeros(packets)])

    def _recursion(self, drive: Floats) -> Floats:
        """v_n = drive_n + sum of p_k v_(n-k).

        Notes
        -----
        Term by term where that is fast. Otherwise v is drive times the power series 1 / (1 - p(z)), the terms of which
        double at each step of Newton's iteration g -> 2 g - (1 - p) g^2; transforms leave errors of 1e-12 of
        the largest.
        """
        from scipy.signal import fftconvolve, lfilter

        kernel = np.r_[1.0, -self.shares[: len(drive)]]
        if len(drive) * len(kernel) <= DIRECT:
            return lfilter([1.0], kernel, drive)
        inverse = np.ones(1)
        while len(inverse) < len(drive):
            terms = min(2 * len(inverse), len(drive))
            square = fftconvolve(inverse, inverse)[:terms]
            doubled = -fftconvolve(kernel[:terms], square)[:terms]
            doubled[: len(inverse)] += 2 * inverse
            inverse = doubled
        return fftconvolve(inverse, drive)[: len(drive)]

    @property
    def _at_least(self) -> Floats:
        """P(K >= k) for k = 1, ..., largest."""
        return np.cumsum(self.shares[::-1])[::-1]

    def counts(self, flows: FlowPackets) -> Floats:
        """Expected sub-flows of 1, 2, ... packets of a flow, shape (largest,).

        Parameters
        ----------
        flows : FlowPackets
            Sizes.

        Returns
        -------
        numpy.ndarray
            Means over the law of sizes and over all draws.

        Notes
        -----
        A sub-flow of k packets begins behind packet n of a flow of more than n + k packets with probability u_n p_k,
        and of one of n + k packets with probability u_n P(K >= k).

        Examples
        --------
        >>> Cuts(np.array([0.5, 0.5])).counts(FlowPackets(np.array([0.0, 0.0, 1.0]))).tolist()
        [1.5, 0.75]
        """
        from scipy.signal import correlate

        largest = len(flows.shares)
        begun = self.reached(largest - 1)
        drawn = np.r_[self.shares, np.zeros(max(largest - len(self.shares), 0))][:largest]
        at_least = np.r_[self._at_least, np.zeros(largest)][:largest]
        # Sums over n of u_n P(size > n + k) and u_n P(size = n + k), for k = 1, 2, ...
        longer = correlate(flows.beyond[1:], begun, "full")[largest - 1 :]
        ending = correlate(flows.shares, begun, "full")[largest - 1 :]
        return np.trim_zeros(np.maximum(drawn * longer + at_least * ending, 0.0), "b")

    def totals(self, cost: Floats) -> Floats:
        """Expected sum of a cost over the sub-flows of a flow; see :class:`~mayfly.models.efd.subflow_law.Splitting`.

        Notes
        -----
        v_n = P(K >= n) cost_n + sum of p_k (cost_k + v_(n-k)) over k < n: what is left of the flow is a flow again.

        Examples
        --------
        >>> Cuts(np.array([0.5, 0.5])).totals(np.array([0.0, 1.0, 1.0, 1.0])).tolist()
        [0.0, 1.0, 1.5, 2.25]
        """
        drawn = np.r_[0.0, self.shares, np.zeros(len(cost))][: len(cost)]
        at_least = np.r_[1.0, self._at_least, np.zeros(len(cost))][: len(cost)]
        before = np.cumsum(drawn * cost) - drawn * cost
        drive = at_least * cost + before
        drive[0] = 0.0
        return self._recursion(drive)
