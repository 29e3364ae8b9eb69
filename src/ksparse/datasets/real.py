"""Real data, where a folder of it is at hand: the environment variable KSPARSE_DATA names it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..typing import AnyArray, Matrix

__all__ = ["REAL_DATA", "RealData", "load_real", "term_weights"]

REAL_DATA = {
    "golub": "gene_expression/golub_leukemia_72x7129.npz",
    "colon": "gene_expression/alon_colon_62x2000.npz",
    "prostate": "gene_expression/singh2002_prostate_102x6033.npz",
    "reuters": "text/reuters21578_corporate.npz",
    "rcv1": "text/rcv1_binary_subsets.npz",
}


class RealData(NamedTuple):
    """Features and labels of a real data set; X is a sparse matrix for texts."""

    X: Matrix
    y: AnyArray


def load_real(name: str) -> RealData:
    """Load a real data set from the folder that KSPARSE_DATA names.

    "golub" (leukemia), "colon" and "prostate" are gene expressions, of which rows are samples; "reuters" (counts of
    terms) and "rcv1" (weights of terms) are sparse texts. They are not part of the package.

    Parameters
    ----------
    name : {"golub", "colon", "prostate", "reuters", "rcv1"}
        Which one.

    Returns
    -------
    RealData
        X and y.

    Raises
    ------
    FileNotFoundError
        If the folder or the file is not there; the message says what to do.

    Examples
    --------
    >>> from ksparse.datasets import load_real
    >>> X, y = load_real("golub")  # doctest: +SKIP
    """
    if name not in REAL_DATA:
        raise ValueError(f"name must be one of {', '.join(map(repr, REAL_DATA))}, got {name!r}")
    folder = os.environ.get("KSPARSE_DATA")
    if not folder:
        raise FileNotFoundError(
            f"{name} is not part of the package; set the environment variable KSPARSE_DATA to a folder that has "
            f"{REAL_DATA[name]}"
        )
    path = Path(folder) / REAL_DATA[name]
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; KSPARSE_DATA must name a folder that has {REAL_DATA[name]}")
    with np.load(path, allow_pickle=False) as arrays:
        if "indptr" not in arrays:
            return RealData(arrays["X"].astype(np.float64), arrays["y"])
        values = arrays["tf"] if "tf" in arrays else arrays["val_micro"] / 1e6
        parts = values.astype(np.float64), arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int32)
        return RealData(sparse.csr_array(parts, shape=tuple(arrays["shape"])), arrays["y"])


def term_weights(train: Matrix, *others: Matrix) -> list[Matrix]:
    """Counts of terms as (1 + log count)·log(n/number of documents with it), rows of unit length.

    The numbers of documents are those of the first matrix; the weights of the others follow from them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> counts = csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0]]))
    >>> term_weights(counts)[0].toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    documents = np.maximum(train.count_nonzero(axis=0), 1)
    rarity = np.log(train.shape[0] / documents)
    weighted = []
    for counts in (train, *others):
        rows = counts.tocsr(copy=True)
        rows.data = (1.0 + np.log(rows.data)) * rarity[rows.indices]
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
        weighted.append(rows)
    return weighted
