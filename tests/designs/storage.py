"""One X in every form, and every way in which products between columns are computed for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ksparse._types import Array
from ksparse.designs import dense
from ksparse.designs import sparse as sparse_designs

N, P = 61, 30
#: Columns with nearly all entries, and columns with few.
FULL, THIN = np.arange(0, 15), np.arange(15, 30)

FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csc_array,
    "sparse float32": lambda X: sparse.csc_array(X.astype(np.float32)),
}

#: Each form with what decides how its columns are multiplied: dense candidates are gathered, or multiplied by passes
#: over X (in float64 only); sparse columns become a dense block if they are few or full, or stay sparse.
STORAGES: list[tuple[str, str]] = [
    *((form, "gathered") for form in ("C order", "Fortran order", "float32")),
    *((form, "by passes") for form in ("C order", "Fortran order")),
    *((form, way) for form in ("sparse", "sparse float32") for way in ("small blocks", "by density", "all sparse")),
]


def set_storage(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Make designs multiply columns in a given way, whatever their size."""
    if way == "by passes":
        monkeypatch.setattr(dense, "MAX_CACHED_BATCH", 0)
        monkeypatch.setattr(dense, "GATHER_COST", 10**9)
    if way in ("by density", "all sparse"):
        monkeypatch.setattr(sparse_designs, "SMALL_BLOCK", 0)
    if way == "all sparse":
        monkeypatch.setattr(sparse_designs, "DENSE_FRACTION", 1.0)


def values() -> Array:
    """Columns of two densities, of any means; the last rows are nearly empty."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) + rng.standard_normal(P)
    X[:, THIN] *= rng.random((N, THIN.size)) < 0.1
    X[-5:, 5:] = 0.0
    return X
