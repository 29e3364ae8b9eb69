"""The generator of precision matrices against its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse.datasets import make_precision, sample_precision


@pytest.mark.parametrize("p", [2, 30, 60, 120])
def test_the_condition_number_is_p(p: int) -> None:
    precision = make_precision(n=2, p=p, probability=1.0 if p == 2 else 0.1).precision
    assert np.linalg.cond(precision) == pytest.approx(p, rel=1e-9)


def test_another_condition_number() -> None:
    values = np.linalg.eigvalsh(make_precision(n=2, p=40, condition=10.0).precision)
    assert values[0] > 0
    assert values[-1] / values[0] == pytest.approx(10.0, rel=1e-9)


def test_the_matrix_is_edges_of_one_and_a_constant_diagonal() -> None:
    precision = make_precision(n=2, p=50, random_state=5).precision
    assert_array_equal(precision, precision.T)
    assert np.unique(precision.diagonal()).size == 1
    assert set(precision[~np.eye(50, dtype=bool)]) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("arguments", "probability"), [({}, 0.1), ({"probability": 0.3}, 0.3), ({"degree": 3.0}, 3 / 99)]
)
def test_pairs_are_edges_with_their_probability(arguments: dict[str, Any], probability: float) -> None:
    pairs = np.triu_indices(100, 1)
    edges = [make_precision(2, 100, random_state=seed, **arguments).precision[pairs] for seed in range(20)]
    deviation = np.sqrt(probability * (1 - probability) / (20 * pairs[0].size))
    assert abs(np.mean(edges) - probability) < 4 * deviation


def test_samples_have_the_inverse_as_covariance() -> None:
    X, precision = make_precision(n=200_000, p=10, probability=0.3)
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    assert X.shape == (200_000, 10)
    assert_allclose(X.mean(axis=0) / np.sqrt(covariance.diagonal()), 0, atol=0.01)
    assert_allclose(np.cov(X.T) / scale, covariance / scale, atol=0.015)


def test_samples_of_a_given_matrix() -> None:
    precision = make_precision(2, 6, probability=0.5, random_state=1).precision
    X = sample_precision(precision, 100_000, random_state=[1, 2])
    assert X.shape == (100_000, 6)
    assert_allclose(np.cov(X.T) @ precision, np.eye(6), atol=0.1)
    assert_array_equal(sample_precision(precision, 5, 7), sample_precision(precision, 5, 7))
    assert not np.array_equal(sample_precision(precision, 5, 7), sample_precision(precision, 5, 8))


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "precision must be positive definite"),
        ([[1.0, 0.0], [0.5, 1.0]], "precision must be a symmetric matrix"),
        ([1.0, 2.0], "precision must be a symmetric matrix, got an array of shape"),
    ],
)
def test_no_samples_of_what_is_no_precision_matrix(precision: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_precision(precision)


def test_without_edges_it_is_the_identity() -> None:
    cases: list[dict[str, Any]] = [{"probability": 0.0}, {"degree": 0.0}, {"p": 1}]
    for arguments in cases:
        X, precision = make_precision(n=20_000, **{"p": 3, **arguments})
        assert_array_equal(precision, np.eye(len(precision)))
        assert_allclose(np.atleast_2d(np.cov(X.T)), np.eye(len(precision)), atol=0.05)


def test_a_full_graph() -> None:
    precision = make_precision(n=2, p=5, degree=4).precision
    assert (precision != 0).all()


def test_seeds() -> None:
    again, same, other = (make_precision(10, 8, random_state=seed) for seed in (3, 3, 4))
    assert again.X.tobytes() == same.X.tobytes()
    assert again.X.tobytes() != other.X.tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a positive integer, got 0"),
        ({"p": 2.5}, "p must be a positive integer"),
        ({"probability": 1.5}, "probability must lie between 0 and 1, got 1.5"),
        ({"p": 5, "degree": 5}, "degree must lie between 0 and 4, got 5"),
        ({"condition": 1.0}, "condition must be above 1"),
        ({"condition": -2.0}, "condition must be finite and greater than 0"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_precision(**arguments)
