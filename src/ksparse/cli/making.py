"""From options to an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.model_selection import KFold, StratifiedKFold

from .._types import AnyArray
from ..tables import TableEncoder
from ..wording import cut_text
from .data import Data, split_names, suggest_name
from .errors import InputError, quote, quote_path
from .settings import FOLDS, Settings
from .splitting import find_rarest
from .tasks import TASKS, Task


def make_estimator(
    data: Data, encoder: Any, task: Task, settings: Settings, y: AnyArray, classes: list[Any] | None
) -> Any:
    """The estimator: with a fixed k and ridge if both are given, otherwise one that chooses."""
    common = _find_selectable(data, encoder, settings) | _take_parameters(task, settings)
    common |= {"effort": settings.effort, "standardize": True}
    if settings.class_weight is not None:
        if not task.has_classes:
            raise InputError(f"--class-weight is for classes, but the task is {task.name}; leave it out")
        common["class_weight"] = settings.class_weight
    if task.has_order:
        common["categories"] = classes
    ks = _list_ks(settings, len(common["always_select"] or ()))
    ridge = {} if settings.alpha is None else {"alpha": settings.alpha}
    if settings.criterion != "cv":
        return task.find_class("IC")(criterion=settings.criterion, ks=ks, **ridge, **common)
    lacking = _lacks_rows(y, task)
    if settings.k is not None and (ridge or lacking):
        return task.find_class()(k=settings.k, **ridge, **common)
    if lacking:
        raise InputError(lacking)
    stratifies = task.has_classes or task.is_survival
    folds = (StratifiedKFold if stratifies else KFold)(FOLDS, shuffle=True, random_state=settings.seed)
    if settings.alpha is not None:
        common |= {"alphas": settings.alpha, "refit_alphas": None}
    return task.find_class("CV")(ks=ks, cv=folds, rule=settings.rule, n_jobs=settings.jobs, **common)


def _find_selectable(data: Data, encoder: Any, settings: Settings) -> dict[str, Any]:
    """The features of --always, and the groups that k counts: columns of a table, or features by number."""
    names = data.names if encoder is None else encoder.columns_.tolist()
    always = set(split_names(settings.always, names))
    if unknown := [name for name in always if name not in names]:
        said = f"--always names {quote(min(unknown))}, which is not a feature of {quote_path(data.source)}"
        raise InputError(f"{said}; {_suggest_feature(min(unknown), names, data, encoder)}")
    if encoder is not None and encoder.features_:
        return {"always_select": sorted(always) or None, "feature_groups": "columns"}
    return {"always_select": sorted(names.index(name) for name in always) or None, "feature_groups": None}


def _suggest_feature(name: str, names: Sequence[str], data: Data, encoder: TableEncoder | None) -> str:
    """What could be meant by a name that no feature has."""
    if data.first_index is not None:
        return f"they are {names[0]} to {names[-1]}"
    unused = [] if encoder is None else encoder.unused_
    reason = next((cut_text(column.reason) for column in unused if column.name == name), "")
    return f"it is left out ({reason}); --include uses such a column" if reason else suggest_name(name, names)


def _list_ks(settings: Settings, n_always: int) -> Any:
    """The numbers of features to try: one that is set, a list, or "auto"."""
    ks: Any = [settings.k] if settings.k is not None else "auto" if settings.ks is None else settings.ks
    if ks != "auto" and min(ks) < n_always:
        option = "--ks" if settings.k is None else "--k"
        raise InputError(f"{option} {min(ks)} is less than the {n_always} features of --always; use a larger k")
    return ks


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
        return f"{_count_training_rows(events)} with an event {'is' if events == 1 else 'are'} {few}"
    if len(y) < 2 * FOLDS:
        return f"{_count_training_rows(len(y))} {'is' if len(y) == 1 else 'are'} {few}"
    rarest, count = find_rarest(y, task)
    return f"class {quote(rarest)} has {_count_training_rows(count)}, {few}" if count < FOLDS else ""


def _count_training_rows(count: int) -> str:
    return f"{count} training row{'s' * (count != 1)}"
