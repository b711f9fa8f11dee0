"""Roots of functions of one number.

Principle: ``scipy.optimize`` has the same and takes a quarter of a second to import, which is as long as the rest of
the start of a command; laws of sizes are solved for in nearly all of them.
"""

from collections.abc import Callable

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
