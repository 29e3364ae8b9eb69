"""Condition C: its constants against their definition, its bounds against the paper's formulas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ksparse.objectives import Logistic
from ksparse.theory import ConditionC, logistic_condition, restricted_eigenvalues


def test_restricted_eigenvalues() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 7))
    H = X.T @ X
    blocks = [np.linalg.eigvalsh(H[np.ix_(F, F)]) for F in map(list, combinations(range(7), 3))]
    smallest, largest = restricted_eigenvalues(H, 3)
    assert smallest == pytest.approx(min(e[0] for e in blocks))
    assert largest == pytest.approx(max(e[-1] for e in blocks))
    assert restricted_eigenvalues(H, 100) == pytest.approx((np.linalg.eigvalsh(H)[0], np.linalg.eigvalsh(H)[-1]))
    with pytest.raises(ValueError, match="supports of size 20"):
        restricted_eigenvalues(np.eye(60), 20)


def test_the_quadratic_constants_satisfy_the_definition_and_are_sharp() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 6))
    H = X.T @ X / 30
    s = 3
    condition = ConditionC.from_hessian(*restricted_eigenvalues(H, s))
    norms = []
    for F in map(list, combinations(range(6), s)):
        norms.append(np.linalg.norm(np.eye(s) - condition.zeta * H[np.ix_(F, F)], 2))
    assert max(norms) == pytest.approx(condition.rho)


@pytest.mark.parametrize("seed", range(5))
def test_the_logistic_constants_satisfy_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 6))
    objective = Logistic(X, X[:, 0] > 0, alpha=0.5)
    condition = logistic_condition(X, 0.5, s=2)
    for _ in range(50):
        F = rng.choice(6, 2, replace=False)
        x, y = np.zeros(6), np.zeros(6)
        x[F], y[F] = rng.standard_normal(2), rng.standard_normal(2)
        change = objective.evaluate(x).gradient[F] - objective.evaluate(y).gradient[F]
        assert np.linalg.norm(x[F] - y[F] - condition.zeta * change) <= condition.rho * np.linalg.norm(x - y)


def test_rates_and_bounds_are_the_papers() -> None:
    condition, step = ConditionC(zeta=2.0, rho=0.1), 1.9
    ratio = step / 2.0
    first = np.sqrt(2) * (1 - ratio + (2 - ratio) * 0.1) / 0.9
    second = 2 * (1 - ratio + (2 - ratio) * 0.1)
    assert condition.step_limit == pytest.approx(2.0 / 1.1)
    assert condition.grahtp_rate(step) == pytest.approx(first)
    assert condition.fgrahtp_rate(step) == pytest.approx(second)
    bound = condition.grahtp_bound(step, [0, 1, 2], 3.0, 0.5)
    np.testing.assert_allclose(bound, first ** np.arange(3) * 3 + (2 * step + 2) / ((1 - first) * 0.9) * 0.5)
    bound = condition.fgrahtp_bound(step, 3, 3.0, 0.5)
    assert bound == pytest.approx(second**3 * 3 + 2 * step / (1 - second) * 0.5)


def test_lemma_1b() -> None:
    condition = ConditionC.from_convexity(m=1.0, M=2.0)
    assert condition.zeta == pytest.approx(0.25)
    assert condition.rho == pytest.approx(np.sqrt(1 - 2 * 0.25 + 0.25**2 * 4))
    assert condition.step_limit < 0.25


def test_what_does_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="rho must satisfy 0 <= rho < 1"):
        ConditionC(1.0, 1.0)
    with pytest.raises(ValueError, match="zeta must be finite and greater than 0"):
        ConditionC(0.0, 0.5)
    with pytest.raises(ValueError, match="Lemma 1"):
        ConditionC.from_convexity(1.0, 2.0, zeta=0.6)
    with pytest.raises(ValueError, match="a rate below 1"):
        ConditionC(1.0, 0.9).grahtp_bound(0.9, 1, 1.0, 1.0)
    with pytest.raises(ValueError, match="0 < step < zeta"):
        ConditionC(1.0, 0.1).grahtp_bound(1.5, 1, 1.0, 1.0)
