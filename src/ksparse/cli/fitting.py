"""From data and options to a model in the units of the data, with its scores: no printing, no files."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, IntArray
from ..estimators import SparseLinearModel
from .data import Data, choose_task, split_names
from .errors import InputError, quote, quote_path
from .settings import FOLDS, Settings, Task


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, for features in the units of the data, with all that is reported about it."""

    data: Data
    settings: Settings
    task: Task
    reason: str  # why this task
    model: SparseLinearModel
    scaler: StandardScaler  # means and standard deviations of the features in the training rows
    train: IntArray
    test: IntArray  # empty if the user wants no test
    y: AnyArray  # the target as the model takes it
    scores: dict[str, tuple[float, float | None]]  # on training and on test rows
    seconds: float
    notes: tuple[str, ...]

    @property
    def k(self) -> int:
        """Number of features that was set or chosen."""
        return int(getattr(self.model, "k_", self.model.k))

    @property
    def chose_k(self) -> bool:
        """Whether k was chosen among several."""
        return len(getattr(self.model, "ks_", ())) > 1

    @property
    def selected(self) -> list[int]:
        """Selected features, the largest standardized coefficient first."""
        sizes = np.abs(self.coefficients(standardize=True)).max(axis=0)
        return sorted(np.flatnonzero(self.model.support_).tolist(), key=lambda feature: -sizes[feature])

    def coefficients(self, *, standardize: bool) -> Array:
        """Coefficients, one row for each class or a single row: standardized, or in the units of the data."""
        return np.atleast_2d(self.model.coef_) * (self.scaler.scale_ if standardize else 1.0)

    def intercepts(self, *, standardize: bool) -> Array:
        """One intercept for each row of coefficients; the standardized one is the prediction for average features."""
        shift = self.coefficients(standardize=False) @ self.scaler.mean_ if standardize else 0.0
        return np.atleast_1d(self.model.intercept_) + shift


def fit_model(data: Data, settings: Settings) -> FittedModel:
    """Split, fit to scaled features, and score."""
    task, y, reason = choose_task(data, settings.task)
    data.check_memory(outputs=_count_outputs(y) if task.has_classes else 1)
    train, test = _split(y, task, settings)
    estimator = _make_estimator(data, task, settings, y[train])
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            model = estimator.fit(data.X[train], y[train])
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot fit {quote_path(data.source)}: {error}") from error
    seconds = time.perf_counter() - began
    on_train = _compute_scores(task, model, data.X[train], y[train], y[train])
    on_test = _compute_scores(task, model, data.X[test], y[test], y[train]) if len(test) else {}
    scores = {name: (value, on_test.get(name)) for name, value in on_train.items()}
    notes, features = list(data.notes), data.X.shape[1]
    if settings.k is not None and settings.k > features:
        notes.append(f"--k {settings.k} is more than the {features} features, so all of them may be selected")
    notes += _describe_choice(model)
    scaler = StandardScaler(with_mean=False).fit(data.X[train])
    return FittedModel(data, settings, task, reason, model, scaler, train, test, y, scores, seconds, tuple(notes))


def _count_outputs(y: AnyArray) -> int:
    """The number of coefficients that each feature of a classifier has."""
    classes = len(np.unique(y))
    return classes if classes > 2 else 1


def _describe_choice(model: Any) -> list[str]:
    """What a user should know of a choice: that no feature is worth it, or that more may be."""
    tried = getattr(model, "ks_", np.zeros(0)).tolist()
    if len(tried) < 2:
        return []
    if model.k_ == 0:
        return ["No feature improves clearly on a constant: the model has none"]
    if hasattr(model, "scores_") and 0 in tried:
        gains = model.scores_[tried.index(model.k_)] - model.scores_[tried.index(0)]
        if gains.mean() < gains.std(ddof=1) / np.sqrt(len(gains)):
            return ["The score is within one standard error of that of a constant: the features may predict nothing"]
    if model.k_ == tried[-1] and model.k_ < model.n_features_in_:
        return [f"k = {model.k_} is the largest that was tried, and more may predict better: try larger ones with --ks"]
    return []


def _split(y: AnyArray, task: Task, settings: Settings) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows to test on, with the same fractions of the classes in both."""
    rows, advice = np.arange(len(y)), "use more rows, or --test 0 to train on all of them"
    if settings.test == 0:
        return rows, rows[:0]
    held_out = int(np.ceil(settings.test * len(y)))
    if min(held_out, len(y) - held_out) < (max(2, len(np.unique(y))) if task.has_classes else 2):
        raise InputError(
            f"{len(y)} rows are too few for --test {settings.test:g}, which holds out {held_out} of them; {advice}"
        )
    rarest, count = _find_rarest(y, task)
    if count < 2:
        raise InputError(
            f"class {quote(rarest)} has only one row, which cannot be in both the training and the test part;"
            f" {advice}; or --task regression or poisson, if the target is a number or a count"
        )
    stratify = y if task.has_classes else None
    train, test = train_test_split(rows, test_size=settings.test, random_state=settings.seed, stratify=stratify)
    return np.sort(train), np.sort(test)


def _find_rarest(y: AnyArray, task: Task) -> tuple[Any, int]:
    """The class with the fewest rows, and their number; without classes, all rows count."""
    classes, counts = np.unique(y, return_counts=True) if task.has_classes else (y[:1], np.array([len(y)]))
    return classes[counts.argmin()], int(counts.min())


def _make_estimator(data: Data, task: Task, settings: Settings, y: AnyArray) -> Any:
    """The estimator: with a fixed k and ridge if both are given, otherwise one that chooses."""
    always = set(split_names(settings.always, data.names))
    if unknown := [name for name in always if name not in data.names]:
        raise InputError(f"--always names {quote(min(unknown))}, which is not a feature of {quote_path(data.source)}")
    common: dict[str, Any] = {
        "always_select": sorted(data.names.index(name) for name in always) or None,
        "effort": settings.effort,
        "standardize": True,
    }
    ks: Any = "auto" if settings.ks is None else settings.ks
    if settings.k is not None:
        ks = [settings.k]
    if ks != "auto" and min(ks) < len(always):
        option = "--ks" if settings.k is None else "--k"
        raise InputError(f"{option} {min(ks)} is less than the {len(always)} features of --always; use a larger k")
    ridge = {} if settings.alpha is None else {"alpha": settings.alpha}
    if settings.criterion != "cv":
        return task.find_class("IC")(criterion=settings.criterion, ks=ks, **ridge, **common)
    if settings.k is not None and (ridge or _lacks_rows(y, task)):
        return task.find_class()(k=settings.k, **ridge, **common)
    if lacking := _lacks_rows(y, task):
        raise InputError(lacking)
    folds = (StratifiedKFold if task.has_classes else KFold)(FOLDS, shuffle=True, random_state=settings.seed)
    if settings.alpha is not None:
        common |= {"alphas": settings.alpha, "refit_alphas": None}
    return task.find_class("CV")(ks=ks, cv=folds, rule=settings.rule, n_jobs=settings.jobs, **common)


def _lacks_rows(y: AnyArray, task: Task) -> str:
    """Why there are too few rows for cross-validation; empty if there are enough."""
    few = f"too few for {FOLDS}-fold cross-validation; use more rows, --criterion ebic, or a fixed --k"
    if len(y) < 2 * FOLDS:
        return f"{len(y)} training rows are {few}"
    rarest, count = _find_rarest(y, task)
    return f"class {quote(rarest)} has {count} training rows, {few}" if count < FOLDS else ""


def _compute_scores(task: Task, model: Any, X: Any, y: AnyArray, y_train: AnyArray) -> dict[str, float]:
    """Scores on some rows, by name; the baseline of a classifier is the most frequent class of the training rows."""
    with np.errstate(over="ignore"):  # an exponential of a far row
        prediction = model.predict(X)
    if task.has_classes:
        classes, probabilities = model.classes_, model.predict_proba(X)
        labels, counts = np.unique(y_train, return_counts=True)
        scores = {
            "Accuracy": metrics.accuracy_score(y, prediction),
            "Baseline accuracy (majority class)": np.mean(y == labels[np.argmax(counts)]),
            "Log loss": metrics.log_loss(y, probabilities, labels=classes),
        }
        if len(classes) == 2 and len(np.unique(y)) == 2:
            scores["ROC AUC"] = metrics.roc_auc_score(y == classes[1], probabilities[:, 1])
        return {name: float(score) for name, score in scores.items()}
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
