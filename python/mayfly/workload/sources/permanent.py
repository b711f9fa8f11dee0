"""TCP flows that never end (Zhao 2004, II.C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from mayfly.fields import Group, Seconds, Section, Whole
from mayfly.workload.hosts import Hosts, check_users
from mayfly.workload.sources.common import (
    DIRECTION,
    FROM,
    GROUP,
    TO,
    TRANSPORT,
    USERS,
    Direction,
)
from mayfly.workload.sources.datagrams import places

if TYPE_CHECKING:
    import polars as pl


class PermanentSection(Section):
    """TCP flows that never end."""

    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each starts at a time uniform below this")
    rtt_min: Seconds | None = Field(
        None, gt=0, le=60, description="round-trip time of the first flow, of the path when absent"
    )
    rtt_max: Seconds | None = Field(None, gt=0, le=60, description="of the last one, those between at equal distances")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)

    @model_validator(mode="after")
    def _both_rtts(self) -> PermanentSection:
        if (self.rtt_min is None) != (self.rtt_max is None) or (self.rtt_min or 0) > (self.rtt_max or 0):
            raise ValueError(f"rtt_max = {self.rtt_max}: must be given with rtt_min, and at least {self.rtt_min}")
        return self

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Permanent:
        """The source, between the hosts of ``ends``."""
        return Permanent(
            flows=self.flows,
            spread_s=self.spread,
            users=self.users,
            group=self.group,
            ends=ends,
            rtt_min_s=self.rtt_min,
            rtt_max_s=self.rtt_max,
            direction=self.direction,
        )


@dataclass(frozen=True)
class Permanent:
    """TCP flows that never end: 2^40 bytes each.

    Parameters
    ----------
    flows : int
        Number of flows, >= 1.
    spread_s : float
        Each starts at a time uniform on [0, spread_s), s; 0 starts all at once.
    users : int, optional
        Users the flows are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    rtt_min_s, rtt_max_s : float, optional
        Round-trip times of the first and the last flow, those between at equal distances, s; that of the path when not
        given.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    kind: ClassVar[str] = "permanent"

    flows: int
    spread_s: float = 0.0
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    rtt_min_s: float | None = None
    rtt_max_s: float | None = None
    direction: str = "down"

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of endless TCP flows."""
        import polars as pl

        from mayfly.workload.lists import ENDLESS_BYTES

        check_users("permanent", self.users, self.flows)
        starts = places(self.flows, self.spread_s, "random", rng)
        rows = pl.DataFrame({"start_s": starts, "dealt": np.arange(len(starts))}).with_columns(
            direction=pl.lit(self.direction), size_bytes=pl.lit(ENDLESS_BYTES, pl.Int64)
        )
        if self.rtt_min_s is None or self.rtt_max_s is None:
            return rows
        return rows.with_columns(rtt_s=np.linspace(self.rtt_min_s, self.rtt_max_s, len(starts)))
