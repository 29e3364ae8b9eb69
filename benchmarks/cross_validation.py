"""Seconds of choosing k by cross-validation, beside choosing an L1 penalty, on the same data and one core.

    python benchmarks/cross_validation.py [--repeats 3]

`SparseLogisticRegressionCV` with 20 values of k, and scikit-learn's `LogisticRegressionCV` with 20 L1 penalties (as its
users run it: its own grid, liblinear), both with the same 5 folds, scored by the log loss, after a warm-up. Simulated
data and scikit-learn's breast cancer data are always there; with KSPARSE_DATA set, real gene expressions too.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
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


def ours() -> Any:
    return SparseLogisticRegressionCV(ks=range(1, 21), cv=FOLDS, alpha=1e-3)


def theirs() -> Any:
    return LogisticRegressionCV(
        Cs=20, cv=FOLDS, l1_ratios=(1.0,), solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False
    )


def data() -> Iterator[tuple[str, Any, Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", scale(X), y
    for n, p in ((500, 1000), (2000, 2000)):
        X, y, _ = make_logistic(n, p, 20)
        yield f"simulated {n} x {p}", X, y
    if "KSPARSE_DATA" in os.environ:
        for name in ("golub", "colon", "prostate"):
            X, y = load_real(name)
            yield name, scale(X), y


def timed(make: Callable[[], Any], X: Any, y: Any, repeats: int) -> tuple[float, Any]:
    """Median seconds of fits after a first one, and the last model."""
    model = make().fit(X, y)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        model = make().fit(X, y)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds)), model


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Cross-validation over k beside cross-validation over an L1 penalty")
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args(arguments).repeats
    warnings.simplefilter("ignore")
    print(f"{'data':22s} {'seconds':>8s} {'L1':>8s} {'ratio':>6s} {'features':>9s} {'L1':>5s}")
    for name, X, y in data():
        (our_seconds, our_model), (their_seconds, their_model) = (timed(make, X, y, repeats) for make in (ours, theirs))
        print(
            f"{name:22s} {our_seconds:8.3f} {their_seconds:8.3f} {their_seconds / our_seconds:6.1f}"
            f" {our_model.k_:9d} {np.count_nonzero(their_model.coef_):5d}",
            flush=True,
        )


if __name__ == "__main__":
    main()
