"""m_s and M_s of objectives: brackets against Hessians at many points, and exactness where it is claimed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse._types import Array
from ksparse.objectives import (
    Function,
    LeastSquares,
    LogDet,
    Logistic,
    Objective,
    Poisson,
    Quadratic,
    SquaredHinge,
)
from ksparse.objectives.base import compute_hessian
from ksparse.objectives.losses import LogisticLoss
from ksparse.objectives.protocols import working_form
from ksparse.sparsity import make_set
from ksparse.theory import bracket_curvature, restricted_eigenvalues, sample_curvature
from tests.problems import LINEAR, OBJECTIVES, UNBOUNDED, design, linear, signal

S = 3


def find_extremes(
    objective: Objective, s: int, n: int = 150, sizes: Any = (0.0, 0.1, 1.0, 30.0)
) -> tuple[float, float]:
    """The extreme eigenvalues of Hessian blocks at random points on random supports, of centred features."""
    objective = working_form(objective).objective
    rng = np.random.default_rng(5)
    units = make_set(objective.unit_kind, s).bind(objective.shape, objective.free)
    smallest, largest = np.inf, -np.inf
    for number in range(n):
        support = units.to_mask(units.select_units(rng.random(units.count)))
        restricted = objective.restrict(support)
        x = sizes[number % len(sizes)] * rng.standard_normal(restricted.shape)
        point = restricted.evaluate(x)
        if np.isfinite(point.value):
            eigenvalues = np.linalg.eigvalsh(compute_hessian(restricted, point))
            smallest, largest = min(smallest, eigenvalues[0]), max(largest, eigenvalues[-1])
    return smallest, largest


@pytest.mark.slow
@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("max_supports", [0, 200_000])
def test_no_hessian_is_beyond_what_is_proven(kind: str, max_supports: int) -> None:
    objective = OBJECTIVES[kind]()
    found = bracket_curvature(objective, S, max_supports=max_supports)
    smallest, largest = find_extremes(objective, S)
    scale = 1e-9 * max(largest, 1.0)
    assert found.smallest.low <= smallest + scale
    assert found.largest.high >= largest - scale
    assert found.smallest.low <= found.smallest.high
    assert found.largest.low <= found.largest.high
    if kind not in ("function", "function with hessian", "jax", "torch"):
        assert found.smallest.low >= 0
    if any(kind.startswith(name) for name in UNBOUNDED):
        assert found.largest.high == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["least squares", "multiresponse", "quadratic"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_quadratics_are_exact(kind: str, fit_intercept: bool) -> None:
    if kind == "quadratic":
        objective: Objective = OBJECTIVES[kind]()
    else:
        objective = linear(kind, fit_intercept=fit_intercept, sample_weight=np.arange(1.0, 41.0))
    found = bracket_curvature(objective, S)
    assert found.is_exact
    smallest, largest = find_extremes(objective, S, n=3000, sizes=(1.0,))
    assert found.smallest.low == pytest.approx(smallest)
    assert found.largest.high == pytest.approx(largest)


def test_an_intercept_is_a_coordinate_of_every_support() -> None:
    """Of centred features with tiny variances, M_s is that of the intercept, and with large ones m_s is."""
    X, y = design(), signal(design())
    for factor, end in ((1e-3, "largest"), (1e3, "smallest")):
        found = bracket_curvature(LeastSquares(factor * X, y, fit_intercept=True), S)
        assert getattr(found, end).low == pytest.approx(1.0)
        assert getattr(found, end).low_source == "the intercept"


@pytest.mark.parametrize("kind", ["logistic", "hinge"])
def test_the_largest_curvature_is_at_zero(kind: str) -> None:
    objective = linear(kind, alpha=0.05)
    found = bracket_curvature(objective, S)
    factor = {"logistic": 0.25, "hinge": 2.0}[kind]
    X = design()
    assert found.largest.is_exact
    assert found.largest.high == pytest.approx(factor * restricted_eigenvalues(X.T @ X / len(X), S)[1] + 0.05)
    seen = sample_curvature(objective, S, [objective.start], n_supports=500)
    assert seen[1] == pytest.approx(found.largest.high)


@pytest.mark.parametrize("kind", ["logistic", "multinomial", "huber", "quantile"])
def test_the_curvature_of_flat_losses_vanishes_far_from_zero(kind: str) -> None:
    objective = linear(kind, alpha=0.05)
    assert objective.loss.curvature_vanishes
    found = bracket_curvature(objective, S).smallest
    assert (found.low, found.high) == (0.05, 0.05)
    assert find_extremes(objective, S, sizes=(1e6,))[0] == pytest.approx(0.05, abs=1e-4)
    assert bracket_curvature(linear(kind, alpha=0.05, fit_intercept=True), S).smallest.high == 0.0


def test_other_losses_are_not_called_flat() -> None:
    for kind in set(LINEAR) - {"logistic", "multinomial", "huber", "quantile"}:
        assert not linear(kind).loss.curvature_vanishes


def test_losses_that_are_not_convex_prove_nothing_of_the_smallest() -> None:
    class Wavy(LogisticLoss):
        is_convex = False

    class WavyModel(Logistic):
        loss = Wavy()

    X = design()
    found = bracket_curvature(WavyModel(X, signal(X) > 0, alpha=0.1), S)
    assert found.smallest.low == -np.inf
    assert "not convex" in found.smallest.low_source


def test_bounds_of_the_eigenvalues_give_those_of_log_det() -> None:
    found = bracket_curvature(LogDet(np.eye(4), bounds=(0.5, 2.0)), S)
    assert found.is_exact
    assert (found.smallest.low, found.largest.high) == (0.25, 4.0)
    for lower, upper, ends in ((0.0, np.inf, (0.0, np.inf)), (0.5, np.inf, (0.0, 4.0)), (0.0, 2.0, (0.25, np.inf))):
        found = bracket_curvature(LogDet(np.eye(4), bounds=(lower, upper)), S)
        assert (found.smallest.low, found.largest.high) == ends


@pytest.mark.slow
def test_many_columns() -> None:
    """Beyond the size of matrices that are formed, the bounds are those of squares and of all columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1500))
    for objective, factor in ((LeastSquares(X, X[:, 0]), 1.0), (SquaredHinge(X, X[:, 0] > 0), 2.0)):
        found = bracket_curvature(objective, 4)
        squares = np.sort(np.mean(X**2, axis=0))[-4:].sum()
        assert found.largest.high == pytest.approx(factor * min(squares, np.linalg.norm(X, 2) ** 2 / 60), rel=2e-3)
        F = [0, 7, 99, 1400]
        eigenvalues = np.linalg.eigvalsh(X[:, F].T @ X[:, F] / 60)
        assert found.smallest.low == 0.0
        assert factor * eigenvalues[-1] <= found.largest.high
        assert found.largest.low <= found.largest.high


def test_samples_of_a_function_use_the_points_given() -> None:
    f = Function(lambda x: np.sum(x**4), gradient=lambda x: 4 * x**3, shape=6)
    start = bracket_curvature(f, 2)
    assert start.largest.high == np.inf
    assert start.largest.low == pytest.approx(0.0, abs=1e-6)
    point = np.array([0, 0, 3.0, 0, 0, 0])
    found = bracket_curvature(f, 2, points=[point])
    assert found.largest.low == pytest.approx(108.0, rel=1e-6)
    with pytest.raises(ValueError, match="3 nonzero units, more than the supports of 2"):
        bracket_curvature(f, 2, points=[[1.0, 1, 1, 0, 0, 0]])
    with pytest.raises(ValueError, match="points has shape"):
        bracket_curvature(f, 2, points=[[1.0]])


def test_points_outside_the_domain_are_left_out() -> None:
    def value(x: Array) -> float:
        return float(np.sum(x - np.log(x + 1))) if (x > -1).all() else np.inf

    f = Function(value, lambda x: 1 - 1 / (x + 1), hessian=lambda x: np.diag(1 / (x + 1) ** 2), shape=3)
    assert sample_curvature(f, 1, [np.zeros(3)]) == (1.0, 1.0)
    assert sample_curvature(f, 1, [np.array([-2.0, 0, 0])]) == (np.inf, -np.inf)


def test_indefinite_quadratics() -> None:
    found = bracket_curvature(Quadratic(np.diag([1.0, -1.0, 2.0]), np.zeros(3)), 2)
    assert (found.smallest.low, found.largest.high) == (-1.0, 2.0)


def test_units_of_x_that_squares_do_not_hold() -> None:
    with pytest.raises(ValueError, match="multiply X by a constant"):
        bracket_curvature(Poisson(1e-200 * design(), np.arange(40.0)), 2)
