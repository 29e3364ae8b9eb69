"""Types used throughout: the iterate is a float64 array, a support is a boolean mask of its shape."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyArray", "Array", "IntArray", "Mask", "Matrix"]

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
Matrix: TypeAlias = Any  # a dense array or a SciPy CSC matrix; SciPy's sparse types are not generic yet
