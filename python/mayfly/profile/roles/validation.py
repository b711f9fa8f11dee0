"""How often a classifier is right on hosts it has not learned from: hold-out in four parts (Chen 2012, 8.4.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.profile.roles.instances import Instances

PARTS = 4
"""Each is held out once."""

Z = {"80": 1.2816, "90": 1.6449}
"""Quantiles of the normal law by level of the interval, two-sided, per cent.

The paper's intervals are of 1.28 and 1.65, rounded as in the table of Witten and Frank 2005.
"""


def wilson(successes: int, trials: int, z: float) -> tuple[float, float]:
    """Confidence interval of a success rate.

    Parameters
    ----------
    successes, trials : int
        How often it was right, and tried; at least one trial.
    z : float
        Quantile of the normal law.

    Returns
    -------
    low, high : float
        Wilson 1927; the formula of Chen 2012, 8.4.2.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(9, 10, 1.645)]
    [0.6523, 0.9774]
    """
    f = successes / trials
    middle = f + z * z / (2 * trials)
    half = z * math.sqrt(f / trials - f * f / trials + z * z / (4 * trials**2))
    under = 1 + z * z / trials
    return (middle - half) / under, (middle + half) / under


def hold_out(
    data: Instances,
    learn: Callable[[Instances], Callable[[Floats], Floats]],
    *,
    seed: int = 1,
    parts: int = PARTS,
) -> dict[str, Any]:
    """Hold out each part once, learn from the rest.

    Parameters
    ----------
    data : Instances
        Rows without class are left out.
    learn : callable
        Takes instances, returns what gives the class probabilities of values.
    seed : int
        Of the order in which hosts are dealt into parts.
    parts : int
        From 2 to the number of rows.

    Returns
    -------
    dict
        ``trials``, each with ``tested, right, rate, ci80, ci90`` (Wilson); ``mean`` and ``std`` of the rates (divisor
        n - 1), the same over all trials as ``pooled``; ``confusion``, rows true and columns said, in the order of
        ``classes``; ``majority``, the rate of always saying the most frequent class.

    Raises
    ------
    MayflyError
        Too few rows, one class only, or a negative ``seed``.
    """
    data = data.labelled()
    if seed < 0:
        raise MayflyError(f"seed = {seed}: must be 0 or more")
    if not 2 <= parts <= len(data):
        raise MayflyError(f"{len(data)} labelled hosts: must be at least {max(parts, 2)} for {parts} parts")
    if len(set(data.labels.tolist())) < 2:
        raise MayflyError(f"all {len(data)} labelled hosts are {data.classes[data.labels[0]]}s: there must be both")
    order = np.random.default_rng(seed).permutation(len(data))
    confusion = np.zeros((len(data.classes), len(data.classes)), dtype=int)
    trials = []
    for held in np.array_split(order, parts):
        classifier = learn(data.chosen(np.setdiff1d(order, held)))
        said = np.argmax(classifier(data.values[held]), axis=1)
        np.add.at(confusion, (data.labels[held], said), 1)
        trials.append(_trial(int((said == data.labels[held]).sum()), len(held)))
    rates = np.array([trial["rate"] for trial in trials])
    return {
        "trials": trials,
        "mean": float(rates.mean()),
        "std": float(rates.std(ddof=1)),
        "pooled": _trial(int(np.trace(confusion)), len(data)),
        "classes": list(data.classes),
        "confusion": confusion.tolist(),
        "majority": float(np.bincount(data.labels).max() / len(data)),
    }


def _trial(right: int, tested: int) -> dict[str, Any]:
    intervals = {f"ci{level}": list(wilson(right, tested, z)) for level, z in Z.items()}
    return {"tested": tested, "right": right, "rate": right / tested} | intervals
