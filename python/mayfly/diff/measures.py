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

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.diff.samples import Side
from mayfly.metrics.intervals import student_t

RESAMPLES = 400
LEVEL = 0.05
"""Chance that two sides without a difference are said to differ in anything."""

FEWEST_SESSIONS = 10
"""Fewest sessions of a side for an interval."""

BEYOND = 5
"""Fewest transfers on either side of a percentile."""

BINS = ((0, 10_000), (10_000, 100_000), (100_000, 1_000_000), (1_000_000, None))
"""Sizes of transfers, bytes."""

Weights = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
"""How often a resample has each session: a Poisson law of mean 1 stays far below 255."""

Statistic = Callable[[Weights], float]
"""Of the weight of each session."""


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
    of = [dict(_measures(side)) for side in (before, after)]
    counts = [_sessions(side) for side in (before, after)]
    rng = np.random.default_rng(seed)
    paired = _same_transfers(before, after)
    enough = min(counts) >= FEWEST_SESSIONS
    drawn = [_weights(counts[0], resamples, rng)] if enough else []
    if enough:
        drawn.append(drawn[0] if paired else _weights(counts[1], resamples, rng))
    found = [_change(name, of[0][name], of[1][name], counts, drawn) for name in of[0]]
    return _kept(found)


def _sessions(side: Side) -> int:
    return 0 if side.frame.height == 0 else int(side.frame["session"].n_unique())


def _same_transfers(before: Side, after: Side) -> bool:
    same = ["key", "start_s", "size_bytes"]
    return before.frame.height == after.frame.height and before.frame.select(same).equals(after.frame.select(same))


def _weights(sessions: int, resamples: int, rng: np.random.Generator) -> Weights:
    """How often each resample has each session, shape (resamples, sessions)."""
    drawn = np.empty((resamples, sessions), dtype=np.uint8)
    for row in drawn:  # all at once they would take eight bytes each
        row[:] = rng.poisson(1.0, size=sessions)
    return drawn


def _change(
    name: tuple[str, str],
    before: Statistic | None,
    after: Statistic | None,
    counts: Sequence[int],
    drawn: list[Weights],
) -> Change:
    first, second = (_known(statistic, count) for statistic, count in zip((before, after), counts, strict=True))
    if not first or not second or before is None or after is None or math.isinf(first) or math.isinf(second):
        return Change(*name, first, second)
    estimate = math.log(second / first)
    if not drawn:
        return Change(*name, first, second, ratio=math.exp(estimate))
    resampled = [
        np.array([statistic(row) for row in rows]) for statistic, rows in zip((before, after), drawn, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log(resampled[1] / resampled[0])
    logarithms = logarithms[np.isfinite(logarithms)]
    # A measure that many resamples lack rests on a few sessions: no interval is to be trusted.
    if len(logarithms) < 0.9 * len(drawn[0]):
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


def _known(statistic: Statistic | None, sessions: int) -> float | None:
    value = math.nan if statistic is None else statistic(np.ones(sessions, dtype=np.uint8))
    return None if math.isnan(value) else value


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


def _measures(side: Side) -> list[tuple[tuple[str, str], Statistic | None]]:
    frame = side.frame
    found: list[tuple[tuple[str, str], Statistic | None]] = []
    for low, high in BINS:
        part = frame.filter(
            pl.col("size_bytes") > low, pl.col("size_bytes") <= (high or 2**62), pl.col("time_s").is_not_null()
        )
        for share in (0.5, 0.95):
            name = f"transfers {bin_text(low, high)}, p{100 * share:.0f}"
            found.append(((name, "s"), _percentile(part, "time_s", share)))
    known = frame.filter(pl.col("rtt_s").is_not_null())
    found += [((f"round-trip time, p{100 * q:.0f}", "s"), _percentile(known, "rtt_s", q)) for q in (0.5, 0.95)]
    found.append((("packets repeated", "share"), _share(frame, "repeated", "packets")))
    found.append((("packets dropped", "share"), _share(frame, "dropped", "packets")))
    ended = frame.with_columns(pl.col("time_s").is_infinite().cast(pl.Int64).alias("open"), pl.lit(1).alias("one"))
    found.append((("transfers unfinished", "share"), _share(ended, "open", "one")))
    found.append((("load carried", "bit/s"), _rate(frame, side.span_s)))
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


def _percentile(part: pl.DataFrame, column: str, share: float) -> Statistic | None:
    """The weighted percentile of a column; None where fewer than :data:`BEYOND` values lie on either side of it."""
    if part.height * min(share, 1 - share) < BEYOND - 1e-9:
        return None
    ordered = part.sort(column)
    values = ordered[column].to_numpy().astype(float)
    sessions = ordered["session"].to_numpy()
    # The fewest bytes that hold the sum pass through caches soonest.
    kind = np.int32 if 255 * len(sessions) < 2**31 else np.int64

    def statistic(weights: Weights) -> float:
        below: Integers = np.cumsum(weights[sessions], dtype=kind)
        target = math.ceil(share * int(below[-1]))
        return float(values[np.searchsorted(below, kind(target))]) if target > 0 else math.nan

    return statistic


def _share(frame: pl.DataFrame, part: str, of: str) -> Statistic | None:
    """The sum of a column over that of another."""
    if frame.height == 0 or frame[part].null_count() or frame[of].null_count():
        return None
    parts, wholes = (_by_session(frame, column) for column in (part, of))

    def statistic(weights: Weights) -> float:
        times = weights.astype(float)
        whole = float(times @ wholes)
        return float(times @ parts) / whole if whole > 0 else math.nan

    return statistic


def _rate(frame: pl.DataFrame, span_s: float) -> Statistic | None:
    if frame.height == 0 or span_s <= 0:
        return None
    sizes = _by_session(frame, "carried_bytes")
    return lambda weights: float(8 * (weights.astype(float) @ sizes) / span_s)


def _by_session(frame: pl.DataFrame, column: str) -> Floats:
    sessions = frame["session"].to_numpy()
    sums: Floats = np.bincount(
        sessions, weights=frame[column].to_numpy().astype(float), minlength=int(sessions.max()) + 1
    ).astype(float)
    return sums
