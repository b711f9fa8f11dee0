"""Access categories of EDCA: how each contends, as data.

AIFSN and windows are those of 802.11-2020, Table 9-155. The time for which a won medium is kept (TXOP) is that of
802.11-2012, Table 8-105, which hosts and simulators still use: 802.11-2016 raised it, to 2.528 ms for ``bk`` and
``be``.
"""

from typing import NamedTuple

CATEGORIES = ("bk", "be", "vi", "vo")
"""Background, best effort, video, voice: from the lowest priority to the highest."""

AIFSN = {"bk": 7, "be": 3, "vi": 2, "vo": 2}
"""Slots after SIFS before a backoff."""

DIFS_SLOTS = 2
"""Of plain DCF: DIFS is SIFS and two slots (802.11-2020, 10.3.7)."""

TXOP_US = {"bk": (0, 0), "be": (0, 0), "vi": (3008, 6016), "vo": (1504, 3264)}
"""Microseconds for which a won medium is kept, with OFDM and with DSSS; 0 for one exchange."""


class Category(NamedTuple):
    """A category as the native module takes it: AIFSN, contention windows (slots less one), TXOP (ns)."""

    aifsn: int
    cw_min: int
    cw_max: int
    txop_ns: int


def category(name: str, cw_min: int, cw_max: int, dsss: bool) -> Category:
    """How a category contends.

    Parameters
    ----------
    name : str
        One of `CATEGORIES`.
    cw_min, cw_max : int
        Windows of the standard (aCWmin, aCWmax), slots less one.
    dsss : bool
        Whether data goes out by DSSS: 802.11b.

    Returns
    -------
    Category
        Of 802.11-2020, Table 9-155.

    Examples
    --------
    >>> category("vo", 15, 1023, dsss=False)
    Category(aifsn=2, cw_min=3, cw_max=7, txop_ns=1504000)
    """
    windows = {"vi": ((cw_min + 1) // 2 - 1, cw_min), "vo": ((cw_min + 1) // 4 - 1, (cw_min + 1) // 2 - 1)}
    return Category(AIFSN[name], *windows.get(name, (cw_min, cw_max)), TXOP_US[name][dsss] * 1000)


def dcf(cw_min: int, cw_max: int) -> Category:
    """The one category of plain DCF.

    Parameters
    ----------
    cw_min, cw_max : int
        Windows of the standard, slots less one.

    Returns
    -------
    Category
        One exchange for every access.
    """
    return Category(DIFS_SLOTS, cw_min, cw_max, 0)
