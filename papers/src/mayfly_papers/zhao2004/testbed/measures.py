"""Estimates beside what came at a router, from the kernel or the simulator, as Zhao 2004, III.C, judges them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from mayfly_papers.declare.declaration import Measures

LOOK_S = 2 / 3
"""An estimation interval: 20 sampling intervals of a third of 100 ms."""
BEGIN_S = 60.0
"""Before, nothing is judged (III.C)."""
MEMORY = 0.975
"""Forgetting factor of estimates and measurements in the figures (III.C)."""
MEASURED = "zhao2004_testbed.json"
"""What the kernel showed; tests/kernel/ponrt.py writes it."""


@dataclass(frozen=True)
class Series:
    """A run, by estimation interval.

    Parameters
    ----------
    time_s : ndarray, shape ``(n,)``
        Ends of the intervals, s.
    tcp, cbr, web : ndarray, shape ``(n,)``
        What came of each kind, bytes in the kernel, packets in the simulator.
    estimated : ndarray, shape ``(n,)``
        Share that does not respond; not a number where none is told.
    """

    time_s: np.ndarray
    tcp: np.ndarray
    cbr: np.ndarray
    web: np.ndarray
    estimated: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """Share of UDP and web in what came: both do not respond (III.C)."""
        return (self.cbr + self.web) / (self.tcp + self.cbr + self.web)

    @property
    def cbr_share(self) -> np.ndarray:
        """Share of UDP alone."""
        return self.cbr / (self.tcp + self.cbr + self.web)

    @property
    def counted(self) -> np.ndarray:
        """Which intervals are judged."""
        return self.time_s > BEGIN_S

    def smoothed(self) -> tuple[np.ndarray, np.ndarray]:
        """Measurement and estimate as the figures draw them, from `BEGIN_S` on."""
        return smoothed(self.measured[self.counted]), smoothed(self.estimated[self.counted])

    def mse(self) -> float:
        """Mean squared error of the smoothed estimate (II.C and III.C)."""
        measured, estimated = self.smoothed()
        return float(np.mean((measured - estimated) ** 2))

    def mse_unsmoothed(self) -> float:
        """The same of single intervals."""
        return float(np.mean((self.measured - self.estimated)[self.counted] ** 2))

    def mean(self, values: np.ndarray, begin_s: float, end_s: float) -> float:
        """Mean of values by interval, over the intervals that end after ``begin_s`` and by ``end_s``."""
        return float(values[(self.time_s > begin_s) & (self.time_s <= end_s)].mean())


def smoothed(values: Sequence[float]) -> np.ndarray:
    """A series through a filter that keeps 0.975 of the old value, from its first value on.

    Examples
    --------
    >>> smoothed([1.0, 1.0, 0.0]).tolist()
    [1.0, 1.0, 0.975]
    """
    filtered = [values[0]]
    for value in values[1:]:
        filtered.append(MEMORY * filtered[-1] + (1 - MEMORY) * value)
    return np.array(filtered)


def judged(series: Series, windows: Mapping[str, tuple[float, float]]) -> Measures:
    """Errors of a run, and means of measurement, UDP alone and estimate over parts of it.

    Parameters
    ----------
    series : Series
    windows : mapping
        Begin and end of each part, s, by name.

    Returns
    -------
    dict of float
        ``mse``, ``mse_unsmoothed``, ``measured`` and ``estimated`` from 60 s on; the same and ``cbr`` of a part under
        names that begin with its own.
    """
    parts = {"": (BEGIN_S, float(series.time_s[-1]))} | {f"{name}_": window for name, window in windows.items()}
    found = {"mse": series.mse(), "mse_unsmoothed": series.mse_unsmoothed()}
    for name, (begin_s, end_s) in parts.items():
        for what, values in (("measured", series.measured), ("estimated", series.estimated), ("cbr", series.cbr_share)):
            found[f"{name}{what}"] = series.mean(values, begin_s, end_s)
    return found


@cache
def kernel_document() -> dict[str, Any]:
    """What was measured in the kernel: when, where, under which options, and the series by figure and seed."""
    return json.loads((files("mayfly_papers.zhao2004.testbed") / "measured" / MEASURED).read_text())


def kernel_series(figure: str) -> list[Series]:
    """Runs of a figure in the kernel, by seed.

    Parameters
    ----------
    figure : str
        Such as ``22-63``.

    Returns
    -------
    list of Series
    """
    return [series_of(run) for run in kernel_document()["figures"][figure]]


def series_of(run: Mapping[str, Any]) -> Series:
    """A run of the document."""
    columns = {name: np.array(run[name], float) for name in ("tcp", "cbr", "web", "estimated")}
    return Series(LOOK_S * np.arange(1, len(run["tcp"]) + 1), **columns)


def document_of(rows: Sequence[Mapping[str, Any]], status: str, seed: int) -> dict[str, Any]:
    """A run of the document from what kernel/uml/ponrt.py returned.

    Parameters
    ----------
    rows : sequence of mapping
        By estimation interval: bytes so far of ``client``, ``cbr`` and ``web``, and the ``share`` told.
    status : str
        What ``tc -s -d qdisc show`` printed at the end.
    seed : int

    Returns
    -------
    dict
        ``seed``, bytes of each interval, the estimates, and the lines of ``status`` about the discipline.
    """
    names = {"tcp": "client", "cbr": "cbr", "web": "web"}
    came = {own: np.diff([0, *(row[name] for row in rows)]).tolist() for own, name in names.items()}
    shares = [None if row["share"] is None else round(row["share"], 5) for row in rows]
    return {"seed": seed, **came, "estimated": shares, "status": status[status.index("qdisc estmred") :].strip()}
