"""A trained model of roles: data that can be read, kept and applied to another site."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.profile.roles.c45 import Node, Settings, probabilities, tree_document, tree_of, tree_text
from mayfly.profile.roles.features import CLASSES, FEATURES, LEAST_CONNECTIONS, NORMALISATIONS, enough, instances_of
from mayfly.profile.roles.instances import Attribute, Instances
from mayfly.profile.roles.naive_bayes import NaiveBayes, naive_bayes
from mayfly.profile.roles.pruning import c45

FORMAT = "mayfly roles"
VERSION = 1

METHODS = ("c45", "naive-bayes")
"""What learns."""

INSUFFICIENT = "insufficient traffic"
"""In place of the role of a host with too few connections."""

CUTS = Settings(midpoints=True)
"""How a tree for another site is made.

With a cut at a value of the site it was learned on, the next larger host of the same kind is on the wrong side.
"""

DEEPEST = 200
"""Most tests on a path of a model that is read."""


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier with all that belongs to its use.

    Parameters
    ----------
    method : str
        One of :data:`METHODS`.
    normalisation : str
        Of the features, over the hosts of a trace; see :func:`mayfly.profile.roles.features.normalised`.
    least : int
        Fewest connections of a host that gets a role.
    classifier : Node or NaiveBayes
        What was learned.
    trained_on : dict
        ``hosts`` by class, and ``captures``.
    """

    method: str
    normalisation: str
    least: int
    classifier: Node | NaiveBayes
    trained_on: dict[str, Any]

    def probabilities(self, values: Floats) -> Floats:
        """Probabilities of client and server, of normalised features, shape (n, 2)."""
        return _answers(self.classifier)(values)

    def apply(self, features: pl.DataFrame) -> pl.DataFrame:
        """Tell the roles of the hosts of a trace.

        Parameters
        ----------
        features : polars.DataFrame
            Of :func:`mayfly.profile.roles.features.host_features`.

        Returns
        -------
        polars.DataFrame, shape (n_hosts, n_columns + 2)
            With ``role`` (``client``, ``server`` or :data:`INSUFFICIENT`) and ``probability`` of it (null without
            role). Features are set in relation to those of the hosts that have enough traffic.
        """
        judged = enough(features, self.least)
        kept = features.filter(pl.Series(judged, dtype=pl.Boolean))
        given = self.probabilities(instances_of(kept, {}, self.normalisation).values)
        said = np.argmax(given, axis=1)
        told = kept.with_columns(
            pl.Series("role", [CLASSES[place] for place in said], dtype=pl.String),
            pl.Series("probability", given[np.arange(len(said)), said], dtype=pl.Float64),
        )
        rest = features.filter(pl.Series(~judged, dtype=pl.Boolean)).with_columns(
            pl.lit(INSUFFICIENT).alias("role"), pl.lit(None, pl.Float64).alias("probability")
        )
        return pl.concat([told, rest]).sort("host")

    def text(self) -> str:
        """The tree in lines; of naive Bayes the means by class."""
        if isinstance(self.classifier, Node):
            return tree_text(self.classifier, tuple(map(Attribute, FEATURES)), CLASSES)
        rows = [
            f"{name}: " + ", ".join(f"{role} {mean:.4g}" for role, mean in zip(CLASSES, law["mean"], strict=True))
            for name, law in zip(FEATURES, self.classifier.laws, strict=True)
        ]
        return "\n".join(rows)

    def document(self) -> dict[str, Any]:
        """The model for JSON."""
        learned = tree_document(self.classifier) if isinstance(self.classifier, Node) else self.classifier.document()
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "features": list(FEATURES),
            "classes": list(CLASSES),
            "normalisation": self.normalisation,
            "least_connections": self.least,
            "trained_on": self.trained_on,
            "classifier": learned,
        }


def _answers(classifier: Node | NaiveBayes) -> Callable[[Floats], Floats]:
    if isinstance(classifier, Node):
        return lambda values: probabilities(classifier, values)
    return classifier.probabilities


def learner(method: str) -> Callable[[Instances], Node | NaiveBayes]:
    """What learns by a method.

    Raises
    ------
    MayflyError
        ``method`` is none of :data:`METHODS`.
    """
    if method not in METHODS:
        raise MayflyError(f"method = {method}: must be {' or '.join(METHODS)}")
    return naive_bayes if method == "naive-bayes" else lambda data: c45(data, CUTS)


def answering(method: str) -> Callable[[Instances], Callable[[Floats], Floats]]:
    """From instances to what gives the class probabilities of values, for a hold-out."""
    learn = learner(method)
    return lambda data: _answers(learn(data))


def train(
    features: pl.DataFrame,
    roles: dict[str, str],
    *,
    method: str = "c45",
    normalisation: str = "linear",
    least: int = LEAST_CONNECTIONS,
    captures: tuple[str, ...] = (),
) -> Model:
    """Learn the roles of a site.

    Parameters
    ----------
    features : polars.DataFrame
        Of :func:`mayfly.profile.roles.features.host_features`.
    roles : dict of str
        Known roles of hosts; others are left out.
    method, normalisation : str
        Of :data:`METHODS` and :data:`mayfly.profile.roles.features.NORMALISATIONS`.
    least : int
        Fewest connections of a host that is learned from, from 1.
    captures : tuple of str
        Names for the record.

    Returns
    -------
    Model

    Raises
    ------
    MayflyError
        No labelled host with enough traffic of each role, or an unknown method or normalisation.
    """
    data = training_rows(features, roles, normalisation, least)
    counts = {name: int((data.labels == place).sum()) for place, name in enumerate(CLASSES)}
    if missing := [name for name, count in counts.items() if not count]:
        raise MayflyError(f"no labelled {missing[0]} with at least {least} connections: there must be both roles")
    return Model(method, normalisation, least, learner(method)(data), {"hosts": counts, "captures": list(captures)})


def training_rows(features: pl.DataFrame, roles: dict[str, str], normalisation: str, least: int) -> Instances:
    """Instances of the hosts with enough traffic, normalised over all of these; those without role are dropped."""
    kept = features.filter(pl.Series(enough(features, least), dtype=pl.Boolean))
    return instances_of(kept, roles, normalisation).labelled()


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model that :meth:`Model.document` made.

    Parameters
    ----------
    path : path
        JSON.

    Returns
    -------
    Model

    Raises
    ------
    MayflyError
        The file cannot be read, or is no model of this version.
    """
    path = Path(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise MayflyError(f"{path}: no JSON: {str(error)[:80]}") from None
    try:
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise MayflyError(f"{path}: format {document['format']} {document['version']}: must be {FORMAT} {VERSION}")
        if tuple(document["features"]) != FEATURES or tuple(document["classes"]) != CLASSES:
            raise MayflyError(f"{path}: features or classes are not those of this version")
        method, how, least = document["method"], document["normalisation"], document["least_connections"]
        if method not in METHODS or how not in NORMALISATIONS or not (isinstance(least, int) and least >= 1):
            raise MayflyError(f"{path}: method, normalisation or least_connections is not one of those known")
        read = _checked_bayes if method == "naive-bayes" else _checked_tree
        classifier = read(document["classifier"])
        return Model(method, how, least, classifier, dict(document["trained_on"]))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise MayflyError(f"{path}: not a model of roles: {type(error).__name__} {str(error)[:60]}") from None


def _checked_tree(document: dict[str, Any]) -> Node:
    root = tree_of(document)
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        leaf = node.attribute is None
        fits = node.bags.shape == (1 if leaf else 2, len(CLASSES)) and (node.bags >= 0).all() and depth <= DEEPEST
        if not leaf:
            fits = (
                fits
                and node.attribute in range(len(FEATURES))
                and node.threshold is not None
                and np.isfinite(node.threshold)
                and len(node.children) == 2
            )
        if not fits or (leaf and node.children):
            raise ValueError("a node that does not fit")
        waiting += [(child, depth + 1) for child in node.children]
    return root


def _checked_bayes(document: dict[str, Any]) -> NaiveBayes:
    found = NaiveBayes.of(document)
    shapes = [(law["precision"].shape, law["mean"].shape, law["deviation"].shape) for law in found.laws]
    if shapes != [((), (len(CLASSES),), (len(CLASSES),))] * len(FEATURES) or found.priors.shape != (len(CLASSES),):
        raise ValueError("laws that do not fit")
    if (
        not all((law["precision"] > 0) and (law["deviation"] > 0).all() for law in found.laws)
        or (found.priors <= 0).any()
    ):
        raise ValueError("laws out of bounds")
    return found
