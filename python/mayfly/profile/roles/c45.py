"""C4.5: a tree of tests grown by gain ratio, with missing values in parts.

Source: Quinlan 1993, ch. 2 to 4 and 7; details as J48, the form of release 8 (Quinlan 1996) in Weka, so that both give
the same tree: the gain of a cut through numbers pays log2(cuts) / n, a test must gain about as much as the mean of
all, a cut stands at a value that occurs, and numbers nearer than 1e-5 are one.

Cost: O(attributes * n log n) for each node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.profile.roles.instances import Attribute, Instances

SMALL = 1e-6
"""Numbers nearer than this are equal."""

APART = 1e-5
"""Values of an attribute nearer than this are not cut apart."""

SLACK = 1e-3
"""A test may gain this much less than the mean of all tests."""


@dataclass
class Node:
    """A leaf, or a test with a branch for each outcome.

    Parameters
    ----------
    bags : numpy.ndarray, shape (n_branches, n_classes)
        Weights of the training instances by branch and class; a leaf has one row.
    attribute : int or None
        What is tested; None for a leaf.
    threshold : float or None
        Of a number: at most this goes to branch 0, more to branch 1. None: a branch for each value.
    children : list of Node
        One for each branch.
    rows, weights : numpy.ndarray, shape (n,)
        Training instances that came here, and how much of each; only while the tree is made.
    """

    bags: Floats
    attribute: int | None = None
    threshold: float | None = None
    children: list[Node] = field(default_factory=list)
    rows: Integers | None = None
    weights: Floats | None = None

    @property
    def counts(self) -> Floats:
        """Weights by class."""
        result: Floats = self.bags.sum(axis=0)
        return result

    @property
    def instances(self) -> tuple[Integers, Floats]:
        """Training instances that came here, and how much of each, while the tree is made."""
        assert self.rows is not None and self.weights is not None, "the tree is finished"
        return self.rows, self.weights

    @property
    def is_leaf(self) -> bool:
        """Whether nothing is tested here."""
        return self.attribute is None

    @property
    def empty(self) -> bool:
        """Whether it is a leaf no training instance came to."""
        return self.is_leaf and float(self.bags.sum()) < SMALL

    def become_leaf(self) -> None:
        """Take the branches away."""
        self.bags = self.counts[None, :]
        self.attribute = self.threshold = None
        self.children = []

    def branch_of(self, values: Floats) -> Integers:
        """Branch of each value of the attribute, -1 where it is missing."""
        known = ~np.isnan(values)
        if self.threshold is None:
            return np.where(known, np.nan_to_num(values), -1).astype(int)
        return np.where(known, (values - self.threshold >= SMALL).astype(int), -1)

    def shares(self) -> Floats:
        """Share of an instance without value that goes to each branch."""
        weights = self.bags.sum(axis=1)
        return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))

    def split(self, data: Instances, rows: Integers, weights: Floats) -> Iterator[tuple[Integers, Floats]]:
        """Rows and weights of each branch."""
        branch = self.branch_of(data.values[rows, self.attribute])
        for place, part in enumerate(self.shares()):
            sent = np.where(branch == place, 1.0, np.where(branch < 0, part, 0.0))
            kept = (branch == place) | (sent * weights > SMALL)
            yield rows[kept], (sent * weights)[kept]

    def with_missing(self, data: Instances, rows: Integers, weights: Floats) -> None:
        """Count the instances again, those without value in parts."""
        branch = self.branch_of(data.values[rows, self.attribute])
        self.bags = np.zeros((len(self.children) or len(self.bags), len(data.classes)))
        known = branch >= 0
        np.add.at(self.bags, (branch[known], data.labels[rows][known]), weights[known])
        lost = class_weights(data, rows[~known], weights[~known])
        self.bags = self.bags + self.shares()[:, None] * lost

    def wrong(self) -> float:
        """Weight of the training instances that are not of the most frequent class."""
        return float(self.counts.sum() - self.counts.max())


@dataclass(frozen=True)
class Settings:
    """How a tree is made.

    Parameters
    ----------
    least : int
        Weight that at least two branches of a test must have, from 1.
    confidence : float
        Of the pessimistic estimate of errors, above 0, at most 0.5: smaller prunes more.
    raising : bool
        Whether a branch may take the place of its node.
    midpoints : bool
        Whether cuts stand midway between the two values they part, not at a value that occurs: the same tree for the
        instances it was made of, but with room on both sides for others.
    """

    least: int = 2
    confidence: float = 0.25
    raising: bool = True
    midpoints: bool = False

    def __post_init__(self) -> None:
        if self.least < 1:
            raise MayflyError(f"least = {self.least}: must be at least 1 instance")
        if not 0 < self.confidence <= 0.5:
            raise MayflyError(f"confidence = {self.confidence}: must be above 0 and at most 0.5")


@dataclass(frozen=True)
class Test:
    """A test that could be made, with what it gains."""

    attribute: int
    threshold: float | None
    bags: Floats
    gain: float
    ratio: float

    __test__ = False


def class_weights(data: Instances, rows: Integers, weights: Floats) -> Floats:
    """Weight of instances by class, shape (n_classes,)."""
    # numpy types the sums of weights as counts; they are floats as they come.
    return np.bincount(data.labels[rows], weights, len(data.classes)).astype(float, copy=False)


def entropy_sum(weights: Floats) -> float:
    """Sum of w log2 w."""
    positive = weights[weights > SMALL]
    return float((positive * np.log2(positive)).sum())


def grow(data: Instances, settings: Settings) -> Node:
    """Grow a tree without pruning.

    Parameters
    ----------
    data : Instances
        With known classes, at least one row.
    settings : Settings
        How.

    Returns
    -------
    Node
        Root; each node keeps its instances.
    """
    root = _node(data, np.arange(len(data)), np.ones(len(data)))
    waiting = [root]
    while waiting:
        node = waiting.pop()
        test = _best_test(data, node, settings)
        if test is None:
            continue
        node.attribute, node.threshold, node.bags = test.attribute, test.threshold, test.bags
        if test.threshold is not None and not settings.midpoints:
            node.threshold = _occurring(data.values[:, test.attribute], test.threshold)
        node.with_missing(data, *node.instances)
        node.children = [_node(data, *part) for part in node.split(data, *node.instances)]
        waiting += node.children
    return root


def _occurring(column: Floats, threshold: float) -> float:
    """Largest value of all instances up to a threshold; of values that count as equal the first."""
    largest = -np.inf
    for value in column[column - threshold < SMALL].tolist():
        if value - largest > SMALL:
            largest = value
    return largest


def _node(data: Instances, rows: Integers, weights: Floats) -> Node:
    return Node(class_weights(data, rows, weights)[None, :], rows=rows, weights=weights)


def _best_test(data: Instances, node: Node, settings: Settings) -> Test | None:
    counts = node.counts
    if counts.sum() < 2 * settings.least - SMALL or counts.sum() - counts.max() < SMALL:
        return None
    tests, counted = [], []
    # A nominal attribute of very many values does not count in the mean, unless all are such.
    many = 0.3 * len(data)
    all_many = all(attribute.values is not None and len(attribute.values) >= many for attribute in data.attributes)
    for place, attribute in enumerate(data.attributes):
        test = _test(data, node, place, attribute, settings)
        if test is None:
            continue
        tests.append(test)
        if attribute.values is None or all_many or len(attribute.values) < many:
            counted.append(test.gain)
    if not tests or not counted:
        return None
    mean = sum(counted) / len(counted)
    best, height = None, 0.0
    for test in tests:
        if test.gain >= mean - SLACK and test.ratio - height > SMALL:
            best, height = test, test.ratio
    return best


def _test(data: Instances, node: Node, place: int, attribute: Attribute, settings: Settings) -> Test | None:
    rows, weights = node.instances
    column = data.values[rows, place]
    known = ~np.isnan(column)
    total = float(weights.sum())
    labels, weights = data.labels[rows][known], weights[known]
    if attribute.values is None:
        return _cut(place, column[known], labels, weights, total, len(data.classes), settings.least)
    bags = np.zeros((len(attribute.values), len(data.classes)))
    np.add.at(bags, (column[known].astype(int), labels), weights)
    if (bags.sum(axis=1) > settings.least - SMALL).sum() < 2:
        return None
    gain = _gains(bags.sum(axis=0), [bags], total)[0]
    return Test(place, None, bags, gain, _ratio(bags, gain, total))


def _gains(counts: Floats, splits: list[Floats], total: float) -> list[float]:
    """Information gained by each split, in bits for an instance, less where values are missing."""
    known = float(counts.sum())
    before = entropy_sum(np.array([known])) - entropy_sum(counts)
    found = []
    for bags in splits:
        after = entropy_sum(bags.sum(axis=1)) - entropy_sum(bags)
        gained = (before - after) * known / total
        found.append(0.0 if abs(gained) < SMALL else gained / known)
    return found


def _ratio(bags: Floats, gain: float, total: float) -> float:
    """Gain over the information of the split itself; what is missing is a branch of its own."""
    missing = total - float(bags.sum())
    split = entropy_sum(np.array([total])) - entropy_sum(bags.sum(axis=1)) - entropy_sum(np.array([missing]))
    return 0.0 if abs(gain) < SMALL or abs(split) < SMALL else gain * total / split


def _cut(
    place: int, column: Floats, labels: Integers, weights: Floats, total: float, classes: int, least: int
) -> Test | None:
    """The best threshold of a number."""
    known = float(weights.sum())
    smallest = min(max(0.1 * known / classes, least), 25) if 0.1 * known / classes > least else least
    if len(column) - 2 * smallest < -SMALL:
        return None
    order = np.argsort(column, kind="stable")
    column = column[order]
    below = np.zeros((len(column), classes))
    below[np.arange(len(column)), labels[order]] = weights[order]
    below = np.cumsum(below, axis=0)
    whole = below[-1]
    cuts = np.flatnonzero(column[:-1] + APART < column[1:])
    sums = below[cuts].sum(axis=1)
    cuts = cuts[(sums - smallest > -SMALL) & (known - sums - smallest > -SMALL)]
    if not len(cuts):
        return None
    gains = _gains(whole, [np.array([below[cut], whole - below[cut]]) for cut in cuts], total)
    gain, best = 0.0, int(cuts[0])
    for cut, gained in zip(cuts.tolist(), gains, strict=True):
        if gained - gain > SMALL:
            gain, best = gained, cut
    # What it costs to say where the cut is (Quinlan 1996).
    gain -= float(np.log2(len(cuts))) / total
    if gain < SMALL:
        return None
    threshold = (column[best] + column[best + 1]) / 2
    if threshold == column[best + 1]:
        threshold = column[best]
    bags = np.array([below[best], whole - below[best]])
    return Test(place, float(threshold), bags, gain, _ratio(bags, gain, total))


def probabilities(root: Node, values: Floats) -> Floats:
    """Probabilities of the classes of instances.

    Parameters
    ----------
    root : Node
        Of a tree.
    values : numpy.ndarray, shape (n, n_attributes)
        NaN where a value is missing: the instance goes down every branch in parts.

    Returns
    -------
    numpy.ndarray, shape (n, n_classes)
        Shares of the training instances in the leaves reached; a leaf none came to answers as the node above it.
    """
    return np.array([_probability(root, row, 1.0) for row in values]).reshape(len(values), root.bags.shape[1])


def _probability(node: Node, row: Floats, weight: float) -> Floats:
    if node.attribute is None:
        return weight * _shares(node.counts)
    branch = int(node.branch_of(row[node.attribute : node.attribute + 1])[0])
    if branch < 0:
        parts = zip(node.children, node.shares(), strict=True)
        return sum(
            (_probability(child, row, weight * part) for child, part in parts if not child.empty),
            np.zeros(node.bags.shape[1]),
        )
    child = node.children[branch]
    return weight * _shares(node.counts) if child.empty else _probability(child, row, weight)


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total > 0 else counts


def tree_text(root: Node, attributes: tuple[Attribute, ...], classes: tuple[str, ...]) -> str:
    """The tree in lines, as J48 prints it.

    Parameters
    ----------
    root : Node
        Of a tree.
    attributes, classes
        Of its instances.

    Returns
    -------
    str
        For each leaf its class, the weight of the training instances in it, and after the stroke of those that are
        wrong.
    """
    if root.is_leaf:
        return f": {_leaf(root, classes, root)}"
    return "\n".join(_lines(root, attributes, classes, 0))


def _lines(node: Node, attributes: tuple[Attribute, ...], classes: tuple[str, ...], depth: int) -> Iterator[str]:
    assert node.attribute is not None, "a leaf tests nothing"
    attribute = attributes[node.attribute]
    for place, child in enumerate(node.children):
        if node.threshold is not None:
            sign = ("<=", ">")[place]
            said = f"{attribute.name} {sign} {f'{node.threshold:.6f}'.rstrip('0').rstrip('.')}"
        else:
            assert attribute.values is not None, "a number is tested against a threshold"
            said = f"{attribute.name} = {attribute.values[place]}"
        head = "|   " * depth + said
        if child.is_leaf:
            yield f"{head}: {_leaf(child, classes, node)}"
        else:
            yield head
            yield from _lines(child, attributes, classes, depth + 1)


def _leaf(node: Node, classes: tuple[str, ...], parent: Node) -> str:
    counts = parent.counts if node.empty else node.counts
    wrong = node.wrong()
    told = f"{_rounded(float(node.counts.sum()))}" + (f"/{_rounded(wrong)}" if wrong > SMALL else "")
    return f"{classes[int(np.argmax(counts))]} ({told})"


def _rounded(weight: float) -> str:
    return repr(np.floor(weight * 100 + 0.5) / 100).removeprefix("np.float64(").rstrip(")")


def tree_document(node: Node) -> dict[str, Any]:
    """The tree for JSON."""
    document: dict[str, Any] = {"bags": node.bags.tolist()}
    if not node.is_leaf:
        document |= {"attribute": node.attribute, "threshold": node.threshold}
        document["children"] = [tree_document(child) for child in node.children]
    return document


def tree_of(document: dict[str, Any]) -> Node:
    """The tree from :func:`tree_document`."""
    children = [tree_of(child) for child in document.get("children", [])]
    return Node(np.array(document["bags"], dtype=float), document.get("attribute"), document.get("threshold"), children)
