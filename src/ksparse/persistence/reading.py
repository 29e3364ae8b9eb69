"""A model from text, after checks of every field."""

from __future__ import annotations

import json
import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np

from .._types import AnyArray, Array
from ..estimators import (
    SparseHuberRegression,
    SparseLinearModel,
    SparseLinearRegression,
    SparseLogisticRegression,
)
from .format import CLASSES, FIELDS, FORMAT, LABELS, LARGEST, VERSION

__all__ = ["loads", "notes_in", "parsed"]


def loads(text: str, name: str = "the text") -> SparseLinearModel:
    """The model in the text of a file; `name` is what errors call it."""
    try:
        return parsed(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"{name} is not a model saved by ksparse, or it is damaged: {reason}") from error


def parsed(text: str) -> SparseLinearModel:
    """The model in a text, or a ValueError that says what is wrong with it."""
    return _model(_content(text))


def notes_in(text: str, name: str) -> dict[str, Any]:
    """The notes in the text of a model; `name` is what errors call it."""
    loads(text, name)
    return dict(_content(text)["about"])


def _content(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"it has the number {constant}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("it has a field twice")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error})") from error


def _model(content: Any) -> SparseLinearModel:
    """A fitted estimator from the content of a file, after checks of all of it."""
    kind = _check_header(content)
    _check_about(content["about"])
    features = _count(content["n_features"], "n_features", 1, LARGEST)
    model = kind(**_checked_parameters(content["parameters"], kind))
    if kind is SparseLogisticRegression:
        model.classes_ = _checked_labels(content["classes"])
    if kind is SparseHuberRegression:
        model.delta_ = _number(content["delta"], "delta")
        _require(model.delta_ > 0, "delta must be greater than 0")
    names = _checked_names(content["feature_names"], features)
    indices = _checked_indices(content["indices"], "indices", features)
    selected = _checked_indices(content["selected"], "selected", features)
    _require(set(indices) <= set(selected), "indices has features that selected lacks")
    model.coef_, model.intercept_ = _checked_coefficients(content, kind, model, features, indices)
    model.support_ = np.zeros(features, dtype=bool)
    model.support_[selected] = True
    model.n_features_in_ = features
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _check_header(content: Any) -> type[SparseLinearModel]:
    """The class of the model in a file of this format and version that has all fields and no others."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'it lacks "format": "{FORMAT}"')
    number = content.get("version")
    if type(number) is not int or number != VERSION:
        raise ValueError(f"its format has version {_shown(number)}, and this ksparse reads {VERSION}; get a newer one")
    name = content.get("class")
    if not isinstance(name, str) or name not in CLASSES:
        raise ValueError(f"its class is {_shown(name)}, expected one of {', '.join(CLASSES)}")
    kind = CLASSES[name]
    extra = {"SparseLogisticRegression": {"classes"}, "SparseHuberRegression": {"delta"}}.get(name, set())
    _check_fields(content, FIELDS | extra, "it")
    _require(isinstance(content["ksparse_version"], str), "ksparse_version must be text")
    return kind


def _check_fields(content: Any, expected: set[str], where: str) -> None:
    _require(isinstance(content, dict), f"{where} must be an object")
    missing, unknown = sorted(expected - content.keys()), sorted(content.keys() - expected)
    _require(not missing, f"{where} lacks the field {_shown(missing[:1])}")
    _require(not unknown, f"{where} has the unknown field {_shown(unknown[:1])}")


def _check_about(content: Any) -> None:
    plain = isinstance(content, dict) and all(
        value is None or type(value) in (str, int, float, bool) for value in content.values()
    )
    _require(plain, "about must hold strings, numbers and booleans")


def _checked_parameters(content: Any, kind: type[SparseLinearModel]) -> dict[str, Any]:
    names = {"k", "alpha", "fit_intercept", "positive"}
    _check_fields(content, names | {"delta"} if kind is SparseHuberRegression else names, "parameters")
    for flag in ("fit_intercept", "positive"):
        _require(type(content[flag]) is bool, f"{flag} must be true or false")
    alpha = _number(content["alpha"], "alpha")
    _require(alpha >= 0, "alpha must be at least 0")
    checked = {**content, "k": _count(content["k"], "k", 0, 2**62), "alpha": alpha}
    if "delta" in content and content["delta"] != "auto":
        checked["delta"] = _number(content["delta"], "delta")
        _require(checked["delta"] > 0, "delta must be greater than 0")
    return checked


def _checked_labels(content: Any) -> AnyArray:
    _check_fields(content, {"type", "values"}, "classes")
    values, kind = content["values"], content["type"]
    labels = next((label for label, types in LABELS.items() if isinstance(kind, str) and kind in types), None)
    if labels is None:
        raise ValueError(f"classes has the unknown type {_shown(kind)}")
    _require(isinstance(values, list) and len(values) >= 2, "classes must have at least 2 values")
    _require(all(type(value) is labels for value in values), f"classes must have values of type {labels.__name__}")
    if labels is float:
        _require(all(math.isfinite(value) for value in values), "classes must be finite")
    _require(all(a < b for a, b in pairwise(values)), "classes must increase")
    try:
        return np.array(values, dtype=str if kind == "str" else kind)
    except OverflowError as error:
        raise ValueError(f"classes do not fit into {kind}") from error


def _checked_names(content: Any, features: int) -> list[str] | None:
    if content is None:
        return None
    _require(isinstance(content, list), "feature_names must be a list or null")
    _require(len(content) == features, f"there are {len(content)} feature_names for {features} features")
    _require(all(type(name) is str for name in content), "feature_names must be text")
    _require(len(set(content)) == features, "feature_names must differ")
    return list(content)


def _checked_indices(content: Any, name: str, features: int) -> list[int]:
    _require(isinstance(content, list), f"{name} must be a list")
    for index in content:
        _count(index, name, 0, features - 1)
    _require(all(a < b for a, b in pairwise(content)), f"{name} must increase")
    return list(content)


def _checked_coefficients(
    content: dict[str, Any], kind: type[SparseLinearModel], model: SparseLinearModel, features: int, indices: list[int]
) -> tuple[Array, Any]:
    """Coefficients and intercept in the shapes that an estimator of the class has."""
    values, intercept = content["values"], content["intercept"]
    if isinstance(intercept, list):
        rows = len(intercept)
        _require(kind in (SparseLogisticRegression, SparseLinearRegression), "intercept must be a number")
        _require(rows >= 1 and rows * features <= LARGEST, "it has no or too many coefficients")
        _require(isinstance(values, list) and len(values) == rows, f"values must have {rows} rows")
        if kind is SparseLogisticRegression:
            expected = 1 if len(model.classes_) == 2 else len(model.classes_)
            _require(rows == expected, f"{len(model.classes_)} classes need {expected} rows, not {rows}")
        matrix = np.zeros((rows, features))
        for row, numbers in zip(matrix, values, strict=True):
            row[indices] = _numbers(numbers, len(indices), "values")
        return matrix, _numbers(intercept, rows, "intercept")
    _require(kind is not SparseLogisticRegression, "intercept must be a list")
    coefficients = np.zeros(features)
    coefficients[indices] = _numbers(values, len(indices), "values")
    return coefficients, _number(intercept, "intercept")


def _numbers(content: Any, length: int, name: str) -> Array:
    _require(isinstance(content, list) and len(content) == length, f"{name} must be a list of {length} numbers")
    return np.array([_number(value, name) for value in content], dtype=np.float64)


def _number(content: Any, name: str) -> float:
    _require(type(content) in (int, float), f"{name} has {_shown(content)}, which is not a number")
    _require(abs(content) <= sys.float_info.max, f"{name} has a number that is not finite")
    return float(content)


def _count(content: Any, name: str, least: int, most: int) -> int:
    right = type(content) is int and least <= content <= most
    _require(right, f"{name} has {_shown(content)}, expected a whole number from {least} to {most}")
    return int(content)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _shown(value: Any) -> str:
    text = str(value[0] if isinstance(value, list) and len(value) == 1 else value)
    return repr(text if len(text) <= 40 else text[:40] + "…")
