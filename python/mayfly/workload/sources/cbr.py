"""UDP flows of constant rate (Chen 2012, 4.6.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from mayfly.arrays import Integers
from mayfly.errors import MayflyError
from mayfly.fields import Group, Rate, Seconds, Section, Whole
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.limits import DRAWN_BYTES, refuse_flows
from mayfly.workload.hosts import Hosts, check_users
from mayfly.workload.sources.common import (
    DIRECTION,
    FROM,
    GROUP,
    MOST_FLOWS,
    PLACE,
    TO,
    USERS,
    Direction,
    Place,
)
from mayfly.workload.sources.datagrams import places

if TYPE_CHECKING:
    import polars as pl


class CbrSection(Section):
    """UDP flows of constant rate."""

    rate: Rate = Field(description="of each flow, on the wire")
    packet: Whole = Field(1500, ge=29, le=65_535, description="wire length, bytes")
    start: Seconds = Field(0.0, description="first packet")
    stop: Seconds | None = Field(None, description="from then on none is sent; end of the run when absent")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each starts and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    renew: int | None = Field(
        None,
        strict=True,
        ge=1,
        description="packets after which a sender goes on under another port; never when absent",
    )
    renew_hosts: bool = Field(
        False, description="with another port the sender takes another pair of hosts too: needs renew and users"
    )
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Cbr:
        """The source, between the hosts of ``ends``."""
        return Cbr(
            rate_bps=self.rate,
            packet_bytes=self.packet,
            start_s=self.start,
            stop_s=self.stop,
            flows=self.flows,
            spread_s=self.spread,
            renew_packets=self.renew,
            renew_hosts=self.renew_hosts,
            users=self.users,
            group=self.group,
            ends=ends,
            place=self.place,
            direction=self.direction,
        )


@dataclass(frozen=True)
class Cbr:
    """UDP flows of constant rate.

    Parameters
    ----------
    rate_bps : float
        Rate of each flow on the wire, headers included, bit/s, from 1 to 10^12.
    packet_bytes : int
        Wire length of each packet, bytes, from 29 to 65535.
    start_s, stop_s : float
        First packet, and the time from which none is sent, s; ``stop_s`` is the end of the run when not given.
    flows : int
        Number of such flows, >= 1.
    spread_s : float
        Each starts, and stops, later by a time uniform on [0, spread_s), s; 0 keeps them in step.
    renew_packets : int, optional
        After so many packets the sender goes on under another port, without a pause: a flow of its own in the list.
        Never when not given.
    renew_hosts : bool
        With each port the sender takes a pair of hosts that nobody had before; needs ``renew_packets`` and ``users``.
    users : int, optional
        Users the senders are dealt to in turn, at most ``flows``; end points are drawn when not given.
    group : str, optional
        Name of the flows' group.
    ends : pair of sequences, optional
        Hosts that send and hosts that receive, in place of those of the whole mix.
    place : str
        ``random``, or ``even``: delays at equal distances below ``spread_s``.
    direction : str
        ``down``, or ``up``: from a receiver to a sender.
    """

    kind: ClassVar[str] = "cbr"

    rate_bps: float
    packet_bytes: int = 1500
    start_s: float = 0.0
    stop_s: float | None = None
    flows: int = 1
    spread_s: float = 0.0
    renew_packets: int | None = None
    users: int | None = None
    group: str | None = None
    ends: tuple[Hosts, Hosts] | None = None
    place: str = "random"
    direction: str = "down"
    renew_hosts: bool = False

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of constant-rate UDP flows: as many packets as leave from ``start_s`` on, before ``stop_s``."""
        import polars as pl

        stop_s = duration_s if self.stop_s is None else self.stop_s
        if not 0 <= self.start_s < stop_s < math.inf:
            raise MayflyError(f"start_s = {self.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
        if not UDP_HEADER_BYTES < self.packet_bytes <= 65535:
            raise MayflyError(f"packet_bytes = {self.packet_bytes}: must be from {UDP_HEADER_BYTES + 1} to 65535 bytes")
        if not 1 <= self.rate_bps <= 1e12:
            raise MayflyError(f"rate_bps = {self.rate_bps}: must be from 1 to 1e12 bit/s")
        check_users("cbr", self.users, self.flows)
        if self.renew_hosts and (self.renew_packets is None or self.users is None):
            raise MayflyError("renew_hosts: must stand beside renew, the packets of each pair of hosts, and users")
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        gap_s, payload = 8 * self.packet_bytes / self.rate_bps, self.packet_bytes - UDP_HEADER_BYTES
        # A packet due at stop_s itself is not sent; rounding must not add it.
        packets = max(math.ceil(round((stop_s - self.start_s) / gap_s, 6)), 1)
        at, counts = ports(packets, self.renew_packets, self.flows)
        return pl.DataFrame(
            {
                "start_s": (starts[:, None] + at * gap_s).ravel(),
                "size_bytes": np.tile(counts * payload, self.flows),
                "dealt": np.arange(self.flows * len(at))
                if self.renew_hosts
                else np.repeat(np.arange(self.flows), len(at)),
            }
        ).with_columns(
            protocol=pl.lit("udp"),
            direction=pl.lit(self.direction),
            packet_bytes=pl.lit(self.packet_bytes, pl.Int64),
            rate_bps=pl.lit(float(self.rate_bps)),
        )


def ports(packets: int, renew: int | None, senders: int) -> tuple[Integers, Integers]:
    """First packet and number of packets of each port that a sender of ``packets`` packets uses one after the other."""
    renew = packets if renew is None else renew
    if renew < 1:
        raise MayflyError(f"renew_packets = {renew}: must be at least 1")
    if senders * -(-packets // renew) > MOST_FLOWS:
        raise MayflyError(f"renew_packets = {renew}: must be large enough for at most {MOST_FLOWS} flows")
    refuse_flows(senders * -(-packets // renew), DRAWN_BYTES, "cbr: flows")
    at = np.arange(0, packets, renew)
    return at, np.minimum(renew, packets - at)
