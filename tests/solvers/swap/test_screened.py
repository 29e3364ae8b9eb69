"""The screened model against the quadratic model of all coordinates, and against refits: exact on least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ksparse._types import Array, IntArray, Mask
from ksparse.debias import Exact
from ksparse.objectives import LeastSquares, Logistic, Objective
from ksparse.objectives.base import Point, compute_hessian
from ksparse.objectives.protocols import HasCrossHessian
from ksparse.solvers.swap.screened import ScreenedSwapModel
from ksparse.solvers.swap.swap_model import Swap
from ksparse.solvers.swap.tableau import QuadraticSwapModel
from ksparse.solvers.swap.tuning import SwapTuning

N, P = 40, 12
TUNING = SwapTuning()
OBJECTIVES: dict[str, Any] = {
    "least squares": lambda X, m: LeastSquares(X, m, alpha=0.01),
    "with a free coordinate": lambda X, m: (
        LeastSquares(X, m + 2.0, alpha=0.01, fit_intercept=True).working_form().objective
    ),
    "logistic": lambda X, m: Logistic(X, m > 0, alpha=0.05),
    "logistic with a free coordinate": lambda X, m: (
        Logistic(X, m > 0, alpha=0.05, fit_intercept=True).working_form().objective
    ),
}
QUADRATIC = ["least squares", "with a free coordinate"]


class Case(NamedTuple):
    """A point of an objective, whose support has the units 2, 5, 7, 10; all others may enter."""

    objective: Objective
    point: Point
    support: Mask
    unit: IntArray
    fixed: Mask

    def screened(self, candidates: Any = None) -> ScreenedSwapModel:
        objective, point, support, unit, fixed = self
        assert isinstance(objective, HasCrossHessian)
        others = np.flatnonzero(~support) if candidates is None else np.array(candidates, dtype=np.intp)
        return ScreenedSwapModel(
            objective, point, point.restrict(support), point.gradient, support, others, unit, fixed, TUNING
        )

    def full(self, candidates: Any = None) -> QuadraticSwapModel:
        at = np.ones_like(self.support)
        if candidates is not None:
            at = self.support | np.isin(np.arange(at.size), candidates)
        hessian, linear = quadratic_model(self.point, at)
        return QuadraticSwapModel(hessian, linear, self.unit[at], self.support[at], self.fixed, TUNING)

    def after(self, swaps: list[Swap]) -> Mask:
        support = self.support.copy()
        for swap in swaps:
            assert support[swap.leaving]
            assert not support[swap.entering]
            support[swap.leaving], support[swap.entering] = False, True
        return support


def quadratic_model(point: Point, coordinates: Mask) -> tuple[Array, Array]:
    """H and b of ½zᵀHz − bᵀz, the model of f at a point in some coordinates."""
    restricted = point.restrict(coordinates)
    hessian = compute_hessian(restricted.objective, restricted)
    return hessian, hessian @ point.x[coordinates] - point.gradient[coordinates]


def data(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) @ (np.eye(P) + 0.3 * rng.standard_normal((P, P)))
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N)


def case(name: str, seed: int = 0, fixed: Any = (), refitted: bool = True, X: Array | None = None) -> Case:
    design, margins = data(seed)
    objective: Objective = OBJECTIVES[name](design if X is None else X, margins)
    unit = np.where(np.arange(objective.size) < P, np.arange(objective.size), -1)
    support = np.isin(unit, [2, 5, 7, 10, -1])
    x = np.where(support, 0.1, 0.0)
    if refitted:
        x[support] = Exact()(objective.restrict(support), x[support]).point.x
    return Case(objective, objective.evaluate(x), support, unit, np.isin(np.arange(P), fixed))


def without_ridge(name: str, X: Array) -> Case:
    """The case of columns X without a ridge, at the solution with one."""
    problem, (_, margins) = case(name, X=X), data(0)
    kind, y = (Logistic, margins > 0) if "logistic" in name else (LeastSquares, margins)
    objective = kind(X, y, fit_intercept="free" in name).working_form().objective
    return problem._replace(objective=objective, point=objective.evaluate(problem.point.x))


def best_value(objective: Objective, support: Mask) -> float:
    return Exact()(objective.restrict(support), np.zeros(int(support.sum()))).point.value


def changes(swaps: list[Swap]) -> dict[tuple[int, int], float]:
    return {(swap.leaving, swap.entering): swap.change for swap in swaps}


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_single_swaps_are_those_of_the_full_model(name: str, seed: int, refitted: bool) -> None:
    problem = case(name, seed, refitted=refitted)
    screened, full = problem.screened(), problem.full()
    assert not screened.is_singular
    ours = screened.find_best_swaps(100)
    assert len(ours) == 4 * (P - 4)
    theirs = changes(full.find_best_swaps(100))
    assert changes(ours) == pytest.approx(theirs, rel=1e-8, abs=1e-11)
    assert [swap.change for swap in ours] == sorted(swap.change for swap in ours)
    assert changes(screened.find_best_swaps(3)) == changes(ours[:3])


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("name", QUADRATIC)
def test_swaps_change_f_by_what_refits_do(name: str, refitted: bool) -> None:
    problem = case(name, refitted=refitted)
    before = best_value(problem.objective, problem.support)
    for swap in problem.screened().find_best_swaps(100):
        after = best_value(problem.objective, problem.after([swap]))
        assert swap.change == pytest.approx(after - before, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_long_chains_are_those_of_the_full_model(name: str, seed: int, refitted: bool) -> None:
    problem = case(name, seed, refitted=refitted)
    ours, theirs = (model.find_chain(P, 1e-9) for model in (problem.screened(), problem.full()))
    assert len(ours) > 0
    assert [(e.leaving, e.entering) for e in ours] == [(e.leaving, e.entering) for e in theirs]
    assert_allclose([e.change for e in ours], [e.change for e in theirs], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("length", [1, 2, 3, 20])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", QUADRATIC)
def test_chains_change_f_by_what_refits_do(name: str, seed: int, length: int) -> None:
    """After each swap: the predicted change, the prediction of the minimizer, and its Hessian."""
    problem = case(name, seed)
    model = problem.screened()
    best = model.find_best_swaps(1)
    chain = model.find_chain(length, 1e-9)
    assert 0 < len(chain) <= length
    assert changes(chain[:1]) == pytest.approx(changes(best), rel=1e-8)
    before = best_value(problem.objective, problem.support)
    for count in range(1, len(chain) + 1):
        support = problem.after(chain[:count])
        restricted = problem.objective.restrict(support)
        refit = Exact()(restricted, np.zeros(restricted.size)).point
        assert sum(e.change for e in chain[:count]) == pytest.approx(refit.value - before, rel=1e-7, abs=1e-10)
        prediction = model.predict_minimizer(support, count)
        assert prediction is not None
        assert_allclose(prediction.x[support], refit.x, rtol=1e-7, atol=1e-9)
        assert not prediction.x[~support].any()
        assert_allclose(prediction.hessian, compute_hessian(restricted, refit), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "logistic with a free coordinate"])
def test_predictions_minimize_the_model_at_the_point(name: str) -> None:
    problem = case(name)
    point = problem.point
    model = problem.screened()
    chain = model.find_chain(3, 1e-9)
    assert len(chain) >= 2
    full, linear = quadratic_model(point, np.ones_like(problem.support))
    for count in range(1, len(chain) + 1):
        support = problem.after(chain[:count])
        hessian = full[np.ix_(support, support)]
        prediction = model.predict_minimizer(support, count)
        assert prediction is not None
        assert_allclose(prediction.x[support], np.linalg.solve(hessian, linear[support]), rtol=1e-7, atol=1e-9)
        assert_allclose(prediction.hessian, hessian, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_candidates_come_in_any_order(name: str) -> None:
    problem = case(name)
    some = [11, 0, 8, 3, 1]
    swaps = changes(problem.full(some).find_best_swaps(100))
    for order in (some, some[::-1], sorted(some)):
        model = problem.screened(order)
        assert changes(model.find_best_swaps(100)) == pytest.approx(swaps, rel=1e-8, abs=1e-11)
        chain = model.find_chain(5, 1e-9)
        expected = problem.full(some).find_chain(5, 1e-9)
        assert [(e.leaving, e.entering) for e in chain] == [(e.leaving, e.entering) for e in expected]
        if chain:
            support = problem.after(chain)
            prediction = model.predict_minimizer(support, len(chain))
            assert prediction is not None
            restricted = problem.objective.evaluate(problem.point.x).restrict(support | problem.support)
            full = compute_hessian(restricted.objective, restricted)
            kept = support[support | problem.support]
            assert_allclose(prediction.hessian, full[np.ix_(kept, kept)], rtol=1e-8, atol=1e-11)


def test_short_chains_are_searched_for_among_the_best_candidates() -> None:
    """The same chain as if there were no other candidates."""
    problem = case("least squares", seed=1)
    chain = problem.screened().find_chain(2, 1e-9)
    assert chain
    predicted = changes(problem.full().find_best_swaps(100))
    best = sorted(range(P), key=lambda j: min((c for (_, e), c in predicted.items() if e == j), default=np.inf))
    considered = best[: 2 * TUNING.candidates_per_swap]
    assert {swap.entering for swap in chain} <= {*considered, *np.flatnonzero(problem.support)}
    assert chain == problem.screened(sorted(considered)).find_chain(2, 1e-9)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_units_that_are_always_selected_stay(name: str) -> None:
    problem = case(name, fixed=[2, 7])
    model = problem.screened()
    swaps = model.find_best_swaps(100)
    assert {swap.leaving for swap in swaps} == {5, 10}
    assert changes(swaps) == pytest.approx(changes(problem.full().find_best_swaps(100)), rel=1e-8, abs=1e-11)
    assert problem.after(model.find_chain(8, 1e-9))[[2, 7]].all()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_nothing_to_swap(name: str) -> None:
    for model in (case(name, fixed=[2, 5, 7, 10]).screened(), case(name).screened([])):
        assert model.find_best_swaps(5) == []
        assert model.find_chain(5, 0.0) == []
        assert model.predict_minimizer(case(name).support, 1) is None


def test_a_chain_ends_where_swaps_gain_too_little() -> None:
    problem = case("least squares", seed=2)
    gains = [-swap.change for swap in problem.screened().find_chain(P, 1e-9)]
    first = next(i for i, gain in enumerate(gains) if i > 0 and gain < min(gains[:i]))
    threshold = 0.5 * (min(gains[:first]) + gains[first])
    assert len(problem.screened().find_chain(P, threshold)) == first
    assert problem.screened().find_chain(P, 1.01 * gains[0]) == []


@pytest.mark.parametrize("name", OBJECTIVES)
def test_copies_of_the_support_cannot_enter(name: str) -> None:
    X, _ = data(0)
    X[:, 0], X[:, 3], X[:, 6] = X[:, 2], X[:, 5] - 2.0 * X[:, 7], 0.0
    problem = without_ridge(name, X)
    model = problem.screened()
    swaps = model.find_best_swaps(100)
    assert {swap.entering for swap in swaps} == set(range(P)) - {2, 5, 7, 10} - {0, 3, 6}
    assert changes(swaps) == pytest.approx(changes(problem.full().find_best_swaps(100)), rel=1e-7, abs=1e-10)
    assert not problem.after(model.find_chain(4, 1e-9))[[3, 6]].any()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_singular_support_still_gives_an_order(name: str) -> None:
    """Two columns of the support are the same, and there is no ridge."""
    X, _ = data(0)
    X[:, 5] = X[:, 2]
    problem = without_ridge(name, X)
    model = problem.screened()
    assert model.is_singular
    swaps = model.find_best_swaps(100)
    assert len(swaps) == 4 * (P - 4)
    assert np.isfinite([swap.change for swap in swaps]).all()
    # One of the two is worth nothing: to let it go for anything else is a gain.
    assert swaps[0].leaving in (2, 5)
    chain = model.find_chain(3, 1e-9)
    assert chain
    prediction = model.predict_minimizer(problem.after(chain), len(chain))
    assert prediction is not None
    assert np.isfinite(prediction.x).all()


def test_without_a_chain_there_is_no_prediction() -> None:
    problem = case("least squares")
    model = problem.screened()
    swaps = model.find_best_swaps(1)
    assert model.predict_minimizer(problem.after(swaps), 1) is None
