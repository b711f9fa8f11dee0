"""Which time of a capture counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text import quantity
from mayfly.text.readable import printable, time_text

LATEST_NS = 2**63 - 1
"""After every packet."""

_NS = 10**9


@dataclass(frozen=True)
class Span:
    """The time of captures that counts, as asked for.

    Parameters
    ----------
    begin, end : str, optional
        A time since the first packet (``20min``), a time of day of the first day (``14:30``) or a date and time
        (``2026-11-28T14:30``), both in UTC where no offset is given; the beginning and the end of the capture when
        absent.
    """

    begin: str | None = None
    end: str | None = None

    @property
    def asked(self) -> bool:
        """Whether not all of the capture counts."""
        return (self.begin, self.end) != (None, None)

    def within(self, paths: Sequence[str]) -> tuple[int, int, int]:
        """When it begins and ends in captures.

        Parameters
        ----------
        paths : sequence of str
            Captures that are read as one.

        Returns
        -------
        int, int, int
            The first packet, begin and end, ns since 1970, the end excluded.

        Raises
        ------
        MayflyError
            The standard input, which cannot be read twice, no such time, or an end before the beginning; one line.
        """
        if "-" in paths:
            raise MayflyError("--from, --to: need a file: the standard input is read once")
        try:
            first_ns = _native.first_packet_ns(list(paths))
        except ValueError as error:
            raise MayflyError(" ".join(str(error).split())) from None
        if first_ns is None:
            return 0, 0, 1
        begin_ns = first_ns if self.begin is None else _time_ns(self.begin, "--from", first_ns)
        end_ns = LATEST_NS if self.end is None else _time_ns(self.end, "--to", first_ns)
        if end_ns <= begin_ns:
            raise MayflyError(f"--to {self.end}: must be after --from, {self.begin or 'the first packet'}")
        return first_ns, begin_ns, end_ns


def _time_ns(text: str, option: str, first_ns: int) -> int:
    """A time as given, ns since 1970."""
    first = datetime.fromtimestamp(first_ns // _NS, UTC)
    try:
        if "T" in text or text.count("-") >= 2:
            at = datetime.fromisoformat(text)
        elif ":" in text:
            at = datetime.combine(first.date(), time.fromisoformat(text))
        else:
            return first_ns + round(quantity.seconds(text, option) * _NS)
    except ValueError:
        raise MayflyError(
            f"{option} {printable(text)}: must be a time since the first packet such as 20min, or 14:30, or "
            "2026-11-28T14:30"
        ) from None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return round(at.timestamp()) * _NS


def span_sentence(counts: Mapping[str, Any]) -> str | None:
    """Say which time counts, and how many packets a filter and it leave out.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str or None
        None where all of the capture counts.

    Examples
    --------
    >>> counts = {"span": {"begins_s": 1200.0, "ends_s": 1800.0}, "filtered": 75, "packets": 25}
    >>> print(span_sentence(counts))
    from 1,200 s to 1,800 s after the first packet: 25 of 100 packets (25.0 %) count
    """
    span = counts.get("span")
    if span is None:
        return None
    left, count = counts.get("filtered", 0), counts.get("packets", 0)
    end = "the end" if span["ends_s"] is None else f"{time_text(span['ends_s'])} after the first packet"
    through = f' and pass the filter "{counts["filter"]}"' if "filter" in counts else ""
    whole = left + count
    share = f" ({100 * count / whole:.1f} %)" if whole else ""
    return f"from {time_text(span['begins_s'])} to {end}: {count:,} of {whole:,} packets{share} count{through}"


@dataclass
class _Asked:
    span: Span | None
    counted: dict[str, float | None] | None = None
    """``begins_s`` and ``ends_s`` of the captures that were read last."""


_ASKED: ContextVar[_Asked | None] = ContextVar("span", default=None)


@contextmanager
def counting(span: Span | None) -> Iterator[None]:
    """Count of captures that are read within the block this time alone.

    Parameters
    ----------
    span : Span, optional
        All of their time when absent.
    """
    before = _ASKED.set(_Asked(span if span is not None and span.asked else None))
    try:
        yield
    finally:
        _ASKED.reset(before)


def span_ns(paths: Sequence[str]) -> list[int] | None:
    """The time of captures that counts in the block, as an option of the reader in ``mayfly._native``.

    Parameters
    ----------
    paths : sequence of str
        Captures that are read as one.

    Returns
    -------
    list of int or None
        Begin and end, ns since 1970; None where all of it counts.

    Raises
    ------
    MayflyError
        As :meth:`Span.within`.
    """
    asked = _ASKED.get()
    if asked is None or asked.span is None:
        return None
    first_ns, begin_ns, end_ns = asked.span.within(paths)
    ends_s = None if end_ns == LATEST_NS else (end_ns - first_ns) / _NS
    asked.counted = {"begins_s": (begin_ns - first_ns) / _NS, "ends_s": ends_s}
    return [begin_ns, end_ns]


def span_counted() -> dict[str, float | None] | None:
    """``begins_s`` and ``ends_s`` of the captures that were read last in the block; None where all of them counts."""
    asked = _ASKED.get()
    return None if asked is None else asked.counted
