"""A run of the estimator over samples."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Booleans, Floats
from mayfly.errors import MayflyError
from mayfly.estimate.alarm import Alarm, alarms
from mayfly.estimate.echo import propagation_s
from mayfly.estimate.samples import Read, Samples, read_samples, rows_of
from mayfly.estimate.score import Score, score
from mayfly.show.notebook import Result
from mayfly.text.quantity import bare, buffer, rate_bps, seconds, shown
from mayfly.workload.account import account_of_rows

if TYPE_CHECKING:
    from rich.table import Table

    from mayfly._native import EstimatorLists, EstimatorParam, Faults, MethodRow
    from mayfly.summary_types import Accounted


@cache
def _lists() -> EstimatorLists:
    lists: EstimatorLists = json.loads(_native.estimator_lists())
    return lists


def methods() -> list[MethodRow]:
    """Rows of the registry: ``id``, ``about``, ``source``; the default first.

    Examples
    --------
    >>> [row["id"] for row in methods()][:2]
    ['default', 'response']
    """
    return _lists()["methods"]


def parameters() -> list[EstimatorParam]:
    """Rows of the parameters: ``name``, ``unit``, ``about``, ``default``, ``min``, ``max``.

    Examples
    --------
    >>> {row["name"]: row["default"] for row in parameters()}["gamma_1"]
    5.0
    """
    return _lists()["params"]


def doubts() -> dict[str, str]:
    """Why an estimate may not be relied on: word and meaning.

    Examples
    --------
    >>> doubts()["no-arrivals"]
    'nothing came'
    """
    return _lists()["reasons"]


_DETAILS: tuple[Literal["responsive_pkts", "other_pkts", "flows", "rtt_s", "drop_share", "doubt"], ...] = (
    "responsive_pkts",
    "other_pkts",
    "flows",
    "rtt_s",
    "drop_share",
    "doubt",
)
"""Columns that a row of the series takes as they are."""


@dataclass(frozen=True, repr=False)
class Estimates(Result):
    """What the estimator said.

    Parameters
    ----------
    method : str
        Id.
    settings : dict
        Link and parameters, plain numbers.
    columns : dict of list
        ``time_s, share, responsive_pkts, other_pkts, flows, rtt_s, drop_share, doubt``: one value for each estimation
        interval; ``doubt`` is None where the estimate may be relied on.
    actual : numpy.ndarray, optional
        True shares there.
    faults : dict of int
        Samples that were not used, by kind.
    from_s : float
        From here on estimates count in the score.
    account : tuple of Accounted
        How many samples of the file were seen, used, and left out by reason; empty of samples from no file.
    """

    method: str
    settings: Mapping[str, float]
    columns: dict[str, list[Any]]
    actual: Floats | None
    faults: Faults
    from_s: float = 0.0
    account: tuple[Accounted, ...] = ()

    @property
    def counted(self) -> Booleans:
        """Which estimates lie wholly after ``from_s``; shape (n,)."""
        return np.array([begin >= self.from_s - 1e-9 for begin in self._begins()], bool)

    def _begins(self) -> list[float]:
        times = self.columns["time_s"]
        return [self.settings["first_s"], *times[:-1]] if times else []

    @property
    def score(self) -> Score | None:
        """Against the truth from ``from_s`` on; None where it is not known."""
        if self.actual is None:
            return None
        return score(np.array(self.columns["share"])[self.counted], self.actual[self.counted])

    def alarms(self, above: float, below: float | None = None, *, hold: int = 3) -> list[Alarm]:
        """Alarms over the estimates that may be relied on, from ``from_s`` on (:func:`mayfly.estimate.alarms`)."""
        at = np.flatnonzero(self.counted).tolist()
        times, shares = ([column[i] for i in at] for column in (self.columns["time_s"], self.columns["share"]))
        trusted = [self.columns["doubt"][i] is None for i in at]
        return alarms(times, shares, above, below, hold=hold, trusted=trusted)

    def document(self) -> dict[str, Any]:
        """Everything for JSON: no NaN; the series from ``from_s`` on."""
        found = self.score
        at = np.flatnonzero(self.counted).tolist()
        words = [self.columns["doubt"][i] for i in at]
        shares = [self.columns["share"][i] for i in at]
        return {
            "method": self.method,
            "settings": dict(self.settings),
            "from_s": self.from_s,
            "estimates": len(at),
            "mean": float(np.mean(shares)) if at else None,
            "mse": None if found is None else found.mse,
            "relative_error": None if found is None else found.relative_error,
            "trusted": words.count(None) / len(at) if at else None,
            "doubts": {word: words.count(word) for word in doubts() if word in words},
            "faults": dict(self.faults),
            "series": [self._row(i) for i in at],
            **({"account": list(self.account)} if self.account else {}),
        }

    def _row(self, i: int) -> dict[str, Any]:
        actual = None if self.actual is None or math.isnan(self.actual[i]) else float(self.actual[i])
        row: dict[str, Any] = {
            "time_s": self.columns["time_s"][i],
            "estimate": self.columns["share"][i],
            "actual": actual,
        }
        return row | {name: self.columns[name][i] for name in _DETAILS}

    def table(self) -> Table:
        """The summary as a rich table."""
        from rich import box
        from rich.table import Table

        document = self.document()
        table = Table(title="Traffic that does not respond", box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("")
        for head in ("estimate", "truth"):
            table.add_column(head, justify="right")

        def shares(values: list[float | None]) -> tuple[str, ...]:
            known = [value for value in values if value is not None]
            if not known:
                return ("", "", "")
            return f"{np.mean(known):.1%}", f"{known[-1]:.1%}", f"{min(known):.1%} to {max(known):.1%}"

        rows = [shares([row[name] for row in document["series"]]) for name in ("estimate", "actual")]
        for name, cells in zip(("mean share", "last", "range"), zip(*rows, strict=True), strict=True):
            table.add_row(name, *cells)
        return table

    def sentences(self) -> list[str]:
        """Errors, and what not to rely on, in words."""
        document = self.document()
        if not document["estimates"]:
            return ["no estimation interval was completed: more samples are needed"]
        told = [_lead(document)]
        if document["mse"] is not None:
            told.append(
                f"mean squared error {document['mse']:.5f}, relative error {document['relative_error']:+.1%} over "
                f"{document['estimates']} estimates of {self.settings['estimation_s']:.3g} s by {self.method}"
            )
        for word, count in document["doubts"].items():
            told.append(f"not to be relied on: {count} of {document['estimates']} estimates ({word}: {doubts()[word]})")
        if any(self.faults.values()):
            kinds = {"numbers": "impossible numbers", "clock": "a clock that did not move on", "gaps": "a gap before"}
            counts = ", ".join(f"{count} with {kinds[kind]}" for kind, count in self.faults.items() if count)
            told.append(f"samples that were not used: {counts}")
        return told


def _lead(document: dict[str, Any]) -> str:
    """How much of the traffic does not respond, by the estimates that may be relied on where there are some."""
    series = document["series"]
    trusted = [row["estimate"] for row in series if row["doubt"] is None]
    shares = trusted or [row["estimate"] for row in series]
    told = f"{np.mean(shares):.0%} of the traffic does not respond to drops".replace("%", " %")
    if min(shares) < max(shares):
        told += f", between {min(shares):.0%} and {max(shares):.0%} over time".replace("%", " %")
    if not trusted:
        return f"{told}; no estimate of these may be relied on"
    return told if len(trusted) == len(series) else f"{told} (the {len(trusted)} of {len(series)} estimates to rely on)"


def estimate(
    samples: Samples | str | os.PathLike[str],
    rate: float | str,
    rtt: float | str,
    packet: float | str = "1000B",
    *,
    method: str = "default",
    from_s: float = 0.0,
    ticks: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Estimates:
    """Estimates the share of the arriving packets that does not respond to drops.

    Parameters
    ----------
    samples : Samples or path
        At least once in a round trip; a path is read by :func:`mayfly.estimate.read_samples`.
    rate : str or number
        Of the link, bit/s: ``28mbit``.
    rtt : str or number
        Round-trip time without queueing: ``100ms``, the range of that of several flows: ``24ms..176ms``, or ``auto``:
        by the :func:`mayfly.estimate.echo.echo` of the arrivals.
    packet : str or number
        Of a typical packet on the wire: ``1000B``.
    method : str
        Id of :func:`methods`.
    from_s : float
        Estimates before this time do not count in the score.
    ticks : int, optional
        Ticks of the clock per second, 1 to 1000000: calculates with integers as a kernel would.
    options : mapping, optional
        Values of :func:`parameters` by name; times may have units.

    Returns
    -------
    Estimates

    Raises
    ------
    MayflyError
        A value is out of its bounds, or the clock of the samples never moves on.

    Notes
    -----
    The sampling interval is the multiple of that of the samples nearest to a third of the round trip (Zhao 2004, II.C),
    unless ``sampling`` is given. A range of round trips from a to b, evenly spread, counts as <1/R>/<1/R²> = a b
    ln(b/a)/(b - a), the queueing delay included: what flows send goes by 1/R, how fast they grow by 1/R².

    Examples
    --------
    >>> beats = np.arange(1, 2001)
    >>> of = lambda *values: np.resize(np.array(values, float), 2000)
    >>> samples = Samples(0.033 * beats, of(30), of(120), of(3))
    >>> found = estimate(samples, "28mbit", "100ms", method="basic")
    >>> len(found.columns["time_s"]), found.columns["doubt"][-1], found.score
    (99, 'start', None)
    """
    if isinstance(samples, str | os.PathLike):
        samples = read_samples(samples, packet_bytes=round(packet_size(packet)))
    if not isinstance(samples, Samples):
        raise MayflyError(f"samples = {type(samples).__name__}: must be Samples or the path of a file of samples")
    bits, packet_bytes = rate_bps(rate), packet_size(packet)
    capacity = bits / packet_bytes / 8
    queue_s = _mean(samples.queue_pkts) / capacity
    propagation = propagation_s(samples, queue_s) if rtt == AUTO else _round_trip(rtt, queue_s)
    given = _options(options or {})
    step = samples.interval_s()
    given.setdefault("sampling", max(1, round(propagation / 3 / step)) * step * (1 - 1e-6))
    if ticks is not None and not 1 <= ticks <= 1_000_000:
        raise MayflyError(f"ticks = {ticks}: must be from 1 to 1000000 per second")
    try:
        table, faults, taken = _native.estimate(
            method,
            capacity,
            propagation,
            list(given.items()),
            np.ascontiguousarray(samples.time_s, float),
            np.ascontiguousarray(samples.queue_pkts, float),
            np.ascontiguousarray(samples.arrivals, float),
            np.ascontiguousarray(samples.drops, float),
            ticks,
        )
    except ValueError as error:
        raise MayflyError(str(error)) from None
    first = max(float(samples.time_s[np.isfinite(samples.time_s)][0]), given.get("start", 0.0))
    per_estimate = given.get("per_estimate", next(p["default"] for p in parameters() if p["name"] == "per_estimate"))
    settings = {
        "rate_bps": bits,
        "packet_bytes": packet_bytes,
        "rtt_s": propagation,
        "sample_s": step,
        "first_s": first,
    }
    settings |= {"estimation_s": given["sampling"] * per_estimate, **given}
    columns = pl.DataFrame(table).to_dict(as_series=False)
    times = np.array(columns["time_s"])
    actual = samples.truth(np.concatenate([[first], times[:-1]]), times) if times.size else None
    account = () if samples.read is None else (accounted(samples, samples.read, *taken),)
    return Estimates(method, settings, columns, actual, json.loads(faults), from_s, account)


def accounted(samples: Samples, read: Read, refused: list[int], taken: int) -> Accounted:
    """Give the account of samples that were read.

    Parameters
    ----------
    samples : Samples
    read : Read
    refused : list of int
        Samples that were not used, which are ``damaged``.
    taken : int
        Samples that the estimates are of; those behind them are ``aside``.

    Returns
    -------
    Accounted
    """
    account = _native.Account()
    for reason, amount in read.left_out.items():
        account.see(*amount)
        account.leave_out(reason, *amount)
    count, carried = rows_of(samples.arrivals, read.packet_bytes)
    account.see(count + read.before, carried)
    account.take(count + read.before, carried)
    account.withdraw("damaged", *rows_of(samples.arrivals[refused], read.packet_bytes))
    late = np.setdiff1d(np.arange(taken, count), refused)
    account.withdraw("aside", *rows_of(samples.arrivals[late], read.packet_bytes))
    return account_of_rows(account, read.source)


def _mean(values: Floats) -> float:
    usable = values[np.isfinite(values) & (values >= 0) & (values < 1e9)]
    return float(usable.mean()) if usable.size else 0.0


def packet_size(packet: float | str) -> int:
    """Bytes of a packet.

    Raises
    ------
    MayflyError
        Not a size from 29 bytes to 65535.

    Examples
    --------
    >>> packet_size("1.5kB")
    1500
    """
    size, unit = buffer(packet if isinstance(packet, str) else f"{packet}B", "packet")
    if unit != "bytes" or not 29 <= size <= 65_535:
        raise MayflyError(f"packet = {shown(packet)}: must be from 29B to 65535B")
    return size


AUTO = "auto"
"""The round trip is taken from the samples."""


def _round_trip(rtt: float | str, queue_s: float) -> float:
    """Propagation delay that stands for a range; the queue's delay counts with both ends."""
    if not isinstance(rtt, str) or ".." not in rtt:
        return seconds(rtt, "rtt")
    low, high = (seconds(end, "rtt") + queue_s for end in rtt.split("..", 1))
    if not queue_s < low < high:
        raise MayflyError(
            f"rtt = {shown(rtt)}: must be a time such as 100ms, or an ascending range such as 24ms..176ms"
        )
    return low * high * math.log(high / low) / (high - low) - queue_s


def _options(options: Mapping[str, Any]) -> dict[str, float]:
    """Values as numbers; units of time go."""
    units = {row["name"]: row["unit"] for row in parameters()}
    found = {}
    for name, value in options.items():
        text = bare(str(value), units.get(name, ""))
        try:
            found[name] = float(text)
        except ValueError:
            raise MayflyError(f"{name} = {shown(value)}: must be a number") from None
    return found
