"""Shapes, labels, probabilities and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score

import ksparse
from ksparse import SparseLogisticRegression
from tests.estimators.models import FOUR, N, P, X, assert_same, fitted, margins, reference, response


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("name", "coefficients", "intercept", "prediction"),
    [
        ("linear", (P,), (), (N,)),
        ("responses", (2, P), (2,), (N, 2)),
        ("logistic", (1, P), (1,), (N,)),
        ("multinomial", (3, P), (3,), (N,)),
        ("poisson", (P,), (), (N,)),
        ("huber", (P,), (), (N,)),
    ],
)
def test_shapes(name: str, coefficients: Any, intercept: Any, prediction: Any, fit_intercept: bool) -> None:
    here = fitted(name, fit_intercept=fit_intercept)
    assert here.coef_.shape == coefficients
    assert np.shape(here.intercept_) == intercept
    assert isinstance(here.intercept_, np.ndarray if intercept else float)
    assert here.predict(X).shape == prediction
    assert here.predict(X[:1]).shape == (1, *prediction[1:])
    assert here.support_.shape == (P,)
    assert here.support_.dtype == bool
    assert here.support_.sum() == 3
    np.testing.assert_array_equal(np.atleast_2d(here.coef_).any(axis=0), here.support_)
    assert fit_intercept or not np.any(here.intercept_)
    np.testing.assert_array_equal(here.transform(X), X[:, here.get_support(indices=True)])


def test_one_column_of_responses_stays_a_column() -> None:
    here, there = fitted("linear", y=response("linear")[:, None]), reference("linear")
    assert here.coef_.shape == (1, P)
    assert here.predict(X).shape == (N, 1)
    np.testing.assert_allclose(here.coef_[0], there.coef_, atol=1e-9)


@pytest.mark.parametrize("name", ["linear", "responses", "huber", "poisson"])
def test_predictions_are_those_of_the_formula(name: str) -> None:
    here = reference(name)
    link = np.exp if name == "poisson" else np.asarray
    np.testing.assert_allclose(here.predict(X), link(margins(here, X)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_probabilities(name: str) -> None:
    here, y = reference(name, 0.01), response(name)
    classes = np.unique(y)
    np.testing.assert_array_equal(here.classes_, classes)
    decision, proba = here.decision_function(X), here.predict_proba(X)
    assert decision.shape == ((N,) if len(classes) == 2 else (N, len(classes)))
    assert proba.shape == (N, len(classes))
    np.testing.assert_allclose(decision.reshape(N, -1), margins(here, X), atol=1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(here.predict_log_proba(X)), proba, atol=1e-14)
    np.testing.assert_array_equal(here.predict(X), classes[proba.argmax(axis=1)])
    # At the minimum with an intercept, mean probabilities are the frequencies of the classes.
    np.testing.assert_allclose(proba.mean(axis=0), [np.mean(y == label) for label in classes], atol=1e-6)
    far = here.predict_log_proba(1e6 * (X - X.mean(axis=0)))
    assert np.isfinite(far).all()
    assert far.min() < -1e4
    np.testing.assert_allclose(here.predict_proba(1e6 * X).sum(axis=1), 1.0)


LABELS: dict[str, Any] = {
    "text": ["b", "a"],
    "objects": np.array(["b", "a"], dtype=object),
    "bool": [True, False],
    "numbers": [7, -3],
    "floats": [2.0, 1.0],
    "int8": np.array([1, 0], dtype=np.int8),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(kind: str) -> None:
    labels = np.asarray(LABELS[kind])
    y = np.where(response("logistic") == "yes", labels[0], labels[1]).astype(labels.dtype)
    here = fitted("logistic", y=y)
    np.testing.assert_array_equal(here.classes_, np.sort(labels))
    assert here.predict(X).dtype == labels.dtype
    assert set(here.predict(X).tolist()) == set(labels.tolist())
    assert_same(here, reference("logistic"))
    assert fitted("logistic", y=y.tolist()).score(X, y) == here.score(X, y)


def test_several_classes_may_be_text() -> None:
    y = np.array(["low", "mid", "top"])[response("multinomial")]
    assert_same(fitted("multinomial", y=y), reference("multinomial"))
    assert set(fitted("multinomial", y=y).predict(X)) == {"low", "mid", "top"}


@pytest.mark.parametrize("weights", [None, np.linspace(0, 1, N)])
@pytest.mark.parametrize("name", [*FOUR, "multinomial", "responses"])
def test_score(name: str, weights: Any) -> None:
    here, y = reference(name), response(name)
    metric: Any = {"logistic": accuracy_score, "multinomial": accuracy_score}.get(name, r2_score)
    expected = metric(y, here.predict(X), sample_weight=weights)
    if name == "poisson":
        expected = d2_tweedie_score(y, here.predict(X), sample_weight=weights, power=1)
    score = here.score(X, y, sample_weight=weights)
    assert isinstance(score, float)
    assert score == pytest.approx(expected)
    assert score > 0.3


def test_exposures_are_weights() -> None:
    """As the documentation says: rates as y and exposures as weights are counts with an offset."""
    rng = np.random.default_rng(0)
    exposure = rng.uniform(0.5, 4.0, N)
    counts = rng.poisson(exposure * np.exp(0.4 * X[:, 2]))
    here = fitted("poisson", y=counts / exposure, sample_weight=exposure)
    objective = ksparse.objectives.Poisson(X, counts, offset=np.log(exposure), fit_intercept=True)
    np.testing.assert_allclose(here.coef_, ksparse.minimize(objective, k=3).x[:-1], atol=1e-6)


def test_k_rows_for_three_classes() -> None:
    here = SparseLogisticRegression(k=2).fit(X, response("multinomial"))
    assert np.count_nonzero(here.coef_) == 6
    np.testing.assert_allclose(here.intercept_.sum(), 0.0, atol=1e-9)
