"""Numbers with units, as users write them: ``10mbit``, ``1.5s``, ``300`` packets or ``450kB``."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real

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


def shown(value: object) -> str:
    """A refused value as messages show it.

    Parameters
    ----------
    value : object
        Whatever was given.

    Returns
    -------
    str
        On one line, at most 80 characters.

    Examples
    --------
    >>> shown("10 apples"), shown(float("nan")), shown("9" * 200)[-5:]
    ("'10 apples'", 'nan', '99...')
    """
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a number of more than 300 digits"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _split(value: object, name: str, expected: str) -> tuple[float, str]:
    """Number and unit; a number that is not finite becomes infinite, which is out of all bounds."""
    digits: Real | str
    if isinstance(value, Real) and not isinstance(value, bool):
        digits, unit = value, ""
    elif isinstance(value, str) and (match := _NUMBER_WITH_UNIT.match(value)) is not None:
        digits, unit = match[1], match[2]
    else:
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
    try:
        number = float(digits)
    except OverflowError:
        number = math.inf
    return math.inf if math.isnan(number) else number, unit.lower()


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
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
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
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
    return number * _TIMES[unit]


def buffer(value: object, name: str = "buffer") -> tuple[int, str]:
    """Buffer limit.

    Parameters
    ----------
    value : str or number or pair
        A whole number of packets, or a number with ``B``, ``kB``, ``MB``, ``GB``, ``KiB`` or ``MiB``; or limit and unit
        as returned.
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
    if isinstance(value, tuple | list) and len(value) == 2 and value[1] in ("packets", "bytes"):
        unit = {"packets": "p", "bytes": "b"}[value[1]]
        value = value[0]
        number, _ = _split(value, name, expected)
    else:
        number, unit = _split(value, name, expected)
    scale, most, kind = (
        (_PACKETS.get(unit), BUFFER_MOST_PACKETS, "packets")
        if unit in _PACKETS
        else (_BYTES.get(unit), BUFFER_MOST_BYTES, "bytes")
    )
    if scale is None or not 1 <= number * scale <= most or not _is_whole(number * scale):
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
    return round(number * scale), kind


def bare(text: str, unit: str) -> str:
    """A number as the simulator takes it: a suffix of time or size goes, anything else stays as it is.

    Parameters
    ----------
    text : str
        A number, perhaps with a suffix, or several with colons between them.
    unit : str
        Unit of the number: ``s`` takes the suffixes of :func:`seconds`, ``bytes`` those of :func:`buffer`.

    Returns
    -------
    str
        Without suffixes. What reads as no such number is returned unchanged, for its bounds to refuse it.

    Examples
    --------
    >>> bare("5ms", "s"), bare("30kB", "bytes"), bare("10kB:1MB", "bytes"), bare("5ms", "packets")
    ('0.005', '30000', '10000:1000000', '5ms')
    """
    parts = text.split(":")
    suffixes: dict[str, Mapping[str, float]] = {"s": _TIMES, "bytes": _BYTES}
    known = suffixes.get(unit, {})
    matches = [_NUMBER_WITH_UNIT.match(part) for part in parts]
    # Without a suffix the user's own digits are the number.
    if not any(match and match[2] for match in matches):
        return text
    numbers = []
    for match in matches:
        if match is None or match[2].lower() not in ("", *known):
            return text
        number = _scaled(match[1], known.get(match[2].lower(), 1))
        if number is None:
            return text
        numbers.append(number)
    return ":".join(numbers)


def _scaled(digits: str, factor: float) -> str | None:
    """The product as a decimal number, exact where the digits are; None when it is out of all bounds."""
    # Beyond 300 digits a decimal number would be written out in full.
    if not 1e-300 < abs(float(digits)) < 1e300:
        return digits if float(digits) == 0 else None
    product = Decimal(digits) * Decimal(repr(factor))
    return f"{product.normalize():f}"


def share(value: object, name: str = "load") -> float:
    """Offered load as a share of the link's rate.

    Parameters
    ----------
    value : str or number
        A plain number.
    name : str
        What the error message calls it.

    Returns
    -------
    float
        From 0.01 to 10.

    Raises
    ------
    MayflyError
        Not a number, or outside the bounds.

    Examples
    --------
    >>> share("0.8")
    0.8
    """
    expected = "a share of the rate from 0.01 to 10, such as 0.8"
    number, unit = _split(value, name, expected)
    if unit or not 0.01 <= number <= 10:
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
    return number


def probability(value: object, name: str = "loss") -> float:
    """Probability, as a number or in percent.

    Parameters
    ----------
    value : str or number
        ``0.01`` or ``1%``.
    name : str
        What the error message calls it.

    Returns
    -------
    float
        From 0 to below 1.

    Raises
    ------
    MayflyError
        Not a number, or outside the bounds.

    Examples
    --------
    >>> probability("1%"), probability("0.02")
    (0.01, 0.02)
    """
    expected = "a probability from 0 to below 1, such as 0.01 or 1%"
    if isinstance(value, str) and value.rstrip().endswith("%"):
        number, unit = _split(value.rstrip()[:-1], name, expected)
        number /= 100
    else:
        number, unit = _split(value, name, expected)
    if unit or not 0 <= number < 1:
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}")
    return number


def _is_whole(number: float) -> bool:
    """Whether the number is whole but for binary fractions: 1.001 kB are 1001 bytes."""
    return math.isclose(number, round(number), rel_tol=1e-12)
