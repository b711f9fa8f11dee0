"""Rank functions of the age alone: policies that do not know sizes. Least attained service, levels, Gittins, your own.

Principle: between given ages the function is monotone. Everything the analysis asks for, such as the ages at which a
job has a rank of at most r, is then one crossing per piece, found for all ranks at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Booleans, Floats, distinct
from mayfly.errors import MayflyError
from mayfly.laws.service import ServiceLaw
from mayfly.models.queue.quadrature import Panels
from mayfly.models.ranks.ranks import Part, Rank, Total, law_panels

Function = Callable[[Floats], Floats]

OLD_AGE = 1e300
"""Stands for the end of the last piece: a rank may still grow there."""

FEW = 64
"""Pieces up to which all crossings are sizes where response times are said to bend."""

SLACK = 1e-8
"""Relative change in the wrong direction that is taken for rounding, such as that of a computed rank where it turns."""

PROBES = 97
"""Ages within a piece at which the rank is checked to be monotone, and as many by powers of ten."""


@dataclass(frozen=True)
class Piece:
    """Ages from ``start`` up to, not including, ``end``, and the ranks at both."""

    start: float
    end: float
    first: float
    last: float

    @property
    def peak(self) -> float:
        """Worst rank of the piece, or what it comes near."""
        return max(self.first, self.last)


class AgeRank(Rank):
    """A rank function of the attained service.

    Parameters
    ----------
    function : callable
        Of ages, shape (n,), to ranks, shape (n,); at a break it has the value that holds from there on.
    breaks : sequence of float
        Ages above 0, ascending, between which the function is continuous and monotone: where it jumps or turns.

    Raises
    ------
    MayflyError
        The breaks do not ascend, or the function is not monotone between them.

    Notes
    -----
    A worst rank that is only come near (least attained service: the age of a job that leaves) counts as reached.
    Jobs that climb together share the server, as they do in the limit of small turns.

    Examples
    --------
    Least attained service; two levels, a job leaves the first after 20:

    >>> las = AgeRank(lambda age: age)
    >>> levels = AgeRank(lambda age: np.where(age < 20, 0.0, 1.0), [20.0])
    >>> levels.worst(np.array([20.0, 20.5])).tolist()
    [0.0, 1.0]
    """

    def __init__(self, function: Function, breaks: Sequence[float] | Floats = ()):
        cuts = np.asarray(breaks, dtype=float).ravel()
        if np.any(~((cuts > 0) & (cuts < OLD_AGE))) or np.any(np.diff(cuts) <= 0):
            raise MayflyError(f"breaks = {cuts.tolist()[:5]}: must be ages above 0 that ascend")
        self.function = function
        edges = np.r_[0.0, cuts, OLD_AGE]
        first = self._rank(edges[:-1])
        last = self._rank(np.nextafter(edges[1:], 0.0))
        if np.any(np.isnan(first) | np.isnan(last)):
            raise MayflyError("rank = nan: must be a number at every age")
        self.pieces = [Piece(*map(float, row)) for row in zip(edges[:-1], edges[1:], first, last, strict=True)]
        for piece in self.pieces:
            self._check(piece)

    def _rank(self, ages: Floats) -> Floats:
        return np.broadcast_to(np.asarray(self.function(ages), dtype=float), ages.shape)

    def _check(self, piece: Piece) -> None:
        ages = np.r_[piece.start + np.geomspace(1e-9, 1e15, PROBES), np.linspace(piece.start, piece.end, PROBES)]
        ranks = self._rank(distinct(np.minimum(ages, np.nextafter(piece.end, 0.0))))
        ranks = np.r_[piece.first, ranks, piece.last]
        steps = np.diff(ranks) * (np.sign(piece.last - piece.first) or 1)
        slack = SLACK * np.maximum(np.abs(ranks[1:]), np.abs(ranks[:-1]))
        if np.any(steps < -slack) or (piece.first == piece.last and np.any(steps > slack)):
            raise MayflyError(f"rank: must be monotone from age {piece.start:g} to {piece.end:g}; name where it turns")

    def worst(self, x: Floats) -> Floats:
        """Least upper bound of the ranks at ages below each size."""
        found = np.full(len(x), self.pieces[0].first)
        for piece in self.pieces:
            reached = x > piece.start
            if piece.last > piece.first:
                end = np.clip(np.nextafter(x, 0.0), piece.start, np.nextafter(piece.end, 0.0))
                peak = np.where(x >= piece.end, piece.last, self._rank(end))
            else:
                peak = np.full(len(x), piece.first)
            found = np.where(reached, np.maximum(found, peak), found)
        return found

    def _crossing(self, piece: Piece, rank: Floats, where: Booleans | bool = True) -> Floats:
        """Age at which each rank within the piece is passed; the start of the piece for those not asked for."""
        found = np.full(len(rank), piece.start)
        asked = np.flatnonzero(np.broadcast_to(where, rank.shape))
        # Halved as whole numbers, doubles above 0 are found to the last digit in 64 steps, whatever their exponents.
        low, high = (np.full(len(asked), age).view(np.int64) for age in (piece.start, piece.end))
        wanted, rising = rank[asked], piece.last > piece.first
        while np.any(high - low > 1):
            middle = low + (high - low) // 2
            before = (self._rank(middle.view(float)) <= wanted) == rising
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        found[asked] = high.view(float)
        return found

    def bends(self) -> Floats:
        """Ages at which the rank jumps or turns, or passes the rank it has there: response times bend at such sizes."""
        levels = distinct(np.array([rank for piece in self.pieces for rank in (piece.first, piece.last)]))
        found = [piece.start for piece in self.pieces]
        for piece in self.pieces if len(self.pieces) <= FEW else ():
            inside = (levels > min(piece.first, piece.last)) & (levels < piece.peak)
            found.extend(self._crossing(piece, levels[inside]))
        return distinct(np.array(found, dtype=float))

    def arriving(self, rank: Floats) -> list[Part]:
        """What a job has up to the age at which its rank reaches that of the other, which came first."""
        end = np.full(len(rank), math.inf)
        for piece in reversed(self.pieces):
            if piece.last > piece.first:
                inside = (piece.first < rank) & (piece.last > rank)
                cut = self._crossing(piece, rank, inside)
                end = np.where(inside, cut, np.where(piece.last == rank, min(piece.end, OLD_AGE), end))
            end = np.where(piece.first >= rank, piece.start, end)
        return _between(np.zeros(len(rank)), end)

    def waiting(self, rank: Floats) -> tuple[list[Part], list[Part]]:
        """What a job has while its rank is at most that of the other: from age 0 on, and in each later interval."""
        none = np.full(len(rank), math.nan)
        begun, ended = none, none
        now: list[Part] = []
        later: list[Part] = []

        def close(which: Booleans) -> None:
            first = which & (begun == 0) & (self.pieces[0].first <= rank)
            for parts, chosen in ((now, first), (later, which & ~first)):
                if np.any(chosen):
                    parts.extend(_between(np.where(chosen, begun, 0.0), np.where(chosen, ended, 0.0)))

        for piece in self.pieces:
            low, high = self._within(piece, rank)
            some = high > low
            goes_on = some & (ended == low)
            close(some & ~goes_on & ~np.isnan(begun))
            begun, ended = np.where(some & ~goes_on, low, begun), np.where(some, high, ended)
        close(~np.isnan(begun))
        return now, later

    def _within(self, piece: Piece, rank: Floats) -> tuple[Floats, Floats]:
        """Ages of the piece with at most that rank, for each rank; the same twice where there are none."""
        end = math.inf if piece.end == OLD_AGE else piece.end
        low, high = np.full(len(rank), piece.start), np.full(len(rank), piece.start)
        whole = piece.peak <= rank
        inside = ~whole & (min(piece.first, piece.last) < rank)
        high = np.where(whole, end, high)
        if np.any(inside):
            cut = self._crossing(piece, rank, inside)
            rising = piece.last > piece.first
            low = np.where(inside & (not rising), cut, low)
            high = np.where(inside, cut if rising else end, high)
        return low, high

    def residence(self, law: ServiceLaw, x: Floats, grid: Panels | None = None) -> tuple[Floats, Total]:
        """Piece by piece from the last one: see :meth:`Rank.residence`.

        Notes
        -----
        In a piece that rises or stays, the worst to come is its end, or a later peak. In one that falls the rank itself
        counts until it has fallen below the worst that is still to come.
        """
        future = np.full(len(x), -math.inf)
        flat: list[tuple[Floats, Floats]] = []
        falling: list[tuple[Panels, Floats]] = []
        for piece in reversed(self.pieces):
            end = np.clip(x, piece.start, piece.end)
            reached = x > piece.start
            if not np.any(reached):
                continue
            leaving = self._rank(np.clip(np.nextafter(end, 0.0), piece.start, np.nextafter(piece.end, 0.0)))
            future = np.where(reached, np.maximum(future, leaving), future)
            begun = np.full(len(x), piece.start)
            if piece.last < piece.first:
                begun = np.minimum(self._crossing(piece, future, reached & (piece.first > future)), end)
                if np.any(begun > piece.start):
                    falling.append(
                        (self._panels(law_panels(law, float(np.max(begun)), grid), piece, float(np.max(begun))), begun)
                    )
            flat.append((end - begun, np.where(reached, future, self.pieces[0].first)))
            future = np.where(reached, np.maximum(future, piece.first), future)
        return self._plan(flat, falling, len(x))

    def _plan(
        self, flat: list[tuple[Floats, Floats]], falling: list[tuple[Panels, Floats]], n: int
    ) -> tuple[Floats, Total]:
        """Ranks of flat stretches, each once, then those at the nodes of falling ones; and their sum."""
        lengths = [length for length, _ in flat]
        levels, place = np.unique(np.concatenate([np.zeros(0), *(rank for _, rank in flat)]), return_inverse=True)
        places = place.reshape(len(flat), n)
        bounds = len(levels) + np.cumsum([0, *(len(panels.nodes) for panels, _ in falling)])

        def total(values: Floats) -> Floats:
            found = np.zeros((n, *values.shape[1:]), values.dtype)
            for length, where in zip(lengths, places, strict=True):
                found += np.where(length > 0, values[where].T, 0.0).T * length.reshape(-1, *[1] * (values.ndim - 1))
            for (panels, cut), first, last in zip(falling, bounds[:-1], bounds[1:], strict=True):
                found += panels.upto(values[first:last], np.maximum(cut, panels.edges[0]))
            return found

        return np.concatenate([levels, *(self._rank(panels.nodes) for panels, _ in falling)]), total

    def _panels(self, smooth: Panels, piece: Piece, last: float) -> Panels:
        """Panels of a falling piece on which what arriving jobs cost is smooth."""
        # Where the rank passes that of a turn, or of an age where the law has an edge, the cost of a unit bends.
        ages = np.r_[smooth.edges, [other.start for other in self.pieces]]
        ranks = np.r_[self._rank(ages), [other.last for other in self.pieces]]
        bends = distinct(ranks[(ranks < piece.first) & (ranks > piece.last)])
        inside = self._crossing(piece, bends) if len(bends) else bends
        edges = distinct(np.r_[piece.start, inside, smooth.edges, last])
        edges = edges[(edges >= piece.start) & (edges <= last)]
        return Panels(edges[np.r_[True, np.diff(edges) > 1e-13 * edges[1:]]], smooth.order)


def steps(thresholds: Sequence[float]) -> AgeRank:
    """Levels of strict priority, a job falls one at each threshold, first come first served within a level.

    Examples
    --------
    >>> steps([20.0, 100.0]).worst(np.array([20.0, 50.0, 101.0])).tolist()
    [0.0, 1.0, 2.0]
    """
    return table([0.0, *thresholds], range(len(np.atleast_1d(thresholds)) + 1))


def table(ages: Sequence[float], ranks: Sequence[float]) -> AgeRank:
    """Ranks that hold from given ages on.

    Parameters
    ----------
    ages, ranks : sequence of float
        As many, at least one; the first age is 0, they ascend.

    Raises
    ------
    MayflyError
        They are not as many, or do not begin at 0 and ascend.

    Examples
    --------
    A job that has been served 3 and not ended goes to the front again:

    >>> table([0, 1, 3], [0, 2, 1]).worst(np.array([0.5, 2.0, 9.0])).tolist()
    [0.0, 2.0, 2.0]
    """
    start, value = np.asarray(ages, dtype=float).ravel(), np.asarray(ranks, dtype=float).ravel()
    if len(start) != len(value) or len(start) == 0:
        raise MayflyError(f"{len(start)} ages with {len(value)} ranks: must be as many, at least 1")
    if start[0] != 0:
        raise MayflyError(f"ages = {start[0]:g}: must begin at 0")
    return AgeRank(lambda age: value[np.searchsorted(start, age, side="right") - 1], start[1:])


def _between(begun: Floats, ended: Floats) -> list[Part]:
    """Service between two ages: of jobs that end there, and of those that go on."""
    beyond = np.where(ended > begun, math.inf, ended)
    return [Part(begun, ended, begun), Part(ended, beyond, begun, ended - begun)]
