"""The Hessian between a support and candidates: the blocks of the full Hessian, however the columns are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from ksparse._types import Array, IntArray
from ksparse.objectives import (
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    Poisson,
    Quadratic,
    SquaredHinge,
    design,
    linear,
)
from ksparse.objectives.design import Design

N, P = 61, 30
#: Columns with nearly all entries, and columns with few.
FULL, THIN = np.arange(0, 15), np.arange(15, 30)

FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csc_array,
    "sparse float32": lambda X: sparse.csc_array(X.astype(np.float32)),
}

#: Supports and candidates, in any order.
BLOCKS: dict[str, tuple[Any, Any]] = {
    "full and full": ([3, 9, 4], [0, 11, 7, 2]),
    "full and thin": ([3, 9, 4], [20, 16, 29]),
    "thin and full": ([17, 25], [9, 1, 3]),
    "thin and thin": ([17, 25, 16], [29, 20, 28, 15]),
    "both and both": ([2, 17, 8, 25], [29, 0, 20, 1, 5]),
    "one and none": ([4], []),
    "none and one": ([], [4]),
}


def values() -> Array:
    """Columns of two densities, of any means; the last rows are nearly empty."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) + rng.standard_normal(P)
    X[:, THIN] *= rng.random((N, THIN.size)) < 0.1
    X[-5:, 5:] = 0.0
    return X


@pytest.fixture(autouse=True, params=["small blocks dense", "by their density", "all sparse", "never gathered"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How sparse columns are kept when they are gathered, and whether dense candidates are."""
    if request.param == "never gathered":
        monkeypatch.setattr(linear, "MOST_AT_ONCE", 0)
        monkeypatch.setattr(design, "GATHERING", 10**9)
    if request.param in ("by their density", "all sparse"):
        monkeypatch.setattr(design, "SMALL_BLOCK", 0)
    if request.param == "all sparse":
        monkeypatch.setattr(design, "DENSE_SHARE", 1.0)
    return request.param


def index(columns: Any) -> IntArray:
    return np.array(columns, dtype=np.intp)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("form", FORMS)
def test_cross_products_are_those_of_numpy(form: str, blocks: str, centred: bool, storage: str) -> None:
    given = FORMS[form](values())
    X = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=np.float64)
    rng = np.random.default_rng(1)
    weights = rng.random(N)
    whole = Design.from_user(given, "test")
    if centred:
        whole, X = whole.centred(weights), X - weights @ X / weights.sum()
    some, others = BLOCKS[blocks]
    if storage == "by their density" and form == "sparse" and blocks == "full and thin":
        assert [whole.take(index(columns)).is_sparse for columns in (some, others)] == [False, True]
    for curvatures in (weights, rng.standard_normal(N), np.zeros(N)):
        cross = whole.take(index(some)).cross(whole.take(index(others)), curvatures)
        assert cross.dtype == np.float64
        assert_allclose(cross, (X[:, some].T * curvatures) @ X[:, others], rtol=1e-10, atol=1e-12)


def test_cross_products_of_the_same_columns_are_their_gram_matrix() -> None:
    X, weights = values(), np.random.default_rng(2).random(N)
    for whole in (Design(X).centred(weights), Design(sparse.csc_array(X)).centred(weights)):
        few = whole.take(np.arange(0, P, 2))
        assert_allclose(few.cross(few, weights), few.gram(weights), rtol=1e-10, atol=1e-12)


MODELS: dict[str, Any] = {
    "least squares": (LeastSquares, lambda m: m),
    "logistic": (Logistic, lambda m: m > np.median(m)),
    "poisson": (Poisson, lambda m: np.round(np.exp(np.clip(m, -2, 2)))),
    "huber": (Huber, lambda m: 2.0 * m),
    "hinge": (SquaredHinge, lambda m: m > np.median(m)),
}


def objective(model: str, form: str, weighted: bool, intercept: bool) -> Any:
    """A model of the data in some form, as solvers work with it."""
    rng = np.random.default_rng(3)
    X = values()
    kind, encode = MODELS[model]
    y = encode(X[:, [2, 8, 17]] @ [1.0, -0.7, 1.5] + rng.standard_normal(N))
    weight = rng.integers(0, 3, N) if weighted else None
    return kind(FORMS[form](X), y, alpha=0.05, sample_weight=weight, fit_intercept=intercept).working_form().objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", MODELS)
def test_blocks_of_the_full_hessian(model: str, form: str, weighted: bool, intercept: bool) -> None:
    f = objective(model, form, weighted, intercept)
    assert f.has_cross_hessian
    whole = f.restrict(np.ones(f.shape, dtype=bool))
    rng = np.random.default_rng(4)
    for some, others in BLOCKS.values():
        inside = np.sort([*some, *[P] * intercept]).astype(np.intp)
        x = np.zeros(f.shape)
        x[inside] = 0.3 * rng.standard_normal(inside.size)
        point = f.evaluate(x)
        full = whole.hessian(whole.evaluate(x))
        support = np.isin(np.arange(f.size), inside)
        cross, diagonal = f.cross_hessian(point, f.lower(point, support), np.flatnonzero(support), index(others))
        assert_allclose(cross, full[np.ix_(inside, index(others))], rtol=1e-9, atol=1e-10)
        assert_allclose(diagonal, full.diagonal()[index(others)], rtol=1e-9, atol=1e-10)


def test_constant_candidates_have_the_curvature_of_the_ridge() -> None:
    X = values()
    X[:, 4], X[:, 20] = 3.0, 0.0
    for form in FORMS:
        f = LeastSquares(FORMS[form](X), X[:, 0], alpha=0.05, fit_intercept=True).working_form().objective
        point = f.evaluate(np.zeros(f.shape))
        support = np.isin(np.arange(f.size), [1, 2, P])
        cross, diagonal = f.cross_hessian(point, f.lower(point, support), np.flatnonzero(support), index([20, 4]))
        assert_allclose(cross, 0.0, atol=1e-12)
        assert_allclose(diagonal, 0.05, rtol=1e-10)


def test_matrices_of_coefficients_have_no_cross_hessian() -> None:
    X = values()
    assert not Multinomial(X, np.arange(N) % 3).has_cross_hessian
    assert not LeastSquares(X, X[:, :2]).has_cross_hessian


def test_other_objectives_cut_it_out_of_their_hessian() -> None:
    root = np.random.default_rng(0).standard_normal((8, 8))
    A = root @ root.T
    f = Quadratic(A, np.ones(8))
    point, inside, others = f.evaluate(np.arange(8.0)), index([1, 4, 6]), index([7, 0, 5])
    solution = f.lower(point, np.isin(np.arange(8), inside))
    cross, diagonal = f.cross_hessian(point, solution, inside, others)
    assert_allclose(cross, A[np.ix_(inside, others)])
    assert_allclose(diagonal, A.diagonal()[others])


@pytest.mark.parametrize(("model", "intercept", "passes"), [("least squares", False, 1), ("logistic", True, 3)])
def test_passes_over_all_columns_are_counted(model: str, intercept: bool, passes: int, storage: str) -> None:
    """Products, sums for an intercept, and squares, which least squares knows."""
    f = objective(model, "C order", False, intercept)
    point = f.evaluate(np.zeros(f.shape))
    f.curvature(point)
    before = f.passes
    support = np.isin(np.arange(f.size), [1, 2, *[P] * intercept])
    f.cross_hessian(point, f.lower(point, support), np.flatnonzero(support), index([20, 4]))
    assert f.passes - before == (passes if storage == "never gathered" else 0)
