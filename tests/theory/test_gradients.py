"""Proposition 2: its formula, and how often its bound holds in simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ksparse._types import Array
from ksparse.objectives import LogDet, Logistic
from ksparse.theory import logistic_gradient_bound, norm_of_largest


def draw_labels(X: Array, coef: Array, rng: np.random.Generator) -> Array:
    """Labels of P(v = 1 | x) = 1/(1 + exp(−wᵀx)), the paper's model for u = x/2."""
    return np.where(rng.random(len(X)) < 1 / (1 + np.exp(-X @ coef)), 1, -1)


def test_the_formula_is_the_papers() -> None:
    """4σ√(s ln p/n) + λ‖w̄_s‖ for the features u = x/2, whose σ is half that of x."""
    X = np.random.default_rng(0).standard_normal((50, 30))
    bound = logistic_gradient_bound(X, 4, alpha=0.1, norm=3.0, sigma=1.4)
    assert bound.value == pytest.approx(4 * 0.7 * np.sqrt(4 * np.log(30) / 50) + 0.1 * 3.0)
    assert bound.probability == pytest.approx(1 - 4 / 30)
    default = logistic_gradient_bound(X, 4)
    assert default.noise == pytest.approx(2 * np.sqrt((X**2).mean(axis=0).max() * 4 * np.log(30) / 50))
    assert logistic_gradient_bound(sparse.csc_array(X), 4).noise == pytest.approx(default.noise)


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.0, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_the_bound_holds_as_often_as_it_says(strength: float, alpha: float) -> None:
    """Bounded and Gaussian features, correlated with the labels or not: σ = 1 for ±1, whose products with v are ±1."""
    rng = np.random.default_rng(1)
    n, p, s, runs = 100, 20, 6, 200
    coef = np.zeros(p)
    coef[:3] = strength
    for draw in (lambda: rng.choice([-1.0, 1.0], (n, p)), lambda: rng.standard_normal((n, p))):
        held, norms, bounds = 0, [], []
        for _ in range(runs):
            X = draw()
            objective = Logistic(X, draw_labels(X, coef, rng), alpha=alpha)
            gradient = objective.evaluate(coef).gradient
            norm = norm_of_largest(objective, gradient, s)
            bound = logistic_gradient_bound(X, s, alpha=alpha, norm=float(np.linalg.norm(coef)))
            assert norm == pytest.approx(np.linalg.norm(np.sort(np.abs(gradient))[-s:]))
            held += norm <= bound.value
            norms.append(norm)
            bounds.append(bound.value)
        assert held / runs >= bound.probability
        assert np.mean(norms) > np.mean(bounds) / 8  # not an empty statement
    assert bound.probability == 0.8


def test_the_bound_shrinks_like_the_gradient() -> None:
    """Both fall like 1/√n."""
    rng = np.random.default_rng(2)
    ratios = []
    for n in (100, 6400):
        norms = []
        for _ in range(20):
            X = rng.choice([-1.0, 1.0], (n, 40))
            objective = Logistic(X, draw_labels(X, np.zeros(40), rng))
            norms.append(norm_of_largest(objective, objective.evaluate(np.zeros(40)).gradient, 5))
        ratios.append(np.mean(norms) / logistic_gradient_bound(X, 5).value)
    assert ratios[0] == pytest.approx(ratios[1], rel=0.15)


def test_norms_of_units() -> None:
    """Of a precision matrix, s edges with both of their entries, and the diagonal."""
    G = np.array([[1.0, 3.0, 0.5], [3.0, 2.0, 0.1], [0.5, 0.1, 0.0]])
    assert norm_of_largest(LogDet(np.eye(3)), G, 1) == pytest.approx(np.sqrt(1 + 4 + 9 + 9))
