"""Trial refits: short ones do not change what is found, and never end in L-BFGS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.debias import Exact, exact
from ksparse.objectives import Logistic
from ksparse.solvers import SwapGraHTP
from ksparse.solvers.swap.tuning import SwapTuning


def test_short_refits_of_a_search_do_not_end_in_lbfgs(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short they are: only the last refit must reach its minimum."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("L-BFGS was called")

    monkeypatch.setattr(exact, "minimize_lbfgs", refuse)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 100))
    objective = Logistic(X, X[:, :5].sum(axis=1) + rng.standard_normal(80) > 0, alpha=0.01)
    tuning = replace(
        SwapTuning(),
        loose_refit=Exact(tol=1e-9),
        first_refit_steps=1,
        pursuit_refit_steps=1,
        swap_refit_steps=1,
    )
    short = type("Short", (SwapGraHTP,), {"tuning": tuning})()
    found = ksparse.minimize(objective, k=5, solver=short)
    assert found.value == pytest.approx(ksparse.minimize(objective, k=5).value, rel=1e-10)
