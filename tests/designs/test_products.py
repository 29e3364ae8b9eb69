"""Passes over X, in every form of it, are what NumPy makes of a centred copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from ksparse import threads
from ksparse._types import Array
from ksparse.designs import DenseDesign, as_design, moments
from ksparse.designs import sparse as sparse_designs
from ksparse.designs.moments import split_columns
from ksparse.objectives import LeastSquares, Logistic

N, P = 61, 130


def values(seed: int = 0) -> Array:
    """Half zeros, an empty column, a constant one, one far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.5)
    X[:, 3], X[:, 5], X[:, 7] = 0.0, 2.0, 1e4 + X[:, 7]
    return X


def with_int64(X: Array) -> Any:
    matrix = sparse.csc_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def with_duplicates(X: Array) -> Any:
    """Each entry as two halves, and the rows of a column in reverse."""
    rows, columns = np.nonzero(X)
    order = np.lexsort((-rows, columns))
    rows, columns = np.repeat(rows[order], 2), np.repeat(columns[order], 2)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=X.shape[1]))])
    return sparse.csc_array((X[rows, columns] / 2, rows, indptr), shape=X.shape)


def stored_matrix(model: Any) -> Any:
    return model._design.matrix


def read_only(X: Array) -> Array:
    locked = X.copy()
    locked.flags.writeable = False
    return locked


FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "read-only": read_only,
    "CSC": sparse.csc_array,
    "CSR": sparse.csr_array,
    "int64 indices": with_int64,
    "duplicates": with_duplicates,
}


@pytest.fixture(params=["NumPy", "compiled", "two threads"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Small data, and what is done with large data."""
    if request.param != "NumPy":
        monkeypatch.setattr(moments, "MIN_COMPILED_SIZE", 0)
        monkeypatch.setattr(sparse_designs, "SMALL_BLOCK", 0)
        monkeypatch.setattr(sparse_designs, "DENSE_FRACTION", 1.0)
    if request.param == "two threads":
        monkeypatch.setattr(threads, "MIN_THREADED_SIZE", 1)
    with threadpool_limits(2 if request.param == "two threads" else 1, user_api="blas"):
        yield request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_all_passes(form: str, dtype: Any, way: str) -> None:
    X = values().astype(dtype).astype(np.float64)
    given = FORMS[form](X).astype(dtype, copy=False)
    rng = np.random.default_rng(1)
    weights = rng.random(N) * (np.arange(N) > 1)
    weights /= weights.sum()
    plain = as_design(given)
    before = plain.moments(weights)
    centred = plain.center(weights)
    after = centred.moments(weights)
    C = X - weights @ X
    C[:, [3, 5]] = 0.0
    single = dtype == np.float32
    assert centred.shift is not None
    assert_allclose(centred.shift, weights @ X, rtol=1e-13, atol=1e-13)
    assert_allclose(before.means, weights @ X, rtol=1e-13, atol=1e-13)
    assert_allclose(before.squares, weights @ np.square(X), rtol=1e-11, atol=1e-13)
    assert_allclose(after.means, 0.0, atol=1e-11)
    assert_allclose(after.squares, weights @ np.square(C), rtol=1e-9 if not single else 1e-6, atol=1e-13)
    assert_array_equal(after.squares[[3, 5]], 0.0)
    # The column far from zero loses precision in products of float32, as X itself has.
    near = np.arange(P) != 7
    for residuals in (rng.standard_normal(N), rng.standard_normal((N, 3))):
        for matrix, expected in ((plain, X), (centred, C)):
            product = matrix.rmatvec(residuals)
            assert product.dtype == np.float64
            assert_allclose(product[near], (expected.T @ residuals)[near], atol=1e-4 if single else 1e-11)
            assert_allclose(product[7], expected.T[7] @ residuals, rtol=1e-2 if single else 1e-8)
    for w in (rng.standard_normal(P), rng.standard_normal((P, 3))):
        for matrix, expected in ((plain, X), (centred, C)):
            assert_allclose(matrix.matvec(None, w), expected @ w, rtol=1e-9 if not single else 1e-6, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_gram_of_all_columns(form: str, way: str) -> None:
    X, weights = values(), np.random.default_rng(4).random(N)
    expected = (X * weights[:, None]).T @ X
    assert_allclose(as_design(FORMS[form](X)).gram(np.arange(P), weights), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_gathered_columns(form: str, way: str) -> None:
    X, rng = values(), np.random.default_rng(2)
    weights = np.full(N, 1 / N)
    C = X - X.mean(axis=0)
    whole = as_design(FORMS[form](X)).center(weights)
    for columns in ([1, 5, 9], [1, 9], [0, 1, 9, 129], list(range(8)), list(range(3, 120)), [2, 129], []):
        few = whole.select(np.array(columns, dtype=np.intp))
        for curvatures in (rng.random(N), rng.standard_normal(N)):
            expected = (C[:, columns] * curvatures[:, None]).T @ C[:, columns]
            assert_allclose(few.gram(curvatures), expected, atol=1e-6 if 7 in columns else 1e-12)
        w = rng.standard_normal(len(columns))
        assert_allclose(few.matvec(w), C[:, columns] @ w, atol=1e-10)
        assert_allclose(few.rmatvec(C[:, 0]), C[:, columns].T @ C[:, 0], atol=1e-8)
        assert_allclose(few.squares(weights), C[:, columns].var(axis=0), atol=1e-7 if 7 in columns else 1e-12)


@pytest.mark.parametrize("form", ["C order", "Fortran order", "strided", "CSC", "CSR"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(form: str, bad: float, way: str) -> None:
    X = values()
    X[11, 100] = bad
    weights = np.ones(N)
    weights[11] = 0.0
    for sample_weight in (None, weights):
        with pytest.raises(ValueError, match="X has NaN or infinite values; remove or impute them"):
            LeastSquares(FORMS[form](X), np.ones(N), sample_weight=sample_weight)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_column_far_from_zero_keeps_its_digits(order: Any, way: str) -> None:
    noise = np.random.default_rng(3).standard_normal((N, 4))
    weights = np.full(N, 1 / N)
    X = np.array(noise + 1e8, order=order)
    exact = X - 1e8
    expected = exact.var(axis=0)
    assert_allclose(DenseDesign(X).center(weights).moments(weights).squares, expected, rtol=1e-12)


def test_a_memory_map_is_read_where_it_is(tmp_path: Path, way: str) -> None:
    X = values()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    y = X[:, 0] > 0
    there, here = (Logistic(data, y, fit_intercept=True) for data in (mapped, X))
    assert np.shares_memory(stored_matrix(there), mapped)
    x = np.random.default_rng(0).standard_normal(P + 1)
    assert_array_equal(
        there.working_form().objective.evaluate(x).gradient, here.working_form().objective.evaluate(x).gradient
    )


def test_duplicates_are_summed_in_a_copy() -> None:
    given = with_duplicates(values())
    before = given.data.copy()
    checked = as_design(given).matrix  # type: ignore[attr-defined]
    assert checked.has_canonical_format
    assert_array_equal(given.data, before)


def test_the_last_rows_may_be_empty(way: str) -> None:
    X = values()
    X[-4:] = 0.0
    y = X[:, 0] + X[:, 2]
    there, here = (LeastSquares(data, y, fit_intercept=True) for data in (sparse.csc_array(X), X))
    x = np.random.default_rng(0).standard_normal(P + 1)
    assert_allclose(
        there.working_form().objective.evaluate(x).gradient,
        here.working_form().objective.evaluate(x).gradient,
        rtol=1e-9,
        atol=1e-9,
    )
    whole = as_design(sparse.csc_array(X))
    weights = np.random.default_rng(1).random(N)
    few = whole.select(np.array([1, 9, 20]))
    assert_allclose(few.squares(weights), weights @ np.square(X[:, [1, 9, 20]]), rtol=1e-12)


def test_conversion_is_the_only_copy_of_sparse_data() -> None:
    given = sparse.csc_array(values())
    assert as_design(given).matrix.data is given.data  # type: ignore[attr-defined]
    blocks = split_columns(given, 3)
    assert all(np.shares_memory(block.data, given.data) for block in blocks)
    assert_array_equal(sparse.vstack(blocks).toarray(), given.toarray().T)
