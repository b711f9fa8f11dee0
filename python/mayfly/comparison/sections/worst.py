"""Who suffers: the exchanges that are delayed most, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, bytes_text, count_text, digits, time_text

if TYPE_CHECKING:
    from mayfly.summary_types import Summary

_NOTE = (
    "An exchange is a request with its answer, the size that of the larger part. The order is by its time under "
    "{before} less its time alone, where its connection has the link to itself. Times are of the disciplines "
    "at the link itself."
)


def end_text(address: str, port: int | None) -> str:
    """An end of a connection.

    Examples
    --------
    >>> end_text("10.0.0.1", 443), end_text("2001:db8::1", 443), end_text("10.0.0.1", None)
    ('10.0.0.1:443', '[2001:db8::1]:443', '10.0.0.1')
    """
    if port is None:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _took(seconds: float | None) -> str:
    return "no end" if seconds is None else time_text(seconds)


def tables(summary: Summary) -> tuple[Table, ...]:
    """The exchanges, the most delayed one first; none without."""
    found = summary.get("worst")
    if not found or not found["exchanges"]:
        return ()
    heads = ("client", "server", found["before"], found["after"], "alone", "size", "way", "begins")
    rows = [
        (
            end_text(one["client"], one["client_port"]),
            end_text(one["server"], one["server_port"]),
            _took(one["before_s"]),
            _took(one["after_s"]),
            MISSING if one["idle_s"] is None else time_text(one["idle_s"]),
            bytes_text(one["size_bytes"]),
            one["direction"],
            f"{digits(one['start_s'])} s",
        )
        for one in found["exchanges"]
    ]
    note = _NOTE.format(before=found["before"])
    return (Table("Who waits longest", heads, tuple(rows), names=2, notes=(note,), page_only=True, widest=0),)


def notes(summary: Summary) -> tuple[str, ...]:
    """The exchange that is delayed most."""
    found = summary.get("worst")
    if not found or not found["exchanges"]:
        return ()
    one = found["exchanges"][0]
    client, server = (end_text(one["client"], one["client_port"]), end_text(one["server"], one["server_port"]))
    way = "from" if one["direction"] == "down" else "to"
    alone = "" if one["idle_s"] is None else f", {time_text(one['idle_s'])} with the link to itself"
    listed = count_text(len(found["exchanges"]))
    return (
        f"under {found['before']} the longest delay is that of {client}: {bytes_text(one['size_bytes'])} {way} "
        f"{server} in {_took(one['before_s'])} ({_took(one['after_s'])} under {found['after']} at the link{alone}); "
        f"--details, the report and summary.json list {listed}",
    )


SECTION = Section(tables=tables, notes=notes, detail=True)
