"""Lagged fair queueing as a queue of jobs: users in front, their transfers behind, each rule FB + PS on two levels.

Principle: who is behind a clock is served first, least attained service among all that are behind; who is level with it
shares. With one user, or with users without number of a transfer each, that is FB + PS exactly. Between the two a mean
field: to a user the others are a queue, and the credit it has left when a transfer comes is a dam of its own.

Source: Aalto, Ayesta and Nyberg 2004 (FB + PS); Cohen 1982, III.5 (dams of limited height). The mean field is ours; how
far it is from simulated jobs is in tests/models/test_lfq_simulated.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.queue import las_ps
from mayfly.models.queue.levels import solve
from mayfly.models.queue.mg1 import MG1

STEPS = 120
"""Steps of the credit of a user between nothing and all of it."""

ROUNDS = 200
"""Rounds of the fixed point at most."""

SETTLED = 1e-9
"""Change of a share of users at which the fixed point is found."""

ROUGH = 1e-4
"""Relative error of the equations of levels between several users: far below that of the mean field."""

MOST_SIZES = 100
"""Largest lag of several users, in mean sizes: beyond it the mean field tells short transfers far too long."""

CHUNK = 4096
"""Sizes looked at together."""


@dataclass(frozen=True)
class Field:
    """What one of several users finds of the others, and of itself.

    Parameters
    ----------
    others : MG1
        Transfers of the other users.
    used : numpy.ndarray, shape (n,)
        Credit that a user has used, from 0 to its lag; the last one is of users that are level with the clock.
    share : numpy.ndarray, shape (n,)
        Share of the transfers that find their user there.
    load, squares : numpy.ndarray, shape (n,)
        Of what others are sent while they have used less than ``used``: load, and rate of squared work over 2. Only of
        those that have used some of their credit before.
    """

    others: MG1
    used: Floats
    share: Floats
    load: Floats
    squares: Floats

    def before(self, upto: Floats | float) -> tuple[Floats, Floats]:
        """Load, and rate of squared work over 2, of what others are sent while they have used less than ``upto``.

        Notes
        -----
        lambda E[min(X, (u - U)+)^i] / i, U the credit used. Those with all their credit are exact, the others a line
        between steps.
        """
        fresh = self.others.arrival_rate * self.share[0]
        whole, rest = ((1, self.load), (2, self.squares)), (upto, self.used)
        load, squares = (
            fresh * self.others.law.truncated(order, upto) / order + np.interp(*rest, known) for order, known in whole
        )
        return load, squares


def response(queue: MG1, x: Floats, user_lag: float, flow_lag: float, users: float, pace: float) -> Floats:
    """Mean response time of a transfer of each size.

    Parameters
    ----------
    queue : MG1
        Arrivals and sizes of all transfers; the load may exceed 1.
    x : numpy.ndarray
        Sizes, 0 or more.
    user_lag, flow_lag : float
        B and b, 0 or more.
    users : float
        Users, all alike, 1 or more; 0: each transfer is a user of its own, that comes with all its credit.
    pace : float
        Of the clock of the link, 0 to 1: how fast credit comes back while others are served that are behind.

    Returns
    -------
    numpy.ndarray
        In the shape of ``x``; infinite where transfers never end.

    Raises
    ------
    MayflyError
        ``users`` is between 0 and 1, or the lag of several users is more than 100 mean sizes, where the mean field does
        not hold.

    Notes
    -----
    One user: FB + PS with threshold b. Users without number (0): FB + PS with threshold B. H users, which bring Poisson
    transfers at lambda / H each, are taken for independent of one another:

    1. *Inside a user*: its transfers are FB + PS with threshold b in the time the user is served. A unit of work of a
       user that is level takes s = 1 / (1 - rho (H - 1) / H), sharing with the others: the load inside is s rho / H.
       z(x) is the response there.
    2. *Credit*: a user has used U of its credit B when a transfer comes. Its transfers fill a dam of height B, and the
       clock of the link empties it at its mean speed nu: P(U <= u) = Q(u) / Q(B), Q(u) = 1 + a integral of Q(u - v)
       dF(v), a = rho / (H nu), F the law of what is left of a size in service. Users that are level, the share
       s (rho - rho_B) / H, have U = B.
    3. *Among users*: z more for a user that has used U ends after (W(U + z) + z) / (1 - rho(U + z)) while U + z <= B,
       rho and W of the others cut off where their own credit ends; beyond, as in the second level of FB + PS; and from
       U = B on after W(B) / (1 - rho(B)) + s z.
    4. The clock goes on by 1 / k with k users that are level, -(1 - r) ln(1 - r) of the time that is left to them, r
       their load there; and by ``pace`` over the users with transfers while others are served.

    rho(u) and W(u) go by the credit of the others, which is the law of U again: a fixed point. All is exact at H = 1,
    without number, and at B = b = 0. At a load of 1 or more each of H users has 1 / H of the server.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> queue = MG1(service_law("bounded-pareto:min=1,max=1e4,alpha=1.1"), 0.8)
    >>> for users in (0, 10, 1):
    ...     print(response(queue, np.array([1.0, 20.0, 1000.0]), 60.0, 20.0, users, 0.4).round(1).tolist())
    [1.2, 41.3, 5128.4]
    [3.3, 49.5, 5094.1]
    [1.2, 41.3, 5067.1]
    """
    x = np.asarray(x, dtype=float)
    if 0 < users < 1:
        raise MayflyError(f"users = {users:g}: must be 0, or 1 or more")
    if users == 0:
        return las_ps.response(queue, x, user_lag)
    if users == 1:
        return las_ps.response(queue, x, flow_lag)
    others = MG1(queue.law, queue.rho * (1 - 1 / users))
    if queue.rho >= 1 or not math.isfinite(queue.law.mean):
        return users * las_ps.response(MG1(queue.law, queue.rho), x, flow_lag)
    if user_lag > MOST_SIZES * queue.law.mean:
        most = f"{MOST_SIZES * queue.law.mean:g}, {MOST_SIZES} mean sizes"
        raise MayflyError(f"user_lag = {user_lag:g}: must be at most {most}, where there are several users")
    slow = 1 / (1 - others.rho)
    inside = las_ps.response(MG1(queue.law, queue.rho / users * slow), x, flow_lag, ROUGH)
    if user_lag == 0:
        return inside * slow
    field = mean_field(others, queue.rho / users, user_lag, pace)
    flat = inside.ravel()
    found = np.concatenate([_among(field, slow, flat[at : at + CHUNK]) for at in range(0, max(flat.size, 1), CHUNK)])
    return found.reshape(x.shape)


def within_time(user_lag: float, flow_lag: float, sent: float) -> tuple[float, float]:
    """Lags on a slow link, which are no more than it sends in a given time.

    Parameters
    ----------
    user_lag, flow_lag : float
        B and b.
    sent : float
        What the link sends in the time ``lag_time`` of the discipline, in the same unit.

    Returns
    -------
    tuple of float
        B and b, both smaller by the same factor where B is more than that.

    Examples
    --------
    >>> within_time(360e3, 120e3, 625e3), within_time(360e3, 120e3, 60e3)
    ((360000.0, 120000.0), (60000.0, 20000.0))
    """
    share = min(sent / user_lag, 1.0) if user_lag else 1.0
    return user_lag * share, flow_lag * share


def _among(field: Field, slow: float, work: Floats) -> Floats:
    """Mean time in which a user gets ``work``, shape (n,), whatever credit it has used."""
    others, lag = field.others, float(field.used[-1])
    load, squares = (float(part) for part in field.before(lag))
    used, share = field.used[:-1], field.share[:-1]
    upto = used + work[:, None]
    within = np.minimum(upto, lag)
    here, here_squares = field.before(within)
    behind = (here_squares / (1 - here) + work[:, None]) / (1 - here)
    beyond = np.zeros(upto.shape)
    passes = upto > lag
    if passes.any():
        level = solve(others, lag, math.inf, float(upto.max()), ROUGH)
        shared = level.virtual_time(np.maximum(upto[passes] - lag, 0.0)) / (1 - float(others.load(lag)))
        beyond[passes] = shared
    reached = (squares / (1 - load) + lag - used) / (1 - load)
    times = np.where(passes, reached + beyond, behind) @ share
    level_with = squares / (1 - load) ** 2 + slow * work
    result: Floats = times + field.share[-1] * level_with
    return result


@lru_cache(maxsize=64)
def mean_field(others: MG1, own: float, lag: float, pace: float) -> Field:
    """The fixed point of credit and of what others are sent; see :func:`response`.

    Parameters
    ----------
    others : MG1
        Transfers of the other users, a load below 1.
    own : float
        Load of the user itself.
    lag, pace : float
        Of users.

    Returns
    -------
    Field
    """
    law, rate, users = others.law, others.arrival_rate, others.rho / own + 1
    used = np.r_[0.0, (np.arange(STEPS) + 0.5) * lag / STEPS, lag]
    left = np.diff(law.truncated(1, np.linspace(0.0, lag, STEPS + 1))) / law.mean
    room = np.maximum(used[:, None] - used, 0.0)
    sent = rate * law.truncated(1, room)
    share, slow = np.r_[1.0, np.zeros(STEPS + 1)], 1 / (1 - others.rho)
    for _ in range(ROUNDS):
        load = float(sent[-1] @ share)
        level = min(max(slow * (own - load / (users - 1)), 0.0), 1.0)
        speed = _speed(others.rho, load, pace)
        found = np.r_[_dam(left, own / speed if speed > 0 else math.inf) * (1 - level), level]
        change, share = float(np.max(np.abs(found - share))), (found + share) / 2
        if change < SETTLED:
            break
    rest = np.r_[0.0, share[1:]]
    return Field(others, used, share, sent @ rest, rate * law.truncated(2, room) @ rest / 2)


def _speed(rho: float, load: float, pace: float) -> float:
    """Mean speed of the clock of the link to a user that is silent; ``load`` of what goes before who is level."""
    share = (rho - load) / (1 - load)
    shared = -(1 - load) * (1 - share) * math.log1p(-share)
    # 1 / n users of a busy server, n geometric.
    return shared + pace * load * -(1 - rho) * math.log1p(-rho) / rho


def _dam(left: Floats, inflow: float) -> Floats:
    """Shares at 0 and in each step of a dam that is filled ``inflow`` times as fast as it is emptied."""
    if not math.isfinite(inflow):
        full: Floats = np.r_[np.zeros(len(left)), 1.0]
        return full
    masses, unit = inflow * left, 1.0
    known = np.zeros(len(left) + 1)
    known[0] = 1.0
    for place in range(1, len(known)):
        known[place] = unit + masses[:place] @ known[place - 1 :: -1][:place]
        if known[place] > 1e100:
            known[: place + 1] /= 1e100
            unit /= 1e100
    shares: Floats = np.diff(known, prepend=0.0) / known[-1]
    return shares
