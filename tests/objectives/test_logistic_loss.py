"""The logistic loss to the last digits, for margins of any size, against 60 digits of Python's decimals."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from ksparse.objectives import Logistic
from ksparse.objectives.losses import LogisticLoss

SIZES = [0.0, 1e-300, 1e-17, 1e-8, 1e-3, 0.1, 1.0, 2.5, 10.0, 17.0, 36.0, 37.5, 40.0, 1e2, 700.0, 708.0, 1e3, 1e300]
MARGINS = np.array([*(-size for size in SIZES), *SIZES])


def exact(margin: float, y: float) -> tuple[float, float, float]:
    """Value, slope and curvature of log(1 + exp(−ym))."""
    with localcontext() as context:
        context.prec = 60
        m = Decimal(y) * Decimal(margin)
        if abs(m) > 2000:  # exp(−2000) is nothing
            return float(max(-m, Decimal(0))), -y if m < 0 else -0.0 * y, 0.0
        odds = (-m).exp()
        # log(1 + odds) for odds far below 60 digits is its own argument
        value = (1 + odds).ln() if odds > Decimal("1e-50") else odds
        chance = odds / (1 + odds)
        return float(value), -y * float(chance), float(chance / (1 + odds))


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_logistic_loss_is_exact_for_margins_of_any_size(y: float) -> None:
    labels = np.full(MARGINS.size, y)
    values, slopes, curvatures = np.array([exact(float(m), y) for m in MARGINS]).T
    loss = LogisticLoss()
    assert_allclose(loss.value(MARGINS, labels), values, rtol=2e-15, atol=1e-320)
    assert_allclose(loss.slope(MARGINS, labels), slopes, rtol=2e-15, atol=1e-320)
    assert_allclose(loss.curvature(MARGINS, labels), curvatures, rtol=2e-15, atol=1e-320)


def test_the_logistic_loss_is_what_scipy_says() -> None:
    rng = np.random.default_rng(0)
    margins = rng.standard_normal(10_000) * 10.0 ** rng.uniform(-3, 3, 10_000)
    y = rng.choice([-1.0, 1.0], 10_000)
    loss = LogisticLoss()
    assert_allclose(loss.value(margins, y), np.logaddexp(0.0, -y * margins), rtol=1e-14, atol=1e-300)
    assert_allclose(loss.slope(margins, y), -y * expit(-y * margins), rtol=1e-14, atol=1e-300)
    assert_allclose(loss.curvature(margins, y), expit(margins) * expit(-margins), rtol=1e-14, atol=1e-300)


def test_infinite_margins_give_no_nan() -> None:
    margins, y = np.array([np.inf, np.inf, -np.inf, -np.inf]), np.array([1.0, -1.0, 1.0, -1.0])
    loss = LogisticLoss()
    assert_array_equal(loss.value(margins, y), [0.0, np.inf, np.inf, 0.0])
    assert_array_equal(np.abs(loss.slope(margins, y)), [0.0, 1.0, 1.0, 0.0])
    assert_array_equal(loss.curvature(margins, y), 0.0)


def test_margins_are_not_changed() -> None:
    margins, y = MARGINS.copy(), np.ones(MARGINS.size)
    loss: Any = LogisticLoss()
    for what in (loss.value, loss.slope, loss.curvature):
        what(margins, y)
    assert_array_equal(margins, MARGINS)


def test_no_curvature_exceeds_the_bound() -> None:
    loss = LogisticLoss()
    assert (loss.curvature(MARGINS, np.ones(MARGINS.size)) <= loss.curvature_bound).all()
    assert loss.curvature(np.zeros(1), np.ones(1))[0] == loss.curvature_bound


@pytest.mark.parametrize("scale", [1e3, 1e100])
def test_f_is_finite_and_sloped_far_from_the_data(scale: float) -> None:
    objective = Logistic(np.array([[1.0], [1.0], [-1.0]]), [0, 1, 1])
    point = objective.evaluate(np.array([scale]))
    assert point.value == pytest.approx(2 / 3 * scale)
    assert_allclose(point.gradient, [2 / 3])
