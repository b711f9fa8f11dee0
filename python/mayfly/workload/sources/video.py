"""Films in segments, whose player chooses the rate of each (``crates/netsim/src/app/video.rs``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Group, Rate, Seconds, Section, Whole, as_written
from mayfly.workload import applications
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.common import FROM, GROUP, PLACE, TO, TRANSPORT, USERS, Place, bytes_of
from mayfly.workload.sources.datagrams import places

if TYPE_CHECKING:
    import polars as pl

LADDER_BPS = (400_000, 800_000, 1_500_000, 3_000_000, 4_500_000, 6_000_000)
"""Rates of a film by default, bit/s: 240p to 1080p."""


class VideoSection(Section):
    """Films in segments over TCP, whose player chooses the rate of each (DASH, HLS)."""

    flows: Whole = Field(1, ge=1, le=100_000, description="number of films")
    ladder: Annotated[tuple[Rate, ...], Field(min_length=1, max_length=64)] = Field(
        LADDER_BPS, description="rates that a film has, ascending"
    )
    rule: Literal["throughput", "bola"] = Field(
        "throughput", description="how a player chooses: by the throughput of the last segments, or by its buffer"
    )
    segment: Seconds = Field(as_written("4s"), ge=0.01, le=60, description="length of a segment")
    length: Seconds | None = Field(None, description="length of a film; beyond the end of the run when absent")
    buffer: Seconds = Field(as_written("30s"), le=86_400, description="film that a player holds at most")
    startup: Seconds = Field(as_written("4s"), gt=0, description="film with which it begins to play")
    resume: Seconds = Field(as_written("4s"), gt=0, description="film with which it goes on after it stood still")
    safety: float = Field(0.9, ge=0.01, le=2, description="throughput: share of the estimate that it uses")
    samples: Whole = Field(5, ge=1, le=1000, description="throughput: segments of the harmonic mean")
    gamma: float = Field(5.0, ge=0.001, le=1000, description="bola: weight of the rate against standing still")
    request: Buffer = Field(as_written("400B"), description="payload of a request: MSS, or bytes")
    think: Seconds = Field(0.0, le=3600, description="time of the server before each answer")
    start: Seconds = Field(0.0, description="when the first film is asked for")
    spread: Seconds = Field(0.0, description="each is asked for later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    users: int | None = Field(None, strict=True, ge=1, le=100_000, description=f"whom the films are dealt to, {USERS}")
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    @model_validator(mode="after")
    def _fits(self) -> VideoSection:
        if any(low >= high for low, high in zip(self.ladder, self.ladder[1:], strict=False)):
            raise ValueError(f"ladder = {', '.join(map(str, self.ladder))}: must ascend")
        if self.buffer < self.segment + max(self.segment, self.startup, self.resume):
            bound = "a segment and the longest of segment, startup and resume"
            raise ValueError(f"buffer = {self.buffer:g} s: must be at least {bound}")
        return self

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Video:
        """The source, between the hosts of ``ends``."""
        return Video(
            flows=self.flows,
            ladder_bps=self.ladder,
            rule=self.rule,
            segment_s=self.segment,
            length_s=self.length,
            buffer_s=self.buffer,
            startup_s=self.startup,
            resume_s=self.resume,
            safety=self.safety,
            samples=self.samples,
            gamma=self.gamma,
            request_bytes=bytes_of(self.request, mss),
            think_s=self.think,
            start_s=self.start,
            spread_s=self.spread,
            place=self.place,
            users=self.users,
            group=self.group,
            ends=ends,
        )


@dataclass(frozen=True)
class Video:
    """Films.

    Parameters
    ----------
    flows : int
        Number of films.
    ladder_bps : tuple of int
        Rates of each, ascending, bit/s.
    rule : str
        ``throughput`` or ``bola``.
    segment_s, length_s : float
        Of a segment and of a film, s; a film is longer than the run when ``length_s`` is not given.
    buffer_s, startup_s, resume_s : float
        Film that a player holds at most, begins with, and goes on with after it stood still, s.
    safety, samples : float, int
        Of the rule ``throughput``.
    gamma : float
        Of the rule ``bola``.
    request_bytes : int
        Payload of a request, bytes.
    think_s : float
        Time of the server before each answer, s.
    start_s, spread_s, place : float, float, str
        The films are asked for from ``start_s`` on, each later by its delay of
        :func:`mayfly.workload.sources.datagrams.places`.
    users : int, optional
        Users the films are dealt to in turn; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    """

    kind: ClassVar[str] = "video"

    flows: int = 1
    ladder_bps: tuple[int, ...] = LADDER_BPS
    rule: str = "throughput"
    segment_s: float = 4.0
    length_s: float | None = None
    buffer_s: float = 30.0
    startup_s: float = 4.0
    resume_s: float = 4.0
    safety: float = 0.9
    samples: int = 5
    gamma: float = 5.0
    request_bytes: int = 400
    think_s: float = 0.0
    start_s: float = 0.0
    spread_s: float = 0.0
    place: str = "random"
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list."""
        import polars as pl

        if not 0 <= self.start_s < duration_s:
            raise MayflyError(f"start_s = {self.start_s}: must be at least 0 and before the end at {duration_s:g} s")
        beyond_s = duration_s - self.start_s + self.buffer_s + self.segment_s
        length_s = beyond_s if self.length_s is None else self.length_s
        settings: dict[str, applications.Value] = {
            "ladder_bps": self.ladder_bps,
            "segment_s": self.segment_s,
            "segments": max(math.ceil(round(length_s / self.segment_s, 6)), 1),
            "buffer_s": self.buffer_s,
            "startup_s": self.startup_s,
            "resume_s": self.resume_s,
            "rule": self.rule,
            "safety": self.safety,
            "samples": self.samples,
            "gamma": self.gamma,
            "request_bytes": self.request_bytes,
            "think_s": self.think_s,
        }
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        return pl.DataFrame({"start_s": starts, "dealt": np.arange(self.flows)}).with_columns(
            direction=pl.lit("down"), application=pl.lit(applications.written(self.kind, settings))
        )
