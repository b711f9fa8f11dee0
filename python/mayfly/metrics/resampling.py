"""Intervals from resampled runs: what another such hour would bring.

The figure comes from the capture's own run, the spread from runs of other hours drawn from it
(:mod:`mayfly.workload.replayed`): the interval is the range of them all, made wider as their number asks for (a
percentile interval of the bootstrap, Efron and Tibshirani 1993, ch. 13). Each draw is a whole hour. The interval is for
the figure of a typical hour: the median over all hours like this one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly import _native
from mayfly.metrics.intervals import on_mos_scale


def hour_ci95(
    value: float | None, others: Sequence[float | None], *, ratio: bool = True, runs: int = 1
) -> list[float] | None:
    """95 % interval of a figure from its values in resampled hours.

    Parameters
    ----------
    value : float or None
        In the run of the capture itself; any unit, the result has the same.
    others : sequence of float or None, shape ``(n_resamples,)``
        The same figure in each resampled hour.
    ratio : bool
        Whether the figure varies in proportion, as times do: the interval is then formed on the logarithm, and all
        values are above 0. Otherwise on the figure itself.
    runs : int
        Independent runs that ``value`` is made of, >= 1; one for a capture.

    Returns
    -------
    list of two float, or None
        None with fewer than two resamples, without a value, or where a resampled hour has none (its percentile falls
        on transfers that never finish): no upper end can be named then.

    Notes
    -----
    The values of the hours and of the capture are ordered, and the distances of the lowest and the highest from the
    median of all are multiplied by :func:`range_factor`. Each side has a distance of its own, since times deviate
    further upward than downward, and a few quiet or busy hours do not widen both. Of independent runs (``runs`` above
    1) it is Student's interval of their mean. Coverage, by simulation: docs/recommendation.md.

    Examples
    --------
    >>> [round(end, 2) for end in hour_ci95(1.0, [0.9, 1.1, 1.0, 1.05, 0.95])]
    [0.74, 1.31]
    """
    known = [other for other in others if other is not None]
    if value is None or len(known) < len(others):
        return None
    return _native.hour_ci95(value, known, ratio, runs)


def range_factor(hours: int) -> float:
    """How much wider than their range the interval of a capture and its resampled hours is.

    Parameters
    ----------
    hours : int
        Resampled hours, from 2.

    Returns
    -------
    float
        1.33 for 16 hours, 0.98 for 40.

    Notes
    -----
    The crate ``metrics`` has both (``resampling.rs``), and says why the factor is what it is.
    """
    return _native.range_factor(hours)


def with_intervals(figures: Any, others: Sequence[Any]) -> Any:
    """Figures of a run with the intervals that other hours give them.

    Parameters
    ----------
    figures : nested dict and list
        A key ``NAME_ci95`` belongs to ``NAME_s``, ``NAME_ms``, ``NAME_kb`` or ``NAME`` beside it.
    others : sequence
        The same of each resampled hour. An hour without the traffic that figures are of, where there is None in place
        of them, counts for no interval of theirs; a figure that one of the others lacks has none.

    Returns
    -------
    nested dict and list
        A copy, its keys ``*_ci95`` filled in by :func:`hour_ci95`: of MOS and of shares on the figure itself, of all
        else on its logarithm.

    Examples
    --------
    >>> found = with_intervals({"p95_ms": 2.0, "p95_ci95": None}, [{"p95_ms": 1.0}, {"p95_ms": 4.0}])
    >>> found["p95_ci95"][0] < 2.0 < found["p95_ci95"][1]
    True
    """
    if isinstance(figures, dict):
        inside = [other for other in others if isinstance(other, dict)]
        found = {key: with_intervals(value, [one.get(key) for one in inside]) for key, value in figures.items()}
        for key in figures:
            if key.endswith("_ci95"):
                name = _measured_as(key.removesuffix("_ci95"), figures)
                if name is not None:
                    ratio = not name.startswith(("mos", "loss", "share", "missing", "frozen"))
                    ends = hour_ci95(figures[name], [one.get(name) for one in inside], ratio=ratio)
                    if name.startswith("mos"):
                        found[key] = on_mos_scale(ends)
                    else:
                        found[key] = _from(figures.get("idle_ms") if ratio else 0.0, ends)
        return found
    if isinstance(figures, list):
        rows = [
            other if isinstance(other, list) and len(other) == len(figures) else [None] * len(figures)
            for other in others
        ]
        return [with_intervals(value, [row[at] for row in rows]) for at, value in enumerate(figures)]
    return figures


def _from(least: float | None, ends: list[float] | None) -> list[float] | None:
    """An interval without what cannot be: no ping is faster than on an idle path, and no share is below 0."""
    return ends if ends is None or least is None else [max(end, least) for end in ends]


def _measured_as(name: str, figures: Mapping[str, Any]) -> str | None:
    """The figure that an interval belongs to."""
    return next((key for key in (f"{name}_s", f"{name}_ms", f"{name}_kb", name) if key in figures), None)
