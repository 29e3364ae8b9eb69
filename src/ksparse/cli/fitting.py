"""From data and options to a model in the units of the data, with its scores: no printing, no files."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, IntArray
from ..estimators import SparseLinearModel
from .data import Data, split_names
from .errors import InputError, quote, quote_path
from .scores import compute_scores
from .tasks import Task, choose_task

__all__ = ["FOLDS", "FittedModel", "Settings", "fit_model"]

FOLDS = 5
#: The squares of larger numbers overflow.
LARGEST = 1e100


@dataclass(frozen=True)
class Settings:
    """What the user asked for; `None` leaves the choice to the command."""

    k: int | None = 5
    task: str = "auto"
    test: float = 0.25
    alpha: float | None = None
    criterion: str = "cv"
    rule: str = "best"
    always: tuple[str, ...] = ()
    seed: int = 0
    jobs: int | None = None
    effort: int = 0


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, for features in the units of the data, with all that is reported about it."""

    data: Data
    settings: Settings
    task: Task
    reason: str  # why this task
    model: SparseLinearModel
    means: Array  # of each feature in the training rows
    scales: Array  # standard deviations of each feature in the training rows
    train: IntArray
    test: IntArray  # empty if the user wants no test
    y: AnyArray  # the target as the model takes it
    scores: dict[str, tuple[float, float | None]]  # on training and on test rows
    seconds: float
    notes: tuple[str, ...]

    @property
    def k(self) -> int:
        """Number of features that was set or chosen."""
        return int(self.model.k_) if self.settings.k is None else self.settings.k

    @property
    def selected(self) -> list[int]:
        """Selected features, the largest standardized coefficient first."""
        sizes = np.abs(self.coefficients(standardize=True)).max(axis=0)
        return sorted(np.flatnonzero(self.model.support_).tolist(), key=lambda feature: -sizes[feature])

    def coefficients(self, *, standardize: bool) -> Array:
        """Coefficients, one row for each class or a single row: standardized, or in the units of the data."""
        return np.atleast_2d(self.model.coef_) * (self.scales if standardize else 1.0)

    def intercepts(self, *, standardize: bool) -> Array:
        """One intercept for each row of coefficients; the standardized one is the prediction for average features."""
        shift = self.coefficients(standardize=False) @ self.means if standardize else 0.0
        return np.atleast_1d(self.model.intercept_) + shift


def fit_model(data: Data, settings: Settings) -> FittedModel:
    """Split, fit to scaled features, and score."""
    task, y, reason = choose_task(data, settings.task)
    train, test = _split(y, task, settings)
    _check_size(data, y)
    kind, parameters = _choose_estimator(data, task, settings, y[train])
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            model = kind(standardize=True, **parameters).fit(data.X[train], y[train])
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot fit {quote_path(data.source)}: {error}") from error
    except MemoryError as error:
        raise InputError(f"{quote_path(data.source)} does not fit into memory; use fewer rows or columns") from error
    seconds = time.perf_counter() - began
    on_train = compute_scores(task, model, data.X[train], y[train], y[train])
    on_test = compute_scores(task, model, data.X[test], y[test], y[train]) if len(test) else {}
    scores = {name: (value, on_test.get(name)) for name, value in on_train.items()}
    notes, features = list(data.notes), data.X.shape[1]
    if settings.k is not None and settings.k > features:
        notes.append(f"--k {settings.k} is more than the {features} features, so all of them may be selected")
    scaler = StandardScaler(with_mean=False).fit(data.X[train])
    means, scales = np.asarray(scaler.mean_), np.asarray(scaler.scale_)
    return FittedModel(
        data, settings, task, reason, model, means, scales, train, test, y, scores, seconds, tuple(notes)
    )


def _split(y: AnyArray, task: Task, settings: Settings) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows to test on, with the same fractions of the classes in both."""
    rows, advice = np.arange(len(y)), "use more rows, or --test 0 to train on all of them"
    if settings.test == 0:
        return rows, rows[:0]
    classes, counts = np.unique(y, return_counts=True) if task.has_classes else (np.array([]), np.array([]))
    held_out = int(np.ceil(settings.test * len(y)))
    if held_out < max(2, len(classes)) or len(y) - held_out < max(2, len(classes)):
        raise InputError(
            f"{len(y)} rows are too few for --test {settings.test:g}, which holds out {held_out} of them; {advice}"
        )
    if task.has_classes and counts.min() < 2:
        raise InputError(
            f"class {quote(classes[counts.argmin()])} has only one row, which cannot be in both the training and the"
            f" test part; {advice}; or --task regression or poisson, if the target is a number or a count"
        )
    stratify = y if task.has_classes else None
    train, test = train_test_split(rows, test_size=settings.test, random_state=settings.seed, stratify=stratify)
    return np.sort(train), np.sort(test)


def _check_size(data: Data, y: AnyArray) -> None:
    """Refuse numbers whose squares are not finite."""
    high, low = data.X.max(axis=0), data.X.min(axis=0)
    if sparse.issparse(data.X):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    wild = np.flatnonzero(np.maximum(high, -low) > LARGEST)
    name = data.names[wild[0]] if wild.size else data.target
    if wild.size or (y.dtype.kind == "f" and np.abs(y).max() > LARGEST):
        raise InputError(
            f"column {quote(name)} of {quote_path(data.source)} has numbers beyond {LARGEST:g}, which are too large;"
            " correct or rescale it"
        )


def _choose_estimator(data: Data, task: Task, settings: Settings, y: AnyArray) -> tuple[type[Any], dict[str, Any]]:
    """The class of the estimator, and its parameters; the ridge is the default of the class unless it is given."""
    position = {name: index for index, name in enumerate(data.names)}
    always = split_names(list(settings.always), data.names)
    for name in always:
        if name not in position:
            raise InputError(f"--always names {quote(name)}, which is not a feature of {quote_path(data.source)}")
    common: dict[str, Any] = {
        "always_select": [position[name] for name in always] or None,
        "effort": settings.effort,
    }
    if settings.alpha is not None:
        common["alpha"] = settings.alpha
    if settings.k is not None:
        if settings.k < len(set(always)):
            raise InputError(
                f"--k {settings.k} is less than the {len(set(always))} features of --always; use a larger k"
            )
        return task.find_class(), {"k": settings.k, **common}
    if settings.criterion != "cv":
        return task.find_class("IC"), {"criterion": settings.criterion, **common}
    _check_folds(y, task)
    folds = (StratifiedKFold if task.has_classes else KFold)(FOLDS, shuffle=True, random_state=settings.seed)
    return task.find_class("CV"), {"cv": folds, "rule": settings.rule, "n_jobs": settings.jobs, **common}


def _check_folds(y: AnyArray, task: Task) -> None:
    advice = "use more rows, --criterion ebic, or a fixed --k"
    if len(y) < 2 * FOLDS:
        raise InputError(f"{len(y)} training rows are too few for {FOLDS}-fold cross-validation; {advice}")
    if task.has_classes:
        classes, counts = np.unique(y, return_counts=True)
        if counts.min() < FOLDS:
            raise InputError(
                f"class {quote(classes[counts.argmin()])} has {counts.min()} training rows, too few for {FOLDS}-fold"
                f" cross-validation; {advice}"
            )
