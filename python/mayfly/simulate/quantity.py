"""Numbers with units, as users write them: ``10mbit``, ``1.5s``, ``300`` packets or ``450kB``."""

import math
import re

from mayfly.errors import MayflyError

_NUMBER_WITH_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Z/]*)\s*\Z", re.IGNORECASE)

_RATES = {"": 1.0, "bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_RATES |= {f"{unit}/s": factor for unit, factor in _RATES.items() if unit}
_TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20}
_PACKETS = {"": 1, "p": 1, "packet": 1, "packets": 1}

RATE_BOUNDS_BPS = (1_000.0, 400e9)
BUFFER_MOST_PACKETS = 10_000_000
BUFFER_MOST_BYTES = 10**11


def _split(value: object, name: str, expected: str) -> tuple[float, str]:
    if isinstance(value, bool):
        raise MayflyError(f"{name} = {value}: must be {expected}")
    if isinstance(value, int | float):
        number, unit = float(value), ""
    else:
        match = _NUMBER_WITH_UNIT.match(str(value))
        if match is None:
            raise MayflyError(f"{name} = '{value}': must be {expected}")
        number, unit = float(match[1]), match[2].lower()
    if not math.isfinite(number):
        raise MayflyError(f"{name} = {value}: must be {expected}")
    return number, unit


def rate_bps(value: object, name: str = "rate") -> int:
    """Bit rate in bit/s.

    Parameters
    ----------
    value : str or number
        A number of bit/s, or a number with ``bit``, ``kbit``, ``mbit`` or ``gbit`` (decimal, ``/s`` optional).
    name : str
        What the error message calls it.

    Returns
    -------
    int
        Bit/s, from 1 kbit/s to 400 Gbit/s.

    Raises
    ------
    MayflyError
        Not a rate, or outside the bounds.

    Examples
    --------
    >>> rate_bps("10mbit")
    10000000
    """
    low, high = RATE_BOUNDS_BPS
    expected = "a rate from 1kbit to 400gbit, such as 10mbit"
    number, unit = _split(value, name, expected)
    if unit not in _RATES or not low <= number * _RATES[unit] <= high:
        raise MayflyError(f"{name} = '{value}': must be {expected}")
    return round(number * _RATES[unit])


def seconds(value: object, name: str = "time") -> float:
    """Time in seconds, >= 0.

    Parameters
    ----------
    value : str or number
        A number of seconds, or a number with ``s``, ``ms``, ``us``, ``ns``, ``min`` or ``h``.
    name : str
        What the error message calls it.

    Returns
    -------
    float
        Seconds, from 0 to two years.

    Raises
    ------
    MayflyError
        Not a time, negative, or too long.

    Examples
    --------
    >>> seconds("200ms")
    0.2
    """
    expected = "a time of 0 or more and at most 2 years, such as 0.2s or 200ms"
    number, unit = _split(value, name, expected)
    if unit not in _TIMES or not 0 <= number * _TIMES[unit] <= 63_072_000:
        raise MayflyError(f"{name} = '{value}': must be {expected}")
    return number * _TIMES[unit]


def buffer(value: object, name: str = "buffer") -> tuple[int, str]:
    """Buffer limit.

    Parameters
    ----------
    value : str or number
        A whole number of packets, or a number with ``B``, ``kB``, ``MB``, ``KiB`` or ``MiB``.
    name : str
        What the error message calls it.

    Returns
    -------
    limit : int
        Packets or bytes.
    unit : str
        ``packets`` or ``bytes``.

    Raises
    ------
    MayflyError
        Not a buffer, or outside the bounds.

    Examples
    --------
    >>> buffer(300), buffer("450kB")
    ((300, 'packets'), (450000, 'bytes'))
    """
    expected = f"a whole number of packets from 1 to {BUFFER_MOST_PACKETS}, or bytes such as 450kB"
    number, unit = _split(value, name, expected)
    scale, most, kind = (
        (_PACKETS.get(unit), BUFFER_MOST_PACKETS, "packets")
        if unit in _PACKETS
        else (_BYTES.get(unit), BUFFER_MOST_BYTES, "bytes")
    )
    if scale is None or not 1 <= number * scale <= most or number * scale != round(number * scale):
        raise MayflyError(f"{name} = '{value}': must be {expected}")
    return round(number * scale), kind
