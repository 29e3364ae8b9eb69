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
