"""Solutions for more and more k: what each costs, and how neighbours help each other."""

from __future__ import annotations

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.datasets import make_logistic
from ksparse.objectives import LeastSquares, Logistic, Objective
from ksparse.selection import PathSolver
from ksparse.sparsity import Entries, Groups


def path_solver(objective: Objective, solver: ksparse.solvers.Solver | None = None) -> PathSolver:
    return PathSolver(objective, Entries(1), solver or ksparse.SwapGraHTP())


def trap() -> tuple[Array, Array]:
    """Features 0 and 1 explain y together, but are useless alone; 2 and 3 explain most of it."""
    rng = np.random.default_rng(0)
    first, second, large, noise = rng.standard_normal((4, 200))
    y = first + second
    columns = [y + 30 * large, 30 * large, first + 0.3 * noise, second + 0.3 * rng.standard_normal(200)]
    return np.column_stack(columns), y


def test_on_the_way_down_a_pair_leaves_the_trap_of_the_way_up() -> None:
    solver = path_solver(LeastSquares(*trap()))
    solver.solve([1])
    solver.solve([2])
    assert solver.results[2].selected.tolist() == [2, 3]
    solver.solve([3])
    assert solver.results[2].selected.tolist() == [0, 1]
    assert solver.results[2].value < 1e-20


def test_from_the_largest_k_the_trap_is_not_met() -> None:
    solver = path_solver(LeastSquares(*trap()))
    solver.solve([1, 2])
    assert solver.results[2].selected.tolist() == [0, 1]


def test_the_best_pair_may_lack_the_best_single_feature() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.standard_normal((3, 100))
    path = ksparse.path(np.column_stack([a, b, a + b + 0.3 * noise]), a + b, [1, 2])
    assert [np.flatnonzero(coef).tolist() for coef in path.coef] == [[2], [0, 1]]


@pytest.mark.parametrize("kind", [LeastSquares, Logistic])
def test_with_orthogonal_features_each_further_k_costs_one_pass(kind: type[LeastSquares] | type[Logistic]) -> None:
    """The columns of a Hadamard matrix, of which each of eight matters less than the one before."""
    hadamard = np.array([[1.0]])
    for _ in range(6):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    X = hadamard[:, 1:]
    margins = X[:, :8] @ np.linspace(2, 1, 8)
    objective: Objective = (
        LeastSquares(X, margins) if kind is LeastSquares else Logistic(X, np.sign(margins + 1e-9), alpha=0.1)
    )
    solver = path_solver(objective)
    solver.solve([1])
    for k in range(2, 9):
        before = objective.counters.passes
        solver.solve([k])
        assert objective.counters.passes == before + 1
    if kind is LeastSquares:
        assert [result.selected.tolist() for result in solver.results.values()] == [list(range(k)) for k in range(1, 9)]


def test_random_features_cost_about_two_passes_each() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 150))
    y = X[:, :30] @ rng.standard_normal(30) + rng.standard_normal(300)
    objective = LeastSquares(X, y)
    solver = path_solver(objective)
    solver.solve([1])
    before = objective.counters.passes
    solver.solve(range(2, 51))
    assert objective.counters.passes - before <= 2 * 49


@pytest.mark.parametrize("ks", [[10, 20, 30, 40, 50, 60], [5, 6, 7, 8, 9, 10], [1, 2, 40]])
def test_few_values_of_k_are_as_good_as_fits_of_their_own(ks: list[int]) -> None:
    """On average, however far apart they are; there are too many units for swaps at each k.

    Either may end in the better of two supports at a single k, so what holds is a mean over data sets.
    """
    ratios = []
    for seed in range(6):
        X, y, _ = make_logistic(300, 200, 20, random_state=seed)
        objective = Logistic(X, y, alpha=1e-3)
        solver = path_solver(objective)
        solver.solve(ks)
        ratios += [solver.results[k].value / ksparse.minimize(objective, k).value for k in ks]
    assert np.mean(ratios) <= 1.02
    assert np.median(ratios) <= 1.0 + 1e-6


def test_effort_is_not_spent_on_the_way() -> None:
    X, y, _ = make_logistic(100, 120, 15)
    objective = Logistic(X, y, alpha=1e-3)
    passes = []
    for effort in (0, 3):
        solver = path_solver(objective, ksparse.SwapGraHTP(effort=effort))
        solver.solve([5, 15])
        passes.append(solver.passes)
    assert passes[0] == passes[1]
    before = solver.passes
    assert solver.refine(15).message == "converged: 27 perturbations were tried (effort=3)"
    assert solver.passes > before + 27


def test_a_path_counts_all_its_passes() -> None:
    """Those of its models, and those that tell what might enter a model."""
    X = np.random.default_rng(0).standard_normal((50, 100))
    objective = LeastSquares(X, X[:, :5].sum(axis=1))
    solver = path_solver(objective)
    before = objective.counters.passes
    solver.solve(range(1, 8))
    assert solver.passes == objective.counters.passes - before
    assert solver.passes >= max(result.passes for result in solver.results.values()) > 0
    assert ksparse.path(X, X[:, :5].sum(axis=1), range(1, 8)).passes >= 7


def test_what_is_known_costs_nothing() -> None:
    objective = LeastSquares(*trap())
    solver = path_solver(objective)
    solver.solve([1, 2, 3])
    before, known = objective.counters.passes, dict(solver.results)
    solver.solve([3, 1])
    assert objective.counters.passes == before
    assert solver.results == known


@pytest.mark.parametrize("seed", range(6))
def test_further_k_never_make_others_worse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 25)) + 2 * rng.standard_normal((40, 1))
    y = X @ rng.standard_normal(25) + rng.standard_normal(40)
    solver, earlier = path_solver(LeastSquares(X, y)), dict[int, float]()
    for ks in ([10], [4, 14], [1, 2, 3], [15, 7], range(18)):
        solver.solve(ks)
        for k, value in earlier.items():
            assert solver.results[k].value <= value
        earlier = {k: result.value for k, result in solver.results.items()}
        in_order = np.array([earlier[k] for k in sorted(earlier)])
        assert (np.diff(in_order) <= 1e-6 * in_order[:-1]).all()


@pytest.mark.parametrize("seed", [23, 35, 77])
def test_a_refined_solution_is_no_worse_than_that_of_the_solver_alone(seed: int) -> None:
    """Few samples: the way up ends in supports that are worse than what the solver finds by itself."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 80)), int(rng.integers(15, 90))
    rho = rng.choice([0, 0.5, 0.9])
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    y = X @ (rng.standard_normal(p) * (rng.random(p) < 0.3)) + rng.standard_normal(n)
    objective = LeastSquares(X, y, fit_intercept=True)
    solver = path_solver(objective)
    solver.solve(range(n // 2))
    for k in (n // 4, n // 4 + 1):
        before = solver.results[k].value
        alone = ksparse.minimize(objective, k).value
        refined = solver.refine(k)
        assert refined is solver.results[k]
        assert refined.value <= min(before, alone * (1 + 1e-9))
    values = np.array([solver.results[k].value for k in sorted(solver.results)])
    assert (np.diff(values) <= 1e-6 * values[:-1]).all()


def test_the_smallest_and_the_largest_k() -> None:
    X, y = trap()
    solver = PathSolver(LeastSquares(X, y), Groups(1, ["a", "b", "b", "c"], always=["a"]), ksparse.SwapGraHTP())
    assert (solver.fewest, solver.most) == (1, 3)
    solver.solve([1, 2, 3])
    assert [result.selected.tolist()[0] for result in solver.results.values()] == ["a"] * 3


@pytest.mark.parametrize("solver", [ksparse.SwapGraHTP(), ksparse.FBS(), ksparse.GraSP()])
def test_where_no_unit_may_enter_all_k_select_nothing(
    solver: ksparse.solvers.Solver, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nonnegative coefficients that would have to be negative: supports are empty, which LAPACK would complain of."""
    X = np.abs(np.random.default_rng(0).standard_normal((30, 5)))
    path = PathSolver(LeastSquares(X, -X.sum(axis=1)), Entries(1, lower=0.0), solver)
    path.solve(range(4))
    assert not any(result.x.any() for result in path.results.values())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"time_limit": 0.0}, {"max_swaps": 0}, {"restarts": 1}])
def test_limits_of_the_solver_hold_for_each_k(options: dict[str, int]) -> None:
    X, y = trap()
    path = path_solver(LeastSquares(X, y), ksparse.SwapGraHTP(**options))
    path.solve([0, 1, 3, 4])
    assert path.refine(3).value <= path.results[1].value
    for k, result in path.results.items():
        assert len(result.selected) <= k
        assert result.value == pytest.approx(LeastSquares(X, y).evaluate(result.x).value)
