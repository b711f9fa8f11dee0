"""What connections carried over time, as far as a table of them says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.text import quantity
from mayfly.text.readable import printable
from mayfly.workload.connections import read_captures
from mayfly.workload.span import Span

if TYPE_CHECKING:
    import polars as pl

MOST_BINS = 1_000_000
"""Parts that a capture is divided into at most."""


def load_of(connections: pl.DataFrame, width_s: float) -> Floats:
    """What connections sent by time.

    Parameters
    ----------
    connections : polars.DataFrame, shape (n_connections, n_columns)
        ``start_s`` and ``end_s`` since the first packet, and what either end sent.
    width_s : float
        Of a bin, s.

    Returns
    -------
    ndarray, shape (n_bins,)
        Bytes. What a connection sent is spread evenly over the time that it lasts. Beyond :data:`MOST_BINS` bins it
        counts in the last one.

    Examples
    --------
    >>> import polars as pl
    >>> sent = {"opener_wire_bytes": [300, 100], "responder_wire_bytes": [0, 0]}
    >>> load_of(pl.DataFrame({"start_s": [0.0, 2.5], "end_s": [3.0, 2.5], **sent}), 1.0)
    array([100., 100., 200.])
    """
    starts, ends = (connections[name].to_numpy() / width_s for name in ("start_s", "end_s"))
    count = min(max(int(np.ceil(ends.max(initial=0.0))), 1), MOST_BINS)
    carried = (connections["opener_wire_bytes"] + connections["responder_wire_bytes"]).to_numpy().astype(float)
    first, last = (np.clip(np.floor(times), 0, count - 1).astype(np.int64) for times in (starts, ends))
    inside = first == last
    load: Floats = np.bincount(first[inside], weights=carried[inside], minlength=count).astype(float)
    starts, ends, first, last, carried = (values[~inside] for values in (starts, ends, first, last, carried))
    pace = carried / (ends - starts)
    np.add.at(load, first, pace * (first + 1 - starts))
    np.add.at(load, last, pace * (ends - last))
    # Whole bins between: as many begin as end.
    change = np.zeros(count + 1)
    np.add.at(change, first + 1, pace)
    np.add.at(change, last, -pace)
    return load + np.cumsum(change)[:count]


def busiest_of(load: Floats, bins: int) -> tuple[int, float]:
    """The busiest time of so many bins.

    Parameters
    ----------
    load : ndarray, shape (n_bins,)
        Of :func:`load_of`.
    bins : int
        From 1; all of them where there are fewer.

    Returns
    -------
    int, float
        Number of its first bin, and its bytes.

    Examples
    --------
    >>> busiest_of(np.array([1.0, 5.0, 3.0, 0.0]), 2), busiest_of(np.array([1.0, 2.0]), 10)
    ((1, 8.0), (0, 3.0))
    """
    sums = np.convolve(load, np.ones(min(bins, len(load))), "valid")
    begin = int(np.argmax(sums))
    return begin, float(sums[begin])


PARTS = 20
"""Of the busiest time asked for: it begins at a multiple of one of so many parts of it."""


def busiest_span(captures: Sequence[str | os.PathLike[str]], lasting: str) -> Span:
    """The busiest time of captures, found in a reading of its own.

    Parameters
    ----------
    captures : sequence of path
        That are read as one.
    lasting : str
        How long it is, such as ``10min``.

    Returns
    -------
    Span

    Raises
    ------
    MayflyError
        A length of 0, the standard input, which cannot be read twice, or no capture.
    """
    width_s = quantity.seconds(lasting, "--busiest")
    if not width_s > 0:
        raise MayflyError(f"--busiest {printable(lasting)}: must be longer than 0")
    paths = [os.fspath(path) for path in captures]
    if "-" in paths:
        raise MayflyError("--busiest: needs a file: the standard input is read once")
    begin, _ = busiest_of(load_of(read_captures(paths).connections, width_s / PARTS), PARTS)
    return Span(*(f"{at * width_s / PARTS!r}s" for at in (begin, begin + PARTS)))
