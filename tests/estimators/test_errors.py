"""Bad parameters and data are refused with one sentence that names them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError

import ksparse
from tests.estimators.models import FOUR, N, X, fitted, model, response

PARAMETERS: dict[str, tuple[Any, type[Exception], str]] = {
    "k=-1": (-1, ValueError, "k must be at least 0, got -1"),
    "k=2.0": (2.0, TypeError, "k must be an integer, got 2.0 of type float"),
    "k='3'": ("3", TypeError, "k must be an integer, got '3' of type str"),
    "k=None": (None, TypeError, "k must be an integer, got None"),
    "k=True": (True, TypeError, "k must be an integer, got True"),
    "alpha=-1": (-1, ValueError, "alpha must be finite and at least 0, got -1"),
    "alpha=nan": (np.nan, ValueError, "alpha must be finite and at least 0, got nan"),
    "alpha=inf": (np.inf, ValueError, "alpha must be finite"),
    "alpha='1'": ("1", TypeError, "alpha must be a number, got '1' of type str"),
    "fit_intercept=1": (1, TypeError, "fit_intercept must be True or False, got 1"),
    "warm_start='yes'": ("yes", TypeError, "warm_start must be True or False, got 'yes'"),
    "solver='lasso'": ("lasso", ValueError, "solver must be one of 'auto', 'grahtp'.*got 'lasso'"),
    "effort=6": (6, ValueError, "effort must be an integer from 0 .* to 5 .*got 6"),
    "effort=1.0": (1.0, TypeError, "effort must be an integer from 0 .* got 1.0"),
    "effort='high'": ("high", TypeError, "effort must be an integer from 0 .* got 'high'"),
    "solver=None": (None, ValueError, "solver must be one of.*got None"),
    "solver=GraHTP": (ksparse.GraHTP, ValueError, r"a solver such as ksparse.GraHTP\(\); got <class"),
}


@pytest.mark.parametrize("case", PARAMETERS)
@pytest.mark.parametrize("name", FOUR)
def test_parameters(name: str, case: str) -> None:
    value, kind, message = PARAMETERS[case]
    with pytest.raises(kind, match=message) as caught:
        fitted(name, **{case.split("=")[0]: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("delta", "kind", "message"),
    [
        (0, ValueError, "delta must be finite and greater than 0, got 0"),
        (np.nan, ValueError, "delta must be finite and greater than 0"),
        ("mad", ValueError, "delta must be a positive number or \"auto\", got 'mad'"),
        (None, TypeError, "delta must be a number, got None"),
    ],
)
def test_delta(delta: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        fitted("huber", delta=delta)


@pytest.mark.parametrize(
    ("class_weight", "kind", "message"),
    [
        ("equal", ValueError, "class_weight must be a dict of labels and weights, or \"balanced\"; got 'equal'"),
        ([1, 2], ValueError, "class_weight must be a dict"),
        ({"maybe": 1}, ValueError, r"class_weight has the label 'maybe', .* labels are \['no', 'yes'\]"),
        ({"no": -1}, ValueError, r"class_weight\['no'\] must be finite and at least 0, got -1"),
        ({"no": "1"}, TypeError, r"class_weight\['no'\] must be a number, got '1'"),
        ({"no": 0}, ValueError, r"no sample of class \['no'\] has a positive sample_weight"),
    ],
)
def test_class_weight(class_weight: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        fitted("logistic", class_weight=class_weight)


def changed(value: Any) -> Any:
    data = X.copy()
    data[3, 2] = value
    return data


DATA: dict[str, tuple[Any, str]] = {
    "NaN": (changed(np.nan), "X has NaN or infinite values; remove or impute them"),
    "infinity": (changed(np.inf), "X has NaN or infinite values; remove or impute them"),
    "one dimension": (X[:, 0], "Expected 2D array, got 1D array"),
    "three dimensions": (X[None], "dim 3"),
    "no samples": (X[:0], r"0 sample\(s\)"),
    "no features": (X[:, :0], r"0 feature\(s\)"),
    "fewer samples": (X[:-1], r"inconsistent numbers of samples: \[79, 80\]"),
    "text": (np.full(X.shape, "a"), "could not convert string to float"),
    "complex": (X + 1j, "Complex data not supported"),
}


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("name", FOUR)
def test_data(name: str, case: str) -> None:
    data, message = DATA[case]
    with pytest.raises(ValueError, match=message):
        fitted(name, data)


@pytest.mark.parametrize("name", ["linear", "poisson", "huber"])
def test_responses(name: str) -> None:
    y = response(name).astype(float)
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
            fitted(name, y=np.where(np.arange(N) == 5, value, y))
    with pytest.raises(ValueError, match="y must be numeric; could not convert"):
        fitted(name, y=np.full(N, "a"))
    with pytest.raises(ValueError, match="requires y"):
        model(name).fit(X, None)
    if name != "linear":
        with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(80, 2\)"):
            fitted(name, y=np.column_stack([y, y]))
        with pytest.warns(DataConversionWarning):
            assert fitted(name, y=y[:, None]).coef_.shape == (8,)


def test_counts() -> None:
    y = response("poisson").astype(float)
    y[7] = -2
    with pytest.raises(ValueError, match=r"Poisson needs counts y >= 0; y\[7\] is -2"):
        fitted("poisson", y=y)
    with pytest.warns(ksparse.ConvergenceWarning, match="no minimum"):
        fitted("poisson", y=np.zeros(N))


def test_numbers_instead_of_labels() -> None:
    """Many classes that are numbers are fitted with a warning; names are not numbers, and few classes are usual."""
    rows, numbers = np.tile(X, (2, 1))[:66, :2], np.arange(66) % 23
    with pytest.warns(UserWarning, match=r"y has 23 classes for 66 samples; for numbers .* SparseLinearRegression"):
        ksparse.SparseLogisticRegression(k=1).fit(rows, numbers)
    ksparse.SparseLogisticRegression(k=1).fit(rows, [f"name {number}" for number in numbers])
    ksparse.SparseLogisticRegression(k=1).fit(rows, numbers // 2)


def test_labels() -> None:
    y = response("logistic").astype(object)
    with pytest.raises(ValueError, match="y has only one class: 'yes'; a classifier needs"):
        fitted("logistic", y=["yes"] * N)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        fitted("logistic", y=X[:, 0])
    with pytest.raises(ValueError, match=r"y has labels of different types .*; use one type, without None"):
        fitted("logistic", y=np.where(np.arange(N) == 7, 1, y))
    for missing in (None, np.nan):
        with pytest.raises(ValueError, match=r"NaN|Unknown label type"):
            fitted("logistic", y=np.where(np.arange(N) == 0, missing, y))
    with pytest.raises(ValueError, match="1d array"):
        fitted("logistic", y=np.column_stack([y == "yes", y == "no"]))


WEIGHTS: dict[str, tuple[Any, str]] = {
    "too few": (np.ones(3), r"sample_weight has shape \(3,\), expected \(80,\)"),
    "a number": (2.0, r"sample_weight has shape \(\), expected \(80,\)"),
    "a column": (np.ones((N, 1)), r"sample_weight has shape \(80, 1\), expected \(80,\)"),
    "negative": (np.where(np.arange(N) == 4, -1, 1), "sample_weight must not be negative; entry 4 is -1"),
    "NaN": (np.full(N, np.nan), "sample_weight has 80 NaN or infinite values"),
    "zero": (np.zeros(N), "sample_weight is zero for every sample"),
    "text": ("heavy", "sample_weight must be numeric"),
    "overflow": (np.full(N, 1e308), "the sum of sample_weight overflows"),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("name", FOUR)
def test_weights(name: str, case: str) -> None:
    weights, message = WEIGHTS[case]
    with pytest.raises(ValueError, match=message):
        fitted(name, sample_weight=weights)


@pytest.mark.parametrize("case", ["too few", "a number", "a column", "NaN", "text"])
def test_weights_beside_class_weights(case: str) -> None:
    weights, message = WEIGHTS[case]
    with pytest.raises(ValueError, match=message):
        fitted("logistic", sample_weight=weights, class_weight="balanced")


@pytest.mark.parametrize("name", FOUR)
def test_predicting(name: str) -> None:
    for method in ("predict", "transform"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(model(name), method)(X)
    here = fitted(name)
    with pytest.raises(ValueError, match=r"X has 7 features, but .* is expecting 8 features"):
        here.predict(X[:, :-1])
    with pytest.raises(ValueError, match="contains NaN"):
        here.predict(changed(np.nan))
    with pytest.raises(ValueError, match="Expected 2D array"):
        here.predict(X[0])
