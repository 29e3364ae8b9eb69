"""`as_design`: from what a user passes as X to a `Design`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..validation import refuse_dates
from .base import Design
from .dense import DenseDesign
from .sparse import SparseDesign

__all__ = ["as_design"]


@singledispatch
def as_design(X: Any, name: str = "a design") -> Design:
    """X as a `Design`; a new kind of storage registers itself with ``as_design.register``.

    Parameters
    ----------
    X : array-like, sparse matrix or Design, of shape (n, p)
        Dense float64 and float32 arrays are used as they are, in any memory order; sparse data is converted to CSC.
        NaN and infinity are found later, by the first pass over the data.
    name : str
        Who asks, for error messages.

    Returns
    -------
    Design
        The data, not copied where that is possible.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.designs import as_design
    >>> as_design(np.eye(3)).gram(np.array([0, 2]), np.ones(3))
    array([[1., 0.],
           [0., 1.]])
    """
    if type(X) is np.ndarray and X.dtype in (np.float64, np.float32) and X.ndim == 2 and X.size:
        return DenseDesign(X)  # as it is after the checks below, which take longer than small fits
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X has shape {shape}; expected (n, p). One feature is X.reshape(-1, 1)")
    refuse_dates(X, "X")
    checked = check_array(
        X,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        order=None,
        copy=False,
        ensure_all_finite=False,
        input_name="X",
        estimator=name,
        ensure_min_features=0,
    )
    if not sparse.issparse(checked):
        return DenseDesign(checked)
    if not checked.has_canonical_format:
        # What was converted to CSC is ours already.
        checked = checked.copy() if sparse.issparse(X) and X.format == "csc" else checked
        checked.sum_duplicates()
    return SparseDesign(checked)


@as_design.register
def _(X: Design, name: str = "a design") -> Design:  # noqa: ARG001 - one signature for all kinds
    return X
