"""UDP sources that are on and off, change their rate, or replay a trace: one flow each, with its bursts.

All that is random is drawn here, so that every discipline meets the same packets.
Source: Zhao 2004, II.C.3 (on/off) and II.C.6 (variable bit rate).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.fields import Group, Seconds, Section, Whole
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.common import FROM, GROUP, PLACE, TO, USERS, Place

if TYPE_CHECKING:
    import polars as pl

PLACES = ("random", "even")
"""Where ``spread_s`` puts the flows of a set: drawn uniformly below it, or at equal distances."""


def places(flows: int, spread_s: float, place: str, rng: np.random.Generator) -> Floats:
    """Delays of the flows of a set.

    Parameters
    ----------
    flows : int
        Size of the set, 1 to 10^6.
    spread_s : float
        Delays are below it, s, >= 0; 0 keeps the set in step.
    place : str
        One of `PLACES`.
    rng : numpy.random.Generator
        One number per flow.

    Returns
    -------
    ndarray, shape (flows,)
        Seconds.

    Raises
    ------
    MayflyError
        A value is outside its bounds.

    Examples
    --------
    >>> places(4, 2.0, "even", np.random.default_rng(1)).tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    if not 1 <= flows <= 1_000_000:
        raise MayflyError(f"flows = {flows}: must be from 1 to 1000000")
    if not 0 <= spread_s < math.inf:
        raise MayflyError(f"spread_s = {spread_s}: must be >= 0 and finite")
    if place not in PLACES:
        raise MayflyError(f"place = {place}: must be {' or '.join(PLACES)}")
    return (np.arange(flows) / flows if place == "even" else rng.random(flows)) * spread_s


class DatagramsSection(Section):
    """What the sections of UDP sources with bursts share."""

    packet: Whole = Field(1000, ge=29, le=65_535, description="wire length, bytes")
    start: Seconds = Field(0.0, description="when the first flow begins")
    stop: Seconds | None = Field(None, description="from then on none is sent; end of the run when absent")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each begins and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def shared(self) -> dict[str, Any]:
        """What all UDP sources take, by the names of the workload."""
        return {
            "packet_bytes": self.packet,
            "start_s": self.start,
            "stop_s": self.stop,
            "flows": self.flows,
            "spread_s": self.spread,
            "place": self.place,
            "users": self.users,
            "group": self.group,
        }


@dataclass(frozen=True)
class Datagrams(ABC):
    """What the UDP sources here share.

    Parameters
    ----------
    packet_bytes : int
        Wire length of each packet, bytes, from 29 to 65535.
    start_s, stop_s : float
        When the first flow begins, and the time from which it sends none, s; end of the run when not given.
    flows : int
        Number of such flows.
    spread_s, place : float, str
        Each begins, and stops, later by its delay of :func:`places`.
    users : int, optional
        Users the flows are dealt to in turn; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    """

    kind: ClassVar[str]

    packet_bytes: int = 1000
    start_s: float = 0.0
    stop_s: float | None = None
    flows: int = 1
    spread_s: float = 0.0
    place: str = "random"
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None

    def lasts_s(self, duration_s: float) -> float:
        """How long each flow sends, s."""
        from mayfly.workload.bursts import MOST_BYTES

        stop_s = duration_s if self.stop_s is None else self.stop_s
        if not 0 <= self.start_s < stop_s < math.inf:
            raise MayflyError(f"start_s = {self.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
        if not UDP_HEADER_BYTES < self.packet_bytes <= MOST_BYTES:
            bounds = f"{UDP_HEADER_BYTES + 1} to {MOST_BYTES} bytes"
            raise MayflyError(f"packet_bytes = {self.packet_bytes}: must be from {bounds}")
        return stop_s - self.start_s

    @abstractmethod
    def bursts(self, lasts_s: float, rng: np.random.Generator) -> pl.Series:
        """Bursts of one flow that sends for ``lasts_s``."""

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
        polars.DataFrame, shape (flows, ...)
            With ``dealt``, the number of the flow in its set.
        """
        import polars as pl

        from mayfly.workload.bursts import BURSTS

        lasts_s = self.lasts_s(duration_s)
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        bursts = pl.Series([self.bursts(lasts_s, rng) for _ in range(self.flows)], dtype=BURSTS)
        rows = pl.DataFrame({"start_s": starts, "bursts": bursts, "dealt": np.arange(self.flows)})
        return rows.with_columns(protocol=pl.lit("udp"), direction=pl.lit("down"))
