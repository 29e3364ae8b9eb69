"""The generators against their definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import expit

from ksparse.datasets import (
    LinearModelData,
    make_coefficients,
    make_compressed_sensing,
    make_linear,
    make_logistic,
)

GENERATORS = (make_logistic, make_linear, make_compressed_sensing)


@pytest.mark.parametrize("correlation", [0.5, -0.3, 0.0])
def test_features_are_autoregressive(correlation: float) -> None:
    expected = correlation ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    X = make_logistic(n=20_000, p=6, k=2, correlation=correlation).X
    assert_allclose(np.cov(X.T), 4 * expected, atol=0.15)
    assert_allclose(X.mean(axis=0), 0, atol=0.06)
    assert_allclose(np.cov(make_linear(20_000, 6, 2, correlation).X.T), expected, atol=0.04)


def test_labels_follow_the_model() -> None:
    X, y, coef = make_logistic(n=50_000, p=10, k=3, random_state=1)
    probability = expit(X @ coef)
    for low in np.arange(0, 1, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        assert np.mean(y[inside] == 1) == pytest.approx(probability[inside].mean(), abs=0.03)
    assert set(y) == {-1.0, 1.0}
    assert np.count_nonzero(coef) == 3


@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_responses_are_linear_with_normal_noise(noise: float) -> None:
    X, y, coef = make_linear(n=5_000, p=20, k=4, correlation=0.5, noise=noise, random_state=2)
    left = y - X @ coef
    assert np.count_nonzero(coef) == 4
    assert left.std() == pytest.approx(noise, rel=0.03)
    assert_allclose(X.T @ left / len(y), 0, atol=0.05)
    if noise:
        assert stats.kstest(left / noise, "norm").pvalue > 0.01


def test_coefficients_are_anywhere_and_normal_or_signs() -> None:
    normal = np.array([make_coefficients(10, 3, random_state=seed) for seed in range(2_000)])
    signs = np.array([make_coefficients(10, 3, "signs", seed) for seed in range(2_000)])
    for drawn in (normal, signs):
        assert_array_equal((drawn != 0).sum(axis=1), 3)
        assert_allclose((drawn != 0).mean(axis=0), 0.3, atol=0.05)
    assert stats.kstest(normal[normal != 0], "norm").pvalue > 0.01
    assert set(signs.ravel()) == {-1.0, 0.0, 1.0}
    assert abs(signs.sum()) < 4 * np.sqrt(6_000)


@pytest.mark.parametrize("values", ["normal", "signs"])
def test_measurements_of_compressed_sensing(values: Any) -> None:
    A, y, coef = make_compressed_sensing(200, 300, 7, values, random_state=4)
    assert_allclose(np.linalg.norm(A, axis=0), 1.0)
    # Entries of columns of length 1 in random directions.
    assert A.std() * np.sqrt(200) == pytest.approx(1.0, abs=0.01)
    assert abs(A.mean()) < 4 / np.sqrt(A.size * 200)
    assert_array_equal(y, A @ coef)
    assert np.count_nonzero(coef) == 7
    assert (set(np.abs(coef)) == {0.0, 1.0}) == (values == "signs")


@pytest.mark.parametrize("generator", GENERATORS)
def test_seeds(generator: Callable[..., LinearModelData]) -> None:
    first, same, other, several = (generator(10, 5, 2, random_state=seed).X.tobytes() for seed in (3, 3, 4, [3, 4]))
    assert first == same
    assert len({first, other, several}) == 3
    going_on = np.random.default_rng(3)
    assert generator(10, 5, 2, random_state=going_on).X.tobytes() == first
    assert generator(10, 5, 2, random_state=going_on).X.tobytes() != first


@pytest.mark.parametrize("generator", [make_logistic, make_linear])
def test_given_coefficients(generator: Callable[..., LinearModelData]) -> None:
    coef = np.array([0.0, 3.0, 0.0, -2.0])
    data = generator(50, coef=coef)
    assert data.X.shape == (50, 4)
    assert_array_equal(data.coef, coef)
    assert data.coef is not coef
    assert np.corrcoef(data.X @ coef, data.y)[0, 1] > 0.5


@pytest.mark.parametrize(
    ("generator", "arguments", "message"),
    [
        (make_logistic, {"p": 5, "k": 6}, "k = 6 relevant features of p = 5; k must not exceed p"),
        (make_logistic, {"correlation": 1.0}, "correlation must lie between -1 and 1, got 1.0"),
        (make_logistic, {"n": 0}, "n must be a positive integer, got 0"),
        (make_linear, {"noise": -1.0}, "noise must be finite and at least 0, got -1.0"),
        (make_linear, {"coef": [[1.0, 2.0]]}, r"coef has shape \(1, 2\), expected \(2,\)"),
        (make_linear, {"coef": [np.nan]}, "coef has 1 NaN or infinite values"),
        (make_compressed_sensing, {"p": 2.5}, "p must be a positive integer, got 2.5"),
        (make_compressed_sensing, {"values": "ones"}, "values must be 'normal' or 'signs', got 'ones'"),
        (make_coefficients, {"k": -1}, "k must be at least 0"),
    ],
)
def test_bad_input(generator: Callable[..., Any], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generator(**arguments)
