"""Names of the arrays that signatures take and give."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]
"""What arithmetic takes and a mean or a sum is asked of."""
