"""The gap of certificates over k and alpha on real data: the figure of docs/certificates.md.

    KSPARSE_DATA=… python benchmarks/exact_gaps.py

Features are standardized. A cell is the gap that `result.certificate()` proves, without branch and bound.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from suite.environment import use_one_thread

use_one_thread()

import numpy as np
from exact_suite.real_data import load_data
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_diabetes

import ksparse
from ksparse.objectives import LeastSquares, Logistic

KS = (1, 2, 5, 10, 20)
ALPHAS = (1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)
IMAGE = Path(__file__).parent.parent / "docs" / "images" / "certificates.png"
#: Smaller gaps have the color of this one.
SMALLEST = 1e-4


def load_problems() -> dict[str, tuple[Any, Any, Any]]:
    """Titles with the objective, X and y."""
    genes = {name: load_data(name) for name in ("golub", "prostate", "riboflavin")}
    return {
        "diabetes, 442 × 10\nleast squares": (LeastSquares, *load_diabetes(return_X_y=True)),
        "breast cancer, 569 × 30\nlogistic": (Logistic, *load_breast_cancer(return_X_y=True)),
        "riboflavin, 71 × 4088\nleast squares": (LeastSquares, *genes["riboflavin"]),
        "leukemia, 72 × 7129\nlogistic": (Logistic, *genes["golub"]),
        "prostate, 102 × 6033\nlogistic": (Logistic, *genes["prostate"]),
    }


def find_gaps(kind: Any, X: Any, y: Any) -> Any:
    """The gap for each k, in rows, and alpha."""
    deviations = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    y = y - y.mean() if kind is LeastSquares else y
    gaps = np.full((len(KS), len(ALPHAS)), np.nan)
    for column, alpha in enumerate(ALPHAS):
        objective = kind(X, y, alpha=alpha)
        for row, k in enumerate(KS):
            if k < X.shape[1]:
                gaps[row, column] = ksparse.minimize(objective, k).certificate().gap
    return gaps


def draw(problems: dict[str, Any], path: Path) -> None:
    """A panel for each problem; cells say the gap in percent."""
    figure = Figure(figsize=(12.5, 3.4), layout="constrained")
    panels: Any = figure.subplots(1, len(problems), sharey=True)
    for axes, (title, gaps) in zip(panels, problems.items(), strict=True):
        shown = np.clip(gaps, SMALLEST, 1.0)
        image = axes.imshow(shown, norm=LogNorm(SMALLEST, 1.0), cmap="YlOrRd", aspect="auto")
        for (row, column), gap in np.ndenumerate(gaps):
            if np.isfinite(gap):
                text = "0" if gap < 5e-7 else f"{100 * gap:.2g}" if gap < 0.995 else "100"
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color="w" if gap > 0.3 else "k")
        axes.set_title(title, fontsize=9)
        axes.set_xticks(range(len(ALPHAS)), [f"{alpha:g}" for alpha in ALPHAS], rotation=60, fontsize=7)
        axes.set_yticks(range(len(KS)), KS, fontsize=8)
        axes.set_xlabel("alpha", fontsize=8)
    panels[0].set_ylabel("k")
    bar = figure.colorbar(image, ax=panels, shrink=0.9)
    bar.set_label("gap")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--image", type=Path, default=IMAGE)
    arguments = parser.parse_args()
    found = {}
    for title, (kind, X, y) in load_problems().items():
        began = time.process_time()
        found[title] = find_gaps(kind, X, y)
        print(title.replace("\n", ", "), f"({time.process_time() - began:.1f} CPU s)")
        print(np.array2string(100 * found[title], precision=3, suppress_small=True), flush=True)
    draw(found, arguments.image)


if __name__ == "__main__":
    main()
