"""Distributions of response times where the rank falls with age: many busy periods in the service of each job.

Principle: all sizes share the arguments of the transform, so each busy period is solved once for all of them. The tails
are tabled at common times, with their slopes, and interpolated between.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from mayfly.arrays import Complexes, Floats, Integers
from mayfly.laws.service import Discrete
from mayfly.models.queue.quadrature import Panels
from mayfly.models.ranks.inversion import euler, invert
from mayfly.models.ranks.transform import Response, busy
from mayfly.models.ranks.work_transform import panel_edges

PER_OCTAVE = 3
"""Times of the table in which time doubles."""

NODES = 5
"""Ages of a panel of the service: what a unit of it takes is far smoother than the law."""

WIDE = 1.9
"""Upper over lower end of such a panel, at least."""

TERMS = 9
"""As :data:`mayfly.models.ranks.inversion.TERMS`: an error of 10^-5, about that of the interpolation."""

MANY = 6
"""Different busy periods in the service of a job, on average, from which on the table is made."""

LEAST = 1e-9
"""A tail of no more counts as that."""


class Tabled(Response):
    """As :class:`mayfly.models.ranks.transform.Response`, its tails from a table.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> from mayfly.models.queue.mg1 import MG1
    >>> from mayfly.models.ranks.ranks import Remaining
    >>> queue = MG1(service_law("exponential:mean=1"), 0.5)
    >>> given = queue, Remaining(), np.array([0.5, 2.0])
    >>> one, other = (kind(*given).tail(np.array([0, 1]), np.array([0.7, 3.1])) for kind in (Tabled, Response))
    >>> bool(np.all(abs(one - other) < 5e-4))
    True
    """

    @cached_property
    def _grid(self) -> Panels:
        edges = panel_edges(self.queue.law)
        found = [edges[0]]
        for edge in edges[1:]:
            if edge > WIDE * found[-1] or edge == edges[-1]:
                found.append(edge)
        low = found[0]
        if isinstance(self.queue.law, Discrete):
            found.extend(self.queue.law.values[:64])
        else:
            # Below the least size that counts nobody is ahead.
            low = found[0] if self.queue.law.smallest > 0 else found[0] / 1e3
        return Panels(np.unique(np.r_[0.0, low, found]), NODES)

    @cached_property
    def _blocks(self) -> dict[int, Floats]:
        return {}

    def _block(self, octave: int, row: Integers) -> Floats:
        """Logarithm of the tails at the times of an octave, and its slope by theirs, shape (2, n, PER_OCTAVE + 1)."""
        block = self._blocks.setdefault(octave, np.full((2, len(self.sizes), PER_OCTAVE + 1), np.nan))
        lacking = np.isnan(block[0, :, 0])
        if np.any(lacking[row]):
            # The ranks of a size are those of smaller ones too.
            more = np.flatnonzero(lacking & (self.sizes <= self.sizes[row].max()))
            block[:, more] = self._made(octave, more)
        return block

    def _made(self, octave: int, row: Integers) -> Floats:
        nodes = euler(TERMS)[0]
        time = _times(octave)
        s = nodes / time[:, None]
        flat = np.broadcast_to(s.ravel(), (len(row), s.size))
        known = self.points.lacking(row, flat) + self.ramps.lacking(row, flat)
        smooth = 1 - self._shared(row, s.ravel(), octave) - known
        smooth = smooth.reshape(len(row), *s.shape)
        wide = np.broadcast_to(time, smooth.shape[:2])
        begin = 1 - self.at_once[row] - self.points.mass[row].sum(axis=1) - self.ramps.beyond(row, np.zeros(len(row)))
        tail = np.maximum(invert(smooth / s, wide), LEAST)
        density = np.where(tail > LEAST, invert(begin[:, None, None] - smooth, wide), 0.0)
        return np.stack([np.log(tail), -density * wide / tail])

    def _shared(self, row: Integers, s: Complexes, octave: int) -> Complexes:
        """The transform of sizes at the same arguments, shape (k, m)."""
        now, later, arriving = self._scaled(octave)
        worst, loads = self._worst[0], self._arriving[1]
        mine, place = np.unique(self._worst[1][row], return_inverse=True)
        sigma = busy(arriving.take(mine), np.broadcast_to(s, (len(mine), len(s))), loads[mine])
        left = np.where(self._same[mine][:, None], s, sigma - now.take(mine).exponent(sigma))
        old = (sigma * self._waiting[2][mine][:, None] + later.take(mine).exponent(sigma)) / left
        shares = self._service[1][row]
        used = np.flatnonzero(np.any(shares != 0, axis=0))
        at = used + len(worst)
        delay = busy(arriving.take(at), np.broadcast_to(s, (len(at), len(s))), loads[at]) - s
        result: Complexes = old[place] * np.exp(-(shares[:, used] @ delay))
        return result

    def smooth(self, row: Integers, time: Floats) -> Floats:
        """The part of the tail without jumps: see :meth:`mayfly.models.ranks.transform.Response.smooth`."""
        octaves = np.floor(np.log2(euler(TERMS)[0][0].real / time)).astype(int)
        found = np.empty(len(time))
        for octave in np.unique(octaves).tolist():
            mine = np.flatnonzero(octaves == octave)
            logs, slopes = self._block(octave, row[mine])[:, row[mine]]
            at = np.log(time[mine] / _times(octave)[0]) / STEP
            place = np.clip(at.astype(int), 0, PER_OCTAVE - 1)
            each = np.arange(len(mine))
            ends = [(table[each, place], table[each, place + 1]) for table in (logs, slopes)]
            found[mine] = np.exp(_hermite(at - place, *ends[0], *(STEP * end for end in ends[1])))
        return found + self.ramps.beyond(row, time)


STEP = math.log(2) / PER_OCTAVE


def _times(octave: int) -> Floats:
    """Times whose arguments have real parts from 2^octave to twice that."""
    result: Floats = euler(TERMS)[0][0].real / 2.0 ** (octave + 1) * np.exp(STEP * np.arange(PER_OCTAVE + 1))
    return result


def _hermite(y: Floats, begin: Floats, end: Floats, leaving: Floats, coming: Floats) -> Floats:
    """The cubic of these values and slopes at 0 and 1; where that would not fall all the way, of lesser slopes."""
    rise = end - begin
    least = np.minimum(3 * rise, 0.0)
    leaving, coming = np.clip(leaving, least, 0.0), np.clip(coming, least, 0.0)
    return begin + y * (leaving + y * (3 * rise - 2 * leaving - coming + y * (leaving + coming - 2 * rise)))
