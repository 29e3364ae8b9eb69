"""Edges of a graph: their partial correlations, their names, and pairs that users name in parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._types import AnyArray, Array, Mask
from .feature_sets import find_columns

__all__ = ["compute_partial_correlations", "find_pairs", "list_edges", "list_named_pairs"]


def compute_partial_correlations(precision: Array) -> Array:
    """Partial correlations −Ω_ij/√(Ω_ii·Ω_jj) of a precision matrix, with ones on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators.edges import compute_partial_correlations
    >>> compute_partial_correlations(np.array([[4.0, -1.0], [-1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    scale = 1.0 / np.sqrt(precision.diagonal())
    partial: Array = 0.0 - precision * np.outer(scale, scale)  # not −0 where there is no edge
    np.fill_diagonal(partial, 1.0)
    return partial


def list_edges(precision: Array, names: AnyArray | None) -> AnyArray:
    """The edges of a precision matrix with their partial correlations, the strongest first."""
    partial = compute_partial_correlations(precision)
    edges = list_named_pairs(np.triu(precision, 1) != 0, names, {"partial_correlation": partial})
    return edges[np.argsort(-np.abs(edges["partial_correlation"]), kind="stable")]


def list_named_pairs(pairs: Mask, names: AnyArray | None, values: Mapping[str, Array]) -> AnyArray:
    """Pairs of a mask above the diagonal as records: the fields i and j, and the entries of some matrices.

    `i` and `j` are names where there are names, and otherwise indices.
    """
    rows, columns = np.nonzero(pairs)
    kind: Any = np.intp if names is None else object  # texts of a fixed length would cut or pad names
    fields = np.dtype([("i", kind), ("j", kind), *((name, np.float64) for name in values)])
    edges = np.empty(rows.size, dtype=fields)
    edges["i"], edges["j"] = (rows, columns) if names is None else (names[rows], names[columns])
    for name, matrix in values.items():
        edges[name] = matrix[rows, columns]
    return edges


def find_pairs(edges: Any, names: AnyArray | None, parameter: str) -> Any:
    """Pairs of names as pairs of indices; indices and masks unchanged."""
    if edges is None:
        return ()
    given = np.asarray(edges)
    if given.dtype.kind not in "OUS":
        return given
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(f'{parameter} must hold pairs such as [("a", "b")], got {edges!r}')
    return find_columns(given.ravel(), names, parameter).reshape(given.shape)
