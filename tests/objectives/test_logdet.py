"""The Gaussian likelihood of a precision matrix: derivatives, bounds, what single edges cost and gain, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import ksparse
from ksparse.diagnostics import check_objective
from ksparse.objectives import EigenvalueBounds, LogDet, eigenvalue_bounds
from ksparse.objectives.base import curvature_along
from ksparse.objectives.protocols import NoLipschitzConstantError
from tests.precision import covariance, random_support, refitted, value_at

P = 5


def inner_point(p: int = P, seed: int = 0) -> Any:
    """A well conditioned matrix."""
    A = np.random.default_rng(seed).standard_normal((p, 2 * p))
    return A @ A.T / (2 * p) + 0.3 * np.eye(p)


def test_value_and_gradient() -> None:
    sigma, omega = covariance(P, 12), inner_point()
    objective = LogDet(sigma, bounds=None)
    point = objective.evaluate(omega)
    assert point.value == pytest.approx(value_at(sigma, omega), rel=1e-13)
    np.testing.assert_allclose(point.gradient, sigma - np.linalg.inv(omega), atol=1e-12)
    report = check_objective(objective, omega)
    assert report.ok, report
    assert report.checked == P * P
    skew = np.triu(np.ones((P, P)), 1)
    assert objective.evaluate(omega + skew - skew.T).value == pytest.approx(point.value, rel=1e-13)


def test_the_check_finds_a_point_of_its_own_inside_the_domain() -> None:
    assert check_objective(LogDet(covariance(P, 12))).ok
    outside = check_objective(LogDet(covariance(P, 12)), -np.eye(P))
    assert "pass an x inside its domain" in str(outside)


def test_f_is_infinite_outside_the_bounds_and_where_it_is_not_positive_definite() -> None:
    sigma = covariance(P, 12)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((P, P)))[0]

    def value(bounds: Any, *eigenvalues: float) -> float:
        omega = (turn * np.array(eigenvalues)) @ turn.T
        return LogDet(sigma, bounds).evaluate(0.5 * (omega + omega.T)).value

    assert np.isfinite(value((0.5, 2.0), 0.5, 1, 1, 1, 2))
    assert value((0.5, 2.0), 0.499999, 1, 1, 1, 2) == np.inf
    assert value((0.5, 2.0), 0.5, 1, 1, 1, 2.000001) == np.inf
    assert np.isfinite(value(None, 1e-6, 1, 1, 1, 1e6))
    assert value(None, -1e-3, 1, 1, 1, 1) == np.inf
    assert value((0.0, 2.0), -1e-3, 1, 1, 1, 1) == np.inf
    with pytest.raises(ValueError, match="not positive definite or not within its eigenvalue bounds"):
        _ = LogDet(sigma).evaluate(np.zeros((P, P))).gradient


@pytest.mark.parametrize("seed", range(20))
def test_factors_decide_about_bounds_as_eigenvalues_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    omega = inner_point(4, seed) * rng.uniform(0.5, 2)
    values = np.linalg.eigvalsh(omega)
    for lower, upper in ((0.9, 1.1), (1.1, 1.1), (0.9, 0.9)):
        bounds = EigenvalueBounds(lower * values[0], upper * values[-1])
        assert bounds.admit(omega) == (lower < 1 < upper)


def test_the_rule_of_the_paper() -> None:
    sigma = covariance(P, 12)
    norm, trace, xi = np.linalg.norm(sigma, 2), np.trace(sigma), 1e-2
    alpha = 1 / (norm + P * xi)
    assert eigenvalue_bounds(sigma) == pytest.approx((alpha, (P - alpha * trace) / xi), rel=1e-12)
    assert LogDet(sigma).bounds == eigenvalue_bounds(sigma)
    alpha = 1 / (norm + 30 * 0.1)
    assert eigenvalue_bounds(sigma, xi=0.1, size=30) == pytest.approx((alpha, (30 - alpha * trace) / 0.1), rel=1e-12)
    large = covariance(130, 60)  # beyond this size the norm is that of Lanczos' method
    assert eigenvalue_bounds(large).lower == pytest.approx(1 / (np.linalg.norm(large, 2) + 1.3), rel=1e-8)
    np.testing.assert_allclose(LogDet(sigma).start, LogDet(sigma).bounds.lower * np.eye(P))


@pytest.mark.parametrize("variance", [0.0, 1e-8, 0.3, 2.0, 7.7, 1e8])
def test_one_variable_has_bounds_too(variance: float) -> None:
    """There α and β are equal but for rounding."""
    lower, upper = eigenvalue_bounds([[variance]])
    assert lower <= upper
    assert upper == pytest.approx(1 / (variance + 0.01), rel=1e-6)


def test_bounds_that_no_matrix_is_within_are_refused() -> None:
    with pytest.raises(ValueError, match="which no matrix is within; raise it"):
        eigenvalue_bounds(np.eye(10), size=2)
    with pytest.raises(ValueError, match="xi must be finite and greater than 0"):
        eigenvalue_bounds(np.eye(2), xi=0)


def test_the_quadratic_model_is_that_of_finite_differences() -> None:
    sigma, omega = covariance(P, 12), inner_point()
    objective = LogDet(sigma, bounds=None)
    coordinates = random_support(P, 0.6, seed=1)
    model = objective.quadratic_model(objective.evaluate(omega), coordinates)
    hessian = model.hessian
    rows, columns = np.nonzero(model.coordinates)
    assert (rows <= columns).all()
    assert rows.size == int(np.triu(coordinates).sum())

    def moved(step: Any) -> float:
        change = np.zeros((P, P))
        change[rows, columns] = change[columns, rows] = step
        return objective.evaluate(omega + change).value

    h, eye = 1e-4, np.eye(rows.size)
    numeric = [
        [
            (moved(h * (a + b)) - moved(h * (a - b)) - moved(h * (b - a)) + moved(-h * (a + b))) / (4 * h * h)
            for a in eye
        ]
        for b in eye
    ]
    np.testing.assert_allclose(hessian, numeric, atol=1e-5 * np.abs(hessian).max())
    slopes = [(moved(h * a) - moved(-h * a)) / (2 * h) for a in eye]
    np.testing.assert_allclose(hessian @ omega[rows, columns] - model.linear, slopes, atol=1e-6)
    # Per-coordinate curvature is half of the model's diagonal for a pair, and all of it on the diagonal.
    curvature = objective.curvature(objective.evaluate(omega))[rows, columns]
    np.testing.assert_allclose(curvature * np.where(rows == columns, 1, 2), hessian.diagonal(), rtol=1e-12)


def test_the_restricted_hessian_is_the_second_derivative_along_symmetric_directions() -> None:
    objective = LogDet(covariance(P, 12), bounds=None)
    support = random_support(P, 0.5, seed=2)
    restricted = objective.restrict(support)
    omega = np.where(support, inner_point(), 0.0) + np.eye(P)
    point = restricted.evaluate(omega[support])
    rng = np.random.default_rng(0)
    D = rng.standard_normal((P, P))
    direction, h = (D + D.T)[support], 1e-5
    numeric = (
        restricted.evaluate(point.x + h * direction).gradient - restricted.evaluate(point.x - h * direction).gradient
    ) / (2 * h)
    np.testing.assert_allclose(restricted.hessian(point) @ direction, numeric, atol=1e-7)
    np.testing.assert_allclose(restricted.hessian_operator(point) @ direction, numeric, atol=1e-7)
    along = curvature_along(point.extend(objective, support), np.where(support, D + D.T, 0.0))
    assert along == pytest.approx(direction @ numeric, rel=1e-7)


def test_a_support_must_be_symmetric_with_the_diagonal() -> None:
    objective = LogDet(covariance(3, 12))
    for support in (np.triu(np.ones((3, 3), dtype=bool)), ~np.eye(3, dtype=bool)):
        with pytest.raises(ValueError, match="must be symmetric, with the diagonal; use Pairs"):
            objective.restrict(support)


@pytest.mark.parametrize("seed", range(4))
def test_leaving_costs_are_those_of_removing_an_edge_and_refitting_its_two_variances(seed: int) -> None:
    sigma = covariance(P, 12, seed, scaled=True)
    objective = LogDet(sigma, bounds=None)
    # The costs are exact wherever Ω is, not only at a minimum; what lowers f costs nothing.
    omega = refitted(objective, random_support(P, 0.7, seed))[1] + 0.002 * seed * np.eye(P)
    costs = objective.leaving_costs(objective.evaluate(omega))
    edges = np.argwhere(np.triu(omega, 1))
    assert len(edges) >= 3
    for i, j in edges:

        def without(diagonal: Any, i: int = i, j: int = j) -> float:
            changed = omega.copy()
            changed[i, j] = changed[j, i] = 0.0
            changed[i, i], changed[j, j] = diagonal
            return objective.evaluate(changed).value

        start = 2.0 * omega[[i, j], [i, j]]
        best = minimize(without, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000})
        assert costs[i, j] == costs[j, i]
        rise = max(best.fun - objective.evaluate(omega).value, 0.0)
        assert costs[i, j] + costs[j, i] == pytest.approx(rise, abs=1e-9)
    assert costs.max() > 0.01
    outside = omega == 0
    assert (costs[outside] == 0).all()


@pytest.mark.parametrize("edges", [[], [(0, 1), (2, 3)]])
def test_entering_gains_are_those_of_refitting_a_block(edges: list[tuple[int, int]]) -> None:
    """The pair and its two diagonal entries are free, all others stay."""
    sigma = covariance(P, 30, scaled=True)
    objective = LogDet(sigma, bounds=None)
    support = np.eye(P, dtype=bool)
    for i, j in edges:
        support[i, j] = support[j, i] = True
    omega = refitted(objective, support)[1]
    point = objective.evaluate(omega)
    gains = objective.entering_gains(point, point.gradient)
    for i, j in ((0, 4), (1, 2)):

        def changed(move: Any, i: int = i, j: int = j) -> float:
            moved = omega.copy()
            moved[i, i] += move[0]
            moved[j, j] += move[1]
            moved[i, j] = moved[j, i] = move[2]
            value = objective.evaluate(moved).value
            return float(value) if np.isfinite(value) else 1e10

        best = minimize(changed, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
        assert gains[i, j] + gains[j, i] == pytest.approx(point.value - best.fun, rel=1e-6, abs=1e-10)
    assert (gains.diagonal() == 0).all()
    np.testing.assert_array_equal(gains, gains.T)


def test_the_lipschitz_constant() -> None:
    objective = LogDet(covariance(P, 12), bounds=(0.5, 2.0))
    assert objective.lipschitz() == pytest.approx(4.0)
    worst = objective.evaluate(0.5 * np.eye(P))
    assert objective.curvature(worst).max() <= objective.lipschitz() * (1 + 1e-12)
    with pytest.raises(NoLipschitzConstantError, match="without a lower bound"):
        LogDet(covariance(P, 12), bounds=None).lipschitz()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.diag([1.0, -1.0]), "covariance is indefinite: its smallest eigenvalue is -1"),
        ([[1.0, 2.0], [2.0, 1.0]], "covariance is indefinite"),
        ([[1.0, 0.5], [0.4, 1.0]], "covariance is not symmetric: it and its transpose differ by 0.1"),
        (np.ones((2, 3)), r"covariance has shape \(2, 3\); it must be square"),
        (np.ones(3), "Expected 2D array"),
        ([[1.0, np.nan], [np.nan, 1.0]], "contains NaN"),
        ([[np.inf]], "contains infinity"),
        (np.zeros((0, 0)), "0 sample"),
    ],
)
def test_bad_covariances(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LogDet(matrix)


@pytest.mark.parametrize(
    "bounds", ["lu", 3.0, (1.0,), (1, 2, 3), (2.0, 1.0), (-1.0, 1.0), (0.0, 0.0), (np.nan, 1.0), (1.0, np.nan), "ab",
               (np.inf, np.inf)]
)  # fmt: skip
def test_bad_bounds(bounds: Any) -> None:
    with pytest.raises(ValueError, match="bounds must"):
        LogDet(np.eye(2), bounds)


def test_rounding_is_no_asymmetry_and_no_negative_eigenvalue() -> None:
    X = np.random.default_rng(0).standard_normal((3, 30))
    sigma = X.T @ X / 3
    sigma[0, 1] *= 1 + 1e-14
    objective = LogDet(sigma)
    np.testing.assert_array_equal(objective.covariance, objective.covariance.T)


def test_points_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"x0 has shape \(2, 2\), but LogDet is a function on shape \(3, 3\)"):
        ksparse.minimize(LogDet(np.eye(3)), k=1, x0=np.eye(2))
