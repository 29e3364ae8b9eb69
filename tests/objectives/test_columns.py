"""Columns that are kept for later supports: the same as those of X, gathered once, and given away as copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array, IntArray
from ksparse.objectives import LeastSquares, columns
from ksparse.objectives.columns import ColumnPool
from ksparse.objectives.design import Design
from tests.problems import linear

N, P = 23, 40

#: Supports as a search meets them: they move a little, come back, and are in any order.
SUPPORTS = [[3, 1, 7], [7, 3, 1], [1, 3, 9], [9], [], [30, 2, 39, 0], [3, 1, 7, 9, 30], [39, 5, 3], [12, 11, 10, 3]]

FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "float32": lambda X: X.astype(np.float32),
    "float32 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float32)),
}


def index(chosen: Any) -> IntArray:
    return np.array(chosen, dtype=np.intp)


def pool_of(form: str = "C order", centred: bool = True) -> tuple[ColumnPool, Array, Array]:
    """A pool, its columns as NumPy makes them, and its weights."""
    rng = np.random.default_rng(0)
    X = FORMS[form](rng.standard_normal((N, P)) + np.linspace(-2.0, 2.0, P))
    weights = rng.random(N)
    exact = X.astype(np.float64)
    whole = Design.from_user(X, "test")
    if centred:
        whole, exact = whole.centred(weights), exact - weights @ exact / weights.sum()
    return ColumnPool(whole, weights), exact, weights


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The columns that are gathered from X, one after the other."""
    seen: list[int] = []
    original = Design.gather

    def watched(self: Design, chosen: IntArray, out: Array | None = None) -> Array:
        seen.extend(chosen.tolist())
        return original(self, chosen, out)

    monkeypatch.setattr(Design, "gather", watched)
    return seen


LIMITS: dict[str, dict[str, Any]] = {
    "roomy": {},
    "tight": {"SHARE": 0.0, "GRANTED": 8 * N * 5},
    "nothing granted": {"SHARE": 0.0, "GRANTED": 0},
    "no products": {"MOST_PRODUCTS": 0},
    "few products": {"MOST_PRODUCTS": 4},
    "few at once": {"MOST_AT_ONCE": 2},
}


@pytest.fixture(params=LIMITS)
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, limit in LIMITS[request.param].items():
        monkeypatch.setattr(columns, name, limit)
    return str(request.param)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_columns_and_products_are_those_of_numpy(form: str, centred: bool, limits: str) -> None:
    pool, X, weights = pool_of(form, centred)
    for chosen in SUPPORTS + SUPPORTS[::-1]:
        few = pool.take(index(chosen))
        assert few.gathered
        assert few.shift is None
        assert few.matrix.dtype == np.float64
        assert_allclose(few.matrix, X[:, chosen], rtol=1e-14, atol=1e-14)
        assert_allclose(pool.gram(index(chosen)), (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12, atol=1e-12)


def test_random_supports_under_every_limit(limits: str) -> None:
    """Columns are forgotten and met again; what is left of them and of their products stays true."""
    pool, X, weights = pool_of()
    rng = np.random.default_rng(1)
    for _ in range(200):
        chosen = rng.permutation(P)[: rng.integers(1, 9)]
        if rng.random() < 0.5:
            assert_allclose(pool.take(chosen).matrix, X[:, chosen], rtol=1e-14, atol=1e-14)
        if rng.random() < 0.5:
            assert_allclose(pool.gram(chosen), (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12, atol=1e-12)


def test_a_column_is_gathered_once(gathered: list[int]) -> None:
    pool, _, _ = pool_of()
    for chosen in SUPPORTS + SUPPORTS[::-1]:
        pool.take(index(chosen))
        pool.gram(index(chosen))
    met = {column for chosen in SUPPORTS for column in chosen}
    assert sorted(gathered) == sorted(met)


def test_a_support_that_moves_gathers_what_is_new(gathered: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is room for nothing but the support: what it keeps is not gathered again."""
    monkeypatch.setattr(columns, "SHARE", 0.0)
    monkeypatch.setattr(columns, "GRANTED", 0)
    pool, _, _ = pool_of()
    for start in range(20):
        pool.take(np.arange(start, start + 6))
    assert gathered == list(range(25))


def test_very_many_columns_are_not_kept(gathered: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_AT_ONCE", 5)
    pool, X, _ = pool_of()
    for _ in range(2):
        assert_allclose(pool.take(np.arange(6)).matrix, X[:, :6], atol=1e-14)
    assert gathered == 2 * list(range(6))
    pool.take(np.arange(5))
    pool.take(np.arange(5))
    assert gathered == 2 * list(range(6)) + list(range(5))


def test_memory_stays_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "SHARE", 0.0)
    monkeypatch.setattr(columns, "GRANTED", 8 * N * 10)
    pool, _, _ = pool_of()
    rng = np.random.default_rng(2)
    for _ in range(100):
        pool.gram(rng.permutation(P)[:4])
        assert pool._rows.shape[0] <= 10
        assert pool._products.shape[0] <= 10
    pool.take(np.arange(15))  # one support is always kept
    assert 15 <= pool._rows.shape[0] <= 30


def test_a_share_of_x_may_be_kept(monkeypatch: pytest.MonkeyPatch, gathered: list[int]) -> None:
    monkeypatch.setattr(columns, "SHARE", 0.5)
    monkeypatch.setattr(columns, "GRANTED", 0)
    pool, _, _ = pool_of()
    for _ in range(3):
        for column in range(P // 2):
            pool.take(index([column]))
    assert len(gathered) == P // 2


def test_products_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was multiplied is remembered, also after other columns were forgotten: broken rows would show."""
    monkeypatch.setattr(columns, "SHARE", 0.0)
    monkeypatch.setattr(columns, "GRANTED", 8 * N * 6)
    pool, X, weights = pool_of()
    pool.gram(index([4, 2, 8, 6]))
    pool.gram(index([1, 3]))
    pool.take(index([2, 4, 5]))  # there is no room for it, and only 2 and 4 stay
    pool._rows[:2] = np.nan
    chosen = [4, 2]
    assert_allclose(pool.gram(index(chosen)), (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12)


def test_only_products_with_new_columns_are_made() -> None:
    pool, X, weights = pool_of()
    pool.gram(index([4, 2, 8]))
    pool.gram(index([6, 7]))
    places = pool._place[[4, 2, 8, 6, 7]]
    pool._products[places[:, None], places] *= 2.0  # what is remembered can be told from what is made
    chosen = index([4, 9, 2, 6])  # 4 and 2 have met, 6 has met neither, 9 is new
    ratios = pool.gram(chosen) / ((X[:, chosen].T * weights) @ X[:, chosen])
    expected = np.ones((4, 4))
    expected[np.ix_([0, 2], [0, 2])] = 2.0
    assert_allclose(ratios, expected, rtol=1e-10)


def test_products_of_too_many_columns_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_PRODUCTS", 3)
    pool, _, _ = pool_of()
    pool.gram(index([1, 2, 3]))
    assert pool._products.shape == (3, 3)
    pool.gram(index([1, 2, 5]))
    assert pool._products.shape == (3, 3)


def test_what_is_given_away_does_not_change_later(limits: str) -> None:
    pool, X, weights = pool_of()
    rng = np.random.default_rng(3)
    given = []
    for _ in range(50):
        chosen = rng.permutation(P)[:5]
        given.append((chosen, pool.take(chosen).matrix, pool.gram(chosen)))
    for chosen, block, gram in given:
        assert_allclose(block, X[:, chosen], rtol=1e-14, atol=1e-14)
        assert_allclose(gram, (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12, atol=1e-12)


def test_who_changes_what_was_given_changes_nothing_else(limits: str) -> None:
    pool, X, weights = pool_of()
    chosen = index([5, 1, 9, 2])
    for _ in range(2):
        pool.take(chosen).matrix[...] = np.nan
        pool.gram(chosen)[...] = np.nan
    assert_allclose(pool.take(chosen).matrix, X[:, chosen], rtol=1e-14, atol=1e-14)
    assert_allclose(pool.gram(chosen), (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12, atol=1e-12)


def test_supports_of_one_objective_share_its_columns(gathered: list[int]) -> None:
    objective = linear("least squares", fit_intercept=True).working_form().objective
    p = objective.size
    for chosen in ([0, 4, 6], [0, 4, 7], [4, 6, 7]):
        restricted = objective.restrict(np.isin(np.arange(p), [*chosen, p - 1]))
        restricted.hessian(restricted.evaluate(np.zeros(4)))
    assert sorted(gathered) == [0, 4, 6, 7]


@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_restriction(weighted: bool) -> None:
    """The Hessian from remembered products is that of an objective that has never seen another support."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((N, 9)) + 3.0, rng.standard_normal(N)
    weight = rng.integers(0, 3, N) if weighted else None
    objective = LeastSquares(X, y, alpha=0.1, sample_weight=weight, fit_intercept=True).working_form().objective
    for _ in range(10):
        chosen = np.sort(rng.permutation(9)[:4])
        restricted = objective.restrict(np.isin(np.arange(10), [*chosen, 9]))
        alone = (
            LeastSquares(X[:, chosen], y, alpha=0.1, sample_weight=weight, fit_intercept=True).working_form().objective
        )
        expected = alone.restrict(np.ones(5, dtype=bool))
        x = rng.standard_normal(5)
        assert_allclose(
            restricted.hessian(restricted.evaluate(x)), expected.hessian(expected.evaluate(x)), rtol=1e-12, atol=1e-12
        )


def test_a_centred_restriction_has_products_of_its_own() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((N, 5)) + 3.0, rng.standard_normal(N)
    objective = LeastSquares(X, y, fit_intercept=True)
    restricted = objective.restrict(np.array([True, False, True, True, False, True])).working_form().objective
    C = np.column_stack([X[:, [0, 2, 3]] - X[:, [0, 2, 3]].mean(axis=0), np.ones(N)])
    assert_allclose(restricted.hessian(restricted.evaluate(np.zeros(4))), C.T @ C / N, atol=1e-12)


def test_the_same_calls_give_the_same_bytes() -> None:
    first, second = pool_of()[0], pool_of()[0]
    for chosen in SUPPORTS:
        assert_array_equal(first.gram(index(chosen)), second.gram(index(chosen)))


def test_products_take_no_room_once_there_are_too_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that are let go when products are no longer remembered must not make a table of all of them."""
    monkeypatch.setattr(columns, "GRANTED", 8 * N * 20)
    monkeypatch.setattr(columns, "MOST_PRODUCTS", 8)
    monkeypatch.setattr(ColumnPool, "_make_room_for_products", _at_most(8, ColumnPool._make_room_for_products))
    pool, X, weights = pool_of()
    for first in range(0, P - 4, 2):
        chosen = np.arange(first, first + 4)
        pool.take(chosen)
        assert_allclose(pool.gram(chosen), (X[:, chosen].T * weights) @ X[:, chosen], rtol=1e-12, atol=1e-12)


def _at_most(columns: int, make_room: Any) -> Any:
    def watched(pool: ColumnPool) -> None:
        assert pool._rows.shape[0] <= columns
        make_room(pool)

    return watched


@pytest.mark.parametrize("intercept", [False, True])
def test_each_search_gathers_columns_of_its_own(intercept: bool) -> None:
    """Otherwise searches in two threads would change them under each other, and they would outlive the search."""
    objective = linear("least squares", fit_intercept=intercept)
    first, second = objective.working_form().objective, objective.working_form().objective
    everything = np.ones(objective.size, dtype=bool)
    first.restrict(everything)
    second.restrict(everything)
    assert first._pool is not None
    assert first._pool is not second._pool
    assert objective._pool is None
