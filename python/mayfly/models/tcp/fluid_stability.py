"""Small deviations from the equilibrium of the fluid model: roots, margins, and when it begins to swing.

Principle: the linear system s v = A_0 v + sum of A_k exp(-s R_k) v has infinitely many roots s; Chebyshev collocation
on the past finds those furthest to the right, Newton's method their digits. The margins are those of the loop that is
opened at the drop probability.
Sources: Zhao 2004, II.B; Hollot, Misra, Towsley and Gong 2001; Breda, Maset and Vermiglio 2005 (collocation).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mayfly.arrays import Complexes, Floats
from mayfly.errors import MayflyError
from mayfly.models.tcp.fluid import Equilibrium, Fluid

NODES = 40
"""Of the collocation."""


@dataclass(frozen=True)
class Linear:
    """The linear system around an equilibrium: windows, queue, and average where the drop law has one.

    Parameters
    ----------
    present : numpy.ndarray, shape (d, d)
        A_0, 1/s, without what the drops depend on.
    delayed : numpy.ndarray, shape (k, d, d)
        A_k, 1/s, likewise.
    delays_s : numpy.ndarray, shape (k,)
        R_k.
    drops_now, drops_delayed : numpy.ndarray, shape (d,) and (k, d)
        What a change of the drop probability does now, and after each delay.
    sensed : numpy.ndarray, shape (d,)
        Change of the drop probability with the state.
    """

    present: Floats
    delayed: Floats
    delays_s: Floats
    drops_now: Floats
    drops_delayed: Floats
    sensed: Floats

    def closed(self) -> tuple[Floats, Floats]:
        """A_0 and A_k with the drops that follow the state."""
        return (
            self.present + np.outer(self.drops_now, self.sensed),
            self.delayed + self.drops_delayed[:, :, None] * self.sensed,
        )

    def characteristic(self, s: complex) -> tuple[Complexes, Complexes]:
        """The matrix s - A_0 - sum of A_k exp(-s R_k), and its derivative."""
        present, delayed = self.closed()
        decay = np.exp(-s * self.delays_s)
        size = np.eye(len(present))
        return (
            s * size - present - np.tensordot(decay, delayed, 1),
            np.asarray(size + np.tensordot(decay * self.delays_s, delayed, 1), dtype=complex),
        )

    def loop(self, omega: Floats) -> Floats:
        """Transfer function of the loop opened at the drop probability, at angular frequencies, rad/s."""
        s = 1j * np.asarray(omega, dtype=float)[:, None, None]
        decay = np.exp(-s * self.delays_s)[:, 0, :]
        system = s * np.eye(len(self.present)) - self.present - np.tensordot(decay, self.delayed, 1)
        entering = self.drops_now + decay @ self.drops_delayed
        return -(np.linalg.solve(system, entering[:, :, None])[:, :, 0] @ self.sensed)


def linear(model: Fluid, at: Equilibrium | None = None) -> Linear:
    """The linear system around the equilibrium.

    Parameters
    ----------
    model : Fluid
        Traffic and queue.
    at : Equilibrium, optional
        Of the model; found when absent.

    Returns
    -------
    Linear

    Raises
    ------
    MayflyError
        The queue is empty or full there, or RED jumps: small deviations are not linear.

    Notes
    -----
    From Eq. 2.2 and 2.3, with a = 1 / (b R W): dW'/dt = -a (W' + W'(t - R)) - W^2 / (2 R) p'(t - R);
    dq'/dt = (1 - p) (N W' / R - N W / (R^2 C) q' - ...) - (arrivals) p'. Changes of R drop out of the first, as
    1 / b = W^2 p / 2 there. A flow at its receiver window does not respond.
    """
    at = model.equilibrium() if at is None else at
    if at.bound != "queue":
        raise MayflyError(f"equilibrium = {at.bound}: must be of the queue and the drop law for a linear system")
    count = len(model.groups)
    weight = model.drops.weight
    averages = weight is not None
    size = count + 1 + averages
    passing = 1 - at.loss if model.drops_leave else 1.0
    arrivals = at.nonresponsive_pps + at.rates_pps.sum()
    present, delayed = np.zeros((size, size)), np.zeros((count, size, size))
    now, later, sensed = np.zeros(size), np.zeros((count, size)), np.zeros(size)
    for index, (group, window, rtt) in enumerate(zip(model.groups, at.windows, at.rtts_s, strict=True)):
        if window < group.window:
            present[index, index] = delayed[index, index, index] = -1 / (group.per_ack * rtt * window)
            later[index, index] = -(window**2) / (2 * rtt)
        present[count, index] = passing * group.flows / rtt
    falling = (at.rates_pps / at.rtts_s).sum() + model.nonresponsive_packets / at.rtts_s[0] ** 2
    present[count, count] = -passing * falling / model.capacity_pps
    now[count] = -arrivals if model.drops_leave else 0.0
    if weight is not None:
        pace = -math.log1p(-weight) * arrivals
        present[-1, -2], present[-1, -1] = pace, -pace
        sensed[-1] = model.drops.slope(at.queue_packets)
    return Linear(present, delayed, np.array(at.rtts_s, dtype=float), now, later, sensed)


def roots(system: Linear, most: int = 6, nodes: int = NODES) -> Floats:
    """The roots furthest to the right.

    Parameters
    ----------
    system : Linear
        Of :func:`linear`.
    most : int
        How many, from 1.
    nodes : int
        Of the collocation.

    Returns
    -------
    numpy.ndarray, shape (most,) or fewer
        Complex, 1/s, by falling real part; one of each conjugate pair, with an imaginary part of 0 or more.

    Notes
    -----
    Each satisfies det(s - A_0 - sum of A_k exp(-s R_k)) = 0 to 1e-9 of its size.

    Examples
    --------
    >>> from mayfly.models.tcp.drop_laws import FixedDrops
    >>> from mayfly.models.tcp.fluid import Fluid, Group
    >>> found = roots(linear(Fluid(1000.0, (Group(10, 0.05),), FixedDrops(0.01))))
    >>> bool((found.real < 0).all())
    True
    """
    present, delayed = system.closed()
    size, reach = len(present), float(system.delays_s.max())
    angles = np.cos(np.pi * np.arange(nodes + 1) / nodes)
    points = reach / 2 * (angles - 1)
    derivative = _derivative(angles) * 2 / reach
    operator = np.kron(derivative, np.eye(size))
    operator[:size] = 0
    operator[:size, :size] = present
    for matrix, delay in zip(delayed, system.delays_s, strict=True):
        operator[:size] += np.kron(_interpolation(points, -delay), matrix)
    found = np.linalg.eigvals(operator)
    found = found[found.imag >= -1e-9]
    found = found[np.argsort(-found.real)][: 2 * most]
    exact = [root for guess in found if (root := _newton(system, complex(guess))) is not None]
    kept: list[complex] = []
    for root in sorted(exact, key=lambda s: -s.real):
        if all(abs(root - other) > 1e-7 * (1 + abs(root)) for other in kept):
            kept.append(root)
    return np.array(kept[:most])


def _derivative(x: Floats) -> Floats:
    """Differentiation matrix on Chebyshev points (Trefethen 2000, 6)."""
    n = len(x) - 1
    c = np.r_[2, np.ones(n - 1), 2] * (-1.0) ** np.arange(n + 1)
    apart = x[:, None] - x[None, :]
    matrix = np.outer(c, 1 / c) / (apart + np.eye(n + 1))
    return matrix - np.diag(matrix.sum(axis=1))


def _interpolation(points: Floats, at: float) -> Floats:
    """Barycentric weights of the value at a point, shape (1, nodes + 1)."""
    apart = at - points
    if (near := np.abs(apart) < 1e-14 * (1 + np.abs(points).max())).any():
        values: Floats = near.astype(float)[None, :]
        return values
    weights = (-1.0) ** np.arange(len(points))
    weights[[0, -1]] /= 2
    share = weights / apart
    result: Floats = (share / share.sum())[None, :]
    return result


def _newton(system: Linear, s: complex) -> complex | None:
    for _ in range(50):
        matrix, slope = system.characteristic(s)
        try:
            step = 1 / np.trace(np.linalg.solve(matrix, slope))
        except np.linalg.LinAlgError:
            return s
        s -= step
        if not np.isfinite(s):
            return None
        if abs(step) < 1e-12 * (1 + abs(s)):
            return complex(s.real, abs(s.imag) if abs(s.imag) > 1e-9 * (1 + abs(s)) else 0.0)
    return None


@dataclass(frozen=True)
class Margins:
    """How far the loop is from swinging for ever.

    Parameters
    ----------
    gain : float
        Factor by which the response of the drop law may grow; infinite where no factor does it.
    phase_rad : float
        Lag the loop may gain at its crossover; infinite where its gain is below 1 throughout.
    delay_s : float
        Delay that makes this lag.
    crossover_rad_s : float
        Angular frequency where the gain is 1; nan without.
    """

    gain: float
    phase_rad: float
    delay_s: float
    crossover_rad_s: float


def margins(system: Linear) -> Margins:
    """Gain, phase and delay margin.

    Parameters
    ----------
    system : Linear
        Of :func:`linear`.

    Returns
    -------
    Margins
        Of the loop opened at the drop probability; all infinite for drops that do not depend on the queue.
    """
    from scipy.optimize import brentq

    if not system.sensed.any():
        return Margins(math.inf, math.inf, math.inf, math.nan)
    grid = np.geomspace(1e-5, 60.0, 4_000) / system.delays_s.min()
    value = system.loop(grid)
    size, phase = np.abs(value), np.unwrap(np.angle(value))
    phase -= 2 * math.pi * round(phase[0] / (2 * math.pi))
    gain = math.inf
    for at in np.flatnonzero((phase[:-1] + math.pi) * (phase[1:] + math.pi) <= 0):
        omega = brentq(lambda w: float(system.loop(np.array([w]))[0].imag), grid[at], grid[at + 1])
        gain = min(gain, 1 / abs(system.loop(np.array([omega]))[0]))
    crossings = np.flatnonzero((size[:-1] - 1) * (size[1:] - 1) <= 0)
    if not crossings.size:
        return Margins(gain, math.inf, math.inf, math.nan)
    at = crossings[-1]
    omega = brentq(lambda w: abs(system.loop(np.array([w]))[0]) - 1, grid[at], grid[at + 1])
    lag = phase[at] + math.remainder(float(np.angle(system.loop(np.array([omega]))[0])) - phase[at], 2 * math.pi)
    spare = math.pi + lag
    return Margins(gain, spare, spare / omega, omega)


def critical_rtt(model: Fluid, group: int = 0, bounds_s: Sequence[float] = (1e-3, 10.0)) -> float | None:
    """Round-trip time without queue at which the equilibrium begins to swing.

    Parameters
    ----------
    model : Fluid
        Traffic and queue.
    group : int
        Whose ``rtt_s`` is varied.
    bounds_s : sequence of float, shape (2,)
        Between which it is sought, s.

    Returns
    -------
    float or None
        The smallest, s, to 1e-9 of it; None where no change was found between the bounds, which are searched in steps
        of 25 %. Round-trip times with an equilibrium that is not of the queue are passed over.
    """
    from scipy.optimize import brentq

    def rightmost(rtt_s: float) -> float:
        groups = list(model.groups)
        groups[group] = replace(groups[group], rtt_s=rtt_s)
        try:
            system = linear(replace(model, groups=tuple(groups)))
        except MayflyError:
            return math.nan
        return float(roots(system, 1, nodes=20)[0].real)

    low, high = bounds_s
    grid = np.geomspace(low, high, max(int(math.log(high / low) / math.log(1.25)) + 2, 2))
    before = rightmost(float(grid[0]))
    for shorter, longer in itertools.pairwise(grid):
        value = rightmost(float(longer))
        if before * value < 0:
            return float(brentq(rightmost, shorter, longer, rtol=1e-9))
        before = value
    return None
