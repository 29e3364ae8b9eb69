"""How often the intervals of `model.summary()` cover: the numbers of docs/inference.md.

    python benchmarks/intervals.py --repetitions 200

Samples have 100 features with correlations 0.5^|i−j|, of which five have coefficients 1, 0.5, 0.3, 0.2 and 0.1; models
select 5 features. Intervals are of level 95 %. For each selected feature it is counted whether its interval has the
true coefficient, and, for least squares, whether it has the best coefficient of the selected model in the population.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

from ksparse import SparseLinearRegression, SparseLogisticRegression

P, K = 100, 5
WEIGHTS = np.zeros(P)
WEIGHTS[[10, 30, 50, 70, 90]] = [1.0, 0.5, 0.3, 0.2, 0.1]
COVARIANCE = 0.5 ** np.abs(np.subtract.outer(np.arange(P), np.arange(P)))
ROOT = np.linalg.cholesky(COVARIANCE)
METHODS = {"bootstrap": 100, "split": 50, "one split": 1, "naive": 1}


def draw_samples(task: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.standard_normal((n, P)) @ ROOT.T
    margins = X @ WEIGHTS
    if task == "linear":
        return X, margins + rng.standard_normal(n)
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * margins))).astype(int)


def measure(task: str, n: int, repetitions: int) -> pd.DataFrame:
    rng, rows = np.random.default_rng(0), []
    estimator: Any = SparseLinearRegression(k=K) if task == "linear" else SparseLogisticRegression(k=K)
    scale = 1.0 if task == "linear" else 2.0
    for repetition in range(repetitions):
        X, y = draw_samples(task, n, rng)
        model = estimator.fit(X, y)
        selected = np.flatnonzero(model.support_)
        best = np.linalg.solve(COVARIANCE[np.ix_(selected, selected)], COVARIANCE[selected] @ WEIGHTS)
        projected = dict(zip([f"x{j}" for j in selected], best, strict=True))
        for method, resamples in METHODS.items():
            began = time.perf_counter()
            summary = model.summary(
                intervals=method.split()[-1], resamples=resamples, replacements=0, random_state=repetition
            )
            seconds = time.perf_counter() - began
            for name, row in summary.features.iterrows():
                truth = scale * WEIGHTS[int(str(name)[1:])]
                rows.append(
                    {
                        "task": task,
                        "n": n,
                        "method": method,
                        "kind": "coefficient 0" if truth == 0 else f"coefficient {truth / scale:g}",
                        "true": row["low"] <= truth <= row["high"],
                        "of the model": row["low"] <= projected[str(name)] <= row["high"]
                        if task == "linear"
                        else np.nan,
                        "finite": bool(np.isfinite(row["high"])),
                        "seconds": seconds,
                    }
                )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=200)
    options = parser.parse_args()
    measured = pd.concat(
        [measure(task, n, options.repetitions) for task, n in (("linear", 100), ("linear", 400), ("logistic", 400))]
    )
    columns = ["true", "of the model", "finite", "seconds"]
    print(measured.groupby(["task", "n", "method"], sort=False)[columns].mean().round(3).to_string())
    kinds = measured.groupby(["task", "n", "method", "kind"], sort=False)["true"].agg(["mean", "size"]).round(3)
    print(kinds.unstack("kind").to_string())


if __name__ == "__main__":
    main()
