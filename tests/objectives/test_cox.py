"""An objective of one's own with a loss that is not a sum over samples: Cox's partial likelihood on every design."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import ksparse
from ksparse._types import Array
from ksparse.debias import Exact
from ksparse.diagnostics import check_objective
from ksparse.objectives import LeastSquares, LinearObjective
from ksparse.objectives.loss import JointLoss
from ksparse.objectives.targets import check_responses
from tests.designs.row_blocks import RowBlocks
from tests.objectives.cox import Cox
from tests.problems import N, P, design, signal, supports

FORMS: dict[str, Any] = {
    "dense": np.asarray,
    "sparse": sparse.csc_array,
    "row blocks": lambda X: RowBlocks(np.split(X, [3, 20])),
}


def survival(seed: int = 0, ties: bool = True) -> Array:
    """Times with exponential hazards, some of them tied, and a third of the samples censored."""
    rng = np.random.default_rng(seed)
    times = rng.exponential(np.exp(-signal(design())))
    events = rng.random(N) < 0.67
    return np.column_stack([np.round(times, 1) if ties else times, events])


def partial_likelihood(margins: Array, y: Array, weights: Array) -> float:
    """Breslow's formula, sample by sample."""
    total = 0.0
    for i in np.flatnonzero(y[:, 1]):
        at_risk = y[:, 0] >= y[i, 0]
        if weights[i] > 0:
            total -= weights[i] * (margins[i] - np.log(weights[at_risk] @ np.exp(margins[at_risk])))
    return total / weights.sum() - np.log(weights.sum()) * (weights @ y[:, 1]) / weights.sum()


WEIGHTS: dict[str, Any] = {"none": None, "any": np.linspace(0.1, 2.0, N), "some zero": np.arange(N) % 3}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("ties", [False, True])
def test_the_value_is_breslows(ties: bool, weights: Any) -> None:
    y = survival(ties=ties)
    assert (len(np.unique(y[:, 0])) < N) == ties
    x = 0.4 * np.random.default_rng(1).standard_normal(P)
    objective = Cox(design(), y, alpha=0.3, sample_weight=weights)
    expected = partial_likelihood(design() @ x, y, np.ones(N) if weights is None else weights.astype(float))
    assert objective.evaluate(x).value == pytest.approx(expected + 0.15 * x @ x, rel=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("form", FORMS)
def test_derivatives_are_consistent(form: str, weights: Any) -> None:
    offset = np.random.default_rng(2).standard_normal(N)
    objective = Cox(FORMS[form](design()), survival(), alpha=0.1, sample_weight=weights, offset=offset)
    report = check_objective(objective)
    assert report.ok, str(report)
    assert report.hessian_error < 1e-6
    point = objective.evaluate(0.3 * np.ones(P))
    hessian = objective.hessian(point)
    direction = np.linspace(-1, 1, P)
    assert_allclose(objective.hessian_operator(point) @ direction, hessian @ direction, atol=1e-12)


def test_the_diagonal_of_the_hessian_in_the_margins() -> None:
    margins, y, weights = signal(design()), survival(), np.linspace(0.1, 2.0, N)
    loss = Cox.loss
    full = loss.multiply_hessian(margins, y, weights, np.eye(N))
    assert_allclose(full, full.T, atol=1e-14)
    assert_allclose(loss.hessian_diagonal(margins, y, weights), full.diagonal(), atol=1e-14)
    assert np.linalg.eigvalsh(full)[0] > -1e-13


@pytest.mark.parametrize("form", FORMS)
def test_the_hessian_between_a_support_and_candidates(form: str) -> None:
    objective: Any = Cox(FORMS[form](design()), survival(), alpha=0.1).working_form().objective
    support = np.isin(np.arange(P), [1, 4])
    point = objective.evaluate(np.where(support, 0.5, 0.0))
    others = np.array([7, 0, 3])
    cross, diagonal = objective.cross_hessian(point, point.restrict(support), np.flatnonzero(support), others)
    full = objective.hessian(point)
    assert_allclose(cross, full[support][:, others], atol=1e-12)
    assert_allclose(diagonal, full.diagonal()[others], atol=1e-12)


def test_weights_are_repeated_rows() -> None:
    counts = np.random.default_rng(4).integers(0, 4, N)
    X, y = design(), survival()
    weighted = Cox(X, y, sample_weight=counts, alpha=0.01)
    repeated = Cox(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0), alpha=0.01)
    x = 0.2 * np.ones(P)
    assert weighted.evaluate(x).value == pytest.approx(repeated.evaluate(x).value, rel=1e-12)
    assert_allclose(weighted.evaluate(x).gradient, repeated.evaluate(x).gradient, atol=1e-12)
    here, there = ksparse.minimize(weighted, k=2), ksparse.minimize(repeated, k=2)
    assert_array_equal(here.support, there.support)
    assert_allclose(here.x, there.x, atol=1e-8)


@pytest.mark.parametrize("form", ["sparse", "row blocks"])
def test_every_design_gives_the_same_fit(form: str) -> None:
    here = ksparse.minimize(Cox(FORMS[form](design()), survival(), alpha=0.01), k=3)
    there = ksparse.minimize(Cox(design(), survival(), alpha=0.01), k=3)
    assert_array_equal(here.support, there.support)
    assert_allclose(here.x, there.x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_default_solver_finds_the_best_subset(seed: int) -> None:
    objective = Cox(design(), survival(seed), alpha=1e-3)
    values = [Exact()(objective.restrict(support), np.zeros(3)).point.value for support in supports(P, 3)]
    result = ksparse.minimize(objective, k=3)
    assert result.success
    assert result.value == pytest.approx(min(values), rel=1e-10)


def test_only_differences_of_margins_matter() -> None:
    """A shift of a column changes nothing, which is why there is no intercept."""
    here, there = (ksparse.minimize(Cox(design() + shift, survival(), alpha=0.01), k=3) for shift in (0.0, 10.0))
    assert_allclose(here.x, there.x, atol=1e-8)


def test_large_margins_are_no_problem() -> None:
    point = Cox(design(), survival()).evaluate(500.0 * np.ones(P))
    assert np.isfinite(point.value)
    assert np.isfinite(point.gradient).all()


def test_what_is_refused() -> None:
    X, y = design(), survival()
    with pytest.raises(ValueError, match="Cox has no intercept: it would change nothing; leave fit_intercept out"):
        Cox(X, y, fit_intercept=True)
    with pytest.raises(ValueError, match=r"y has shape \(40,\); expected \(40, 2\): times and events"):
        Cox(X, y[:, 0])
    with pytest.raises(ValueError, match="y has no event"):
        Cox(X, y, sample_weight=1 - y[:, 1])


# --- a joint loss with an intercept -------------------------------------------------------------------------------


class JointSquares(JointLoss):
    """½·Σᵢ sᵢ(mᵢ − yᵢ)², as if it were not a sum over samples."""

    is_quadratic = True
    curvature_bound = 1.0

    def total(self, margins: Array, y: Array, weights: Array) -> float:
        return float(0.5 * weights @ np.square(margins - y))

    def slopes(self, margins: Array, y: Array, weights: Array) -> Array:
        return weights * (margins - y)

    def multiply_hessian(self, margins: Array, y: Array, weights: Array, directions: Array) -> Array:
        return weights[:, None] * directions

    def hessian_diagonal(self, margins: Array, y: Array, weights: Array) -> Array:
        return weights


class JointLeastSquares(LinearObjective):
    """Least squares by way of a joint loss."""

    loss = JointSquares()

    def encode_target(self, y: Any, n: int) -> Array:
        return check_responses(y, n)


@pytest.mark.parametrize("form", FORMS)
def test_a_joint_loss_with_an_intercept_is_centred_like_a_sum(form: str) -> None:
    X, y = design() + 3.0, signal(design()) + np.random.default_rng(5).standard_normal(N)
    options: dict[str, Any] = {"alpha": 0.05, "fit_intercept": True, "sample_weight": np.linspace(1.0, 2.0, N)}
    joint, plain = JointLeastSquares(FORMS[form](X), y, **options), LeastSquares(X, y, **options)
    assert check_objective(joint).ok
    support = np.isin(np.arange(P + 1), [2, 5, P])
    blocks = []
    for objective in (joint, plain):
        f: Any = objective.working_form().objective
        point = f.evaluate(np.where(support, 0.3, 0.0))
        blocks.append(f.cross_hessian(point, point.restrict(support), np.flatnonzero(support), np.array([7, 0])))
    for here, there in zip(*blocks, strict=True):
        assert_allclose(here, there, atol=1e-12)
    found, expected = ksparse.minimize(joint, k=3), ksparse.minimize(plain, k=3)
    assert_array_equal(found.support, expected.support)
    assert_allclose(found.x, expected.x, atol=1e-10)
