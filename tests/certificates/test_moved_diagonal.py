"""The best diagonal of a quadratic form, against eigenvalues and all supports of small problems."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.certificates import gram_search, moved_diagonal, verify
from ksparse.certificates.gram_search import PLAIN_NODES
from ksparse.certificates.moved_diagonal import PerspectiveForm, _relax, find_diagonal, prove_diagonal
from ksparse.objectives import LeastSquares
from ksparse.sparsity import Entries

ROUNDING = 1e-13


def draw_data(seed: int, p: int, correlation: float) -> tuple[Array, Array]:
    """Correlated features with little signal, which no relaxation finds the support of at once."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3 * p, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X, X[:, ::3].sum(axis=1) + 2.0 * rng.standard_normal(3 * p)


def make_quadratic(X: Array, y: Array, k: int, alpha: float) -> PerspectiveForm:
    X = X / np.sqrt(np.mean(X**2, axis=0))
    n, p = X.shape
    return PerspectiveForm(X.T @ X / n, X.T @ y / n, float(y @ y / n), np.full(p, alpha), k)


def find_optimum(form: PerspectiveForm) -> float:
    """The minimum over all supports."""
    whole, lowest = form.matrix + np.diag(form.ridge), np.inf
    for chosen in combinations(range(len(form.linear)), form.k):
        c = form.linear[list(chosen)]
        lowest = min(lowest, 0.5 * float(form.constant - c @ np.linalg.solve(whole[np.ix_(chosen, chosen)], c)))
    return lowest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_singular", [False, True])
def test_the_best_diagonal_improves_the_bound_and_stays_below_the_form(seed: int, is_singular: bool) -> None:
    X, y = draw_data(seed, 10, 0.7)
    if is_singular:
        X[:, 9] = X[:, 8]
    form = make_quadratic(X, y, 3, 1e-3)
    optimum, start = find_optimum(form), np.zeros(10)
    least = max(float(np.linalg.eigvalsh(form.matrix)[0]) - ROUNDING, 0.0)
    proved = prove_diagonal(form.matrix, find_diagonal(form, start, least, optimum, np.inf), ROUNDING)
    assert proved is not None
    diagonal, rest = proved
    assert np.linalg.eigvalsh(form.matrix - np.diag(diagonal))[0] >= rest - ROUNDING
    assert diagonal.max() > 1.2 * least + 0.05
    uniform = _relax(form, np.full(10, least), start, optimum)[2]
    bound = _relax(form, diagonal + rest, start, optimum)[2]
    assert uniform < bound <= optimum + 1e-12


def test_too_large_diagonals_are_not_proved() -> None:
    X, y = draw_data(0, 10, 0.7)
    matrix = make_quadratic(X, y, 3, 1e-3).matrix
    least = np.linalg.eigvalsh(matrix)[0]
    assert prove_diagonal(matrix, np.full(10, 1.2 * least), ROUNDING) is None
    lowered = prove_diagonal(matrix, np.full(10, 1.05 * least), ROUNDING)
    assert lowered is not None
    assert lowered[0].max() <= least


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_singular", [False, True])
def test_trees_with_a_diagonal_find_the_optimum(seed: int, is_singular: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin at once, and are cut after some nodes: each bound is valid, and the last one is the optimum."""
    X, y = draw_data(seed, 12, 0.8)
    if seed % 2:  # screening leaves features out before
        y = y + 0.7 * X[:, ::4].sum(axis=1)
    if is_singular:
        X[:, 11] = X[:, 4] + X[:, 7]
    objective = LeastSquares(X, y, alpha=1e-3)
    form = make_quadratic(X, y, 4, 0.0)
    optimum = find_optimum(form._replace(ridge=1e-3 / np.mean(X**2, axis=0)))
    calls = []

    def count_calls(*given: Any) -> Array:
        calls.append(len(given))
        return find_diagonal(*given)

    monkeypatch.setattr(gram_search, "PLAIN_NODES", 2)
    monkeypatch.setattr(gram_search, "TYPICAL_FRACTION", 0.0)
    monkeypatch.setattr(moved_diagonal, "find_diagonal", count_calls)
    lowest = -np.inf
    for nodes in (2, 3, 5, 10, 100_000):
        proof = ksparse.solve_exact(objective, 4, gap=1e-9, max_nodes=nodes)
        assert lowest <= proof.lower_bound <= optimum * (1 + 1e-10)
        lowest = proof.lower_bound
    assert calls or seed % 2
    assert proof.status == "optimal"
    assert proof.value == pytest.approx(optimum, rel=1e-9)


def test_single_coefficients_of_several_responses_have_certificates() -> None:
    """Units are coefficients then, and not features, of which the diagonal has one entry each."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = rng.standard_normal((20, 4))
        Y = X[:, :1] @ rng.standard_normal((1, 2)) + rng.standard_normal((20, 2))
        objective, entries = LeastSquares(X, Y, alpha=0.01), Entries(3)
        result = ksparse.minimize(objective, sparsity=entries)
        verify(result.certificate(), objective, entries, result.x)


@pytest.mark.slow
def test_long_proofs_need_fewer_nodes_with_a_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 60))
    for j in range(1, 60):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    signal = X[:, np.linspace(0, 59, 15).astype(int)].sum(axis=1)
    objective = LeastSquares(X, signal + signal.std() * rng.standard_normal(300), alpha=1e-5)
    with_diagonal = ksparse.solve_exact(objective, 15)
    monkeypatch.setattr(gram_search, "MAX_DIAGONAL", 0)
    without = ksparse.solve_exact(objective, 15)
    assert PLAIN_NODES < with_diagonal.nodes < 0.9 * without.nodes
    assert with_diagonal.value == pytest.approx(without.value, rel=1e-9)
