"""Scores of held-out samples, by the predictions of a model alone; and a problem for each model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import mean_poisson_deviance

from ksparse import (
    SparseHuberRegression,
    SparseHuberRegressionCV,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
)
from ksparse._types import Array

N, P = 90, 8
_rng = np.random.default_rng(1)
#: Features in different units, with means.
X: Array = (_rng.standard_normal((N, P)) + 2.0) * 10.0 ** (np.arange(P) % 3 - 1)
_standard = (X - X.mean(axis=0)) / X.std(axis=0)
#: Effects that are clearly different, so that the best support of each size is unique.
MARGINS: Array = _standard[:, [6, 1, 4, 3]] @ [2.0, -1.0, 0.7, 0.4]
WEIGHTS: Array = _rng.uniform(0.2, 3.0, N)
RESPONSE: Array = MARGINS + 0.3 * _rng.standard_normal(N) + 5.0

#: The model that chooses, the one with fixed parameters, and the response.
MODELS: dict[str, tuple[Any, Any, Any]] = {
    "linear": (SparseLinearRegressionCV, SparseLinearRegression, RESPONSE),
    "responses": (
        SparseLinearRegressionCV,
        SparseLinearRegression,
        np.column_stack([RESPONSE, _standard[:, 4] - RESPONSE]),
    ),
    "logistic": (
        SparseLogisticRegressionCV,
        SparseLogisticRegression,
        np.where(MARGINS + _rng.logistic(size=N) > 0, "yes", "no"),
    ),
    "multinomial": (
        SparseLogisticRegressionCV,
        SparseLogisticRegression,
        np.digitize(MARGINS + _rng.standard_normal(N), [-1.5, 1.5]),
    ),
    "poisson": (SparsePoissonRegressionCV, SparsePoissonRegression, _rng.poisson(np.exp(0.5 * MARGINS))),
    "huber": (SparseHuberRegressionCV, SparseHuberRegression, RESPONSE),
}
#: Parameters that some of them need: Huber's delta, which would otherwise be that of each fold.
OPTIONS: dict[str, dict[str, Any]] = {"huber": {"delta": 2.0}}


def poisson_deviances(target: Array, prediction: Array) -> Array:
    return np.array([mean_poisson_deviance([y], [mean]) for y, mean in zip(target, prediction, strict=True)])


def loss_score(model: Any, data: Array, target: Any, weights: Any = None) -> float:
    """Minus the mean loss above that of perfect predictions, from predictions."""
    if hasattr(model, "classes_"):
        losses = -model.predict_log_proba(data)[np.arange(len(data)), np.searchsorted(model.classes_, target)]
    else:
        prediction = model.predict(data)
        if isinstance(model, SparsePoissonRegression):
            losses = poisson_deviances(target, prediction) / 2
        else:
            residuals = np.abs(target - prediction)
            delta = getattr(model, "delta_", np.inf)
            losses = np.where(residuals <= delta, residuals**2 / 2, 0)
            if np.isfinite(delta):
                losses += np.where(residuals > delta, delta * residuals - delta**2 / 2, 0)
            losses = losses.reshape(len(data), -1).sum(axis=1)
    return -float(np.average(losses, weights=weights))
