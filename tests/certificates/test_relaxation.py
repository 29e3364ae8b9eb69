"""The proximal step and the conjugate of the perspective, against general optimization."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from ksparse._types import Array
from ksparse.certificates.moved_curvature import find_least_eigenvalue, find_sparse_curvature
from ksparse.certificates.relaxation import Fixings, Perspective
from ksparse.objectives import Loss
from ksparse.objectives.losses import (
    HuberLoss,
    LogisticLoss,
    NegativeBinomialLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
    TweedieLoss,
)


def make_perspective(rng: np.random.Generator, p: int, k: int, bounded: bool) -> Perspective:
    nothing = np.zeros(p, dtype=bool)
    limits = np.where(rng.random(p) < 0.7, rng.uniform(0.1, 1.0, p), np.inf) if bounded else np.full(p, np.inf)
    ridge = rng.uniform(0.1, 2.0, p)
    return Perspective(np.arange(p), Fixings(nothing, nothing), k, ridge, -limits, limits)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # of SciPy before 1.13, within rounding
def test_the_proximal_step_is_the_minimizer(seed: int, bounded: bool) -> None:
    rng = np.random.default_rng(seed)
    p, k = 6, int(rng.integers(1, 5))
    perspective = make_perspective(rng, p, k, bounded)
    x, steps = rng.standard_normal(p), rng.uniform(0.3, 2.0, p)

    def value(w: Array, z: Array) -> float:
        return float(np.sum(0.5 * perspective.ridge * w**2 / z + (w - x) ** 2 / (2 * steps)))

    found, z, _ = perspective.step(x, steps)
    assert z.sum() <= k + 1e-9
    bound = np.minimum(perspective.upper, 1e3)
    assert (np.abs(found) <= bound * z + 1e-9).all()
    constraints = [
        {"type": "ineq", "fun": lambda v: k - v[p:].sum()},
        {"type": "ineq", "fun": lambda v: bound * v[p:] - v[:p]},
        {"type": "ineq", "fun": lambda v: bound * v[p:] + v[:p]},
    ]
    best = minimize(
        lambda v: value(v[:p], v[p:]),
        np.append(0.01 * np.sign(x), np.full(p, k / p)),
        bounds=[(None, None)] * p + [(1e-6, 1.0)] * p,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert best.success
    assert value(found, np.maximum(z, 1e-12)) <= best.fun + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_conjugate_is_the_largest_of_all_supports(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, k = 6, 3
    perspective = make_perspective(rng, p, k, bounded=True)
    v = 2.0 * rng.standard_normal(p)
    grid = np.clip(v / perspective.ridge, perspective.lower, perspective.upper)
    scores = v * grid - 0.5 * perspective.ridge * grid**2
    largest = max(scores[list(chosen)].sum() for chosen in combinations(range(p), k))
    found = perspective.add_scores(perspective.score(v, np.zeros(p)))
    assert largest <= found <= largest * (1 + 1e-13)
    wider = perspective.add_scores(perspective.score(v, np.full(p, 1e-3)))
    for _ in range(20):
        moved = v + rng.uniform(-1e-3, 1e-3, p)
        assert perspective.add_scores(perspective.score(moved, np.zeros(p))) <= wider


@pytest.mark.parametrize("seed", range(5))
def test_curvature_is_below_the_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((40, 8))
    matrix = factor.T @ factor / 40
    least = find_least_eigenvalue(matrix, 1e-13)
    exact = np.linalg.eigvalsh(matrix)[0]
    assert 0.99 * exact <= least <= exact
    for k in (1, 2, 3):
        curvature = find_sparse_curvature(matrix, k)
        for chosen in combinations(range(8), k):
            block = matrix[np.ix_(chosen, chosen)] - np.diag(curvature[list(chosen)])
            assert np.linalg.eigvalsh(block)[0] >= -1e-12


def test_singular_matrices_have_no_curvature() -> None:
    factor = np.random.default_rng(0).standard_normal((5, 8))
    assert find_least_eigenvalue(factor.T @ factor, 1e-12) == 0.0
    large = np.random.default_rng(0).standard_normal((600, 450))
    matrix = large.T @ large / 600
    exact = np.linalg.eigvalsh(matrix)[0]
    assert 0.9 * exact <= find_least_eigenvalue(matrix, 1e-12) <= exact


LOSSES = [
    (SquaredLoss(), 0.7),
    (LogisticLoss(), -1.0),
    (PoissonLoss(), 3.0),
    (PoissonLoss(), 0.0),
    (HuberLoss(1.2), 0.4),
    (SquaredHingeLoss(), 1.0),
    (QuantileLoss(0.3, 0.5), 0.4),
    (TweedieLoss(1.0), 2.0),
    (TweedieLoss(1.4), 2.0),
    (TweedieLoss(1.4), 0.0),
    (TweedieLoss(2.0), 2.0),
    (NegativeBinomialLoss(0.7), 4.0),
    (NegativeBinomialLoss(0.0), 4.0),
]


@pytest.mark.parametrize(("loss", "target"), LOSSES)
def test_conjugates_are_suprema(loss: Loss, target: float) -> None:
    """Fenchel's inequality at all margins, with equality at the margin that has the slope."""
    margins = np.linspace(-6.0, 6.0, 1201)
    y = np.full(margins.size, target)
    values, slopes = loss.value(margins, y), loss.slope(margins, y)
    conjugates = loss.conjugate(slopes, y)
    assert conjugates is not None
    np.testing.assert_allclose(conjugates, slopes * margins - values, rtol=1e-10, atol=1e-10)
    for a, conjugate in zip(slopes[::100], conjugates[::100], strict=True):
        assert (a * margins - values <= conjugate + 1e-10).all()


def test_conjugates_are_infinite_outside_their_domain() -> None:
    for loss, target, slope in [
        (LogisticLoss(), 1.0, 0.1),
        (LogisticLoss(), 1.0, -1.1),
        (PoissonLoss(), 2.0, -2.1),
        (HuberLoss(1.0), 0.0, 1.1),
        (SquaredHingeLoss(), 1.0, 0.1),
        (QuantileLoss(0.3), 0.0, -0.31),
        (TweedieLoss(2.0), 1.0, 1.1),
        (TweedieLoss(1.5), 0.0, -0.1),
        (NegativeBinomialLoss(0.5), 1.0, 2.1),
    ]:
        conjugate = loss.conjugate(np.array([slope]), np.array([target]))
        assert conjugate is not None
        assert conjugate[0] == np.inf, loss
