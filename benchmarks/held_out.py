"""Held-out accuracy of ksparse and of an L1 penalty with the same number of features, on real data.

    KSPARSE_DATA=... python benchmarks/held_out.py [--splits 20] [--data golub colon prostate reuters]

Stratified random splits (two thirds of the gene expressions for training, half of the texts); genes are standardized
and terms weighted by the training part. The L1 penalty of a logistic regression is bisected to k features, which are
refitted with the same ridge as ksparse, and without ridge. With a few dozen samples and thousands of genes, minimizing
the training error overfits; as `docs/estimators.md` explains, ksparse then selects with a strong ridge and refits with
a weak one.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

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
from suite.bisection import select_l1

from ksparse import SparseLogisticRegression
from ksparse.datasets import load_real, weight_terms

#: Per kind of data: fraction for training, numbers of features, ridge of the selection and ridge of the final model.
GENES = (2 / 3, (5, 10, 20), 1.0, 0.03)
TEXTS = (1 / 2, (50, 100, 200), 3e-5, 3e-5)
SETTINGS = {"golub": GENES, "colon": GENES, "prostate": GENES, "reuters": TEXTS}


@dataclass(frozen=True)
class SplitResult:
    """Results of one split and one k: accuracies, and seconds of ksparse and of the L1 bisection."""

    ours: float
    same_ridge: float
    no_ridge: float
    our_seconds: float
    l1_seconds: float


def split_data(name: str, splits: int, seed: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield the training and test part of each split, scaled or weighted by the training part."""
    X, y = load_real(name)
    shuffle = StratifiedShuffleSplit(n_splits=splits, train_size=SETTINGS[name][0], random_state=seed)
    for train, test in shuffle.split(X, y):
        if isinstance(X, np.ndarray):
            scaler = StandardScaler().fit(X[train])
            yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
        else:
            weighted = weight_terms(X[train], X[test])
            yield weighted[0], y[train], weighted[1], y[test]


def make_refit_model(k: int, selection_alpha: float, alpha: float) -> Any:
    model = SparseLogisticRegression(k, alpha=alpha)
    return (
        model if selection_alpha == alpha else make_pipeline(SparseLogisticRegression(k, alpha=selection_alpha), model)
    )


def select_l1_with_intercept(X: Any, y: Any, k: int) -> Any:
    """Select at most k features by an L1 penalty."""
    # liblinear penalizes the intercept; a large intercept_scaling makes that negligible.
    return select_l1(X, y, k, fit_intercept=True, intercept_scaling=1000.0, tol=1e-6)


def score_refit(train: Any, y: Any, test: Any, y_test: Any, support: Any, alpha: float) -> float:
    strength = 1.0 / (len(y) * alpha) if alpha else np.inf
    model = LogisticRegression(C=strength, tol=1e-8, max_iter=5000)
    return float(model.fit(train[:, support], y).score(test[:, support], y_test))


def compare_split(
    train: Any, y: Any, test: Any, y_test: Any, k: int, selection_alpha: float, alpha: float
) -> SplitResult:
    start = time.perf_counter()
    ours = make_refit_model(k, selection_alpha, alpha).fit(train, y)
    middle = time.perf_counter()
    support = select_l1_with_intercept(train, y, k)
    end = time.perf_counter()
    return SplitResult(
        ours=float(ours.score(test, y_test)),
        same_ridge=score_refit(train, y, test, y_test, support, alpha),
        no_ridge=score_refit(train, y, test, y_test, support, 0.0),
        our_seconds=middle - start,
        l1_seconds=end - middle,
    )


def print_summary(label: str, runs: list[SplitResult]) -> None:
    ours, same, none = (np.array([getattr(run, name) for run in runs]) for name in ("ours", "same_ridge", "no_ridge"))
    error = np.std(ours - same, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
    seconds = np.median([[run.our_seconds, run.l1_seconds] for run in runs], axis=0)
    print(
        f"{label:22s} {100 * ours.mean():8.2f} {100 * same.mean():14.2f} {100 * none.mean():12.2f}"
        f" {100 * (ours - same).mean():+11.2f} ± {100 * error:.2f} {seconds[0]:9.3f} {seconds[1]:7.3f}",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Held-out accuracy with the same number of features")
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
        _, ks, selection_alpha, alpha = SETTINGS[name]
        runs: dict[int, list[SplitResult]] = {k: [] for k in ks}
        for train, y, test, y_test in split_data(name, options.splits, options.seed):
            for k in ks:
                runs[k].append(compare_split(train, y, test, y_test, k, selection_alpha, alpha))
        for k in ks:
            print_summary(f"{name}, k = {k}", runs[k])
        print_summary(f"{name}, all k", [run for k in ks for run in runs[k]])


if __name__ == "__main__":
    main()
