"""Estimates of an interface while it is polled: the estimator over what has come so far, again after each interval.

The settings are those of the first estimate, so that what was told before stays as it was told.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mayfly.errors import MayflyError
from mayfly.estimate.estimate import AUTO, Estimates, estimate, packet_size
from mayfly.estimate.polls import between, counters
from mayfly.estimate.samples import STDIN, Samples
from mayfly.text.quantity import seconds, shown


def follow(
    lines: Iterable[str],
    rate: float | str,
    rtt: float | str,
    packet: float | str = "1000B",
    *,
    device: str | None = None,
    name: str = "polls",
    method: str = "default",
    ticks: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Estimates]:
    """Estimates from polls, each time there is a new one.

    Parameters
    ----------
    lines : iterable of str
        Polls as they come (:mod:`mayfly.estimate.polls`); a poll counts when the next one begins.
    rate, rtt, packet, method, ticks, options
        As of :func:`mayfly.estimate.estimate`; the round-trip time is one time, since a range and ``auto`` go by the
        mean of all samples.
    device : str, optional
        Interface, where there are several.
    name : str
        Of the polls, for messages.

    Yields
    ------
    Estimates
        All from the first poll on.

    Raises
    ------
    MayflyError
        A bad value, or what is no poll.

    Notes
    -----
    The clock of the estimates begins with the first poll. All polls are calculated again for a new estimate, some
    milliseconds for an hour of them.
    """
    if rtt == AUTO or (isinstance(rtt, str) and ".." in rtt):
        raise MayflyError(f"rtt = {shown(rtt)}: must be one time, such as 100ms, while polls are followed")
    size, given = packet_size(packet), dict(options or {})
    # A look before there can be an estimate costs little; the first one says when the next is due.
    due_s, told = 10 * seconds(rtt, "rtt"), 0
    rows: list[tuple[float, int, int, float]] = []
    for row in counters(lines, device, name):
        rows.append(row)
        if len(rows) < 4 or row[0] - rows[0][0] < due_s:
            continue
        time_s, queue_pkts, arrivals, drops = between(rows, size)
        samples = Samples(time_s, queue_pkts, arrivals, drops, name=name)
        found = estimate(samples, rate, rtt, packet, method=method, ticks=ticks, options=given)
        given.setdefault("sampling", found.settings["sampling"])
        due_s = row[0] - rows[0][0] + found.settings["estimation_s"] / 4
        if len(found.columns["time_s"]) > told:
            told = len(found.columns["time_s"])
            yield found


@contextmanager
def opened(path: Path) -> Iterator[Iterable[str]]:
    """Lines of a file, a pipe or the standard input (``-``), as they come.

    Raises
    ------
    MayflyError
        It cannot be read.
    """
    if str(path) == STDIN:
        yield sys.stdin
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            yield lines
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror}") from None


def line_of(row: Mapping[str, Any], doubts: Mapping[str, str]) -> str:
    """An estimate as a line: seconds, share, doubt.

    Parameters
    ----------
    row : mapping
        Of ``series`` of :meth:`Estimates.document`.
    doubts : mapping of str
        Meanings of the words of doubt.

    Examples
    --------
    >>> line_of({"time_s": 12.71, "estimate": 0.673, "doubt": None}, {})
    '   12.7 s   67.3 %'
    >>> line_of({"time_s": 12.71, "estimate": 0.5, "doubt": "start"}, {"start": "no drop yet"})
    '   12.7 s   50.0 %  not to be relied on: no drop yet'
    """
    share = f"{row['estimate']:.1%}".replace("%", " %")
    doubt = "" if row["doubt"] is None else f"  not to be relied on: {doubts.get(row['doubt'], row['doubt'])}"
    return f"{row['time_s']:7.1f} s {share:>8}{doubt}"
