"""Names of the arrays that signatures take and give."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.integer]
"""Of any width: what numpy counts and places with has that of the machine."""
Booleans: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = Floats | Integers
