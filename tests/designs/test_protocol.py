"""What every design must do, whatever its storage: each product against NumPy on a centred copy of X."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ksparse._types import Array, IntArray
from ksparse.designs import ColumnBlock, DenseDesign, Design, SelectedColumns, SparseDesign, as_design
from tests.designs.row_blocks import RowBlocks
from tests.designs.storage import FORMS as MATRICES
from tests.designs.storage import STORAGES, N, P, set_storage, values

DESIGNS: dict[str, Callable[[Array], Design]] = {
    "dense": lambda X: DenseDesign(np.ascontiguousarray(X)),
    "dense by columns": lambda X: DenseDesign(np.asfortranarray(X)),
    "sparse": lambda X: SparseDesign(sparse.csc_array(X)),
    "row blocks": lambda X: RowBlocks(np.split(X, [20, 21, 50])),
}
COLUMNS: dict[str, Any] = {"some": [3, 17, 9, 25], "one": [20], "none": [], "all": range(P)}

WEIGHTS = np.random.default_rng(1).random(N)
ALTERNATING: Array = np.where(np.arange(N) % 2, 1.0, 0.0)


@pytest.fixture(params=DESIGNS)
def plain(request: pytest.FixtureRequest) -> Design:
    return DESIGNS[request.param](values())


@pytest.fixture(params=[False, True], ids=["plain", "centred"])
def pair(request: pytest.FixtureRequest, plain: Design) -> tuple[Design, Array]:
    """A design, and X as it should be."""
    X = values()
    if not request.param:
        return plain, X
    return plain.center(plain.to_rows(WEIGHTS)), X - WEIGHTS @ X / WEIGHTS.sum()


@pytest.fixture(params=COLUMNS)
def columns(request: pytest.FixtureRequest) -> IntArray:
    return np.array(COLUMNS[request.param], dtype=np.intp)


def random_rows(outputs: tuple[int, ...]) -> Array:
    return np.random.default_rng(2).standard_normal((N, *outputs))


# --- products of a design -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [(), (3,)], ids=["vector", "matrix"])
def test_products_with_vectors(pair: tuple[Design, Array], columns: IntArray, outputs: tuple[int, ...]) -> None:
    design, X = pair
    w, r = np.random.default_rng(3).standard_normal((columns.size, *outputs)), random_rows(outputs)
    assert_allclose(design.collect_rows(design.matvec(columns, w)), X[:, columns] @ w, atol=1e-12)
    assert_allclose(design.rmatvec(design.to_rows(r), columns), X[:, columns].T @ r, atol=1e-12)
    full = np.zeros((P, *outputs))
    full[columns] = w
    assert_allclose(design.collect_rows(design.matvec(None, full)), X @ full, atol=1e-12)
    assert_allclose(design.rmatvec(design.to_rows(r)), X.T @ r, atol=1e-12)


@pytest.mark.parametrize("weights", [WEIGHTS, np.ones(N), WEIGHTS - 0.5, np.zeros(N)])
def test_products_of_columns(pair: tuple[Design, Array], columns: IntArray, weights: Array) -> None:
    design, X = pair
    rows, others = design.to_rows(weights), np.array([29, 0, 14], dtype=np.intp)
    expected = (X.T * weights) @ X
    assert_allclose(design.gram(columns, rows), expected[np.ix_(columns, columns)], atol=1e-12)
    products = design.cross(columns, others, rows)
    assert_allclose(products.cross, expected[np.ix_(columns, others)], atol=1e-12)
    assert_allclose(products.sums, X[:, others].T @ weights, atol=1e-12)
    assert_allclose(products.squares, expected.diagonal()[others], atol=1e-12)


def test_moments(pair: tuple[Design, Array]) -> None:
    design, X = pair
    for weights in (WEIGHTS, ALTERNATING):
        moments = design.moments(design.to_rows(weights))
        assert_allclose(moments.means, weights @ X / weights.sum(), atol=1e-12)
        assert_allclose(moments.squares, weights @ np.square(X), atol=1e-11)


def test_centring(plain: Design) -> None:
    X = values()
    for weights in (WEIGHTS, ALTERNATING):
        means = weights @ X / weights.sum()
        centred = plain.center(plain.to_rows(weights))
        assert plain.shift is None
        assert centred.shift is not None
        assert_allclose(centred.shift, means, atol=1e-13)
        assert_allclose(centred.collect_columns(np.arange(P)), X - means, atol=1e-13)
        again = centred.center(centred.to_rows(weights))
        assert_allclose(again.collect_columns(np.arange(P)), X - means, atol=1e-13)


def test_some_rows(pair: tuple[Design, Array]) -> None:
    design, X = pair
    for index in (np.arange(10, 40), np.array([60, 3, 3, 21, 20, 0]), np.flatnonzero(np.arange(N) % 3)):
        some = design.select_rows(index)
        assert some.shape == (index.size, P)
        assert_allclose(some.collect_columns(np.arange(P)), X[index], atol=1e-13)
        r = random_rows(())[index]
        assert_allclose(some.rmatvec(some.to_rows(r)), X[index].T @ r, atol=1e-12)


def test_functions_of_row_vectors(plain: Design) -> None:
    a, b = random_rows(()), random_rows((2,))
    rows = plain.to_rows(a), plain.to_rows(b)
    assert_array_equal(plain.collect_rows(rows[0]), a)
    mapped = plain.map_rows(lambda a, b: np.exp(a) + b[:, 0], *rows)
    assert_array_equal(plain.collect_rows(mapped), np.exp(a) + b[:, 0])
    assert_allclose(plain.reduce_rows(lambda a, b: a @ b, *rows), a @ b, atol=1e-12)
    assert plain.reduce_rows(np.max, rows[0], combine=np.maximum) == a.max()
    assert plain.reduce_rows(np.min, rows[0], combine=np.minimum) == a.min()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", DESIGNS)
def test_bad_values_are_refused(storage: str, bad: float) -> None:
    X = values()
    X[11, 20] = bad
    design = DESIGNS[storage](X)
    with pytest.raises(ValueError, match="X has NaN or infinite values; remove or impute them"):
        design.moments(design.to_rows(WEIGHTS))


# --- blocks of columns --------------------------------------------------------------------------------------------


def select_all(design: Design, columns: IntArray) -> ColumnBlock:
    return design.select_all() if columns.size == P else design.select(columns)


BLOCKS: dict[str, Callable[[Design, IntArray], ColumnBlock]] = {
    "the design's own": lambda design, columns: design.select(columns),
    "by index": SelectedColumns,
    "all by default": select_all,
}


@pytest.mark.parametrize("way", BLOCKS)
def test_blocks(pair: tuple[Design, Array], columns: IntArray, way: str) -> None:
    design, X = pair
    block, B = BLOCKS[way](design, columns), X[:, columns]
    rng = np.random.default_rng(4)
    weights, others = design.to_rows(WEIGHTS), np.array([2, 28], dtype=np.intp)
    assert block.width == columns.size
    assert_allclose(block.collect(), B, atol=1e-13)
    for outputs in ((), (2,)):
        w, r = rng.standard_normal((columns.size, *outputs)), random_rows(outputs)
        assert_allclose(design.collect_rows(block.matvec(w)), B @ w, atol=1e-12)
        assert_allclose(block.rmatvec(design.to_rows(r)), B.T @ r, atol=1e-12)
    assert_allclose(block.gram(weights), (B.T * WEIGHTS) @ B, atol=1e-12)
    assert_allclose(block.squares(weights), WEIGHTS @ np.square(B), atol=1e-11)
    products = block.cross(others, weights)
    assert_allclose(products.cross, (B.T * WEIGHTS) @ X[:, others], atol=1e-12)
    assert_allclose(products.sums, WEIGHTS @ X[:, others], atol=1e-12)
    assert_allclose(products.squares, WEIGHTS @ np.square(X[:, others]), atol=1e-11)


# --- work is counted ----------------------------------------------------------------------------------------------


def test_passes_are_counted(plain: Design) -> None:
    before = plain.counters.passes
    plain.rmatvec(plain.to_rows(WEIGHTS))
    plain.matvec(None, np.ones(P))
    assert plain.counters.passes - before == 2
    plain.rmatvec(plain.to_rows(WEIGHTS), np.array([1, 2]))
    plain.matvec(np.array([1, 2]), np.ones(2))
    assert plain.counters.passes - before == 2


def test_products_are_counted(plain: Design) -> None:
    weights = plain.to_rows(WEIGHTS)
    plain.gram(np.arange(5), weights)
    assert plain.counters.products == 25
    plain.cross(np.arange(5), np.arange(7, 10), weights)
    assert plain.counters.products == 40


def test_other_forms_of_a_design_share_its_counters(plain: Design) -> None:
    centred = plain.center(plain.to_rows(WEIGHTS))
    for other in (centred, plain.with_own_cache(), plain.select_rows(np.arange(5))):
        assert other.counters is plain.counters


# --- cross products, by each way to compute them ------------------------------------------------------------------

#: Supports and candidates, in any order.
SETS: dict[str, tuple[Any, Any]] = {
    "full and full": ([3, 9, 4], [0, 11, 7, 2]),
    "full and thin": ([3, 9, 4], [20, 16, 29]),
    "thin and full": ([17, 25], [9, 1, 3]),
    "thin and thin": ([17, 25, 16], [29, 20, 28, 15]),
    "both and both": ([2, 17, 8, 25], [29, 0, 20, 1, 5]),
    "one and none": ([4], []),
    "none and one": ([], [4]),
}


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize(("form", "way"), STORAGES)
def test_cross_products_by_each_way(
    form: str, way: str, sets: str, centred: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_storage(monkeypatch, way)
    given = MATRICES[form](values())
    X = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=np.float64)
    rng = np.random.default_rng(1)
    weights = rng.random(N)
    design = as_design(given)
    if centred:
        design, X = design.center(weights), X - weights @ X / weights.sum()
    some, others = (np.array(part, dtype=np.intp) for part in SETS[sets])
    for curvatures in (weights, rng.standard_normal(N), np.zeros(N)):
        products = design.cross(some, others, curvatures)
        assert products.cross.dtype == np.float64
        assert_allclose(products.cross, (X[:, some].T * curvatures) @ X[:, others], rtol=1e-10, atol=1e-12)
        assert_allclose(products.sums, curvatures @ X[:, others], rtol=1e-10, atol=1e-12)
        assert_allclose(products.squares, curvatures @ np.square(X[:, others]), rtol=1e-10, atol=1e-11)


def test_the_ways_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above would run the same code several times."""

    def blocks() -> list[str]:
        design = as_design(sparse.csc_array(values()))
        return [type(design.select(np.array(columns))).__name__ for columns in SETS["full and thin"]]

    assert blocks() == ["DenseBlock", "DenseBlock"]
    set_storage(monkeypatch, "by density")
    assert blocks() == ["DenseBlock", "SparseBlock"]
    set_storage(monkeypatch, "all sparse")
    assert blocks() == ["SparseBlock", "SparseBlock"]
    for way, passes in (("gathered", 0), ("by passes", 2)):
        set_storage(monkeypatch, way)
        design = as_design(values())
        design.cross(np.array([1, 2]), np.array([7, 8]), WEIGHTS)
        assert design.counters.passes == passes


@pytest.mark.parametrize(("form", "way"), STORAGES)
def test_cross_products_of_the_same_columns_are_their_gram_matrix(
    form: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_storage(monkeypatch, way)
    design = as_design(MATRICES[form](values())).center(WEIGHTS)
    columns = np.arange(0, P, 2)
    block = design.select(columns)
    assert_allclose(block.cross(columns, WEIGHTS).cross, block.gram(WEIGHTS), rtol=1e-10, atol=1e-12)
