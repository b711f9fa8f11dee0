"""Delay differential equations whose delays depend on the state: Runge-Kutta steps over a dense history.

Principle: steps of one length h, cubic Hermite polynomials between them. No delay may be shorter than a step, so that
all that a step looks back at is known. Of order 4 where the right-hand side is smooth, of less where a step meets a
corner, as the start leaves one. The error is what half the step changes.
Source: Bellen and Zennaro 2003, 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Floats

State = list[float]
Past = Callable[[float], State]
RightHandSide = Callable[[float, State, Past], State]

MOST_STEPS = 5_000_000


@dataclass(frozen=True)
class Solution:
    """A solution on its grid.

    Parameters
    ----------
    times : numpy.ndarray, shape (n,)
        From 0, equally spaced, s.
    states : numpy.ndarray, shape (n, d)
        State at each time.
    error : numpy.ndarray, shape (d,)
        Largest change of each component when the step was halved.
    """

    times: Floats
    states: Floats
    error: Floats


def solve(
    right: RightHandSide,
    initial: Sequence[float],
    duration: float,
    step: float,
    project: Callable[[State], State] = list,
) -> Solution:
    """Solve from a constant past, with the given step and with half of it.

    Parameters
    ----------
    right : callable
        Derivative at (time, state, past); ``past(t)`` is the state at any time up to a step ago.
    initial : sequence of float, shape (d,)
        State at time 0 and before.
    duration : float
        Of the solution, above 0.
    step : float
        h, above 0 and at most the shortest delay.
    project : callable
        Puts a state back within its bounds after a step.

    Returns
    -------
    Solution
        Of the half step, at the times of the whole one.

    Raises
    ------
    ValueError
        A delay is shorter than a step, or there are more than 5 million of them.

    Examples
    --------
    >>> found = solve(lambda t, y, past: [-past(t - 1.0)[0]], [1.0], 2.0, 0.1)
    >>> (found.states[[10, 20], 0] + 1).round(12).tolist()
    [1.0, 0.5]
    """
    steps = max(round(duration / step), 1)
    if steps > MOST_STEPS // 2:
        raise ValueError(f"{steps} steps: must be at most {MOST_STEPS // 2}")
    step = duration / steps
    coarse = _march(right, list(initial), steps, step, project)
    fine = _march(right, list(initial), 2 * steps, step / 2, project)[::2]
    return Solution(np.arange(steps + 1, dtype=float) * step, fine, np.abs(fine - coarse).max(axis=0))


def _march(right: RightHandSide, initial: State, steps: int, h: float, project: Callable[[State], State]) -> Floats:
    states: list[State] = [initial]
    slopes: list[State] = []

    def past(t: float) -> State:
        at = t / h
        # Rounding may put a delay of exactly one step a hair too late.
        if at <= 1e-9:
            return initial
        known = len(slopes) - 1
        if at > known + 1e-9:
            raise ValueError("a delay is shorter than a step")
        k = min(int(at), known - 1)
        u = at - k
        v = u - 1
        a, b = (1 + 2 * u) * v * v, u * u * (1 - 2 * v)
        c, d = h * u * v * v, h * u * u * v
        return [
            a * y0 + b * y1 + c * f0 + d * f1
            for y0, y1, f0, f1 in zip(states[k], states[k + 1], slopes[k], slopes[k + 1], strict=True)
        ]

    y = initial
    for n in range(steps):
        t = n * h
        k1 = right(t, y, past)
        slopes.append(k1)
        k2 = right(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1, strict=True)], past)
        k3 = right(t + h / 2, [a + h / 2 * b for a, b in zip(y, k2, strict=True)], past)
        k4 = right(t + h, [a + h * b for a, b in zip(y, k3, strict=True)], past)
        y = project([a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True)])
        states.append(y)
    return np.array(states)
