"""How far two sides differ, and whether that is more than chance.

A resample draws how often it has each session from a Poisson law of mean 1 (the Poisson bootstrap), so that transfers
that came together stay together and totals vary as they would in another hour. The standard error of a ratio is that of
its logarithm over the resamples, its interval Student's with one degree of freedom less than the smaller number of
sessions, and a change counts when Holm's procedure over all measures keeps it at 5 %: of comparisons where nothing
changed, at most one in twenty tells of any change. Where both sides have the same transfers (one workload under two
settings) a resample has the same sessions on both: what the workload brings cancels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

Statistic = Callable[[Weights], Sequence[float]]
"""Values of some measures by the weight of each session."""

Names = tuple[tuple[str, str], ...]
"""Of such measures, each with its unit."""


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
    drawn = {name: np.full(resamples, np.nan) for names, _ in measures for name in names}
    for row in range(resamples):
        weights = rng.poisson(1.0, size=sessions).astype(np.uint8)
        for names, statistic in measures:
            for name, value in zip(names, statistic(weights), strict=True):
                drawn[name][row] = value
    found: dict[tuple[str, str], Measured] = {}
    for names, statistic in measures:
        for name, value in zip(names, statistic(np.ones(sessions, dtype=np.uint8)), strict=True):
            found[name] = (None if math.isnan(value) else value, drawn[name])
    return found


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
    from dataclasses import replace

    tested = sorted((change.p, place) for place, change in enumerate(found) if change.p is not None)
    kept = set()
    for rank, (p, place) in enumerate(tested):
        if p > LEVEL / (len(tested) - rank):
            break
        kept.add(place)
    return [replace(change, beyond_chance=place in kept) for place, change in enumerate(found)]


def _measures(side: Side) -> list[tuple[Names, Statistic]]:
    table = columns_of(side.frame)
    sizes, times_s = table["size_bytes"], table["time_s"]
    found: list[tuple[Names, Statistic]] = []
    for low, high in BINS:
        rows = np.flatnonzero((sizes > low) & (sizes <= (high or 2**62)) & ~np.isnan(times_s))
        names = tuple((f"transfers {bin_text(low, high)}, p{100 * share:.0f}", "s") for share in SHARES)
        found.append((names, _percentiles(table, rows, "time_s")))
    known = np.flatnonzero(~np.isnan(table["rtt_s"]))
    names = tuple((f"round-trip time, p{100 * share:.0f}", "s") for share in SHARES)
    found.append((names, _percentiles(table, known, "rtt_s")))
    found.append(((("packets repeated", "share"),), _share(table, "repeated", "packets")))
    found.append(((("packets dropped", "share"),), _share(table, "dropped", "packets")))
    found.append(((("transfers unfinished", "share"),), _unfinished(table)))
    found.append(((("load carried", "bit/s"),), _rate(table, side.span_s)))
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


def _percentiles(table: Columns, rows: Integers, column: str) -> Statistic:
    """Weighted percentiles of a column; NaN where fewer than :data:`BEYOND` values lie on either side of one."""
    enough = [len(rows) * min(share, 1 - share) >= BEYOND - 1e-9 for share in SHARES]
    if not any(enough):
        return lambda _: [math.nan] * len(SHARES)
    values = table[column][rows].astype(float)
    order = np.argsort(values, kind="stable")
    values, sessions = values[order], table["session"][rows[order]]
    # The fewest bytes that hold the sum pass through caches soonest.
    kind = np.int32 if 255 * len(sessions) < 2**31 else np.int64

    def statistic(weights: Weights) -> list[float]:
        below: Integers = np.cumsum(weights[sessions], dtype=kind)
        targets = [math.ceil(share * int(below[-1])) for share in SHARES]
        return [
            float(values[np.searchsorted(below, kind(target))]) if is_enough and target > 0 else math.nan
            for is_enough, target in zip(enough, targets, strict=True)
        ]

    return statistic


def _share(table: Columns, part: str, of: str) -> Statistic:
    """The sum of a column over that of another; NaN where one is not known of all."""
    if table.height == 0 or not all(_is_known(table, name) for name in (part, of)):
        return _none
    return _ratio(_by_session(table, table[part]), _by_session(table, table[of]))


def _unfinished(table: Columns) -> Statistic:
    if table.height == 0 or not _is_known(table, "time_s"):
        return _none
    return _ratio(_by_session(table, np.isinf(table["time_s"])), _by_session(table, np.ones(table.height)))


def _ratio(parts: Floats, wholes: Floats) -> Statistic:
    def statistic(weights: Weights) -> list[float]:
        times = weights.astype(float)
        whole = float(times @ wholes)
        return [float(times @ parts) / whole if whole > 0 else math.nan]

    return statistic


def _rate(table: Columns, span_s: float) -> Statistic:
    if table.height == 0 or span_s <= 0:
        return _none
    sizes = _by_session(table, table["carried_bytes"])
    return lambda weights: [float(8 * (weights.astype(float) @ sizes) / span_s)]


def _none(_: Weights) -> list[float]:
    return [math.nan]


def _is_known(table: Columns, name: str) -> bool:
    """Whether there is a column, and each of its values."""
    return name in table and not (table[name].dtype.kind == "f" and bool(np.isnan(table[name]).any()))


def _by_session(table: Columns, values: Any) -> Floats:
    sessions = table["session"]
    sums: Floats = np.bincount(sessions, weights=values.astype(float), minlength=int(sessions.max()) + 1).astype(float)
    return sums
