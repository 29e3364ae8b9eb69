"""Scores of weighted rows: those of as many equal rows, and those of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ksparse import SparseLinearRegression, SparseLogisticRegression, make_survival_target
from ksparse.inference import (
    compare_with_baseline,
    concordance_interval,
    find_scorer,
    repeat_cross_validation,
    score_interval,
)
from ksparse.inference.score_intervals import SCORES

N = 70
RNG = np.random.default_rng(11)
COUNTS = RNG.integers(0, 4, N)
SIGNAL = RNG.standard_normal(N)
NOISY = SIGNAL + RNG.standard_normal(N)
AMOUNTS = np.exp(SIGNAL)
EXPECTED = np.exp(0.7 * NOISY)
LABELS = np.array(["a", "b"])[(SIGNAL > 0).astype(int)]
CALLED = np.array(["a", "b"])[(NOISY > 0).astype(int)]
CHANCES = np.round(1 / (1 + np.exp(-NOISY)), 1)  # some are equal


def list_arguments(metric: str) -> dict[str, Any]:
    if metric in ("accuracy", "balanced_accuracy", "log_loss", "roc_auc"):
        chances = np.clip(CHANCES, 0.05, 0.95)
        return {"y": LABELS, "prediction": CALLED, "probabilities": chances}
    if metric.startswith("d2") and metric != "d2_pinball":
        return {"y": AMOUNTS, "prediction": EXPECTED}
    return {"y": SIGNAL, "prediction": NOISY}


def repeat(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: np.repeat(values, COUNTS, axis=0) for name, values in arguments.items()}


@pytest.mark.parametrize("unit", [1.0, 0.3])
@pytest.mark.parametrize("metric", SCORES)
def test_a_weight_is_a_number_of_equal_rows(metric: str, unit: float) -> None:
    """Also in the interval; and a constant factor of all weights changes nothing."""
    arguments = list_arguments(metric)
    once = score_interval(metric, **arguments, sample_weight=unit * COUNTS, resamples=300)
    often = score_interval(metric, **repeat(arguments), resamples=300)
    assert once.value == pytest.approx(often.value)
    # Bootstrap draws of rows are not the same ones.
    tolerance = 0.12 * (often.high - often.low) if often.method == "bootstrap" else 1e-9
    assert (once.low, once.high) == pytest.approx((often.low, often.high), abs=tolerance)
    assert abs(score_interval(metric, **arguments, resamples=0).value - once.value) > 1e-4  # so that this could fail


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "r2", "rmse", "d2_poisson", "d2_pinball", "pinball"])
def test_comparisons_with_a_constant_are_weighted(metric: str) -> None:
    arguments, rows = list_arguments(metric), np.arange(N) < 40
    target = arguments["y"]
    options: dict[str, Any] = {"resamples": 300, "quantile": 0.3}
    once = compare_with_baseline(
        metric,
        **{name: values[~rows] for name, values in arguments.items()},
        y_train=target[rows],
        sample_weight=COUNTS[~rows],
        train_weight=COUNTS[rows],
        **options,
    )
    counted = [np.repeat(part, COUNTS[part]) for part in (np.flatnonzero(rows), np.flatnonzero(~rows))]
    often = compare_with_baseline(
        metric,
        **{name: values[counted[1]] for name, values in arguments.items()},
        y_train=target[counted[0]],
        **options,
    )
    assert once.answer == (often.answer if metric in ("accuracy", "log_loss") else pytest.approx(often.answer))
    assert (once.score.value, once.baseline) == pytest.approx((often.score.value, often.baseline))
    assert once.difference == pytest.approx(often.difference)
    tolerance = 1e-9 if metric == "accuracy" else 0.15 * (often.high - often.low)
    assert (once.low, once.high) == pytest.approx((often.low, often.high), abs=tolerance)


def test_weights_that_are_no_counts_stand_for_fewer_rows() -> None:
    weights = RNG.uniform(0.1, 5.0, N)
    alike, weighted = (score_interval("accuracy", LABELS, CALLED, sample_weight=w) for w in (np.ones(N), weights))
    assert weighted.value == pytest.approx(metrics.accuracy_score(LABELS, CALLED, sample_weight=weights))
    assert weighted.high - weighted.low > alike.high - alike.low


def test_the_concordance_index_counts_a_weight_as_equal_rows() -> None:
    y = make_survival_target(np.exp(-SIGNAL), RNG.random(N) < 0.7)
    once = concordance_interval(y, NOISY, 0.7 * COUNTS)
    often = concordance_interval(np.repeat(y, COUNTS), np.repeat(NOISY, COUNTS))
    assert (once.value, once.low, once.high) == pytest.approx((often.value, often.low, often.high))


# --- cross-validation -------------------------------------------------------------------------------------------------

X = np.column_stack([NOISY, RNG.standard_normal((N, 3))])
FOLDS = np.arange(N) % 4


@pytest.mark.parametrize("classifies", [False, True])
def test_cross_validated_scores_count_a_weight_as_equal_rows(classifies: bool) -> None:
    y = LABELS if classifies else SIGNAL
    model: Any = SparseLogisticRegression(k=1, alpha=0.1) if classifies else SparseLinearRegression(k=1, alpha=0.1)
    model = make_pipeline(FunctionTransformer(), model)
    rows = np.repeat(np.arange(N), COUNTS)
    once = repeat_cross_validation(model, X, y, cv=GroupKFold(4), groups=FOLDS, sample_weight=COUNTS.astype(float))
    often = repeat_cross_validation(model, X[rows], y[rows], cv=GroupKFold(4), groups=FOLDS[rows])
    order = np.argsort(once.scores.iloc[:, -1].to_numpy()), np.argsort(often.scores.iloc[:, -1].to_numpy())
    for mine, theirs in ((once.scores, often.scores), (once.baseline_scores, often.baseline_scores)):
        np.testing.assert_allclose(mine.iloc[order[0]].to_numpy(), theirs.iloc[order[1]].to_numpy(), rtol=1e-6)


def test_scorers_of_other_estimators_get_weights() -> None:
    weights = COUNTS + 0.5
    model = LogisticRegression().fit(X, LABELS)
    expected = -metrics.log_loss(LABELS, model.predict_proba(X), sample_weight=weights)
    assert find_scorer(model, "neg_log_loss")(model, X, LABELS, sample_weight=weights) == pytest.approx(expected)


def test_scores_that_take_no_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scoring takes no sample_weight .*give the function a parameter"):
        repeat_cross_validation(
            LinearRegression(), X, SIGNAL, scoring={"own": lambda *_: 0.0}, sample_weight=np.ones(N)
        )
