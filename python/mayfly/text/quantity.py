"""Numbers with units, as users write them: ``10mbit``, ``1.5s``, ``300`` packets or ``450kB``."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real

from mayfly.errors import MayflyError

_NUMBER_WITH_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Z/]*)\s*\Z", re.IGNORECASE)

_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_RATES = {"": 1.0}
for _prefix, _factor in _PREFIXES.items():
    _RATES |= dict.fromkeys((f"{_prefix}bit", f"{_prefix}bit/s", f"{_prefix}bps", f"{_prefix}b/s"), _factor)
    _RATES |= {_prefix: _factor} if _prefix else {}
_BYTES_PER_SECOND = re.compile(r"([kKmMgG]?)(B/s|B|Bps)\Z")
"""Spellings with a large B, which stands for bytes; `mbps` is megabits, though not in `tc`."""
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
        A number of bit/s, or a number with ``bit``, ``kbit``, ``mbit`` or ``gbit`` (decimal, ``/s`` optional); ``10M``,
        ``10Mbps`` and ``10Mb/s`` are read as ``10mbit``.
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
    >>> rate_bps("10mbit"), rate_bps("2.5 Mbit/s"), rate_bps("1G")
    (10000000, 2500000, 1000000000)
    >>> rate_bps("2MB/s", "--rate")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: --rate = '2MB/s': must be in bits, and B stands for bytes: write 16mbit
    """
    low, high = RATE_BOUNDS_BPS
    expected = "a rate from 1kbit to 400gbit, such as 10mbit"
    written = _NUMBER_WITH_UNIT.match(value) if isinstance(value, str) else None
    if written is not None and (in_bytes := _BYTES_PER_SECOND.match(written[2])):
        bits = f"{8 * float(written[1]):g}{in_bytes[1].lower()}bit"
        raise MayflyError(f"{name} = {shown(value)}: must be in bits, and B stands for bytes: write {bits}")
    number, unit = _split(value, name, expected)
    if unit == "mb":
        raise MayflyError(f"{name} = {shown(value)}: must be {expected}: write {number:g}mbit")
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


def is_time(value: object) -> bool:
    """Whether a buffer is written as a time.

    Examples
    --------
    >>> is_time("20ms"), is_time("300"), is_time("450kB"), is_time(0.02)
    (True, False, False, False)
    """
    match = _NUMBER_WITH_UNIT.match(value) if isinstance(value, str) else None
    return match is not None and match[2] != "" and match[2].lower() in _TIMES


def both_ways(value: object, name: str) -> tuple[object, object | None]:
    """A value, or one for each direction with a stroke between them.

    Parameters
    ----------
    value : object
        Such as ``100mbit/20mbit``, down before up; ``100Mbit/s/20Mbit/s`` and ``10Mb/s`` are understood.
    name : str
        What the error message calls it.

    Returns
    -------
    down : object
    up : object or None
        None for as down.

    Raises
    ------
    MayflyError
        More than two values, or an empty one.

    Examples
    --------
    >>> both_ways("100mbit/20mbit", "--rate"), both_ways("10Mb/s", "--rate"), both_ways(300, "--buffer")
    (('100mbit', '20mbit'), ('10Mb/s', None), (300, None))
    """
    if not isinstance(value, str) or "/" not in value:
        return value, None
    parts = [part.strip() for part in re.split(r"/(?!\s*s\b)", value)]
    if len(parts) > 2 or not all(parts):
        raise MayflyError(f"{name} = {shown(value)}: must be one value, or two for down and up such as 300/50")
    return (parts[0], parts[1]) if len(parts) == 2 else (value, None)


def buffer(value: object, name: str = "buffer", rate_bps: float | None = None) -> tuple[int, str]:
    """Buffer limit.

    Parameters
    ----------
    value : str or number or pair
        A whole number of packets, or a number with ``B``, ``kB``, ``MB``, ``GB``, ``KiB`` or ``MiB``; or limit and unit
        as returned; or, with a rate, a time such as ``20ms``.
    name : str
        What the error message calls it.
    rate_bps : float, optional
        Rate of the link: a time is the bytes that it sends in it.

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
    >>> buffer(300), buffer("450kB"), buffer("20ms", rate_bps=10e6)
    ((300, 'packets'), (450000, 'bytes'), (25000, 'bytes'))
    """
    expected = f"a whole number of packets from 1 to {BUFFER_MOST_PACKETS}, or bytes such as 450kB"
    if rate_bps is not None:
        expected += ", or a time such as 20ms"
        if is_time(value):
            # A link sends whole bytes; less than one is refused below.
            value = (round(seconds(value, name) * rate_bps / 8), "bytes")
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
