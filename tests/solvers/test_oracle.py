"""Brute force over all supports: the default solver finds the best one, and nobody reports a better one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ksparse
from ksparse.debias import Exact
from ksparse.objectives import LeastSquares, Logistic, Objective
from ksparse.sparsity import Groups, Rows
from tests.problems import PAPER_SOLVERS, linear, supports

PROBLEMS = [(kind, rho, seed) for kind in ("squares", "logistic") for rho in (0.0, 0.5, 0.9) for seed in range(40)]


def problem(kind: str, rho: float, seed: int) -> tuple[Objective, int]:
    """A small problem with a sparse truth: 8 to 15 correlated features, 2 to 5 of which matter."""
    rng = np.random.default_rng([seed, int(10 * rho), kind == "logistic"])
    n, p, k = int(rng.integers(20, 60)), int(rng.integers(8, 16)), int(rng.integers(2, 6))
    index = np.arange(p)
    chain, equal = rho ** np.abs(index[:, None] - index), np.where(index[:, None] == index, 1.0, rho)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(chain if seed % 2 else equal).T
    w = np.zeros(p)
    w[rng.choice(p, k, replace=False)] = rng.standard_normal(k)
    if kind == "squares":
        return LeastSquares(X, X @ w + rng.choice([0.1, 0.5, 1.0, 2.0]) * rng.standard_normal(n)), k
    y = rng.random(n) < 1 / (1 + np.exp(-2 * X @ w))
    y[:2] = [True, False]
    return Logistic(X, y, alpha=1e-3), k


@cache
def brute_force(kind: str, rho: float, seed: int) -> float:
    """The lowest value over all supports of size k."""
    objective, k = problem(kind, rho, seed)
    exact = Exact(method="newton-cholesky")
    values = (exact(objective.restrict(mask), np.zeros(k)).point.value for mask in supports(objective.size, k))
    return min(values)


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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", PAPER_SOLVERS)
def test_no_method_of_the_paper_beats_brute_force(name: str) -> None:
    solver = PAPER_SOLVERS[name]()
    values, best = [], []
    for kind, rho, seed in PROBLEMS:
        objective, k = problem(kind, rho, seed)
        result = ksparse.minimize(objective, k, solver=solver)
        assert result.value == pytest.approx(objective.at(result.x).value, rel=1e-9)
        values.append(result.value)
        best.append(brute_force(kind, rho, seed))
    assert (np.array(values) >= np.array(best) * (1 - 1e-9) - 1e-12).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_oracle_agrees_with_independent_fits(seed: int) -> None:
    """The oracle's values on supports are those of NumPy's least squares and scikit-learn's logistic regression."""
    for kind in ("squares", "logistic"):
        objective, k = problem(kind, 0.5, seed)
        for mask in list(supports(objective.size, k))[:: 37 + seed]:
            X = objective._design.matrix[:, mask]  # type: ignore[attr-defined]
            y = objective._target  # type: ignore[attr-defined]
            if kind == "squares":
                residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
                expected = 0.5 * np.mean(residual**2)
            else:
                model = LogisticRegression(
                    C=1 / (1e-3 * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=1000
                )
                w = model.fit(X, y).coef_[0]
                expected = np.mean(np.logaddexp(0, -y * (X @ w))) + 0.5e-3 * w @ w
            value = Exact()(objective.restrict(mask), np.zeros(k)).point.value
            assert value == pytest.approx(expected, rel=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [ksparse.HTP, ksparse.IHT])
def test_htp_and_iht_do_not_beat_brute_force(method: type[ksparse.HTP]) -> None:
    for rho in (0.0, 0.5, 0.9):
        for seed in range(40):
            objective, k = problem("squares", rho, seed)
            step = 1 / np.linalg.norm(objective._design.matrix, 2) ** 2  # type: ignore[attr-defined]
            result = ksparse.minimize(objective, k, solver=method(step=step))
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
