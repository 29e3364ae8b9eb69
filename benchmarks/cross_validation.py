"""Time of choosing k by cross-validation, compared with choosing an L1 penalty, on the same data and one thread.

    python benchmarks/cross_validation.py [--repeats 3]

`SparseLogisticRegressionCV` with 20 values of k, and scikit-learn's `LogisticRegressionCV` with 20 L1 penalties (its
default grid, solver liblinear), both with the same 5 folds, scored by the log loss, after a warm-up. The data are
simulated or scikit-learn's breast cancer data; with KSPARSE_DATA set, real gene expressions too.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from ksparse import SparseLogisticRegressionCV
from ksparse.datasets import load_real, make_logistic

FOLDS = StratifiedKFold(5)


def make_ksparse() -> Any:
    return SparseLogisticRegressionCV(ks=range(1, 21), cv=FOLDS, alpha=1e-3)


def make_l1() -> Any:
    return LogisticRegressionCV(
        Cs=20, cv=FOLDS, l1_ratios=(1.0,), solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False
    )


def load_tables() -> Iterator[tuple[str, Any, Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", scale(X), y
    for n, p in ((500, 1000), (2000, 2000)):
        X, y, _ = make_logistic(n, p, 20)
        yield f"simulated {n} x {p}", X, y
    if "KSPARSE_DATA" in os.environ:
        for name in ("golub", "colon", "prostate"):
            X, y = load_real(name)
            yield name, scale(X), y


def time_fit(make: Callable[[], Any], X: Any, y: Any, repeats: int) -> tuple[float, Any]:
    """Return the median seconds of repeated fits after a warm-up, and the last model."""
    model = make().fit(X, y)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        model = make().fit(X, y)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), model


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Cross-validation over k and over an L1 penalty")
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args(arguments).repeats
    warnings.simplefilter("ignore")
    print(f"{'data':22s} {'seconds':>8s} {'L1':>8s} {'ratio':>6s} {'features':>9s} {'L1':>5s}")
    for name, X, y in load_tables():
        seconds, model = time_fit(make_ksparse, X, y, repeats)
        l1_seconds, l1_model = time_fit(make_l1, X, y, repeats)
        print(
            f"{name:22s} {seconds:8.3f} {l1_seconds:8.3f} {l1_seconds / seconds:6.1f}"
            f" {model.k_:9d} {np.count_nonzero(l1_model.coef_):5d}",
            flush=True,
        )


if __name__ == "__main__":
    main()
