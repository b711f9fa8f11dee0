"""UDP flows that are on and off in turn (Zhao 2004, II.C.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.fields import Rate, Seconds
from mayfly.workload.arrivals import exponential
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.datagrams import Datagrams, DatagramsSection

if TYPE_CHECKING:
    import polars as pl


class OnOffSection(DatagramsSection):
    """UDP flows that are on, at a constant rate, and off in turn (Zhao 2004, II.C.3)."""

    rate: Rate = Field(description="while on, on the wire")
    on: Seconds = Field(gt=0, description="length of the periods that are on; the first one is")
    off: Seconds = Field(gt=0, description="length of the periods that are off")
    periods: Literal["fixed", "exponential"] = Field("fixed", description="of these lengths, or drawn with these means")

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> OnOff:
        """The source, between the hosts of ``ends``."""
        return OnOff(**self.shared(), ends=ends, rate_bps=self.rate, on_s=self.on, off_s=self.off, periods=self.periods)


@dataclass(frozen=True)
class OnOff(Datagrams):
    """UDP flows that send at a constant rate for a while and are silent for a while.

    Parameters
    ----------
    rate_bps : float
        Rate while on, on the wire, bit/s, from 1 to 10^12.
    on_s, off_s : float
        Length of the periods, s, > 0; a flow begins with one that is on.
    periods : str
        ``fixed``, or ``exponential`` with these means, drawn for every flow.
    """

    kind: ClassVar[str] = "on_off"

    rate_bps: float = 1e6
    on_s: float = 1.0
    off_s: float = 1.0
    periods: str = "fixed"

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> pl.Series:
        """A burst for each period that is on; at least a packet each.

        Examples
        --------
        >>> OnOff(rate_bps=8000, on_s=2, off_s=3).bursts(9.0, np.random.default_rng(1)).struct.unnest().rows()
        [(0, 1000000000, 2, 1000), (5000000000, 1000000000, 2, 1000)]
        """
        from mayfly.workload.bursts import MOST_BURSTS, of_flow

        for name, value in (("rate_bps", self.rate_bps), ("on_s", self.on_s), ("off_s", self.off_s)):
            if not 0 < value < math.inf:
                raise MayflyError(f"{name} = {value}: must be above 0 and finite")
        most = math.ceil(lasts_s / (self.on_s + self.off_s))
        if most > MOST_BURSTS / self.flows:
            raise MayflyError(f"on_s = {self.on_s}, off_s = {self.off_s}: must give at most {MOST_BURSTS} periods")
        if self.periods == "exponential":
            on_s, begin_s = self.drawn_periods(lasts_s, most, rng)
        elif self.periods == "fixed":
            begin_s = np.arange(most, dtype=float) * (self.on_s + self.off_s)
            on_s = np.full(most, self.on_s)
        else:
            raise MayflyError(f"periods = {self.periods}: must be fixed or exponential")
        gap_s = 8 * self.packet_bytes / self.rate_bps
        lengths = np.minimum(on_s, lasts_s - begin_s)
        # A packet due at the end of its period is not sent; rounding must not add it.
        packets = np.maximum(np.ceil(np.round(lengths / gap_s, 6)), 1).astype(np.int64)
        return of_flow(
            begin_s, self.packet_bytes, packets, np.full(most if self.periods == "fixed" else len(on_s), gap_s)
        )

    def drawn_periods(self, lasts_s: float, expected: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Lengths and beginnings of exponential periods that are on, until ``lasts_s``."""
        pairs = np.empty((0, 2))
        while pairs.sum() < lasts_s:
            more = exponential(rng, 2 * (expected + 8)).reshape(-1, 2) * (self.on_s, self.off_s)
            pairs = np.concatenate([pairs, more])
        ends = np.cumsum(pairs.sum(axis=1))
        begin_s = np.concatenate([[0.0], ends[:-1]])
        kept = begin_s < lasts_s
        return pairs[kept, 0], begin_s[kept]
