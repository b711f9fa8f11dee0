"""A trace of a link: its rate and added delay over time, or the instants at which packets may leave.

Steps: the rate is constant from one entry to the next; a rate of 0 is an outage. Opportunities (Mahimahi's format): at
each instant up to 1504 bytes leave at once, and what nobody waits for is lost.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mayfly.arrays import Floats, Integers

OPPORTUNITY_BYTES = 1504
"""What an instant of a Mahimahi trace may send, bytes: ``PACKET_SIZE`` of its source. Its manual says 1500."""

LEAST_OUTAGE_S = 0.2
"""Silence of a link that counts as an outage, s: several round trips of most paths."""

_SECOND = 1e9


@dataclass(frozen=True, eq=False)
class LinkTrace:
    """One direction of a link over time.

    Parameters
    ----------
    name : str
        What messages and summaries call it: the name of its file.
    at_ns : ndarray, shape (n,), int64
        Begin of each step, the first at 0; or instants, which do not fall.
    rate_bps : ndarray, shape (n,), int64
        Rate of each step, bit/s; empty for opportunities.
    added_delay_ns : ndarray, shape (n,), int64
        Propagation delay of each step beside that of the link, ns; empty for opportunities.
    period_ns : int
        Length of the trace, ns.
    """

    name: str
    at_ns: Integers
    rate_bps: Integers
    added_delay_ns: Integers
    period_ns: int
    _rates: dict[float, Floats] = field(default_factory=dict, repr=False)

    @property
    def has_opportunities(self) -> bool:
        """Whether packets leave at instants only."""
        return len(self.rate_bps) == 0

    @property
    def period_s(self) -> float:
        """Length of the trace, s."""
        return self.period_ns / _SECOND

    @cached_property
    def mean_bps(self) -> float:
        """Mean rate over one period, bit/s."""
        return self.bits(0.0, self.period_s) / self.period_s

    @cached_property
    def _before(self) -> tuple[Floats, Floats]:
        """Times (s) and what the trace has sent until then (bits): a polygon of steps, a staircase of instants."""
        if self.has_opportunities:
            sent = np.arange(1, len(self.at_ns) + 1, dtype=np.float64) * (8.0 * OPPORTUNITY_BYTES)
            return self.at_ns / _SECOND, sent
        ends = np.append(self.at_ns[1:], self.period_ns)
        each: Floats = np.append(0.0, self.rate_bps * ((ends - self.at_ns) / _SECOND))
        return np.append(self.at_ns, self.period_ns) / _SECOND, np.cumsum(each)

    def _until(self, time_s: Floats) -> Floats:
        """What the trace sends in one period until each time, bits."""
        times, sent = self._before
        if self.has_opportunities:
            return np.append(0.0, sent)[np.searchsorted(times, time_s - 1e-12, side="left")]
        return np.interp(time_s, times, sent)

    def bits(self, from_s: float, to_s: float, repeats: bool = True) -> float:
        """What the link could send between two times of a trace that begins anew, or holds its last rate.

        Parameters
        ----------
        from_s, to_s : float
            Since the begin of the trace, s.
        repeats : bool
            Whether it begins anew.

        Returns
        -------
        float
            Bits.

        Examples
        --------
        >>> from mayfly.link_trace.trace import of_steps
        >>> trace = of_steps("example", [0.0, 1.0], [8e6, 0.0], 2.0)
        >>> trace.bits(0.5, 3.0), trace.mean_bps
        (12000000.0, 4000000.0)
        """

        def until(time_s: float) -> float:
            whole, rest = divmod(time_s, self.period_s)
            all_of_it = float(self._until(np.array([self.period_s]))[0])
            if not repeats:
                beyond = max(time_s - self.period_s, 0.0)
                return float(self._until(np.array([min(time_s, self.period_s)]))[0]) + beyond * float(self.rate_bps[-1])
            return whole * all_of_it + float(self._until(np.array([rest]))[0])

        return until(to_s) - until(from_s)

    def rates(self, bin_s: float) -> Floats:
        """Mean rate of each interval of one period, bit/s.

        Parameters
        ----------
        bin_s : float
            Length of an interval, s; the last one, when it is shorter, is left out unless it is the only one.

        Returns
        -------
        ndarray, shape (n_intervals,)
        """
        if bin_s not in self._rates:
            # A period of 60 s has 600 intervals of 0.1 s, whatever the rounding of the quotient.
            edges = np.arange(int(self.period_s / bin_s + 1e-9) + 1, dtype=np.float64) * bin_s
            if len(edges) < 2:
                edges = np.array([0.0, self.period_s])
            self._rates[bin_s] = np.diff(self._until(edges)) / np.diff(edges)
        return self._rates[bin_s]

    @cached_property
    def outages(self) -> list[tuple[float, float]]:
        """Begin and length of each silence of :data:`LEAST_OUTAGE_S` or more within one period, s."""
        if self.has_opportunities:
            times = np.concatenate(([0.0], self.at_ns / _SECOND, [self.period_s]))
            gaps = np.diff(times)
            return [(float(times[row]), float(gaps[row])) for row in np.flatnonzero(gaps >= LEAST_OUTAGE_S)]
        found, begin = [], None
        ends = np.append(self.at_ns[1:], self.period_ns)
        for at, end, rate in zip(self.at_ns.tolist(), ends.tolist(), self.rate_bps.tolist(), strict=True):
            if rate == 0:
                begin = at if begin is None else begin
                last = end
            elif begin is not None:
                found.append((begin / _SECOND, (last - begin) / _SECOND))
                begin = None
        if begin is not None:
            found.append((begin / _SECOND, (last - begin) / _SECOND))
        return [one for one in found if one[1] >= LEAST_OUTAGE_S - 1e-9]

    def percentile_bps(self, share: float, bin_s: float = 1.0) -> float:
        """Rate that a share of all intervals stays below, bit/s."""
        return float(np.quantile(self.rates(bin_s), share))

    @property
    def document(self) -> dict[str, Any]:
        """What a summary says of it."""
        return {
            "file": self.name,
            "format": "opportunities" if self.has_opportunities else "steps",
            "entries": len(self.at_ns),
            "period_s": self.period_s,
            "mean_bps": self.mean_bps,
            "p5_bps": self.percentile_bps(0.05),
            "median_bps": self.percentile_bps(0.5),
            "p95_bps": self.percentile_bps(0.95),
            "outages": len(self.outages),
            "outages_s": sum(length for _, length in self.outages),
            "longest_outage_s": max((length for _, length in self.outages), default=0.0),
            "added_delay_max_s": float(self.added_delay_ns.max() / _SECOND) if len(self.added_delay_ns) else 0.0,
        }

    def native(self, offset_s: float = 0.0, repeats: bool = True) -> dict[str, Any]:
        """As the native module takes it."""
        return {
            "at_ns": self.at_ns.tolist(),
            "rate_bps": self.rate_bps.tolist(),
            "added_delay_ns": self.added_delay_ns.tolist(),
            "bytes": OPPORTUNITY_BYTES if self.has_opportunities else None,
            "period_ns": self.period_ns if repeats else None,
            "offset_ns": round(offset_s * 1e9),
        }


def of_steps(
    name: str,
    at_s: "Floats | list[float]",
    rate_bps: "Floats | list[float]",
    period_s: float,
    added_delay_s: "Floats | list[float] | None" = None,
) -> LinkTrace:
    """A trace of steps.

    Parameters
    ----------
    name : str
        Of the trace.
    at_s : array_like, shape (n,)
        Begin of each step, the first at 0, s.
    rate_bps : array_like, shape (n,)
        Rate of each, bit/s.
    period_s : float
        End of the last step, s.
    added_delay_s : array_like, shape (n,), optional
        Propagation delay beside that of the link, s; none when not given.

    Returns
    -------
    LinkTrace
    """
    at = np.round(np.asarray(at_s, dtype=float) * 1e9).astype(np.int64)
    rates = np.round(np.asarray(rate_bps, dtype=float)).astype(np.int64)
    delays = np.zeros(len(at)) if added_delay_s is None else np.asarray(added_delay_s, dtype=float)
    return LinkTrace(name, at, rates, np.round(delays * 1e9).astype(np.int64), round(period_s * 1e9))
