"""Functions differentiated by JAX and PyTorch against the same objectives of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.diagnostics import check_objective
from ksparse.objectives.base import compute_hessian, compute_hessian_operator, curvature_along
from ksparse.sparsity import Rows
from tests.objectives.autodiff.models import MODELS, make_autodiff, make_own, make_with_intercept
from tests.problems import P

PACKAGES = ["jax", "torch"]
COLUMNS = {"all": False, "columns": True}


#: How many features: with few, functions of columns see all of them.
MANY = {"all": P, "columns": 60}


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_those_of_the_model(name: str, columns: str, package: str) -> None:
    p = MANY[columns]
    own, other = make_own(name, p=p), make_autodiff(name, package, COLUMNS[columns], p=p)
    rng = np.random.default_rng(0)
    support = rng.permutation(own.size).reshape(own.shape) < 6
    x = np.where(support, 0.3 * rng.standard_normal(own.shape), 0.0)
    for at, a, b in ((x, own, other), (x[support], own.restrict(support), other.restrict(support))):
        here, there = a.evaluate(at), b.evaluate(at)
        assert there.value == pytest.approx(here.value, rel=1e-12)
        assert_allclose(there.gradient, here.gradient, atol=1e-12)
    assert_allclose(compute_hessian(b, there), compute_hessian(a, here), atol=1e-12)
    direction = rng.standard_normal(b.size)
    assert_allclose(compute_hessian_operator(b, there) @ direction, compute_hessian(a, here) @ direction, atol=1e-11)


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_is_found(name: str, columns: str, package: str) -> None:
    p = MANY[columns]
    own, other = make_own(name, p=p), make_autodiff(name, package, COLUMNS[columns], p=p)
    sparsity: Any = {"sparsity": Rows(3)} if len(own.shape) == 2 else {"k": 3}
    expected, found = ksparse.minimize(own, **sparsity), ksparse.minimize(other, **sparsity)
    assert found.success
    assert_array_equal(found.support, expected.support)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert_allclose(found.x, expected.x, atol=1e-6)


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", ["logistic", "least squares", "multinomial"])
def test_a_free_intercept_is_a_parameter_of_its_own(name: str, columns: str, package: str) -> None:
    expected = ksparse.minimize(make_own(name, fit_intercept=True), 3)
    other = make_with_intercept(name, package, COLUMNS[columns])
    found = ksparse.minimize(other, 3)
    assert_array_equal(found.selected, expected.selected)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    parameters = other.unflatten(found.x)
    assert_allclose(parameters["w"], expected.x[:P], atol=1e-6)
    if name != "multinomial":  # a softmax does not see a shift of all intercepts
        assert_allclose(parameters["intercept"], expected.x[P], atol=1e-6)


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_derivatives_pass_the_check(columns: str, package: str) -> None:
    for objective in (make_autodiff("poisson", package, COLUMNS[columns]), make_with_intercept("logistic", package)):
        report = check_objective(objective)
        assert report.ok, report
        assert report.hessian_error < 1e-6


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_curvatures_are_the_diagonal_of_the_hessian(columns: str, package: str) -> None:
    p = MANY[columns]
    own = make_own("least squares", p=p)
    other = make_autodiff("least squares", package, COLUMNS[columns], p=p)
    x = np.where(np.arange(p) < 3, 1.0, 0.0)
    diagonal = np.diag(compute_hessian(own, own.evaluate(x)))
    assert_allclose(other.curvature(other.evaluate(x)), diagonal, rtol=1e-6)  # exact where f is quadratic
    support = np.arange(p) < 4
    restricted = other.restrict(support)
    assert_allclose(restricted.curvature(restricted.evaluate(x[support])), diagonal[support], rtol=1e-6)
    assert curvature_along(other.evaluate(x), x) == pytest.approx(curvature_along(own.evaluate(x), x), rel=1e-9)


@pytest.mark.parametrize("package", PACKAGES)
def test_curvatures_change_with_x(package: str) -> None:
    """Curvatures of a logistic model fall where its probabilities are near 0 and 1."""
    own, other = make_own("logistic"), make_autodiff("logistic", package)
    x = np.where(np.arange(P) < 3, 2.0, 0.0)
    ratio = other.curvature(other.evaluate(x)) / np.diag(compute_hessian(own, own.evaluate(x)))
    assert ratio.min() > 0.3
    assert ratio.max() < 3.0
    at_zero = other.curvature(other.evaluate(np.zeros(P)))
    assert other.curvature(other.evaluate(x)).mean() < 0.7 * at_zero.mean()


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_many_coordinates_have_the_mean_curvature(columns: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.objectives.autodiff.objective.MAX_CURVATURES", 5)
    monkeypatch.setattr("ksparse.objectives.autodiff.objective.MAX_CURVATURES_BY_COLUMN", 5)
    own, other = make_own("logistic"), make_autodiff("logistic", package, COLUMNS[columns])
    point = other.evaluate(np.zeros(P))
    along = point.gradient @ compute_hessian(own, own.evaluate(point.x)) @ point.gradient
    assert_allclose(other.curvature(point), along / (point.gradient @ point.gradient), rtol=1e-6)
    assert_array_equal(ksparse.minimize(other, 3).selected, ksparse.minimize(own, 3).selected)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_hessian_is_computed_in_batches(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.objectives.autodiff.objective.BATCHES", (2, 1))
    own, other = make_own("logistic"), make_autodiff("logistic", package)
    x = np.linspace(-1, 1, P)
    assert_allclose(other.hessian(other.evaluate(x)), compute_hessian(own, own.evaluate(x)), atol=1e-12)
