"""Proofs for least squares by the whole Gram matrix, by rows of it, and by passes over the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import ksparse
from ksparse.certificates._gram_pool import Pool, enlarge_pool
from ksparse.certificates._gram_relaxation import Frame
from ksparse.certificates.gram_rows import complete_rows
from ksparse.certificates.gram_search import ROW_BYTES
from ksparse.objectives import LeastSquares
from ksparse.sparsity import Entries

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 30)) + 2.0 * RNG.standard_normal((60, 1))
y = X[:, :6].sum(axis=1) + 4.0 * RNG.standard_normal(60)


@pytest.mark.parametrize("has_box", [False, True])
def test_too_many_features_for_a_gram_matrix(has_box: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sparsity = Entries(4, lower=-3.0, upper=3.0) if has_box else Entries(4)
    objective = LeastSquares(X, y, alpha=0.5)
    plain = ksparse.solve_exact(objective, sparsity=sparsity, gap=1e-5)
    monkeypatch.setattr("ksparse.certificates.bounding.MAX_GRAM_FEATURES", 10)
    proof = ksparse.solve_exact(objective, sparsity=sparsity, gap=1e-5)
    assert proof.status == plain.status == "optimal"
    assert proof.value == pytest.approx(plain.value, rel=1e-9)


@pytest.mark.parametrize("has_box", [False, True])
def test_large_matrices_are_used_whole(has_box: bool) -> None:
    """With more features than the least size of a large matrix; the truth is that of all pairs."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((700, 520)) + 1.5 * rng.standard_normal((700, 1))
    y = 0.2 * X[:, 3] - 0.2 * X[:, 150] + 0.7 * rng.standard_normal(700)
    sparsity = Entries(2, lower=-5.0, upper=5.0) if has_box else Entries(2)
    proof = ksparse.solve_exact(LeastSquares(X, y, alpha=1e-4), sparsity=sparsity, gap=1e-6)
    pairs = np.array([(i, j) for i in range(520) for j in range(i)])
    gram, linear = X.T @ X / 700 + 1e-4 * np.eye(520), X.T @ y / 700
    blocks = gram[pairs[:, :, None], pairs[:, None, :]]
    w = np.linalg.solve(blocks, linear[pairs][..., None])[..., 0]
    optimum = y @ y / 1400 - 0.5 * (w * linear[pairs]).sum(axis=1).max()
    assert proof.status == "optimal"
    assert proof.nodes > 1
    assert proof.value == pytest.approx(optimum, rel=2e-6)
    assert proof.lower_bound <= optimum * (1 + 1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("has_box", [False, True])
def test_rows_of_the_gram_matrix_are_computed_as_they_are_needed(has_box: bool, fit_intercept: bool) -> None:
    """More features than samples, with and without memory for the rows that were computed, against all pairs."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((60, 150)) + 0.5 * rng.standard_normal((60, 1)) + 2.0
    y = X[:, 3] - X[:, 100] + rng.standard_normal(60)
    sparsity = Entries(2, lower=-1.5, upper=1.5) if has_box else Entries(2)
    objective = LeastSquares(X, y, alpha=0.3, fit_intercept=fit_intercept)
    optimum = min(ksparse.minimize(objective, sparsity=replace(sparsity, always=[j])).value for j in range(150))
    for room in (0, ROW_BYTES):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ksparse.certificates.gram_search.ROW_BYTES", room)
            proof = ksparse.solve_exact(objective, sparsity=sparsity, gap=1e-6, solver=ksparse.FixedSupport())
        assert proof.status == "optimal"
        assert proof.nodes > 1
        assert proof.value == pytest.approx(optimum, rel=1e-6)
        assert proof.lower_bound <= optimum * (1 + 1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_slopes_by_passes_over_the_data_are_those_by_rows_of_the_gram_matrix(
    order: Literal["C", "F"], fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rows alone, by passes alone, by passes before rows, and by passes without memory for what was gathered."""
    rng = np.random.default_rng(11)
    X = np.array(rng.standard_normal((60, 150)) + 0.5 * rng.standard_normal((60, 1)) + 2.0, order=order)
    y = X[:, 3] - X[:, 100] + rng.standard_normal(60)
    weights = rng.uniform(0.5, 2.0, 60)
    objective = LeastSquares(X, y, alpha=0.3, fit_intercept=fit_intercept, sample_weight=weights)
    proofs, counted = [], []

    def note(frame: Frame, *others: Any) -> Frame:
        counted.append(int(frame.passes.counter[0]))
        return complete_rows(frame, *others)

    monkeypatch.setattr("ksparse.certificates.gram_search.complete_rows", note)
    for smallest, rows_per_pass, room in ((10**9, 1, ROW_BYTES), (0, 0, ROW_BYTES), (0, 100, ROW_BYTES), (0, 0, 0)):
        monkeypatch.setattr("ksparse.certificates.gram_rows.MIN_PASS_SIZE", smallest)
        monkeypatch.setattr("ksparse.certificates.gram_rows.ROWS_PER_PASS", rows_per_pass)
        monkeypatch.setattr("ksparse.certificates.gram_search.ROW_BYTES", room)
        counted.clear()
        sparsity = Entries(2, lower=-1.5, upper=1.5)
        proofs.append(ksparse.solve_exact(objective, sparsity=sparsity, gap=1e-6, solver=ksparse.FixedSupport()))
        assert (max(counted) > 0) == (smallest == 0)
    assert proofs[0].status == "optimal"
    for proof in proofs[1:]:
        assert proof.nodes == proofs[0].nodes > 1
        assert proof.lower_bound == pytest.approx(proofs[0].lower_bound, rel=1e-12)


def test_a_pool_that_grows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40)) + 2.0 * rng.standard_normal((60, 1))
    y = X[:, :6].sum(axis=1) + 12.0 * rng.standard_normal(60)
    grown: list[int] = []

    def note(pool: Pool) -> Pool:
        grown.append(pool.bound.size)
        return enlarge_pool(pool)

    monkeypatch.setattr("ksparse.certificates.gram_search.enlarge_pool", note)
    proofs = []
    for room in (0, 10_000):
        monkeypatch.setattr("ksparse.certificates.gram_search.FIRST_NODES", room)
        proofs.append(ksparse.solve_exact(LeastSquares(X, y), 6, gap=1e-3, max_nodes=2000))
    assert grown
    assert proofs[0].nodes == proofs[1].nodes > 100
    assert proofs[0].lower_bound == proofs[1].lower_bound
