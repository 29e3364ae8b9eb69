"""Large supports are sketched before they are modelled: many exchanges at a time, only while f falls fast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.datasets import make_logistic
from ksparse.objectives import Logistic
from ksparse.solvers import swaps

N, K = 1000, 60
SKETCH = swaps.SwapGraHTP._sketch


def fitted(monkeypatch: pytest.MonkeyPatch, large: int, **options: Any) -> tuple[ksparse.Result, list[int]]:
    """A fit, and by how many units each sketch has changed the support."""
    sketches: list[int] = []

    def counted(solver: Any, problem: Any, current: Any, memory: Any) -> Any:
        following = SKETCH(solver, problem, current, memory)
        assert following.support is not None
        assert current.support is not None
        entered = following.support & ~current.support
        sketches.append(int(entered.sum()))
        assert following.point.value <= current.point.value
        assert int(following.support.sum()) == int(current.support.sum())
        return following

    monkeypatch.setattr(swaps, "LARGE", large)
    monkeypatch.setattr(swaps.SwapGraHTP, "_sketch", counted)
    X, y, _ = make_logistic(n=N, p=400, k=K)
    return ksparse.minimize(Logistic(X, y, alpha=1e-4), K, **options), sketches


def test_sketches_exchange_many_units_and_end_where_the_model_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, none = fitted(monkeypatch, large=1000)
    sketched, sketches = fitted(monkeypatch, large=K - 1)
    assert none == []
    assert sketches
    assert max(sketches) > 1
    assert sketched.status.success
    assert int(sketched.support.sum()) == K
    assert sketched.value <= 1.1 * plain.value


def test_a_sketch_that_gains_little_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swaps, "SKETCH_GAIN", np.inf)
    assert len(fitted(monkeypatch, large=K - 1)[1]) == 1


def test_a_search_that_goes_on_from_a_solution_does_not_sketch(monkeypatch: pytest.MonkeyPatch) -> None:
    _, once = fitted(monkeypatch, large=K - 1)
    with_effort, sketches = fitted(monkeypatch, large=K - 1, effort=1)
    assert with_effort.status.success
    assert sketches == once
