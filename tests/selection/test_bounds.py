"""The bounds of false selections are the optima of linear programs over all distributions they speak of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from ksparse.selection import expected_false_selections, find_smallest_threshold

P = 1000


def most_likely(theta: float, pairs: int, threshold: float, unimodal: bool) -> float:
    """The largest probability that a fraction X of B pairs is at least 2τ − 1, if its mean is at most θ².

    Both halves of a pair select a feature with probability θ² at most, and a feature that is selected in a fraction τ
    of the halves is selected by both halves of a fraction 2τ − 1 of the pairs.
    """
    fractions = np.arange(pairs + 1) / pairs
    objective = -(fractions >= 2 * threshold - 1 - 1e-12).astype(float)
    rises = np.eye(pairs, pairs + 1) - np.eye(pairs, pairs + 1, k=1)
    best = 0.0
    for mode in range(pairs + 1) if unimodal else [0]:
        shape = np.where(np.arange(pairs) < mode, 1.0, -1.0)[:, None] * rises if unimodal else rises[:0]
        answer = linprog(
            objective,
            A_ub=np.vstack([fractions, shape]),
            b_ub=np.append(theta**2, np.zeros(len(shape))),
            A_eq=np.ones((1, pairs + 1)),
            b_eq=[1.0],
        )
        # A peak beyond some fraction makes the mean too large: no such distribution.
        best = max(best, -answer.fun) if answer.status == 0 else best
    return best


@pytest.mark.parametrize("pairs", [4, 9])
@pytest.mark.parametrize("theta", [0.02, 0.2, 0.4, 0.57])
def test_unimodal_fractions(pairs: int, theta: float) -> None:
    """The bound holds everywhere, and no smaller one does where Theorem 2 of Shah and Samworth applies."""
    for threshold in np.arange(pairs + 1, 2 * pairs + 1) / (2 * pairs):
        bound = expected_false_selections(threshold, theta * P, P, pairs) / P
        attained = most_likely(theta, pairs, threshold, unimodal=True)
        assert bound >= attained * (1 - 1e-9)
        if threshold > 0.5 + min(theta**2, 0.5 / pairs + 0.75 * theta**2):
            assert bound == pytest.approx(attained)


@pytest.mark.parametrize("threshold", [0.61, 0.7499, 0.7501, 0.93])
def test_thresholds_between_frequencies(threshold: float) -> None:
    bound = expected_false_selections(threshold, 0.2 * P, P, 7) / P
    assert bound >= most_likely(0.2, 7, threshold, unimodal=True) * (1 - 1e-9)


@pytest.mark.parametrize("pairs", [4, 25])
@pytest.mark.parametrize("theta", [0.02, 0.3, 0.9])
def test_any_fractions(pairs: int, theta: float) -> None:
    """Markov's inequality, which is attained."""
    for threshold in np.arange(pairs + 1, 2 * pairs + 1) / (2 * pairs):
        bound = expected_false_selections(threshold, theta * P, P, pairs, "none") / P
        assert min(bound, 1.0) == pytest.approx(most_likely(theta, pairs, threshold, unimodal=False))


def test_the_bound_falls_with_the_threshold_and_with_the_assumption() -> None:
    thresholds = np.linspace(0.505, 1, 200)
    for assumption in ("none", "unimodal"):
        bounds = [expected_false_selections(tau, 30, 500, 50, assumption) for tau in thresholds]
        assert (np.diff(bounds) <= 0).all()
    plain = [expected_false_selections(tau, 30, 500, 50, "none") for tau in thresholds]
    assert (np.array(bounds) <= plain).all()
    assert expected_false_selections(0.9, 0, 500, 50) == 0


@pytest.mark.parametrize("assumption", ["none", "unimodal"])
@pytest.mark.parametrize("max_false", [0.05, 0.3, 1.0, 5.0])
def test_the_smallest_threshold_is_the_smallest(assumption: str, max_false: float) -> None:
    pairs = 30
    if expected_false_selections(1.0, 12, 900, pairs, assumption) > max_false:
        with pytest.raises(ValueError, match=r"with 12 of 900 features .* at least 0.16 false"):
            find_smallest_threshold(max_false, 12, 900, pairs, assumption)
        return
    threshold = find_smallest_threshold(max_false, 12, 900, pairs, assumption)
    enough = [
        count / (2 * pairs)
        for count in range(pairs + 1, 2 * pairs + 1)
        if expected_false_selections(count / (2 * pairs), 12, 900, pairs, assumption) <= max_false
    ]
    assert threshold == enough[0]


@pytest.mark.parametrize("threshold", [0.5, 0.4, 1.01, np.nan])
def test_bad_thresholds(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.5 and 1"):
        expected_false_selections(threshold, 10, 100, 50)
