"""Power laws of flow sizes from three of minimum, maximum, mean and coefficient of variation (CoV).

The mean falls as the exponent grows, the CoV at a given mean grows with the maximum and falls as the minimum grows:
each unknown is one root, found by bracketing. ``scipy.optimize`` has the same and takes a quarter of a second to
import, which is as long as the rest of the start of a command.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import ClassVar, Protocol, TypeVar

from mayfly.errors import MayflyError

MAX_PACKETS = 10_000_000
"""Largest size of a law, in packets: the table of a discrete law then takes 80 MB."""

FLATTEST, STEEPEST = -1, 1000
"""Exponents of a power law: the uniform law, and one that is all but deterministic."""


class Bounded(Protocol):
    """What is solved for: a power law between two sizes, :class:`mayfly.laws.sizes.PowerLaw`."""

    whole: ClassVar[bool]
    """Whether the sizes are whole packets."""

    def __init__(self, minimum: float, maximum: float, exponent: float) -> None: ...

    def mean(self) -> float:
        """Mean size, packets."""

    def cov(self) -> float:
        """Coefficient of variation."""


L = TypeVar("L", bound=Bounded)

TOLERANCE = 0.005
"""Relative difference within which a CoV or a mean counts as the one asked for; they are quoted to three digits."""

NEAREST = 1.0011
"""Mean over minimum, and maximum over mean, at least, where the minimum is solved for: nearer takes a steeper law."""


def solve(
    law: type[L],
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    mean: float | None = None,
    cov: float | None = None,
) -> L:
    """Find the law of those values; :meth:`mayfly.laws.sizes.PowerLaw.solve` documents them.

    Examples
    --------
    >>> from mayfly.laws.sizes import BoundedZipf
    >>> solve(BoundedZipf, maximum=6849, mean=40, cov=4.84).minimum
    6
    """
    given = {"minimum": minimum, "maximum": maximum, "mean": mean, "cov": cov}
    check_given({name: value for name, value in given.items() if value is not None})
    # Of four values three are given.
    if minimum is None:
        assert maximum is not None and mean is not None and cov is not None
        return solve_minimum(law, maximum, mean, cov)
    if maximum is None:
        assert mean is not None and cov is not None
        return solve_maximum(law, minimum, mean, cov)
    if mean is None:
        assert cov is not None
        return solve_exponent(law, minimum, maximum, cov)
    found = with_mean(law, minimum, maximum, mean)
    if cov is not None and abs(found.cov() / cov - 1) > TOLERANCE:
        place = f"at minimum {minimum}, maximum {maximum}, mean {mean}"
        raise MayflyError(f"cov = {cov}: {place} the coefficient of variation is {found.cov():.3g}")
    return found


def check_given(given: dict[str, float]) -> None:
    """Refuse fewer than three values, values that are no sizes, and sizes out of order."""
    if len(given) < 3:
        raise MayflyError(f"given {', '.join(given) or 'nothing'}: must be three of minimum, maximum, mean, cov")
    for name, value in given.items():
        if not 0 < value < math.inf:
            raise MayflyError(f"{name} = {value}: must be above 0 and finite")
    sizes = [(name, given[name]) for name in ("minimum", "mean", "maximum") if name in given]
    for (small, low), (large, high) in pairwise(sizes):
        if low >= high:
            raise MayflyError(f"{large} = {high}: must be above {small} = {low}")
    if given.get("maximum", 0) > MAX_PACKETS:
        raise MayflyError(f"maximum = {given['maximum']}: must be at most {MAX_PACKETS} packets")


def with_mean(law: type[L], minimum: float, maximum: float, mean: float) -> L:
    """Find the law of that mean; the mean falls as the exponent grows."""
    steepest, flattest = law(minimum, maximum, STEEPEST), law(minimum, maximum, FLATTEST)
    low, high = steepest.mean(), flattest.mean()
    if not low <= mean <= high * (1 + 1e-12):
        raise MayflyError(
            f"mean = {mean}: at minimum {minimum}, maximum {maximum} must be from {low:.6g} to {high:.6g}"
        )
    if mean >= high:
        return flattest
    exponent = root(lambda a: law(minimum, maximum, a).mean() - mean, FLATTEST, STEEPEST, 1e-13)
    return law(minimum, maximum, exponent)


def solve_exponent(law: type[L], minimum: float, maximum: float, cov: float) -> L:
    """Find the law of that CoV, which grows with the exponent, then falls: the flatter one where two have it."""
    from scipy.optimize import minimize_scalar

    def excess(exponent: float) -> float:
        return law(minimum, maximum, exponent).cov() - cov

    peak = minimize_scalar(lambda a: -excess(a), bounds=(FLATTEST, 10), method="bounded", options={"xatol": 1e-10}).x
    if excess(peak) < -1e-9 * cov:
        most = excess(peak) + cov
        raise MayflyError(f"cov = {cov}: at minimum {minimum}, maximum {maximum} must be at most {most:.6g}")
    if excess(peak) <= 0:
        return law(minimum, maximum, peak)
    if excess(FLATTEST) <= 0:
        return law(minimum, maximum, root(excess, FLATTEST, peak, 1e-13))
    if excess(STEEPEST) > 0:
        least = excess(STEEPEST) + cov
        raise MayflyError(f"cov = {cov}: at minimum {minimum}, maximum {maximum} must be at least {least:.6g}")
    return law(minimum, maximum, root(excess, peak, STEEPEST, 1e-13))


def solve_maximum(law: type[L], minimum: float, mean: float, cov: float) -> L:
    """Find the law of that minimum, mean and CoV; the CoV grows with the maximum, from the uniform law's."""

    def excess(maximum: float) -> float:
        return with_mean(law, minimum, maximum, mean).cov() - cov

    low, high = 2 * mean - minimum, MAX_PACKETS
    if law.whole:
        low = math.ceil(low)
    if high <= low:
        raise MayflyError(f"mean = {mean}: at minimum {minimum} must be below {(minimum + high) / 2:.6g}")
    if not excess(low) <= 1e-9 * cov <= excess(high) + 2e-9 * cov:
        least, most = excess(low) + cov, excess(high) + cov
        raise MayflyError(f"cov = {cov}: at minimum {minimum}, mean {mean} must be from {least:.6g} to {most:.6g}")
    return with_mean(law, minimum, crossing(law, excess, low, high, 1e-12 * cov), mean)


def solve_minimum(law: type[L], maximum: float, mean: float, cov: float) -> L:
    """Find the law of that maximum, mean and CoV; the CoV falls as the minimum grows."""

    def lack(minimum: float) -> float:
        return cov - with_mean(law, minimum, maximum, mean).cov()

    # Nearer to the mean the steepest exponent does not reach; below, the law would rise with the size.
    low, high = max(2 * mean - maximum, mean * 1e-6), mean / NEAREST
    if law.whole:
        low, high = max(math.ceil(low), 1), math.floor(high)
    if high < low:
        least, most = (NEAREST if law.whole else 0), maximum / NEAREST
        raise MayflyError(f"mean = {mean}: at maximum {maximum} must be from {least:.6g} to {most:.6g}")
    if not lack(low) <= TOLERANCE * cov or not lack(high) >= -TOLERANCE * cov:
        least, most = cov - lack(high), cov - lack(low)
        raise MayflyError(f"cov = {cov}: at maximum {maximum}, mean {mean} must be from {least:.6g} to {most:.6g}")
    minimum = crossing(law, lack, low, high, 0.0)
    if law.whole:
        minimum = min((m for m in (minimum - 1, minimum) if m >= low), key=lambda m: abs(lack(m)))
        if abs(lack(minimum)) > TOLERANCE * cov:
            found = f"minimum {minimum} gives {cov - lack(minimum):.6g}"
            raise MayflyError(f"cov = {cov}: at maximum {maximum}, mean {mean} the nearest, {found}")
    return with_mean(law, minimum, maximum, mean)


def crossing(law: type[L], rising: Callable[[float], float], low: float, high: float, slack: float) -> float:
    """Where ``rising`` reaches 0; for a discrete law the first whole number at which it is within ``slack`` of it."""
    if not law.whole:
        if rising(low) >= 0 or rising(high) <= 0:
            return low if rising(low) >= 0 else high
        # exp(log(high)) may exceed high by a rounding.
        at = root(lambda x: rising(min(math.exp(x), high)), math.log(low), math.log(high), 1e-14)
        return min(math.exp(at), high)
    while low < high:
        middle = (low + high) // 2
        if rising(middle) >= -slack:
            high = middle
        else:
            low = middle + 1
    return low


MOST = 200
"""Steps at most; halving alone takes about 60."""


def root(function: Callable[[float], float], low: float, high: float, within: float) -> float:
    """Where a continuous function is 0, by inverse quadratic interpolation and bisection (Chandrupatla 1997).

    Parameters
    ----------
    function : callable
        Of opposite signs, or 0, at the two ends.
    low, high : float
        Ends of the interval.
    within : float
        Width of the interval at which to stop, or four roundings of the root where that is more.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        The function has one sign at both ends.

    Examples
    --------
    >>> round(root(lambda x: x**3 - 2, 0, 2, 1e-12), 12)
    1.259921049895
    """
    new, other = float(low), float(high)
    at_new, at_other = function(new), function(other)
    if at_new * at_other > 0:
        raise ValueError(f"no change of sign between {low} and {high}")
    share = 0.5
    for _ in range(MOST):
        if not at_new or not at_other:
            break
        x = new + share * (other - new)
        value = function(x)
        if value * at_new > 0:
            old, at_old = new, at_new
        else:
            old, at_old, other, at_other = other, at_other, new, at_new
        new, at_new = x, value
        least = (within / 2 + 2 * abs(new) * 2.0**-52) / abs(other - new)
        if least > 0.5:
            break
        share = min(max(_share(new, other, old, at_new, at_other, at_old), least), 1 - least)
    return new if abs(at_new) < abs(at_other) else other


def _share(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float:
    """Where to look next on the way from a to b: at the root of the parabola through all three where that is safe."""
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not (phi * phi < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    first = at_a / (at_b - at_a) * at_c / (at_b - at_c)
    return first + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
