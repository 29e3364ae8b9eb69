"""What the examples of the gallery share: the command line, the printed table, and the style of the pictures."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sklearn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

#: ksparse, the usual method, the truth, other methods, and text.
OURS, USUAL, TRUTH, OTHER, INK = "#14305c", "#c0392b", "#9aa5b1", "#d9a441", "#3a4350"


def open_figure(columns: int = 2, rows: int = 1, size: tuple[float, float] = (9.0, 3.6), **options: Any) -> Any:
    """A figure and its axes, in a row."""
    return plt.subplots(rows, columns, figsize=size, layout="constrained", **options)


def tidy(ax: Axes, title: str, xlabel: str = "", ylabel: str = "") -> None:
    """Name the axes, and take away what no one reads."""
    ax.set_title(title, loc="left", fontsize=10.5, color=INK)
    ax.set_xlabel(xlabel, fontsize=9, color=INK)
    ax.set_ylabel(ylabel, fontsize=9, color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(TRUTH)
    ax.tick_params(labelsize=8.5, color=TRUTH, labelcolor=INK, length=3)


def add_legend(ax: Axes, **options: Any) -> None:
    ax.legend(frameon=False, fontsize=8.5, labelcolor=INK, **options)


def measure_recovery(selected: Any, truth: Any) -> dict[str, float]:
    """How many were selected, and which fraction of the true ones (recall) and of the selected ones (precision)."""
    found, right = set(np.asarray(selected).tolist()), set(np.asarray(truth).tolist())
    hits = len(found & right)
    return {"selected": len(found), "recall": hits / len(right), "precision": hits / max(len(found), 1)}


def make_alphas(X: Any, y: Any, count: int = 40) -> Any:
    """Penalties of a lasso or a multitask lasso, from the least one that leaves no feature to a hundredth of it."""
    products = np.reshape((X - X.mean(axis=0)).T @ (y - y.mean(axis=0)), (X.shape[1], -1)) / len(X)
    return np.linalg.norm(products, axis=1).max() * np.geomspace(1.0, 1e-2, count)


def make_logistic_lasso(C: float) -> LogisticRegression:
    """Logistic regression with an ℓ1 penalty and no intercept; scikit-learn 1.8 has renamed the option."""
    old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
    options: dict[str, Any] = {"penalty": "l1"} if old else {"l1_ratio": 1.0}
    return LogisticRegression(C=C, solver="liblinear", fit_intercept=False, random_state=0, **options)


def run_example(
    description: str,
    compute: Callable[[int], tuple[pd.DataFrame, Any]],
    draw: Callable[[Any], Figure],
    arguments: Any,
    data_sets: int = 10,
) -> pd.DataFrame:
    """Print the means over some data sets, a row for each method, and draw the first one into the file after --figure.

    `compute` takes the seed of a data set.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-sets", type=int, default=data_sets, help="how many data sets to simulate")
    parser.add_argument("--figure", type=Path, help="where to write the picture, for example picture.png")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the usual methods, at the ends of their paths
        results = [compute(seed) for seed in range(options.data_sets)]
    tables, found = [table for table, _ in results], results[0][1]
    table = pd.concat(tables).groupby(level=0, sort=False).mean()
    print(f"means over {len(tables)} data sets")
    print(table.to_string(float_format=lambda value: f"{value:.3g}"))
    if options.figure is not None:
        figure = draw(found)
        figure.savefig(options.figure, dpi=110, bbox_inches="tight", pad_inches=0.08)
        plt.close(figure)
    return table
