"""Cloud gaming: videos at a constant frame rate and bit rate (``crates/netsim/src/app/gaming.rs``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from mayfly.errors import MayflyError
from mayfly.fields import Group, Rate, Seconds, Section, Whole, as_written
from mayfly.workload import applications
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.common import DIRECTION, FROM, GROUP, PLACE, TO, USERS, Direction, Place
from mayfly.workload.sources.datagrams import places

if TYPE_CHECKING:
    import polars as pl


class GamingSection(Section):
    """Videos of games that run elsewhere, at a constant frame rate, whatever the network does to them."""

    flows: Whole = Field(1, ge=1, le=100_000, description="number of such streams")
    rate: Rate = Field(as_written("15mbit"), description="mean rate of each, without IP and UDP headers")
    fps: Whole = Field(60, ge=1, le=1000, description="frames per second")
    variation: float = Field(0.15, ge=0, le=0.5, description="scale of the Laplace law of frame sizes, over the mean")
    pace: float = Field(0.5, ge=0, le=1, description="packets of a frame leave over this share of its time; 0: at once")
    start: Seconds = Field(0.0, description="when the first stream begins")
    stop: Seconds | None = Field(None, description="from then on none is sent; end of the run when absent")
    spread: Seconds = Field(0.0, description="each begins and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    users: int | None = Field(None, strict=True, ge=1, le=100_000, description=f"whom they are dealt to, {USERS}")
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Gaming:
        """The source, between the hosts of ``ends``."""
        return Gaming(
            flows=self.flows,
            rate_bps=self.rate,
            fps=self.fps,
            variation=self.variation,
            pace=self.pace,
            start_s=self.start,
            stop_s=self.stop,
            spread_s=self.spread,
            place=self.place,
            users=self.users,
            group=self.group,
            ends=ends,
            direction=self.direction,
        )


@dataclass(frozen=True)
class Gaming:
    """Streams of videos.

    Parameters
    ----------
    flows : int
        Number of streams.
    rate_bps : int
        Mean rate of each, without IP and UDP headers, bit/s.
    fps : int
        Frames per second.
    variation : float
        Scale of the law of frame sizes, over the mean.
    pace : float
        Share of the time between two frames over which the packets of one leave.
    start_s, stop_s : float
        When the first begins, and the time from which none is sent, s; end of the run when not given.
    spread_s, place : float, str
        Each begins, and stops, later by its delay of :func:`mayfly.workload.sources.datagrams.places`.
    users : int, optional
        Users the streams are dealt to in turn; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    kind: ClassVar[str] = "gaming"

    flows: int = 1
    rate_bps: int = 15_000_000
    fps: int = 60
    variation: float = 0.15
    pace: float = 0.5
    start_s: float = 0.0
    stop_s: float | None = None
    spread_s: float = 0.0
    place: str = "random"
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    direction: str = "down"

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list."""
        import polars as pl

        stop_s = duration_s if self.stop_s is None else self.stop_s
        if not 0 <= self.start_s < stop_s < math.inf:
            raise MayflyError(f"start_s = {self.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
        settings = {
            "duration_s": stop_s - self.start_s,
            "rate_bps": self.rate_bps,
            "fps": self.fps,
            "variation": self.variation,
            "spread": self.pace,
        }
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        return pl.DataFrame({"start_s": starts, "dealt": np.arange(self.flows)}).with_columns(
            direction=pl.lit(self.direction), application=pl.lit(applications.written(self.kind, settings))
        )
