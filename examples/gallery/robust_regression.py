"""A third of the responses is garbage: sparse regression with a loss that is not convex and forgets outliers.

    python examples/gallery/robust_regression.py [--data-sets 10] [--figure FILE]

Welsch's loss c²/2·(1 − exp(−r²/c²)) grows like r² near zero and is flat far from it, so that a gross error has no
influence. It is not convex, and a new loss for ksparse: its value, slope and curvature, below. The search starts from
the solution for Huber's loss, which is convex, and c is three times its robust scale of residuals. The outliers are
on one side and in rows with large features, which mislead a lasso and bend Huber's loss, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from shared import OTHER, OURS, TRUTH, USUAL, add_legend, make_alphas, measure_recovery, open_figure, run_example, tidy
from sklearn.linear_model import LassoCV

import ksparse
from ksparse.objectives import Huber, LeastSquares, LinearObjective, Loss

N, P, K, BAD = 300, 400, 8, 0.3


@dataclass(frozen=True)
class WelschLoss(Loss):
    """c²/2·(1 − exp(−r²/c²)), r = m − y."""

    curvature_bound = 1.0
    of_residuals = True
    is_convex = False
    width: float = 1.0

    def value(self, margins: Any, y: Any) -> Any:
        return -0.5 * self.width**2 * np.expm1(-np.square((margins - y) / self.width))

    def slope(self, margins: Any, y: Any) -> Any:
        return (margins - y) * np.exp(-np.square((margins - y) / self.width))

    def curvature(self, margins: Any, y: Any) -> Any:
        squares = np.square((margins - y) / self.width)
        return (1.0 - 2.0 * squares) * np.exp(-squares)


class Welsch(LinearObjective):
    """Linear regression with Welsch's loss."""

    def __init__(self, X: Any, y: Any, width: float, **options: Any) -> None:
        self.loss = WelschLoss(width)
        super().__init__(X, y, **options)

    def encode_target(self, y: Any, n: int) -> Any:
        return np.asarray(y, dtype=float)


class Found(NamedTuple):
    """Clean test data, and predictions of each method."""

    y: Any
    predictions: dict[str, Any]
    coefficients: dict[str, Any]


def simulate(rng: np.random.Generator, n: int, coef: Any, bad: float) -> tuple[Any, Any]:
    """Rows and responses; some rows are large, and their responses have nothing to do with them."""
    X = rng.standard_normal((n, P))
    outliers = rng.random(n) < bad
    X[outliers] *= 1.3
    y = X @ coef + 0.5 * rng.standard_normal(n)
    y[outliers] = 8.0 + 3.0 * rng.standard_normal(outliers.sum())
    return X, y


def fit_welsch(X: Any, y: Any, k: int) -> Any:
    huber = ksparse.minimize(Huber(X, y, fit_intercept=True, alpha=1e-3), k=k)
    residuals = y - X @ huber.x[:-1] - huber.x[-1]
    width = 3.0 * 1.4826 * float(np.median(np.abs(residuals - np.median(residuals))))
    for shrunk in (width, width / 2):  # a narrower loss forgets more, once the residuals are known better
        objective = Welsch(X, y, shrunk, fit_intercept=True, alpha=1e-3)
        huber = ksparse.minimize(objective, k=k, x0=huber.x)
    return huber.x


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    rng = np.random.default_rng(seed)
    coef = np.zeros(P)
    coef[rng.choice(P, K, replace=False)] = rng.choice([-1, 1], K) * rng.uniform(0.7, 1.5, K)
    X, y = simulate(rng, N, coef, BAD)
    X_test, y_test = simulate(rng, 500, coef, 0.0)
    lasso = LassoCV(random_state=0, alphas=make_alphas(X, y)).fit(X, y)
    fits = {
        "Welsch's loss, k features": fit_welsch(X, y, K),
        "Huber's loss, k features": ksparse.minimize(Huber(X, y, fit_intercept=True, alpha=1e-3), k=K).x,
        "least squares, k features": ksparse.minimize(LeastSquares(X, y, fit_intercept=True, alpha=1e-3), k=K).x,
        "lasso": np.append(lasso.coef_, lasso.intercept_),
    }
    rows, predictions = {}, {}
    for name, x in {**fits, "truth": np.append(coef, 0.0)}.items():
        predictions[name] = X_test @ x[:-1] + x[-1]
        rows[name] = measure_recovery(np.flatnonzero(x[:-1]), np.flatnonzero(coef))
        rows[name]["test error"] = float(np.sqrt(np.mean((predictions[name] - y_test) ** 2)))
    return pd.DataFrame(rows).T, Found(y_test, predictions, {**fits, "truth": np.append(coef, 0.0)})


def draw(found: Found) -> Figure:
    figure, (left, right) = open_figure(2, size=(10.0, 3.7), width_ratios=[2, 3])
    residuals = np.linspace(-6, 6, 300)
    for name, values, colour in (
        ("squared", 0.5 * residuals**2, USUAL),
        ("Huber", np.where(np.abs(residuals) < 1.35, 0.5 * residuals**2, 1.35 * np.abs(residuals) - 0.91), OTHER),
        ("Welsch", WelschLoss(2.0).value(residuals, 0.0), OURS),
    ):
        left.plot(residuals, values, color=colour, label=name)
    left.set_ylim(0, 6)
    tidy(left, "What a residual costs", "residual", "loss")
    add_legend(left)
    truth = found.coefficients["truth"][:-1]
    chosen = np.flatnonzero(truth)
    chosen = chosen[np.argsort(truth[chosen])]
    places = np.arange(len(chosen))
    right.bar(places, truth[chosen], color=TRUTH, alpha=0.55, width=0.8, label="truth")
    styles = {"Welsch's loss, k features": (OURS, "o"), "Huber's loss, k features": (OTHER, "s"), "lasso": (USUAL, "^")}
    for name, (colour, marker) in styles.items():
        right.plot(places, found.coefficients[name][chosen], marker, color=colour, markersize=5, label=name)
    right.axhline(0, color=TRUTH, linewidth=0.8)
    right.set_xticks(places, [f"{feature}" for feature in chosen])
    tidy(right, "Coefficients of the true features", "feature", "coefficient")
    add_legend(right, loc="upper left")
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("Sparse regression with a third of outliers", compute, draw, arguments)


if __name__ == "__main__":
    main()
