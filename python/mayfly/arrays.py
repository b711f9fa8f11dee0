"""Names of the arrays that signatures take and give, and functions of them that cost less at start-up than others.

A running program does not need the names: numpy is imported for the type checker alone, so that a
module with them in its signatures costs nothing at start-up.
"""

from typing import TYPE_CHECKING, Any, TypeVar

Array = TypeVar("Array")

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.integer]
    """Of any width: what numpy counts and indexes with has the width of the machine."""
    Booleans: TypeAlias = NDArray[np.bool_]
    Complexes: TypeAlias = NDArray[np.complexfloating]
    Numbers: TypeAlias = Floats | Integers
else:
    Floats = Integers = Booleans = Complexes = Numbers = object


def number(value: object) -> float:
    """A sum, mean or extreme of a column of numbers, which polars types as anything that a cell may hold.

    Examples
    --------
    >>> number(3)
    3
    """
    assert isinstance(value, int | float), value
    return value


def number_or_none(value: object) -> float | None:
    """The same of a column that may be empty: None then."""
    return None if value is None else number(value)


def distinct(values: Array) -> Array:
    """The values that differ, ascending.

    ``numpy.unique`` by itself asks for ``numpy.ma``, which takes 20 ms to import.
    """
    import numpy as np

    found: Any = np.unique(values, return_counts=True)[0]  # type: ignore[call-overload]
    return found  # type: ignore[no-any-return]


def quantiles(values: Floats, shares: "Floats | Sequence[float]") -> Floats:
    """Quantiles by linear interpolation, to the last digit those of ``numpy.quantile``.

    That one asks for ``numpy.ma``, too.

    Parameters
    ----------
    values : ndarray, shape (n,)
        At least one, none of which is NaN.
    shares : sequence of float, shape (m,)
        From 0 to 1.

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> quantiles(np.array([4.0, 1.0, 2.0]), (0.25, 1.0)).tolist()
    [1.5, 4.0]
    """
    import numpy as np

    places = (len(values) - 1) * np.asarray(shares, dtype=float)
    below = places.astype(np.int64)
    above = np.minimum(below + 1, len(values) - 1)
    ordered = np.partition(values, sorted({*below.tolist(), *above.tolist()}))
    low, high, part = ordered[below], ordered[above], places - below
    # From the nearer of both, so that a quantile never passes the other.
    found: Floats = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part))
    return found
