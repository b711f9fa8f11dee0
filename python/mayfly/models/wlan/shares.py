"""Saturated downloads to stations of different rates: a packet each in turn, or the same time on the air.

The access point is the only one to send, so there is no collision: a packet to station j takes T_j = DIFS, the mean
backoff, and a_j on the air (frame, SIFS, acknowledgement). Sources: Heusse et al. 2003 for the anomaly;
Høiland-Jørgensen et al. 2017 for shares of the time on the air.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mayfly.errors import MayflyError
from mayfly.models.wlan.times import CellTimes

FAIRNESS = ("packets", "airtime")
"""What stations get in equal parts."""


@dataclass(frozen=True)
class Shares:
    """What each station gets of the access point.

    Parameters
    ----------
    station_bps : tuple of float
        IP bits.
    airtime : tuple of float
        Of the time that frames are on the air, the sum is 1.
    """

    station_bps: tuple[float, ...]
    airtime: tuple[float, ...]

    @property
    def throughput_bps(self) -> float:
        """IP bits of all stations."""
        return sum(self.station_bps)


def download_shares(times: Sequence[CellTimes], fairness: str, *, packet_bytes: int = 1500) -> Shares:
    """Throughput of stations to which the access point always has a packet to send.

    Parameters
    ----------
    times : sequence of CellTimes
        Of each station, from one.
    fairness : str
        ``packets``: all get packets at the same rate, as from queues in turn; ``airtime``: all get
        the same time on the air, frames with their acknowledgements.
    packet_bytes : int
        IP packets.

    Returns
    -------
    Shares
        Of each station.

    Raises
    ------
    MayflyError
        No station, or another fairness.

    Notes
    -----
    Packets go to station j at a rate in proportion to w_j, 1 or 1 / a_j: x_j = w_j L / sum of w_i T_i. With equal
    packets all have the rate of a cell in which everybody is as slow as the mean: the anomaly. With equal airtime,
    where DIFS and backoff are short beside a_i, x_j is 1/n of what j would have alone, whoever the others are.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> fast, slow = (CellTimes.of(airtimes("802.11a", rate, lengths=[1536])) for rate in ("54mbit", "6mbit"))
    >>> [round(bps / 1e6, 2) for bps in download_shares([fast, slow], "packets").station_bps]
    [4.57, 4.57]
    >>> [round(bps / 1e6, 2) for bps in download_shares([fast, slow], "airtime").station_bps]
    [17.16, 2.35]
    """
    if not times:
        raise MayflyError("no stations: must be one or more")
    if fairness not in FAIRNESS:
        raise MayflyError(f"fairness = {fairness}: must be one of {', '.join(FAIRNESS)}")
    on_air = np.array([one.airtime_s(packet_bytes) for one in times])
    taken = np.array([one.exchange_s(packet_bytes) + one.cw_min / 2 * one.slot_s for one in times])
    weights = np.ones(len(times)) if fairness == "packets" else 1 / on_air
    station_bps = 8 * packet_bytes * weights / (weights @ taken)
    airtime = weights * on_air / (weights @ on_air)
    return Shares(tuple(station_bps.tolist()), tuple(airtime.tolist()))
