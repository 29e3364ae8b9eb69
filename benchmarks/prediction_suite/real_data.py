"""Random splits of real data, scaled or weighted by the training part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from ksparse.datasets import load_real, weight_terms

__all__ = ["REGRESSION", "SPLITS", "Split", "find_missing", "load_data", "split_data"]

#: Numbers of splits; fewer of the texts, where a fit takes much longer.
SPLITS = {
    "golub": 20,
    "colon": 20,
    "prostate": 20,
    "bladderbatch": 20,
    "hess": 20,
    "riboflavin": 20,
    "reuters": 5,
}
REGRESSION = ("riboflavin",)
#: Files of the data folder that `load_real` does not read.
FILES = {
    "bladderbatch": "gene_expression/bladderbatch_57x22283_u133a.npz",
    "riboflavin": "graphical/riboflavin_71x4088.npz",
}
TEST_FRACTION, SEED = 0.25, 0


class Split(NamedTuple):
    """Training and test parts; y is True for the positive class, or the response of a regression."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def find_missing() -> str:
    """Return what to do if there is no data folder; empty if there is one."""
    folder = os.environ.get("KSPARSE_DATA", "")
    return "" if folder and Path(folder).is_dir() else "set KSPARSE_DATA to the folder with the real data"


def load_data(name: str) -> tuple[Any, Any]:
    """Return X, and y as True for the positive class or as the response."""
    if name not in FILES:
        X, y = load_real(name)
        return X, y == y.max()
    with np.load(Path(os.environ["KSPARSE_DATA"], FILES[name]), allow_pickle=False) as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"]
    return X, (y.astype(np.float64) if name in REGRESSION else y == y.max())


def split_data(name: str, X: Any, y: Any, number: int) -> Split:
    """Return a split, which depends on its number only."""
    kind = ShuffleSplit if name in REGRESSION else StratifiedShuffleSplit
    train, test = next(kind(1, test_size=TEST_FRACTION, random_state=SEED + number).split(X, y))
    if isinstance(X, np.ndarray):
        scaler = StandardScaler().fit(X[train])
        return Split(scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test])
    weighted = weight_terms(X[train], X[test])
    return Split(weighted[0], y[train], weighted[1], y[test])
