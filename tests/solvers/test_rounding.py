"""What rounding alone tells apart must not decide anything: weights are repeated rows, to the last support."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.objectives import Huber, LeastSquares, LinearObjective, Logistic, Multinomial


def repeated(seed: int, kind: type[LinearObjective], alpha: float) -> tuple[LinearObjective, LinearObjective]:
    """The same problem with weights, some of them 0, and with repeated rows in another order."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((15, 30)), rng.integers(0, 2 if kind is Logistic else 3, 15)
    weights = rng.integers(0, 4, 15)
    rows = rng.permutation(np.repeat(np.arange(15), weights))
    options: dict[str, Any] = {"alpha": alpha, "fit_intercept": True}
    return kind(X, y, sample_weight=weights, **options), kind(X[rows], y[rows], **options)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize(
    ("kind", "alpha"), [(LeastSquares, 0.0), (Huber, 0.0), (Logistic, 1e-4), (Multinomial, 1e-4), (Multinomial, 1e-2)]
)
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repeated_rows(seed: int, kind: type[LinearObjective], alpha: float, k: int) -> None:
    weighted, rows = (ksparse.minimize(f, k=k) for f in repeated(seed, kind, alpha))
    assert_array_equal(weighted.selected, rows.selected)
    assert_allclose(weighted.x, rows.x, rtol=1e-6, atol=1e-7)


def test_classes_of_hardly_any_weight() -> None:
    # A softmax does not see a shift of all classes, and Newton steps along it are no sign of a missing minimum.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    y = np.repeat([0, 1, 2], [19, 15, 16])
    weights = np.where(y == 0, 1000.0, 1e-4)
    for k in (1, 2):
        f = Multinomial(X, y, alpha=1e-4, sample_weight=weights, fit_intercept=True)
        assert ksparse.minimize(f, k=k).status == "converged"


def test_values_whose_squares_overflow_are_refused() -> None:
    X = np.random.default_rng(0).standard_normal((20, 4))
    X[3, 2] = 1e300
    with pytest.raises(ValueError, match=r"column 2 of X .* rescale it"):
        ksparse.minimize(LeastSquares(X, X[:, 0]), k=1)


@pytest.mark.parametrize("kind", [LeastSquares, Huber])
def test_the_level_of_y_costs_no_digits(kind: type[LinearObjective]) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 8))
    y = X[:, 1] - X[:, 4] + 0.3 * rng.standard_normal(80)
    plain = ksparse.minimize(kind(X, y, fit_intercept=True), k=2)
    for level in (1e5, 1e8, 1e10):
        lifted = ksparse.minimize(kind(X, y + level, fit_intercept=True), k=2)
        assert lifted.status == "converged"
        assert_array_equal(lifted.selected, plain.selected)
        assert_allclose(lifted.x[:-1], plain.x[:-1], rtol=1e-4, atol=1e-15 * level)
        assert lifted.x[-1] - level == pytest.approx(plain.x[-1], abs=1e-14 * level)


def test_iterative_hard_thresholding_with_an_intercept() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 8))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, 2)
    y = 9 * (X[:, 1] - X[:, 4]) + 5.0
    result = ksparse.minimize(LeastSquares(X, y, fit_intercept=True), k=2, solver=ksparse.IHT(max_iter=5000))
    assert_array_equal(result.selected, [1, 4])
    assert_allclose(result.x[[1, 4, 8]], [9.0, -9.0, 5.0], rtol=0.02)


@pytest.mark.parametrize("alpha", [0.0, 1e-2])
@pytest.mark.parametrize("kind", [LeastSquares, Logistic])
@pytest.mark.parametrize("seed", range(5))
def test_of_equal_columns_the_first_is_selected(seed: int, kind: type[LinearObjective], alpha: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 8))
    margins = X[:, 1] - X[:, 4] + 0.5 * X[:, 0]
    y = margins + rng.logistic(size=80)
    twins = np.column_stack([X, X[:, [4, 1, 0]]])
    f = kind(twins, y > 0 if kind is Logistic else y, alpha=alpha, fit_intercept=True)
    selected = ksparse.minimize(f, k=3).selected
    assert not set(selected) & {8, 9, 10}


def test_constant_columns_have_no_coefficient() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    X[:, 2] = 7.0
    result = ksparse.minimize(LeastSquares(X, X[:, 0], fit_intercept=True), k=5)
    assert result.x[2] == 0.0


@pytest.mark.parametrize("level", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_mostly_constant_columns(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 20))
    X[:, 5:] = level
    y = X[:, 0] + X[:, 1] + rng.standard_normal(60)
    result = ksparse.minimize(LeastSquares(X, y, fit_intercept=True), k=3)
    few = ksparse.minimize(LeastSquares(X[:, :5], y, fit_intercept=True), k=3)
    assert result.status == "converged"
    assert_allclose(result.value, few.value)
