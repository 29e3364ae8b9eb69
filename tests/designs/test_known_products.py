"""A design that knows all products gives the same ones, and gathers columns only for their margins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.designs.dense import DenseDesign
from ksparse.objectives import LeastSquares, Logistic

FEW, OTHERS = np.array([4, 1]), np.array([0, 3, 5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_products_are_those_of_gathered_columns(dtype: Any, is_centred: bool, is_weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6)) + 3.0
    X[:, 5] = 0.1  # constant: zero about its mean
    weights = rng.uniform(0.5, 1.5, 40) if is_weighted else np.full(40, 1.0 / 40)
    design = DenseDesign(X.astype(dtype))
    design = design.center(weights) if is_centred else design
    plain = design.with_own_cache().select(FEW)
    design.know_products(weights)
    known = design.select(FEW)
    for some in (weights, weights.copy()):  # other weights than those of the products
        np.testing.assert_allclose(known.gram(some), plain.gram(some), rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(known.squares(some), plain.squares(some), rtol=1e-6)
        for product, expected in zip(known.cross(OTHERS, some), plain.cross(OTHERS, some), strict=True):
            np.testing.assert_allclose(product, expected, rtol=1e-5, atol=2e-6 if dtype == np.float32 else 1e-12)
    np.testing.assert_array_equal(known.collect(), plain.collect())
    np.testing.assert_array_equal(known.matvec(np.ones(2)), plain.matvec(np.ones(2)))
    np.testing.assert_array_equal(known.rmatvec(weights), plain.rmatvec(weights))


def test_a_proof_and_its_first_solution_share_one_gram_matrix() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(300)
    objective = LeastSquares(X, y, alpha=1e-3)
    alone = ksparse.minimize(objective, 5)
    before = objective.counters.products
    proof = ksparse.solve_exact(objective, 5)
    assert proof.value == pytest.approx(alone.value, rel=1e-12)
    assert objective.counters.products - before == 100**2


@pytest.mark.parametrize("kind", ["wide", "logistic"])
def test_products_are_computed_only_where_a_proof_needs_them(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60 if kind == "wide" else 10))
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    objective = LeastSquares(X, y, alpha=0.5) if kind == "wide" else Logistic(X, y > 0, alpha=0.5)

    def refuse(*_: Any) -> None:
        raise AssertionError("not needed")

    monkeypatch.setattr(DenseDesign, "know_products", refuse)
    assert ksparse.solve_exact(objective, 2).status == "optimal"
