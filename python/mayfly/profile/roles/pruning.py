"""Pruning of C4.5: by the upper end of a confidence interval for the errors of each leaf.

Source: Quinlan 1993, ch. 4; raising of branches as J48.
"""

from __future__ import annotations

import math

import numpy as np

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.profile.roles.c45 import SLACK, SMALL, Node, Settings, class_weights, grow
from mayfly.profile.roles.instances import Instances

GRACE = 0.1
"""A smaller tree is taken when it is expected to make at most this many errors more."""


def c45(data: Instances, settings: Settings | None = None) -> Node:
    """Learn a tree.

    Parameters
    ----------
    data : Instances
        Rows without class are left out.
    settings : Settings, optional
        How; as in C4.5 and J48 when absent.

    Returns
    -------
    Node
        Root.

    Raises
    ------
    MayflyError
        No row has a class.

    Examples
    --------
    >>> from mayfly.profile.roles.c45 import tree_text
    >>> from mayfly.profile.roles.instances import Attribute
    >>> values = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
    >>> rows = Instances((Attribute("in"),), ("client", "server"), values, np.array([0, 0, 0, 1, 1, 1]))
    >>> print(tree_text(c45(rows), rows.attributes, rows.classes))
    in <= 3: client (3.0)
    in > 3: server (3.0)
    """
    settings = settings or Settings()
    data = data.labelled()
    if not len(data):
        raise MayflyError("0 labelled instances: must be at least one to learn from")
    root = grow(data, settings)
    collapse(root)
    prune(root, data, settings)
    _forget(root)
    return root


def collapse(node: Node) -> None:
    """Take away branches that make no fewer errors on the training instances."""
    if node.is_leaf:
        return
    if _training_errors(node) >= node.wrong() - SLACK:
        node.become_leaf()
        return
    for child in node.children:
        collapse(child)


def _training_errors(node: Node) -> float:
    return node.wrong() if node.is_leaf else sum(map(_training_errors, node.children))


def prune(node: Node, data: Instances, settings: Settings) -> None:
    """Prune from the leaves up: a node becomes a leaf, or its largest branch, where that is not expected worse."""
    if node.is_leaf:
        return
    for child in node.children:
        prune(child, data, settings)
    weights = node.bags.sum(axis=1)
    # Of equal branches the last.
    largest = node.children[len(weights) - 1 - int(np.argmax(weights[::-1]))]
    raised = math.inf
    if settings.raising:
        raised = _branch_errors(largest, data, *node.instances, settings.confidence)
    as_leaf = _leaf_errors(node.counts, settings.confidence)
    as_tree = _tree_errors(node, settings.confidence)
    if as_leaf - as_tree - GRACE < SMALL and as_leaf - raised - GRACE < SMALL:
        node.become_leaf()
    elif raised - as_tree - GRACE < SMALL:
        node.attribute, node.threshold, node.bags = largest.attribute, largest.threshold, largest.bags
        node.children = largest.children
        _count_again(node, data, *node.instances)
        prune(node, data, settings)


def _leaf_errors(counts: Floats, confidence: float) -> float:
    total = float(counts.sum())
    if total < SMALL:
        return 0.0
    wrong = total - float(counts.max())
    return wrong + added_errors(total, wrong, confidence)


def _tree_errors(node: Node, confidence: float) -> float:
    if node.is_leaf:
        return _leaf_errors(node.counts, confidence)
    return sum(_tree_errors(child, confidence) for child in node.children)


def _branch_errors(node: Node, data: Instances, rows: Integers, weights: Floats, confidence: float) -> float:
    """Errors expected of a branch when it gets other instances; it stays as it is."""
    if node.is_leaf:
        return _leaf_errors(class_weights(data, rows, weights), confidence)
    kept = node.bags
    node.with_missing(data, rows, weights)
    parts = list(node.split(data, rows, weights))
    node.bags = kept
    pairs = zip(node.children, parts, strict=True)
    return sum(_branch_errors(child, data, *part, confidence) for child, part in pairs)


def _count_again(node: Node, data: Instances, rows: Integers, weights: Floats) -> None:
    """Give a raised branch the instances of its new place."""
    node.rows, node.weights = rows, weights
    if node.is_leaf:
        node.bags = class_weights(data, rows, weights)[None, :]
        return
    node.with_missing(data, rows, weights)
    for child, part in zip(node.children, list(node.split(data, rows, weights)), strict=True):
        _count_again(child, data, *part)


def _forget(node: Node) -> None:
    node.rows = node.weights = None
    for child in node.children:
        _forget(child)


def added_errors(total: float, wrong: float, confidence: float) -> float:
    """Errors to add to those seen, for the upper end of a confidence interval.

    Parameters
    ----------
    total, wrong : float
        Weight of the instances of a leaf, and of those that are wrong.
    confidence : float
        Probability that there are more, at most 0.5.

    Returns
    -------
    float

    Notes
    -----
    Without an error exactly total (1 - confidence^(1 / total)); between none and one, in proportion; else by the normal
    approximation with a correction of 1/2 (Quinlan 1993, ch. 4).

    Examples
    --------
    Quinlan's example of the votes: leaves of 6, 9 and 1 instances without an error at 25 %.

    >>> [round(added_errors(n, 0, 0.25) / n, 3) for n in (6, 9, 1)]
    [0.206, 0.143, 0.75]
    """
    from scipy.special import ndtri

    if wrong < 1:
        base = total * (1 - confidence ** (1 / total))
        result: float = base if wrong == 0 else base + wrong * (added_errors(total, 1, confidence) - base)
        return result
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z = float(ndtri(1 - confidence))
    f = (wrong + 0.5) / total
    upper = (f + z * z / (2 * total) + z * math.sqrt(f / total - f * f / total + z * z / (4 * total**2))) / (
        1 + z * z / total
    )
    return upper * total - wrong
