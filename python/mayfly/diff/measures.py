"""How far two sides differ, and whether that is more than chance.

A resample draws how often it has each session from a Poisson law of mean 1 (the Poisson bootstrap), so that transfers
that came together stay together and totals vary as they would in another hour. The standard error of a ratio is that of
its logarithm over the resamples, its interval Student's with one degree of freedom less than the smaller number of
sessions, and a change counts when Holm's procedure over all measures keeps it at 5 %: of comparisons where nothing
changed, at most one in twenty tells of any change. Where both sides have the same transfers (one workload under two
settings) a resample has the same sessions on both: what the workload brings cancels.

Cost: a resample reads a few sums of each session and the transfers about each percentile, not all of them. Sums of
whole numbers are the same in any order, and a percentile of a resample lies near that of all transfers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.diff.samples import Side
from mayfly.metrics.intervals import student_t
from mayfly.workload.columns import Columns, columns_of

RESAMPLES = 400
LEVEL = 0.05
"""Chance that two sides without a difference are said to differ in anything."""

FEWEST_SESSIONS = 10
"""Fewest sessions of a side for an interval."""

BEYOND = 5
"""Fewest transfers on either side of a percentile."""

SHARES = (0.5, 0.95)
"""Percentiles that are compared."""

BINS = ((0, 10_000), (10_000, 100_000), (100_000, 1_000_000), (1_000_000, None))
"""Sizes of transfers, bytes."""

Weights = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
"""How often a resample has each session: a Poisson law of mean 1 stays far below 255."""

Statistic = Callable[[Weights, Floats], Sequence[float]]
"""Values of some measures by the weight of each session, and by the sums of some columns under these weights."""

Names = tuple[tuple[str, str], ...]
"""Of such measures, each with its unit."""

_DRAWN_BYTES = 1 << 27
"""Weights of resamples that are drawn before they are used, bytes."""

_AT_ONCE = 1 << 16
"""Sessions that are summed at once."""

_DEVIATIONS = 8.0
"""Of the place of a percentile in resamples: beyond, all transfers are looked through."""


@dataclass(frozen=True)
class _Measures:
    """Measures that have the same sums.

    Parameters
    ----------
    names : tuple of (str, str)
        Name and unit of each.
    columns : tuple of ndarray, shape (n_sessions,)
        What is summed over sessions, each as often as a resample has it.
    statistic : callable
        From weights and sums to the values.
    """

    names: Names
    columns: tuple[Any, ...]
    statistic: Statistic


@dataclass(frozen=True)
class Change:
    """One measure on both sides.

    Parameters
    ----------
    name, unit : str
        What is measured, in ``s``, ``share`` or ``bit/s``.
    before, after : float or None
        None where a side has too little for it, infinite where it falls on transfers that never end.
    ratio : float or None
        After over before.
    ci95 : tuple of float, optional
        Of the ratio.
    p : float or None
        Two-sided, before Holm's procedure.
    beyond_chance : bool
        Whether Holm's procedure keeps it.
    """

    name: str
    unit: str
    before: float | None
    after: float | None
    ratio: float | None = None
    ci95: tuple[float, float] | None = None
    p: float | None = None
    beyond_chance: bool = False


def changes(before: Side, after: Side, *, resamples: int = RESAMPLES, seed: int = 1) -> list[Change]:
    """Compare two sides by every measure.

    Parameters
    ----------
    before, after : Side
    resamples : int
        Draws of the bootstrap, >= 20.
    seed : int
        Of these draws, >= 0.

    Returns
    -------
    list of Change
    """
    counts = [sessions_of(side) for side in (before, after)]
    rng = np.random.default_rng(seed)
    rows = resamples if min(counts) >= FEWEST_SESSIONS else 0
    # One side at a time: what is measured of millions of transfers takes memory.
    first = _measured(before, counts[0], rows, rng)
    if _same_transfers(before, after):
        rng = np.random.default_rng(seed)
    second = _measured(after, counts[1], rows, rng)
    return _kept([_change(name, first[name], second[name], counts) for name in first])


def sessions_of(side: Side) -> int:
    """How many sessions a side has."""
    return int(np.count_nonzero(np.bincount(columns_of(side.frame)["session"])))


def _same_transfers(before: Side, after: Side) -> bool:
    one, two = columns_of(before.frame), columns_of(after.frame)
    return one.height == two.height and all(
        one[name].dtype == two[name].dtype and np.array_equal(one[name], two[name])
        for name in ("key", "start_s", "size_bytes")
    )


Measured = tuple[float | None, Floats]
"""A measure of a side: its value, None where it has too little for it; and in each resample."""


def _measured(side: Side, sessions: int, resamples: int, rng: np.random.Generator) -> dict[tuple[str, str], Measured]:
    """Every measure of a side; a resample has each session so often as a draw says."""
    measures = _measures(side)
    drawn = {name: np.full(resamples, np.nan) for own in measures for name in own.names}
    together = max(1, min(resamples, _DRAWN_BYTES // max(sessions, 1)))
    for first in range(0, resamples, together):
        weights = np.empty((min(together, resamples - first), sessions), dtype=np.uint8)
        for one in weights:
            for begin in range(0, sessions, _AT_ONCE):
                part = one[begin : begin + _AT_ONCE]
                part[:] = rng.poisson(1.0, size=len(part))
        for name, values in _values(measures, weights).items():
            drawn[name][first : first + len(weights)] = values
    whole = _values(measures, np.ones((1, sessions), dtype=np.uint8))
    return {name: (None if math.isnan(value) else value, drawn[name]) for name, (value,) in whole.items()}


def _values(measures: Sequence[_Measures], weights: Weights) -> dict[tuple[str, str], Sequence[float]]:
    """Every measure in each of some resamples, weights of shape (n_resamples, n_sessions)."""
    sums = _sums(weights, [column for own in measures for column in own.columns])
    found: dict[tuple[str, str], Sequence[float]] = {}
    place = 0
    for own in measures:
        of_own = sums[:, place : place + len(own.columns)]
        place += len(own.columns)
        rows = [own.statistic(one, sum_of_one) for one, sum_of_one in zip(weights, of_own, strict=True)]
        found |= {name: [row[at] for row in rows] for at, name in enumerate(own.names)}
    return found


def _sums(weights: Weights, columns: Sequence[Any]) -> Floats:
    """Sum of each column over the sessions, each so often as its weight says, shape (n_resamples, n_columns)."""
    sums: Floats = np.zeros((len(weights), len(columns)))
    for first in range(0, weights.shape[1], _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        sums += weights[:, part].astype(float) @ np.array([column[part] for column in columns], dtype=float).T
    return sums


def _change(name: tuple[str, str], before: Measured, after: Measured, counts: Sequence[int]) -> Change:
    (first, one), (second, two) = before, after
    if not first or not second or math.isinf(first) or math.isinf(second):
        return Change(*name, first, second)
    estimate = math.log(second / first)
    if not len(one):
        return Change(*name, first, second, ratio=math.exp(estimate))
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log(two / one)
    logarithms = logarithms[np.isfinite(logarithms)]
    # A measure that many resamples lack rests on a few sessions: no interval is to be trusted.
    if len(logarithms) < 0.9 * len(one):
        return Change(*name, first, second, ratio=math.exp(estimate))
    error = float(np.std(logarithms, ddof=1))
    if error == 0.0:
        certain = 1.0 if estimate == 0.0 else 0.0
        return Change(*name, first, second, math.exp(estimate), (math.exp(estimate), math.exp(estimate)), certain)
    from scipy.special import stdtr

    freedom = min(counts) - 1
    half = student_t(freedom) * error
    p = 2 * float(stdtr(freedom, -abs(estimate) / error))
    return Change(*name, first, second, math.exp(estimate), (math.exp(estimate - half), math.exp(estimate + half)), p)


def _kept(found: list[Change]) -> list[Change]:
    """Mark what Holm's procedure keeps."""
    tested = sorted((change.p, place) for place, change in enumerate(found) if change.p is not None)
    kept = set()
    for rank, (p, place) in enumerate(tested):
        if p > LEVEL / (len(tested) - rank):
            break
        kept.add(place)
    return [replace(change, beyond_chance=place in kept) for place, change in enumerate(found)]


def _measures(side: Side) -> list[_Measures]:
    table = columns_of(side.frame)
    sizes, times_s = table["size_bytes"], table["time_s"]
    found: list[_Measures] = []
    for low, high in BINS:
        rows = np.flatnonzero((sizes > low) & (sizes <= (high or 2**62)) & ~np.isnan(times_s))
        names = tuple((f"transfers {bin_text(low, high)}, p{100 * share:.0f}", "s") for share in SHARES)
        found.append(_percentiles(names, table, rows, "time_s"))
    known = np.flatnonzero(~np.isnan(table["rtt_s"]))
    names = tuple((f"round-trip time, p{100 * share:.0f}", "s") for share in SHARES)
    found.append(_percentiles(names, table, known, "rtt_s"))
    found.append(_share(("packets repeated", "share"), table, "repeated", "packets"))
    found.append(_share(("packets dropped", "share"), table, "dropped", "packets"))
    found.append(_unfinished(("transfers unfinished", "share"), table))
    found.append(_rate(("load carried", "bit/s"), table, side.span_s))
    return found


def bin_text(low: int, high: int | None) -> str:
    """Name a bin of sizes.

    Examples
    --------
    >>> bin_text(0, 10_000), bin_text(1_000_000, None)
    ('up to 10 kB', 'above 1 MB')
    """
    ends = [f"{end // 1_000_000} MB" if end >= 1_000_000 else f"{end // 1000} kB" for end in (low, high or 0)]
    if high is None:
        return f"above {ends[0]}"
    return f"up to {ends[1]}" if low == 0 else f"{ends[0]} to {ends[1]}"


@dataclass(frozen=True)
class _Window:
    """Transfers, by value, among which a percentile of nearly every resample is.

    Parameters
    ----------
    begin : int
        The first of them.
    sessions : ndarray, shape (n,)
        Of each.
    before : ndarray, shape (n_sessions,)
        Transfers of each session before them.
    """

    begin: int
    sessions: Integers
    before: Integers

    @classmethod
    def of(cls, sessions: Integers, wholes: Integers, share: float) -> "_Window":
        """The one about a percentile of transfers, whose sessions are in the order of their values."""
        place = math.ceil(share * len(sessions))
        below = np.bincount(sessions[:place], minlength=len(wholes))
        # Its place among the transfers varies as the sum of this over the sessions of a resample.
        half = math.ceil(_DEVIATIONS * math.sqrt(float(((below - share * wholes) ** 2).sum()))) + 1
        begin, end = max(place - half, 0), min(place + half, len(sessions))
        below -= np.bincount(sessions[begin:place], minlength=len(wholes))
        return cls(begin, np.array(sessions[begin:end]), below)

    def place(self, weights: Weights, before: int, target: int, sessions: Integers) -> int:
        """The first transfer at which the weights come to a target; they come to ``before`` before the window."""
        reached: Integers = before + np.cumsum(weights[self.sessions], dtype=np.int64)
        if before < target <= reached[-1]:
            return self.begin + int(np.searchsorted(reached, target))
        return int(np.searchsorted(np.cumsum(weights[sessions], dtype=np.int64), target))


def _percentiles(names: Names, table: Columns, rows: Integers, column: str) -> _Measures:
    """Weighted percentiles of a column; NaN where fewer than :data:`BEYOND` values lie on either side of one."""
    enough = [len(rows) * min(share, 1 - share) >= BEYOND - 1e-9 for share in SHARES]
    if not any(enough):
        return _Measures(names, (), lambda *_: [math.nan] * len(SHARES))
    values = table[column][rows].astype(float)
    order = np.argsort(values, kind="stable")
    values, sessions = table.held(values[order]), table.held(table["session"][rows[order]])
    del order
    wholes = np.bincount(sessions, minlength=_count(table))
    windows = [_Window.of(sessions, wholes, share) for share in SHARES]

    def statistic(weights: Weights, sums: Floats) -> list[float]:
        whole, *befores = (int(one) for one in sums)
        targets = [math.ceil(share * whole) for share in SHARES]
        return [
            float(values[window.place(weights, before, target, sessions)]) if is_enough and target > 0 else math.nan
            for is_enough, window, before, target in zip(enough, windows, befores, targets, strict=True)
        ]

    columns = tuple(table.held(_narrow(one)) for one in (wholes, *(window.before for window in windows)))
    windows = [replace(window, before=columns[at]) for at, window in enumerate(windows, 1)]
    return _Measures(names, columns, statistic)


def _share(name: tuple[str, str], table: Columns, part: str, of: str) -> _Measures:
    """The sum of a column over that of another; NaN where one is not known of all."""
    if table.height == 0 or not all(_is_known(table, column) for column in (part, of)):
        return _none(name)
    return _ratio(name, _by_session(table, table[part]), _by_session(table, table[of]))


def _unfinished(name: tuple[str, str], table: Columns) -> _Measures:
    if table.height == 0 or not _is_known(table, "time_s"):
        return _none(name)
    return _ratio(name, _by_session(table, np.isinf(table["time_s"])), _by_session(table, np.ones(table.height)))


def _ratio(name: tuple[str, str], parts: Any, wholes: Any) -> _Measures:
    def statistic(_: Weights, sums: Floats) -> list[float]:
        part, whole = (float(one) for one in sums)
        return [part / whole if whole > 0 else math.nan]

    return _Measures((name,), (parts, wholes), statistic)


def _rate(name: tuple[str, str], table: Columns, span_s: float) -> _Measures:
    if table.height == 0 or span_s <= 0:
        return _none(name)
    sizes = _by_session(table, table["carried_bytes"])
    return _Measures((name,), (sizes,), lambda _, sums: [float(8 * sums[0] / span_s)])


def _none(name: tuple[str, str]) -> _Measures:
    return _Measures((name,), (), lambda *_: [math.nan])


def _is_known(table: Columns, name: str) -> bool:
    """Whether there is a column, and each of its values."""
    return name in table and not (table[name].dtype.kind == "f" and bool(np.isnan(table[name]).any()))


def _count(table: Columns) -> int:
    """How many sessions there are."""
    return int(table["session"].max()) + 1


def _by_session(table: Columns, values: Any) -> Any:
    """The sum of a column over the transfers of each session."""
    sums = np.bincount(table["session"], weights=values.astype(float), minlength=_count(table))
    return table.held(_narrow(sums))


def _narrow(values: Any) -> Any:
    """Whole numbers in as few bytes as hold them all; others as they are."""
    if values.dtype.kind == "f" and not (np.all(values >= 0) and np.all(np.floor(values) == values)):
        return values
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
