"""What the models of a wireless cell know of 802.11: the times of frames and the bounds of the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from mayfly.scenario.airtimes import Airtimes

TCP_ACK_BYTES = 40
"""A bare acknowledgement of TCP with its IP header."""

WAITS = ("difs", "timeout", "eifs")
"""What the cell waits after a collision."""


@dataclass(frozen=True)
class CellTimes:
    """Times of a link between a station and its access point, the same both ways.

    Parameters
    ----------
    slot_s, sifs_s, difs_s, eifs_s : float
        Slot and interframe spaces, seconds, above 0.
    ack_s : float
        An acknowledgement of the MAC layer, seconds, above 0.
    ack_timeout_s : float
        What a sender waits after its frame for the acknowledgement to begin, seconds, above 0.
    data_s : mapping of int to float
        Frames by the length of their IP packet, bytes; seconds on the air, above 0.
    cw_min, cw_max : int
        Contention windows: slots less one, from 0 to 32767, ascending.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Examples
    --------
    >>> from mayfly.scenario.airtimes import airtimes
    >>> times = CellTimes.of(airtimes("802.11a", lengths=[1536, 76]))
    >>> round(times.exchange_s(1500) * 1e6, 3), round(times.exchange_s(40) * 1e6, 3)
    (326.0, 110.0)
    """

    slot_s: float
    sifs_s: float
    difs_s: float
    eifs_s: float
    ack_s: float
    ack_timeout_s: float
    data_s: Mapping[int, float]
    cw_min: int
    cw_max: int

    def __post_init__(self) -> None:
        times = [getattr(self, name) for name in ("slot_s", "sifs_s", "difs_s", "eifs_s", "ack_s", "ack_timeout_s")]
        if wrong := [time for time in (*times, *self.data_s.values()) if not 0 < time < 1]:
            raise MayflyError(f"time = {wrong[0]:g} s: must be above 0 and below 1")
        if not 0 <= self.cw_min <= self.cw_max <= 32_767:
            raise MayflyError(f"cw_min = {self.cw_min}, cw_max = {self.cw_max}: must ascend, from 0 to 32767")

    @classmethod
    def of(cls, times: Airtimes, overhead_bytes: int = 36) -> CellTimes:
        """Those of a standard and a rate.

        Parameters
        ----------
        times : Airtimes
            With the frames wanted: ``lengths`` are IP packets and ``overhead_bytes``.
        overhead_bytes : int
            MAC header, LLC and frame check sequence, bytes.

        Returns
        -------
        CellTimes
            In seconds.
        """
        return cls(
            slot_s=times.slot_ns / 1e9,
            sifs_s=times.sifs_ns / 1e9,
            difs_s=times.difs_ns / 1e9,
            eifs_s=times.eifs_ns / 1e9,
            ack_s=times.ack_ns / 1e9,
            ack_timeout_s=times.ack_timeout_ns / 1e9,
            data_s={bytes - overhead_bytes: ns / 1e9 for bytes, ns in zip(times.lengths, times.data_ns, strict=True)},
            cw_min=times.cw_min,
            cw_max=times.cw_max,
        )

    def frame_s(self, packet_bytes: int) -> float:
        """Time of a frame on the air.

        Parameters
        ----------
        packet_bytes : int
            Its IP packet, one of ``data_s``.

        Returns
        -------
        float
            Seconds.

        Raises
        ------
        MayflyError
            A length whose time is not known.
        """
        if packet_bytes not in self.data_s:
            known = ", ".join(str(bytes) for bytes in self.data_s)
            raise MayflyError(f"packet_bytes = {packet_bytes}: must be one of {known}")
        return self.data_s[packet_bytes]

    def exchange_s(self, packet_bytes: int) -> float:
        """DIFS, a frame, SIFS, its acknowledgement: what a success takes beside the backoff; as :meth:`frame_s`."""
        return self.difs_s + self.airtime_s(packet_bytes)

    def airtime_s(self, packet_bytes: int) -> float:
        """A frame, SIFS, its acknowledgement; as :meth:`frame_s`."""
        return self.frame_s(packet_bytes) + self.sifs_s + self.ack_s

    def collision_s(self, packet_bytes: int, wait: str = "difs") -> float:
        """What a collision takes of the cell.

        Parameters
        ----------
        packet_bytes : int
            The longest packet in it.
        wait : str
            After the longest frame: ``difs``, all stations together; ``timeout``, that of the sender, then DIFS;
            ``eifs``, that of those who could not read it.

        Returns
        -------
        float
            Seconds.

        Raises
        ------
        MayflyError
            Another wait.
        """
        waits = {"difs": self.difs_s, "timeout": self.ack_timeout_s + self.difs_s, "eifs": self.eifs_s}
        if wait not in waits:
            raise MayflyError(f"wait = {wait}: must be one of {', '.join(WAITS)}")
        return self.frame_s(packet_bytes) + waits[wait]
