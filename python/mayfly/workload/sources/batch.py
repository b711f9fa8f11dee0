"""TCP transfers at given times, each split over several connections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from mayfly.errors import MayflyError
from mayfly.fields import Buffer, Group, Seconds, Section, Whole
from mayfly.limits import DRAWN_BYTES, refuse_flows
from mayfly.workload.hosts import Hosts, check_users
from mayfly.workload.sources.common import (
    DIRECTION,
    FROM,
    GROUP,
    MOST_FLOWS,
    TO,
    TRANSPORT,
    USERS,
    Direction,
    bytes_of,
)

if TYPE_CHECKING:
    import polars as pl


class BatchSection(Section):
    """A TCP transfer at a given time, split over several connections."""

    size: Buffer = Field(description="payload of all connections together: MSS, or bytes such as 5MB")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="connections, which carry equal parts of it")
    start: Seconds = Field(0.0, description="when all its connections start")
    every: Seconds | None = Field(
        None, gt=0, description="time until the next such transfer, to the end of the run; only one when absent"
    )
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Batch:
        """The source, between the hosts of ``ends``."""
        return Batch(
            size_bytes=bytes_of(self.size, mss),
            flows=self.flows,
            start_s=self.start,
            every_s=self.every,
            users=self.users,
            group=self.group,
            ends=ends,
            direction=self.direction,
        )


@dataclass(frozen=True)
class Batch:
    """TCP transfers at given times, each split over several connections.

    Parameters
    ----------
    size_bytes : int
        Payload of a transfer, all its connections together, bytes; at least ``flows``.
    flows : int
        Connections of a transfer, >= 1: each carries an equal part, the first ones a byte more where need be.
    start_s : float
        When the first transfer begins, s, all its connections at once; none from the end of the run on.
    every_s : float, optional
        Time from one transfer to the next, s, > 0, until the end of the run; a single one when not given.
    users : int, optional
        Users the connections are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    kind: ClassVar[str] = "batch"

    size_bytes: int
    flows: int = 1
    start_s: float = 0.0
    every_s: float | None = None
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    direction: str = "down"

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the connections of split transfers."""
        import polars as pl

        check_users("batch", self.users, self.flows)
        every_s = math.inf if self.every_s is None else self.every_s
        if not 0 <= self.start_s < math.inf:
            raise MayflyError(f"batch: start_s = {self.start_s}: must be 0 or more and finite")
        if not every_s > 0:
            raise MayflyError(f"batch: every_s = {every_s}: must be above 0")
        if not 1 <= self.flows <= min(self.size_bytes, MOST_FLOWS):
            most = min(self.size_bytes, MOST_FLOWS)
            raise MayflyError(f"batch: flows = {self.flows}: must be from 1 to {most}, with at least a byte for each")
        left_s = max(duration_s - self.start_s, 0.0)
        times = math.ceil(left_s / every_s) if math.isfinite(every_s) else int(left_s > 0)
        if times * self.flows > MOST_FLOWS:
            raise MayflyError(f"batch: every_s = {every_s}: must be long enough for at most {MOST_FLOWS} flows")
        refuse_flows(times * self.flows, DRAWN_BYTES, "batch: flows")
        part, more = divmod(self.size_bytes, self.flows)
        connection = np.tile(np.arange(self.flows), times)
        later = np.repeat(np.arange(times), self.flows)
        return pl.DataFrame(
            {
                "start_s": self.start_s + (later * every_s if times > 1 else 0.0 * later),
                "size_bytes": part + (connection < more),
                "dealt": connection,
            }
        ).with_columns(direction=pl.lit(self.direction))
