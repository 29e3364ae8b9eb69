"""Condition C: its constants against their definition, its bounds against the paper's formulas."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ksparse._types import Array
from ksparse.objectives import LogDet, Logistic
from ksparse.theory import ConditionC, bracket_curvature, logdet_condition, logistic_condition, restricted_eigenvalues


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


def test_the_constants_of_the_hessian_satisfy_the_definition() -> None:
    """For a loss that is not quadratic: ρ = (M − m)/(M + m), which is far below that of Lemma 1 and Proposition 1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    objective, s = Logistic(X, X[:, 0] > 0, alpha=0.2), 3
    found = bracket_curvature(objective, s)
    condition = ConditionC.from_hessian(found.smallest.low, found.largest.high)
    assert condition.rho < ConditionC.from_convexity(found.smallest.low, found.largest.high).rho
    ratios = []
    for _ in range(300):
        F = rng.choice(6, s, replace=False)
        x, y = np.zeros(6), np.zeros(6)
        x[F] = 10 ** rng.uniform(-2, 2) * rng.standard_normal(s)
        y[F] = x[F] + 10 ** rng.uniform(-2, 2) * rng.standard_normal(s)
        change = objective.evaluate(x).gradient[F] - objective.evaluate(y).gradient[F]
        ratios.append(np.linalg.norm(x[F] - y[F] - condition.zeta * change) / np.linalg.norm(x - y))
    assert max(ratios) <= condition.rho * (1 + 1e-12)
    assert max(ratios) > 0.9 * condition.rho


@pytest.mark.parametrize("seed", range(5))
def test_proposition_3(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, bounds = 5, (0.6, 1.5)
    objective, condition = LogDet(np.eye(p), bounds=bounds), logdet_condition(bounds)
    assert condition.zeta == pytest.approx(bounds[0] ** 4 / bounds[1] ** 2)
    ratio = (bounds[0] / bounds[1]) ** 4
    assert condition.rho == pytest.approx(np.sqrt(1 - ratio))
    for _ in range(50):
        x, y = (draw_within(bounds, p, rng) for _ in range(2))
        change = objective.evaluate(x).gradient - objective.evaluate(y).gradient
        assert np.linalg.norm(x - y - condition.zeta * change) <= condition.rho * np.linalg.norm(x - y) * (1 + 1e-12)


def draw_within(bounds: tuple[float, float], p: int, rng: np.random.Generator) -> Array:
    """A random symmetric matrix whose eigenvalues are within the bounds."""
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return (Q * rng.uniform(*bounds, p)) @ Q.T


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.2, 0.4, 0.414, 0.45, 0.499])
def test_the_ranges_of_steps_are_where_the_rates_are_below_1(rho: float) -> None:
    """Inequality (3.2), and the one for FGraHTP, against the rates on a grid."""
    condition = ConditionC(zeta=1.7, rho=rho)
    grid = np.linspace(0, condition.zeta, 20_001)[1:-1]
    for steps, rate in (
        (condition.find_grahtp_steps(), condition.grahtp_rate),
        (condition.find_fgrahtp_steps(), condition.fgrahtp_rate),
    ):
        below = np.array([rate(step) < 1 for step in grid])
        inside = np.zeros_like(below) if steps is None else (grid > steps[0]) & (grid < steps[1])
        assert (below != inside).sum() <= 1  # a grid point at the end, up to rounding
    assert (condition.find_grahtp_steps() is None) == (rho >= 1 / (1 + np.sqrt(2)))
    assert ConditionC(1.0, 0.5).find_fgrahtp_steps() is None


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
    with pytest.raises(ValueError, match="needs 0 < m <= M"):
        ConditionC.from_hessian(0.0, 1.0)
    with pytest.raises(ValueError, match="Proposition 3 needs bounds"):
        logdet_condition((0.0, 1.0))
    assert ConditionC.from_convexity(1e-20, 1.0).rho < 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.95])
def test_lemma_1_holds_for_random_points(seed: int, fraction: float) -> None:
    """(b): a strongly convex and smooth f satisfies the definition if ζ < 2m/M²; (a): then its inequalities hold."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6))
    objective, s = Logistic(X, X[:, 0] + rng.standard_normal(30) > 0, alpha=0.5), 3
    found = bracket_curvature(objective, s)
    m, M = found.smallest.low, found.largest.high
    condition = ConditionC.from_convexity(m, M, zeta=fraction * 2 * m / M**2)
    assert condition.rho == pytest.approx(np.sqrt(1 - 2 * condition.zeta * m + condition.zeta**2 * M**2))
    for _ in range(50):
        F = rng.choice(6, s, replace=False)
        x, y = np.zeros(6), np.zeros(6)
        x[F], y[F] = 3 * rng.standard_normal(s), 3 * rng.standard_normal(s)
        here, there = objective.evaluate(x), objective.evaluate(y)
        distance = np.linalg.norm(x - y)
        change = here.gradient[F] - there.gradient[F]
        assert np.linalg.norm(x[F] - y[F] - condition.zeta * change) <= condition.rho * distance
        assert (1 - condition.rho) / condition.zeta <= np.linalg.norm(change) / distance
        assert np.linalg.norm(change) / distance <= (1 + condition.rho) / condition.zeta
        above = there.gradient @ (x - y) + (1 + condition.rho) / (2 * condition.zeta) * distance**2
        assert here.value <= there.value + above
