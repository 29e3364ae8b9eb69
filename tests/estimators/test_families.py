"""Gamma, Tweedie, negative binomial, quantile and support vector models beside statsmodels and scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import GammaRegressor, QuantileRegressor, TweedieRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import ksparse
from ksparse import SparseNegativeBinomialRegression, SparseQuantileRegression, SparseTweedieRegression
from ksparse._types import Array
from ksparse.inference import score_interval
from ksparse.objectives.losses import NegativeBinomialLoss, TweedieLoss, estimate_dispersion
from ksparse.solvers import Status
from tests.estimators.models import MODELS, N, P, X, fitted, response

#: statsmodels comes without types.
sm: Any = import_module("statsmodels.api")

ONES = sm.add_constant(X)
WEIGHTS = np.random.default_rng(1).integers(1, 4, N).astype(float)
OFFSET = np.random.default_rng(2).uniform(-0.5, 0.5, N)
LOG = sm.families.links.Log()
FAMILIES: dict[str, Any] = {
    "poisson": sm.families.Poisson(LOG),
    "gamma": sm.families.Gamma(LOG),
    "tweedie": sm.families.Tweedie(LOG, var_power=1.5),
    "negative binomial": sm.families.NegativeBinomial(LOG, alpha=0.7),
}
#: The names of their scores.
METRICS = {name: f"d2_{name.replace(' ', '_')}" for name in FAMILIES}
#: Parameters with which a model is that of its family.
FAMILY_PARAMETERS: dict[str, dict[str, float]] = {"negative binomial": {"dispersion": 0.7}}


def agree(here: Any, params: Array, atol: float = 1e-7) -> None:
    np.testing.assert_allclose(np.append(here.intercept_, here.coef_), params, atol=atol)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHTS}, {"offset": OFFSET}], ids=["", "weights", "offset"])
@pytest.mark.parametrize("name", FAMILIES)
def test_all_features_are_the_generalized_linear_model_of_statsmodels(name: str, options: Any, form: Any) -> None:
    theirs = {"freq_weights": options.get("sample_weight"), "offset": options.get("offset")}
    peer = sm.GLM(response(name), ONES, family=FAMILIES[name], **theirs).fit(tol=1e-12, maxiter=200)
    here = MODELS[name][0](k=P, **FAMILY_PARAMETERS.get(name, {})).fit(form(X), response(name), **options)
    agree(here, peer.params)
    offset = options.get("offset")
    np.testing.assert_allclose(here.predict(X, offset), peer.fittedvalues, rtol=1e-7)
    weights = options.get("sample_weight")
    null = peer.null_deviance if offset is None else None
    if null is not None:  # with an offset, statsmodels fits it in the model without features too
        score = here.score(X, response(name), weights)
        assert score == pytest.approx(1.0 - peer.deviance / null, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_all_features_are_those_of_scikit_learn(alpha: float) -> None:
    options = {"alpha": alpha, "solver": "newton-cholesky", "tol": 1e-9}
    gamma = GammaRegressor(**options).fit(X, response("gamma"), WEIGHTS)
    here = fitted("gamma", k=P, alpha=alpha, sample_weight=WEIGHTS)
    agree(here, np.append(gamma.intercept_, gamma.coef_), atol=1e-6)
    assert here.score(X, response("gamma")) == pytest.approx(gamma.score(X, response("gamma")))
    for power in (1.0, 1.3, 1.9):
        peer = TweedieRegressor(power=power, link="log", **options).fit(X, response("tweedie"))
        found = fitted("tweedie", k=P, alpha=alpha, power=power)
        agree(found, np.append(peer.intercept_, peer.coef_), atol=1e-6)
        assert found.score(X, response("tweedie")) == pytest.approx(peer.score(X, response("tweedie")))


@pytest.mark.parametrize("offset", [None, OFFSET])
def test_the_dispersion_is_the_most_likely_one(offset: Any) -> None:
    """Coefficients and dispersion are those of statsmodels' joint likelihood."""
    y = response("negative binomial")
    peer = sm.NegativeBinomial(y, ONES, offset=offset).fit(method="newton", maxiter=200, disp=False, tol=1e-12)
    here = SparseNegativeBinomialRegression(k=P).fit(X, y, offset=offset)
    agree(here, peer.params[:-1], atol=1e-6)
    assert here.dispersion_ == pytest.approx(peer.params[-1], rel=1e-6)


def test_the_dispersion_of_repeated_rows_is_that_of_weights() -> None:
    y = response("negative binomial")
    rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
    here = SparseNegativeBinomialRegression(k=P).fit(X, y, sample_weight=WEIGHTS)
    there = SparseNegativeBinomialRegression(k=P).fit(X[rows], y[rows])
    assert here.dispersion_ == pytest.approx(there.dispersion_, rel=1e-6)


@pytest.mark.parametrize("dispersion", [1e-4, 0.3, 5.0])
def test_the_dispersion_of_known_means_has_slope_zero(dispersion: float) -> None:
    """Against the likelihood of SciPy's negative binomial distribution."""
    rng = np.random.default_rng(0)
    means = rng.uniform(1.0, 40.0, 3000)
    y = rng.poisson(means * rng.gamma(1 / dispersion, dispersion, 3000)).astype(float)
    found = estimate_dispersion(y, means, np.ones(3000))

    def likelihood(a: float) -> float:
        return float(stats.nbinom.logpmf(y, 1.0 / a, 1.0 / (1.0 + a * means)).sum())

    if found > 1e-6:
        assert likelihood(found) >= max(likelihood(found * 1.01), likelihood(found * 0.99))
        assert found == pytest.approx(dispersion, rel=0.2) or dispersion < 1e-3
    assert estimate_dispersion(np.round(means), means, np.ones(3000)) == 0.0  # they vary less than Poisson's


def test_counts_that_are_all_zero_are_said_once() -> None:
    model = SparseNegativeBinomialRegression(k=2)
    with pytest.warns(ConvergenceWarning, match="f has no minimum on the selected support") as said:
        model.fit(X, np.zeros(N))
    assert len(said) == 1
    assert model.result_.status is Status.NO_MINIMUM
    assert model.dispersion_ == 0.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_bandwidths_down_to_the_smallest_one_fit(scale: float) -> None:
    y = scale * response("quantile")
    model = SparseQuantileRegression(k=2, bandwidth=1e-15)
    with pytest.raises(ValueError, match=r"bandwidth must be at least .* for this y, got 1e-15") as caught:
        model.fit(X, y)
    smallest = float(str(caught.value).split("at least ")[1].split(" ")[0])
    result = SparseQuantileRegression(k=2, bandwidth=1.1 * smallest).fit(X, y).result_
    assert result.success
    assert result.value < 0.9 * SparseQuantileRegression(k=0, bandwidth=1.1 * smallest).fit(X, y).result_.value


def test_the_largest_dispersion_finds_features() -> None:
    y = response("negative binomial")
    largest = SparseNegativeBinomialRegression(k=3, dispersion=1e6).fit(X, y)
    assert largest.support_.sum() == 3
    with pytest.raises(ValueError, match=r"dispersion must be finite and from 0 to 1e\+06"):
        SparseNegativeBinomialRegression(k=3, dispersion=1e12).fit(X, y)


def test_smoothing_vanishes_with_the_bandwidth() -> None:
    """The smoothed check loss tends to that of quantile regression, from above by at most h·log 2."""
    y = response("quantile")
    for level in (0.5, 0.8):
        peer = QuantileRegressor(quantile=level, alpha=0.0).fit(X, y)
        least = mean_pinball_loss(y, peer.predict(X), alpha=level)
        excess = []
        for bandwidth in (0.1, 0.01, 0.001):
            here = fitted("quantile", k=P, quantile=level, bandwidth=bandwidth)
            loss = mean_pinball_loss(y, here.predict(X), alpha=level)
            assert least - 1e-12 <= loss <= here.result_.value <= least + bandwidth * np.log(2)
            excess.append(loss - least)
        assert excess[2] < 0.02 * excess[0]
        np.testing.assert_allclose(here.coef_, peer.coef_, atol=5e-3)
        assert here.score(X, y) == pytest.approx(peer.score(X, y), abs=0.3)


def test_quantiles_have_their_fraction_of_rows_below() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((1000, 5))
    y = data[:, 1] + (2.0 + data[:, 3]) * rng.exponential(size=1000)
    for level in (0.1, 0.5, 0.9):
        model = SparseQuantileRegression(k=5, quantile=level).fit(data, y)
        assert np.mean(y <= model.predict(data)) == pytest.approx(level, abs=0.025)


def test_all_features_are_a_linear_support_vector_machine() -> None:
    for name in ("hinge", "hinge of classes"):
        y = response(name)
        options = {"C": 1 / (N * 0.05), "tol": 1e-10, "max_iter": 100_000, "dual": False}
        # Its intercept is penalized: a large one is nearly not.
        peer = LinearSVC(intercept_scaling=1e4, **options)
        peer = peer.fit(X, y) if name == "hinge" else OneVsRestClassifier(peer).fit(X, y)
        here = fitted(name, k=P, alpha=0.05)
        margins = peer.decision_function(X)
        np.testing.assert_allclose(here.decision_function(X), margins, atol=2e-3)
        np.testing.assert_array_equal(here.predict(X), peer.predict(X))


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_of_a_constant_response(name: str) -> None:
    """1 if it is predicted, otherwise 0: what scikit-learn's scores give where there is nothing to explain."""
    for constant in (2.0, 0.1, 1 / 3):
        model = MODELS[name][0](k=2, **FAMILY_PARAMETERS.get(name, {})).fit(X, np.full(N, constant))
        assert model.score(X, np.full(N, constant)) == 1.0
        assert model.score(X, np.full(N, 2.0 * constant)) == 0.0
        # Samples of weight 0 are no samples.
        y = np.append(np.full(N - 1, constant), 5.0)
        assert model.score(X, y, sample_weight=y == constant) == 1.0
        assert model.score(X, y) < 0.1
        assert np.isnan(score_interval(METRICS[name], np.full(N, constant), np.full(N, 1.0)).value)


def test_scores_where_predictions_vanish_or_overflow() -> None:
    """A prediction below all floats is as good as 0 for a response of 0, and far off for others."""
    y = np.append(np.zeros(N - 1), 3.0)
    model = SparseTweedieRegression(k=1).fit(X, response("tweedie"))
    model.coef_, model.intercept_ = np.zeros(P), -1e6
    offset = np.append(np.zeros(N - 1), 1e6 + np.log(3.0))
    assert model.score(X, y, offset=offset) == pytest.approx(1.0)
    assert model.score(X, y) < -100
    model.intercept_ = 1e6
    assert model.score(X, y) < -1e100


@pytest.mark.parametrize(("name", "bad", "need"), [("gamma", 0.0, "y > 0"), ("poisson", -1.0, "y >= 0")])
def test_scores_of_responses_that_the_family_does_not_have(name: str, bad: float, need: str) -> None:
    with pytest.raises(ValueError, match=rf"needs responses {need}; y\[0\] is {bad:g}"):
        fitted(name, k=2).score(X, np.append(bad, np.ones(N - 1)))


def half_deviance(name: str, model: Any, data: Array, y: Array, weights: Array) -> float:
    """The mean loss above the least one."""
    loss: Any = TweedieLoss(model.get_variance_power())
    if name == "negative binomial":
        loss = NegativeBinomialLoss(model.dispersion_)
    values = loss.value(np.log(model.predict(data)), y) - loss.find_lowest(y)
    return float(np.average(values, weights=weights))


@pytest.mark.parametrize("name", ["gamma", "tweedie", "negative binomial"])
def test_scores_of_cross_validation_by_hand(name: str) -> None:
    kind, y = MODELS[name][0], response(name)
    chooser = getattr(ksparse, f"{kind.__name__}CV")
    folds = KFold(4)
    options = {"standardize": False, "cv": folds, "alphas": 0.02, "refit_alphas": None}
    chosen = chooser(ks=[1, 3], **options).fit(X, y, sample_weight=WEIGHTS)
    for place, k in enumerate([1, 3]):
        for fold, (train, test) in enumerate(folds.split(X)):
            parameters = {"dispersion": chosen_dispersion(X[train], y[train], WEIGHTS[train])}
            options = parameters if name == "negative binomial" else {}
            model = kind(k=k, alpha=0.02, **options).fit(X[train], y[train], WEIGHTS[train])
            expected = -half_deviance(name, model, X[test], y[test], WEIGHTS[test])
            assert chosen.scores_[place, fold] == pytest.approx(expected, rel=1e-6)


def chosen_dispersion(data: Array, y: Array, weights: Array) -> float:
    """The dispersion that a model estimates which is yet to choose its k, of which 3 is the largest."""
    return float(SparseNegativeBinomialRegression(k=3, alpha=0.02).fit(data, y, weights).dispersion_)


def test_the_criterion_of_gamma_models_is_that_of_the_likelihood() -> None:
    """Differences of BIC between k are those of the gamma distribution with the most likely shape."""
    y = response("gamma")
    chosen = ksparse.SparseGammaRegressionIC(ks=[1, 4], criterion="bic").fit(X, y)
    values = []
    for k in (1, 4):
        means = chosen.at(k).predict(X)
        shape, *_ = stats.gamma.fit(y / means, floc=0, fscale=None)
        found = max(stats.gamma.logpdf(y, v, scale=means / v).sum() for v in np.linspace(0.5 * shape, 2 * shape, 4001))
        values.append(-2 * found + (k + 1) * np.log(N))
    assert chosen.criterion_[1] - chosen.criterion_[0] == pytest.approx(values[1] - values[0], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "y", "said"),
    [
        ("gamma", np.zeros(N), "needs y > 0"),
        ("tweedie", -np.ones(N), "needs y >= 0"),
        ("negative binomial", -np.ones(N), "NegativeBinomial needs counts y >= 0"),
        ("quantile", np.full(N, np.nan), "NaN"),
        ("hinge", np.zeros(N), "only one class"),
    ],
)
def test_bad_targets(name: str, y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MODELS[name][0](k=2).fit(X, y)


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("tweedie", {"power": 2.5}, "power must be finite and from 1"),
        ("tweedie", {"power": 0.5}, "power must be finite and from 1"),
        ("quantile", {"quantile": 1.0}, "quantile must be finite and between 0 and 1"),
        ("quantile", {"bandwidth": 0.0}, "bandwidth must be finite and greater than 0"),
        ("quantile", {"bandwidth": "small"}, 'bandwidth must be a positive number or "auto"'),
        ("negative binomial", {"dispersion": -1.0}, "dispersion must be finite and at least 0"),
        ("negative binomial", {"dispersion": "much"}, 'dispersion must be a number from 0, or "auto"'),
    ],
)
def test_bad_parameters(name: str, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fitted(name, **parameters)


@pytest.mark.parametrize("name", ["gamma", "tweedie", "negative binomial", "quantile", "hinge"])
def test_hard_data_give_no_nan(name: str) -> None:
    """Constant features, one huge row, nearly constant responses: coefficients are finite, or the error is clear."""
    y = response(name)
    far = X.copy()
    far[0] *= 1e6
    flat = np.column_stack([X[:, :3], np.ones(N), np.zeros(N)])
    for data in (far, flat):
        model = MODELS[name][0](k=2, alpha=0.01).fit(data, y)
        assert np.isfinite(model.coef_).all()
    if name != "hinge":
        constant = MODELS[name][0](k=2).fit(X, np.full(N, 3.0))
        assert np.isfinite(constant.coef_).all()
        np.testing.assert_allclose(constant.predict(X), 3.0, rtol=1e-3)


def test_power_1_is_poisson_and_dispersion_0_too() -> None:
    y = response("poisson")
    poisson = fitted("poisson")
    for other in (SparseTweedieRegression(k=3, power=1.0), SparseNegativeBinomialRegression(k=3, dispersion=0.0)):
        np.testing.assert_allclose(other.fit(X, y).coef_, poisson.coef_, atol=1e-8)
