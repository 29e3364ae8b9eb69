"""Discriminant analysis of the paper's breast cancers (Table 1), with and without shrinkage.

    KSPARSE_DATA=… python benchmarks/discriminant_shrinkage.py [--splits 0 20] [--rule near] [--scoring neg_log_loss]

The splits, genes, numbers of edges and folds are those of `reproduction/experiments/breast_cancer.py`: 21 of 133
subjects are the test set, 113 genes are selected by a t-test on the others, and six folds choose the number of edges
and the shrinkage by the likelihood of held-out subjects, or by --scoring, with the default rule or --rule. Means over
the splits with their standard errors; the last column is the mean difference of Matthews' correlation coefficient to
that without shrinkage.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ksparse import SparseDiscriminantAnalysisCV

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reproduction.data import load_hess
from reproduction.experiments.breast_cancer import BreastCancerSettings, make_split, score

Array = NDArray[np.float64]

METHODS: dict[str, dict[str, Any]] = {
    "no shrinkage": {"shrinkages": 0.0},
    "by a factor": {"shrink_by": "factor"},
    "by an amount": {"shrink_by": "amount"},
}
COLUMNS = ("specificity", "sensitivity", "mcc", "edges", "shrinkage", "seconds")


def measure(seed: int, scoring: str | None, rule: str) -> dict[str, list[float]]:
    """How each method classifies the test subjects of a split, by its name."""
    settings, data = BreastCancerSettings(), load_hess()
    split = make_split(data.X, data.y, settings, seed)
    folds = StratifiedKFold(settings.folds, shuffle=True, random_state=seed)
    rows = {}
    for name, options in METHODS.items():
        start = time.perf_counter()
        ks = settings.ks(settings.genes)
        model = SparseDiscriminantAnalysisCV(ks=ks, cv=folds, scoring=scoring, rule=rule, **options)
        model.fit(split.X, split.y)
        seconds = time.perf_counter() - start
        measured = score(split.y_test, model.predict(split.X_test))
        measured |= {"edges": model.k_, "shrinkage": model.shrinkage_, "seconds": seconds}
        rows[name] = [float(measured[column]) for column in COLUMNS]
    return rows


def standard_error(values: Array) -> float:
    return float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Discriminant analysis with and without shrinkage")
    parser.add_argument(
        "--splits", type=int, nargs=2, default=[0, 20], help="the first split, and the one after the last"
    )
    parser.add_argument("--scoring", help="choose by this scorer of scikit-learn, not by the likelihood")
    parser.add_argument("--rule", default=SparseDiscriminantAnalysisCV.rule, help="how the scores decide")
    options = parser.parse_args(arguments)
    runs = [measure(seed, options.scoring, options.rule) for seed in range(*options.splits)]
    results = {name: np.array([run[name] for run in runs]) for name in METHODS}
    print(f"{'method':14s}", *(f"{column:>14s}" for column in COLUMNS), f"{'mcc - without':>18s}")
    for name, table in results.items():
        cells = [f"{column.mean():6.3f} ± {standard_error(column):5.3f}" for column in table.T]
        gain = table[:, 2] - results["no shrinkage"][:, 2]
        print(f"{name:14s}", *(f"{cell:>14s}" for cell in cells), f"{gain.mean():+9.3f} ± {standard_error(gain):.3f}")


if __name__ == "__main__":
    main()
