"""Scores of a model on some rows."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, median_absolute_error, r2_score, roc_auc_score

from .._types import AnyArray, Matrix
from .tasks import Task

__all__ = ["compute_scores"]


def compute_scores(task: Task, model: Any, X: Matrix, y: AnyArray, y_train: AnyArray) -> dict[str, float]:
    """Scores on some rows, by name; the baseline of a classifier is the most frequent class of the training rows."""
    prediction = model.predict(X)
    if task.has_classes:
        return _score_classes(model.classes_, prediction, model.predict_proba(X), y, y_train)
    rmse = {"RMSE": float(np.sqrt(mean_squared_error(y, prediction)))}
    if task.name == "poisson":
        return {"D² (deviance)": _score_or_nan(model, X, y), **rmse}
    scores = {"R²": float(r2_score(y, prediction)), **rmse}
    if task.name == "huber":
        scores["Median |error|"] = float(median_absolute_error(y, prediction))
    return scores


def _score_classes(
    classes: AnyArray, prediction: AnyArray, probabilities: AnyArray, y: AnyArray, y_train: AnyArray
) -> dict[str, float]:
    labels, counts = np.unique(y_train, return_counts=True)
    scores = {
        "Accuracy": float(accuracy_score(y, prediction)),
        "Baseline accuracy (majority class)": float(np.mean(y == labels[np.argmax(counts)])),
        "Log loss": float(log_loss(y, probabilities, labels=classes)),
    }
    if len(classes) == 2 and len(np.unique(y)) == 2:
        scores["ROC AUC"] = float(roc_auc_score(y == classes[1], probabilities[:, 1]))
    return scores


def _score_or_nan(model: Any, X: Matrix, y: AnyArray) -> float:
    """The score, or NaN where it is not defined (no count above 0, or a prediction of 0)."""
    if not np.any(y > 0):
        return nan
    try:
        return float(model.score(X, y))
    except ValueError:
        return nan
