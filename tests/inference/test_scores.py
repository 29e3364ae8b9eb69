"""Intervals of scores: against SciPy, published examples, exact probabilities and loops by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn import metrics
from sklearn.model_selection import KFold, RepeatedKFold, StratifiedKFold

from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegression
from ksparse.inference import compare_with_baseline, repeat_cross_validation, score_interval
from ksparse.inference.repeated_cross_validation import find_corrected_interval
from ksparse.inference.row_bootstrap import bootstrap_means
from ksparse.inference.score_intervals import combine_proportions, compute_log_losses, find_wilson_interval
from tests.estimators.models import X, response

rng = np.random.default_rng(0)
N = 60
Y = rng.standard_normal(N)
PREDICTED = Y + rng.standard_normal(N)
COUNTS = rng.poisson(2.0, N)
MEANS = np.exp(0.3 * rng.standard_normal(N)) * (COUNTS + 1.0) ** 0.7
LABELS = np.array(["no", "yes"])[(Y > 0.0).astype(int)]
CHANCES = 1 / (1 + np.exp(-1.5 * PREDICTED))
CALLED = np.array(["no", "yes"])[(CHANCES > 0.5).astype(int)]


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 10), (17, 18), (18, 18), (500, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilson(hits: int, n: int, level: float) -> None:
    expected = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    assert find_wilson_interval(hits / n, n, level) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", metrics.accuracy_score(LABELS, CALLED)),
        ("balanced_accuracy", metrics.balanced_accuracy_score(LABELS, CALLED)),
        ("roc_auc", metrics.roc_auc_score(LABELS, CHANCES)),
        ("log_loss", metrics.log_loss(LABELS, CHANCES)),
        ("r2", metrics.r2_score(Y, PREDICTED)),
        ("rmse", metrics.root_mean_squared_error(Y, PREDICTED)),
        ("d2_poisson", metrics.d2_tweedie_score(COUNTS, MEANS, power=1)),
        ("median_absolute_error", metrics.median_absolute_error(Y, PREDICTED)),
    ],
)
def test_scores_are_those_of_scikit_learn(metric: str, expected: float) -> None:
    if metric in ("r2", "rmse", "median_absolute_error"):
        found = score_interval(metric, Y, PREDICTED)
    elif metric == "d2_poisson":
        found = score_interval(metric, COUNTS, MEANS)
    else:
        found = score_interval(metric, LABELS, CALLED, probabilities=CHANCES)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    assert found.n_rows == N
    wide = (
        score_interval(metric, *((COUNTS, MEANS) if metric == "d2_poisson" else (Y, PREDICTED)), level=0.99)
        if (metric in ("r2", "rmse", "d2_poisson", "median_absolute_error"))
        else score_interval(metric, LABELS, CALLED, probabilities=CHANCES, level=0.99)
    )
    assert wide.low < found.low
    assert wide.high > found.high


AMOUNTS = MEANS * rng.gamma(2.0, 0.5, N)


@pytest.mark.parametrize(
    ("metric", "y", "options", "expected"),
    [
        ("d2_gamma", AMOUNTS, {}, metrics.d2_tweedie_score(AMOUNTS, MEANS, power=2)),
        ("d2_tweedie", COUNTS, {"power": 1.7}, metrics.d2_tweedie_score(COUNTS, MEANS, power=1.7)),
        ("d2_tweedie", COUNTS, {"power": 1.0}, metrics.d2_tweedie_score(COUNTS, MEANS, power=1)),
        ("d2_negative_binomial", COUNTS, {"dispersion": 0.0}, metrics.d2_tweedie_score(COUNTS, MEANS, power=1)),
        ("mean_absolute_error", COUNTS, {}, metrics.mean_absolute_error(COUNTS, MEANS)),
        ("pinball", AMOUNTS, {"quantile": 0.8}, metrics.mean_pinball_loss(AMOUNTS, MEANS, alpha=0.8)),
        ("d2_pinball", AMOUNTS[:51], {"quantile": 0.5}, metrics.d2_pinball_score(AMOUNTS[:51], MEANS[:51], alpha=0.5)),
    ],
)
def test_scores_of_amounts_and_quantiles(metric: str, y: Any, options: dict[str, float], expected: float) -> None:
    found = score_interval(metric, y, MEANS[: len(y)], **options)  # type: ignore[arg-type]
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    point = score_interval(metric, y, MEANS[: len(y)], resamples=0, **options)  # type: ignore[arg-type]
    assert point.value == found.value
    assert np.isnan([point.low, point.high]).all()


def test_negative_binomial_deviance_is_that_of_statsmodels() -> None:
    family = sm.families.NegativeBinomial(alpha=0.7)
    expected = 1.0 - family.deviance(COUNTS, MEANS) / family.deviance(COUNTS, np.full(N, COUNTS.mean()))
    assert score_interval("d2_negative_binomial", COUNTS, MEANS, dispersion=0.7).value == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["d2_gamma", "d2_poisson", "d2_tweedie", "d2_negative_binomial", "d2_pinball"])
def test_fractions_of_deviances_beside_a_constant(metric: str) -> None:
    """1 minus the ratio of the mean losses of the model and of the constant of the training rows."""
    y_train = AMOUNTS[:30]
    found = compare_with_baseline(metric, AMOUNTS, MEANS, y_train=y_train, quantile=0.3)
    answer = np.sort(y_train)[8] if metric == "d2_pinball" else y_train.mean()
    assert found.answer == pytest.approx(answer)
    constant = np.full(N, answer)
    assert found.baseline == pytest.approx(
        score_interval(metric, AMOUNTS, MEANS, quantile=0.3).value - found.difference
    )
    same = compare_with_baseline(metric, AMOUNTS, constant, y_train=y_train, quantile=0.3)
    assert same.difference == pytest.approx(0.0, abs=1e-12)
    pinball = compare_with_baseline("pinball", AMOUNTS, MEANS, y_train=y_train, quantile=0.3)
    assert pinball.difference == pytest.approx(
        metrics.mean_pinball_loss(AMOUNTS, np.full(N, np.sort(y_train)[8]), alpha=0.3) - pinball.score.value
    )


def test_rows_without_anything_to_explain() -> None:
    """A resample of zeros only says nothing of the fraction that is explained; other resamples do."""
    y = np.zeros(12)
    y[3] = 4.0
    found = score_interval("d2_poisson", y, np.where(y > 0, 3.0, 0.1))
    assert np.isfinite([found.value, found.low, found.high]).all()
    assert np.isnan(score_interval("d2_poisson", np.zeros(5), np.ones(5)).value)
    with pytest.raises(ValueError, match="y must not be 0"):
        score_interval("d2_gamma", [0.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="must not be negative"):
        score_interval("d2_tweedie", [-1.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="quantile must be finite and between 0 and 1"):
        score_interval("pinball", [0.0, 1.0], [1.0, 1.0], quantile=1.0)


def test_scorers_by_name_are_used_in_repeated_folds() -> None:
    y = response("linear")
    scorers = {"mine": metrics.make_scorer(metrics.max_error, greater_is_better=False), "r2": "r2"}
    found = repeat_cross_validation(SparseLinearRegression(k=3), X, y, scoring=scorers, repeats=1)
    named = repeat_cross_validation(SparseLinearRegression(k=3), X, y, scoring=["neg_max_error", "r2"], repeats=1)
    assert found.table.index.tolist() == ["mine", "r2"]
    np.testing.assert_array_equal(found.table.to_numpy(), named.table.to_numpy())


def test_delong_has_the_variance_of_the_u_statistic() -> None:
    """Against the structural components by comparing all pairs, with ties."""
    scores = CHANCES.round(1)
    first, second = scores[LABELS == "yes"], scores[LABELS == "no"]
    pairs = (first[:, None] > second).astype(float) + 0.5 * (first[:, None] == second)
    error = np.sqrt(pairs.mean(axis=1).var(ddof=1) / first.size + pairs.mean(axis=0).var(ddof=1) / second.size)
    auc = pairs.mean()
    found = score_interval("roc_auc", LABELS, probabilities=scores)
    assert found.value == pytest.approx(auc)
    for end, sign in ((found.low, -1.0), (found.high, 1.0)):
        expected = np.log(auc / (1 - auc)) + sign * stats.norm.ppf(0.975) * error / (auc * (1 - auc))
        assert np.log(end / (1 - end)) == pytest.approx(expected)


@pytest.mark.parametrize("perfect", [True, False])
def test_a_perfect_order_has_the_exact_limit_of_its_independent_pairs(perfect: bool) -> None:
    y = np.repeat([0, 1], [7, 12])
    found = score_interval("roc_auc", y, probabilities=y * 0.5 + 0.2 if perfect else 0.8 - y * 0.5)
    expected = stats.binomtest(7 if perfect else 0, 7).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_class_with_one_row_or_none() -> None:
    y = np.array([0, 0, 0, 1])
    assert (score_interval("roc_auc", y, probabilities=[0.1, 0.9, 0.2, 0.5]).low) == 0.0
    one = score_interval("roc_auc", y[:3], probabilities=[0.1, 0.9, 0.2], classes=[0, 1])
    assert np.isnan([one.value, one.low, one.high]).all()
    assert "no interval" in str(one)


def test_the_bootstrap_is_that_of_scipy() -> None:
    rows = np.random.default_rng(1).exponential(size=(80, 1))
    low, high = bootstrap_means(rows, lambda means: means[:, 0], level=0.9, resamples=20_000, random_state=0)
    expected = stats.bootstrap(
        (rows[:, 0],), np.mean, confidence_level=0.9, n_resamples=20_000, method="BCa", random_state=1
    ).confidence_interval
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.01)
    constant = bootstrap_means(np.ones((9, 1)), lambda means: means[:, 0], level=0.9, resamples=99, random_state=0)
    assert constant == (1.0, 1.0)
    assert np.isnan(bootstrap_means(rows[:1], lambda means: means[:, 0], level=0.9, resamples=9, random_state=0)).all()


def test_blocks_of_resamples_are_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from ksparse.inference import row_bootstrap

    rows = rng.standard_normal((50, 2))

    def run() -> Any:
        return bootstrap_means(rows, lambda means: means[:, 0], level=0.9, resamples=300, random_state=0)

    whole = run()
    monkeypatch.setattr(row_bootstrap, "BLOCK_NUMBERS", 50 * 7)
    assert run() == pytest.approx(whole)


def test_order_statistics_cover_the_median() -> None:
    """The level of the interval is the binomial probability that the median lies between the two errors."""
    errors = np.arange(1.0, 31.0)
    found = score_interval("median_absolute_error", np.zeros(30), errors)
    below, above = int(found.low), int(found.high)
    assert below + above == 31
    level = stats.binom.cdf(above - 1, 30, 0.5) - stats.binom.cdf(below - 1, 30, 0.5)
    narrower = stats.binom.cdf(above - 2, 30, 0.5) - stats.binom.cdf(below, 30, 0.5)
    assert narrower < 0.95 <= level
    assert np.isnan(score_interval("median_absolute_error", np.zeros(4), errors[:4]).low)


def test_proportions_of_classes_are_combined_by_squares() -> None:
    y, called = np.repeat(["a", "b"], [30, 6]), np.repeat(["a", "b", "a", "b"], [27, 3, 2, 4])
    found = score_interval("balanced_accuracy", y, called)
    (low_1, high_1), (low_2, high_2) = find_wilson_interval(0.9, 30, 0.95), find_wilson_interval(4 / 6, 6, 0.95)
    mean = (0.9 + 4 / 6) / 2
    assert found.low == pytest.approx(mean - 0.5 * np.hypot(0.9 - low_1, 4 / 6 - low_2))
    assert found.high == pytest.approx(mean + 0.5 * np.hypot(high_1 - 0.9, high_2 - 4 / 6))
    assert combine_proportions(np.ones(2), np.full(2, 0.5), np.ones(2))[2] == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: score_interval("f1", Y, Y), "metric must be one of"),
        (lambda: score_interval("accuracy", LABELS), "needs the predictions"),
        (lambda: score_interval("log_loss", LABELS, CALLED), "needs probabilities"),
        (lambda: score_interval("log_loss", LABELS, probabilities=np.ones((N, 3))), "one column for each"),
        (lambda: score_interval("log_loss", LABELS, probabilities=np.ones((N, 2)), classes=["no", "x"]), "not among"),
        (lambda: score_interval("roc_auc", Y.round(), probabilities=np.ones((N, len(set(Y.round()))))), "two classes"),
        (lambda: score_interval("accuracy", [], []), "no rows"),
        (lambda: score_interval("accuracy", LABELS, CALLED[1:]), "inconsistent"),
        (lambda: score_interval("accuracy", LABELS, CALLED, level=95), "between 0 and 1"),
        (lambda: score_interval("d2_poisson", Y, Y), "must not be negative"),
        (lambda: compare_with_baseline("median_absolute_error", Y, Y, y_train=Y), "metric must be one of"),
        (lambda: repeat_cross_validation(SparseLinearRegression(), X, X[:, 0], level=2), "between 0 and 1"),
        (lambda: repeat_cross_validation(SparseLinearRegression(), X, X[:, 0], cv=[0]), "cv must be"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_newcombes_published_example() -> None:
    """36, 12, 2 and 0 of 50 pairs: method 10 has 0.0569 to 0.3404 (Newcombe 1998, Table II)."""
    constant_hits = np.repeat([1, 0, 1], [36, 12, 2])
    model_hits = np.repeat([1, 1, 0], [36, 12, 2])
    called = np.where(model_hits == 1, constant_hits, 1 - constant_hits)
    found = compare_with_baseline("accuracy", constant_hits, called, y_train=[1, 1, 0])
    assert (found.difference, found.baseline) == pytest.approx((0.2, 0.76))
    assert (found.low, found.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert found.is_better


def test_a_model_that_is_a_constant_is_no_better() -> None:
    y = np.repeat(["sick", "well"], [8, 20])
    chances = np.full(28, 20 / 28)
    for metric in ("accuracy", "balanced_accuracy", "log_loss", "roc_auc"):
        found = compare_with_baseline(metric, y, ["well"] * 28, y_train=y, probabilities=chances)
        assert found.difference == pytest.approx(0.0, abs=1e-12)
        assert not found.is_better
        assert str(found).startswith("no better than always answering 'well'")
    for metric in ("r2", "rmse", "d2_poisson"):
        found = compare_with_baseline(metric, COUNTS, np.full(N, COUNTS.mean()), y_train=COUNTS)
        assert found.difference == pytest.approx(0.0, abs=1e-12)
        assert not found.is_better


def test_a_model_that_is_better_than_a_constant() -> None:
    for metric in ("accuracy", "balanced_accuracy", "log_loss", "roc_auc"):
        found = compare_with_baseline(metric, LABELS, CALLED, y_train=LABELS, probabilities=CHANCES)
        sign = -1.0 if metric == "log_loss" else 1.0
        assert found.difference == pytest.approx(sign * (found.score.value - found.baseline))
        assert found.is_better, metric
    r2 = compare_with_baseline("r2", Y, PREDICTED, y_train=Y + 1.0)
    assert r2.difference == pytest.approx(1 - np.mean((Y - PREDICTED) ** 2) / np.mean((Y - Y.mean() - 1.0) ** 2))
    rmse = compare_with_baseline("rmse", Y, 0.5 * PREDICTED, y_train=Y)
    assert rmse.difference == pytest.approx(rmse.baseline - rmse.score.value)
    assert rmse.is_better


@pytest.mark.parametrize(("answer", "shown"), [(True, "'True'"), (3, "3"), ("\x1b[31m", r"'\x1b[31m'")])
def test_constants_are_shown_harmlessly(answer: Any, shown: str) -> None:
    y = np.array([answer] * 5)
    assert f"always answering {shown}:" in str(compare_with_baseline("accuracy", y, y, y_train=y))


def test_rare_classes_need_another_score_than_accuracy() -> None:
    y = np.repeat([0, 1], [95, 5])
    called = np.where(np.arange(100) < 10, 1, y)
    assert not compare_with_baseline("accuracy", y, called, y_train=y).is_better
    assert compare_with_baseline("balanced_accuracy", y, called, y_train=y).is_better


def test_a_label_of_the_training_rows_alone_or_of_the_others() -> None:
    chances = np.full((4, 3), 1 / 3)
    found = compare_with_baseline("log_loss", ["a", "b", "a", "a"], y_train=["a", "b", "c"], probabilities=chances)
    assert found.difference == pytest.approx(0.0)
    losses = compute_log_losses(np.array([[0.0, 1.0]]), np.array([0]), np.array([0, 1]))
    assert np.isfinite(losses).all()


def test_repeated_cross_validation_is_a_loop() -> None:
    y, model = response("linear"), SparseLinearRegression(k=2)
    found = repeat_cross_validation(model, X, y, cv=4, repeats=3, scoring="r2", random_state=7)
    scores, constants = [], []
    for train, test in RepeatedKFold(n_splits=4, n_repeats=3, random_state=7).split(X):
        scores.append(model.fit(X[train], y[train]).score(X[test], y[test]))
        constants.append(metrics.r2_score(y[test], np.full(len(test), y[train].mean())))
    np.testing.assert_allclose(found.scores["r2"], scores)
    np.testing.assert_allclose(found.baseline_scores["r2"], constants)
    spread = np.sqrt((1 / 12 + 20 / 60) * np.var(scores, ddof=1)) * stats.t.ppf(0.975, 11)
    row = found.table.loc["r2"]
    assert (row["low"], row["high"]) == pytest.approx((np.mean(scores) - spread, np.mean(scores) + spread))
    assert row["difference"] == pytest.approx(np.mean(np.subtract(scores, constants)))
    assert row["is_better"]
    assert "better than a constant" in str(found)


def test_choices_are_nested() -> None:
    """What chooses k sees the training part of each fold only."""
    sizes = []

    class Watched(SparseLinearRegressionCV):
        def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Any:
            sizes.append(len(y))
            return super().check_samples(X, y, sample_weight, offset)

    found = repeat_cross_validation(Watched(ks=[0, 1, 2], cv=3), X, response("linear"), cv=KFold(2), scoring=["r2"])
    assert sizes == [40, 40]
    assert len(found.scores) == 2


@pytest.mark.slow
def test_default_scores_of_classifiers() -> None:
    model = SparseLogisticRegression(k=1)
    two = repeat_cross_validation(model, X, response("logistic"), cv=3, repeats=1)
    assert two.table.index.tolist() == ["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc"]
    several = repeat_cross_validation(model, X, response("multinomial"), cv=StratifiedKFold(3))
    assert "roc_auc" not in several.table.index
    noise = np.random.default_rng(0).permutation(response("logistic"))
    assert not repeat_cross_validation(model, X, noise, cv=3, repeats=1).table["is_better"].any()
    assert "no better than a constant" in str(repeat_cross_validation(model, X, noise, cv=3, repeats=1))


def test_the_corrected_interval_is_wider_than_that_of_independent_scores() -> None:
    scores = rng.standard_normal(20)
    low, high = find_corrected_interval(scores, 0.25, 0.95)
    plain = stats.t.interval(0.95, 19, scores.mean(), stats.sem(scores))
    assert (high - low) / (plain[1] - plain[0]) == pytest.approx(np.sqrt((1 / 20 + 0.25) * 20))


def test_several_responses_are_scored_by_the_mean() -> None:
    rng = np.random.default_rng(3)
    y = rng.standard_normal((40, 3)) * [1.0, 10.0, 100.0]
    predicted = y + rng.standard_normal((40, 3)) * [0.5, 3.0, 80.0]
    found = score_interval("r2", y, predicted)
    assert found.value == pytest.approx(metrics.r2_score(y, predicted))
    assert found.low < found.value < found.high
    alone = [score_interval("r2", column, other).value for column, other in zip(y.T, predicted.T, strict=True)]
    assert found.value == pytest.approx(np.mean(alone))
    compared = compare_with_baseline("r2", y, predicted, y_train=y + 1.0)
    fractions = np.mean((y - predicted) ** 2, axis=0) / np.mean((y - y.mean(axis=0) - 1.0) ** 2, axis=0)
    assert compared.difference == pytest.approx(1.0 - fractions.mean())
    assert compared.answer == pytest.approx(tuple(y.mean(axis=0) + 1.0))
    assert str(compared).startswith("better than always answering 0.")
    with pytest.raises(ValueError, match="1d array"):
        score_interval("rmse", y, predicted)
