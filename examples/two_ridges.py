"""Why two ridges: recall and test error over the ridge of the selection, and test error over k.

    python examples/two_ridges.py [--data-sets 20] [--figure FILE]

A linear model of the first 10 of 1000 features, with 100 samples, correlations 0.35^|i − j| and a signal-to-noise ratio
of 2: the lowest training error does not belong to the right features. Prints the means over the data sets, and draws
them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from scipy.signal import lfilter

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import ksparse
from ksparse import SparseLinearRegression, SparseLinearRegressionCV

N, P, K, CORRELATION, SNR = 100, 1000, 10, 0.35, 2.0
ALPHAS = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
KS = [1, 2, 3, 5, 7, 10, 14, 20, 28, 40]
#: What the coefficients are fitted with at fixed k: no ridge, the ridge of the selection, or a ridge of their own.
REFITS = {"without ridge": 0.0, "with the same ridge": None, "with a ridge of 0.3": 0.3}
COLOURS = {"without ridge": "#c0392b", "with the same ridge": "#7a8ba3", "with a ridge of 0.3": "#14305c"}


class DataSet:
    """Samples, and the truth behind them."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        noise = rng.standard_normal((N, P))
        noise[:, 1:] *= np.sqrt(1 - CORRELATION**2)
        self.X = lfilter([1.0], [1.0, -CORRELATION], noise, axis=1)
        self.support = np.arange(K)
        self.beta = np.zeros(P)
        self.beta[self.support] = 1.0
        self.covariance = CORRELATION ** np.abs(np.subtract.outer(np.arange(P), np.arange(P)))
        self.variance = float(self.beta @ self.covariance @ self.beta) / SNR
        self.y = self.X @ self.beta + np.sqrt(self.variance) * rng.standard_normal(N)

    def measure_recall(self, coefficients: Any) -> float:
        return float(np.mean(coefficients[self.support] != 0))

    def measure_error(self, coefficients: Any, intercept: float) -> float:
        """Expected squared error of predictions of new samples, relative to the best possible one."""
        wrong = coefficients - self.beta
        return float((wrong @ self.covariance @ wrong + intercept**2) / self.variance + 1.0)


def vary_alpha(data: DataSet) -> tuple[list[float], dict[str, list[float]]]:
    """Recall for each alpha at fixed k, and errors for each way of fitting the coefficients."""
    recalls: list[float] = []
    errors: dict[str, list[float]] = {name: [] for name in REFITS}
    for alpha in ALPHAS:
        for name, refit_alpha in REFITS.items():
            model = SparseLinearRegression(k=K, alpha=alpha, refit_alpha=refit_alpha, standardize=True)
            model.fit(data.X, data.y)
            errors[name].append(data.measure_error(model.coef_, model.intercept_))
        recalls.append(data.measure_recall(model.coef_))
    return recalls, errors


def vary_k(data: DataSet) -> dict[str, list[float]]:
    """Errors for each k without a ridge, and with those that cross-validation chooses for it."""
    plain = ksparse.path(data.X, data.y, KS)
    tuned = SparseLinearRegressionCV(ks=KS).fit(data.X, data.y).path_
    return {
        name: [data.measure_error(coefficients, b) for coefficients, b in zip(path.coef, path.intercept, strict=True)]
        for name, path in {"without ridges": plain, "with chosen ridges": tuned}.items()
    }


def draw(recalls: Any, errors: dict[str, Any], by_k: dict[str, Any], file: Path) -> None:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 3.9), layout="constrained")
    places = np.arange(len(ALPHAS))
    left.plot(places, recalls, "o-", color="#14305c")
    left.set_title(f"True features found, k = {K}", loc="left", fontsize=11)
    left.set_ylabel("recall")
    for name, values in errors.items():
        middle.plot(places, values, "o-", color=COLOURS[name], label=f"coefficients {name}")
    middle.set_title(f"Test error, k = {K}", loc="left", fontsize=11)
    for ax in (left, middle):
        ax.set_xticks(places, [f"{alpha:g}" for alpha in ALPHAS])
        ax.set_xlabel("alpha, the ridge of the selection")
    for (name, values), colour in zip(by_k.items(), ("#c0392b", "#14305c"), strict=True):
        right.plot(KS, values, "o-", color=colour, label=name)
    right.set_xscale("log")
    right.set_xticks(KS, [str(k) for k in KS])
    right.minorticks_off()
    right.set_xlabel("k, the number of features")
    right.set_title("Test error over k", loc="left", fontsize=11)
    for ax in (middle, right):
        ax.set_ylabel("relative test error")
        ax.axhline(1.0 + SNR, color="#c3c9d1", linestyle="--", linewidth=1.0, zorder=0)
        ax.text(
            0.99,
            1.0 + SNR,
            "a constant",
            transform=ax.get_yaxis_transform(),
            fontsize=8,
            color="#7a8ba3",
            ha="right",
            va="bottom",
        )
        ax.set_ylim(top=3.6)
        ax.legend(frameon=False, fontsize=9)
    for ax in (left, middle, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def print_rows(title: str, columns: list[Any], rows: dict[str, Any]) -> None:
    print(f"\n{title:34s}", *(f"{column!s:>6s}" for column in columns))
    for name, values in rows.items():
        print(f"{name:34s}", *(f"{value:6.2f}" for value in values))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Why two ridges")
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args(arguments)
    data = [DataSet(seed) for seed in range(options.data_sets)]
    by_alpha, by_k = [vary_alpha(one) for one in data], [vary_k(one) for one in data]
    recalls = np.mean([recall for recall, _ in by_alpha], axis=0)
    errors = {name: np.mean([error[name] for _, error in by_alpha], axis=0) for name in REFITS}
    errors_by_k = {name: np.mean([error[name] for error in by_k], axis=0) for name in by_k[0]}
    print_rows(f"k = {K}, alpha =", ALPHAS, {"recall": recalls, **{f"error {name}": errors[name] for name in errors}})
    print_rows("k =", KS, {f"error {name}": errors_by_k[name] for name in errors_by_k})
    if options.figure is not None:
        draw(recalls, errors, errors_by_k, options.figure)


if __name__ == "__main__":
    main()
