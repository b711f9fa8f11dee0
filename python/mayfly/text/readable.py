"""Numbers with a unit a person reads at a glance."""

from collections.abc import Callable, Sequence

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"))
MISSING = "–"


def digits(value: float) -> str:
    """Three significant digits, no exponent.

    Examples
    --------
    >>> digits(0.0907), digits(3.944), digits(55.788), digits(1234.5)
    ('0.0907', '3.94', '55.8', '1,234')
    """
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 2
    while abs(value) < 10 ** (2 - places) and places < 9:
        places += 1
    return f"{value:.{places if abs(value) < 10 else 1}f}"


def _scaled(value: float, scales: Sequence[tuple[float, str]], smallest: tuple[float, str]) -> tuple[float, str]:
    return next((scale for scale in scales if abs(value) >= scale[0]), smallest)


def time_text(seconds: float | None) -> str:
    """Seconds as s, ms or µs.

    Examples
    --------
    >>> time_text(0.0907), time_text(3.944), time_text(None)
    ('90.7 ms', '3.94 s', '–')
    """
    if seconds is None:
        return MISSING
    scale, unit = _scaled(seconds, _TIMES, (1.0, "s") if seconds == 0 else _TIMES[-1])
    return f"{digits(seconds / scale)} {unit}"


def interval_text(
    mean_s: float | None, interval: Sequence[float] | None, write: Callable[[float], str] = digits
) -> str:
    """Write an interval of times in the unit of its mean, in brackets; ``write`` writes each end.

    Examples
    --------
    >>> interval_text(0.09, [0.0871, 0.0929]), interval_text(0.09, None)
    ('[87.1, 92.9]', '')
    """
    if mean_s is None or interval is None:
        return ""
    scale, _ = _scaled(mean_s, _TIMES, (1.0, "s") if mean_s == 0 else _TIMES[-1])
    return f"[{write(interval[0] / scale)}, {write(interval[1] / scale)}]"


def bytes_text(count: float | None) -> str:
    """Bytes with a decimal prefix.

    Examples
    --------
    >>> bytes_text(999), bytes_text(1_234_567)
    ('999 B', '1.23 MB')
    """
    if count is None:
        return MISSING
    scale, unit = _scaled(count, _BYTES, (1.0, "B"))
    return f"{digits(count / scale)} {unit}"


def memory_text(count: float | None) -> str:
    """Bytes of memory, in KiB.

    Examples
    --------
    >>> memory_text(0), memory_text(6416), memory_text(33_808_000), memory_text(None)
    ('0', '6.27 KiB', '33,016 KiB', '–')
    """
    if count is None:
        return MISSING
    return "0" if count == 0 else f"{digits(count / 1024)} KiB"


def spread_text(mean_s: float | None, interval: Sequence[float] | None) -> str:
    """Seconds as s, ms or µs with half the width of an interval.

    Examples
    --------
    >>> spread_text(0.784, [0.772, 0.796]), spread_text(7.15, [5.9, 8.4]), spread_text(7.15, None)
    ('784 ±12 ms', '7.15 ±1.25 s', '7.15 s')
    """
    if mean_s is None or interval is None:
        return time_text(mean_s)
    scale, unit = _scaled(mean_s, _TIMES, (1.0, "s") if mean_s == 0 else _TIMES[-1])
    mean = digits(mean_s / scale)
    places = len(mean.partition(".")[2])
    return f"{mean} ±{(interval[1] - interval[0]) / 2 / scale:,.{places}f} {unit}"


def rate_text(bits_per_s: float | None) -> str:
    """Bits per second with a decimal prefix.

    Examples
    --------
    >>> rate_text(10e6)
    '10.0 Mbit/s'
    """
    if bits_per_s is None:
        return MISSING
    scale, unit = _scaled(bits_per_s, _RATES, (1.0, "bit/s"))
    return f"{digits(bits_per_s / scale)} {unit}"


def share_text(share: float | None) -> str:
    """Write a share in per cent.

    Examples
    --------
    >>> share_text(0.7953), share_text(None)
    ('79.5 %', '–')
    """
    return MISSING if share is None else f"{100 * share:.1f} %"


def count_text(count: float | None) -> str:
    """Write a count with separators, or three digits of a mean.

    Examples
    --------
    >>> count_text(16501), count_text(84.71)
    ('16,501', '84.7')
    """
    if count is None:
        return MISSING
    return f"{count:,}" if isinstance(count, int) else digits(count)


def harmless(text: str) -> str:
    r"""Text of any number of lines that a terminal shows and does not obey, whoever wrote it.

    Examples
    --------
    >>> harmless("a name\x1b[2J\nthe next")
    'a name\\x1b[2J\nthe next'
    """
    if text.isprintable():
        return text
    kept = "\n\t"
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def printable(value: object) -> str:
    r"""Write a stranger's value on one line: control characters escaped, at most 80 characters.

    Examples
    --------
    >>> printable("a\nb")
    'a\\nb'
    """
    text = str(value)
    text = text if len(text) <= 80 else text[:77] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
