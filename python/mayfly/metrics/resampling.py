"""Intervals from resampled runs: what another such hour would bring.

The figure comes from the capture's own run, the spread from runs of other hours drawn from it
(:mod:`mayfly.workload.sessions`). The deviation of a figure over such draws estimates its standard error (Efron and
Tibshirani 1993, ch. 6); it is not divided by the square root of their number, as each draw is a whole hour. The
interval is for the figure of a typical hour: the median over all hours like this one.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mayfly.metrics.intervals import on_mos_scale, student_t

CALIBRATION = 1.1
"""What the bootstrap leaves out, as a factor of the interval's width: a few sessions of a heavy-tailed law know its
tail less well than they say. An interval is calibrated by its coverage (Loh 1987): set on the population
``visitors`` of benchmarks/coverage.py, checked on the other one there."""


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
    ``log v +- c t s``: ``s`` is the root mean square of the deviations of the logarithms in the resampled hours from
    that of the capture, ``t`` the 97.5 % quantile of Student's law with as many degrees of freedom as there are hours,
    since ``s`` itself is known from so many only, and ``c`` is `CALIBRATION`. Of independent runs (``runs`` above 1)
    it is Student's interval of their mean, ``c = 1``. Coverage, by simulation: docs/recommendation.md.

    Examples
    --------
    >>> [round(end, 2) for end in hour_ci95(1.0, [0.9, 1.1, 1.0, 1.05, 0.95])]
    [0.82, 1.22]
    """
    if value is None or len(others) < 2 or any(other is None for other in others):
        return None
    sample = np.array([value, *others], dtype=float)
    if not np.isfinite(sample).all() or (ratio and not (sample > 0).all()):
        return None
    if ratio:
        sample = np.log(sample)
    if runs > 1:
        half = student_t(sample.size - 2) * float(sample[1:].std(ddof=1)) / math.sqrt(runs)
    else:
        half = CALIBRATION * student_t(sample.size - 1) * float(np.sqrt(np.mean((sample[1:] - sample[0]) ** 2)))
    ends = [float(sample[0]) - half, float(sample[0]) + half]
    return [math.exp(end) for end in ends] if ratio else ends


def with_intervals(figures: Any, others: Sequence[Any]) -> Any:
    """Figures of a run with the intervals that other hours give them.

    Parameters
    ----------
    figures : nested dict and list
        A key ``NAME_ci95`` belongs to ``NAME_s``, ``NAME_ms``, ``NAME_kb`` or ``NAME`` beside it.
    others : sequence
        The same of each resampled hour; what one of them lacks has no interval.

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
        inside = [other if isinstance(other, dict) else {} for other in others]
        found = {key: with_intervals(value, [one.get(key) for one in inside]) for key, value in figures.items()}
        for key in figures:
            if key.endswith("_ci95"):
                name = _measured_as(key.removesuffix("_ci95"), figures)
                if name is not None:
                    ratio = not name.startswith(("mos", "loss", "share"))
                    ends = hour_ci95(figures[name], [one.get(name) for one in inside], ratio=ratio)
                    found[key] = on_mos_scale(ends) if name.startswith("mos") else _from(figures.get("idle_ms"), ends)
        return found
    if isinstance(figures, list):
        rows = [
            other if isinstance(other, list) and len(other) == len(figures) else [None] * len(figures)
            for other in others
        ]
        return [with_intervals(value, [row[at] for row in rows]) for at, value in enumerate(figures)]
    return figures


def _from(least: float | None, ends: list[float] | None) -> list[float] | None:
    """An interval without what cannot be: no ping is faster than on an idle path."""
    return ends if ends is None or least is None else [max(end, least) for end in ends]


def _measured_as(name: str, figures: Mapping[str, Any]) -> str | None:
    """The figure that an interval belongs to."""
    return next((key for key in (f"{name}_s", f"{name}_ms", f"{name}_kb", name) if key in figures), None)
