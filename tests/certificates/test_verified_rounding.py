"""What `verify` lets rounding explain: no valid certificate is refused for it, and no false one confirmed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.certificates import InvalidCertificateError, LevelSetDual, verify
from ksparse.certificates.verified_losses import find_conjugates
from ksparse.objectives import (
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Quantile,
    SquaredHinge,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 8))
OUTLIERS = np.where(RNG.random(80) < 0.3, 20.0 * RNG.standard_normal(80), RNG.standard_normal(80))
COUNTS = RNG.poisson(np.exp(X[:, 0])).astype(np.float64)


def scale_solution(objective: Any, result: ksparse.Result, excess: float) -> Any:
    """The solution times a number, such that f is higher by a fraction; the intercept stays."""
    low, high = 1.0, 10.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        x = np.append(middle * result.x[:8], result.x[8:])
        is_low = objective.evaluate(x).value < (1.0 + excess) * result.value
        low, high = (middle, high) if is_low else (low, middle)
    return x


@pytest.mark.parametrize("kind", [Huber, Quantile])
@pytest.mark.parametrize("mean", [0.0, 300.0, 1e6, 1.7e9])
@pytest.mark.parametrize("is_offset", [False, True])
def test_a_large_mean_of_y_changes_nothing_for_losses_of_residuals(kind: Any, mean: float, is_offset: bool) -> None:
    """Valid certificates are confirmed, and a worse solution is not called optimal, also with slopes of other ends."""
    options: Any = {"offset": np.full(80, mean)} if is_offset else {"fit_intercept": True}
    objective = kind(X, mean + X[:, 0] - X[:, 1] + OUTLIERS, alpha=1.0, **options)
    result = ksparse.minimize(objective, 2)
    certificate = result.certificate()
    verify(certificate, objective, x=result.x)
    x = scale_solution(objective, result, 1e-5)
    worse, stage, nothing = objective.evaluate(x).value, certificate.stages[0], certificate.must_contain[:0]
    slopes = np.asarray(stage.dual)
    largest = np.abs(slopes).max()
    for units in range(0, 60, 5):
        inner = np.sign(slopes) * largest * (1.0 - 1.2e-16 * units)
        dual = np.where(np.abs(slopes) > 0.999 * largest, inner, slopes)
        claim = replace(stage, dual=dual, bound=worse, after=stage.before)
        forged = replace(
            certificate, value=worse, lower_bound=worse, stages=(claim,), must_contain=nothing, cannot_contain=nothing
        )
        with pytest.raises(InvalidCertificateError, match=r"too high|do not sum to zero"):
            verify(forged, objective, x=x)


@pytest.mark.parametrize(
    "objective",
    [
        Huber(X, X[:, 0] - X[:, 1] + OUTLIERS),
        Quantile(X, OUTLIERS, quantile=0.1, bandwidth=1e-20),
        Quantile(X, OUTLIERS, quantile=0.9, bandwidth=1e20),
        Logistic(X, OUTLIERS > 0),
        Poisson(X, COUNTS),
        Gamma(X, 1.0 + COUNTS),
        NegativeBinomial(X, COUNTS),
        SquaredHinge(X, OUTLIERS > 0),
        LeastSquares(X, np.column_stack([OUTLIERS, X[:, 0]])),
    ],
    ids=lambda objective: repr(objective)[:20],
)
def test_conjugates_by_bisection_are_those_of_formulas(objective: Any) -> None:
    form = objective.margin_form()
    margins = np.multiply.outer([-30.0, -2.0, -1e-9, 0.0, 1e-9, 0.5, 30.0], np.ones_like(form.target))
    for margin in margins:
        slopes = form.loss.slope(margin, form.target)
        expected, found = form.loss.conjugate(slopes, form.target), find_conjugates(form.loss, slopes, form.target)
        size = np.abs(slopes * margin).reshape(80, -1).sum(axis=1) + np.abs(form.loss.value(margin, form.target))
        limit = 1e-12 * size + 1e-15 * np.abs(slopes).max()
        assert (np.abs(found - expected) <= limit).all()


def test_slopes_beyond_those_of_a_loss_have_no_conjugate_however_large_y_is() -> None:
    for objective, end in ((Huber(X, 1e8 + OUTLIERS), 1.35), (Quantile(X, 1e8 + OUTLIERS, quantile=0.9), 0.1)):
        form: Any = objective.margin_form()
        for slope in (end, end * (1.0 + 1e-16)):
            assert np.isfinite(find_conjugates(form.loss, np.full(80, slope), form.target)).all()
        assert np.isinf(find_conjugates(form.loss, np.full(80, end * (1.0 + 1e-13)), form.target)).all()


CONSTANT: list[Any] = [
    Quantile(X, np.zeros(80), quantile=0.1, alpha=0.1, fit_intercept=True),
    Huber(X, np.full(80, 5.0), alpha=0.1, fit_intercept=True),
    LeastSquares(X, np.full(80, 5.0) + 1e-13 * X[:, 0], alpha=0.1, fit_intercept=True),
    LeastSquares(X, 1e4 + 1e-8 * X[:, 0] + 1e-8 * OUTLIERS, alpha=0.1, fit_intercept=True),
    LeastSquares(X + 1e4, 1e-3 * X[:, :2] + 1e4, alpha=0.1, fit_intercept=True),
    Multinomial(X + 1e6, np.digitize(OUTLIERS, [-1.0, 1.0]), alpha=0.1, fit_intercept=True),
]


@pytest.mark.parametrize("objective", CONSTANT, ids=lambda objective: repr(objective)[:20])
def test_f_that_is_rounding_or_has_much_of_it_is_the_value(objective: Any) -> None:
    result = ksparse.minimize(objective, 2)
    certificate = result.certificate()
    verify(certificate, objective, x=result.x)
    more = replace(certificate, value=1.01 * certificate.value + 1e-18)
    with pytest.raises(InvalidCertificateError, match=r"and the certificate says"):
        verify(more, objective, x=result.x)


@pytest.mark.filterwarnings("ignore:f has no minimum")
def test_a_loss_that_falls_to_zero_without_end_has_the_value_zero() -> None:
    """Also where its slopes are numbers that lose their digits in a product."""
    for offset in (0.0, -720.0):
        objective = Poisson(X, np.zeros(80), alpha=1e-4, fit_intercept=True, offset=np.full(80, offset))
        result = ksparse.minimize(objective, 2)
        certificate = result.certificate()
        assert certificate.value == 0 <= objective.evaluate(result.x).value
        verify(certificate, objective, x=result.x)


def test_level_sets_of_features_with_a_large_mean_are_confirmed() -> None:
    """The tangent is at the center: what the sizes of its terms would be has no rounding there."""
    count = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        far = rng.standard_normal((23, 4)) + 1e4
        objective = Huber(far, rng.standard_normal(4) @ far.T / 1e4 + 1e-3 * rng.standard_normal(23), alpha=0.1)
        result = ksparse.minimize(objective, 1)
        certificate = result.certificate()
        verify(certificate, objective, x=result.x)
        count += any(isinstance(stage.dual, LevelSetDual) for stage in certificate.stages)
    assert count > 10
