"""From data and options to a model in the units of the data, with its scores: no printing, no files."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._types import AnyArray, IntArray
from ..selection.rules import choose
from ..wording import escape_control
from .class_order import order_classes
from .data import Data, tell_all_problems
from .encoded_model import EncodedModel, encode_training
from .errors import InputError, quote, quote_path
from .fitted_model import FittedModel
from .making import make_estimator
from .row_weights import check_offset_size, check_offset_task
from .scoring import FEW_TEST_ROWS, Predicted, Scores, list_score_names, predict_encoded, validate
from .settings import Settings
from .splitting import hold_out_rows
from .target import choose_task, is_same_value
from .tasks import Task


def fit_model(data: Data, settings: Settings) -> FittedModel:
    """Split, fit to scaled features, score, and fit to all rows what was chosen."""
    with tell_all_problems(data.X, data.problems):
        task, y, reason, advice = choose_task(data.target, settings.task)
    data.check_problems()
    data.check_memory(outputs=_count_outputs(y, task))
    check_positive(settings, task, y)
    check_offset_task(data.row_columns, task, len(np.unique(y)) if task.has_classes else 0)
    check_offset_size(data.row_columns, data.row_values, task)
    classes = order_classes(data.target, task, y, settings.categories)
    train, test = hold_out_rows(y, task, settings)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            encoder, notes = encode_training(data, task, settings, y, train)
            estimator = make_estimator(data, encoder, task, settings, y[train], classes)
            training = EncodedModel.fit(encoder, estimator, data.X, y, train, data.target.names, data.row_values)
            seconds = time.perf_counter() - began
            refits = settings.refit_all and len(test)
            final = training.fit_to_all(data.X, y, data.row_values) if refits else training
            has_offset = data.row_values.offset is not None
            nothing = training.fit_nothing(data.X, y, train, data.row_values) if has_offset else None
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot fit {quote_path(data.source)}: {escape_control(error)}") from error
    on_test = predict_encoded(training, data, y, test, task) if len(test) else None
    if on_test is not None and nothing is not None:
        on_test = on_test.refer_to(predict_encoded(nothing, data, y, test, task))
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
        _score(training, data, y, task, settings, train, on_test),
        on_test,
        seconds,
        (*data.notes, *advice, *notes),
        tuple(list_findings(training, settings)),
        nothing,
    )


def _score(
    training: EncodedModel,
    data: Data,
    y: AnyArray,
    task: Task,
    settings: Settings,
    train: IntArray,
    on_test: Predicted | None,
) -> Scores:
    """Scores on the training rows, on the test rows if any, and by nested folds where these are few."""
    names = list_score_names(task, y)
    on_train = predict_encoded(training, data, y, train, task)
    if on_test is None:
        return Scores(on_train.score_all(names), {}, None, None)
    is_nested = len(on_test.y) < FEW_TEST_ROWS if settings.nested is None else settings.nested
    return Scores(
        on_train.score_all(names),
        on_test.score_all(names),
        on_test.compare(y[train], on_test.choose_compared(task), data.row_values.select(train).weights),
        validate(training, data, y, task, settings.jobs) if is_nested else None,
    )


def check_positive(settings: Settings, task: Task, y: AnyArray) -> None:
    """Raise if --positive names no class of two."""
    if settings.positive is None:
        return
    if task.has_order:
        raise InputError("--positive is for classes without an order; with --task ordinal leave it out")
    labels = np.unique(y).tolist() if task.has_classes else []
    if len(labels) != 2:
        raise InputError(f"--positive is for two classes; the target has {len(labels) or 'none'}")
    if not any(is_same_value(settings.positive, str(label)) for label in labels):
        raise InputError(
            f"--positive names {quote(settings.positive)}; the classes are {', '.join(map(quote, labels))}"
        )


def _count_outputs(y: AnyArray, task: Task) -> int:
    """The number of coefficients that each feature has."""
    if task.has_several:
        return int(y.shape[1])
    classes = len(np.unique(y)) if task.has_classes and not task.has_order else 1
    return classes if classes > 2 else 1


def list_findings(training: EncodedModel, settings: Settings) -> list[str]:
    """What a user should know of k: of the one that was asked for, and of the choice."""
    units, findings = len(dict.fromkeys(training.columns)), []
    if settings.k is not None and settings.k > units:
        unit = training.unit[:-1]
        findings.append(
            f"--k {settings.k} is more than the {units} {unit}{'s' * (units != 1)}, which may all be selected"
        )
    findings += _describe_chosen_k(training.estimator, units)
    if (smaller := find_smaller_k(training.estimator)) is not None:
        findings.append(
            f"k = {smaller} scores within one standard error of the best: --k {smaller}, or --rule 1se, for a smaller"
            " model"
        )
    return findings


def _describe_chosen_k(model: Any, n_units: int) -> list[str]:
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
