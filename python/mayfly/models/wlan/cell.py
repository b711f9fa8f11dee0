"""The closed forms of a cell side by side: saturation, TCP capacities, shares of unequal stations, windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.models.wlan.dcf import RULES, Saturation, saturation
from mayfly.models.wlan.pair import PairThroughput, single_tcp
from mayfly.models.wlan.shares import FAIRNESS, Shares, download_shares
from mayfly.models.wlan.tcp import FIGURE_WINDOWS, CycleCapacity, capacity_bps, cycle_capacity, rate_with_uploads
from mayfly.models.wlan.times import TCP_ACK_BYTES, CellTimes
from mayfly.models.wlan.windows import WindowRatio, window_ratio
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Estimate:
    """Capacity that a measured response time of the smallest flows under LAS tells (Urvoy-Keller 2007, Eq. 10).

    Parameters
    ----------
    arrival_rate : float
        Flows a second, uploads counted by their acknowledgements.
    size_bytes : float
        Of the smallest flows, IP bytes.
    response_s : float
        Their mean response time at the access point, seconds.
    capacity_bps : float
        IP bits a second.
    """

    arrival_rate: float
    size_bytes: float
    response_s: float
    capacity_bps: float


@dataclass(frozen=True, repr=False)
class CellModel(Result):
    """What the models say of a cell.

    Parameters
    ----------
    packet_bytes : int
        IP packets with data.
    stations : int
        How many.
    saturated : tuple of Saturation
        All stations have a packet to send at any time, by rule.
    single : PairThroughput
        One TCP transfer, of the station with the highest rate.
    cycles : tuple of CycleCapacity
        TCP by ideal cycles, by contention window.
    shares : dict of str to Shares
        Saturated downloads to unequal stations, by fairness; empty if all stations are alike.
    windows : WindowRatio, optional
        Uploads against downloads, where a buffer is given.
    estimate : Estimate, optional
        Where a response time is given.
    """

    packet_bytes: int
    stations: int
    saturated: tuple[Saturation, ...]
    single: PairThroughput
    cycles: tuple[CycleCapacity, ...]
    shares: dict[str, Shares]
    windows: WindowRatio | None
    estimate: Estimate | None = None

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            The fields of the class; units are in the names.
        """
        return asdict(self)

    def tables(self) -> Iterator[Table]:
        """What each model says, as rich tables."""
        first = self.saturated[0]
        columns: tuple[str, ...] = ("count of a backoff", "Mb/s", "of a station", "collisions", "given up")
        rows: list[tuple[str, ...]] = [
            (
                one.rule,
                _mbps(one.throughput_bps),
                _mbps(one.station_bps[0]),
                f"{one.collision_probability:.1%}",
                f"{one.drop_probability:.2g}",
            )
            for one in self.saturated
        ]
        yield _table(
            f"{len(first.station_bps)} saturated stations, packets of {self.packet_bytes} bytes", columns, rows
        )
        columns = ("ideal cycles", "T_down (ms)", "downloads", "each of both", "smallest flows", "among uploads")
        rows = [
            (
                f"{one.backoff_slots:g} slots",
                f"{one.down_s * 1e3:.3f}",
                *map(_mbps, (one.down_bps, one.down_up_bps, one.smallest_bps, one.mixed_bps)),
            )
            for one in self.cycles
        ]
        yield _table("TCP, Mb/s of IP packets with data", columns, rows)
        if self.shares:
            columns = ("station", *(f"equal {name}" for name in self.shares))
            each = zip(*(one.station_bps for one in self.shares.values()), strict=True)
            rows = [(str(number), *map(_mbps, row)) for number, row in enumerate(each)]
            rows.append(("all", *(_mbps(one.throughput_bps) for one in self.shares.values())))
            yield _table("Saturated downloads, Mb/s", columns, rows)

    def sentences(self) -> Iterator[str]:
        """What does not go into a table, in words."""
        yield (
            f"one TCP transfer: {_mbps(self.single.throughput_bps)} Mb/s, "
            f"{self.single.collision_sender:.1%} of its packets and {self.single.collision_receiver:.1%} of the "
            "acknowledgements collide"
        )
        if self.windows:
            yield (
                f"uploads over downloads by their windows: {self.windows.ratio:.3g} ({self.windows.case}); fair from "
                f"{self.windows.fair_packets:g} packets, starved up to {self.windows.starved_packets:g}"
            )
        if self.estimate:
            yield (
                f"capacity by the smallest flows ({self.estimate.size_bytes:g} bytes, "
                f"{self.estimate.response_s * 1e3:g} ms under LAS): {_mbps(self.estimate.capacity_bps)} Mb/s"
            )


def cell_model(
    times: Sequence[CellTimes],
    *,
    packet_bytes: int = 1500,
    tries: int = 7,
    per_ack: int = 2,
    buffer_packets: int | None = None,
    uploads: int | None = None,
    downloads: int | None = None,
    window: int = 43,
    response_s: float | None = None,
    arrivals: Sequence[float] = (),
    smallest_packets: int = 3,
) -> CellModel:
    """All models of a cell.

    Parameters
    ----------
    times : sequence of CellTimes
        Of each station, from one, with the lengths of packets and of bare acknowledgements.
    packet_bytes : int
        IP packets with data.
    tries : int
        Transmissions of a frame in all.
    per_ack : int
        Packets for an acknowledgement of TCP.
    buffer_packets : int, optional
        Of the access point, for :func:`~mayfly.models.wlan.windows.window_ratio`.
    uploads, downloads : int, optional
        Long transfers against one another; half of the stations each when not given.
    window : int
        Receiver window, packets.
    response_s : float, optional
        Mean response time of the smallest flows at the access point under LAS, seconds: estimates the capacity.
    arrivals : sequence of float
        Downloads a second, and uploads a second where there are some; with ``response_s``.
    smallest_packets : int
        Of the smallest flows.

    Returns
    -------
    CellModel
        IP bits a second of packets with data.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11a", lengths=[1536, 76]))
    >>> found = cell_model([times] * 10)
    >>> [round(one.throughput_bps / 1e6, 2) for one in found.saturated]
    [28.22, 27.89]
    """
    saturated = tuple(saturation(times, packet_bytes=packet_bytes, rule=rule, tries=tries) for rule in RULES)
    fastest = min(times, key=lambda one: one.frame_s(packet_bytes))
    windows = [fastest.cw_min, *(cw for cw in FIGURE_WINDOWS if fastest.cw_min < cw <= fastest.cw_max)]
    cycles = (cycle_capacity(fastest, cw / 2, packet_bytes=packet_bytes, per_ack=per_ack) for cw in windows)
    ratio = None
    if buffer_packets is not None:
        half = max(len(times) // 2, 1)
        ratio = window_ratio(
            buffer_packets,
            half if uploads is None else uploads,
            half if downloads is None else downloads,
            window=window,
            per_ack=per_ack,
        )
    elif uploads is not None or downloads is not None:
        raise MayflyError("uploads and downloads share the access point's buffer: its size must be given too")
    estimate = None
    if response_s is not None:
        if len(arrivals) not in (1, 2):
            raise MayflyError(
                f"arrivals = {list(arrivals)}: must be downloads a second, and perhaps uploads, with response"
            )
        down, up = arrivals[0], (*arrivals, 0.0)[1]
        rate = rate_with_uploads(down, up, packet_bytes=packet_bytes)
        size = float(smallest_packets * packet_bytes)
        estimate = Estimate(rate, size, response_s, capacity_bps(rate, size, response_s))
    alike = all(one == times[0] for one in times)
    return CellModel(
        packet_bytes=packet_bytes,
        stations=len(times),
        saturated=saturated,
        single=single_tcp(fastest, packet_bytes=packet_bytes, answer_bytes=TCP_ACK_BYTES, per_answer=per_ack),
        cycles=tuple(cycles),
        shares={} if alike else {kind: download_shares(times, kind, packet_bytes=packet_bytes) for kind in FAIRNESS},
        windows=ratio,
        estimate=estimate,
    )


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:.2f}"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table

    found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for number, header in enumerate(columns):
        found.add_column(header, justify="right" if number else "left")
    for row in rows:
        found.add_row(*row)
    return found
