"""UDP flows of variable bit rate (Zhao 2004, II.C.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from mayfly.errors import MayflyError
from mayfly.fields import Rate, Seconds, as_written
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.datagrams import Datagrams, DatagramsSection

if TYPE_CHECKING:
    import polars as pl


class VbrSection(DatagramsSection):
    """UDP flows whose rate is drawn anew at random times (Zhao 2004, II.C.6)."""

    rate_min: Rate = Field(as_written("500kbit"), description="smallest rate, on the wire")
    rate_max: Rate = Field(as_written("1500kbit"), description="largest rate; each is drawn uniformly")
    period_min: Seconds = Field(as_written("1s"), gt=0, description="shortest time to the next rate")
    period_max: Seconds = Field(as_written("20s"), gt=0, description="longest time; each is drawn uniformly")

    @model_validator(mode="after")
    def _ascending(self) -> VbrSection:
        for name in ("rate", "period"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if low > high:
                raise ValueError(f"{name}_max = {high}: must be at least {name}_min, {low}")
        return self

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Vbr:
        """The source, between the hosts of ``ends``."""
        return Vbr(
            **self.shared(),
            ends=ends,
            rate_min_bps=self.rate_min,
            rate_max_bps=self.rate_max,
            period_min_s=self.period_min,
            period_max_s=self.period_max,
        )


@dataclass(frozen=True)
class Vbr(Datagrams):
    """UDP flows of variable bit rate: rate and time to the next rate are drawn anew, both uniformly.

    Parameters
    ----------
    rate_min_bps, rate_max_bps : float
        Bounds of the rate on the wire, bit/s; Zhao 2004, II.C.6: 0.5 and 1.5 Mb/s.
    period_min_s, period_max_s : float
        Bounds of the time between two rates, s; there 1 to 20 s and 0.1 to 1 s.

    Notes
    -----
    A packet under way to be sent keeps its time when the rate changes, so the mean rate is that of the rates drawn.
    """

    kind: ClassVar[str] = "vbr"

    rate_min_bps: float = 0.5e6
    rate_max_bps: float = 1.5e6
    period_min_s: float = 1.0
    period_max_s: float = 20.0

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> pl.Series:
        """A burst for each rate."""
        from mayfly.workload.bursts import MOST_BURSTS, of_flow

        low, high = self.rate_min_bps, self.rate_max_bps
        if not 1 <= low <= high <= 1e12:
            raise MayflyError(f"rate_min_bps = {low}, rate_max_bps = {high}: must be 1 <= min <= max <= 1e12 bit/s")
        short_s, long_s = self.period_min_s, self.period_max_s
        if not 0 < short_s <= long_s < math.inf:
            raise MayflyError(f"period_min_s = {short_s}, period_max_s = {long_s}: must be 0 < min <= max")
        if lasts_s / short_s > MOST_BURSTS / self.flows:
            raise MayflyError(f"period_min_s = {short_s}: must give at most {MOST_BURSTS} periods")
        drawn: list[tuple[float, int, float]] = []
        next_s = end_s = 0.0
        while next_s < lasts_s:
            end_s = min(end_s + short_s + (long_s - short_s) * rng.random(), lasts_s)
            gap_s = 8 * self.packet_bytes / (low + (high - low) * rng.random())
            # The first goes out at once, however short the run is.
            packets = max(math.ceil(round((end_s - next_s) / gap_s, 6)), not drawn)
            if packets > 0:
                drawn.append((next_s, packets, gap_s))
                next_s += packets * gap_s
            elif end_s >= lasts_s:
                break
        at_s, counts, gaps_s = (np.array(column) for column in zip(*drawn, strict=True))
        return of_flow(at_s, self.packet_bytes, counts, gaps_s)
