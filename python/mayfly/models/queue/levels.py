"""M/G/1 queue with levels of strict priority, which a job passes one after another as it is served.

Principle: up to the end of a level a job is delayed by what others get up to the same threshold, whatever they get
behind it. Within a level the jobs share the server. Two levels are Run2C; several are PIAS.

The response in a level is an integral equation without a closed solution for most laws. It is solved by collocation
with polynomials of the second degree on panels that grow with the size; the integrals of the kernel are exact, as they
are truncated moments. Panels are halved until solutions agree; the error stated is what halving still changes, times
the factor by which that fell.

Source: Kleinrock 1976, section 4.7; Kleinrock, Muntz and Rodemich 1971 (bulk arrivals); Avrachenkov et al. 2004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mayfly.arrays import Floats, distinct
from mayfly.laws.service import Discrete, ServiceLaw
from mayfly.models.queue.mg1 import MG1, over

TOLERANCE = 1e-6
"""Relative error asked for."""

MOST_PANELS = 128
"""Panels after which an error larger than the tolerance is taken as it is."""

NODES = (1 + np.polynomial.legendre.leggauss(3)[0]) / 2
"""Points of a panel at which the equation holds, as parts of it."""

SHARES = np.r_[0.0, np.cumsum(np.polynomial.legendre.leggauss(3)[1]) / 2]
"""Ends of the part of a panel that each node stands for."""

POWERS = np.linalg.inv(NODES[:, None] ** np.arange(3))
"""Coefficients, by power, of the polynomials that are 1 at one of the nodes."""


@dataclass(frozen=True)
class Level:
    """The solved equation of a level: what a job needs, beyond its threshold, until it was served ``y`` more.

    Parameters
    ----------
    edges : numpy.ndarray, shape (n_panels + 1,)
        From 0 to the length of the level.
    slopes : numpy.ndarray, shape (n_panels, 3)
        c'(y) at the nodes of each panel: the factor by which others slow the job down at that age.
    error : float
        Estimated relative error of a response time; at most the difference to what panels twice as wide say.
    """

    edges: Floats
    slopes: Floats
    error: float

    def virtual_time(self, y: Floats) -> Floats:
        """c(y), alpha(y) in Chen 2012, Eq. 5.6, for 0 <= y, in its shape; linear beyond the end of the level."""
        widths = np.diff(self.edges)
        powers = self.slopes @ POWERS.T / np.arange(1, 4)
        whole = np.r_[0.0, np.cumsum(widths * powers.sum(axis=1))]
        panel = np.clip(np.searchsorted(self.edges, y, side="right") - 1, 0, len(widths) - 1)
        part = np.minimum((y - self.edges[panel]) / widths[panel], 1.0)
        inside = whole[panel] + widths[panel] * (powers[panel] * part[..., None] ** np.arange(1, 4)).sum(axis=-1)
        result: Floats = inside + np.maximum(y - self.edges[-1], 0.0) * self.slopes[-1, -1]
        return result


def response(queue: MG1, x: Floats, *, threshold: Floats | Sequence[float] | float) -> Floats:
    """Mean response time of a job of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.
    threshold : array_like, shape (n_levels - 1,)
        Ascending sizes at which a job falls to the next level: a job of that size ends in the level above.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite in the levels that are overloaded.

    Notes
    -----
    Kleinrock 1976, 4.7. With R and W the load and the mean backlog of the jobs cut off at the threshold a, the level is
    reached after (W + a) / (1 - R), and T(x) = (W + a + c(x - a)) / (1 - R): Chen 2012, Eq. 5.5 and 5.6. In the time
    left to the level jobs come in bulks, those of a busy period of the levels above:
    c'(y) = 1 + 2 lambda (W + a) / (1 - R) S(y) + lambda / (1 - R) (integral of c'(u) S(y + u) over u > 0 and of
    c'(u) S(y - u) over u < y), with S(y) = P(X > a + y), up to the next threshold.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> response(queue, np.array([0.5, 3.0]), threshold=1.0).round(4).tolist()
    [0.7311, 6.9121]
    """
    x = np.asarray(x, dtype=float)
    found = np.empty(x.shape)
    edges = [0.0, *np.atleast_1d(np.asarray(threshold, dtype=float)).tolist(), math.inf]
    for above, upto in pairwise(edges):
        here = (x > above) & (x <= upto) if above else x <= upto
        if here.any():
            found[here] = in_level(queue, above, upto, x[here])
    return found


def in_level(queue: MG1, above: float, upto: float, x: Floats, tolerance: float = TOLERANCE) -> Floats:
    """Mean response times of jobs that end in one level, above < x <= upto; as :func:`response`."""
    if not load_is_below_one(queue, upto):
        return np.full(x.shape, np.inf)
    idle = 1 - float(queue.load(above))
    if above == 0:
        # Processor sharing of the jobs cut off at the threshold.
        return x / (1 - float(queue.load(upto)))
    reach = float(queue.backlog(above)) + above
    level = solve(queue, above, upto, float(x.max()), tolerance)
    return (reach + level.virtual_time(x - above)) / idle


def in_turn(queue: MG1, above: float, upto: float, x: Floats) -> Floats:
    """Mean response times where a level serves job after job, as :func:`in_level`.

    Notes
    -----
    (W(upto) + x) / (1 - R(above)): all work of this level and those above it goes first, and what comes above while the
    job is there (Kleinrock 1976, 4.7).
    """
    return over(queue.backlog(upto) + x, 1 - queue.load(above))


def load_is_below_one(queue: MG1, upto: float) -> bool:
    """Whether the jobs cut off at ``upto`` leave the server idle at times."""
    return float(queue.load(upto)) < 1 and math.isfinite(queue.law.mean)


def solve(queue: MG1, above: float, upto: float, largest: float = 0.0, tolerance: float = TOLERANCE) -> Level:
    """Solve the equation of a level; see :func:`response`.

    Parameters
    ----------
    queue : MG1
        With a load of the jobs cut off at ``upto`` below 1.
    above, upto : float
        Thresholds of the level, 0 < above < upto; ``upto`` may be infinite.
    largest : float
        Largest size asked for, which matters where sizes have no bound.
    tolerance : float
        Relative error of a response time that ends the search.

    Returns
    -------
    Level
    """
    far = _far(queue, above, largest)
    length, endless = min(upto, far) - above, far < min(upto, queue.law.largest)
    return refined(queue, above, length, endless, tolerance)


@lru_cache(maxsize=16)
def refined(queue: MG1, above: float, length: float, endless: bool, tolerance: float) -> Level:
    """Halve panels until solutions agree; kept, as the mean and the curve of one queue ask for the same level."""
    reach = float(queue.backlog(above)) + above
    panels, before, last = 8, None, 0.0
    while True:
        edges = _edges(queue, above, length, panels)
        level = Level(edges, _collocate(queue, above, edges, endless), math.inf)
        if before is not None:
            at = np.concatenate([edges[1:], (edges[1:] + edges[:-1]) / 2])
            change = np.abs(before.virtual_time(at) - level.virtual_time(at))
            apart = float(np.max(change / (reach + level.virtual_time(at))))
            # What is left falls again as it fell from the panels before to these; taken for a quarter at least.
            level = Level(edges, level.slopes, apart * min(max(apart / last, 0.25), 1.0) if last else apart)
            if level.error <= tolerance or panels >= MOST_PANELS:
                return level
            last = apart
        before, panels = level, panels * 2


def _far(queue: MG1, above: float, largest: float) -> float:
    """The end of the last level: the largest size, or one with next to no load beyond, or far from all asked for."""
    law, far = queue.law, queue.law.largest
    if not math.isfinite(far):
        most = 1e4 * max(law.mean, above, largest)
        far = max(law.mean, above, largest)
        while far < most and far * float(law.survival(far)) > 1e-12 * law.mean:
            far *= 2
    return max(far, 1.01 * above)


def _edges(queue: MG1, above: float, length: float, panels: int) -> Floats:
    """Ends of the panels: narrow where the level begins; on sizes that occur where the law has few."""
    scale = min(length, max(above, queue.law.mean) / 4)
    # The logarithm of 1 + y / scale in equal steps.
    edges = scale * np.expm1(np.linspace(0.0, math.log1p(length / scale), panels + 1))
    edges[-1] = length
    if isinstance(queue.law, Discrete):
        steps = queue.law.values - above
        steps = steps[(steps > 0) & (steps < length)]
        if len(steps) <= panels:
            return distinct(np.concatenate([edges, steps]))
        place = np.searchsorted(steps, edges[1:-1]).clip(max=len(steps) - 1)
        edges = distinct(np.concatenate([[0.0, length], steps[place]]))
    return edges


def _collocate(queue: MG1, above: float, edges: Floats, endless: bool) -> Floats:
    """Slopes c' at the nodes of the panels, shape (n_panels, 3); ``endless`` where sizes go on beyond the last."""
    law, rate = queue.law, queue.arrival_rate
    idle = 1 - float(queue.load(above))
    reach = float(queue.backlog(above)) + above
    widths = np.diff(edges)
    at = (edges[:-1, None] + widths[:, None] * NODES).ravel()
    parts = edges[:-1, None] + widths[:, None] * SHARES
    length = edges[-1]

    # Two kernels, S(y + u) and S(y - u), against 1, u and u^2 on each panel.
    matrix = np.zeros((len(at), len(widths), 3))
    for sign in (1, -1):
        ends = np.clip(at[:, None] + sign * edges[None, :], 0.0, length)
        sums = [np.diff(sent, axis=1) * sign for sent in _sent(law, above, ends)]
        # With t = y + sign u, u - e = sign (t - (y + sign e)) for the panel that begins at e.
        start = at[:, None] + sign * edges[None, :-1]
        moments = (
            sums[0],
            sign * (sums[1] - start * sums[0]),
            sums[2] - 2 * start * sums[1] + start**2 * sums[0],
        )
        for power, value in enumerate(moments):
            matrix[:, :, power] += value / widths**power
    kernel = (matrix @ POWERS).reshape(len(at), -1)
    if endless:
        # Beyond the last panel the slope is that of its end.
        kernel[:, -1] += law.mean - law.truncated(1, above + length + at)
    density = law.survival(above + at)
    if isinstance(law, Discrete):
        # It has steps: means over the parts of the panels.
        density = (np.diff(law.truncated(1, above + np.minimum(parts, length))) / np.diff(parts)).ravel()
    constant = 1 + 2 * rate * reach / idle * density
    solved: Floats = np.asarray(np.linalg.solve(np.eye(len(at)) - kernel * rate / idle, constant), dtype=float)
    return solved.reshape(-1, 3)


def _sent(law: ServiceLaw, above: float, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Integrals of u^k P(X > above + u) over u from 0 to y, k = 0, 1, 2: truncated moments about the threshold."""
    cut, start = above + y, np.array(above)
    first, second, third = ((law.truncated(order, cut) - law.truncated(order, start)) / order for order in range(1, 4))
    return first, second - above * first, third - 2 * above * second + above**2 * first
