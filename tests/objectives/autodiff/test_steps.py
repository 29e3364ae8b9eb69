"""Functions of JAX with steps, whose gradient is zero where it exists: nothing of f is lost where it is recognized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import ksparse
from ksparse.objectives import from_jax
from ksparse.objectives.autodiff.quadratic_form import QuadraticForm
from ksparse.objectives.autodiff.separable_form import SeparableForm
from ksparse.objectives.protocols import working_form
from ksparse.sparsity import Entries
from tests.problems import design

N, P = 30, 8
X = design(n=N, p=P)
Y = X[:, 3] - 2 * X[:, 5] + 0.3 * np.sin(np.arange(N))

SMOOTH: dict[str, Callable[[Any], Any]] = {
    "squares": lambda w: jnp.mean((Y - X @ w) ** 2),
    "logistic": lambda w: jnp.mean(jnp.logaddexp(0.0, -Y * (X @ w))),
}
STEPS: dict[str, Callable[[Any], Any]] = {
    "domain": lambda w: jnp.where(jnp.min(w) < 0, jnp.inf, 0.0),
    "domain of entries": lambda w: jnp.sum(jnp.where(w < 0, jnp.inf, 0.0)),
    "domain of margins": lambda w: jnp.sum(jnp.where(X @ w > 1.0, jnp.inf, 0.0)),
    "not a number": lambda w: jnp.where(jnp.any(w < -1), jnp.nan, 0.0),
    "fee": lambda w: 3.0 * jnp.sum(w < 0),
    "fee of a margin": lambda w: jnp.sum(jnp.heaviside(X @ w, 0.5)),
    "sign": lambda w: jnp.sum(jnp.sign(w)),
    "floor": lambda w: jnp.sum((jnp.floor(w) - 1) ** 2),
    "integers": lambda w: jnp.sum(w.astype(int)) + 0.0,
    "largest": lambda w: 1.0 * jnp.argmax(w),
    "chosen": lambda w: jnp.where(w[0] > 0.5, 1.0, w[1]),
    "rectified": lambda w: jnp.sum(jax.nn.relu(w)),
    "detached": lambda w: jnp.sum(jax.lax.stop_gradient(w) ** 2),
    "branch": lambda w: jax.lax.cond(w[0] > 0, lambda: 1.0, lambda: 0.0),
    "loop": lambda w: jax.lax.while_loop(lambda i: i < w[0], lambda i: i + 1.0, 0.0),
}


def compare(function: Callable[[Any], Any]) -> Any:
    """The form in which f is minimized, after a comparison with JAX at points of several sizes."""
    objective = from_jax(function, P)
    form: Any = working_form(objective).objective
    if form is objective:
        return form  # JAX itself
    rng = np.random.default_rng(0)
    for size in (0.0, 0.01, 0.3, 1.0, 1.0, 10.0):
        x = size * rng.standard_normal(P)
        here, there = form.evaluate(x), objective.evaluate(x)
        assert_allclose(here.value, there.value, rtol=1e-10)
        if np.isfinite(there.value):
            assert_allclose(here.gradient, there.gradient, rtol=1e-8, atol=1e-9)
    return form


@pytest.mark.slow
@pytest.mark.parametrize("smooth", SMOOTH)
@pytest.mark.parametrize("name", STEPS)
def test_steps_are_kept(name: str, smooth: str) -> None:
    form = compare(lambda w: SMOOTH[smooth](w) + STEPS[name](w))
    assert not isinstance(form, QuadraticForm)


@pytest.mark.parametrize("name", STEPS)
def test_functions_of_steps_alone_are_no_quadratics(name: str) -> None:
    objective = from_jax(lambda w: jnp.sum(w) + STEPS[name](w), P)
    assert not isinstance(working_form(objective).objective, QuadraticForm)


@pytest.mark.slow
def test_a_domain_that_a_step_bounds_is_kept() -> None:
    def compute(w: Any) -> Any:
        return SMOOTH["squares"](w) + STEPS["domain"](w)

    result = ksparse.minimize(from_jax(compute, P), sparsity=Entries(2, lower=0.0))
    assert (result.x >= 0).all()
    assert result.value == pytest.approx(float(SMOOTH["squares"](result.x)), rel=1e-6)
    with pytest.warns(ksparse.ConvergenceWarning, match=r"f is inf at x with .*keep x there by bounds"):
        ksparse.minimize(from_jax(compute, P), k=2)


@pytest.mark.parametrize("smooth", ["squares", "logistic"])
def test_what_a_function_prints_is_printed(smooth: str, capfd: pytest.CaptureFixture[str]) -> None:
    def compute(w: Any) -> Any:
        jax.debug.print("sum {}", jnp.sum(w))
        return SMOOTH[smooth](w)

    objective = from_jax(compute, P)
    form = working_form(objective).objective
    assert not isinstance(form, (QuadraticForm, SeparableForm))
    form.evaluate(np.ones(P))
    jax.effects_barrier()
    assert "sum 8.0" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["domain", "not a number", "fee"])
def test_values_are_compared_with_those_of_a_quadratic(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a function was taken for a quadratic by mistake."""
    monkeypatch.setattr("ksparse.objectives.autodiff.jax_derivatives.JaxDerivatives.find_margins", lambda *_: None)
    monkeypatch.setattr("ksparse.objectives.autodiff.jax_derivatives.JaxDerivatives.is_quadratic", lambda *_: True)
    objective = from_jax(lambda w: SMOOTH["squares"](w) + STEPS[name](w), P)
    assert working_form(objective).objective is objective
    objective = from_jax(SMOOTH["squares"], P)
    assert isinstance(working_form(objective).objective, QuadraticForm)


@pytest.mark.parametrize("smooth", SMOOTH)
def test_data_that_are_not_finite_are_reported_without_other_warnings(smooth: str) -> None:
    objective = from_jax(lambda w: SMOOTH[smooth](jnp.where(np.arange(P) == 3, np.inf * w, w)), P)
    working_form(objective)
    with pytest.raises(ValueError, match="f is nan at the starting point"):
        ksparse.minimize(objective, k=2)
