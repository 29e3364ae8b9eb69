"""Every parameter and every fitted attribute of every estimator is documented."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ksparse
from tests.estimators.models import NAMES, X, pd, response

ESTIMATORS = [
    kind
    for kind in (getattr(ksparse, name) for name in ksparse.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]

#: What the estimators with these words in their names predict; the others predict counts.
TARGETS = {
    "Logistic": "logistic",
    "Discriminant": "logistic",
    "SVC": "logistic",
    "Gamma": "gamma",
    "Cox": "cox",
    "Ordinal": "ordinal",
}


def documented(kind: type[Any], section: str) -> list[str]:
    """Names under a heading of a class's docstring."""
    text = inspect.cleandoc(kind.__doc__ or "")
    body = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^(\S[^\n]*?) : ", body.group(1) if body else "", re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


def an_instance(kind: type[Any]) -> Any:
    if kind is ksparse.StabilitySelection:
        return kind(ksparse.SparseLinearRegression(k=2), n_pairs=3, random_state=0)
    quick: dict[str, Any] = {"ks": [1, 2], "cv": 3}
    return kind(**{name: value for name, value in quick.items() if name in inspect.signature(kind).parameters})


def test_there_are_estimators() -> None:
    assert len(ESTIMATORS) >= 13


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_documented(kind: type[Any]) -> None:
    parameters = list(inspect.signature(kind).parameters)
    assert sorted(documented(kind, "Parameters")) == sorted(parameters)
    assert "$" not in (kind.__doc__ or "")


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_fitted_attributes_are_documented(kind: type[Any]) -> None:
    data = pd.DataFrame(X, columns=NAMES)
    y = response(next((name for word, name in TARGETS.items() if word in kind.__name__), "poisson"))
    model = an_instance(kind).fit(data, y)
    public = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    fitted = {name for name in public if hasattr(model, name)}
    of_graphs = {"edges_"} if kind is ksparse.StabilitySelection else set()
    assert fitted == set(documented(kind, "Attributes")) - of_graphs


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_public_methods_are_documented(kind: type[Any]) -> None:
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("ksparse"):
            assert inspect.getdoc(method), name


def test_only_models_of_several_outputs_speak_of_matrices() -> None:
    for kind in ESTIMATORS:
        text = kind.__doc__ or ""
        several = any(word in kind.__name__ for word in ("LinearRegression", "Logistic", "SVC"))
        if "support_ :" in text and kind is not ksparse.StabilitySelection:
            assert ("A matrix with one row for two classes" in text) == several, kind
            no_intercept = any(word in kind.__name__ for word in ("Cox", "Ordinal"))
            assert ("the model has no intercept" in text) == no_intercept, kind


def test_defaults_are_those_of_the_documentation() -> None:
    for kind in ESTIMATORS:
        for name, parameter in inspect.signature(kind).parameters.items():
            said = re.search(rf"^{name} : .*default=(\S+)$", inspect.cleandoc(kind.__doc__ or ""), re.MULTILINE)
            if said and parameter.default is not inspect.Parameter.empty:
                stated = said.group(1).strip('"')
                same = stated == str(parameter.default)
                assert same or np.isclose(float(stated), parameter.default), f"{kind.__name__}.{name}"
