"""Groups, always-selected features and signs: what users say about features is kept, or refused in clear words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import nnls

from tests.estimators.models import (
    FIXED,
    FOUR,
    MODELS,
    NAMES,
    P,
    X,
    assert_same,
    fitted,
    model,
    pd,
    reference,
    response,
)

GROUPS = ["c", "a", "b", "a", "c", "b", "d", "d"]
PANDAS, POLARS = pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES.tolist())


def members(labels: Any) -> Any:
    return np.isin(GROUPS, labels)


@pytest.mark.parametrize("name", MODELS)
def test_the_best_of_all_pairs_of_groups(name: str) -> None:
    options: dict[str, Any] = {"alpha": 0.01, **FIXED.get(name, {})}
    values = {pair: fitted(name, X[:, members(pair)], k=P, **options).result_.value for pair in combinations("abcd", 2)}
    best = min(values, key=lambda pair: values[pair])
    here = fitted(name, k=2, feature_groups=GROUPS, **options)
    np.testing.assert_array_equal(here.support_, members(best))
    assert here.result_.value == pytest.approx(values[best], rel=1e-9)


@pytest.mark.parametrize("name", FOUR)
def test_groups_in_every_form(name: str) -> None:
    reference = fitted(name, k=2, feature_groups=GROUPS)
    by_name = dict(zip(NAMES, GROUPS, strict=True))
    numbers = [ord(label) for label in GROUPS]
    forms: list[Any] = [np.array(GROUPS), np.array(GROUPS, dtype=object), tuple(GROUPS), pd.Series(GROUPS), numbers]
    for form in forms:
        assert_same(fitted(name, k=2, feature_groups=form), reference)
    for frame in (PANDAS, POLARS):
        assert_same(fitted(name, frame, k=2, feature_groups=dict(reversed(by_name.items()))), reference)


def test_groups_of_one_are_features() -> None:
    for name in MODELS:
        assert_same(fitted(name, feature_groups=list("hgfedcba")), reference(name))


def test_a_group_is_selected_as_a_whole() -> None:
    """Also a feature that gets no coefficient: a constant one, or one whose sign would be wrong."""
    data = X.copy()
    data[:, 4] = 5.0
    constant = fitted("linear", data, k=3, feature_groups=GROUPS, always_select=["c"])
    positive = fitted("linear", y=-response("linear"), k=3, feature_groups=GROUPS, always_select=["c"], positive=True)
    for here in (constant, positive):
        assert abs(here.coef_[4]) < 1e-12
        assert here.support_[members("c")].all()
        np.testing.assert_array_equal(here.support_, members(here.result_.selected))
        assert here.transform(X).shape == (len(X), here.support_.sum())


ALWAYS: dict[str, Any] = {
    "indices": [0, 7],
    "negative indices": [-1, 0],
    "array": np.array([7, 0], dtype=np.uint8),
    "repeated": [0, 7, 7, -1],
    "mask": np.isin(np.arange(P), [0, 7]),
    "list mask": [True] + 6 * [False] + [True],
    "names": ["f7", "f0"],
    "index": pd.Index(["f0", "f7"]),
    "objects": np.array(["f0", "f7"], dtype=object),
}


@pytest.mark.parametrize("form", ALWAYS)
@pytest.mark.parametrize("name", FOUR)
def test_always_selected_features(name: str, form: str) -> None:
    options: dict[str, Any] = {"alpha": 0.01, **FIXED.get(name, {})}
    here = fitted(name, PANDAS, always_select=ALWAYS[form], **options)
    assert here.support_[[0, 7]].all()
    assert here.support_.sum() == 3
    triples = [fitted(name, X[:, [0, j, 7]], **options).result_.value for j in range(1, 7)]
    assert here.result_.value == pytest.approx(min(triples), rel=1e-9)


def test_a_single_name_or_index() -> None:
    for always, frame in (("f0", PANDAS), ("f0", POLARS), (0, X), (-P, X)):
        assert_same(fitted("linear", frame, always_select=always), fitted("linear", always_select=[0]))
    empty: list[Any] = [[], (), None, np.zeros(P, dtype=bool)]
    for nothing in empty:
        assert_same(fitted("linear", always_select=nothing), reference("linear"))


def test_always_selected_features_may_outnumber_those_of_a_first_robust_fit() -> None:
    here = fitted("huber", X[:15], response("huber")[:15], k=4, always_select=[0, 2, 3])
    assert here.support_[[0, 2, 3]].all()


@pytest.mark.parametrize("name", MODELS)
def test_always_selected_groups(name: str) -> None:
    here = fitted(name, k=2, feature_groups=GROUPS, always_select=["b"])
    assert here.support_[members("b")].all()
    assert "b" in here.result_.selected
    assert_same(fitted(name, k=2, feature_groups=GROUPS, always_select="b"), here)
    truths = [label == "b" for label in GROUPS]
    np.testing.assert_array_equal(fitted(name, k=1, feature_groups=truths, always_select=[True]).support_, truths)


@pytest.mark.parametrize("name", MODELS)
def test_nonnegative_coefficients(name: str) -> None:
    data = X * [1, -1, 1, 1, 1, 1, 1, 1]
    here = fitted(name, data, positive=True, alpha=0.01)
    assert (here.coef_ >= 0).all()
    assert np.any(fitted(name, data, alpha=0.01).coef_ < 0)
    assert here.support_.sum() <= 3
    if name in FOUR:
        assert here.coef_.ravel()[4] > 0
        flipped = fitted(name, -X, positive=True, k=P, alpha=0.01, always_select=[4])
        assert flipped.coef_.ravel()[4] == 0
        assert flipped.support_[4]


def test_nonnegative_least_squares() -> None:
    data = X * [1, -1, 1, 1, 1, 1, 1, 1]
    here = fitted("linear", data, positive=True, k=P, fit_intercept=False)
    np.testing.assert_allclose(here.coef_, nnls(data, response("linear"))[0], atol=1e-9)


ERRORS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "unknown name": (
        {"always_select": ["f0", "nope"]},
        ValueError,
        "always_select has 'nope'.*columns of X; those are 'f0', 'f1'",
    ),
    "index": ({"always_select": [8]}, ValueError, "always_select has the index 8, but X has 8 features"),
    "negative index": ({"always_select": [-9]}, ValueError, "index -9"),
    "mask": ({"always_select": [True, False]}, ValueError, "mask of shape .2,., but X has 8 features; give one value"),
    "fractions": ({"always_select": [0.5]}, TypeError, "names or indices of features, or be a mask; got .0.5."),
    "set": ({"always_select": {"f0"}}, TypeError, "names or indices of features"),
    "nested": ({"always_select": [[0, 1]]}, ValueError, "always_select has shape .1, 2.; expected a list"),
    "ragged": ({"always_select": [[0, 1], [2]]}, ValueError, "always_select must be one-dimensional"),
    "too many": ({"k": 1, "always_select": [0, 1]}, ValueError, "2 units are always selected, but k = 1.*increase k"),
    "short groups": (
        {"feature_groups": list("abc")},
        ValueError,
        "groups has 3 labels, but X has 8 features; give one",
    ),
    "text groups": ({"feature_groups": "abc"}, ValueError, "groups has 1 labels"),
    "nested groups": (
        {"feature_groups": [[0, 1], [2, 3, 4], [5, 6, 7]]},
        ValueError,
        "feature_groups must be one-dimensional: one label",
    ),
    "even groups": (
        {"feature_groups": [[0, 1], [2, 3], [4, 5], [6, 7]]},
        ValueError,
        "groups has shape .4, 2.; expected one",
    ),
    "no label": (
        {"feature_groups": {"f0": 1, "f2": 2}},
        ValueError,
        "groups has no label for 'f1', 'f3'.*give one for",
    ),
    "None": ({"feature_groups": ["a", None] * 4}, ValueError, "groups has labels of different types; use one type"),
    "1 and '1'": ({"feature_groups": ["1", 1] * 4}, ValueError, "groups has labels of different types"),
    "NaN": ({"feature_groups": [1.0, np.nan] * 4}, ValueError, "groups has NaN"),
    "unknown group": (
        {"feature_groups": GROUPS, "always_select": ["z"]},
        ValueError,
        "has 'z', which are not labels of feature_groups; those are 'a', 'b'",
    ),
    "feature for group": (
        {"feature_groups": GROUPS, "always_select": ["f0"]},
        ValueError,
        "not labels of feature_groups",
    ),
    "mask of groups": ({"feature_groups": [0, 1] * 4, "always_select": [True, False]}, ValueError, "has True, False"),
    "many groups": ({"k": 1, "feature_groups": GROUPS, "always_select": ["a", "b"]}, ValueError, "2 units are always"),
    "positive": ({"positive": 1}, TypeError, "positive must be True or False, got 1"),
}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.parametrize("name", ["linear", "huber"])
def test_errors_say_what_is_wrong(name: str, case: str) -> None:
    parameters, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message) as caught:
        fitted(name, PANDAS, **parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "parameters", [{"always_select": ["f0"]}, {"feature_groups": dict(zip(NAMES, GROUPS, strict=True))}]
)
def test_names_need_a_data_frame(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="but X has no names; pass a data frame"):
        fitted("linear", X, **parameters)


@pytest.mark.parametrize("frame", [PANDAS.to_numpy, PANDAS.copy, POLARS.clone])
def test_parameters_are_not_changed(frame: Callable[[], Any]) -> None:
    always, groups = ["b"], list(GROUPS)
    estimator = model("linear", k=2, feature_groups=groups, always_select=always)
    estimator.fit(frame(), response("linear"))
    assert estimator.feature_groups is groups
    assert groups == GROUPS
    assert estimator.always_select is always
    assert always == ["b"]
