"""Point masses of a time: its law is a sum of jumps and a part with a density, and only the latter is inverted.

Principle: the jumps are known, so their transform is subtracted before the inversion and their tail added after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Complexes, Floats, Integers

COUNT = 256
"""Masses looked at: jumps beyond so many steps are left to the inversion, which blurs them."""

COARSE = 30
"""Steps in the least amount where amounts are multiples of none: they are rounded to it."""

FINEST = 60
"""Steps in the least amount, at most, up to which amounts count as multiples of a step."""

LEAST = 1e-9
"""Mass that is left to the inversion."""

SPARSE = 0.2
"""Share of the multiples with a mass up to which each is a term; a polynomial is summed otherwise."""

WRAP = 1e-10
"""What a mass as many steps on again adds to one, relative to that mass."""


@dataclass(frozen=True)
class PointMasses:
    """Masses at multiples of a step, for each of n laws.

    Parameters
    ----------
    step : numpy.ndarray, shape (n,)
        Distance of the masses.
    mass : numpy.ndarray, shape (n, n_masses)
        At ``step``, at twice that, and so on.
    """

    step: Floats
    mass: Floats

    @classmethod
    def none(cls, n: int) -> PointMasses:
        """No mass."""
        return cls(np.ones(n), np.zeros((n, 0)))

    def lacking(self, row: Integers, s: Complexes) -> Complexes:
        """Sum of the masses less their transform at ``s``, shape (k, m), for laws ``row``, shape (k,)."""
        mass = self.mass[row]
        if mass.shape[1] == 0:
            return np.zeros(s.shape, complex)
        step, found = self.step[row][:, None], np.zeros(s.shape, complex)
        used = np.flatnonzero(np.any(mass > 0, axis=0))
        if len(used) < SPARSE * mass.shape[1]:
            for place in used:
                found += mass[:, place, None] * np.exp(-s * step * (place + 1))
        else:
            turn = np.exp(-s * step)
            for each in mass.T[::-1]:
                found = (found + each[:, None]) * turn
        result: Complexes = mass.sum(axis=1)[:, None] - found
        return result

    def beyond(self, row: Integers, time: Floats) -> Floats:
        """Mass beyond a time of each law ``row``, shape (k,)."""
        mass = self.mass[row]
        at = self.step[row][:, None] * np.arange(1, mass.shape[1] + 1)
        result: Floats = np.sum(np.where(at > time[:, None], mass, 0.0), axis=1)
        return result


def step_of(amounts: Floats, count: int = COUNT) -> float:
    """Step of which amounts are multiples.

    Parameters
    ----------
    amounts : numpy.ndarray, shape (n,)
        Above 0; only those up to ``count`` steps matter.
    count : int
        See :data:`COUNT`.

    Returns
    -------
    float
        The least amount or a whole part of it, one in :data:`COARSE` where they are multiples of none; NaN where there
        is no amount.

    Examples
    --------
    >>> step_of(np.array([6.0, 7.0, 15.0])), step_of(np.array([2.0, 4.0])), step_of(np.array([3.0, 18.0**0.5]))
    (1.0, 2.0, 0.1)
    """
    if len(amounts) == 0:
        return np.nan
    least = float(np.min(amounts))
    for parts in range(1, FINEST + 1):
        multiples = amounts[amounts <= count * least / parts] * parts / least
        if np.all(np.abs(multiples - np.rint(multiples)) < 1e-9 * multiples):
            return least / parts
    return least / COARSE


def masses(transform: Callable[[Complexes], Complexes], step: Floats, count: int = COUNT) -> PointMasses:
    """Masses of laws on multiples of a step, from their transforms.

    Parameters
    ----------
    transform : callable
        Of arguments, shape (n, m), to the transforms of the n laws.
    step : numpy.ndarray, shape (n,)
        NaN for a law that has none.
    count : int
        Masses wanted.

    Returns
    -------
    PointMasses

    Notes
    -----
    The transform on a circle |e^(-s step)| = r is a Fourier transform of the masses times r^k, which wrap round after
    twice ``count`` (Abate and Whitt 1992, Numerical inversion of probability generating functions).

    Examples
    --------
    >>> found = masses(lambda s: np.exp(-2 * s) / 2 + np.exp(-3 * s) / 4, np.ones(1))
    >>> found.mass.round(9).tolist()
    [[0.0, 0.5, 0.25]]
    """
    some = np.flatnonzero(np.isfinite(step))
    found = np.zeros((len(step), count))
    if len(some):
        shrink = -np.log(WRAP) / (2 * count)
        s: Complexes = np.broadcast_to(shrink + 1j * np.pi * np.arange(count + 1) / count, (len(step), count + 1))
        values = transform(s / np.where(np.isfinite(step), step, 1.0)[:, None])
        grown = np.exp(shrink * np.arange(1, count + 1))
        found[some] = (np.fft.irfft(values[some], axis=1)[:, 1 : count + 1]) * grown
    found = np.where(found > LEAST, found, 0.0)
    kept = int(np.max(np.flatnonzero(np.any(found > 0, axis=0)), initial=-1)) + 1
    return PointMasses(np.where(np.isfinite(step), step, 1.0), found[:, :kept])


RAMPS = 16
"""Kinks that are taken out of a law, those of the most mass."""


@dataclass(frozen=True)
class Ramps:
    """Densities c e^(-eta t) up to an end at which they drop to 0, several for each of n laws: kinks of the tail.

    Parameters
    ----------
    height, end : numpy.ndarray, shape (n, n_ramps)
        c, 0 where there is no ramp, and the end.
    decay : numpy.ndarray, shape (n,)
        eta, 0 or more.
    """

    height: Floats
    end: Floats
    decay: Floats

    @classmethod
    def heaviest(cls, height: Floats, end: Floats, decay: Floats) -> Ramps:
        """Those of the most mass, the others left out."""
        order = np.argsort(-height * end, axis=1)[:, :RAMPS]
        height, end = (np.take_along_axis(column, order, axis=1) for column in (height, end))
        used = int(np.max(np.count_nonzero(height * end, axis=1), initial=0))
        return cls(height[:, :used], end[:, :used], decay)

    def lacking(self, row: Integers, s: Complexes) -> Complexes:
        """Sum of the masses less their transform at ``s``, shape (k, m), for laws ``row``, shape (k,)."""
        decay = self.decay[row][:, None]
        found = np.zeros(s.shape, complex)
        for height, end in zip(self.height[row].T, self.end[row].T, strict=True):
            gone = -np.expm1(-decay * end[:, None])
            mass = np.where(decay > 0, gone / np.where(decay > 0, decay, 1.0), end[:, None])
            transform = (1 - (1 - gone) * np.exp(-s * end[:, None])) / (s + decay)
            found += height[:, None] * (mass - transform)
        return found

    def beyond(self, row: Integers, time: Floats) -> Floats:
        """Mass beyond a time of each law ``row``, shape (k,)."""
        decay = self.decay[row][:, None]
        left = np.maximum(self.end[row] - time[:, None], 0.0)
        mass = np.where(decay > 0, -np.expm1(-decay * left) / np.where(decay > 0, decay, 1.0), left)
        result: Floats = np.sum(self.height[row] * np.exp(-decay * time[:, None]) * mass, axis=1)
        return result
