"""When a number of ours is that of a paper: factors, and bands that are too wide to tell."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

RowDocument = Mapping[str, Any]
"""A row as ``summary.json`` has it, with ``printed``, ``ours``, ``one_run``, ``claimed``, ``verdict``."""

WIDE = 2.0
"""Ends of a band further apart than this factor hold almost any number: being inside is no agreement."""

NEAR = 1.25
"""A number off by at most this factor is reproduced, whatever the band."""

FAR = 3.0
"""A factor beyond which a direction that holds is shown together with how far off the number is."""


def factor_between(ours: float, printed: float) -> float | None:
    """How far apart two numbers are, the larger over the smaller.

    Parameters
    ----------
    ours, printed : float
        In one unit.

    Returns
    -------
    float or None
        At least 1, infinite where ours is 0 or has the other sign; None where the printed number is not above 0.

    Examples
    --------
    >>> factor_between(2.0, 4.0), factor_between(4.0, 2.0), factor_between(0.0, 1.0), factor_between(1.0, 0.0)
    (2.0, 2.0, inf, None)
    """
    if printed <= 0:
        return None
    if ours <= 0:
        return math.inf
    return max(ours / printed, printed / ours)


def narrow(band: Sequence[float]) -> bool:
    """Whether the ends of a band are within a factor of `WIDE` of each other.

    Examples
    --------
    >>> [narrow(band) for band in ((1.0, 2.0), (1.0, 2.1), (-2.0, -1.5), (-0.1, 0.1), (0.0, 0.0))]
    [True, False, True, False, True]
    """
    low, high = band
    if low == high:
        return True
    small, large = sorted((abs(low), abs(high)))
    return low * high > 0 and large <= WIDE * small


def factor_of(row: RowDocument) -> float | None:
    """How far ours is from the print; null where nothing above 0 is printed."""
    return None if row["printed"] is None else factor_between(row["ours"], row["printed"])


def reproduced(row: RowDocument) -> bool:
    """Whether the printed number is ours: within the band of single runs where this is narrow, or within `NEAR`.

    Examples
    --------
    >>> row = {"printed": 1.2, "ours": 1.0, "one_run": (0.3, 3.0)}
    >>> reproduced(row), reproduced(row | {"printed": 2.0}), reproduced({"printed": 0.0, "ours": 0.0, "one_run": None})
    (True, False, True)
    """
    printed, band = row["printed"], row["one_run"]
    if printed is None:
        return False
    if band is not None and narrow(band) and band[0] <= printed <= band[1]:
        return True
    factor = factor_of(row)
    return factor <= NEAR if factor is not None else row["ours"] == printed
