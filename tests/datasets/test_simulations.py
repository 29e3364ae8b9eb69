"""The generators against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from ksparse.datasets import make_logistic


def test_features_are_autoregressive() -> None:
    X, _, _ = make_logistic(n=20_000, p=6, k=2, correlation=0.5)
    expected = 4 * 0.5 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.15)


def test_labels_follow_the_model() -> None:
    X, y, coef = make_logistic(n=50_000, p=10, k=3, random_state=1)
    probability = expit(X @ coef)
    for low in np.arange(0, 1, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        assert np.mean(y[inside] == 1) == pytest.approx(probability[inside].mean(), abs=0.03)
    assert set(y) == {-1.0, 1.0}
    assert np.count_nonzero(coef) == 3


def test_seeds() -> None:
    assert make_logistic(10, 5, 2, random_state=3).X.tobytes() == make_logistic(10, 5, 2, random_state=3).X.tobytes()
    assert make_logistic(10, 5, 2, random_state=3).X.tobytes() != make_logistic(10, 5, 2, random_state=4).X.tobytes()


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="k must not exceed p"):
        make_logistic(p=5, k=6)
    with pytest.raises(ValueError, match="correlation must lie between"):
        make_logistic(correlation=1.0)
