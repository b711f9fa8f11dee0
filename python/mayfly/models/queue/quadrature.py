"""Integrals of smooth functions up to many ends at once: Gauss-Legendre panels and antiderivatives.

Principle: on a panel the function is the polynomial through its values at the nodes. Its integral up to any point is a
row of weights, so one evaluation at the nodes answers for a thousand ends, real or complex.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from mayfly.arrays import Floats, Integers


@cache
def _legendre(order: int) -> tuple[Floats, Floats, Floats]:
    """Nodes and weights on [-1, 1], and the Legendre polynomials below ``order`` at the nodes, shape (order, order)."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights, np.asarray(np.polynomial.legendre.legvander(nodes, order - 1), dtype=float)


def gauss(order: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre on [-1, 1]."""
    return _legendre(order)[:2]


class Panels:
    """Panels between given edges.

    Parameters
    ----------
    edges : array_like, shape (n_panels + 1,)
        Ascending and finite; a function is smooth between them.
    order : int
        Nodes of a panel; 1 for functions that are constant on it.

    Examples
    --------
    >>> panels = Panels([0.0, 1.0, 3.0])
    >>> panels.upto(panels.nodes**2, np.array([0.5, 2.0, 3.0])).round(12).tolist()
    [0.041666666667, 2.666666666667, 9.0]
    """

    def __init__(self, edges: Floats, order: int = 16):
        self.edges = np.asarray(edges, dtype=float)
        self.order = order
        points, weights, _ = _legendre(order)
        half = np.diff(self.edges) / 2
        self.nodes = ((self.edges[:-1] + half)[:, None] + half[:, None] * points).ravel()
        self.weights = (half[:, None] * weights).ravel()

    def upto(self, values: Floats, ends: Floats) -> Floats:
        """Integrals from the first edge up to ``ends``.

        Parameters
        ----------
        values : numpy.ndarray, shape (n_panels * order, ...)
            Of the function at ``nodes``.
        ends : numpy.ndarray, shape (n,)
            Between the first and the last edge.

        Returns
        -------
        numpy.ndarray, shape (n, ...)
        """
        panel, inside = self._inside(ends)
        shape = (len(self.edges) - 1, self.order, *values.shape[1:])
        weighted = (values.T * self.weights).T.reshape(shape)
        whole = np.concatenate([np.zeros((1, *shape[2:]), weighted.dtype), np.cumsum(weighted.sum(axis=1), axis=0)])
        half = np.diff(self.edges)[panel] / 2
        part = np.einsum("nj,nj...->n...", inside * half[:, None], values.reshape(shape)[panel])
        result: Floats = whole[panel] + part
        return result

    def at(self, values: Floats, x: Floats) -> Floats:
        """The polynomials through ``values``, shape (n_panels * order,), at ``x`` between the edges, shape (n,)."""
        panel = self._panel(x)
        _, weights, basis = _legendre(self.order)
        share = (2 * np.arange(self.order) + 1) / 2
        found = (values.reshape(-1, self.order) * weights) @ basis * share
        y = 2 * (x - self.edges[panel]) / np.diff(self.edges)[panel] - 1
        result: Floats = np.einsum("nk,nk->n", np.polynomial.legendre.legvander(y, self.order - 1), found[panel])
        return result

    def _panel(self, x: Floats) -> Integers:
        return np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.edges) - 2)

    def beyond(self, values: Floats, starts: Floats) -> Floats:
        """Integrals from ``starts`` to the last edge, shape (n,): summed from there, small ones keep their digits."""
        panel, inside = self._inside(starts)
        half = np.diff(self.edges)[panel] / 2
        parts = (values * self.weights).reshape(-1, self.order).sum(axis=1)
        after = np.r_[np.cumsum(parts[::-1])[::-1], 0.0][panel + 1]
        rest = _legendre(self.order)[1] - inside
        result: Floats = after + half * np.einsum("nj,nj->n", rest, values.reshape(-1, self.order)[panel])
        return result

    def rows(self, ends: Floats) -> Floats:
        """Weights of the nodes in the integrals up to ``ends``, shape (n, n_panels * order)."""
        panel, inside = self._inside(ends)
        half = np.diff(self.edges)[panel] / 2
        found = np.where(np.arange(len(self.nodes)) // self.order < panel[:, None], self.weights, 0.0)
        column = panel[:, None] * self.order + np.arange(self.order)
        np.put_along_axis(found, column, inside * half[:, None], axis=1)
        return found

    def _inside(self, ends: Floats) -> tuple[Integers, Floats]:
        """Panel of each end, and the weights of its nodes on [-1, 1] up to there, shape (n, order)."""
        panel = self._panel(ends)
        start, width = self.edges[panel], np.diff(self.edges)[panel]
        y = np.clip(2 * (ends - start) / width - 1, -1.0, 1.0)
        _, weights, basis = _legendre(self.order)
        at = np.polynomial.legendre.legvander(y, self.order)
        # The integral of P_k from -1 is (P_(k+1) - P_(k-1)) / (2 k + 1), with -1 for P_(-1).
        before = np.concatenate([-np.ones((len(y), 1)), at[:, : self.order - 1]], axis=1)
        return panel, (at[:, 1:] - before) / 2 @ basis.T * weights
