"""The screened model against the exchange model of all coordinates, and against refits: exact on least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ksparse._types import Array, IntArray, Mask
from ksparse.debias import Exact
from ksparse.objectives import LeastSquares, Logistic, Objective
from ksparse.objectives.base import Point
from ksparse.solvers import screening
from ksparse.solvers.exchange import Exchange, ExchangeModel
from ksparse.solvers.screening import ScreenedModel

N, P = 40, 12
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

    def screened(self, candidates: Any = None) -> ScreenedModel:
        objective, point, support, unit, fixed = self
        others = np.flatnonzero(~support) if candidates is None else np.array(candidates, dtype=np.intp)
        return ScreenedModel(objective, point, objective.lower(point, support), support, others, unit, fixed)

    def full(self, candidates: Any = None) -> ExchangeModel:
        look = np.ones_like(self.support)
        if candidates is not None:
            look = self.support | np.isin(np.arange(look.size), candidates)
        at, hessian, linear = self.objective.quadratic_model(self.point, look)
        return ExchangeModel(hessian, linear, self.unit[at], self.support[at], self.fixed)

    def after(self, exchanges: list[Exchange]) -> Mask:
        support = self.support.copy()
        for exchange in exchanges:
            assert support[exchange.leaving]
            assert not support[exchange.entering]
            support[exchange.leaving], support[exchange.entering] = False, True
        return support


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


def changes(pairs: list[Exchange]) -> dict[tuple[int, int], float]:
    return {(pair.leaving, pair.entering): pair.change for pair in pairs}


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_pairs_are_those_of_the_full_model(name: str, seed: int, refitted: bool) -> None:
    problem = case(name, seed, refitted=refitted)
    screened, full = problem.screened(), problem.full()
    assert not screened.singular
    ours = screened.best_pairs(100)
    assert len(ours) == 4 * (P - 4)
    theirs = changes(full.best_pairs(100))
    assert changes(ours) == pytest.approx(theirs, rel=1e-8, abs=1e-11)
    assert [pair.change for pair in ours] == sorted(pair.change for pair in ours)
    assert changes(screened.best_pairs(3)) == changes(ours[:3])


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("name", QUADRATIC)
def test_pairs_change_f_by_what_refits_do(name: str, refitted: bool) -> None:
    problem = case(name, refitted=refitted)
    before = best_value(problem.objective, problem.support)
    for pair in problem.screened().best_pairs(100):
        after = best_value(problem.objective, problem.after([pair]))
        assert pair.change == pytest.approx(after - before, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("refitted", [True, False])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_long_chains_are_those_of_the_full_model(name: str, seed: int, refitted: bool) -> None:
    problem = case(name, seed, refitted=refitted)
    ours, theirs = (model.chain(P, 1e-9) for model in (problem.screened(), problem.full()))
    assert len(ours) > 0
    assert [(e.leaving, e.entering) for e in ours] == [(e.leaving, e.entering) for e in theirs]
    assert_allclose([e.change for e in ours], [e.change for e in theirs], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("length", [1, 2, 3, 20])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", QUADRATIC)
def test_chains_change_f_by_what_refits_do(name: str, seed: int, length: int) -> None:
    """After each exchange: the promise, the forecast of the minimizer, and its Hessian."""
    problem = case(name, seed)
    model = problem.screened()
    best = model.best_pairs(1)
    chain = model.chain(length, 1e-9)
    assert 0 < len(chain) <= length
    assert changes(chain[:1]) == pytest.approx(changes(best), rel=1e-8)
    before = best_value(problem.objective, problem.support)
    for count in range(1, len(chain) + 1):
        support = problem.after(chain[:count])
        restricted = problem.objective.restrict(support)
        refit = Exact()(restricted, np.zeros(restricted.size)).point
        assert sum(e.change for e in chain[:count]) == pytest.approx(refit.value - before, rel=1e-7, abs=1e-10)
        forecast = model.forecast(support, chain[:count])
        assert forecast is not None
        assert_allclose(forecast.x[support], refit.x, rtol=1e-7, atol=1e-9)
        assert not forecast.x[~support].any()
        assert_allclose(forecast.hessian, restricted.hessian(refit), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "logistic with a free coordinate"])
def test_forecasts_minimize_the_model_at_the_point(name: str) -> None:
    problem = case(name)
    f, point = problem.objective, problem.point
    model = problem.screened()
    chain = model.chain(3, 1e-9)
    assert len(chain) >= 2
    _, full, linear = f.quadratic_model(point, np.ones_like(problem.support))
    for count in range(1, len(chain) + 1):
        support = problem.after(chain[:count])
        hessian = full[np.ix_(support, support)]
        forecast = model.forecast(support, chain[:count])
        assert forecast is not None
        assert_allclose(forecast.x[support], np.linalg.solve(hessian, linear[support]), rtol=1e-7, atol=1e-9)
        assert_allclose(forecast.hessian, hessian, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_candidates_come_in_any_order(name: str) -> None:
    problem = case(name)
    some = [11, 0, 8, 3, 1]
    pairs = changes(problem.full(some).best_pairs(100))
    for order in (some, some[::-1], sorted(some)):
        model = problem.screened(order)
        assert changes(model.best_pairs(100)) == pytest.approx(pairs, rel=1e-8, abs=1e-11)
        chain = model.chain(5, 1e-9)
        expected = problem.full(some).chain(5, 1e-9)
        assert [(e.leaving, e.entering) for e in chain] == [(e.leaving, e.entering) for e in expected]
        if chain:
            support = problem.after(chain)
            forecast = model.forecast(support, chain)
            assert forecast is not None
            lowered = problem.objective.lower(problem.objective.evaluate(problem.point.x), support | problem.support)
            full = lowered.objective.hessian(lowered)
            kept = support[support | problem.support]
            assert_allclose(forecast.hessian, full[np.ix_(kept, kept)], rtol=1e-8, atol=1e-11)


def test_short_chains_are_looked_for_among_the_most_promising(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = case("least squares", seed=1)
    promised = changes(problem.full().best_pairs(100))
    best = sorted(range(P), key=lambda j: min((c for (_, e), c in promised.items() if e == j), default=np.inf))
    seen: list[IntArray] = []
    original = ScreenedModel._among

    def watched(self: ScreenedModel, chosen: IntArray) -> tuple[Array, Array]:
        seen.append(self._members)
        return original(self, chosen)

    monkeypatch.setattr(ScreenedModel, "_among", watched)
    problem.screened().chain(2, 1e-9)
    assert set(seen[0].tolist()) == set(np.flatnonzero(problem.support)) | set(best[: 2 * screening.ROOM])


@pytest.mark.parametrize("name", OBJECTIVES)
def test_units_that_are_always_selected_stay(name: str) -> None:
    problem = case(name, fixed=[2, 7])
    model = problem.screened()
    pairs = model.best_pairs(100)
    assert {pair.leaving for pair in pairs} == {5, 10}
    assert changes(pairs) == pytest.approx(changes(problem.full().best_pairs(100)), rel=1e-8, abs=1e-11)
    assert problem.after(model.chain(8, 1e-9))[[2, 7]].all()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_nothing_to_exchange(name: str) -> None:
    for model in (case(name, fixed=[2, 5, 7, 10]).screened(), case(name).screened([])):
        assert model.best_pairs(5) == []
        assert model.chain(5, 0.0) == []
        assert model.forecast(case(name).support, []) is None


def test_a_chain_ends_where_exchanges_gain_too_little() -> None:
    problem = case("least squares", seed=2)
    gains = [-exchange.change for exchange in problem.screened().chain(P, 1e-9)]
    first = next(i for i, gain in enumerate(gains) if i > 0 and gain < min(gains[:i]))
    threshold = 0.5 * (min(gains[:first]) + gains[first])
    assert len(problem.screened().chain(P, threshold)) == first
    assert problem.screened().chain(P, 1.01 * gains[0]) == []


@pytest.mark.parametrize("name", OBJECTIVES)
def test_copies_of_the_support_cannot_enter(name: str) -> None:
    X, _ = data(0)
    X[:, 0], X[:, 3], X[:, 6] = X[:, 2], X[:, 5] - 2.0 * X[:, 7], 0.0
    problem = without_ridge(name, X)
    model = problem.screened()
    pairs = model.best_pairs(100)
    assert {pair.entering for pair in pairs} == set(range(P)) - {2, 5, 7, 10} - {0, 3, 6}
    assert changes(pairs) == pytest.approx(changes(problem.full().best_pairs(100)), rel=1e-7, abs=1e-10)
    assert not problem.after(model.chain(4, 1e-9))[[3, 6]].any()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_singular_support_still_gives_an_order(name: str) -> None:
    """Two columns of the support are the same, and there is no ridge."""
    X, _ = data(0)
    X[:, 5] = X[:, 2]
    problem = without_ridge(name, X)
    model = problem.screened()
    assert model.singular
    pairs = model.best_pairs(100)
    assert len(pairs) == 4 * (P - 4)
    assert np.isfinite([pair.change for pair in pairs]).all()
    # One of the two is worth nothing: to let it go for anything else is a gain.
    assert pairs[0].leaving in (2, 5)
    chain = model.chain(3, 1e-9)
    assert chain
    forecast = model.forecast(problem.after(chain), chain)
    assert forecast is not None
    assert np.isfinite(forecast.x).all()


def test_without_a_chain_there_is_no_forecast() -> None:
    problem = case("least squares")
    model = problem.screened()
    pairs = model.best_pairs(1)
    assert model.forecast(problem.after(pairs), pairs) is None
