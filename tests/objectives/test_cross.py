"""The Hessian between a support and candidates: the blocks of the full Hessian, however the columns are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ksparse._types import IntArray
from ksparse.objectives import (
    Function,
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Quadratic,
    Quantile,
    SquaredHinge,
)
from ksparse.objectives.protocols import HasCrossHessian
from tests.designs.storage import FORMS, STORAGES, N, P, set_storage, values
from tests.designs.test_protocol import SETS

MODELS: dict[str, Any] = {
    "least squares": (LeastSquares, lambda m: m),
    "logistic": (Logistic, lambda m: m > np.median(m)),
    "poisson": (Poisson, lambda m: np.round(np.exp(np.clip(m, -2, 2)))),
    "huber": (Huber, lambda m: 2.0 * m),
    "hinge": (SquaredHinge, lambda m: m > np.median(m)),
    "gamma": (Gamma, lambda m: np.exp(np.clip(m, -2, 2))),
    "negative binomial": (NegativeBinomial, lambda m: np.round(np.exp(np.clip(m, -2, 2)))),
    "quantile": (Quantile, lambda m: 2.0 * m),
}


def index(columns: Any) -> IntArray:
    return np.array(columns, dtype=np.intp)


def objective(model: str, form: str, weighted: bool, intercept: bool) -> Any:
    """A model of the data in some form, as solvers work with it."""
    rng = np.random.default_rng(3)
    X = values()
    kind, encode = MODELS[model]
    y = encode(X[:, [2, 8, 17]] @ [1.0, -0.7, 1.5] + rng.standard_normal(N))
    weight = rng.integers(0, 3, N) if weighted else None
    return kind(FORMS[form](X), y, alpha=0.05, sample_weight=weight, fit_intercept=intercept).working_form().objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("form", "way"), STORAGES)
@pytest.mark.parametrize("model", MODELS)
def test_blocks_of_the_full_hessian(
    model: str, form: str, way: str, weighted: bool, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_storage(monkeypatch, way)
    f = objective(model, form, weighted, intercept)
    whole = f.restrict(np.ones(f.shape, dtype=bool))
    rng = np.random.default_rng(4)
    for some, others in SETS.values():
        inside = np.sort([*some, *[P] * intercept]).astype(np.intp)
        x = np.zeros(f.shape)
        x[inside] = 0.3 * rng.standard_normal(inside.size)
        point = f.evaluate(x)
        full = whole.hessian(whole.evaluate(x))
        support = np.isin(np.arange(f.size), inside)
        cross, diagonal = f.cross_hessian(point, point.restrict(support), np.flatnonzero(support), index(others))
        assert_allclose(cross, full[np.ix_(inside, index(others))], rtol=1e-9, atol=1e-10)
        assert_allclose(diagonal, full.diagonal()[index(others)], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("form", "way"), STORAGES)
def test_constant_candidates_have_the_curvature_of_the_ridge(
    form: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_storage(monkeypatch, way)
    X = values()
    X[:, 4], X[:, 20] = 3.0, 0.0
    f = LeastSquares(FORMS[form](X), X[:, 0], alpha=0.05, fit_intercept=True).working_form().objective
    assert isinstance(f, HasCrossHessian)
    point = f.evaluate(np.zeros(f.shape))
    support = np.isin(np.arange(f.size), [1, 2, P])
    cross, diagonal = f.cross_hessian(point, point.restrict(support), np.flatnonzero(support), index([20, 4]))
    assert_allclose(cross, 0.0, atol=1e-12)
    assert_allclose(diagonal, 0.05, rtol=1e-10)


def test_only_vectors_of_coefficients_have_it() -> None:
    """The protocol is for vectors: a matrix of coefficients counts rows, by which solvers know it."""
    X = values()
    assert LeastSquares(X, X[:, 0]).unit_kind == "entries"
    assert Multinomial(X, np.arange(N) % 3).unit_kind == "rows"
    assert LeastSquares(X, X[:, :2]).unit_kind == "rows"
    for other in (Quadratic(np.eye(2), np.ones(2)), Function(np.sum, np.ones_like, shape=2)):
        assert not isinstance(other, HasCrossHessian)


@pytest.mark.parametrize(("model", "intercept", "passes"), [("least squares", False, 1), ("logistic", True, 2)])
@pytest.mark.parametrize("way", ["gathered", "by passes"])
def test_passes_over_all_columns_are_counted(
    model: str, intercept: bool, passes: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the products and the sums of an intercept, and one for the squares, which least squares knows."""
    set_storage(monkeypatch, way)
    f = objective(model, "C order", False, intercept)
    point = f.evaluate(np.zeros(f.shape))
    f.curvature(point)
    before = f.counters.passes
    support = np.isin(np.arange(f.size), [1, 2, *[P] * intercept])
    f.cross_hessian(point, point.restrict(support), np.flatnonzero(support), index([20, 4]))
    assert f.counters.passes - before == (passes if way == "by passes" else 0)
