"""What a saved model is made of."""

from __future__ import annotations

from ..estimators import (
    SparseHuberRegression,
    SparseLinearModel,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
)

FORMAT = "ksparse-model"
VERSION = 1
#: A file may describe so many coefficients at most, zeros included: 800 MB as an array.
LARGEST = 100_000_000

CLASSES: dict[str, type[SparseLinearModel]] = {
    kind.__name__: kind
    for kind in (SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegression, SparseHuberRegression)
}
#: Types of labels and the NumPy types in which they may be kept.
LABELS: dict[type, tuple[str, ...]] = {
    bool: ("bool",),
    int: ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    float: ("float16", "float32", "float64"),
    str: ("str", "object"),
}
FIELDS = {"format", "version", "ksparse_version", "class", "parameters", "n_features", "feature_names"}
FIELDS |= {"selected", "indices", "values", "intercept", "about"}
