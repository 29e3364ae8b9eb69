"""A neural network that looks at four of twenty features: a sparse first layer, by automatic differentiation in JAX.

    pip install jax
    python examples/gallery/neural_network.py [--data-sets 2] [--figure FILE]

The responses depend on four features through a sine and a product, which a linear model cannot see: the product of
two features is uncorrelated with both. `from_jax` takes the loss of the network as a function of its parameters, a
dict of arrays, of which one is sparse: k counts rows of the first layer, that is input features; all other parameters
are free. The search starts from a network of all features, and k is lowered step by step, each time from the network
before. Beside it: the same network on all features, then on the four with the largest weights; the lasso; and a
random forest on all features, and its four most important ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from shared import OURS, TRUTH, USUAL, add_legend, make_alphas, measure_recovery, open_figure, run_example, tidy
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV

import ksparse
from ksparse.objectives import from_jax
from ksparse.solvers import Backtracking, GraHTP

N, P, UNITS, NOISE, RIDGE = 400, 20, 8, 0.3, 1e-3
RELEVANT = np.arange(4)
#: The numbers of features on the way from all to those wanted.
KS = [20, 12, 8, 6, 5, 4, 3, 2]
SOLVER = GraHTP(step=Backtracking(), max_iter=30)


class Found(NamedTuple):
    """Test errors over k, and the first layer of the network of four features and of that of all."""

    errors: list[float]
    lasso: float
    weights: dict[str, Any]


def simulate(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Features, and the mean of the response."""
    X = rng.standard_normal((n, P))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.8 * X[:, 3]


def predict(network: Any, X: Any) -> Any:
    return jnp.tanh(X @ network["first"] + network["shift"]) @ network["second"] + network["constant"]


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    rng = np.random.default_rng(seed)
    X, signal = simulate(rng, N)
    y = signal + NOISE * rng.standard_normal(N)
    X_test, signal_test = simulate(rng, 2000)

    def loss(network: Any) -> Any:
        ridge = jnp.sum(network["first"] ** 2) + jnp.sum(network["second"] ** 2)
        return 0.5 * jnp.mean((predict(network, X) - y) ** 2) + RIDGE * ridge

    start = {
        "first": rng.standard_normal((P, UNITS)) / np.sqrt(P),
        "shift": 0.1 * rng.standard_normal(UNITS),
        "second": rng.standard_normal(UNITS) / np.sqrt(UNITS),
        "constant": 0.0,
    }
    objective = from_jax(loss, start, sparse={"first": 0})
    place = np.asarray(objective.unflatten(np.arange(objective.size, dtype=float))["first"], dtype=int)
    x = objective.start
    x[place] = start["first"]  # sparse parameters start at zero by default, where a network learns little

    def measure(prediction: Any) -> float:
        return float(np.sqrt(np.mean((np.asarray(prediction) - signal_test) ** 2)))

    networks = {}
    for k in KS:
        x = ksparse.minimize(objective, k=k, x0=x, solver=SOLVER).x
        networks[k] = objective.unflatten(x)
    norms = np.linalg.norm(networks[P]["first"], axis=1)
    forest = RandomForestRegressor(100, random_state=0).fit(X, y)
    lasso = LassoCV(random_state=0, alphas=make_alphas(X, y)).fit(X, y)
    best = len(RELEVANT)
    features = {
        "network, k = 4": np.flatnonzero(np.any(networks[best]["first"], axis=1)),
        "network, all features": np.arange(P),
        "its 4 largest weights": np.argsort(-norms)[:best],
        "lasso": np.flatnonzero(lasso.coef_),
        "random forest": np.arange(P),
        "its 4 most important": np.argsort(-forest.feature_importances_)[:best],
    }
    errors = {
        "network, k = 4": measure(predict(networks[best], X_test)),
        "network, all features": measure(predict(networks[P], X_test)),
        "lasso": measure(lasso.predict(X_test)),
        "random forest": measure(forest.predict(X_test)),
    }
    rows = {
        name: {**measure_recovery(chosen, RELEVANT), "error of prediction": errors.get(name, np.nan)}
        for name, chosen in features.items()
    }
    weights = {name: np.asarray(networks[k]["first"]) for name, k in (("all features", P), ("k = 4", best))}
    path = [measure(predict(networks[k], X_test)) for k in KS]
    return pd.DataFrame(rows).T, Found(path, errors["lasso"], weights)


def draw(found: Found) -> Figure:
    figure, (left, *others) = open_figure(3, size=(10.0, 3.7), width_ratios=[3, 2, 2])
    left.plot(KS, found.errors, "o-", color=OURS, markersize=4.5, label="network of k features")
    left.axhline(found.lasso, color=USUAL, linewidth=1.2, linestyle="--", label="lasso")
    left.axvline(len(RELEVANT), color=TRUTH, linewidth=0.8, linestyle=(0, (2, 3)))
    left.set_xticks([2, 4, 8, 12, 16, 20])
    left.set_ylim(bottom=0)
    tidy(left, "Error of predictions of new samples", "k, the number of input features", "root mean square")
    add_legend(left, loc="lower right")
    limit = max(np.abs(weights).max() for weights in found.weights.values())
    for ax, (name, weights) in zip(others, found.weights.items(), strict=True):
        shown = np.where(weights == 0, np.nan, weights)
        image = ax.imshow(shown, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto", interpolation="none")
        ax.axhline(len(RELEVANT) - 0.5, color=TRUTH, linewidth=0.8, linestyle=(0, (4, 3)))
        tidy(ax, f"First layer, {name}", "hidden unit", "feature" if ax is others[0] else "")
        ax.set_yticks([0, 3, 9, 19], ["1", "4", "10", "20"])
        ax.set_xticks([])
    figure.colorbar(image, ax=others, shrink=0.8, label="weight")
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("A neural network of few input features", compute, draw, arguments, data_sets=2)


if __name__ == "__main__":
    main()
