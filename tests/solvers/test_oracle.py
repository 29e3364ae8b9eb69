"""Brute force over all supports: the default solver finds the best one, and nobody reports a better one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ksparse
from ksparse.debias import Exact
from ksparse.objectives import LeastSquares, Objective
from ksparse.sparsity import Groups, Rows
from tests.problems import PAPER_SOLVERS, linear, supports
from tests.subsets import ALPHA, lowest, objective_of, small_data, values_on

PROBLEMS = [(kind, rho, seed) for kind in ("squares", "logistic") for rho in (0.0, 0.5, 0.9) for seed in range(40)]
#: Methods without debiasing take thousands of iterations to their ends, and say nothing more there.
ITERATIONS = 60


def problem(kind: str, rho: float, seed: int) -> tuple[Objective, int]:
    """A small problem with a sparse truth."""
    X, y, k = small_data(kind, rho, seed, sparse=True)
    return objective_of(kind, X, y), k


@cache
def brute_force(kind: str, rho: float, seed: int) -> float:
    """The lowest value over all supports of size k."""
    X, y, k = small_data(kind, rho, seed, sparse=True)
    return lowest(kind, X, y, k)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["squares", "logistic"])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_default_solver_finds_the_best_subset(kind: str, rho: float) -> None:
    found = []
    for seed in range(40):
        objective, k = problem(kind, rho, seed)
        best = brute_force(kind, rho, seed)
        value = ksparse.minimize(objective, k).value
        assert value >= best - 1e-9 * abs(best) - 1e-12
        found.append(value <= best + 1e-7 * abs(best))
    assert np.mean(found) >= 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", PAPER_SOLVERS)
def test_no_method_of_the_paper_beats_brute_force(name: str) -> None:
    solver = replace(PAPER_SOLVERS[name](), max_iter=ITERATIONS)
    values, best = [], []
    for kind, rho, seed in PROBLEMS:
        objective, k = problem(kind, rho, seed)
        result = ksparse.minimize(objective, k, solver=solver)
        assert result.value == pytest.approx(objective.evaluate(result.x).value, rel=1e-9)
        values.append(result.value)
        best.append(brute_force(kind, rho, seed))
    assert (np.array(values) >= np.array(best) * (1 - 1e-9) - 1e-12).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_oracle_agrees_with_independent_fits(seed: int) -> None:
    """Its values, and those of refits, are those of NumPy's least squares and scikit-learn's logistic regression."""
    for kind in ("squares", "logistic"):
        objective, k = problem(kind, 0.5, seed)
        X, y, _ = small_data(kind, 0.5, seed, sparse=True)
        chosen = list(combinations(range(objective.size), k))[:: 37 + seed]
        for support, value in zip(chosen, values_on(kind, X, y, np.array(chosen)), strict=True):
            columns, mask = X[:, support], np.isin(np.arange(objective.size), support)
            if kind == "squares":
                residual = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
                expected = 0.5 * np.mean(residual**2)
            else:
                model = LogisticRegression(
                    C=1 / (ALPHA * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=1000
                )
                w = model.fit(columns, y).coef_[0]
                expected = np.mean(np.logaddexp(0, -y * (columns @ w))) + ALPHA / 2 * w @ w
            assert value == pytest.approx(expected, rel=1e-8)
            assert Exact()(objective.restrict(mask), np.zeros(k)).point.value == pytest.approx(expected, rel=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [ksparse.HTP, ksparse.IHT])
def test_htp_and_iht_do_not_beat_brute_force(method: type[ksparse.HTP]) -> None:
    for rho in (0.0, 0.5, 0.9):
        for seed in range(40):
            objective, k = problem("squares", rho, seed)
            step = 1 / np.linalg.norm(objective._design.matrix, 2) ** 2  # type: ignore[attr-defined]
            result = ksparse.minimize(objective, k, solver=method(step=step, max_iter=ITERATIONS))
            assert result.value >= brute_force("squares", rho, seed) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_groups_against_brute_force(seed: int) -> None:
    labels = np.random.default_rng(seed).permutation([0, 0, 0, 1, 1, 2, 2, 3, 4])
    objective = linear("logistic", seed=seed)
    best = min(
        Exact()(objective.restrict(mask[labels]), np.zeros(mask[labels].sum())).point.value for mask in supports(5, 2)
    )
    result = ksparse.minimize(objective, sparsity=Groups(2, labels))
    assert result.value == pytest.approx(best, rel=1e-8)
    assert len(result.selected) <= 2


@pytest.mark.parametrize("kind", ["multinomial", "multiresponse"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_against_brute_force(kind: str, seed: int) -> None:
    objective = linear(kind, seed=seed, fit_intercept=True)
    best = np.inf
    for rows in supports(objective.shape[0] - 1, 2):
        mask = np.repeat(np.append(rows, True)[:, None], objective.shape[1], axis=1)
        best = min(best, Exact()(objective.restrict(mask), np.zeros(mask.sum())).point.value)
    result = ksparse.minimize(objective, sparsity=Rows(2))
    assert result.value == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_nonnegative_subsets_against_brute_force(seed: int) -> None:
    from scipy.optimize import nnls

    from ksparse.sparsity import Entries

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 9))
    y = X @ rng.standard_normal(9)
    best = min(nnls(X[:, mask], y)[1] ** 2 / 60 for mask in supports(9, 3))
    result = ksparse.minimize(LeastSquares(X, y), sparsity=Entries(3, lower=0.0))
    assert (result.x >= 0).all()
    assert result.value == pytest.approx(best, rel=1e-8)
