"""Accuracy on held-out samples at the same number of features: ksparse beside an L1 penalty, on real data.

    KSPARSE_DATA=... python benchmarks/held_out.py [--splits 20] [--data golub colon prostate reuters]

Stratified random splits (two thirds of the gene expressions for training, half of the texts); genes are standardized,
terms weighted, on the training part. The L1 penalty of a logistic regression is bisected until k coefficients are left,
and these are refitted: with the same ridge that ksparse has, and without any. On a few dozen samples of thousands of
genes any search for a small training error overfits; as `docs/estimators.md` says, ksparse then selects under a strong
ridge, and refits under a weak one.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from suite.bisection import liblinear_l1

from ksparse import SparseLogisticRegression
from ksparse.datasets import load_real, term_weights

#: For each kind of data: share for training, numbers of features, ridge while selecting and ridge of the model.
GENES = (2 / 3, (5, 10, 20), 1.0, 0.03)
TEXTS = (1 / 2, (50, 100, 200), 3e-5, 3e-5)
SETTINGS = {"golub": GENES, "colon": GENES, "prostate": GENES, "reuters": TEXTS}


@dataclass(frozen=True)
class Split:
    """One split at one k: accuracies, and seconds of ksparse and of the L1 path."""

    ours: float
    same_ridge: float
    no_ridge: float
    our_seconds: float
    l1_seconds: float


def parts(name: str, splits: int, seed: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Training and test part of each split, scaled or weighted by the training part."""
    X, y = load_real(name)
    shuffle = StratifiedShuffleSplit(n_splits=splits, train_size=SETTINGS[name][0], random_state=seed)
    for train, test in shuffle.split(X, y):
        if isinstance(X, np.ndarray):
            scaler = StandardScaler().fit(X[train])
            yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
        else:
            weighted = term_weights(X[train], X[test])
            yield weighted[0], y[train], weighted[1], y[test]


def ksparse_model(k: int, selecting: float, fitting: float) -> Any:
    model = SparseLogisticRegression(k, alpha=fitting)
    return model if selecting == fitting else make_pipeline(SparseLogisticRegression(k, alpha=selecting), model)


def l1_support(X: Any, y: Any, k: int) -> Any:
    """The features of the L1 path with k of them, or the next fewer."""
    # A large scale of the intercept's column leaves it nearly unpenalized, as it should be.
    return liblinear_l1(X, y, k, fit_intercept=True, intercept_scaling=1000.0, tol=1e-6)


def refitted_accuracy(train: Any, y: Any, test: Any, y_test: Any, support: Any, alpha: float) -> float:
    strength = 1.0 / (len(y) * alpha) if alpha else np.inf
    model = LogisticRegression(C=strength, tol=1e-8, max_iter=5000)
    return float(model.fit(train[:, support], y).score(test[:, support], y_test))


def compare(train: Any, y: Any, test: Any, y_test: Any, k: int, selecting: float, fitting: float) -> Split:
    began = time.perf_counter()
    ours = ksparse_model(k, selecting, fitting).fit(train, y)
    middle = time.perf_counter()
    support = l1_support(train, y, k)
    ended = time.perf_counter()
    return Split(
        ours=float(ours.score(test, y_test)),
        same_ridge=refitted_accuracy(train, y, test, y_test, support, fitting),
        no_ridge=refitted_accuracy(train, y, test, y_test, support, 0.0),
        our_seconds=middle - began,
        l1_seconds=ended - middle,
    )


def report(label: str, runs: list[Split]) -> None:
    ours, same, none = (np.array([getattr(run, name) for run in runs]) for name in ("ours", "same_ridge", "no_ridge"))
    error = np.std(ours - same, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
    seconds = np.median([[run.our_seconds, run.l1_seconds] for run in runs], axis=0)
    print(
        f"{label:22s} {100 * ours.mean():8.2f} {100 * same.mean():14.2f} {100 * none.mean():12.2f}"
        f" {100 * (ours - same).mean():+11.2f} ± {100 * error:.2f} {seconds[0]:9.3f} {seconds[1]:7.3f}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Held-out accuracy at the same number of features")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--data", nargs="+", choices=sorted(SETTINGS), default=list(SETTINGS))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(
        f"{'test accuracy, %':22s} {'ksparse':>8s} {'L1, same ridge':>14s} {'L1, no ridge':>12s}"
        f" {'ksparse - L1':>18s} {'seconds':>9s} {'L1':>7s}"
    )
    for name in options.data:
        _, ks, selecting, fitting = SETTINGS[name]
        runs: dict[int, list[Split]] = {k: [] for k in ks}
        for train, y, test, y_test in parts(name, options.splits, options.seed):
            for k in ks:
                runs[k].append(compare(train, y, test, y_test, k, selecting, fitting))
        for k in ks:
            report(f"{name}, k = {k}", runs[k])
        report(f"{name}, all k", [run for k in ks for run in runs[k]])


if __name__ == "__main__":
    main()
