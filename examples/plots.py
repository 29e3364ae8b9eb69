"""Draw the displays of `ksparse.plots` for linear models on scikit-learn's built-in data.

    python examples/plots.py [--out DIR]

Writes coefficients.png, scores.png, frequencies.png, intervals.png and convergence.png, and choosing_k.png with the
first two side by side.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse.plots import (
    CoefficientIntervalDisplay,
    CoefficientPathDisplay,
    ConvergenceDisplay,
    ScorePathDisplay,
    SelectionFrequencyDisplay,
)


def new_axes(name: str, title: str) -> Axes:
    ax: Axes = plt.subplots(num=name, figsize=(7.0, 4.2), layout="constrained")[1]
    ax.set_title(title, fontsize=11, loc="left")
    return ax


def draw_breast_cancer() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = ksparse.SparseLogisticRegressionCV(ks=range(16), rule="1se")
    model = make_pipeline(StandardScaler(), selector).fit(X, y)
    ax = new_axes("coefficients", "Breast cancer: coefficients of standardized features")
    CoefficientPathDisplay.from_estimator(model, ax=ax)
    ax = new_axes("scores", "Breast cancer: how many features?")
    ScorePathDisplay.from_estimator(model, ax=ax)

    axes = plt.subplots(1, 2, num="choosing_k", figsize=(12.0, 4.4), layout="constrained")[1]
    axes[0].set_title("How many features? Held-out score", fontsize=11, loc="left")
    ScorePathDisplay.from_estimator(model, ax=axes[0])
    axes[1].set_title("Which ones? Coefficients of standardized features", fontsize=11, loc="left")
    CoefficientPathDisplay.from_estimator(model, ax=axes[1])

    stability = ksparse.StabilitySelection(ksparse.SparseLogisticRegression(k=8, alpha=1e-2), random_state=0)
    model = make_pipeline(StandardScaler(), stability).fit(X, y)
    ax = new_axes("frequencies", "Breast cancer: which features are stable?")
    SelectionFrequencyDisplay.from_estimator(model, ax=ax)


def draw_intervals() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = ksparse.SparseLogisticRegression(k=8, standardize=True).fit(X, y)
    ax = plt.subplots(num="intervals", figsize=(7.0, 3.4), layout="constrained")[1]
    CoefficientIntervalDisplay.from_estimator(model, ax=ax)


def draw_digits() -> None:
    X, y = load_digits(return_X_y=True)
    model = ksparse.SparseLogisticRegression(k=10, alpha=1e-3).fit(X / 16, y)
    ax = new_axes("convergence", "Digits: classification by ten pixels")
    ConvergenceDisplay.from_estimator(model, ax=ax)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw the displays of ksparse.plots")
    parser.add_argument("--out", type=Path, default=Path(), help="folder to write them to")
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    draw_breast_cancer()
    draw_intervals()
    draw_digits()
    for name in plt.get_figlabels():
        plt.figure(name).savefig(folder / f"{name}.png", dpi=150)
        print(f"wrote {folder / name}.png")


if __name__ == "__main__":
    main()
