"""How good a model is on some rows."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, median_absolute_error, r2_score, roc_auc_score

from .._types import AnyArray, Matrix
from .tasks import Task

__all__ = ["baseline", "scores_of"]


def scores_of(task: Task, model: Any, X: Matrix, y: AnyArray) -> dict[str, float]:
    """Scores by their names.

    Parameters
    ----------
    task : Task
        What the model is for.
    model : SparseLinearModel
        A fitted model.
    X, y
        The rows to judge it on.
    """
    prediction = model.predict(X)
    if task.classes:
        return _of_classes(model.classes_, prediction, model.predict_proba(X), y)
    scores = {"RMSE": float(np.sqrt(mean_squared_error(y, prediction)))}
    if task.name == "poisson":
        return {"D² (deviance)": _or_nan(model.score, X, y), **scores}
    scores = {"R²": float(r2_score(y, prediction)), **scores}
    if task.name == "huber":
        scores["Median |error|"] = float(median_absolute_error(y, prediction))
    return scores


def _of_classes(classes: AnyArray, prediction: AnyArray, probabilities: AnyArray, y: AnyArray) -> dict[str, float]:
    scores = {
        "Accuracy": float(accuracy_score(y, prediction)),
        "Log loss": float(log_loss(y, probabilities, labels=classes)),
    }
    if len(classes) == 2 and len(np.unique(y)) == 2:
        scores["ROC AUC"] = float(roc_auc_score(y == classes[1], probabilities[:, 1]))
    return scores


def _or_nan(score: Any, X: Matrix, y: AnyArray) -> float:
    """A score, or NaN where it is not defined (no count above 0, or a prediction of 0)."""
    if not np.any(y > 0):
        return nan
    try:
        return float(score(X, y))
    except ValueError:
        return nan


def baseline(y_train: AnyArray, y: AnyArray) -> tuple[Any, float]:
    """The most frequent class of the training rows, and its share in others."""
    classes, counts = np.unique(y_train, return_counts=True)
    usual = classes[np.argmax(counts)]
    return usual, float(np.mean(y == usual))
