"""The interface of objectives: small, the same after restricting twice, and with advice that fits the objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import ksparse
from ksparse._types import Mask
from ksparse.objectives import (
    Function,
    LogDet,
    Logistic,
    Multinomial,
    Objective,
    Outcome,
    Quadratic,
    TwiceDifferentiable,
)
from ksparse.objectives.base import compute_hessian, value_at_zero
from ksparse.objectives.protocols import working_form
from tests.designs.row_blocks import RowBlocks
from tests.precision import covariance, random_support
from tests.problems import LINEAR, OBJECTIVES, P, design, linear

MAX_MEMBERS = 14


def test_an_objective_has_few_members() -> None:
    names = {*dir(Objective), *Objective.__annotations__, *vars(OBJECTIVES["function"]())}
    public = {name for name in names if not name.startswith("_")}
    assert {"shape", "free", "evaluate", "gradient", "restrict", "start", "counters", "advice"} <= public
    assert len(public) <= MAX_MEMBERS, sorted(public)


def test_three_methods_make_an_objective() -> None:
    assert Objective.__abstractmethods__ == {"evaluate", "gradient", "restrict"}
    assert TwiceDifferentiable.__abstractmethods__ - Objective.__abstractmethods__ == {"hessian"}


# --- restrictions -------------------------------------------------------------------------------------------------


def random_mask(shape: tuple[int, ...], seed: int, density: float = 0.6) -> Mask:
    mask: Mask = np.random.default_rng(seed).random(shape) < density
    mask.flat[:2] = True
    return mask


def assert_same_function(a: Objective, b: Objective, seed: int = 0) -> None:
    """The same values and derivatives at a random point."""
    assert a.shape == b.shape
    x = 0.3 * np.random.default_rng(seed).standard_normal(a.shape)
    here, there = a.evaluate(x), b.evaluate(x)
    assert here.value == pytest.approx(there.value, rel=1e-12)
    assert_allclose(here.gradient, there.gradient, atol=1e-12)
    tolerance = 1e-10 if isinstance(a, TwiceDifferentiable) else 1e-6
    assert_allclose(compute_hessian(a, here), compute_hessian(b, there), atol=tolerance)
    assert value_at_zero(a) == pytest.approx(value_at_zero(b), rel=1e-12)


FORMS: dict[str, Any] = {"dense": None, "sparse": sparse.csc_array, "row blocks": lambda X: RowBlocks(np.split(X, [9]))}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_restricting_twice_is_restricting_once(name: str) -> None:
    objective = OBJECTIVES[name]()
    outer = random_mask(objective.shape, 1)
    inner = random_mask((int(outer.sum()),), 2)
    once = outer.copy()
    once[outer] = inner
    assert_same_function(objective.restrict(outer).restrict(inner), objective.restrict(once))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LINEAR)
def test_restrictions_of_every_design(kind: str, form: str, intercept: bool) -> None:
    X = None if FORMS[form] is None else FORMS[form](design())
    options: dict[str, Any] = {"fit_intercept": intercept, "sample_weight": np.linspace(0.0, 2.0, 40)}
    objective, reference = linear(kind, X, **options), linear(kind, **options)
    outer = random_mask(objective.shape, 3)
    inner = random_mask((int(outer.sum()),), 4)
    once = outer.copy()
    once[outer] = inner
    assert_same_function(objective.restrict(outer).restrict(inner), reference.restrict(once))


def test_restricting_a_precision_matrix_twice() -> None:
    objective = LogDet(covariance(5, 20), bounds=None)
    outer = random_support(5, 0.7, seed=1)
    once = outer & random_support(5, 0.5, seed=2)
    a, b = objective.restrict(outer).restrict(once[outer]), objective.restrict(once)
    omega = np.where(once, 0.1, 0.0) + np.eye(5)
    here, there = a.evaluate(omega[once]), b.evaluate(omega[once])
    assert here.value == there.value
    assert_array_equal(here.gradient, there.gradient)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LINEAR)
def test_the_working_form_of_a_restriction(kind: str, form: str) -> None:
    """It is the same function of other coordinates, and the maps there and back are inverse."""
    X = None if FORMS[form] is None else FORMS[form](design() + 2.0)
    objective = linear(kind, design() + 2.0 if X is None else X, fit_intercept=True)
    support = np.zeros(objective.shape, dtype=bool)
    support[[0, 3, 4, -1]] = True
    restricted = objective.restrict(support)
    form_of_it = working_form(restricted)
    x = 0.2 * np.random.default_rng(5).standard_normal(restricted.shape)
    there = form_of_it.to_working(x)
    assert form_of_it.objective.evaluate(there).value == pytest.approx(restricted.evaluate(x).value, rel=1e-12)
    assert_allclose(form_of_it.to_user(there), x, atol=1e-12)
    canonical = form_of_it.canonical(x)
    assert restricted.evaluate(canonical).value == pytest.approx(restricted.evaluate(x).value, rel=1e-12)
    assert_allclose(form_of_it.canonical(canonical), canonical, atol=1e-14)


@pytest.mark.parametrize("kind", LINEAR)
def test_a_restriction_can_be_minimized(kind: str) -> None:
    """Fitting on a support is the same as fitting the columns of the support."""
    columns = [0, 3, 4, 7]
    objective = linear(kind, fit_intercept=True)
    support = np.zeros(objective.shape, dtype=bool)
    support[columns], support[P:] = True, True
    whole = ksparse.minimize(objective.restrict(support), k=int(support.sum()))
    few = linear(kind, design()[:, columns], fit_intercept=True)
    assert whole.value == pytest.approx(ksparse.minimize(few, k=4).value, rel=1e-9)


# --- counters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OBJECTIVES)
def test_restrictions_and_working_forms_share_the_counters(name: str) -> None:
    objective = OBJECTIVES[name]()
    support = random_mask(objective.shape, 7)
    restricted = objective.restrict(support)
    again = restricted.restrict(np.ones(restricted.shape, dtype=bool))
    form = working_form(objective).objective
    assert restricted.counters is again.counters is form.counters is objective.counters
    assert objective.counters.restrictions == 2
    passes = objective.counters.passes
    _ = again.evaluate(again.start).gradient
    assert objective.counters.gradients == 1
    compute_hessian(again, again.evaluate(again.start))
    assert objective.counters.hessians == 1
    evaluates_all = isinstance(objective, Function) or name in ("jax", "torch")  # few columns are all of them
    if isinstance(objective, TwiceDifferentiable) and not evaluates_all:
        assert objective.counters.passes == passes  # work on a support is no pass over the data
    _ = objective.evaluate(objective.start).gradient
    assert objective.counters.passes > passes


def test_restrictions_of_a_precision_matrix_share_the_counters() -> None:
    objective = LogDet(covariance(4, 20))
    restricted = objective.restrict(np.ones((4, 4), dtype=bool))
    assert restricted.counters is objective.counters
    assert objective.counters.restrictions == 1
    _ = restricted.evaluate(objective.start.ravel()).gradient
    assert (objective.counters.gradients, objective.counters.passes) == (1, 0)


# --- points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OBJECTIVES)
def test_points_move_between_an_objective_and_its_restriction(name: str) -> None:
    objective = OBJECTIVES[name]()
    support = random_mask(objective.shape, 6)
    x = np.where(support, 0.3, 0.0)
    point = objective.evaluate(x)
    restricted = point.restrict(support)
    assert_array_equal(restricted.x, x[support])
    assert restricted.value == point.value
    assert_allclose(restricted.gradient, point.gradient[support], atol=1e-12)
    back = restricted.extend(objective, support)
    assert back.objective is objective
    assert_array_equal(back.x, x)
    assert_allclose(back.gradient, point.gradient, atol=1e-12)


def test_a_gradient_is_computed_once() -> None:
    objective = linear("logistic")
    point = objective.evaluate(objective.start)
    known = [point.has_gradient]
    assert point.gradient is point.gradient
    known.append(point.has_gradient)
    assert known == [False, True]
    assert objective.counters.gradients == 1
    assert objective.counters.passes == 1


# --- advice -------------------------------------------------------------------------------------------------------


def message_of(objective: Objective, k: int) -> str:
    with pytest.warns(ConvergenceWarning) as caught:
        result = ksparse.minimize(objective, k=k)
    assert str(caught[0].message) == result.message
    return result.message


def assert_advice(message: str, wanted: str, unwanted: tuple[str, ...]) -> None:
    assert wanted in message
    for word in unwanted:
        assert word not in message, message


X_SEPARATED = np.array([[1.0, 0.2], [2.0, -1.0], [-1.0, 0.3], [-3.0, 0.1]])


def test_a_quadratic_without_a_minimum() -> None:
    message = message_of(Quadratic(np.diag([1.0, -1.0, 2.0]), [1.0, 1.0, 1.0]), 2)
    assert_advice(message, "A is not positive semidefinite", ("alpha", "eigenvalue", "bounds of"))


def test_a_function_without_a_minimum() -> None:
    falling = Function(lambda x: -float(np.sum(x)), gradient=lambda x: -np.ones(3), shape=3)
    assert_advice(message_of(falling, 2), "bounds it from below", ("alpha", "eigenvalue", "semidefinite"))


@pytest.mark.parametrize("model", [Logistic, Multinomial])
def test_separated_classes(model: Any) -> None:
    assert_advice(message_of(model(X_SEPARATED, [1, 1, 0, 0]), 2), "Set alpha > 0", ("eigenvalue", "bounds"))


def test_a_precision_matrix_without_a_minimum() -> None:
    message = message_of(LogDet(covariance(6, 3), bounds=None), 15)
    assert_advice(message, "Set bounds of the eigenvalues", ("alpha > 0", "semidefinite"))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_success_needs_no_advice(name: str) -> None:
    """But at zero, where functions of users may have a saddle."""
    objective = OBJECTIVES[name]()
    solution = np.where(objective.start == 0, 1.0, objective.start)
    assert objective.advice(Outcome.SOLVED, solution) == ""


def test_a_minimizer_that_is_not_unique() -> None:
    singular = Quadratic(np.diag([1.0, 0.0]), [1.0, 0.0])
    assert_advice(singular.advice(Outcome.SINGULAR, singular.start), "identity to A", ("alpha", "eigenvalue"))
    model = linear("least squares")
    assert "alpha > 0" in model.advice(Outcome.SINGULAR, model.start)
