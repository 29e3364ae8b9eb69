"""The alternating direction method of Appendix B: its updates, its minima, and where bounds bind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse._types import Array, Mask
from ksparse.debias import Exact, Outcome
from ksparse.debias.adm import minimize_adm, project_to_bounds
from ksparse.objectives import EigenvalueBounds, LeastSquares, LogDet
from tests.precision import covariance, random_support, refitted, value_at


def as_in_the_paper(sigma: Array, support: Mask, bounds: Any, theta: Array, rho: float, count: int) -> Array:
    """Appendix B, line by line, with Γ = 0 on F and Σ elsewhere at first."""
    alpha, beta = bounds
    gamma = np.where(support, 0.0, sigma)
    for _ in range(count):
        M = theta - (sigma - gamma) / rho
        values, V = np.linalg.eigh(M)
        values = np.minimum(beta, np.maximum(alpha, (values + np.sqrt(values**2 + 4 / rho)) / 2))
        omega = V @ np.diag(values) @ V.T
        theta = np.where(support, omega - gamma / rho, 0.0)
        gamma = gamma - rho * (omega - theta)
    return theta


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("bounds", [(1e-3, 1e3), (0.7, 1e3), (0.1, 1.2)])
def test_updates_are_those_of_the_paper(count: int, bounds: Any) -> None:
    sigma, support = covariance(6, 20), random_support(6, 0.4)
    start, rho = bounds[0] * np.eye(6), 0.7
    expected = as_in_the_paper(sigma, support, bounds, start, rho, count)
    values = np.linalg.eigvalsh(expected)
    found = minimize_adm(sigma, support, EigenvalueBounds(*bounds), start, tol=1e-300, max_iter=count, rho=rho)
    assert not found.converged
    if bounds[0] <= values[0] and values[-1] <= bounds[1]:
        np.testing.assert_allclose(found.omega, expected, atol=1e-12)
    else:  # the paper's Θ may miss the bounds on the way; what is given back does not
        values = np.linalg.eigvalsh(found.omega)
        assert bounds[0] * (1 - 1e-10) <= values[0]
        assert values[-1] <= bounds[1] * (1 + 1e-10)
    far = minimize_adm(sigma, support, EigenvalueBounds(*bounds), start, tol=1e-10, max_iter=20_000, rho=rho)
    limit = as_in_the_paper(sigma, support, bounds, start, rho, 3000)
    assert far.converged
    np.testing.assert_allclose(far.omega, limit, atol=1e-6)


def by_interior_points(sigma: Array, support: Mask, bounds: Any) -> float:
    """An oracle that shares nothing with the methods: Newton steps with log-barriers of Ω − αI and βI − Ω."""
    p, (alpha, beta) = len(sigma), bounds
    basis = []
    for i, j in np.argwhere(np.triu(support)):
        unit = np.zeros((p, p))
        unit[i, j] = unit[j, i] = 1.0
        basis.append(unit)
    omega = 0.5 * (alpha + min(beta, 2 * alpha + 1)) * np.eye(p)

    def barrier(omega: Array, weight: float) -> float:
        values = np.linalg.eigvalsh(omega)
        if values[0] <= alpha or values[-1] >= beta:
            return np.inf
        away = np.log(values - alpha).sum() + np.log(beta - values).sum()
        return float(np.sum(sigma * omega) - np.log(values).sum() - weight * away)

    for weight in 10.0 ** -np.arange(0, 11):
        for _ in range(60):
            terms = [
                (1.0, 1.0, np.linalg.inv(omega)),
                (weight, 1.0, np.linalg.inv(omega - alpha * np.eye(p))),
                (weight, -1.0, np.linalg.inv(beta * np.eye(p) - omega)),
            ]
            slope = sigma - sum(w * sign * inverse for w, sign, inverse in terms)
            gradient = np.array([np.sum(slope * unit) for unit in basis])
            bent = [[sum(w * np.sum((a @ E @ a) * F) for w, _, a in terms) for E in basis] for F in basis]
            step = np.linalg.solve(np.array(bent), -gradient)
            move = sum(length * unit for length, unit in zip(step, basis, strict=True))
            size = 1.0
            while barrier(omega + size * move, weight) > barrier(omega, weight) and size > 1e-12:
                size *= 0.5
            omega = omega + size * move if size > 1e-12 else omega
            if -gradient @ step < 1e-13:
                break
    return barrier(omega, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["neighbourhood", "adm"])
@pytest.mark.parametrize(("n", "density"), [(12, 0.6), (12, 1.0), (3, 0.6), (3, 1.0)])
@pytest.mark.parametrize("binding", ["none", "lower", "upper", "both"])
def test_bounds_against_an_interior_point_method(n: int, density: float, binding: str, method: Any) -> None:
    p = 4
    sigma, support = covariance(p, n), random_support(p, density, seed=3)
    loose = np.linalg.eigvalsh(refitted(LogDet(sigma), support)[1])
    lower = 1.3 * loose[0] if binding in ("lower", "both") else 0.5 * loose[0]
    upper = max(0.7 * min(loose[-1], 20.0), 1.1 * lower) if binding in ("upper", "both") else 2.0 * loose[-1]
    if n < p:
        upper = min(upper, 50.0)
    objective = LogDet(sigma, bounds=(lower, upper))
    solution, omega = refitted(objective, support, method)
    values = np.linalg.eigvalsh(omega)
    assert solution.outcome is Outcome.SOLVED
    if binding in ("lower", "both"):
        assert values[0] == pytest.approx(lower, rel=1e-6)
    if binding in ("upper", "both"):
        assert values[-1] == pytest.approx(upper, rel=1e-6)
    assert solution.point.value == pytest.approx(value_at(sigma, omega), rel=1e-12)
    oracle = by_interior_points(sigma, support, (lower, upper))
    assert solution.point.value == pytest.approx(oracle, abs=2e-6 * max(1.0, abs(oracle)))
    assert np.isfinite(objective.evaluate(omega).value)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 4])
@pytest.mark.parametrize("rho", [None, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_both_methods_agree_on_random_supports(seed: int, rho: float | None, n: int) -> None:
    p = 8
    sigma = covariance(p, n, seed)
    support = random_support(p, 0.3, seed)
    for bounds in ("paper", (0.5, 20.0), (1.0, 3.0)):
        objective = LogDet(sigma, bounds)
        reference, _ = refitted(objective, support)
        found, omega = refitted(objective, support, "adm", rho=rho)
        assert (omega[~support] == 0).all()
        np.testing.assert_array_equal(omega, omega.T)
        if found.outcome is reference.outcome is Outcome.SOLVED:
            assert found.point.value == pytest.approx(reference.point.value, abs=1e-6)
        if rho is None and bounds != "paper":
            assert found.outcome is reference.outcome is Outcome.SOLVED


@pytest.mark.parametrize("method", ["neighbourhood", "adm"])
@pytest.mark.parametrize("value", [0.2, 1.0, 5.0])
def test_equal_bounds_leave_one_matrix(value: float, method: Any) -> None:
    objective = LogDet(covariance(5, 8), bounds=(value, value))
    solution, omega = refitted(objective, random_support(5, 0.7), method)
    np.testing.assert_allclose(omega, value * np.eye(5), rtol=1e-9, atol=1e-9)
    assert np.isfinite(objective.evaluate(omega).value)
    assert solution.outcome is Outcome.SOLVED


def test_a_complete_graph_within_bounds_converges() -> None:
    """There Γ is zero, and nothing can be measured by its size: clip(1/λ(Σ)) is the answer."""
    sigma = covariance(6, 3)
    found = minimize_adm(
        sigma, np.ones((6, 6), dtype=bool), EigenvalueBounds(0.2, 9.0), 0.2 * np.eye(6), tol=1e-8, max_iter=40
    )
    values, V = np.linalg.eigh(sigma)
    expected = (V * np.clip(1 / np.maximum(values, 1e-12), 0.2, 9.0)) @ V.T
    assert found.converged
    np.testing.assert_allclose(found.omega, expected, atol=1e-6)


def test_pulling_in_keeps_the_support_and_reaches_the_bounds() -> None:
    theta = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 9.0]])
    for bounds in (EigenvalueBounds(0.5, 4.0), EigenvalueBounds(0.0, np.inf), EigenvalueBounds(2.0, 2.0)):
        inside, _ = project_to_bounds(theta, bounds)
        values = np.linalg.eigvalsh(inside)
        assert values[0] >= bounds.lower * (1 - 1e-12)
        assert values[0] > 0
        assert values[-1] <= bounds.upper * (1 + 1e-12)
        assert (inside[theta == 0] == 0).all()
    fine = np.diag([1.0, 2.0, 3.0])
    same, moved = project_to_bounds(fine, EigenvalueBounds(0.5, 4.0))
    np.testing.assert_array_equal(same, fine)
    assert moved == 0.0


def test_without_a_minimum_it_is_not_made_worse_than_its_start() -> None:
    sigma, support = covariance(6, 3), np.ones((6, 6), dtype=bool)
    for bounds in ((0.1, np.inf), None):
        objective = LogDet(sigma, bounds)
        solution, _ = refitted(objective, support, "adm")
        assert solution.outcome is Outcome.UNFINISHED
        assert solution.point.value <= objective.evaluate(objective.start).value


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="rho must be finite and greater than 0"):
        Exact("adm", rho=0.0)
    objective = LeastSquares(np.eye(3), np.ones(3))
    for method in ("adm", "neighbourhood"):
        with pytest.raises(ValueError, match="is for precision matrices, not for LeastSquares"):
            Exact(method)(objective, np.zeros(3))
    with pytest.raises(ValueError, match='debiased by "neighbourhood" or "adm", not by "newton-cg"'):
        refitted(LogDet(np.eye(3)), np.eye(3, dtype=bool), "newton-cg")
