"""The quadratic model of swaps against refits: on a quadratic f, its predictions are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse.solvers.swap.tableau import QuadraticSwapModel
from ksparse.solvers.swap.tuning import SwapTuning

TUNING = SwapTuning()


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
    model = QuadraticSwapModel(hessian, linear, numbers, inside, fixed, TUNING)
    before = value(hessian, linear, inside)
    swaps = model.find_best_swaps(100)
    outside = len(names) - len(names) // 2
    assert len(swaps) == (len(names) // 2) * outside
    for swap in swaps:
        after = (inside & (numbers != swap.leaving)) | (numbers == swap.entering)
        assert swap.change == pytest.approx(value(hessian, linear, after) - before, abs=1e-10)
    assert [swap.change for swap in swaps] == sorted(swap.change for swap in swaps)


@pytest.mark.parametrize("seed", range(5))
def test_changes_of_groups_with_nearly_equal_features(seed: int) -> None:
    """A leaving group whose features are the same up to 1e-5: its block of P is nearly singular."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 8)), rng.standard_normal(60)
    X[:, 1] = X[:, 0] + 1e-5 * rng.standard_normal(60)
    numbers = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    model = QuadraticSwapModel(X.T @ X / 60, X.T @ y / 60, numbers, numbers < 2, np.zeros(4, dtype=bool), TUNING)

    def value(mask: Any) -> float:
        residuals = y - X[:, mask] @ np.linalg.lstsq(X[:, mask], y, rcond=None)[0]
        return 0.5 * float(residuals @ residuals) / 60

    before = value(numbers < 2)
    swaps = model.find_best_swaps(100)
    assert len(swaps) == 4
    for swap in swaps:
        after = (numbers < 2) & (numbers != swap.leaving) | (numbers == swap.entering)
        assert swap.change == pytest.approx(value(after) - before, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_chains_add_up(unit: list[int], seed: int) -> None:
    """After several swaps the tableau still says the truth, and ends where no swap helps."""
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    inside = np.isin(numbers, [*names[: len(names) // 2], -1])
    model = QuadraticSwapModel(hessian, linear, numbers, inside, np.zeros(max(names) + 1, dtype=bool), TUNING)
    start, support = value(hessian, linear, inside), inside
    chain = model.find_chain(50, 1e-12)
    for swap in chain:
        support = (support & (numbers != swap.leaving)) | (numbers == swap.entering)
    total = sum(swap.change for swap in chain)
    assert total == pytest.approx(value(hessian, linear, support) - start, abs=1e-9)
    final = QuadraticSwapModel(hessian, linear, numbers, support, np.zeros(max(names) + 1, dtype=bool), TUNING)
    assert final.find_best_swaps(1)[0].change >= -1e-10


def test_fixed_units_stay() -> None:
    hessian, linear, numbers = random_model(0, UNITS["coordinates"])
    fixed = np.zeros(8, dtype=bool)
    fixed[[0, 1]] = True
    model = QuadraticSwapModel(hessian, linear, numbers, numbers < 3, fixed, TUNING)
    assert {swap.leaving for swap in model.find_best_swaps(100)} == {2}


def test_duplicates_of_the_support_cannot_enter() -> None:
    hessian, linear, numbers = random_model(0, UNITS["coordinates"])
    hessian[:, 7], linear[7] = hessian[:, 0], linear[0]
    hessian[7] = hessian[:, 7]
    hessian[7, 7] = hessian[0, 0]
    model = QuadraticSwapModel(hessian, linear, numbers, numbers < 3, np.zeros(8, dtype=bool), TUNING)
    assert 7 not in {swap.entering for swap in model.find_best_swaps(100)}


def test_a_singular_support_still_gives_an_order() -> None:
    X = np.random.default_rng(0).standard_normal((3, 8))
    model = QuadraticSwapModel(
        X.T @ X, X.T @ np.ones(3), np.arange(8), np.arange(8) < 5, np.zeros(8, dtype=bool), TUNING
    )
    assert all(np.isfinite(swap.change) for swap in model.find_best_swaps(10))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_removals_are_those_of_backward_elimination(unit: list[int], seed: int) -> None:
    hessian, linear, numbers = random_model(seed, unit)
    names = [u for u in dict.fromkeys(unit) if u >= 0]
    fixed = np.isin(np.arange(max(names) + 1), names[:1])
    inside = np.ones(len(unit), dtype=bool)
    removed = QuadraticSwapModel(hessian, linear, numbers, inside, fixed, TUNING).find_removals(len(names) - 2)
    for unit_removed in removed:
        costs = {
            u: value(hessian, linear, inside & (numbers != u)) for u in names[1:] if (inside & (numbers == u)).any()
        }
        assert unit_removed == min(costs, key=lambda u: costs[u])
        inside &= numbers != unit_removed
    assert len(removed) == len(names) - 2
