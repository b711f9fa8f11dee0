"""Rank functions: what a scheduling policy is, once a number says who goes first.

Principle: the job of least rank is served, of equal ranks the one that came first (Scully, Harchol-Balter and
Scheller-Wolf 2018, 2.1). A rank may depend on the size of a job and on the service it has had. All the analysis needs
is how much of other jobs has a rank that comes before: parts of sizes, each with what it contributes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service import Continuous, Discrete, ServiceLaw
from mayfly.models.queue.quadrature import Panels

Total = Callable[[Floats], Floats]
"""Of what a unit of service takes at each rank, shape (n_ranks, ...), to what the jobs take, shape (n, ...)."""


@dataclass(frozen=True)
class Part:
    """Sizes above ``low`` and at most ``high``, and the work of theirs that goes first.

    Parameters
    ----------
    low, high : numpy.ndarray, shape (n,)
        For each of n ranks.
    shift : numpy.ndarray, shape (n,)
        Service they had before: a job of size y contributes y - shift.
    amount : numpy.ndarray, shape (n,), optional
        What each contributes, instead.
    """

    low: Floats
    high: Floats
    shift: Floats
    amount: Floats | None = None

    def moment(self, law: ServiceLaw, order: int) -> Floats:
        """E[work^order; the size is in the part], shape (n,); ``order`` 0, 1 or 2."""

        def within(k: int) -> Floats:
            with np.errstate(invalid="ignore"):
                return np.where(self.high > self.low, law.partial_moment(k, self.high) - self._below(law, k), 0.0)

        if self.amount is not None:
            jobs = np.where(self.high > self.low, law.survival(self.low) - law.survival(self.high), 0.0)
            return np.where(jobs > 0, np.where(jobs > 0, self.amount, 0.0) ** order * jobs, 0.0)
        if order == 0:
            return within(0)
        if order == 1:
            return within(1) - self.shift * within(0)
        return within(2) - self.shift * (2 * within(1) - self.shift * within(0))

    def _below(self, law: ServiceLaw, order: int) -> Floats:
        return law.partial_moment(order, self.low)


class Rank(ABC):
    """A policy as a rank function."""

    @abstractmethod
    def worst(self, x: Floats) -> Floats:
        """Worst rank jobs of sizes ``x`` ever have, shape (n,)."""

    @abstractmethod
    def arriving(self, rank: Floats) -> list[Part]:
        """Work of a job that arrives later, served before a job of these worst ranks: X^new[r-]."""

    @abstractmethod
    def waiting(self, rank: Floats) -> tuple[list[Part], list[Part]]:
        """Work of a job that came earlier: X_0^old[r], and all X_i^old[r], i >= 1, later in its life."""

    @abstractmethod
    def residence(self, law: ServiceLaw, x: Floats, grid: Panels | None = None) -> tuple[Floats, Total]:
        """What it takes to sum something over the service of jobs, by the worst rank that is still to come.

        Parameters
        ----------
        law : ServiceLaw
            Sizes; between their edges the sum is smooth.
        x : numpy.ndarray, shape (n,)
            Sizes of the jobs.
        grid : Panels, optional
            On which what is summed is smooth; those of the law's moments when not given.

        Returns
        -------
        ranks : numpy.ndarray, shape (n_ranks,)
            Worst future ranks.
        total : callable
            Of what a unit of service takes at each of ``ranks``, shape (n_ranks, ...), to its integral over the ages of
            each job, shape (n, ...).
        """


class Constant(Rank):
    """One rank for all: first come, first served.

    Examples
    --------
    >>> Constant().worst(np.array([1.0, 2.0])).tolist()
    [0.0, 0.0]
    """

    def worst(self, x: Floats) -> Floats:
        """0 for all."""
        return np.zeros(len(x))

    def arriving(self, rank: Floats) -> list[Part]:
        """None."""
        return []

    def waiting(self, rank: Floats) -> tuple[list[Part], list[Part]]:
        """All of all jobs."""
        return [_all(rank)], []

    def residence(self, law: ServiceLaw, x: Floats, grid: Panels | None = None) -> tuple[Floats, Total]:
        """The size, and no more."""
        return np.zeros(1), lambda values: np.multiply.outer(x, values[0])


class Size(Rank):
    """The size, whatever its age: preemptive shortest job first; without preemption a job that has begun goes on.

    Parameters
    ----------
    preemptive : bool
        Whether a shorter job interrupts one in service.

    Examples
    --------
    >>> Size().worst(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, preemptive: bool = True):
        self.preemptive = preemptive

    def worst(self, x: Floats) -> Floats:
        """The size."""
        return x

    def arriving(self, rank: Floats) -> list[Part]:
        """All of the jobs that are shorter."""
        return [_upto(_below(rank))]

    def waiting(self, rank: Floats) -> tuple[list[Part], list[Part]]:
        """All of the jobs that are not longer; of longer ones what is left once they have begun, if they go on."""
        longer = [] if self.preemptive else [Part(rank, np.full(len(rank), math.inf), np.zeros(len(rank)))]
        return [_upto(rank)], longer

    def residence(self, law: ServiceLaw, x: Floats, grid: Panels | None = None) -> tuple[Floats, Total]:
        """The size, times what its rank costs, if shorter jobs interrupt."""
        if self.preemptive:
            return x, lambda values: (x * values.T).T
        return np.array([-math.inf]), lambda values: np.multiply.outer(x, values[0])


class Remaining(Rank):
    """The size less the age: shortest remaining processing time first.

    Examples
    --------
    >>> Remaining().worst(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def worst(self, x: Floats) -> Floats:
        """The size: it falls from there."""
        return x

    def arriving(self, rank: Floats) -> list[Part]:
        """All of the jobs that are shorter."""
        return [_upto(_below(rank))]

    def waiting(self, rank: Floats) -> tuple[list[Part], list[Part]]:
        """All of the jobs that are not longer; of longer ones the last ``rank``."""
        return [_upto(rank)], [Part(rank, np.full(len(rank), math.inf), np.zeros(len(rank)), rank)]

    def residence(self, law: ServiceLaw, x: Floats, grid: Panels | None = None) -> tuple[Floats, Total]:
        """The integral over all that remains, from 0 to the size."""
        panels = law_panels(law, float(np.max(x, initial=0.0)), grid)
        return panels.nodes, lambda values: panels.upto(values, x)


def law_panels(law: ServiceLaw, last: float, grid: Panels | None = None) -> Panels:
    """Panels from 0 to beyond ``last`` on which what a law's truncated moments make is smooth, or those given."""
    if isinstance(law, Discrete) and grid is None:
        return Panels(np.unique(np.r_[0.0, law.values, max(last, law.largest)]), order=1)
    if grid is not None:
        edges, order = grid.edges, grid.order
    else:
        assert isinstance(law, Continuous)
        edges, order = np.r_[0.0, law.edges[law.edges > 0]], 16
    if last > edges[-1]:
        edges = np.r_[edges, edges[-1] * 2.0 ** np.arange(1, math.ceil(math.log2(last / edges[-1])) + 1)]
    return Panels(edges, order)


def check_stable(rho: float, later: list[Part], what: str = "this rank function") -> None:
    """Refuse a load of 1 or more where jobs may get ahead again: which of them ever do is then an open question."""
    if rho >= 1 and later:
        raise MayflyError(f"rho = {rho:g}: must be below 1 for {what}, whose jobs get ahead again")


def _all(rank: Floats) -> Part:
    return _upto(np.full(len(rank), math.inf))


def _upto(high: Floats) -> Part:
    return Part(np.zeros(len(high)), high, np.zeros(len(high)))


def _below(rank: Floats) -> Floats:
    # A job of the same rank that comes later waits: its size, where it is an atom, is left out.
    return np.nextafter(rank, -math.inf)
