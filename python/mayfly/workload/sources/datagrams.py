"""UDP sources that are on and off, change their rate, or replay a trace: one flow each, with its bursts.

All that is random is drawn here, so that every discipline meets the same packets.
Source: Zhao 2004, II.C.3 (on/off) and II.C.6 (variable bit rate).
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload.arrivals import exponential
from mayfly.workload.bursts import MOST_BURSTS, MOST_BYTES, written
from mayfly.workload.ends import Hosts

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
        stop_s = duration_s if self.stop_s is None else self.stop_s
        if not 0 <= self.start_s < stop_s < math.inf:
            raise MayflyError(f"start_s = {self.start_s}, stop_s = {stop_s}: must be 0 <= start_s < stop_s")
        if not UDP_HEADER_BYTES < self.packet_bytes <= MOST_BYTES:
            bounds = f"{UDP_HEADER_BYTES + 1} to {MOST_BYTES} bytes"
            raise MayflyError(f"packet_bytes = {self.packet_bytes}: must be from {bounds}")
        return stop_s - self.start_s

    @abstractmethod
    def bursts(self, lasts_s: float, rng: np.random.Generator) -> str:
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
        lasts_s = self.lasts_s(duration_s)
        starts = self.start_s + places(self.flows, self.spread_s, self.place, rng)
        texts = [self.bursts(lasts_s, rng) for _ in range(self.flows)]
        rows = pl.DataFrame({"start_s": starts, "bursts": texts, "dealt": np.arange(self.flows)})
        return rows.with_columns(protocol=pl.lit("udp"), direction=pl.lit("down"))


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

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> str:
        """A burst for each period that is on; at least a packet each.

        Examples
        --------
        >>> OnOff(rate_bps=8000, on_s=2, off_s=3).bursts(9.0, np.random.default_rng(1))
        '0:1000x2/1 5:1000x2/1'
        """
        for name, value in (("rate_bps", self.rate_bps), ("on_s", self.on_s), ("off_s", self.off_s)):
            if not 0 < value < math.inf:
                raise MayflyError(f"{name} = {value}: must be above 0 and finite")
        most = math.ceil(lasts_s / (self.on_s + self.off_s))
        if most > MOST_BURSTS / self.flows:
            raise MayflyError(f"on_s = {self.on_s}, off_s = {self.off_s}: must give at most {MOST_BURSTS} periods")
        if self.periods == "exponential":
            on_s, begin_s = self.drawn_periods(lasts_s, most, rng)
        elif self.periods == "fixed":
            begin_s = np.arange(most) * (self.on_s + self.off_s)
            on_s = np.full(most, self.on_s)
        else:
            raise MayflyError(f"periods = {self.periods}: must be fixed or exponential")
        gap_s = 8 * self.packet_bytes / self.rate_bps
        lengths = np.minimum(on_s, lasts_s - begin_s)
        # A packet due at the end of its period is not sent; rounding must not add it.
        packets = np.maximum(np.ceil(np.round(lengths / gap_s, 6)), 1).astype(np.int64)
        return written(
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

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> str:
        """A burst for each rate."""
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
            packets = math.ceil(round((end_s - next_s) / gap_s, 6))
            if packets > 0:
                drawn.append((next_s, packets, gap_s))
                next_s += packets * gap_s
            elif end_s >= lasts_s:
                break
        at_s, packets, gaps_s = (np.array(column) for column in zip(*drawn, strict=True))
        return written(at_s, self.packet_bytes, packets, gaps_s)


@dataclass(frozen=True)
class Replay(Datagrams):
    """UDP flows that send the packets of a file.

    Parameters
    ----------
    file : path
        CSV with the columns ``time_s``, ascending, and ``bytes`` on the wire, 29 to 65535; the first packet leaves when
        the flow begins.
    """

    kind: ClassVar[str] = "replay"

    file: str | os.PathLike[str] = ""

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list; the file is read once."""
        object.__setattr__(self, "text", self.read(self.lasts_s(duration_s)))
        return super().rows(duration_s, rng)

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> str:
        """A burst for each packet."""
        return self.text

    def read(self, lasts_s: float) -> str:
        """The file's packets of the first ``lasts_s``."""
        try:
            table = pl.read_csv(self.file, schema_overrides={"time_s": pl.Float64, "bytes": pl.Int64})
            at_s, lengths = table["time_s"], table["bytes"]
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
            raise MayflyError(f"{self.file}: not a trace with the columns time_s and bytes: {reason}") from None
        if at_s.is_empty() or at_s.has_nulls() or lengths.has_nulls() or not at_s.is_finite().all():
            raise MayflyError(f"{self.file}: must hold a time_s and bytes in every row, and at least one")
        if not at_s.is_sorted():
            row = int((at_s.diff() < 0).arg_max())
            raise MayflyError(f"{self.file}: row {row + 1}: time_s = {at_s[row]:g}: must not be before the row above")
        if not lengths.is_between(UDP_HEADER_BYTES + 1, MOST_BYTES).all():
            row = int((~lengths.is_between(UDP_HEADER_BYTES + 1, MOST_BYTES)).arg_max())
            bounds = f"{UDP_HEADER_BYTES + 1} to {MOST_BYTES}"
            raise MayflyError(f"{self.file}: row {row + 1}: bytes = {lengths[row]}: must be from {bounds}")
        since_s = at_s.to_numpy() - at_s[0]
        kept = since_s < lasts_s
        return written(since_s[kept], lengths.to_numpy()[kept], 1, np.zeros(int(kept.sum())))
