"""Every loss against finite differences in the margins, and all forms of its Hessian against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array
from ksparse.objectives import Loss
from ksparse.objectives.losses import (
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    NegativeBinomialLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
    TweedieLoss,
)

N, Q, STEP = 200, 3, 1e-5
rng = np.random.default_rng(0)

#: Each loss, with targets as it wants them.
LOSSES: dict[str, tuple[Loss, Array]] = {
    "squared": (SquaredLoss(), rng.standard_normal(N)),
    "squared, several outputs": (SquaredLoss(), rng.standard_normal((N, Q))),
    "logistic": (LogisticLoss(), rng.choice([-1.0, 1.0], N)),
    "multinomial": (MultinomialLoss(), np.eye(Q)[rng.integers(0, Q, N)]),
    "poisson": (PoissonLoss(), rng.poisson(2.0, N).astype(float)),
    "huber": (HuberLoss(), rng.standard_normal(N)),
    "huber with another delta": (HuberLoss(delta=0.3), rng.standard_normal(N)),
    "squared hinge": (SquaredHingeLoss(), rng.choice([-1.0, 1.0], N)),
    "squared hinge, several outputs": (SquaredHingeLoss(), rng.choice([-1.0, 1.0], (N, Q))),
    "gamma": (TweedieLoss(power=2.0), rng.gamma(2.0, 1.0, N)),
    "tweedie": (TweedieLoss(power=1.3), np.maximum(rng.gamma(1.0, 2.0, N) - 0.5, 0.0)),
    "tweedie of power 1": (TweedieLoss(power=1.0), rng.poisson(2.0, N).astype(float)),
    "negative binomial": (NegativeBinomialLoss(dispersion=0.7), rng.poisson(2.0, N).astype(float)),
    "negative binomial without dispersion": (NegativeBinomialLoss(dispersion=0.0), rng.poisson(2.0, N).astype(float)),
    "median": (QuantileLoss(), rng.standard_normal(N)),
    "quantile": (QuantileLoss(quantile=0.9, bandwidth=0.3), rng.standard_normal(N)),
}


@pytest.fixture(params=LOSSES)
def case(request: pytest.FixtureRequest) -> tuple[Loss, Array, Array]:
    """A loss, margins away from its kinks, and targets."""
    loss, y = LOSSES[request.param]
    margins = 1.5 * np.random.default_rng(1).standard_normal(y.shape)
    if isinstance(loss, HuberLoss):
        distance = np.abs(np.abs(margins - y) - loss.delta)
        margins = np.where(distance < 10 * STEP, margins + 100 * STEP, margins)
    if isinstance(loss, SquaredHingeLoss):
        margins = np.where(np.abs(1.0 - y * margins) < 10 * STEP, margins + 100 * STEP, margins)
    return loss, margins, y


def as_matrix(values: Array) -> Array:
    return values if values.ndim == 2 else values[:, None]


def test_shapes(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    assert loss.output_shape(y) == margins.shape[1:]
    assert loss.value(margins, y).shape == (N,)
    for derivative in (loss.slope(margins, y), loss.curvature(margins, y)):
        assert derivative.shape == margins.shape


def test_slopes(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    for a in range(as_matrix(margins).shape[1]):
        move = np.zeros_like(as_matrix(margins))
        move[:, a] = STEP
        move = move.reshape(margins.shape)
        numeric = (loss.value(margins + move, y) - loss.value(margins - move, y)) / (2 * STEP)
        assert_allclose(as_matrix(loss.slope(margins, y))[:, a], numeric, rtol=1e-6, atol=1e-8)


def test_hessians(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    curvature = loss.curvature(margins, y)
    outputs = as_matrix(margins).shape[1]
    for b in range(outputs):
        direction = np.zeros_like(as_matrix(margins))
        direction[:, b] = 1.0
        direction = direction.reshape(margins.shape)
        ahead, behind = (loss.slope(margins + sign * STEP * direction, y) for sign in (1.0, -1.0))
        numeric = (ahead - behind) / (2 * STEP)
        assert_allclose(loss.multiply_hessian(curvature, direction), numeric, rtol=1e-6, atol=1e-8)
        diagonal = as_matrix(loss.hessian_diagonal(curvature))[:, b]
        assert_allclose(diagonal, as_matrix(numeric)[:, b], rtol=1e-6, atol=1e-8)
        if margins.ndim == 1:
            continue
        for a in range(outputs):
            entry = loss.hessian_entry(curvature, a, b)
            assert_allclose(entry, numeric[:, a], rtol=1e-6, atol=1e-8)
            assert loss.couples_outputs or a == b or not entry.any()


def test_products_with_the_hessian_are_linear(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    curvature = loss.curvature(margins, y)
    u, v = np.random.default_rng(2).standard_normal((2, *margins.shape))
    together = loss.multiply_hessian(curvature, 2.0 * u - 3.0 * v)
    apart = 2.0 * loss.multiply_hessian(curvature, u) - 3.0 * loss.multiply_hessian(curvature, v)
    assert_allclose(together, apart, atol=1e-12)


def test_what_a_loss_says_about_itself(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    curvature = loss.curvature(margins, y)
    assert (loss.hessian_diagonal(curvature) <= loss.curvature_bound * (1 + 1e-12)).all()
    moved = loss.value(margins + 0.7, y)
    if loss.is_quadratic:
        assert_array_equal(curvature, loss.curvature(3.0 * margins, y))
    if loss.of_residuals:
        assert_allclose(loss.value(margins + 0.7, y + 0.7), loss.value(margins, y), atol=1e-12)
    assert np.allclose(moved, loss.value(margins, y)) == loss.shift_invariant


def test_inputs_are_not_changed(case: tuple[Loss, Array, Array]) -> None:
    loss, margins, y = case
    copies = margins.copy(), y.copy()
    curvature = loss.curvature(margins, y)
    kept = curvature.copy()
    loss.value(margins, y)
    loss.slope(margins, y)
    loss.hessian_diagonal(curvature)
    loss.multiply_hessian(curvature, margins)
    assert_array_equal(margins, copies[0])
    assert_array_equal(y, copies[1])
    assert_array_equal(curvature, kept)


@pytest.mark.parametrize("name", LOSSES)
def test_large_margins_give_no_nan(name: str) -> None:
    loss, y = LOSSES[name]
    for size in (1e3, 1e100):
        margins = size * np.sign(np.random.default_rng(3).standard_normal(y.shape))
        assert not np.isnan(loss.value(margins, y)).any()
        assert not np.isnan(loss.slope(margins, y)).any()
        assert not np.isnan(loss.hessian_diagonal(loss.curvature(margins, y))).any()


def test_separation() -> None:
    """Only losses whose infimum is 0 separate classes, and only by margins of the right sign."""
    signs, classes = LOSSES["logistic"][1], LOSSES["multinomial"][1]
    wrong: Any = signs.copy()
    wrong[7] *= -1.0
    assert LogisticLoss().separates(0.1 * signs, signs)
    assert not LogisticLoss().separates(0.1 * wrong, signs)
    assert MultinomialLoss().separates(0.1 * classes, classes)
    assert not MultinomialLoss().separates(np.zeros_like(classes), classes)
    for name in ("squared", "poisson", "huber", "squared hinge"):
        loss, y = LOSSES[name]
        assert not loss.separates(y, y)
