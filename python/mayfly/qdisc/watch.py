"""Queueing disciplines of interfaces, read again and again: as a table, as a page, or as lines of JSON."""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.live import Live

from mayfly.errors import MayflyError
from mayfly.qdisc.changes import Change, changes
from mayfly.qdisc.interface import ifb_of
from mayfly.qdisc.journal import index_of
from mayfly.qdisc.page import page
from mayfly.qdisc.show import Row, read
from mayfly.qdisc.table import qdisc_table
from mayfly.show.terminal import PlainConsole
from mayfly.text.quantity import seconds, shown

INTERVAL_S = 1.0
SHORTEST_S = 0.1


@dataclass(frozen=True)
class Reading:
    """Disciplines at one time, and what happened in them since the reading before."""

    time_s: float
    changes: list[Change]


def readings(
    device: str | None, count: int | None = None, interval_s: float | None = None, both_ways: bool = False
) -> Iterator[Reading]:
    """Reads again and again.

    Parameters
    ----------
    device : str, optional
        One interface only.
    count : int, optional
        End after so many.
    interval_s : float, optional
        Between two, seconds.
    both_ways : bool
        Also the device through which goes what arrives at the interface.

    Yields
    ------
    Reading

    Raises
    ------
    MayflyError
        There is no such interface, or no tc.
    """
    before, last_s = list[Row](), time.monotonic()
    for number in itertools.count(1):
        rows, now_s = read(device), time.monotonic()
        if device is not None and both_ways and index_of(ifb_of(device)) is not None:
            rows += read(ifb_of(device))
        yield Reading(time.time(), changes(before, rows, now_s - last_s))
        if number == count:
            return
        before, last_s = rows, now_s
        time.sleep(INTERVAL_S if interval_s is None else interval_s)


def watch(device: str | None, as_json: bool = False, count: int | None = None) -> None:
    """Shows the disciplines every second until interrupted: a table that refreshes, or one JSON document a line.

    Parameters
    ----------
    device : str, optional
        One interface only.
    as_json : bool
        Documents in place of the table.
    count : int, optional
        End after so many.

    Raises
    ------
    MayflyError
        There is no such interface, or no tc.
    """
    found = readings(device, count)
    if as_json:
        for reading in found:
            _print(reading, [change.row.document() | {"rate_bps": change.rate_bps} for change in reading.changes])
        return
    _refreshed(found, lambda reading: qdisc_table(*_rows_and_rates(reading)), screen=False)


def watch_page(device: str | None, as_json: bool = False, count: int | None = None, every: str | None = None) -> None:
    """Shows what happens in the disciplines of interfaces until interrupted: a page, or one JSON document a line.

    Parameters
    ----------
    device : str, optional
        One interface, in both directions.
    as_json : bool
        Documents in place of the page: those of :func:`watch`, and what happened between two readings.
    count : int, optional
        End after so many.
    every : str, optional
        Time between two: 500ms.

    Raises
    ------
    MayflyError
        A bad option; there is no such interface, or no tc.
    """
    if count is not None and count < 1:
        raise MayflyError(f"readings = {count}: must be 1 or more")
    interval_s = None if every is None else seconds(every, "--every")
    if interval_s is not None and interval_s < SHORTEST_S:
        raise MayflyError(f"--every = {shown(every)}: must be {SHORTEST_S:g}s or more")
    found = readings(device, count, interval_s, both_ways=True)
    if as_json:
        for reading in found:
            _print(reading, [change.document() for change in reading.changes])
        return
    _refreshed(found, lambda reading: page(reading.changes, device), screen=True)


def _rows_and_rates(reading: Reading) -> tuple[list[Row], list[float | None]]:
    return [change.row for change in reading.changes], [change.rate_bps for change in reading.changes]


def _print(reading: Reading, qdiscs: list[dict[str, object]]) -> None:
    print(json.dumps({"time_s": reading.time_s, "qdiscs": qdiscs}))
    sys.stdout.flush()


def _refreshed(found: Iterator[Reading], drawn: Callable[[Reading], RenderableType], screen: bool) -> None:
    """In place on a terminal; elsewhere one below the other."""
    console = PlainConsole()
    if not console.is_terminal:
        for reading in found:
            console.print(drawn(reading))
        return
    with Live(console=console, auto_refresh=False, screen=screen) as live:
        for reading in found:
            live.update(drawn(reading), refresh=True)
