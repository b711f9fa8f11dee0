"""Polls of a real interface: ``tc -s qdisc`` with the time before each.

A line with the seconds, then what ``tc`` printed, as text or as JSON (``-j``), on the same line or on the next ones:

    while sleep 0.03; do date +%s.%N; tc -s -j qdisc show dev eth0; done > polls.txt

The queue is that at the root of the interface. Its counters run on: what came is what was sent, what was dropped, and
what the backlog has grown by. A poll sees the backlog, not its mean: that of an interval is the mean of both ends.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.text.quantity import shown

_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(\[.*|qdisc .*)?\s*\Z", re.DOTALL)
_QDISC = re.compile(r"qdisc \S+ \S+ (?:dev (\S+) )?(root)?")
_SENT = re.compile(r"Sent (\d+) bytes \d+ pkts? \(dropped (\d+)")
_BACKLOG = re.compile(r"backlog ([\d.]+)([KMG]?)b")
_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def is_polls(content: bytes) -> bool:
    r"""Whether a file begins as polls do: with a number alone, or before what ``tc`` prints.

    Examples
    --------
    >>> is_polls(b"1700000000.5\nqdisc red 1: dev eth0 root\n"), is_polls(b"time_s,arrivals\n")
    (True, False)
    """
    first = content[:4096].lstrip().split(b"\n", 1)[0]
    return _TIME.match(first.decode("utf-8", "replace")) is not None


def polled(content: bytes, packet_bytes: int, device: str | None, name: str) -> tuple[Floats, ...]:
    r"""Samples between polls.

    Parameters
    ----------
    content : bytes
        See the head of the module.
    packet_bytes : int
        Turns bytes into packets (Zhao 2004, III.A.2); drops are counted in packets by ``tc``.
    device : str, optional
        Interface, where there are several.
    name : str
        Of the file, for messages.

    Returns
    -------
    time_s, queue_pkts, arrivals, drops : numpy.ndarray, shape (n - 1,)
        Of the intervals between n polls; the clock begins with the first poll.

    Raises
    ------
    MayflyError
        A poll has no queue at the root, or several, or there are fewer than three polls.

    Examples
    --------
    >>> poll = b"%d\nqdisc red 1: dev e root\n Sent %d bytes 1 pkt (dropped %d, overlimits 0)\n backlog %db 1p\n"
    >>> text = b"".join(poll % row for row in ((1, 1000, 0, 0), (2, 9000, 2, 2000), (3, 18000, 2, 0)))
    >>> [column.tolist() for column in polled(text, 1000, None, "polls")]
    [[1.0, 2.0], [1.0, 1.0], [12.0, 7.0], [2.0, 0.0]]
    """
    rows = list(counters(content.decode("utf-8", "replace").splitlines(), device, name))
    if len(rows) < 3:
        raise MayflyError(f"{name}: has {len(rows)} polls: must have 3 or more")
    return between(rows, packet_bytes)


def counters(lines: Iterable[str], device: str | None, name: str) -> Iterator[tuple[float, int, int, float]]:
    r"""Counters of each poll, as soon as the next one begins.

    Parameters
    ----------
    lines : iterable of str
        See the head of the module.
    device, name : str
        As of :func:`polled`.

    Yields
    ------
    tuple
        Time, s; bytes sent and packets dropped since the queue was made; bytes waiting.

    Raises
    ------
    MayflyError
        A poll has no queue at the root, or several.

    Examples
    --------
    >>> lines = ["1.5", "qdisc red 1: dev e root", " Sent 10 bytes 1 pkt (dropped 2, overlimits 0)", " backlog 7b 1p"]
    >>> list(counters(lines, None, "polls"))
    [(1.5, 10, 2, 7.0)]
    """
    for at, (time, body) in enumerate(_polls(lines)):
        yield time, *_counters(body, device, f"{name}, poll {at + 1}")


def between(rows: Sequence[tuple[float, int, int, float]], packet_bytes: int) -> tuple[Floats, ...]:
    """Samples between polls: columns of :func:`polled` from rows of :func:`counters`, since the first.

    Examples
    --------
    >>> [column.tolist() for column in between([(1.0, 0, 0, 0.0), (2.0, 9000, 1, 2000.0)], 1000)]
    [[1.0], [1.0], [12.0], [1.0]]
    """
    times, sent, drops, backlog = np.array(rows, float).T
    dropped = np.diff(drops)
    came = (np.diff(sent) + np.diff(backlog)) / packet_bytes + dropped
    return times[1:] - times[0], (backlog[1:] + backlog[:-1]) / 2 / packet_bytes, came, dropped


def _polls(lines: Iterable[str]) -> Iterator[tuple[float, str]]:
    """Time and text of each poll."""
    time, body = None, []
    for line in lines:
        line = line.rstrip("\r\n")
        found = _TIME.match(line)
        if found is None:
            body.append(line)
            continue
        if time is not None:
            yield time, "\n".join(body)
        time, body = float(found[1]), [found[2] or ""]
    if time is not None:
        yield time, "\n".join(body)


def _counters(body: str, device: str | None, where: str) -> tuple[int, int, float]:
    """Bytes sent, packets dropped, and bytes waiting at the root."""
    text = body.strip()
    rows = _json_rows(text, where) if text.startswith("[") else _text_rows(text)
    rows = [row for row in rows if device is None or row[0] == device]
    if len(rows) != 1:
        devices = ", ".join(str(row[0]) for row in rows)
        found = f"has queues at the roots of {devices}: choose one with --dev" if rows else "has no queue at a root"
        raise MayflyError(f"{where}: {found}")
    return rows[0][1:]


def _json_rows(text: str, where: str) -> list[tuple[str, int, int, float]]:
    try:
        rows = [row for row in json.loads(text) if row.get("root")]
        return [(row.get("dev"), int(row["bytes"]), int(row["drops"]), float(row["backlog"])) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise MayflyError(f"{where}: is not what tc -s -j prints: {shown(str(error))}") from None


def _text_rows(text: str) -> list[tuple[str, int, int, float]]:
    found = []
    for part in re.split(r"(?m)^(?=qdisc )", text):
        head, sent, backlog = _QDISC.match(part), _SENT.search(part), _BACKLOG.search(part)
        if head and head[2] and sent and backlog:
            waiting = float(backlog[1]) * _SIZES[backlog[2]]
            found.append((head[1], int(sent[1]), int(sent[2]), waiting))
    return found
