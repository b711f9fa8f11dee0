"""Time that frames of 802.11 take on the air, from the tables that the simulator uses."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError

LLC_BYTES = 8
"""LLC and SNAP headers (802.2) before an IP packet."""

MAC_BYTES = 24
"""MAC header of a data frame with three addresses (802.11-2020, 9.3.2.1)."""

QOS_BYTES = 2
"""QoS control field, in every data frame of a QoS station."""

FCS_BYTES = 4
"""Frame check sequence."""


@cache
def standards() -> dict[str, dict[str, Any]]:
    """The standards a cell can have.

    Returns
    -------
    dict of dict
        By name: ``rates`` (names, slowest first), ``cw_min``, ``cw_max`` (slots less one), ``aggregates`` (whether
        several frames can go out as one) and ``symbol_ns``.

    Examples
    --------
    >>> list(standards()), standards()["802.11b"]["rates"][-1]
    (['802.11a', '802.11b', '802.11g', '802.11n', '802.11ac'], '11mbit')
    """
    standards: dict[str, dict[str, Any]] = json.loads(_native.wlan_standards())
    return standards


def overhead_bytes(qos: bool) -> int:
    """What surrounds an IP packet in a frame.

    Parameters
    ----------
    qos : bool
        Whether stations are QoS stations: with EDCA, and in 802.11n and ac.

    Returns
    -------
    int
        Bytes of MAC header, LLC and frame check sequence.

    Examples
    --------
    >>> overhead_bytes(False), overhead_bytes(True)
    (36, 38)
    """
    return MAC_BYTES + QOS_BYTES * qos + LLC_BYTES + FCS_BYTES


@dataclass(frozen=True)
class Airtimes:
    """Timing of one link of a cell.

    Parameters
    ----------
    slot_ns, sifs_ns : int
        Slot and short interframe space.
    cw_min, cw_max : int
        Contention windows of plain DCF: slots less one.
    ack_ns, rts_ns, cts_ns : int
        Control frames.
    ack_timeout_ns : int
        From the end of a frame to its timeout: SIFS, a slot, and the preamble of a control frame.
    eifs_extra_ns : int
        EIFS less DIFS: SIFS and an acknowledgement at the lowest mandatory rate.
    preamble_ns : int
        Preamble and physical header of a data frame.
    rate_bps : float
        Speed of its data, bit/s.
    lengths : tuple of int
        PSDUs, bytes: IP packet and :func:`overhead_bytes`.
    data_ns : tuple of int
        Data frames of these lengths.
    """

    slot_ns: int
    sifs_ns: int
    cw_min: int
    cw_max: int
    ack_ns: int
    rts_ns: int
    cts_ns: int
    ack_timeout_ns: int
    eifs_extra_ns: int
    preamble_ns: int
    rate_bps: float
    lengths: tuple[int, ...]
    data_ns: tuple[int, ...]

    def ifs_ns(self, aifsn: int = 2) -> int:
        """Interframe space before a backoff: DIFS, or AIFS of an EDCA category.

        Parameters
        ----------
        aifsn : int
            Slots after SIFS, >= 1; 2 is DIFS.

        Returns
        -------
        int
            Nanoseconds.
        """
        return self.sifs_ns + aifsn * self.slot_ns

    @property
    def difs_ns(self) -> int:
        """DIFS, ns."""
        return self.ifs_ns()

    @property
    def eifs_ns(self) -> int:
        """EIFS, ns (802.11-2020, 10.3.7)."""
        return self.difs_ns + self.eifs_extra_ns


def airtimes(
    standard: str = "802.11a",
    rate: str | None = None,
    *,
    lengths: Sequence[int] = (),
    width: int = 20,
    streams: int = 1,
    short_guard: bool = False,
    short_preamble: bool = False,
    long_slot: bool = False,
    ack_rate: str | None = None,
) -> Airtimes:
    """Timing of a link at one rate.

    Parameters
    ----------
    standard : str
        ``802.11a``, ``802.11b``, ``802.11g``, ``802.11n`` or ``802.11ac``.
    rate : str, optional
        Of data frames, ``54mbit`` or, of 802.11n and ac, ``mcs7``; the highest of the standard when not given.
    lengths : sequence of int
        PSDUs whose time is wanted, bytes: IP packet and :func:`overhead_bytes`.
    width : int
        Channel of 802.11n and ac, MHz.
    streams : int
        Spatial streams of 802.11n and ac.
    short_guard : bool
        Guard interval of 400 in place of 800 ns.
    short_preamble : bool
        Of 802.11b: 96 in place of 192 us.
    long_slot : bool
        Of 802.11g: 20 in place of 9 us.
    ack_rate : str, optional
        Of control frames; the highest mandatory rate not above that of the data when not given.

    Returns
    -------
    Airtimes
        Nanoseconds.

    Raises
    ------
    MayflyError
        A standard, rate or channel there is not.

    Examples
    --------
    One station that always has a packet of 1500 bytes sends one every 393.5 us:

    >>> times = airtimes("802.11a", lengths=[1500 + overhead_bytes(False)])
    >>> backoff_ns = times.cw_min * times.slot_ns / 2
    >>> (times.difs_ns + backoff_ns + times.data_ns[0] + times.sifs_ns + times.ack_ns) / 1e3
    393.5
    """
    rate = highest_rate(standard, width, streams) if rate is None else rate
    for name, values in (("lengths", lengths), ("width", [width]), ("streams", [streams])):
        if wrong := [value for value in values if not 0 <= value < 1 << 24]:
            raise MayflyError(f"{name} = {wrong[0]}: must be from 0 to 16777215")
    try:
        text = _native.wlan_airtimes(
            standard, rate, width, streams, short_guard, short_preamble, ack_rate, list(lengths), long_slot
        )
    except ValueError as error:
        raise MayflyError(str(error)) from None
    found = json.loads(text)
    return Airtimes(**found | {"lengths": tuple(lengths), "data_ns": tuple(found["data_ns"])})


def highest_rate(standard: str, width: int = 20, streams: int = 1) -> str:
    """The highest rate of a standard on a channel.

    Parameters
    ----------
    standard : str
        As for :func:`airtimes`.
    width : int
        Channel, MHz.
    streams : int
        Spatial streams.

    Returns
    -------
    str
        Its name.

    Raises
    ------
    MayflyError
        A standard there is not.

    Examples
    --------
    >>> highest_rate("802.11ac"), highest_rate("802.11ac", 80), highest_rate("802.11g")
    ('mcs8', 'mcs9', '54mbit')
    """
    known = standards()
    if standard not in known:
        raise MayflyError(f"standard = {standard}: must be one of {', '.join(known)}")
    rates = known[standard]["rates"]
    # 256-QAM with 5/6 does not fill the symbols of 20 MHz unless there are 3 streams or 6 (802.11-2020, 21.5).
    result: str = rates[-2] if rates[-1] == "mcs9" and width == 20 and streams % 3 else rates[-1]
    return result
