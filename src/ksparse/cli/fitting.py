"""From data and options to a model in the units of the data, with its scores: no printing, no files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, IntArray
from ..estimators import SparseLinearModel
from ..inference import Summary, orient, rename_features
from ..selection.rules import choose
from ..wording import escape_control
from .class_order import order_classes
from .data import Data, split_names, tell_all_problems
from .encoded_model import EncodedModel, encode_training
from .errors import InputError, quote, quote_path
from .scoring import FEW_TEST_ROWS, Predicted, Scores, list_score_names, validate
from .settings import FOLDS, Settings, choose_resamples
from .target import choose_task
from .tasks import TASKS, Task


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, for features in the units of the data, with all that is reported about it.

    Attributes
    ----------
    data : Data
        The rows with a target.
    settings : Settings
        The options.
    task : Task
        The kind of model.
    reason : str
        Why this task.
    y : ndarray
        The target as the model takes it.
    train, test : ndarray of int
        The rows that k was chosen on, and those held out, if any.
    training : EncodedModel
        What was fitted to the training rows.
    final : EncodedModel
        The model that is reported and saved: fitted to all rows, with what was chosen on the training rows, unless the
        user wants the other.
    scores : Scores
        Scores of `training` on its rows and on the test rows.
    on_test : Predicted or None
        Its predictions of the test rows.
    seconds : float
        Seconds of the fit to the training rows.
    preparation : tuple of str
        How the data were read, and what was done to their columns.
    findings : tuple of str
        What a user should know of the choice of k.
    """

    data: Data
    settings: Settings
    task: Task
    reason: str
    y: AnyArray
    train: IntArray
    test: IntArray
    training: EncodedModel
    final: EncodedModel
    scores: Scores
    on_test: Predicted | None
    seconds: float
    preparation: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know."""
        return (*self.preparation, *self.findings)

    @property
    def model(self) -> SparseLinearModel:
        """The final estimator."""
        return self.final.estimator

    @property
    def chosen(self) -> Any:
        """The estimator that was fitted to the training rows: with the scores of all k, if it chose k."""
        return self.training.estimator

    @property
    def names(self) -> Sequence[str]:
        """The names of the features, or their numbers."""
        return self.data.names if self.final.encoder is None else self.final.encoder.get_feature_names_out().tolist()

    @property
    def rows(self) -> IntArray:
        """The rows that the final model was fitted to."""
        return np.arange(len(self.y)) if self.final is not self.training else self.train

    @cached_property
    def features(self) -> Any:
        """The features of the rows that the final model was fitted to."""
        return self.final.encode(self.data.X, self.rows)

    @cached_property
    def scaler(self) -> StandardScaler:
        """Means and standard deviations of these features."""
        return StandardScaler(with_mean=False).fit(getattr(self.features, "to_numpy", lambda: self.features)())

    @property
    def resamples(self) -> int:
        """Number of bootstrap resamples: what the user asked for, or fewer for larger data."""
        rows, features = len(self.rows), self.model.n_features_in_
        return choose_resamples(rows, features) if self.settings.resamples is None else self.settings.resamples

    @cached_property
    def numbered_summary(self) -> Summary:
        """What is known about the final model, with intervals from resamples; features are called by their numbers."""
        return self.model.summary(
            intervals="bootstrap" if self.resamples else None,
            resamples=max(self.resamples, 1),
            feature_names=range(self.model.n_features_in_),
            random_state=self.settings.seed,
            n_jobs=self.settings.jobs,
        )

    @property
    def summary(self) -> Summary:
        """The same with the names of features, and for the class of --positive."""
        return orient(rename_features(self.numbered_summary, self.names), self.sign)

    def find_models(self, k: int) -> tuple[EncodedModel, EncodedModel]:
        """The models with k features: as it was fitted to the training rows, and as it is fitted to all of them."""
        if k == self.k:
            return self.training, self.final
        chosen = self.chosen.at(k)
        judged = EncodedModel(self.training.encoder, chosen)
        if self.final is self.training:
            return judged, judged
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # The features of all rows are the same for each k; to encode them takes longer than a fit.
            return judged, EncodedModel(self.final.encoder, clone(chosen).fit(self.features, self.y))

    def predict_rows(self, rows: IntArray) -> Predicted:
        """The predictions of the model that was fitted to the training rows."""
        return _predict(self.training, self.data, self.y, rows, self.task)

    @property
    def is_skilled(self) -> bool:
        """Whether the model predicts test rows better than a constant, as far as this is known."""
        return self.scores.comparison is None or self.scores.comparison.is_better

    @property
    def k(self) -> int:
        """Number of features that was set or chosen."""
        return int(getattr(self.chosen, "k_", self.chosen.k))

    @property
    def chose_k(self) -> bool:
        """Whether k was chosen among several."""
        return len(getattr(self.chosen, "ks_", ())) > 1

    @property
    def unit(self) -> str:
        """What k counts, in messages."""
        return self.final.unit

    @property
    def column_name(self) -> str:
        """What the data have, in messages: columns of a table, or features by number."""
        return "features" if self.final.encoder is None else "columns"

    @property
    def selected(self) -> list[int]:
        """Selected features: by the largest standardized coefficient of their column, then of their own."""
        sizes, columns = np.abs(self.coefficients(standardize=True)).max(axis=0), self.final.columns
        selected = np.flatnonzero(self.model.support_).tolist()
        largest: dict[Any, float] = {}
        for feature in selected:
            largest[columns[feature]] = max(largest.get(columns[feature], 0.0), sizes[feature])
        first: dict[Any, int] = {columns[feature]: feature for feature in reversed(selected)}
        return sorted(selected, key=lambda j: (-largest[columns[j]], first[columns[j]], -sizes[j] if sizes[j] else 0.0))

    @property
    def selected_columns(self) -> list[str]:
        """The columns of the selected features, in their order."""
        return list(dict.fromkeys(self.final.columns[feature] for feature in self.selected))

    @property
    def sign(self) -> float:
        """−1 if the class whose odds the coefficients describe is the first one, by --positive."""
        if self.settings.positive is None or not self.task.has_classes or len(self.model.classes_) != 2:
            return 1.0
        return 1.0 if str(self.model.classes_[1]) == self.settings.positive else -1.0

    def coefficients(self, *, standardize: bool) -> Array:
        """Coefficients, one row for each class or a single row: standardized, or in the units of the data."""
        return self.sign * np.atleast_2d(self.model.coef_) * (self.scaler.scale_ if standardize else 1.0)

    def intercepts(self, *, standardize: bool) -> Array:
        """One intercept for each row of coefficients; the standardized one is the prediction for average features."""
        shift = self.coefficients(standardize=False) @ self.scaler.mean_ if standardize else 0.0
        return self.sign * np.atleast_1d(self.model.intercept_) + shift


def fit_model(data: Data, settings: Settings) -> FittedModel:
    """Split, fit to scaled features, score, and fit to all rows what was chosen."""
    with tell_all_problems(data.X, data.problems):
        task, y, reason, advice = choose_task(data.target, settings.task)
    data.check_problems()
    data.check_memory(outputs=_count_outputs(y) if task.has_classes and not task.has_order else 1)
    _check_positive(settings, task, y)
    classes = order_classes(data.target, task, y, settings.categories)
    train, test = _split(y, task, settings)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            encoder, notes = encode_training(data, task, settings, y, train)
            estimator = _make_estimator(data, encoder, task, settings, y[train], classes)
            training = EncodedModel.fit(encoder, estimator, data.X, y, train)
            seconds = time.perf_counter() - began
            final = training.fit_to_all(data.X, y) if settings.refit_all and len(test) else training
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot fit {quote_path(data.source)}: {escape_control(error)}") from error
    names = list_score_names(task, y)
    on_train = _predict(training, data, y, train, task)
    on_test = _predict(training, data, y, test, task) if len(test) else None
    wanted = len(test) < FEW_TEST_ROWS if settings.nested is None else settings.nested
    nested = validate(training, data.X, y, task, settings.jobs) if wanted and len(test) else None
    scores = Scores(
        on_train.score_all(names),
        {} if on_test is None else on_test.score_all(names),
        None if on_test is None else on_test.compare(y[train], on_test.choose_compared(task)),
        nested,
    )
    units, findings = len(dict.fromkeys(training.columns)), []
    if settings.k is not None and settings.k > units:
        unit = training.unit[:-1]
        findings.append(
            f"--k {settings.k} is more than the {units} {unit}{'s' * (units != 1)}, which may all be selected"
        )
    findings += _describe_choice(training.estimator, units)
    if (smaller := find_smaller_k(training.estimator)) is not None:
        findings.append(
            f"k = {smaller} scores within one standard error of the best: --k {smaller}, or --rule 1se, for a smaller"
            " model"
        )
    return FittedModel(
        data,
        settings,
        task,
        reason,
        y,
        train,
        test,
        training,
        final,
        scores,
        on_test,
        seconds,
        (*data.notes, *advice, *notes),
        tuple(findings),
    )


def _predict(model: EncodedModel, data: Data, y: AnyArray, rows: IntArray, task: Task) -> Predicted:
    """The predictions of some rows."""
    return Predicted.of_model(model.estimator, model.encode(data.X, rows), y[rows], task)


def _check_positive(settings: Settings, task: Task, y: AnyArray) -> None:
    if settings.positive is None:
        return
    if task.has_order:
        raise InputError("--positive is for classes without an order; with --task ordinal leave it out")
    labels = np.unique(y).tolist() if task.has_classes else []
    if len(labels) != 2:
        raise InputError(f"--positive is for two classes; the target has {len(labels) or 'none'}")
    if settings.positive not in map(str, labels):
        raise InputError(
            f"--positive names {quote(settings.positive)}; the classes are {', '.join(map(quote, labels))}"
        )


def _count_outputs(y: AnyArray) -> int:
    """The number of coefficients that each feature of a classifier has."""
    classes = len(np.unique(y))
    return classes if classes > 2 else 1


def _describe_choice(model: Any, n_units: int) -> list[str]:
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
    if model.k_ == tried[-1] and model.k_ < n_units:
        return [f"k = {model.k_} is the largest that was tried, and more may predict better: try larger ones with --ks"]
    return []


def find_smaller_k(model: Any) -> int | None:
    """A smaller k above 0 that the one-standard-error rule takes, where the default rule chose; None without one."""
    if getattr(model, "rule", None) != "smooth" or len(model.ks_) < 2:
        return None
    smaller = int(model.ks_[choose(model.grid_scores_, model.ks_, "1se").k])
    return smaller if 0 < smaller < model.k_ else None


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
    if task.is_survival and min((events := int(y["event"].sum())), len(y) - events) == 1:
        raise InputError(
            f"only one row has {'an' if events == 1 else 'no'} event, which cannot be in both parts; {advice}"
        )
    rarest, count = _find_rarest(y, task)
    if count < 2:
        raise InputError(
            f"class {quote(rarest)} has only one row, which cannot be in both the training and the test part;"
            f" {advice}; or --task regression or poisson, if the target is a number or a count"
        )
    stratify = _find_labels(y, task)
    train, test = train_test_split(rows, test_size=settings.test, random_state=settings.seed, stratify=stratify)
    return np.sort(train), np.sort(test)


def _find_labels(y: AnyArray, task: Task) -> AnyArray | None:
    """What both parts of a split have in the same fractions: the classes, or whether the event came."""
    return y["event"] if task.is_survival else y if task.has_classes else None


def _find_rarest(y: AnyArray, task: Task) -> tuple[Any, int]:
    """The class with the fewest rows, and their number; without classes, all rows count."""
    classes, counts = np.unique(y, return_counts=True) if task.has_classes else (y[:1], np.array([len(y)]))
    return classes[counts.argmin()], int(counts.min())


def _make_estimator(
    data: Data, encoder: Any, task: Task, settings: Settings, y: AnyArray, classes: list[Any] | None
) -> Any:
    """The estimator: with a fixed k and ridge if both are given, otherwise one that chooses."""
    names = data.names if encoder is None else encoder.columns_.tolist()
    always = set(split_names(settings.always, names))
    if unknown := [name for name in always if name not in names]:
        raise InputError(f"--always names {quote(min(unknown))}, which is not a feature of {quote_path(data.source)}")
    grouped = encoder is not None and bool(encoder.features_)
    positions = sorted(names.index(name) for name in always)
    common: dict[str, Any] = {
        "always_select": (sorted(always) if grouped else positions) or None,
        "feature_groups": "columns" if grouped else None,
        "effort": settings.effort,
        "standardize": True,
    }
    if settings.class_weight is not None:
        if not task.has_classes:
            raise InputError(f"--class-weight is for classes, but the task is {task.name}; leave it out")
        common["class_weight"] = settings.class_weight
    common |= _take_parameters(task, settings)
    if task.has_order:
        common["categories"] = classes
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
    stratifies = task.has_classes or task.is_survival
    folds = (StratifiedKFold if stratifies else KFold)(FOLDS, shuffle=True, random_state=settings.seed)
    if settings.alpha is not None:
        common |= {"alphas": settings.alpha, "refit_alphas": None}
    return task.find_class("CV")(ks=ks, cv=folds, rule=settings.rule, n_jobs=settings.jobs, **common)


def _take_parameters(task: Task, settings: Settings) -> dict[str, float]:
    """The parameters of the model's loss that the user gives."""
    names = {name for each in TASKS.values() for name in each.parameters}
    given = {name: getattr(settings, name) for name in sorted(names) if getattr(settings, name) is not None}
    for name in given:
        if name not in task.parameters:
            takers = ", ".join(each.name for each in TASKS.values() if name in each.parameters)
            raise InputError(f"--{name} is for --task {takers}, but the task is {task.name}; leave it out")
    return given


def _lacks_rows(y: AnyArray, task: Task) -> str:
    """Why there are too few rows for cross-validation; empty if there are enough."""
    few = f"too few for {FOLDS}-fold cross-validation; use more rows, --criterion ebic, or a fixed --k"
    if task.is_survival and (events := int(y["event"].sum())) < FOLDS:
        return f"{events} training rows with an event are {few}"
    if len(y) < 2 * FOLDS:
        return f"{len(y)} training rows are {few}"
    rarest, count = _find_rarest(y, task)
    return f"class {quote(rarest)} has {count} training rows, {few}" if count < FOLDS else ""
