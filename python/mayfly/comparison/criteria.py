"""What users feel, as criteria of a recommendation: each with the change that is noticed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mayfly.comparison.felt import BY_ID, measured
from mayfly.metrics.resampling import hour_ci95
from mayfly.text.readable import share_text, time_text

Row = Mapping[str, Any]

NOTICED_RATIO = 1.2
"""Durations that differ by less than a fifth are not told apart (Seow 2008, ch. 2)."""

MOST_DOUBLINGS = 4.0
"""What one criterion can weigh at most: ten times worse or a thousand times, both are unusable."""


@dataclass(frozen=True)
class Criterion:
    """One thing users feel, of a row of the summary; less is better, but for MOS.

    Parameters
    ----------
    id : str
        Key in ``resampled`` of a row.
    name : str
        In a sentence.
    unit : str
        ``s``, ``ms``, ``mos`` or ``share``.
    value : callable
        From a row to the figure; infinite where it falls on what never finishes, None where the run has none.
    noticed : float
        Smallest change that is noticed, in the unit; durations must differ by `NOTICED_RATIO` too.
    """

    id: str
    name: str
    unit: str
    value: Callable[[Row], float | None]
    noticed: float

    @property
    def is_ratio(self) -> bool:
        """Whether it is a duration, compared by its ratio."""
        return self.unit in ("s", "ms")

    def worse_by(self, value: float, other: float) -> float:
        """How much worse ``value`` is than ``other``, in doublings; negative when it is better.

        A point of MOS counts as a doubling, and so does twice as large a share that never finishes, from one in a
        hundred on.
        """
        if value == other:
            return 0.0
        if self.unit == "mos":
            return other - value
        if math.isinf(value) or math.isinf(other):
            return MOST_DOUBLINGS if value > other else -MOST_DOUBLINGS
        least = self.noticed if self.unit == "share" else 1e-12
        change = math.log2((value + least) / (other + least))
        return max(-MOST_DOUBLINGS, min(MOST_DOUBLINGS, change))

    def is_noticed(self, value: float, other: float) -> bool:
        """Whether the two are far enough apart for users to notice."""
        if value == other:
            return False
        if math.isinf(value) or math.isinf(other):
            return True
        apart = abs(value - other) > self.noticed
        return apart and (not self.is_ratio or max(value, other) > NOTICED_RATIO * min(value, other))

    def text(self, value: float) -> str:
        """The figure with its unit."""
        if math.isinf(value):
            return "never"
        if self.unit == "mos":
            return f"{value:.1f}"
        return share_text(value) if self.unit == "share" else time_text(value / (1e3 if self.unit == "ms" else 1))

    def change_text(self, before: float, after: float) -> str:
        """Both figures, the unit once where it is the same.

        Examples
        --------
        >>> CRITERIA[1].change_text(0.508, 0.189), CRITERIA[1].change_text(1.2, 0.189)
        ('508 -> 189 ms', '1.20 s -> 189 ms')
        """
        first, last = self.text(before), self.text(after)
        number, _, unit = first.partition(" ")
        return f"{number if unit and last.endswith(' ' + unit) else first} -> {last}"


def unfinished_share(row: Row) -> float | None:
    """Share of transfers that had not finished at the end, those without an end aside."""
    ended, open_ = row.get("flows_completed") or 0, (row.get("flows_unfinished") or 0) - (row.get("flows_endless") or 0)
    return open_ / (ended + open_) if ended + open_ else None


def _felt(id: str, name: str, noticed: float) -> Criterion:
    """A figure of :data:`~mayfly.comparison.felt.MEASURES` as a criterion, in its unit of the summary."""
    measure = BY_ID[id]

    def value(row: Row) -> float | None:
        found = measured(row, measure)
        if found is None or found.value is None:
            return None if found is None else math.inf
        return found.value * (1e3 if measure.unit == "ms" else 1.0)

    return Criterion(id, name, measure.unit, value, noticed)


CRITERIA: tuple[Criterion, ...] = (
    Criterion("unfinished", "transfers that never finish", "share", unfinished_share, 0.01),
    _felt("short_p95", "short transfers (95th percentile)", 0.05),
    _felt("ping_p95", "ping under load", 10.0),
    _felt("call_mos", "call quality (MOS)", 0.2),
    _felt("pages_p95", "pages (95th percentile)", 0.1),
    _felt("long_p50", "long transfers (median)", 0.5),
    _felt("long_p95", "long transfers (95th percentile)", 0.5),
)
"""In the order in which a sentence names them; docs/recommendation.md says why each threshold."""


@dataclass(frozen=True)
class Difference:
    """One criterion of one discipline beside another.

    Parameters
    ----------
    criterion : Criterion
    value, other : float
        Of the two.
    ci95 : list of two float, or None
        95 % interval of ``value / other``, or of ``value - other`` for MOS and shares; None without resamples.
    sure : bool or None
        Whether it is more than chance; None when nothing can tell, as there was one run only.
    """

    criterion: Criterion
    value: float
    other: float
    ci95: list[float] | None
    sure: bool | None

    @property
    def counts(self) -> bool:
        """Whether it is noticed and, as far as can be told, no chance."""
        return self.sure is not False and self.criterion.is_noticed(self.value, self.other)

    @property
    def is_noticed_as_worse(self) -> bool:
        """Whether users would notice that ``value`` is worse, be it by chance or not."""
        criterion = self.criterion
        return criterion.is_noticed(self.value, self.other) and criterion.worse_by(self.value, self.other) > 0

    @property
    def worse_by(self) -> float:
        """Doublings by which ``value`` is worse than ``other``; 0 where the difference does not count."""
        return self.criterion.worse_by(self.value, self.other) if self.counts else 0.0

    def text(self) -> str:
        """Name and figures, the interval of the change where there is one."""
        text = f"{self.criterion.name} {self.criterion.change_text(self.other, self.value)}"
        if self.criterion.is_ratio and self.ci95 is not None:
            low, high = (100 * (end - 1) for end in self.ci95)
            text += f" [{low:+.0f}, {high:+.0f} %]"
        return text


def difference(criterion: Criterion, row: Row, other: Row) -> Difference | None:
    """A criterion of one row beside that of another, on the same resampled hours.

    Parameters
    ----------
    criterion : Criterion
    row, other : mapping
        Of ``disciplines`` in the summary; ``resampled`` holds the values of the criterion in each resampled hour,
        ``replicated`` those of each replication.

    Returns
    -------
    Difference or None
        None where one of them has no such figure.
    """
    value, reference = criterion.value(row), criterion.value(other)
    if value is None or reference is None:
        return None
    (draws, runs), (others, _) = (_draws(criterion, one) for one in (row, other))
    if len(draws) < 2 or len(draws) != len(others):
        return Difference(criterion, value, reference, None, None)
    pairs = list(zip(draws, others, strict=True))
    finite = all(map(math.isfinite, (value, reference, *draws, *others)))
    if finite and criterion.is_ratio and min(value, reference, *draws, *others) > 0:
        interval = hour_ci95(value / reference, [one / two for one, two in pairs], runs=runs)
        neutral = 1.0
    elif finite:
        interval = hour_ci95(value - reference, [one - two for one, two in pairs], ratio=False, runs=runs)
        neutral = 0.0
    else:
        interval, neutral = None, 0.0
    if interval is not None:
        return Difference(criterion, value, reference, interval, not interval[0] <= neutral <= interval[1])
    # Where some never finish there is no interval: the sign must be the same in every hour.
    signs = {math.copysign(1.0, criterion.worse_by(one, two)) for one, two in pairs if one != two}
    return Difference(criterion, value, reference, None, len(signs) == 1)


def _draws(criterion: Criterion, row: Row) -> tuple[Sequence[float], int]:
    """Values of the other runs, and how many runs the row's own figure is of.

    Resampled hours stand beside the capture's own run; replications are themselves what the row is made of.
    """
    hours, runs = row.get("resampled"), row.get("replicated")
    found = (hours or runs or {}).get(criterion.id) or ()
    # A figure that falls on what never finishes is null in JSON.
    return [math.inf if value is None else float(value) for value in found], 1 if hours else max(1, len(found))


def resampled_values(rows: Sequence[Row]) -> dict[str, list[float | None]]:
    """Values of each criterion in each of many runs, as the summary keeps them.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one discipline, one of each run.

    Returns
    -------
    dict of list
        By id of the criterion; null where it is infinite. A criterion that some run does not have is left out.
    """
    found: dict[str, list[float | None]] = {}
    for criterion in CRITERIA:
        values = [criterion.value(row) for row in rows]
        if values and all(value is not None for value in values):
            found[criterion.id] = [value if value is not None and math.isfinite(value) else None for value in values]
    return found
