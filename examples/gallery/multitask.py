"""Eight related tasks with few samples: features that all tasks share, chosen as rows of one matrix.

    python examples/gallery/multitask.py [--data-sets 3] [--figure FILE]

Each task has its own coefficients on the same six of 300 features. For one task alone, 40 noisy samples do not say
which features these are; together they do: k counts rows of the matrix of coefficients. Beside it, the multitask
lasso, which penalizes the sum of the norms of rows, and a sparse regression of each task alone. All choose their
parameters by cross-validation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from shared import make_alphas, measure_recovery, open_figure, run_example, tidy
from sklearn.linear_model import MultiTaskLassoCV

from ksparse import SparseLinearRegressionCV

N, P, TASKS, K, NOISE = 40, 300, 8, 6, 1.5
KS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15]


class Found(NamedTuple):
    """Coefficients of shape (features, tasks), true and as each method finds them."""

    truth: Any
    coefficients: dict[str, Any]


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    rng = np.random.default_rng(seed)
    truth = np.zeros((P, TASKS))
    truth[rng.choice(P, K, replace=False)] = rng.standard_normal((K, TASKS))
    X, X_test = rng.standard_normal((N, P)), rng.standard_normal((1000, P))
    Y = X @ truth + NOISE * rng.standard_normal((N, TASKS))
    signal = X_test @ truth
    lasso = MultiTaskLassoCV(alphas=make_alphas(X, Y, 30), random_state=0, max_iter=2000).fit(X, Y)
    shared = SparseLinearRegressionCV(ks=KS).fit(X, Y)
    alone = [SparseLinearRegressionCV(ks=KS).fit(X, Y[:, task]) for task in range(TASKS)]
    fits = {
        "ksparse": (shared.coef_.T, shared.predict(X_test)),
        "multitask lasso": (lasso.coef_.T, lasso.predict(X_test)),
        "each task alone": (
            np.column_stack([model.coef_ for model in alone]),
            np.column_stack([model.predict(X_test) for model in alone]),
        ),
        "truth": (truth, signal),
    }
    rows = {}
    for name, (coefficients, prediction) in fits.items():
        rows[name] = measure_recovery(np.flatnonzero(coefficients.any(axis=1)), np.flatnonzero(truth.any(axis=1)))
        rows[name]["error of prediction"] = float(np.sqrt(np.mean((prediction - signal) ** 2)))
    return pd.DataFrame(rows).T, Found(truth, {name: fit for name, (fit, _) in fits.items() if name != "truth"})


def draw(found: Found) -> Figure:
    figure, axes = open_figure(4, size=(10.0, 3.9), sharey=True)
    shown = [found.truth.any(axis=1), *(fit.any(axis=1) for fit in found.coefficients.values())]
    features = np.flatnonzero(np.any(shown, axis=0))
    order = features[np.argsort(~found.truth[features].any(axis=1), kind="stable")]
    limit = np.abs(found.truth).max()
    for ax, (name, fit) in zip(axes, {"truth": found.truth, **found.coefficients}.items(), strict=True):
        values = np.where(fit[order] == 0, np.nan, fit[order])
        image = ax.imshow(values, aspect="auto", cmap="RdBu", vmin=-limit, vmax=limit, interpolation="none")
        ax.axhline(K - 0.5, color="#9aa5b1", linewidth=0.8, linestyle=(0, (4, 3)))
        tidy(ax, f"{name}: {int(fit.any(axis=1).sum())} features", "task")
        ax.set_xticks(range(TASKS), [str(task + 1) for task in range(TASKS)])
    axes[0].set_ylabel("features, the true ones on top", fontsize=9)
    axes[0].set_yticks([])
    figure.colorbar(image, ax=axes, shrink=0.8, label="coefficient")
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("Features that several tasks share", compute, draw, arguments, data_sets=3)


if __name__ == "__main__":
    main()
