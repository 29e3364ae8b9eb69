"""From data and options to a model in the units of the data, with its scores: no printing, no files."""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, IntArray, Matrix
from ..estimators import SparseLinearModel
from .data import Data, column_list
from .errors import InputError, quoted, whole
from .scores import baseline, scores_of
from .tasks import Task, choose_task

__all__ = ["FOLDS", "Outcome", "Settings", "fit_model"]

FOLDS = 5
#: Larger numbers have squares that overflow.
LARGEST = 1e100


@dataclass(frozen=True)
class Settings:
    """What the user asked for; `None` is what the command decides."""

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
class Outcome:
    """A fitted model and all that is said about it.

    Attributes
    ----------
    data : Data
        What it was fitted to.
    settings : Settings
        What was asked for.
    task : Task
        The kind of model.
    reason : str
        Why this kind.
    alpha : float
        The ridge penalty that was used.
    fitted : SparseLinearModel
        The estimator as it was fitted, to scaled features.
    model : SparseLinearModel
        The same model for features in the units of the data.
    train, test : ndarray of int
        Rows of each part; no test rows if the user wants none.
    y : ndarray
        The target as the model takes it.
    scores : dict of str to (float, float or None)
        Scores on training and on test rows.
    seconds : float
        Time of the fit.
    notes : tuple of str
        What the user should know.
    """

    data: Data
    settings: Settings
    task: Task
    reason: str
    alpha: float
    fitted: SparseLinearModel
    model: SparseLinearModel
    train: IntArray
    test: IntArray
    y: AnyArray
    scores: dict[str, tuple[float, float | None]]
    seconds: float
    notes: tuple[str, ...]

    @property
    def k(self) -> int:
        """Number of features that were asked for or chosen."""
        return int(self.fitted.k_) if self.settings.k is None else self.settings.k

    @property
    def selected(self) -> list[int]:
        """Selected features, the largest coefficient per standard deviation first."""
        sizes = np.abs(self.coefficients(scaled=True)).max(axis=0)
        return sorted(np.flatnonzero(self.model.support_).tolist(), key=lambda feature: -sizes[feature])

    def coefficients(self, *, scaled: bool) -> Array:
        """Coefficients, one row for each class or one in all: per standard deviation, or in the units of the data."""
        return np.atleast_2d((self.fitted if scaled else self.model).coef_)

    def intercepts(self, *, scaled: bool) -> Array:
        """Intercepts, as many as there are rows of coefficients."""
        return np.atleast_1d((self.fitted if scaled else self.model).intercept_)


def fit_model(data: Data, settings: Settings) -> Outcome:
    """Split, scale, fit, take the scales out again, and score."""
    task, y, reason = choose_task(data, settings.task)
    train, test = _split(y, task, settings)
    _check_size(data, y)
    scaler, X = _scaled(data.X[train])
    alpha = task.alpha if settings.alpha is None else settings.alpha
    estimator = _estimator(data, task, settings, alpha, y[train])
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            estimator.fit(X, y[train])
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot fit {whole(data.source)}: {error}") from error
    except MemoryError as error:
        raise InputError(f"{whole(data.source)} does not fit into memory; use fewer rows or columns") from error
    seconds = time.perf_counter() - began
    model = _in_units_of_data(estimator, scaler)
    on_train = scores_of(task, model, data.X[train], y[train])
    on_test = scores_of(task, model, data.X[test], y[test]) if len(test) else {}
    scores = {name: (value, on_test.get(name)) for name, value in on_train.items()}
    notes = (*data.notes, *_notes(data, settings, task, y[train], y[test]))
    return Outcome(data, settings, task, reason, alpha, estimator, model, train, test, y, scores, seconds, notes)


def _split(y: AnyArray, task: Task, settings: Settings) -> tuple[IntArray, IntArray]:
    """Rows to train on and rows to test on; of each class the same share in both."""
    rows, advice = np.arange(len(y)), "use more rows, or --test 0 to train on all of them"
    if settings.test == 0:
        return rows, rows[:0]
    classes, counts = np.unique(y, return_counts=True) if task.classes else (np.array([]), np.array([]))
    held_out = int(np.ceil(settings.test * len(y)))
    if held_out < max(2, len(classes)) or len(y) - held_out < max(2, len(classes)):
        raise InputError(
            f"{len(y)} rows are too few for --test {settings.test:g}, which holds out {held_out} of them; {advice}"
        )
    if task.classes and counts.min() < 2:
        raise InputError(
            f"class {quoted(classes[counts.argmin()])} has one row only, which cannot be in both the training and the"
            f" test part; {advice}; or --task regression or poisson, if the target is a number or a count"
        )
    stratify = y if task.classes else None
    train, test = train_test_split(rows, test_size=settings.test, random_state=settings.seed, stratify=stratify)
    return np.sort(train), np.sort(test)


def _scaled(X: Matrix) -> tuple[StandardScaler, Matrix]:
    """Features in standard deviations from their mean; sparse ones are not centred, to stay sparse."""
    scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
    return scaler, scaler.transform(X)


def _check_size(data: Data, y: AnyArray) -> None:
    """Refuse numbers whose squares are not finite."""
    high, low = data.X.max(axis=0), data.X.min(axis=0)
    if sparse.issparse(data.X):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    wild = np.flatnonzero(np.maximum(high, -low) > LARGEST)
    name = data.names[wild[0]] if wild.size else data.target
    if wild.size or (y.dtype.kind == "f" and np.abs(y).max() > LARGEST):
        raise InputError(
            f"column {quoted(name)} of {whole(data.source)} has numbers beyond {LARGEST:g}, too large to work with;"
            " correct or rescale it"
        )


def _estimator(data: Data, task: Task, settings: Settings, alpha: float, y: AnyArray) -> SparseLinearModel:
    position = {name: index for index, name in enumerate(data.names)}
    always = column_list(list(settings.always), data.names)
    for name in always:
        if name not in position:
            raise InputError(f"--always names {quoted(name)}, which is not a feature of {whole(data.source)}")
    common: dict[str, Any] = {
        "alpha": alpha,
        "always_select": [position[name] for name in always] or None,
        "effort": settings.effort,
    }
    if settings.k is not None:
        if settings.k < len(set(always)):
            raise InputError(
                f"--k {settings.k} is less than the {len(set(always))} features of --always; use a larger k"
            )
        return task.kind()(k=settings.k, **common)
    if settings.criterion != "cv":
        return task.kind("IC")(criterion=settings.criterion, **common)
    folds = (StratifiedKFold if task.classes else KFold)(FOLDS, shuffle=True, random_state=settings.seed)
    _check_folds(y, task)
    return task.kind("CV")(cv=folds, rule=settings.rule, n_jobs=settings.jobs, **common)


def _check_folds(y: AnyArray, task: Task) -> None:
    advice = "use more rows, --criterion ebic, or a fixed --k"
    if len(y) < 2 * FOLDS:
        raise InputError(f"{len(y)} training rows are too few for {FOLDS} folds of cross-validation; {advice}")
    if task.classes:
        classes, counts = np.unique(y, return_counts=True)
        if counts.min() < FOLDS:
            raise InputError(
                f"class {quoted(classes[counts.argmin()])} has {counts.min()} training rows, too few for {FOLDS} folds"
                f" of cross-validation; {advice}"
            )


def _in_units_of_data(estimator: SparseLinearModel, scaler: StandardScaler) -> SparseLinearModel:
    """The same predictions from features that are not scaled: w/s and b − Σ w·m/s."""
    model = copy.copy(estimator)
    model.coef_ = estimator.coef_ / scaler.scale_
    if scaler.with_mean:
        shift = model.coef_ @ scaler.mean_
        model.intercept_ = estimator.intercept_ - (shift if np.ndim(shift) else float(shift))
    return model


def _notes(data: Data, settings: Settings, task: Task, y: AnyArray, y_test: AnyArray) -> list[str]:
    notes = []
    features = data.X.shape[1]
    if settings.k is not None and settings.k > features:
        notes.append(f"--k {settings.k} is more than the {features} features, so all of them may be used")
    if sparse.issparse(data.X):
        notes.append("Sparse features were scaled by their standard deviation and not centred")
    if task.classes:
        usual, share = baseline(y, y_test if len(y_test) else y)
        where = "test" if len(y_test) else "training"
        notes.append(f"For comparison: always answering {quoted(usual)} has an accuracy of {share:.3f} on {where} rows")
    return notes
