"""Every gradient and Hessian against finite differences, and all routes to a derivative against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime

from ksparse.diagnostics import check_objective
from ksparse.objectives import Objective, TwiceDifferentiable
from ksparse.objectives.base import compute_hessian, compute_hessian_operator, curvature_along
from tests.problems import LINEAR, OBJECTIVES, UNBOUNDED, N, P, linear

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"alpha": 0.0},
    "ridge": {"alpha": 0.3},
    "intercept": {"alpha": 0.3, "fit_intercept": True},
    "weights": {"sample_weight": np.linspace(0, 2, N), "fit_intercept": True},
}


def random_point(objective: Objective) -> Any:
    return 0.3 * np.random.default_rng(5).standard_normal(objective.shape)


def numeric_gradient(objective: Objective, x: Any) -> Any:
    """Central differences, as the mean of forward and backward ones."""
    sides = [
        approx_fprime(x.ravel(), lambda v: objective.evaluate(v.reshape(x.shape)).value, step) for step in (1e-6, -1e-6)
    ]
    return 0.5 * (sides[0] + sides[1]).reshape(x.shape)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("kind", LINEAR)
def test_linear_gradients_and_hessians(kind: str, options: dict[str, Any]) -> None:
    objective = linear(kind, **options)
    x = random_point(objective)
    np.testing.assert_allclose(objective.evaluate(x).gradient, numeric_gradient(objective, x), atol=1e-7)
    report = check_objective(objective, x)
    assert report.ok, str(report)
    assert report.gradient_error < 1e-7


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_of_all_objectives(name: str) -> None:
    objective = OBJECTIVES[name]()
    x = random_point(objective)
    np.testing.assert_allclose(objective.evaluate(x).gradient, numeric_gradient(objective, x), atol=1e-7)


@pytest.mark.parametrize("kind", LINEAR)
def test_offsets_shift_the_margins(kind: str) -> None:
    margins = linear(kind).evaluate(random_point(linear(kind))).state
    offset = np.random.default_rng(0).standard_normal(margins.shape)
    objective = linear(kind, offset=offset)
    assert check_objective(objective, random_point(objective)).ok
    moved = objective.evaluate(random_point(objective)).state
    np.testing.assert_allclose(moved, margins + offset)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_restriction_agrees_with_the_full_objective(name: str) -> None:
    objective = OBJECTIVES[name]()
    rng = np.random.default_rng(1)
    support = rng.random(objective.shape) < 0.5
    support.flat[0] = True
    x = np.where(support, random_point(objective), 0.0)
    full = objective.evaluate(x)
    restricted = objective.restrict(support)
    point = restricted.evaluate(x[support])
    assert restricted.shape == (support.sum(),)
    assert point.value == pytest.approx(full.value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, full.gradient[support], atol=1e-12)
    tolerance = 1e-12 if isinstance(objective, TwiceDifferentiable) else 1e-6
    hessian = compute_hessian(objective, full)
    block = hessian[np.ix_(support.ravel(), support.ravel())]
    np.testing.assert_allclose(compute_hessian(restricted, point), block, atol=tolerance)
    direction = rng.standard_normal(int(support.sum()))
    operator = compute_hessian_operator(restricted, point)
    np.testing.assert_allclose(operator @ direction, block @ direction, atol=1e-6)
    extended = point.extend(objective, support)
    np.testing.assert_array_equal(extended.x, x)
    np.testing.assert_allclose(extended.gradient, full.gradient, atol=1e-12)
    np.testing.assert_allclose(full.restrict(support).gradient, point.gradient, atol=1e-12)
    spread = np.where(support, 1.0, 0.0)
    expected = spread.ravel() @ hessian @ spread.ravel()
    assert curvature_along(full, spread) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", LINEAR)
def test_hessian_of_centred_sparse_columns(kind: str) -> None:
    """Implicit centring of sparse columns gives the Hessian of explicitly centred ones."""
    rng = np.random.default_rng(3)
    X = sparse.csc_array(np.where(rng.random((N, P)) < 0.15, rng.random((N, P)), 0.0))
    dense = linear(kind, X.toarray(), fit_intercept=True).working_form().objective
    objective = linear(kind, X, fit_intercept=True).working_form().objective
    x = random_point(objective)
    everywhere = np.ones(objective.shape, dtype=bool)
    for a, b in ((objective, dense), (objective.restrict(everywhere), dense.restrict(everywhere))):
        start = x if a is objective else x[everywhere]
        np.testing.assert_allclose(a.evaluate(start).gradient, b.evaluate(start).gradient, atol=1e-13)
        np.testing.assert_allclose(a.hessian(a.evaluate(start)), b.hessian(b.evaluate(start)), atol=1e-13)


@pytest.mark.parametrize("kind", LINEAR)
def test_curvature_estimates_the_diagonal(kind: str) -> None:
    objective = linear(kind)
    point = objective.evaluate(np.zeros(objective.shape))
    diagonal = np.diag(objective.hessian(point)).reshape(objective.shape)
    ratio = objective.curvature(point) / diagonal
    exact = kind in ("least squares", "multiresponse", "logistic", "multinomial", "poisson", "hinge")
    if exact:
        np.testing.assert_allclose(ratio, 1.0, rtol=1e-10)
    else:
        assert ratio.min() > 0.2
        assert ratio.max() < 5


@pytest.mark.parametrize("kind", [kind for kind in LINEAR if kind not in UNBOUNDED])
@pytest.mark.parametrize("scaled", [False, True])
def test_lipschitz_constant_bounds_the_hessian(kind: str, scaled: bool) -> None:
    objective = linear(kind, fit_intercept=True).working_form().objective
    metric = objective.curvature(objective.evaluate(np.zeros(objective.shape))) if scaled else None
    scale = 1.0 if metric is None else np.sqrt(np.outer(metric.ravel(), metric.ravel()))
    constant = objective.lipschitz(metric)
    for seed in range(5):
        x = np.random.default_rng(seed).standard_normal(objective.shape)
        largest = np.linalg.eigvalsh(objective.hessian(objective.evaluate(x)) / scale)[-1]
        assert largest <= constant * (1 + 1e-9)


def test_lipschitz_constant_is_attained_on_least_squares() -> None:
    objective = linear("least squares")
    hessian = objective.hessian(objective.evaluate(np.zeros(P)))
    assert objective.lipschitz() == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=3e-3)
