"""Rate of a long TCP transfer from its loss, and loss from its rate: the square-root law and PFTK.

Both take a transfer that always has data, a round-trip time that does not depend on the window, and a loss probability
that does not either. Sources: Mathis, Semke, Mahdavi and Ott 1997; Padhye, Firoiu, Towsley and Kurose 1998 (PFTK);
Dumas, Guillemin and Robert 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Booleans, Floats
from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RANDOM_LOSS_CONSTANT = math.sqrt(2 / math.pi) * math.prod((1 - 4.0**-n) / (1 - 2 * 4.0**-n) for n in range(1, 40))
"""Mean window times sqrt(p) for small p when each packet is lost independently: sqrt(2/pi) times the product over n
from 1 of (1 - 4^-n) / (1 - 2 4^-n) (Dumas, Guillemin and Robert 2002)."""


def square_root_rate(
    loss: Floats | float,
    rtt_s: Floats | float,
    *,
    per_ack: int = 1,
    losses: str = "periodic",
    window: float = math.inf,
) -> Floats:
    """Rate by the square-root law, which knows no timeouts.

    Parameters
    ----------
    loss : array_like
        p, of a packet to be lost, from 0 to 1; broadcast against ``rtt_s``.
    rtt_s : array_like
        Round-trip time, s, above 0.
    per_ack : int
        b, packets that an acknowledgement covers, from 1.
    losses : str
        ``periodic``: one in every 1/p packets; ``random``: each independently.
    window : float
        Receiver window, packets, from 1.

    Returns
    -------
    numpy.ndarray
        Packets per second, in the shape of both broadcast; infinite without loss and window.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Mathis et al. 1997, Eq. 3: rate = c / (RTT sqrt(p)), c = sqrt(3 / (2 b)). Padhye et al. 1998 have the same for
    small p. With independent losses c = 1.31 / sqrt(b).

    Examples
    --------
    >>> square_root_rate([0.0001, 0.01], 0.1).round(1).tolist()
    [1224.7, 122.5]
    >>> float(square_root_rate(0.0, 0.1, window=20))
    200.0
    """
    loss, rtt_s = _checked(loss, rtt_s, per_ack, window)
    if losses not in ("periodic", "random"):
        raise MayflyError(f"losses = {losses}: must be periodic or random")
    constant = math.sqrt(1.5) if losses == "periodic" else RANDOM_LOSS_CONSTANT
    with np.errstate(divide="ignore"):
        return np.minimum(constant / np.sqrt(per_ack * loss), window) / rtt_s


def pftk_rate(
    loss: Floats | float,
    rtt_s: Floats | float,
    *,
    rto_s: Floats | float = 1.0,
    per_ack: int = 1,
    window: float = math.inf,
    form: str = "full",
    counted: str = "sent",
) -> Floats:
    """Rate with timeouts, of TCP Reno that loses the rest of a flight with its first packet.

    Parameters
    ----------
    loss : array_like
        p, of a loss of a packet that follows no lost one in its flight, from 0 to 1; broadcast against ``rtt_s`` and
        ``rto_s``.
    rtt_s : array_like
        Round-trip time, s, above 0.
    rto_s : array_like
        T_0, the first timeout, s, from 0.
    per_ack : int
        b, packets that an acknowledgement covers, from 1.
    window : float
        W_m, receiver window, packets, from 1.
    form : str
        ``full``, or ``approximate``.
    counted : str
        Packets ``sent``, or ``delivered``, which only the full form tells apart.

    Returns
    -------
    numpy.ndarray
        Packets per second, in the shape of all broadcast.

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    Padhye et al. 1998, Eq. 32 (full) and 30 (approximate); delivered: Padhye et al. 2000, 5, which is Cardwell et al.
    2000, Eq. 22. The window at the end of an interval between losses is

    W = (2 + b) / (3 b) + sqrt(8 (1 - p) / (3 b p) + ((2 + b) / (3 b))^2),

    of which a share Q(W) of the losses ends in a timeout (:func:`timeout_share`). Above 10 % loss the two forms part:
    the approximate one takes the packets of an interval for 1 / p where the full one counts those sent after the loss.

    Examples
    --------
    >>> pftk_rate([0.001, 0.01, 0.1], 0.1).round(2).tolist()
    [376.6, 98.83, 12.46]
    >>> pftk_rate([0.001, 0.01, 0.1], 0.1, form="approximate").round(2).tolist()
    [378.78, 99.92, 9.76]
    """
    loss, rtt_s = _checked(loss, rtt_s, per_ack, window)
    rto_s = np.asarray(rto_s, dtype=float)
    _refuse("rto_s", rto_s, (rto_s >= 0) & np.isfinite(rto_s), "at least 0 s")
    if form not in ("full", "approximate"):
        raise MayflyError(f"form = {form}: must be full or approximate")
    if counted not in ("sent", "delivered"):
        raise MayflyError(f"counted = {counted}: must be sent or delivered")
    loss, rtt_s, rto_s = np.broadcast_arrays(loss, rtt_s, rto_s)
    # Without loss, and with nothing but loss, the formulas divide by 0.
    inner = np.clip(loss, 1e-300, 1 - 1e-16)
    if form == "approximate":
        timing_out = rto_s * np.minimum(1, 3 * np.sqrt(3 * per_ack * inner / 8)) * inner * (1 + 32 * inner**2)
        rate = np.minimum(window / rtt_s, 1 / (rtt_s * np.sqrt(2 * per_ack * inner / 3) + timing_out))
    else:
        rate = _full(inner, rtt_s, rto_s, per_ack, window, 1.0 if counted == "sent" else 0.5)
    return np.where(loss == 0, window / rtt_s, np.where(loss == 1, 0.0, rate))


def _full(p: Floats, rtt_s: Floats, rto_s: Floats, b: int, window: float, share: float) -> Floats:
    free = loss_window(p, b)
    end = np.minimum(free, window)
    timeout = timeout_share(p, end)
    rounds = b * free / 2 + 1
    if math.isfinite(window):
        rounds = np.where(free < window, rounds, b * window / 8 + (1 - p) / (p * window) + 2)
    packets = (1 - p) / p + share * end + timeout / ((1 - p) if share == 1.0 else 1.0)
    return packets / (rtt_s * rounds + timeout * backoffs(p) * rto_s / (1 - p))


def loss_window(loss: Floats | float, per_ack: int = 1) -> Floats:
    """Mean window at a loss, packets, where no receiver bounds it.

    Examples
    --------
    >>> float(loss_window(0.01).round(3))
    17.279
    """
    loss, b = np.asarray(loss, dtype=float), per_ack
    return (2 + b) / (3 * b) + np.sqrt(8 * (1 - loss) / (3 * b * loss) + ((2 + b) / (3 * b)) ** 2)


def timeout_share(loss: Floats | float, window: Floats | float) -> Floats:
    """Share of the losses in windows of that many packets that end in a timeout.

    Notes
    -----
    Padhye et al. 1998, Q(w) in closed form: fewer than three packets arrive after the lost one, or in the round after.
    All losses of a window of up to 3; about 3 / window for small p.

    Examples
    --------
    >>> timeout_share(0.01, [3, 10, 30]).round(3).tolist()
    [1.0, 0.331, 0.14]
    """
    loss, window = np.broadcast_arrays(np.asarray(loss, dtype=float), np.asarray(window, dtype=float))
    log_kept = np.log1p(-loss)
    three = -np.expm1(3 * log_kept)
    later = 1 + (1 - three) * -np.expm1(np.maximum(window - 3, 0) * log_kept)
    return np.where(window <= 3, 1.0, np.minimum(1.0, three * later / -np.expm1(window * log_kept)))


def backoffs(loss: Floats | float) -> Floats:
    """f(p): mean length of a run of timeouts, in first timeouts, times 1 - p (Padhye et al. 1998).

    The timeout doubles six times.

    Examples
    --------
    >>> float(backoffs(0.5))
    4.0
    """
    loss = np.asarray(loss, dtype=float)
    return 1 + reduce(add, (2.0 ** (n - 1) * loss**n for n in range(1, 7)))


def loss_for(rate: Floats | float, law: Callable[[float], Floats]) -> Floats:
    """Loss probability at which a law gives a rate: the inverse of either law.

    Parameters
    ----------
    rate : array_like
        Packets per second, above 0.
    law : callable
        Rate at a loss probability, falling.

    Returns
    -------
    numpy.ndarray
        In the shape of ``rate``, to 12 digits; 0 where the law gives less even with a loss of 10^-12, and 1 where it
        gives more with nearly all packets lost.

    Raises
    ------
    MayflyError
        A rate that is not above 0.

    Examples
    --------
    >>> loss_for([122.474487], lambda p: square_root_rate(p, 0.1)).round(6).tolist()
    [0.01]
    """
    from scipy.optimize import brentq

    rate = np.asarray(rate, dtype=float)
    _refuse("rate", rate, rate > 0, "above 0 packets per second")

    def one(wanted: float) -> float:
        def gap(log_loss: float) -> float:
            return float(law(math.exp(log_loss))) / wanted - 1

        low, high = math.log(1e-12), math.log(1 - 1e-9)
        if gap(low) <= 0:
            return 0.0
        return 1.0 if gap(high) >= 0 else math.exp(brentq(gap, low, high, xtol=1e-13, rtol=1e-13))

    result: Floats = np.vectorize(one, otypes=[float])(rate)
    return result


def _checked(loss: ArrayLike, rtt_s: ArrayLike, per_ack: int, window: float) -> tuple[Floats, Floats]:
    loss, rtt_s = np.asarray(loss, dtype=float), np.asarray(rtt_s, dtype=float)
    _refuse("loss", loss, (loss >= 0) & (loss <= 1), "from 0 to 1")
    _refuse("rtt_s", rtt_s, (rtt_s > 0) & np.isfinite(rtt_s), "above 0 s")
    _refuse("per_ack", per_ack, per_ack >= 1 and per_ack == math.floor(per_ack), "a whole number from 1")
    _refuse("window", window, window >= 1, "at least 1 packet")
    return loss, rtt_s


def _refuse(name: str, value: ArrayLike, good: Booleans | bool, bound: str) -> None:
    if not np.all(good):
        wrong = np.broadcast_to(value, np.shape(good))[~np.asarray(good)]
        raise MayflyError(f"{name} = {wrong.flat[0]}: must be {bound}")
