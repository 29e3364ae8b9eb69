"""More effort: brute force at the highest level, no single swap left, never worse, the same in each run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import ksparse
from ksparse._types import Array
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, LogDet, Logistic, Objective
from ksparse.objectives.protocols import WorkingForm
from ksparse.solvers import MAX_EFFORT, Iterate, Problem, Status, SwapGraHTP
from ksparse.solvers.swap.restarts import perturb
from ksparse.solvers.swap.state import Phase, SwapState
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Entries, Groups, Pairs
from tests.precision import covariance
from tests.problems import OBJECTIVES, SPARSITY
from tests.subsets import ALPHA, lowest, objective_of, small_data, values_on

TUNING = SwapTuning()

# --- brute force ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["squares", "logistic"])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_the_highest_effort_finds_the_best_of_all_subsets(kind: str, rho: float) -> None:
    """25 problems of each of eight kinds: 200 in all."""
    for seed in range(25):
        X, y, k = small_data(kind, rho, seed)
        value = ksparse.minimize(objective_of(kind, X, y), k, effort=MAX_EFFORT).value
        assert value == pytest.approx(lowest(kind, X, y, k), rel=1e-8), seed


def test_a_problem_that_is_not_solved_without_effort() -> None:
    """So that the test above could fail; and here brute force agrees with scikit-learn."""
    X, y, k = small_data("logistic", 0.5, 375)
    objective = Logistic(X, y, alpha=ALPHA)
    best = lowest("logistic", X, y, k)
    assert ksparse.minimize(objective, k).value > 1.001 * best
    result = ksparse.minimize(objective, k, effort=MAX_EFFORT)
    assert result.value == pytest.approx(best, rel=1e-8)
    model = LogisticRegression(C=1 / (ALPHA * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-10)
    w = model.fit(X[:, result.selected], y).coef_[0]
    expected = np.mean(np.logaddexp(0, -y * (X[:, result.selected] @ w))) + ALPHA / 2 * w @ w
    assert best == pytest.approx(expected, rel=1e-8)


# --- single swaps ---------------------------------------------------------------------------------------------


def swaps_lower(kind: str, X: Array, y: Array, selected: Any, value: float) -> bool:
    """Whether f is lower after some swap of one feature, by independent fits of all of them."""
    outside = np.setdiff1d(np.arange(X.shape[1]), selected)
    others = [[*np.setdiff1d(selected, [out]), new] for out in selected for new in outside]
    return bool(values_on(kind, X, y, np.array(others)).min() < value * (1 - 1e-9))


def medium(kind: str, seed: int, n: int = 60, p: int = 30) -> tuple[Array, Array]:
    X, y, coef = make_logistic(n, p, 8, correlation=0.7, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(n)
    return X, X @ coef + 3 * noise if kind == "squares" else y


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["squares", "logistic"])
@pytest.mark.parametrize("seed", range(3))
def test_no_swap_lowers_f_after_the_highest_effort(kind: str, seed: int) -> None:
    X, y = medium(kind, seed)
    result = ksparse.minimize(objective_of(kind, X, y), 8, effort=MAX_EFFORT)
    assert result.message == "converged: no single swap lowers f"
    assert not swaps_lower(kind, X, y, result.selected, result.value)


class SingleSwaps(SwapGraHTP):
    """VERIFY alone: a swap that lowers f is kept as it is, without a descent from there."""

    def _descend(self, problem: Problem, current: Iterate, final: Iterate | None = None) -> Iterate:
        return current

    def verify(self, problem: Problem, current: Iterate) -> Iterate:
        """One update in the phase VERIFY."""
        return self.run_phase(problem, current, SwapState(Phase.VERIFY, 1.0, 1, perturbation=1))


def problem_of(objective: Objective, k: int, deadline: float = np.inf, **options: Any) -> Problem:
    units = Entries(k, **options).bind(objective.shape)
    return Problem(WorkingForm(objective), units, deadline)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("kind", ["squares", "logistic"])
def test_single_swaps_end_where_none_lowers_f(kind: str, few: bool) -> None:
    """From the worst support, without any other search: each pair is tried, or the best of a model of small batches."""
    X, y = medium(kind, 0)
    worst = np.argsort(np.abs(X.T @ y))[:8]
    assert swaps_lower(kind, X, y, worst, float(values_on(kind, X, y, worst[None])[0]))
    tuning = replace(TUNING, max_swaps_to_try_all=1000 if few else 0, verify_batch=7)
    solver = type("Solver", (SingleSwaps,), {"tuning": tuning})(effort=MAX_EFFORT)
    problem = problem_of(objective_of(kind, X, y), 8)
    current = problem.refit(np.isin(np.arange(30), worst), np.zeros(30))
    while current.done is None:
        current = solver.verify(problem, current)
    assert current.support is not None
    assert not swaps_lower(kind, X, y, np.flatnonzero(current.support), current.value)
    proven = few or kind == "squares"
    assert current.done == "converged: no single swap lowers f" + (
        "" if proven else " (according to the quadratic model)"
    )


# --- more effort is never worse -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("sparsity", SPARSITY)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_more_effort_is_never_worse(name: str, sparsity: str) -> None:
    objective = OBJECTIVES[name]()
    chosen = SPARSITY[sparsity](len(objective.shape))
    values = [ksparse.minimize(objective, sparsity=chosen, effort=level).value for level in (0, 1, MAX_EFFORT)]
    assert values[1] <= values[0] + 1e-12 * abs(values[0])
    assert values[2] <= values[1] + 1e-12 * abs(values[1])


MEDIUM: dict[str, Callable[[], tuple[Objective, Any]]] = {
    "logistic": lambda: (logistic(0), Entries(15)),
    "always": lambda: (logistic(0), Entries(15, always=[3, 4, 5])),
    "nonnegative": lambda: (logistic(3), Entries(15, lower=0.0)),
    "graph": lambda: (LogDet(correlated()), Pairs(40)),
}


def logistic(seed: int) -> Logistic:
    X, y, _ = make_logistic(100, 120, 15, random_state=seed)
    return Logistic(X, y, alpha=ALPHA)


def correlated(p: int = 30) -> Array:
    lag = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    X = np.random.default_rng(0).standard_normal((60, p)) @ np.linalg.cholesky(0.6**lag).T
    return np.asarray(X.T @ X / 60)


@pytest.mark.parametrize("name", MEDIUM)
def test_effort_finds_what_swaps_alone_do_not(name: str) -> None:
    objective, sparsity = MEDIUM[name]()
    results = [ksparse.minimize(objective, sparsity=sparsity, effort=level) for level in range(3)]
    values = [result.value for result in results]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert values[-1] < values[0] * (1 - 1e-4)
    for result in results:
        assert result.success
        assert len(result.selected) <= sparsity.k
        assert result.value == pytest.approx(objective.evaluate(result.x).value, rel=1e-9)
        assert (np.diff(result.history["value"]) <= 0).all()
    if name == "always":
        assert {3, 4, 5} <= set(results[-1].selected.tolist())
    if name == "nonnegative":
        assert (results[-1].x >= 0).all()


def test_the_same_in_each_run() -> None:
    first, second = (ksparse.minimize(logistic(3), 15, effort=3) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.history["value"], second.history["value"])


def test_effort_0_is_the_default() -> None:
    assert ksparse.SwapGraHTP() == ksparse.SwapGraHTP(effort=0)
    plain, none = ksparse.minimize(logistic(0), 15), ksparse.minimize(logistic(0), 15, effort=0)
    assert np.array_equal(plain.x, none.x)
    assert plain.passes == none.passes


def test_each_round_is_an_iteration() -> None:
    none, some = (ksparse.minimize(logistic(0), 15, effort=level) for level in (0, 2))
    assert some.n_iter == none.n_iter + TUNING.effort_growth**2
    assert np.array_equal(some.history["value"][: none.n_iter - 1], none.history["value"][:-1])
    assert some.message == "converged: 9 perturbations were tried (effort=2)"


def perturbations(problem: Problem, best: Iterate, numbers: list[int]) -> list[tuple[Iterate, bytes] | None]:
    """Perturbations of some numbers, none of which repeats an earlier one."""
    drawn, found = frozenset[bytes](), list[tuple[Iterate, bytes] | None]()
    for number in numbers:
        found.append(perturb(problem, best, number, drawn, TUNING))
        last = found[-1]
        drawn |= set() if last is None else {last[1]}
    return found


def test_a_perturbation_replaces_some_units_and_more_if_it_would_repeat_another() -> None:
    problem = problem_of(logistic(0), 15, always=[3])
    best = problem.refit(np.arange(120) < 15, np.zeros(120))
    found = perturbations(problem, best, [1, 1, 2, 2, 3, 3, 4, 4])
    for perturbation, replaced in zip(found, [2, 3] * 4, strict=True):
        assert perturbation is not None
        support = perturbation[0].support
        assert support is not None
        assert best.support is not None
        assert support[3]
        assert support.sum() == 15
        assert (support & ~best.support).sum() == replaced


def test_perturbations_end_when_all_were_drawn() -> None:
    X, y = medium("squares", 0)
    problem = problem_of(LeastSquares(X, y), 3)
    best = problem.refit(np.arange(30) < 3, np.zeros(30))
    found = perturbations(problem, best, list(range(1, 100)))
    assert sum(perturbation is not None for perturbation in found) == 3 + 1


# --- limits ---------------------------------------------------------------------------------------------------


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("ksparse.clock.time", clock)
    return clock


def test_the_time_limit_ends_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stopped_clock(monkeypatch)
    objective = logistic(0)
    none = ksparse.minimize(objective, 15)

    def watch(iteration: Any, x: Any) -> None:
        clock.now = 10.0 if iteration.iteration >= none.n_iter + 2 else 0.0

    solver = ksparse.SwapGraHTP(effort=MAX_EFFORT, time_limit=5.0)
    with pytest.warns(ConvergenceWarning, match="the time limit of 5 s was reached"):
        result = ksparse.minimize(objective, 15, solver=solver, callback=watch)
    assert result.status is Status.TIME_LIMIT
    assert result.n_iter == none.n_iter + 2
    assert result.value <= none.value


def test_single_swaps_heed_the_time_limit() -> None:
    X, y = medium("squares", 0)
    problem = problem_of(LeastSquares(X, y), 8, deadline=-np.inf)
    best = problem.refit(np.arange(30) < 8, np.zeros(30))
    assert SingleSwaps(effort=MAX_EFFORT).verify(problem, best).done is None


def test_a_time_limit_that_ends_restarts_is_not_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The iterate is the same as before, but the search has not come to its end."""
    clock = stopped_clock(monkeypatch)
    X, y = medium("logistic", 0)

    class Solver(SwapGraHTP):
        def run_phase(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
            clock.now = 10.0 if state.phase is Phase.RESTART else clock.now
            return super().run_phase(problem, current, state)

    with pytest.warns(ConvergenceWarning, match="the time limit of 5 s was reached"):
        result = ksparse.minimize(objective_of("logistic", X, y), 8, solver=Solver(time_limit=5.0))
    assert result.status is Status.TIME_LIMIT


def test_a_callback_stops_the_rounds() -> None:
    none = ksparse.minimize(logistic(0), 15)
    result = ksparse.minimize(
        logistic(0), 15, effort=MAX_EFFORT, callback=lambda iteration, x: iteration.iteration > none.n_iter + 1
    )
    assert result.status is Status.STOPPED
    assert result.n_iter == none.n_iter + 2
    assert result.value <= none.value


@pytest.mark.parametrize("k", [0, 1, 8, 9])
@pytest.mark.parametrize("name", ["logistic", "least squares"])
def test_any_k(name: str, k: int) -> None:
    objective = OBJECTIVES[name]()
    none, most = (ksparse.minimize(objective, k, effort=level) for level in (0, MAX_EFFORT))
    assert most.success
    assert most.value <= none.value + 1e-12


def test_nothing_to_swap() -> None:
    result = ksparse.minimize(logistic(0), sparsity=Entries(2, always=[0, 1]), effort=MAX_EFFORT)
    assert result.selected.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_separated_classes() -> None:
    """Where f is unbounded below there is nothing to compare with, and the search does not begin."""
    X, y, _ = make_logistic(40, 100, 10)
    result = ksparse.minimize(Logistic(X, y), 15, effort=2)
    assert result.status is Status.NO_MINIMUM


def test_more_units_than_samples() -> None:
    X = np.random.default_rng(0).standard_normal((10, 40))
    result = ksparse.minimize(LeastSquares(X, X[:, 0] + 1.0), 15, effort=2)
    assert result.value < 1e-20


def test_a_graph_may_have_few_edges() -> None:
    sigma = covariance(6, 40)
    none, most = (ksparse.minimize(LogDet(sigma), 4, effort=level) for level in (0, MAX_EFFORT))
    assert most.value <= none.value + 1e-12


def test_groups() -> None:
    sparsity = Groups(3, np.arange(120) % 40, always=[7])
    none, some = (ksparse.minimize(logistic(0), sparsity=sparsity, effort=level) for level in (0, 1))
    assert some.value <= none.value * (1 + 1e-12)
    assert 7 in some.selected


# --- what is refused ------------------------------------------------------------------------------------------


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "too high": (lambda: ksparse.SwapGraHTP(effort=6), ValueError, r"effort must be an integer from 0 .* to 5 .*got 6"),
    "negative": (lambda: ksparse.SwapGraHTP(effort=-1), ValueError, "effort must be an integer from 0 .* got -1"),
    "a float": (lambda: ksparse.SwapGraHTP(effort=1.5), TypeError, "effort must be an integer from 0 .* got 1.5"),  # type: ignore[arg-type]
    "a flag": (lambda: ksparse.SwapGraHTP(effort=True), TypeError, "effort must be an integer from 0 .* got True"),
    "text": (lambda: ksparse.minimize(logistic(0), 2, effort="high"), TypeError, "effort must be an integer"),  # type: ignore[arg-type]
    "without swaps": (
        lambda: ksparse.SwapGraHTP(max_swaps=0, effort=1),
        ValueError,
        "effort=1 searches by swaps, which max_swaps=0 turns off; leave one of them out",
    ),
    "beside a solver": (
        lambda: ksparse.minimize(logistic(0), 2, solver=ksparse.GraHTP(), effort=1),
        ValueError,
        r"effort=1 is for the default solver, but solver=GraHTP\(.*leave one of them out",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values(case: str) -> None:
    call, kind, message = BAD[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
