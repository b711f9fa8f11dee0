"""Files of traces: Mahimahi's format and CSV, read and written.

Mahimahi: a line for each opportunity, its time in whole milliseconds, which do not fall; the trace begins anew after
the last one. CSV: a head with ``time_s`` or ``time_ms``, one of ``rate_bps``, ``rate_kbps`` and ``rate_mbps``, and,
where the delay varies, ``added_delay_s`` or ``added_delay_ms``, what comes on top of the delay of the link. A last line
with a time and no rate is the end; without it the last step lasts as long as the one before. Lines that begin with
``#`` are comments of a CSV file.
"""

import math
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from mayfly.errors import MayflyError
from mayfly.link_trace.trace import OPPORTUNITY_BYTES, LinkTrace
from mayfly.text.files import bounded_text, when_complete
from mayfly.text.quantity import shown
from mayfly.text.readable import printable

MOST_ENTRIES = 5_000_000
MOST_PERIOD_S = 7 * 86_400.0
FASTEST_BPS = 400e9
MOST_DELAY_S = 60.0
LEAST_MEAN_BPS = 1000.0
_LARGEST_FILE = 200 << 20

_TIMES = {"time_s": 1.0, "time_ms": 1e-3}
_RATES = {"rate_bps": 1.0, "rate_kbps": 1e3, "rate_mbps": 1e6}
_DELAYS = {"added_delay_s": 1.0, "added_delay_ms": 1e-3}


def read_trace(path: str | os.PathLike[str]) -> LinkTrace:
    """Reads a trace in either format.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    LinkTrace

    Raises
    ------
    MayflyError
        In one line: no such file, or file and line, the value and its bound.
    """
    path = Path(path)
    try:
        found = path.stat()
        return _read(str(path), found.st_mtime_ns, found.st_size)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise MayflyError(f"{printable(path)}: not a trace of a link: {reason}") from None


@lru_cache(maxsize=16)
def _read(path: str, modified_ns: int, size: int) -> LinkTrace:
    """The trace of a file that has not changed since."""
    name = printable(path)
    lines = bounded_text(Path(path), _LARGEST_FILE).splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    is_csv = any(letter.isalpha() for letter in first)
    trace = _csv(name, lines) if is_csv else _mahimahi(name, lines)
    if trace.mean_bps < LEAST_MEAN_BPS:
        raise MayflyError(f"{name}: mean rate of {trace.mean_bps:g} bit/s: must be at least 1 kbit/s")
    return trace


def _mahimahi(name: str, lines: list[str]) -> LinkTrace:
    if not lines:
        raise MayflyError(f"{name}: is empty: must have times in milliseconds, or the head of a CSV file")
    _bounded(name, len(lines))
    times = []
    before = 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 12):
            raise _refused(name, number, text, "a time in whole milliseconds")
        at = int(text)
        if at < before:
            raise _refused(name, number, text, f"no less than the line before, {before}")
        times.append(at)
        before = at
    if not 0 < before <= MOST_PERIOD_S * 1000:
        raise _refused(name, len(lines), str(before), "above 0 and at most 7 days, as the length of the trace")
    # An opportunity at the end is the begin of the next period.
    at_ns = np.sort(np.array(times, dtype=np.int64) % before) * 1_000_000
    none = np.array([], dtype=np.int64)
    return LinkTrace(name, at_ns, none, none, before * 1_000_000)


def _csv(name: str, lines: list[str]) -> LinkTrace:
    rows = [(number, line) for number, line in enumerate(lines, start=1) if line.strip() and not line.startswith("#")]
    head = [column.strip().lower() for column in rows[0][1].split(",")]
    _bounded(name, len(rows))
    time, rate, delay = (_column(name, rows[0][0], head, units) for units in (_TIMES, _RATES, _DELAYS))
    if time is None or rate is None:
        wanted = "time_s or time_ms, and rate_bps, rate_kbps or rate_mbps"
        raise _refused(name, rows[0][0], rows[0][1].strip(), f"a head with {wanted}")
    if unknown := [column for column in head if column not in _TIMES | _RATES | _DELAYS]:
        raise _refused(name, rows[0][0], unknown[0], "time, rate or added_delay with a unit, such as added_delay_ms")
    at: list[int] = []
    rates: list[int] = []
    delays: list[int] = []
    origin = end = None
    for number, line in rows[1:]:
        cells = [cell.strip() for cell in line.split(",")]
        if end is not None:
            raise _refused(name, number, line.strip(), "nothing after a line without a rate, which is the end")
        if len(cells) != len(head):
            raise _refused(name, number, line.strip(), f"{len(head)} values, as the head has")
        here = _number(name, number, head[time[0]], cells[time[0]], time[1], math.inf, -math.inf)
        origin = here if origin is None else origin
        here -= origin
        if at and round(here * 1e9) <= at[-1]:
            raise _refused(name, number, f"{head[time[0]]} = {cells[time[0]]}", "above that of the line before")
        if here > MOST_PERIOD_S:
            raise _refused(name, number, f"{head[time[0]]} = {cells[time[0]]}", "within 7 days of the first")
        if not cells[rate[0]]:
            end = round(here * 1e9)
            continue
        at.append(round(here * 1e9))
        rates.append(round(_number(name, number, head[rate[0]], cells[rate[0]], rate[1], FASTEST_BPS)))
        if delay is not None:
            value = _number(name, number, head[delay[0]], cells[delay[0]] or "0", delay[1], MOST_DELAY_S)
            delays.append(round(value * 1e9))
    if not at:
        raise MayflyError(f"{name}: has a head only: must have a line for each step")
    if end is None:
        end = at[-1] + (at[-1] - at[-2] if len(at) > 1 else 1_000_000_000)
    if end <= at[-1]:
        raise MayflyError(f"{name}: ends at {end * 1e-9:g} s: must be after its last step, at {at[-1] * 1e-9:g} s")
    begins, steps, added = (np.array(values, dtype=np.int64) for values in (at, rates, delays or [0] * len(at)))
    return LinkTrace(name, begins, steps, added, end)


def _column(name: str, line: int, head: list[str], units: dict[str, float]) -> tuple[int, float] | None:
    """Place of the column in one of these units, and the unit."""
    found = [(place, units[column]) for place, column in enumerate(head) if column in units]
    if len(found) > 1:
        raise _refused(name, line, ",".join(head), f"one of {', '.join(units)}")
    return found[0] if found else None


def _number(name: str, line: int, column: str, text: str, unit: float, most: float, least: float = 0.0) -> float:
    try:
        value = float(text) * unit
    except ValueError:
        value = math.nan
    if not (least <= value <= most and math.isfinite(value)):
        bound = "a number" if most == math.inf else f"from 0 to {most / unit:g}"
        raise _refused(name, line, f"{column} = {text}", bound)
    return value


def _bounded(name: str, entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise MayflyError(f"{name}: {entries} lines: must be at most {MOST_ENTRIES}")


def _refused(name: str, line: int, text: str, bound: str) -> MayflyError:
    return MayflyError(f"{name}, line {line}: {shown(text)[1:-1]}: must be {bound}")


def write_trace(trace: LinkTrace, path: str | os.PathLike[str]) -> None:
    """Writes a trace: of opportunities in Mahimahi's format, of steps as CSV.

    Parameters
    ----------
    trace : LinkTrace
        What to write.
    path : path
        The file, which appears when it is complete. ``.mahimahi``, ``.up`` and ``.down`` make opportunities of steps.

    Raises
    ------
    MayflyError
        The place cannot be written, or a trace that has no opportunity.
    """
    path = Path(path)
    if path.suffix in (".mahimahi", ".up", ".down") or trace.has_opportunities:
        text = "".join(f"{at}\n" for at in opportunities_ms(trace))
    else:
        head = "time_s,rate_bps"
        varies = bool(trace.added_delay_ns.any())
        rows = [
            f"{_seconds(at)},{rate}" + (f",{_seconds(delay)}" if varies else "")
            for at, rate, delay in zip(
                trace.at_ns.tolist(), trace.rate_bps.tolist(), trace.added_delay_ns.tolist(), strict=True
            )
        ]
        end = f"{_seconds(trace.period_ns)}," + ("," if varies else "")
        text = "\n".join([head + (",added_delay_s" if varies else ""), *rows, end]) + "\n"
    with when_complete(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _seconds(ns: int) -> str:
    """Nanoseconds as seconds, all digits."""
    whole, part = divmod(ns, 10**9)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def opportunities_ms(trace: LinkTrace) -> list[int]:
    """A trace as instants of Mahimahi: each when the bits of one more opportunity have been sent.

    Parameters
    ----------
    trace : LinkTrace
        Its added delay has no place there, and is left out.

    Returns
    -------
    list of int
        Milliseconds; the last one is the length of the trace.

    Raises
    ------
    MayflyError
        The trace is shorter than a millisecond, or sends less than one opportunity.
    """
    period_ms = round(trace.period_s * 1000)
    if trace.has_opportunities:
        found = (trace.at_ns // 1_000_000).tolist()
    else:
        times, sent = trace._before
        count = int(sent[-1] / (8 * OPPORTUNITY_BYTES))
        _bounded(trace.name, count)
        # Rising only: an outage is a flat piece, at whose end the next opportunity comes.
        needed = np.arange(1, count + 1) * (8.0 * OPPORTUNITY_BYTES)
        place = np.searchsorted(sent, needed, side="left")
        rate = (sent[place] - sent[place - 1]) / (times[place] - times[place - 1])
        found = np.ceil((times[place - 1] + (needed - sent[place - 1]) / rate) * 1000 - 1e-6).astype(int).tolist()
    # The last line is the period; an instant at 0 belongs to its end.
    found = sorted(at if at > 0 else period_ms for at in found)
    if not found or period_ms < 1:
        raise MayflyError(f"{trace.name}: sends less than one packet: must be longer for Mahimahi's format")
    return found if found[-1] >= period_ms else [*found, period_ms]
