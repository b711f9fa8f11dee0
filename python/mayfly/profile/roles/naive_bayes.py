"""Naive Bayes: each attribute of a class has a law of its own, as if the others told nothing of it.

Source: John and Langley 1995; details as in Weka: numbers are normal, rounded to the mean distance of neighbouring
values, with a deviation of at least a sixth of it; counts of classes and nominal values begin at one (Laplace).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.profile.roles.instances import Instances

SMALLEST = 1e-75
"""Least probability of a value: one attribute alone does not rule a class out."""

DEFAULT_PRECISION = 0.01
"""Of an attribute that has one value only."""

EQUAL = 1e-10
"""A deviation at most this is none."""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """What was learned.

    Parameters
    ----------
    priors : numpy.ndarray, shape (n_classes,)
        Probabilities of the classes.
    laws : tuple of dict
        For each attribute: ``precision``, ``mean`` and ``deviation`` by class of a number; ``shares``, by class and
        value, of a nominal one.
    """

    priors: Floats
    laws: tuple[dict[str, Any], ...]

    def probabilities(self, values: Floats) -> Floats:
        """Probabilities of the classes.

        Parameters
        ----------
        values : numpy.ndarray, shape (n, n_attributes)
            A missing one (NaN) is ignored.

        Returns
        -------
        numpy.ndarray, shape (n, n_classes)
        """
        logs = np.tile(np.log(self.priors), (len(values), 1))
        for column, law in zip(values.T, self.laws, strict=True):
            known = ~np.isnan(column)
            logs[known] += np.log(np.maximum(_likelihood(law, column[known]), SMALLEST))
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        result: Floats = weights / weights.sum(axis=1, keepdims=True)
        return result

    def document(self) -> dict[str, Any]:
        """For JSON."""
        laws = [{name: np.asarray(value).tolist() for name, value in law.items()} for law in self.laws]
        return {"priors": self.priors.tolist(), "laws": laws}

    @classmethod
    def of(cls, document: dict[str, Any]) -> NaiveBayes:
        """From :meth:`document`."""
        laws = [{name: np.array(value, dtype=float) for name, value in law.items()} for law in document["laws"]]
        return cls(np.array(document["priors"], dtype=float), tuple(laws))


def naive_bayes(data: Instances) -> NaiveBayes:
    """Learn.

    Parameters
    ----------
    data : Instances
        Rows without class are left out.

    Returns
    -------
    NaiveBayes

    Raises
    ------
    MayflyError
        No row has a class.

    Examples
    --------
    >>> from mayfly.profile.roles.instances import Attribute
    >>> values = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
    >>> rows = Instances((Attribute("in"),), ("client", "server"), values, np.array([0, 0, 0, 1, 1, 1]))
    >>> naive_bayes(rows).probabilities(np.array([[2.5], [12.0], [np.nan]])).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    """
    data = data.labelled()
    if not len(data):
        raise MayflyError("0 labelled instances: must be at least one to learn from")
    counts = np.bincount(data.labels, minlength=len(data.classes))
    laws = []
    for column, attribute in zip(data.values.T, data.attributes, strict=True):
        known = ~np.isnan(column)
        labels = data.labels[known]
        if attribute.values is None:
            laws.append(_normal(column[known], labels, len(data.classes)))
        else:
            seen = np.ones((len(data.classes), len(attribute.values)))
            np.add.at(seen, (labels, column[known].astype(int)), 1)
            laws.append({"shares": seen / seen.sum(axis=1, keepdims=True)})
    return NaiveBayes((counts + 1) / (counts.sum() + len(counts)), tuple(laws))


def _normal(column: Floats, labels: Integers, classes: int) -> dict[str, Any]:
    distinct = np.unique(column)
    precision = float((distinct[-1] - distinct[0]) / (len(distinct) - 1)) if len(distinct) > 1 else DEFAULT_PRECISION
    rounded = np.rint(column / precision) * precision
    means, deviations = np.zeros(classes), np.full(classes, precision / 6)
    for place in range(classes):
        part = rounded[labels == place]
        if len(part):
            means[place] = part.mean()
            deviation = float(part.std())
            if deviation > EQUAL:
                deviations[place] = max(deviation, precision / 6)
    return {"precision": np.array(precision), "mean": means, "deviation": deviations}


def _likelihood(law: dict[str, Any], values: Floats) -> Floats:
    """Probabilities of values by class, shape (n, n_classes)."""
    if "shares" in law:
        found: Floats = law["shares"][:, values.astype(int)].T
        return found
    from scipy.special import ndtr

    precision = float(law["precision"])
    away = np.abs(np.rint(values / precision)[:, None] * precision - law["mean"])
    # Both ends on the lower side, where small probabilities keep their digits.
    result: Floats = ndtr((precision / 2 - away) / law["deviation"]) - ndtr((-precision / 2 - away) / law["deviation"])
    return result
