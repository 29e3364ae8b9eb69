"""Time of choosing k and two ridges by cross-validation, beside choosing k alone and choosing an L1 penalty.

    python benchmarks/cross_validation.py [--repeats 3]

Classification: `SparseLogisticRegressionCV` by default, the same with 20 values of k, the same with a fixed ridge, and
scikit-learn's `LogisticRegressionCV` with 20 L1 penalties (its default grid, solver liblinear), all with 5 folds.
Regression with many samples: `SparseLinearRegressionCV` beside `LassoCV`, both by default. One thread, medians of
processor seconds after a warm-up. The data are simulated or scikit-learn's breast cancer data; with KSPARSE_DATA
set, real gene expressions too.
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
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from ksparse import SparseLinearRegressionCV, SparseLogisticRegressionCV
from ksparse.datasets import load_real, make_logistic

FOLDS = StratifiedKFold(5)
KS = range(1, 21)


def make_l1() -> Any:
    return LogisticRegressionCV(
        Cs=20, cv=FOLDS, l1_ratios=(1.0,), solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False
    )


#: What is compared, by column.
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "default": lambda: SparseLogisticRegressionCV(cv=FOLDS),
    "20 k": lambda: SparseLogisticRegressionCV(ks=KS, cv=FOLDS),
    "k only": lambda: SparseLogisticRegressionCV(ks=KS, cv=FOLDS, alphas=1e-3, refit_alphas=None, rule="best"),
    "L1": make_l1,
}
REGRESSORS: dict[str, Callable[[], Any]] = {"default": SparseLinearRegressionCV, "lasso": LassoCV}


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


def simulate_many_samples() -> Iterator[tuple[str, Any, Any]]:
    """Yield linear models with more samples than features: ten features with effects of 1, and noise of size 3."""
    rng = np.random.default_rng(0)
    for n, p in ((100_000, 100), (20_000, 1000)):
        X = rng.standard_normal((n, p))
        yield f"simulated {n} x {p}", X, X[:, :10].sum(axis=1) + 3 * rng.standard_normal(n)


def time_fit(make: Callable[[], Any], X: Any, y: Any, repeats: int) -> tuple[float, int]:
    """Return the median seconds of repeated fits after a warm-up, and the number of features of the last one."""
    seconds = []
    for _ in range(1 + repeats):
        start = time.process_time()
        model = make().fit(X, y)
        seconds.append(time.process_time() - start)
    return float(np.median(seconds[1:])), int(np.count_nonzero(model.coef_))


def print_table(methods: dict[str, Callable[[], Any]], tables: Iterator[tuple[str, Any, Any]], repeats: int) -> None:
    print(f"\n{'seconds (features)':24s}", *(f"{name:>15s}" for name in methods))
    for name, X, y in tables:
        cells = [time_fit(make, X, y, repeats) for make in methods.values()]
        print(f"{name:24s}", *(f"{seconds:9.3f} ({count:3d})" for seconds, count in cells), flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Cross-validation over k and ridges, and over an L1 penalty")
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args(arguments).repeats
    warnings.simplefilter("ignore")
    print_table(CLASSIFIERS, load_tables(), repeats)
    print_table(REGRESSORS, simulate_many_samples(), repeats)


if __name__ == "__main__":
    main()
