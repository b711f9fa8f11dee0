"""Names of the arrays that signatures take and give.

A running program does not need them: numpy is imported for the type checker alone, so that a
module with these names in its signatures costs nothing at start-up.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.integer]
    """Of any width: what numpy counts and indexes with has the width of the machine."""
    Booleans: TypeAlias = NDArray[np.bool_]
    Numbers: TypeAlias = Floats | Integers
else:
    Floats = Integers = Booleans = Numbers = object
