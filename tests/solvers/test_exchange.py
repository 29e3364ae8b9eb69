"""The exchange model against refits: on a quadratic, its predictions are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse.solvers.exchange import ExchangeModel


def value(hessian: Any, linear: Any, mask: Any) -> float:
    """min ½zᵀHz − bᵀz over a support."""
    z = np.linalg.solve(hessian[np.ix_(mask, mask)], linear[mask])
    return float(-0.5 * linear[mask] @ z)


def random_model(seed: int, unit: Any) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    size = len(unit)
    X = rng.standard_normal((3 * size, size)) @ (np.eye(size) + 0.3 * rng.standard_normal((size, size)))
    return X.T @ X / size, rng.standard_normal(size), np.asarray(unit)


UNITS = {
    "coordinates": [0, 1, 2, 3, 4, 5, 6, 7],
    "with a free coordinate": [0, 1, 2, 3, 4, 5, 6, -1],
    "groups": [0, 1, 0, 2, 3, 1, 3, 2],
    "ragged groups": [0, 1, 1, 1, 2, 3, 3, -1],
    "groups whose labels skip": [5, 9, 5, 2, 9, 7, 7, 2],
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_predicted_changes_are_those_of_refits(unit: list[int], seed: int) -> None:
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    inside = np.isin(numbers, [*names[: len(names) // 2], -1])
    fixed = np.zeros(max(names) + 1, dtype=bool)
    model = ExchangeModel(hessian, linear, numbers, inside, fixed)
    before = value(hessian, linear, inside)
    pairs = model.best_pairs(100)
    outside = len(names) - len(names) // 2
    assert len(pairs) == (len(names) // 2) * outside
    for pair in pairs:
        after = (inside & (numbers != pair.leaving)) | (numbers == pair.entering)
        assert pair.change == pytest.approx(value(hessian, linear, after) - before, abs=1e-10)
    assert [pair.change for pair in pairs] == sorted(pair.change for pair in pairs)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_chains_add_up(unit: list[int], seed: int) -> None:
    """After several exchanges the tableau still says the truth, and ends where no exchange helps."""
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    inside = np.isin(numbers, [*names[: len(names) // 2], -1])
    model = ExchangeModel(hessian, linear, numbers, inside, np.zeros(max(names) + 1, dtype=bool))
    start, support = value(hessian, linear, inside), inside
    chain = model.chain(50, 1e-12)
    for exchange in chain:
        support = (support & (numbers != exchange.leaving)) | (numbers == exchange.entering)
    total = sum(exchange.change for exchange in chain)
    assert total == pytest.approx(value(hessian, linear, support) - start, abs=1e-9)
    final = ExchangeModel(hessian, linear, numbers, support, np.zeros(max(names) + 1, dtype=bool))
    assert final.best_pairs(1)[0].change >= -1e-10


def test_fixed_units_stay() -> None:
    hessian, linear, numbers = random_model(0, UNITS["coordinates"])
    fixed = np.zeros(8, dtype=bool)
    fixed[[0, 1]] = True
    model = ExchangeModel(hessian, linear, numbers, numbers < 3, fixed)
    assert {pair.leaving for pair in model.best_pairs(100)} == {2}


def test_duplicates_of_the_support_cannot_enter() -> None:
    hessian, linear, numbers = random_model(0, UNITS["coordinates"])
    hessian[:, 7], linear[7] = hessian[:, 0], linear[0]
    hessian[7] = hessian[:, 7]
    hessian[7, 7] = hessian[0, 0]
    model = ExchangeModel(hessian, linear, numbers, numbers < 3, np.zeros(8, dtype=bool))
    assert 7 not in {pair.entering for pair in model.best_pairs(100)}


def test_a_singular_support_still_gives_an_order() -> None:
    X = np.random.default_rng(0).standard_normal((3, 8))
    model = ExchangeModel(X.T @ X, X.T @ np.ones(3), np.arange(8), np.arange(8) < 5, np.zeros(8, dtype=bool))
    assert all(np.isfinite(pair.change) for pair in model.best_pairs(10))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_removals_are_those_of_backward_elimination(unit: list[int], seed: int) -> None:
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    fixed = np.isin(np.arange(max(names) + 1), names[:1])
    inside = np.ones(len(unit), dtype=bool)
    removed = ExchangeModel(hessian, linear, numbers, inside, fixed).removals(len(names) - 2)
    for unit_removed in removed:
        costs = {
            u: value(hessian, linear, inside & (numbers != u)) for u in names[1:] if (inside & (numbers == u)).any()
        }
        assert unit_removed == min(costs, key=lambda u: costs[u])
        inside &= numbers != unit_removed
    assert len(removed) == len(names) - 2
