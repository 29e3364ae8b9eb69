"""Proportional odds: the likelihood by its definition, thresholds at their best values, and labels in their order."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit

import ksparse
from ksparse._types import Array
from ksparse.objectives import Logistic, Ordinal
from ksparse.objectives.loss import SampleMargins
from ksparse.objectives.losses import OrdinalLoss
from ksparse.objectives.losses.ordinal import compute_log_probabilities
from ksparse.objectives.targets import encode_ordered_labels
from ksparse.solvers import Status
from tests.problems import N, P, design, responses, signal

#: pandas and statsmodels, which come without types.
pd: Any = import_module("pandas")
OrderedModel: Any = import_module("statsmodels.miscmodels.ordinal_model").OrderedModel

X = design(n=120)
rng = np.random.default_rng(0)
GRADES = np.digitize(1.2 * signal(X) + rng.logistic(size=120), [-1.0, 0.5, 2.0])
WEIGHTS = rng.uniform(0.2, 2.0, 120)


def mean_loss(margins: Array, thresholds: Array, y: Any, weights: Array) -> float:
    """−log P by the difference of the cumulative probabilities."""
    cumulative = expit(np.concatenate([[-np.inf], thresholds, [np.inf]])[:, None] - margins)
    return float(np.average(-np.log(np.diff(cumulative, axis=0)[y, np.arange(len(y))]), weights=weights))


def best_thresholds(margins: Array, y: Any, weights: Array) -> tuple[Array, float]:
    """By a search over all thresholds."""

    def spread(raw: Array) -> Array:
        return np.cumsum(np.append(raw[0], np.exp(raw[1:])))

    start = np.append(margins.mean() - 1.0, np.zeros(y.max() - 1))
    found = scipy_minimize(
        lambda raw: mean_loss(margins, spread(raw), y, weights), start, method="BFGS", options={"gtol": 1e-9}
    )
    return spread(found.x), float(found.fun)


@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0])
def test_thresholds_are_the_best_ones(scale: float) -> None:
    margins = scale * signal(X) + 5.0
    thresholds, value = best_thresholds(margins, GRADES, WEIGHTS)
    bound: Any = OrdinalLoss(4).bind(GRADES.astype(float), WEIGHTS / WEIGHTS.sum())
    assert bound.total(margins) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(bound.find_nuisance(margins), thresholds, atol=1e-4)
    assert mean_loss(margins, bound.find_nuisance(margins), GRADES, WEIGHTS) == pytest.approx(value, rel=1e-9)


def test_where_the_search_for_thresholds_begins_does_not_matter() -> None:
    """Margins near and far, one after the other: each time the same as from nothing."""
    y, weights = GRADES.astype(float), WEIGHTS / WEIGHTS.sum()
    used: Any = OrdinalLoss(4).bind(y, weights)
    steps = np.random.default_rng(1)
    for size in (1.0, 1e-3, 30.0, 1.0, 1e6, 1.0, 300.0, 1e-6):
        margins = size * steps.standard_normal(120)
        fresh: Any = OrdinalLoss(4).bind(y, weights)
        assert used.total(margins) == pytest.approx(fresh.total(margins), rel=1e-9)
        if size < 100:
            np.testing.assert_allclose(used.slopes(margins), fresh.slopes(margins), atol=1e-10)
            np.testing.assert_allclose(used.find_nuisance(margins), fresh.find_nuisance(margins), atol=1e-8)


@pytest.mark.parametrize("size", [1e3, 1e8, 1e100])
def test_far_margins_give_no_nan(size: float) -> None:
    """And for margins that separate the classes, the loss vanishes."""
    bound: Any = OrdinalLoss(4).bind(GRADES.astype(float), np.full(120, 1 / 120))
    for margins in (size * np.random.default_rng(2).standard_normal(120), size * GRADES):
        assert bound.total(margins) >= 0.0
        assert np.isfinite(bound.slopes(margins)).all()
        assert np.isfinite(bound.hessian_diagonal(margins)).all()
        assert (np.diff(bound.find_nuisance(margins)) > 0).all()
    assert bound.total(size * GRADES.astype(float)) < 1e-6


def test_slopes_and_hessian_by_finite_differences() -> None:
    y, weights = GRADES.astype(float), WEIGHTS / WEIGHTS.sum()
    loss, margins, step = OrdinalLoss(4), 0.8 * signal(X), 1e-5
    numeric = np.empty(120)
    hessian = np.empty((120, 120))
    for i in range(120):
        move = np.zeros(120)
        move[i] = step
        numeric[i] = (loss.total(margins + move, y, weights) - loss.total(margins - move, y, weights)) / (2 * step)
        hessian[i] = (loss.slopes(margins + move, y, weights) - loss.slopes(margins - move, y, weights)) / (2 * step)
    np.testing.assert_allclose(loss.slopes(margins, y, weights), numeric, atol=1e-9)
    np.testing.assert_allclose(loss.multiply_hessian(margins, y, weights, np.eye(120)), hessian, atol=1e-9)
    np.testing.assert_allclose(loss.hessian_diagonal(margins, y, weights), hessian.diagonal(), atol=1e-9)
    bound, directions = loss.bind(y, weights), X[:, :3]
    gram = directions.T @ hessian @ directions
    np.testing.assert_allclose(bound.compute_gram(margins, directions), gram, atol=1e-7)
    cross, squares = bound.compute_cross(margins, directions[:, :2], directions[:, 1:])
    np.testing.assert_allclose(cross, gram[:2, 1:], atol=1e-7)
    np.testing.assert_allclose(squares, gram.diagonal()[1:], rtol=1e-5)
    np.testing.assert_allclose(hessian.sum(axis=1), 0.0, atol=1e-9)  # a constant changes nothing


def test_all_features_are_the_ordered_model_of_statsmodels() -> None:
    found = ksparse.minimize(Ordinal(X, GRADES), k=P)
    peer = OrderedModel(GRADES, X, distr="logit")
    fitted = peer.fit(method="newton", disp=False, maxiter=50)
    np.testing.assert_allclose(found.x, fitted.params[:P], atol=1e-6)
    assert found.nuisance is not None
    np.testing.assert_allclose(found.nuisance, peer.transform_threshold_params(fitted.params)[1:-1], atol=1e-6)
    assert found.value == pytest.approx(-fitted.llf / 120, rel=1e-10)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_two_classes_are_logistic_regression(weights: Any) -> None:
    y = GRADES > 1
    options = {"alpha": 0.05, "sample_weight": weights, "offset": np.linspace(-1, 1, 120)}
    ordinal = ksparse.minimize(Ordinal(X, y, **options), k=3)
    logistic = ksparse.minimize(Logistic(X, y, fit_intercept=True, **options), k=3)
    np.testing.assert_allclose(ordinal.x, logistic.x[:-1], atol=1e-7)
    assert ordinal.nuisance is not None
    np.testing.assert_allclose(ordinal.nuisance, -logistic.x[-1:], atol=1e-7)
    assert ordinal.value == pytest.approx(logistic.value, rel=1e-10)


def test_held_out_samples_are_judged_by_the_thresholds_of_the_training_samples() -> None:
    margins, train = signal(X), np.arange(120) < 80
    parts = [SampleMargins(margins[rows], GRADES[rows].astype(float), WEIGHTS[rows]) for rows in (train, ~train)]
    thresholds, _ = best_thresholds(margins[train], GRADES[train], WEIGHTS[train])
    expected = mean_loss(margins[~train], thresholds, GRADES[~train], WEIGHTS[~train])
    assert OrdinalLoss(4).average_held_out(*parts) == pytest.approx(expected, rel=1e-6)


def test_separated_classes_have_no_minimum_without_a_ridge() -> None:
    data = np.column_stack([np.arange(40.0), np.random.default_rng(0).standard_normal((40, 3))])
    y = np.repeat([0, 1, 2, 3], 10)
    with pytest.warns(UserWarning, match="separate the classes"):
        result = ksparse.minimize(Ordinal(data, y), k=1)
    assert result.status is Status.NO_MINIMUM
    assert np.isfinite(result.x).all()
    held = ksparse.minimize(Ordinal(data, y, alpha=1e-3), k=1)
    assert held.success
    assert held.nuisance is not None
    assert (np.diff(held.nuisance) > 0).all()


def test_probabilities_do_not_cancel() -> None:
    thresholds = np.array([0.0, 1e-9, 700.0])
    logs = compute_log_probabilities(np.array([0.0, 690.0, -800.0]), thresholds)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
    np.testing.assert_allclose(logs[0, 1], np.log(0.25e-9), rtol=1e-6)
    np.testing.assert_allclose(logs[2], [0.0, -800.0 + np.log(1e-9), -800.0, -1500.0], atol=1e-6)


def test_labels_in_their_order() -> None:
    y = np.array(["low", "high", "mid", "low"])
    ordered = pd.Series(pd.Categorical(y, ["low", "mid", "high", "never"], ordered=True))
    for labels, categories in ((y, ["low", "mid", "high"]), (ordered, None), (ordered, ["low", "mid", "high"])):
        classes, codes = encode_ordered_labels(labels, 4, categories)
        assert classes.tolist() == ["low", "mid", "high"]
        assert codes.tolist() == [0, 2, 1, 0]
    polars = import_module("polars")
    enum = polars.Series(y, dtype=polars.Enum(["low", "mid", "high"]))
    assert encode_ordered_labels(enum, 4)[1].tolist() == [0, 2, 1, 0]
    assert encode_ordered_labels([3.5, -1.0, 3.5], 3)[0].tolist() == [-1.0, 3.5]
    assert encode_ordered_labels([True, False], 2)[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "categories", "said"),
    [
        (["a", "b", "c"], None, "text labels such as 'a', 'b', 'c', whose order is not known; pass categories"),
        ([1, 2, 3], [1, 3, 2], "categories is out of order: 3 comes before 2"),
        (["a", "b", "c"], ["a", "b"], "y has the label 'c', which is not in categories; those are 'a', 'b'"),
        (["a", "b", "c"], ["a", "b", "b", "c"], "categories has 'b' twice"),
        (pd.Series(pd.Categorical(list("abc"), list("cba"), ordered=True)), ["a", "b", "c"], "another order than"),
        ([2, 2, 2], None, "only the class"),
        ([1.0, np.nan, 2.0], None, "1 NaN or infinite labels"),
        ([[1], [2], [3]], None, "y has shape"),
        ([1, 2], None, "y has 2 values for 3 rows"),
    ],
)
def test_labels_without_an_order(y: Any, categories: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Ordinal(np.eye(3), y, categories=categories)


def test_a_class_without_weight_is_refused() -> None:
    y = responses("ordinal", signal(design()))
    with pytest.raises(ValueError, match=r"no sample of class \[1\] has a positive sample_weight"):
        Ordinal(design(), y, sample_weight=(y != 1) * 1.0)
    with pytest.raises(ValueError, match="has no intercept"):
        Ordinal(design(), y, fit_intercept=True)
    assert len(y) == N
