"""Short-term TCP flows: sources that open a connection now and then and send a few packets on each.

Source: Zhao 2004, II.C.4 (20 packets at five random instants of every 50 s) and IV.A.1 (10 packets every 10 s on
average: web mice).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Group, Seconds, Section, Whole, as_written
from mayfly.limits import DRAWN_BYTES, refuse_flows
from mayfly.workload.arrivals import exponential
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.common import FROM, GROUP, TO, TRANSPORT, USERS, bytes_of

if TYPE_CHECKING:
    import polars as pl

ARRIVALS = ("uniform", "exponential", "even")
"""Instants in a period: drawn uniformly; exponential gaps of that mean; equal gaps."""

MOST_FLOWS = 10_000_000
"""Largest number of connections of one set."""


class ShortTermSection(Section):
    """Short-term TCP flows: sources that open a connection now and then (Zhao 2004, II.C.4 and IV.A.1)."""

    sources: Whole = Field(1, ge=1, le=1_000_000, description="number of sources")
    size: Buffer = Field(as_written(10), description="payload of a connection: MSS, or bytes such as 10kB")
    times: Whole = Field(1, ge=1, le=1_000_000, description="connections of a source in a period")
    period: Seconds = Field(as_written("10s"), gt=0, description="length of a period")
    arrivals: Literal["uniform", "exponential", "even"] = Field(
        "exponential", description="instants drawn uniformly in each period, exponential gaps, or equal gaps"
    )
    start: Seconds = Field(0.0, description="begin of the first period")
    spread: Seconds = Field(0.0, description="exponential, even: the first connection comes a time below this later")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the sources are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> ShortTerm:
        """The source, between the hosts of ``ends``."""
        return ShortTerm(
            sources=self.sources,
            size_bytes=bytes_of(self.size, mss),
            times=self.times,
            period_s=self.period,
            arrivals=self.arrivals,
            start_s=self.start,
            spread_s=self.spread,
            users=self.users,
            group=self.group,
            ends=ends,
        )


@dataclass(frozen=True)
class ShortTerm:
    """Sources of short connections.

    Parameters
    ----------
    sources : int
        Number of sources, 1 to 10^6.
    size_bytes : int
        Payload of a connection, bytes, >= 1.
    times : int
        Connections of a source in a period, >= 1.
    period_s : float
        Length of a period, s, > 0.
    arrivals : str
        One of `ARRIVALS`.
    start_s : float
        Begin of the first period, s.
    spread_s : float
        ``exponential`` and ``even``: a source opens its first connection at a time uniform on [0, spread_s) after it.
    users : int, optional
        Users the sources are dealt to in turn; end points are drawn for every connection when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    """

    kind: ClassVar[str] = "short_term"

    sources: int
    size_bytes: int
    times: int = 1
    period_s: float = 10.0
    arrivals: str = "exponential"
    start_s: float = 0.0
    spread_s: float = 0.0
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None

    @property
    def flows(self) -> int:
        """Sources: what users are dealt."""
        return self.sources

    def check(self, duration_s: float) -> None:
        """Refuse what is out of bounds."""
        whole = (("sources", self.sources, 1_000_000), ("times", self.times, 1_000_000))
        for name, value, most in whole:
            if not 1 <= value <= most:
                raise MayflyError(f"short_term: {name} = {value}: must be from 1 to {most}")
        if self.size_bytes < 1:
            raise MayflyError(f"short_term: size_bytes = {self.size_bytes}: must be at least 1")
        if not 0 < self.period_s < math.inf:
            raise MayflyError(f"short_term: period_s = {self.period_s}: must be above 0 and finite")
        for name, time_s in (("start_s", self.start_s), ("spread_s", self.spread_s)):
            if not 0 <= time_s < math.inf:
                raise MayflyError(f"short_term: {name} = {time_s}: must be 0 or more and finite")
        if self.arrivals not in ARRIVALS:
            raise MayflyError(f"short_term: arrivals = {self.arrivals}: must be {' or '.join(ARRIVALS)}")
        periods = math.ceil(max(duration_s - self.start_s, 0) / self.period_s)
        if periods * self.times * self.sources > MOST_FLOWS:
            raise MayflyError(f"short_term: period_s = {self.period_s}: must give at most {MOST_FLOWS} connections")
        refuse_flows(periods * self.times * self.sources, DRAWN_BYTES, "short_term: connections")

    def instants(self, span_s: float, rng: np.random.Generator) -> Floats:
        """When one source opens connections, s since the start of the first period, below ``span_s``.

        Examples
        --------
        >>> even = ShortTerm(sources=1, size_bytes=1, times=2, period_s=10, arrivals="even")
        >>> even.instants(20.0, np.random.default_rng(1)).tolist()
        [0.0, 5.0, 10.0, 15.0]
        """
        periods = math.ceil(span_s / self.period_s)
        gap_s = self.period_s / self.times
        if self.arrivals == "uniform":
            at_s = (np.arange(periods)[:, None] + rng.random((periods, self.times))).ravel() * self.period_s
            return np.sort(at_s[at_s < span_s])
        first_s = self.spread_s * rng.random()
        if self.arrivals == "even":
            at_s = first_s + np.arange(periods * self.times, dtype=float) * gap_s
        else:
            gaps = [np.array([first_s])]
            while sum(part.sum() for part in gaps) < span_s:
                gaps.append(exponential(rng, periods * self.times + 8) * gap_s)
            at_s = np.cumsum(np.concatenate(gaps))
        return at_s[at_s < span_s]

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list.

        Parameters
        ----------
        duration_s : float
            Of the run, s.
        rng : numpy.random.Generator
            Stream of this set.

        Returns
        -------
        polars.DataFrame, shape (n_connections, ...)
            With ``dealt``, the number of the source.
        """
        import polars as pl

        self.check(duration_s)
        span_s = max(duration_s - self.start_s, 0.0)
        of = [self.instants(span_s, rng) for _ in range(self.sources)]
        return pl.DataFrame(
            {
                "start_s": self.start_s + np.concatenate(of),
                "dealt": np.repeat(np.arange(self.sources), [len(at_s) for at_s in of]),
            }
        ).with_columns(direction=pl.lit("down"), size_bytes=pl.lit(self.size_bytes, pl.Int64))
