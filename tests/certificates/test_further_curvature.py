"""Certificates by the best diagonal and by curvature on the level set, and their independent check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import ksparse
from ksparse.certificates import InvalidCertificateError, LevelSetDual, QuadraticDual, verify
from ksparse.certificates.bounding import BoundedProblem
from ksparse.objectives import Gamma, Huber, LeastSquares, Logistic, NegativeBinomial, Poisson, SquaredHinge

from .enumeration import draw_case

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 12))
for column in range(1, 12):
    X[:, column] = 0.6 * X[:, column - 1] + 0.8 * X[:, column]
SIGNAL = 0.5 * X[:, [1, 4, 7, 10]].sum(axis=1)
LABELS = RNG.random(300) < 1.0 / (1.0 + np.exp(-SIGNAL))
COUNTS = RNG.poisson(np.exp(0.5 * SIGNAL))
NOISY = SIGNAL + 1.5 * RNG.standard_normal(300)
#: Few samples with much noise, where the least eigenvalue is not enough.
FEW = np.arange(300) < 40
LOSSES: list[Any] = [(Logistic, LABELS), (Poisson, COUNTS), (NegativeBinomial, COUNTS), (Huber, NOISY)]


def find_level_stage(certificate: Any) -> int:
    """The first stage with curvature on the level set."""
    return next(i for i, stage in enumerate(certificate.stages) if isinstance(stage.dual, LevelSetDual))


@pytest.mark.parametrize(("kind", "y"), [*LOSSES, (SquaredHinge, LABELS), (LeastSquares, NOISY)])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_more_curvature_gives_a_better_bound_which_is_checked(kind: Any, y: Any, fit_intercept: bool) -> None:
    """Also with weights, offsets, and one more time with the best subset proved by branch and bound."""
    rng = np.random.default_rng(1)
    weights, offset = rng.integers(0, 4, 300), 0.2 * rng.standard_normal(300)
    rows = FEW if kind is LeastSquares else ~FEW
    for given in ({}, {"sample_weight": weights[rows], "offset": offset[rows]}):
        objective = kind(X[rows], y[rows], alpha=1e-3, fit_intercept=fit_intercept, **cast(Any, given))
        result = ksparse.minimize(objective, 4)
        certificate = result.certificate()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BoundedProblem, "is_further_cheap", lambda *_: False)
            plain = result.certificate()
            effort = result.certificate(effort=1)
        assert effort.lower_bound == certificate.lower_bound
        assert certificate.gap < 0.95 * plain.gap
        assert certificate.lower_bound <= ksparse.solve_exact(objective, 4).value + 1e-9
        assert verify(certificate, objective, x=result.x) >= certificate.lower_bound - 1e-9


def test_the_best_diagonal_has_the_curvature_that_there_is() -> None:
    objective = LeastSquares(X[FEW], NOISY[FEW], alpha=1e-3)
    certificate = ksparse.minimize(objective, 4).certificate()
    curvatures = [cast(QuadraticDual, stage.dual).curvature for stage in certificate.stages]
    stage = next(i for i, curvature in enumerate(curvatures) if np.ptp(curvature[curvature > 0]) > 0.1)
    dual = cast(QuadraticDual, certificate.stages[stage].dual)
    stages = list(certificate.stages)
    stages[stage] = replace(stages[stage], dual=replace(dual, curvature=1.01 * dual.curvature))
    with pytest.raises(InvalidCertificateError, match="less curvature than the certificate moves"):
        verify(replace(certificate, stages=tuple(stages)), objective)


@pytest.mark.parametrize(("kind", "y"), LOSSES)
def test_false_claims_about_the_level_set_are_found_out(kind: Any, y: Any) -> None:
    objective = kind(X, y, alpha=1e-3, fit_intercept=True)
    certificate = ksparse.minimize(objective, 4).certificate()
    number = find_level_stage(certificate)
    stage = certificate.stages[number]
    dual = cast(LevelSetDual, stage.dual)
    first = np.arange(300) == 0
    more = r"may move by more|moves of their margins"
    forged: list[tuple[Any, str]] = [
        ({"moves": 0.5 * dual.moves}, more),
        ({"moves": np.where(first, -1.0, dual.moves)}, "a move is not above 0"),
        ({"moves": 1e3 * dual.moves}, "a sample has less curvature"),
        ({"sample_curvature": 1.01 * dual.sample_curvature}, "a sample has less curvature"),
        ({"sample_curvature": np.where(first, -1.0, dual.sample_curvature)}, "a curvature below it"),
        ({"sample_curvature": 0.0 * dual.sample_curvature}, more),
        ({"curvature": 2.0 * dual.curvature}, "less curvature than the certificate moves"),
        ({"curvature": -dual.curvature}, "has an entry below 0"),
        ({"slopes": dual.slopes + 0.01}, "do not sum to zero"),
        ({"mean_margin": dual.mean_margin + 1.0}, rf"{more}|a sample has less|is too high"),
        ({"mean_margin": np.nan}, "must be finite numbers"),
        ({"center": dual.center + 1.0}, rf"{more}|a sample has less|is too high"),
        ({"point": np.append(dual.point, 0.0)}, "other data"),
        ({"moves": np.where(first, np.nan, dual.moves)}, "must be finite numbers"),
    ]
    for changes, problem in forged:
        stages = list(certificate.stages)
        stages[number] = replace(stage, dual=replace(dual, **changes))
        with pytest.raises(InvalidCertificateError, match=problem):
            verify(replace(certificate, stages=tuple(stages)), objective)
    stages = [*certificate.stages[:number], replace(stage, bound=stage.bound + 1e-6 * certificate.value)]
    with pytest.raises(InvalidCertificateError, match="is too high"):
        verify(replace(certificate, stages=tuple(stages)), objective)


def test_a_level_set_of_more_solutions_is_another_one() -> None:
    """What holds for all solutions that are not worse than one says nothing of others."""
    objective = Logistic(X, LABELS, alpha=1e-3, fit_intercept=True)
    certificate = ksparse.minimize(objective, 4).certificate()
    with pytest.raises(InvalidCertificateError, match="may move by more"):
        verify(replace(certificate, value=1.1 * certificate.value), objective)


def test_losses_whose_curvature_is_not_known_between_margins_are_refused() -> None:
    objective = Gamma(X, 1.0 + COUNTS, alpha=1e-3)
    certificate = ksparse.minimize(objective, 4).certificate()
    stage, nothing, rows = certificate.stages[0], np.zeros(12), np.ones(300)
    dual = LevelSetDual(cast(Any, stage.dual), nothing, 0.0, rows, 0.0 * rows, nothing, nothing)
    with pytest.raises(InvalidCertificateError, match="nothing is known of the curvature of TweedieLoss"):
        verify(replace(certificate, stages=(replace(stage, dual=dual),)), objective)


def test_effort_is_0_or_1() -> None:
    result = ksparse.minimize(Logistic(X, LABELS, alpha=0.1), 2)
    for effort in (2, True, None):
        with pytest.raises(ValueError, match="effort must be 0 or 1"):
            result.certificate(effort=cast(Any, effort))


@pytest.mark.parametrize("kind", ["logistic", "poisson", "huber", "hinge", "negative binomial"])
def test_small_problems_have_level_sets_in_other_units(kind: str) -> None:
    """The check is in the user's units, the search in others."""
    count = 0
    with np.errstate(all="ignore"):
        for seed in range(25):
            case = draw_case(kind, seed, ("plain", "always", "bounds")[seed % 3])
            result = ksparse.minimize(case.objective, sparsity=case.sparsity)
            certificate = result.certificate()
            verify(certificate, case.objective, case.sparsity, result.x)
            count += any(isinstance(stage.dual, LevelSetDual) for stage in certificate.stages)
    assert count >= 2
