"""Functions of JAX that are quadratic: how they are recognized, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.objectives import LeastSquares, from_jax, from_torch
from ksparse.objectives.autodiff.quadratic_form import HessianRows, QuadraticForm
from ksparse.objectives.protocols import working_form
from ksparse.sparsity import Entries
from tests.problems import design

N, P = 40, 30
X = design(n=N, p=P)
Y = X[:, 3] - 2 * X[:, 8] + 0.3 * np.sin(np.arange(N))

QUADRATIC: dict[str, Callable[[Any], Any]] = {
    "mean of squares": lambda w: jnp.mean((Y - X @ w) ** 2),
    "jnp.square": lambda w: jnp.sum(jnp.square(Y - X @ w)),
    "inner product": lambda w: (Y - X @ w) @ (Y - X @ w),
    "quadratic form": lambda w: w @ (X.T @ X) @ w - jnp.sum(w),
    "cumulative sums": lambda w: jnp.sum((np.arange(P) - jnp.cumsum(w)) ** 2),
    "scattered": lambda w: jnp.sum((jnp.zeros(2 * P).at[np.arange(P)].set(w) - 1) ** 2),
    "variance": lambda w: jnp.var(Y - X @ w),
    "ridge": lambda w: jnp.mean((Y - X @ w) ** 2) + 0.1 * jnp.vdot(w, w),
    "jitted": jax.jit(lambda w: jnp.mean((Y - X @ w) ** 2)),
    "convolved": lambda w: jnp.sum((jnp.convolve(w, Y[:5]) - 1) ** 2),
    "gathered": lambda w: jnp.sum((w[np.arange(P)[::-1]] - w[0]) ** 2 / 3.0) + jnp.vdot(w, w),
    "differences": lambda w: jnp.sum(jnp.diff(w) ** 2) + jnp.sum((w - 1) ** 2),
    "mapped": lambda w: jnp.mean(jax.vmap(lambda row, y: (row @ w - y) ** 2)(X, Y)),
}
OTHER: dict[str, Callable[[Any], Any]] = {
    "logistic": lambda w: jnp.mean(jnp.logaddexp(0.0, -Y * (X @ w))),
    "Huber": lambda w: jnp.sum(jnp.where(jnp.abs(w) < 9, w**2, jnp.abs(w))),
    "absolute": lambda w: jnp.sum((Y - X @ jnp.abs(w)) ** 2),
    "absolute residuals": lambda w: jnp.mean(jnp.abs(Y - X @ w)),
    "hinge": lambda w: jnp.mean(jnp.maximum(0.0, 1 - Y * (X @ w))),
    "rectified": lambda w: jnp.sum((Y - X @ jax.nn.relu(w)) ** 2),
    "sorted": lambda w: jnp.sum(jnp.sort(w) * np.arange(P)) + jnp.sum(w**2),
    "rounded": lambda w: jnp.sum((w - jnp.round(w)) ** 2),
    "single precision": lambda w: jnp.sum((Y - X @ w.astype(jnp.float32)) ** 2).astype(jnp.float64),
    "cubic": lambda w: jnp.sum(w**2) + 1e-9 * jnp.sum(w**3),
    "clipped": lambda w: jnp.sum(jnp.clip(w, -9, 9) ** 2),
    "jitted": jax.jit(lambda w: jnp.sum(jnp.cosh(w))),
    "loop": lambda w: jax.lax.fori_loop(0, 2, lambda _, total: total * w[0] + jnp.sum(w**2), 1.0),
}


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratics_are_recognized(name: str) -> None:
    objective = from_jax(QUADRATIC[name], P)
    form = working_form(objective).objective
    assert isinstance(form, QuadraticForm)
    rng = np.random.default_rng(0)
    support = np.isin(np.arange(P), [3, 8, 20])
    x = np.where(support, rng.standard_normal(P), 0.0)
    last = np.array([False, True, True])
    pairs: list[tuple[Any, Any, Any]] = [
        (x, form, objective),
        (rng.standard_normal(P), form, objective),
        (x[support], form.restrict(support), objective.restrict(support)),
        (x[support][1:], form.restrict(support).restrict(last), objective.restrict(support).restrict(last)),
    ]
    for at, a, b in pairs:
        here, there = a.evaluate(at), b.evaluate(at)
        assert here.value == pytest.approx(there.value, rel=1e-12)
        assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-10)
        assert_allclose(a.hessian(here), b.hessian(there), rtol=1e-10, atol=1e-12)
        direction = rng.standard_normal(at.size)
        assert_allclose(a.hessian_operator(here) @ direction, b.hessian(there) @ direction, rtol=1e-9, atol=1e-10)
        assert_allclose(a.curvature(here), np.maximum(np.diag(b.hessian(there)), 1e-12), rtol=1e-6)


@pytest.mark.parametrize("name", OTHER)
def test_other_functions_are_not_taken_for_quadratics(name: str) -> None:
    assert not isinstance(working_form(from_jax(OTHER[name], P)).objective, QuadraticForm)


def test_what_cannot_be_examined_stays_as_it_is() -> None:
    for objective in (
        from_jax(QUADRATIC["variance"], P, jit=False),
        from_torch(lambda w: (w**2).sum(), P),
        from_jax(lambda w: jnp.sum((w / 0.0) ** 2), P),
    ):
        assert working_form(objective).objective is objective


def test_a_minimum_is_as_accurate_as_that_of_the_residuals() -> None:
    """Where the columns are almost collinear, and where nothing is left of f."""
    columns = X[:, :6] + 1e5 * X[:, [0]]
    for noise in (0.0, 1.0):
        y = columns @ [1.0, 0.0, -2.0, 0.0, 1.0, 0.5] + noise * Y
        result = ksparse.minimize(from_jax(lambda w, y=y: jnp.sum((y - columns @ w) ** 2), 6), k=6)
        exact = np.linalg.lstsq(columns, y, rcond=None)[0]
        assert result.value <= (1 + 1e-10) * np.sum((y - columns @ exact) ** 2) + 1e-16 * np.sum(y**2)
        assert_allclose(result.x, exact, rtol=1e-6, atol=1e-6)


def test_bounds_free_parameters_and_their_start() -> None:
    expected = ksparse.minimize(LeastSquares(X, Y, fit_intercept=True), sparsity=Entries(3, lower=0.0))
    start = {"w": np.zeros(P), "b": 7.0}
    objective = from_jax(lambda q: 0.5 * jnp.mean((Y - X @ q["w"] - q["b"]) ** 2), start, sparse="w")
    assert isinstance(working_form(objective).objective, QuadraticForm)
    found = ksparse.minimize(objective, sparsity=Entries(3, lower=0.0))
    assert_array_equal(found.selected, expected.selected)
    assert_allclose(found.x, expected.x, atol=1e-9)


def test_many_coordinates_have_the_mean_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.objectives.autodiff.quadratic_form.MAX_DIAGONAL_SIZE", 5)
    objective = from_jax(QUADRATIC["mean of squares"], P)
    form = working_form(objective).objective
    slopes, hessian = form.evaluate(np.zeros(P)).gradient, 2 / N * X.T @ X
    assert_allclose(form.curvature(form.evaluate(np.ones(P))), slopes @ hessian @ slopes / (slopes @ slopes), rtol=1e-9)
    assert_array_equal(ksparse.minimize(objective, k=2).selected, [3, 8])


def test_rows_of_the_hessian_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, asked = np.arange(16.0).reshape(4, 4), []

    def compute(coordinates: Any) -> Any:
        asked.append(coordinates.tolist())
        return matrix[coordinates]

    rows = HessianRows(4, compute)
    assert_array_equal(rows.get(np.array([2, 0])), matrix[[2, 0]])
    assert_array_equal(rows.get(np.array([0, 1, 2])), matrix[:3])
    assert asked == [[2, 0], [1]]
    monkeypatch.setattr("ksparse.objectives.autodiff.quadratic_form.MAX_KEPT_NUMBERS", 15)
    assert_array_equal(rows.get(np.array([3, 0])), matrix[[3, 0]])  # there is no room for a fourth row
    assert_array_equal(rows.get(np.array([0, 1])), matrix[[0, 1]])
    assert asked == [[2, 0], [1], [3, 0], [1]]
