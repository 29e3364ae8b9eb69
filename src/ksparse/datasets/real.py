"""Loaders of real data sets from the folder that the environment variable KSPARSE_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from .._types import AnyArray, Array, Matrix

__all__ = ["RealData", "StockData", "load_feature_names", "load_real", "load_stocks", "weight_terms"]

REAL_DATA = {
    "golub": "gene_expression/golub_leukemia_72x7129.npz",
    "colon": "gene_expression/alon_colon_62x2000.npz",
    "prostate": "gene_expression/singh2002_prostate_102x6033.npz",
    "reuters": "text/reuters21578_corporate.npz",
    "rcv1": "text/rcv1_binary_subsets.npz",
    "hess": "hess_mda133/mda133_top1400.npz",
}
#: Keys of the feature names in the files.
FEATURE_NAME_KEYS = {"golub": "features", "reuters": "vocab", "hess": "probe_id"}
STOCKS = "graphical/sp500_stockdata_1258x452.npz"


class RealData(NamedTuple):
    """Features and labels of a real data set; X is a sparse matrix for texts."""

    X: Matrix
    y: AnyArray


class StockData(NamedTuple):
    """Daily log-returns of stocks, one column per stock, with their tickers and sectors."""

    returns: Array
    tickers: AnyArray
    sectors: AnyArray


def load_real(name: str) -> RealData:
    """Load a real data set from the folder that KSPARSE_DATA names.

    "golub" (leukemia), "colon" and "prostate" are gene expressions; so is "hess" (breast cancer; Hess et al., Journal
    of Clinical Oncology 2006), as log₂(expression + 1), where y = 1 is a pathologic complete response to chemotherapy.
    Its 1400 probes were preselected with all labels, which makes accuracies mildly optimistic. "reuters" (counts of
    terms) and "rcv1" (weights of terms) are sparse texts. The data are not part of the package.

    Parameters
    ----------
    name : {"golub", "colon", "prostate", "reuters", "rcv1", "hess"}
        The data set.

    Examples
    --------
    >>> from ksparse.datasets import load_real
    >>> X, y = load_real("golub")  # doctest: +SKIP
    """
    with _open(name) as arrays:
        if "mbei" in arrays:
            return RealData(np.log2(arrays["mbei"] + 1.0), arrays["y"])
        if "indptr" not in arrays:
            return RealData(arrays["X"].astype(np.float64), arrays["y"])
        values = arrays["tf"] if "tf" in arrays else arrays["val_micro"] / 1e6
        parts = values.astype(np.float64), arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int32)
        return RealData(sparse.csr_array(parts, shape=tuple(arrays["shape"])), arrays["y"])


def load_feature_names(name: str) -> AnyArray:
    """Load the names of the features of a real data set: genes of "golub", probes of "hess", terms of "reuters".

    Parameters
    ----------
    name : {"golub", "reuters", "hess"}
        The data set, as in `load_real`.

    Examples
    --------
    >>> from ksparse.datasets import load_feature_names
    >>> load_feature_names("hess")[:2]  # doctest: +SKIP
    array(['214164_x_at', '210147_at'], dtype='<U11')
    """
    if name not in FEATURE_NAME_KEYS:
        raise ValueError(f"{name} has no feature names; data sets that have them: {', '.join(FEATURE_NAME_KEYS)}")
    with _open(name) as arrays:
        return arrays[FEATURE_NAME_KEYS[name]]


def load_stocks() -> StockData:
    """Load the daily log-returns of 452 stocks of the S&P 500 from the folder that KSPARSE_DATA names.

    Logarithms of the ratios of the closing prices of successive days, 1257 rows from 2003 to the beginning of 2008. The
    prices are not adjusted for splits, which cause outliers. The data are not part of the package.

    Examples
    --------
    >>> from ksparse.datasets import load_stocks
    >>> returns, tickers, sectors = load_stocks()  # doctest: +SKIP
    """
    with _open("the S&P 500") as arrays:
        return StockData(np.diff(np.log(arrays["X"]), axis=0), arrays["ticker"], arrays["sector"])


def _open(name: str) -> Any:
    """The arrays of a data set."""
    files = {**REAL_DATA, "the S&P 500": STOCKS}
    if name not in files:
        raise ValueError(f"name must be one of {', '.join(map(repr, REAL_DATA))}, got {name!r}")
    path = Path(os.environ.get("KSPARSE_DATA", ""), files[name])
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; {name} is not part of the package: "
            f"set the environment variable KSPARSE_DATA to a folder that contains {files[name]}"
        )
    return np.load(path, allow_pickle=False)


def weight_terms(train: Matrix, *others: Matrix) -> list[Matrix]:
    """Counts of terms as (1 + log count)·log(n/number of documents with it), rows of unit length.

    Numbers of documents are counted in the first matrix, also for the weights of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> counts = csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0]]))
    >>> weight_terms(counts)[0].toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    documents = np.maximum((train != 0).sum(axis=0), 1)
    rarity = np.log(train.shape[0] / documents)
    weighted = []
    for counts in (train, *others):
        rows = counts.tocsr(copy=True)
        rows.data = (1.0 + np.log(rows.data)) * rarity[rows.indices]
        weighted.append(normalize(rows, copy=False))
    return weighted
