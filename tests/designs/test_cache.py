"""Columns that a dense design keeps for later supports: equal to those of X, gathered once, returned as copies."""

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ksparse._types import Array, IntArray
from ksparse.designs import DenseDesign, as_design, cache, dense
from ksparse.objectives import LeastSquares
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

LIMITS: dict[str, dict[str, Any]] = {
    "roomy": {},
    "tight": {"CACHE_FRACTION": 0.0, "CACHE_MIN_BYTES": 8 * N * 5},
    "no bytes": {"CACHE_FRACTION": 0.0, "CACHE_MIN_BYTES": 0},
    "no products": {"MAX_CACHED_PRODUCTS": 0},
    "few products": {"MAX_CACHED_PRODUCTS": 4},
    "all at once": {"MAX_GATHERED_AT_ONCE": N * P},
}


@pytest.fixture(autouse=True)
def gather_a_few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """X is small here, and gathered as a larger one is."""
    monkeypatch.setattr(cache, "MAX_GATHERED_AT_ONCE", 0)


def index(chosen: Any) -> IntArray:
    return np.array(chosen, dtype=np.intp)


class Data(NamedTuple):
    """A design that keeps products for its weights, and the same columns as one array."""

    design: DenseDesign
    X: Array
    weights: Array

    @property
    def gathered(self) -> int:
        return self.design.counters.columns

    @property
    def multiplied(self) -> int:
        return self.design.counters.products

    def take(self, chosen: Any) -> Array:
        return self.design.select(index(chosen)).collect()

    def gram(self, chosen: Any) -> Array:
        return self.design.select(index(chosen)).gram(self.weights)

    def expected_gram(self, chosen: Any) -> Array:
        return np.asarray((self.X[:, chosen].T * self.weights) @ self.X[:, chosen])


def data(form: str = "C order", centred: bool = True) -> Data:
    rng = np.random.default_rng(0)
    X = FORMS[form](rng.standard_normal((N, P)) + np.linspace(-2.0, 2.0, P))
    weights = rng.random(N)
    exact = X.astype(np.float64)
    design = as_design(X)
    design.moments(weights)
    if centred:
        design, exact = design.center(weights), exact - weights @ exact / weights.sum()
    assert isinstance(design, DenseDesign)
    return Data(design, exact, weights)


def limit(monkeypatch: pytest.MonkeyPatch, fraction: float, columns: int) -> None:
    """Let the cache take some fraction of X or some columns."""
    monkeypatch.setattr(cache, "CACHE_FRACTION", fraction)
    monkeypatch.setattr(cache, "CACHE_MIN_BYTES", 8 * N * columns)


@pytest.fixture(params=[*LIMITS, "small batches"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in LIMITS.get(request.param, {}).items():
        monkeypatch.setattr(cache, name, value)
    if request.param == "small batches":
        monkeypatch.setattr(dense, "MAX_CACHED_BATCH", 2)
    return str(request.param)


# --- the columns and products are right ---------------------------------------------------------------------------


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_columns_and_products_are_those_of_numpy(form: str, centred: bool, limits: str) -> None:
    some = data(form, centred)
    for chosen in SUPPORTS + SUPPORTS[::-1]:
        assert some.take(chosen).dtype == np.float64
        assert_allclose(some.take(chosen), some.X[:, chosen], rtol=1e-14, atol=1e-14)
        assert_allclose(some.gram(chosen), some.expected_gram(chosen), rtol=1e-12, atol=1e-12)


def test_random_supports_under_every_limit(limits: str) -> None:
    """Columns are dropped and met again; those that stay, and their products, remain correct."""
    some = data()
    rng = np.random.default_rng(1)
    for _ in range(200):
        chosen = rng.permutation(P)[: rng.integers(1, 9)]
        if rng.random() < 0.5:
            assert_allclose(some.take(chosen), some.X[:, chosen], rtol=1e-14, atol=1e-14)
        if rng.random() < 0.5:
            assert_allclose(some.gram(chosen), some.expected_gram(chosen), rtol=1e-12, atol=1e-12)


def test_products_for_other_weights_are_not_those_of_the_cache(limits: str) -> None:
    some = data()
    other = np.random.default_rng(9).random(N)
    for chosen in SUPPORTS:
        some.gram(chosen)
        expected = (some.X[:, chosen].T * other) @ some.X[:, chosen]
        assert_allclose(some.design.select(index(chosen)).gram(other), expected, rtol=1e-12, atol=1e-12)


def test_what_was_returned_does_not_change_later(limits: str) -> None:
    some = data()
    rng = np.random.default_rng(3)
    returned = []
    for _ in range(50):
        chosen = rng.permutation(P)[:5]
        returned.append((chosen, some.take(chosen), some.gram(chosen)))
    for chosen, block, gram in returned:
        assert_allclose(block, some.X[:, chosen], rtol=1e-14, atol=1e-14)
        assert_allclose(gram, some.expected_gram(chosen), rtol=1e-12, atol=1e-12)


def test_changing_what_was_returned_changes_nothing_else(limits: str) -> None:
    some = data()
    chosen = [5, 1, 9, 2]
    for _ in range(2):
        some.take(chosen)[...] = np.nan
        some.gram(chosen)[...] = np.nan
    assert_allclose(some.take(chosen), some.X[:, chosen], rtol=1e-14, atol=1e-14)
    assert_allclose(some.gram(chosen), some.expected_gram(chosen), rtol=1e-12, atol=1e-12)


def test_the_same_calls_give_the_same_bytes() -> None:
    first, second = data(), data()
    for chosen in SUPPORTS:
        assert_array_equal(first.gram(chosen), second.gram(chosen))


# --- work is not repeated -----------------------------------------------------------------------------------------


def test_a_column_is_gathered_once() -> None:
    some = data()
    for chosen in SUPPORTS + SUPPORTS[::-1]:
        some.take(chosen)
        some.gram(chosen)
    assert some.gathered == len({column for chosen in SUPPORTS for column in chosen})


def test_all_columns_of_a_small_design_are_gathered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_GATHERED_AT_ONCE", N * P)
    some = data()
    for chosen in (*SUPPORTS, np.arange(P)):
        some.take(chosen)
        assert_array_equal(some.design.collect_columns(index(chosen)), some.take(chosen))
        assert some.gathered == P


def test_a_support_that_moves_gathers_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is room for nothing but the support: the columns it keeps are not gathered again."""
    limit(monkeypatch, 0.0, 0)
    some = data()
    for start in range(20):
        some.take(np.arange(start, start + 6))
    assert some.gathered == 25


def test_large_batches_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "MAX_CACHED_BATCH", 5)
    some = data()
    for _ in range(2):
        assert_allclose(some.take(np.arange(6)), some.X[:, :6], atol=1e-14)
    assert some.gathered == 12
    some.take(np.arange(5))
    some.take(np.arange(5))
    assert some.gathered == 17


def test_a_fraction_of_x_may_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.5, 0)
    some = data()
    for _ in range(3):
        for column in range(P // 2):
            some.take([column])
    assert some.gathered == P // 2


def test_known_products_are_not_computed_again() -> None:
    some = data()
    some.gram([4, 2, 8])
    assert some.multiplied == 9
    some.gram([2, 8])
    some.gram([8, 4, 2])
    assert some.multiplied == 9
    some.gram([6, 7])
    assert some.multiplied == 13
    some.gram([4, 9, 2, 6])  # 4 and 2 have met, 6 has met neither, 9 is new: two rows of four
    assert some.multiplied == 21


def test_only_products_with_new_columns_are_computed() -> None:
    some = data()
    some.gram([4, 2, 8])
    some.gram([6, 7])
    kept = some.design.cache
    places = kept._place[[4, 2, 8, 6, 7]]
    kept._products[places[:, None], places] *= 2.0  # marks what is remembered
    chosen = [4, 9, 2, 6]
    expected = np.ones((4, 4))
    expected[np.ix_([0, 2], [0, 2])] = 2.0
    assert_allclose(some.gram(chosen) / some.expected_gram(chosen), expected, rtol=1e-10)


def test_products_survive_the_columns_that_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.0, 6)
    some = data()
    some.gram([4, 2, 8, 6])
    some.gram([1, 3])
    some.take([2, 4, 5])  # there is no room for it, and only 2 and 4 stay
    before = some.multiplied
    assert_allclose(some.gram([4, 2]), some.expected_gram([4, 2]), rtol=1e-12)
    assert some.multiplied == before


def test_products_of_too_many_columns_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_CACHED_PRODUCTS", 3)
    some = data()
    some.gram([1, 2, 3])
    some.gram([1, 2, 3])
    assert some.multiplied == 9
    some.gram([1, 2, 5])
    some.gram([1, 2, 5])
    assert some.multiplied == 27
    assert some.design.cache._products.shape == (3, 3)


# --- memory -------------------------------------------------------------------------------------------------------


def test_memory_stays_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.0, 10)
    some = data()
    kept = some.design.cache
    rng = np.random.default_rng(2)
    for _ in range(100):
        some.gram(rng.permutation(P)[:4])
        assert kept._rows.shape[0] <= 10
        assert kept._products.shape[0] <= 10
    some.take(np.arange(15))  # one support is always kept
    assert 15 <= kept._rows.shape[0] <= 30


def test_no_table_of_products_once_there_are_too_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that are dropped when products are no longer kept must not allocate a table for all of them."""
    monkeypatch.setattr(cache, "CACHE_MIN_BYTES", 8 * N * 20)
    monkeypatch.setattr(cache, "MAX_CACHED_PRODUCTS", 8)
    some = data()
    for first in range(0, P - 4, 2):
        chosen = np.arange(first, first + 4)
        some.take(chosen)
        assert_allclose(some.gram(chosen), some.expected_gram(chosen), rtol=1e-12, atol=1e-12)
        assert some.design.cache._products.shape[0] <= 8


# --- objectives use it --------------------------------------------------------------------------------------------


def test_supports_of_one_objective_share_its_columns() -> None:
    objective = linear("least squares", fit_intercept=True).working_form().objective
    p = objective.size
    for chosen in ([0, 4, 6], [0, 4, 7], [4, 6, 7]):
        restricted = objective.restrict(np.isin(np.arange(p), [*chosen, p - 1]))
        restricted.hessian(restricted.evaluate(np.zeros(4)))
    assert objective.counters.columns == 4
    # Nine products at first; then the new column 7 with three; 6 and 7 have not met, which is a row of three.
    assert objective.counters.products == 9 + 3 + 3


@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_restriction(weighted: bool) -> None:
    """The Hessian from remembered products is that of an objective that has never seen another support."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((N, 9)) + 3.0, rng.standard_normal(N)
    options: dict[str, Any] = {"alpha": 0.1, "fit_intercept": True}
    options["sample_weight"] = rng.integers(0, 3, N) if weighted else None
    objective: Any = LeastSquares(X, y, **options).working_form().objective
    for _ in range(10):
        chosen = np.sort(rng.permutation(9)[:4])
        restricted = objective.restrict(np.isin(np.arange(10), [*chosen, 9]))
        alone: Any = LeastSquares(X[:, chosen], y, **options).working_form().objective
        x = rng.standard_normal(5)
        hessians = [model.hessian(model.evaluate(x)) for model in (restricted, alone.restrict(np.ones(5, dtype=bool)))]
        assert_allclose(hessians[0], hessians[1], rtol=1e-12, atol=1e-12)


def test_a_centred_restriction_has_products_of_its_own() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((N, 5)) + 3.0, rng.standard_normal(N)
    objective = LeastSquares(X, y, fit_intercept=True)
    support = np.array([True, False, True, True, False, True])
    for form in (objective.restrict(support).working_form().objective, objective.working_form().objective):
        restricted: Any = form if form.size == 4 else form.restrict(support)
        C = np.column_stack([X[:, [0, 2, 3]] - X[:, [0, 2, 3]].mean(axis=0), np.ones(N)])
        assert_allclose(restricted.hessian(restricted.evaluate(np.zeros(4))), C.T @ C / N, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_each_search_gathers_columns_of_its_own(intercept: bool) -> None:
    """Otherwise searches in two threads would change one cache, and it would outlive the search."""
    objective = linear("least squares", fit_intercept=intercept)
    before = objective.counters.columns
    support = np.ones(objective.size, dtype=bool)
    p = objective.size - intercept
    for searches in (1, 2):
        objective.working_form().objective.restrict(support)
        assert objective.counters.columns - before == searches * p
    assert objective._design._cache is None


def test_a_search_frees_its_columns_when_it_ends() -> None:
    """Without a cycle of references, which would keep them until the garbage collector runs."""
    gc.disable()
    try:
        objective = linear("least squares", fit_intercept=True).working_form().objective
        objective.restrict(np.ones(objective.size, dtype=bool))
        columns = weakref.ref(objective._design.cache)
        assert columns() is not None
        del objective
        assert columns() is None
    finally:
        gc.enable()
