"""Calls and meetings whose video follows what the network takes, by Google congestion control.

A call is two flows of datagrams between the same two hosts, one each way. In a meeting over a server the videos of
all others come down together; they share a transport, and so a controller (``crates/netsim/src/app/call.rs``).
"""

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
from mayfly.workload.sources.common import FROM, GROUP, PLACE, TO, Place
from mayfly.workload.sources.datagrams import places

if TYPE_CHECKING:
    import polars as pl


class CallSection(Section):
    """Calls and meetings with speech and a video, whose rate follows Google congestion control."""

    calls: Whole = Field(1, ge=1, le=100_000, description="number of calls, each with a pair of hosts of its own")
    participants: Whole = Field(2, ge=2, le=1000, description="of each; the videos of all others come down")
    start: Seconds = Field(0.0, description="when the first call begins")
    stop: Seconds | None = Field(None, description="from then on nothing is sent; end of the run when absent")
    spread: Seconds = Field(0.0, description="each begins and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    start_rate: Rate = Field(as_written("300kbit"), description="rate that a sender begins with, without IP and UDP")
    min_rate: Rate = Field(as_written("100kbit"), description="least rate of a sender")
    max_rate: Rate = Field(as_written("2500kbit"), description="largest rate of a participant's speech and video")
    fps: Whole = Field(30, ge=0, le=240, description="frames of a video per second; 0: speech alone")
    variation: float = Field(0.15, ge=0, le=0.5, description="scale of the Laplace law of frame sizes, over the mean")
    speech: Whole = Field(160, ge=0, le=1180, description="payload of a packet of speech each 20 ms, bytes; 0: none")
    pacing: float = Field(1.5, ge=1, le=100, description="packets of a video leave at so many times the rate")
    feedback: Seconds = Field(as_written("100ms"), ge=0.001, le=10, description="time between two reports")
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Call:
        """The source, between the hosts of ``ends``."""
        return Call(
            flows=self.calls,
            participants=self.participants,
            start_s=self.start,
            stop_s=self.stop,
            spread_s=self.spread,
            place=self.place,
            start_bps=self.start_rate,
            min_bps=self.min_rate,
            max_bps=self.max_rate,
            fps=self.fps,
            variation=self.variation,
            audio_bytes=self.speech,
            pacing=self.pacing,
            feedback_s=self.feedback,
            group=self.group,
            ends=ends,
        )


@dataclass(frozen=True)
class Call:
    """Calls and meetings.

    Parameters
    ----------
    flows : int
        Number of calls; each has a pair of hosts of its own.
    participants : int
        Of each: down comes what ``participants - 1`` of them send.
    start_s, stop_s : float
        When the first call begins, and the time from which nothing is sent, s; end of the run when not given.
    spread_s, place : float, str
        Each begins, and stops, later by its delay of :func:`mayfly.workload.sources.datagrams.places`.
    start_bps, min_bps, max_bps : int
        First, least and largest rate of a sender, without IP and UDP headers, bit/s.
    fps : int
        Frames per second.
    variation : float
        Scale of the law of frame sizes, over the mean.
    audio_bytes : int
        Payload of a packet of speech, bytes.
    pacing : float
        Packets of a video leave at so many times the rate.
    feedback_s : float
        Time between two reports, s.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    """

    kind: ClassVar[str] = "call"

    flows: int = 1
    participants: int = 2
    start_s: float = 0.0
    stop_s: float | None = None
    spread_s: float = 0.0
    place: str = "random"
    start_bps: int = 300_000
    min_bps: int = 100_000
    max_bps: int = 2_500_000
    fps: int = 30
    variation: float = 0.15
    audio_bytes: int = 160
    pacing: float = 1.5
    feedback_s: float = 0.1
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None

    @property
    def users(self) -> int:
        """Whom the flows are dealt to: both ways of a call have the same hosts."""
        return self.flows

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list: two flows a call."""
        import polars as pl

        stop_s = duration_s if self.stop_s is None else self.stop_s
        if not 0 <= self.start_s < stop_s < math.inf:
            raise MayflyError(f"start_s = {self.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        ways = [
            pl.DataFrame({"start_s": starts, "dealt": np.arange(self.flows)}).with_columns(
                direction=pl.lit(way), application=pl.lit(self._written(stop_s - self.start_s, senders))
            )
            for way, senders in (("down", self.participants - 1), ("up", 1))
        ]
        return pl.concat(ways).sort("start_s", "dealt", maintain_order=True)

    def _written(self, lasts_s: float, senders: int) -> str:
        """One way, in which ``senders`` send."""
        return applications.written(
            "call",
            {
                "duration_s": lasts_s,
                "start_bps": self.start_bps,
                "min_bps": self.min_bps,
                "max_bps": self.max_bps * senders,
                "fps": self.fps,
                "variation": self.variation,
                "audio_bytes": self.audio_bytes,
                "pacing": self.pacing,
                "feedback_s": self.feedback_s,
            },
        )
