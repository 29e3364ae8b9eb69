"""Scores of a model on some rows, by name."""

from __future__ import annotations

from contextlib import suppress
from math import nan
from typing import Any

import numpy as np
from sklearn import metrics

from .._types import AnyArray
from .settings import Task


def compute_scores(task: Task, model: Any, X: Any, y: AnyArray, y_train: AnyArray) -> dict[str, float]:
    """Scores on some rows, by name; the baseline of a classifier is the most frequent class of the training rows."""
    with np.errstate(over="ignore"):  # an exponential of a far row
        prediction = model.predict(X)
    if task.has_classes:
        return _score_classes(model, X, y, y_train, prediction)
    scores = {"D² (deviance)" if task.name == "poisson" else "R²": nan}
    if not np.isfinite(prediction).all():
        return scores | {"RMSE": nan}
    with suppress(ValueError):  # the deviance is not defined without counts above 0, or for a prediction of 0
        defined = y.any() and len(y) > 1  # one row has no deviations to explain
        scores = dict.fromkeys(scores, model.score(X, y) if defined else nan)
    scores["RMSE"] = metrics.root_mean_squared_error(y, prediction)
    if task.name == "huber":
        scores["Median |error|"] = metrics.median_absolute_error(y, prediction)
    return {name: float(score) for name, score in scores.items()}


def _score_classes(model: Any, X: Any, y: AnyArray, y_train: AnyArray, prediction: AnyArray) -> dict[str, float]:
    classes, probabilities = model.classes_, model.predict_proba(X)
    labels, counts = np.unique(y_train, return_counts=True)
    recalls = [np.mean(prediction[y == label] == label) for label in np.unique(y)]
    scores = {
        "Accuracy": metrics.accuracy_score(y, prediction),
        "Baseline accuracy (majority class)": np.mean(y == labels[np.argmax(counts)]),
        "Balanced accuracy": np.mean(recalls),
        "Log loss": metrics.log_loss(y, probabilities, labels=classes),
    }
    if len(classes) == 2 and len(np.unique(y)) == 2:
        scores["ROC AUC"] = metrics.roc_auc_score(y == classes[1], probabilities[:, 1])
    return {name: float(score) for name, score in scores.items()}
