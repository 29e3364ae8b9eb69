"""Functions of JAX that are sums of functions of one margin each: how they are recognized, and that nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.objectives import Huber, LeastSquares, Logistic, Poisson, from_jax, from_torch
from ksparse.objectives.autodiff.quadratic_form import QuadraticForm, bound_curvature
from ksparse.objectives.autodiff.separable_form import SeparableForm
from ksparse.objectives.protocols import working_form
from ksparse.sparsity import Entries, Rows
from tests.problems import design

N, P = 30, 12
X = design(n=N, p=P)
SIGNS = np.where(X[:, 3] - 2 * X[:, 8] + 0.5 * np.sin(np.arange(N)) > 0, 1.0, -1.0)
COUNTS = np.arange(N) % 4
FIRST, SECOND = (index[:P] for index in np.triu_indices(6, 1))
WIDE = np.random.default_rng(5).standard_normal((120, 90))
TWIN_SIGNS = np.where(WIDE[:, :12].sum(axis=1) + 3 * np.random.default_rng(6).logistic(size=120) > 0, 1.0, -1.0)
TWIN_COUNTS = np.random.default_rng(7).poisson(np.exp(0.3 * WIDE[:, :8].sum(axis=1))).astype(float)
STATES = np.sign(design(n=N, p=6))


@jax.custom_jvp  # type: ignore[untyped-decorator]
def double(x: Any) -> Any:
    """Not entrywise, with a derivative of its own."""
    return x[::-1] * 2.0


double.defjvp(lambda primals, tangents: (double(*primals), double(*tangents)))


@jax.custom_vjp  # type: ignore[untyped-decorator]
def identity(x: Any) -> Any:
    """A function with a derivative of its own, which JAX knows backwards only."""
    return x


identity.defvjp(lambda x: (x, None), lambda _, cotangent: (cotangent,))


def pair_spins(w: Any) -> Any:
    """The pseudo-likelihood of an Ising model."""
    matrix = jnp.zeros((6, 6)).at[FIRST, SECOND].set(w)
    return COUNTS @ jnp.sum(jnp.logaddexp(0.0, -2.0 * STATES * (STATES @ (matrix + matrix.T))), axis=1)


SEPARABLE: dict[str, Callable[[Any], Any]] = {
    "logistic": lambda w: jnp.mean(jnp.logaddexp(0.0, -SIGNS * (X @ w))),
    "logistic with a linear term": lambda w: jnp.sum(jnp.logaddexp(0.0, X @ w) - COUNTS * (X @ w)),
    "ridge": lambda w: jnp.mean(jax.nn.softplus(-SIGNS * (X @ w))) + 0.1 * jnp.sum(w**2),
    "Poisson": lambda w: jnp.mean(jnp.exp(X @ w + 0.1 * COUNTS) - COUNTS * (X @ w)),
    "vector times matrix": lambda w: jnp.sum(jnp.cosh(w @ X.T - SIGNS)),
    "intercept": lambda w: jnp.mean(jnp.logaddexp(0.0, -SIGNS * (X[:, 1:] @ w[1:] + w[0] - 0.3))),
    "minus": lambda w: jnp.sum(jnp.cosh(w[0] - 2.0 * (X[:, 1:] @ -w[1:]) / 3.0)),
    "Huber": lambda w: jnp.sum(jnp.where(jnp.abs(X @ w - 1) < 2, (X @ w - 1) ** 2, 4 * jnp.abs(X @ w - 1) - 4)),
    "Student": lambda w: jnp.sum(jnp.log1p((SIGNS - X @ w) ** 2 / 3.0)),
    "smooth trend": lambda w: jnp.sum(jnp.log(jnp.cosh(jnp.cumsum(w) - np.arange(P)))),
    "jitted": jax.jit(lambda w: jnp.mean(jax.jit(jnp.cosh)(X @ w - SIGNS))),
    "mapped": lambda w: jnp.mean(jax.vmap(lambda row, sign: jnp.logaddexp(0.0, -sign * (row @ w)))(X, SIGNS)),
    "powers": lambda w: jnp.sum((w - 1) ** 4) + jnp.sum(w),
    "two kinds": lambda w: jnp.sum(jnp.cosh(X @ w)) + jnp.sum(jnp.log1p(jnp.diff(w) ** 2)) + jnp.exp(w[2]),
    "moved": lambda w: COUNTS[:10] @ jnp.sum(jnp.cosh((X @ w).reshape(3, 10).T[:, ::-1]) ** 2, axis=1) / 7.0,
    "spread": lambda w: jnp.sum(jnp.cosh((X @ w)[:, None] * SIGNS[:3])),
    "deviations": lambda w: jnp.sum(jnp.cosh(X @ w - jnp.mean(X @ w))),
    "spins": pair_spins,
    "sums of pairs": lambda w: jnp.sum(jnp.exp(jnp.sum((X[:, None, :6] * w.reshape(2, 6)), axis=2))),
    "later sums": lambda w: jnp.sum(jnp.cosh(jnp.cumsum((2.0 * w[::-1]).reshape(3, 4), axis=1))),
    "sums from the end": lambda w: jnp.sum(jnp.cosh(jax.lax.cumsum(w - 1, reverse=True))),
    "matrix from the right": lambda w: jnp.sum(jnp.cosh((w.reshape(2, 6) + 1) @ X[:, :6].T - SIGNS)),
    "chosen with a constant": lambda w: jnp.sum(jnp.cosh(jnp.concatenate([w[:5], np.ones(2)]) @ X[:, :7].T)),
    "convolved": lambda w: jnp.sum(jnp.cosh(jnp.convolve(w, SIGNS[:4] + 0.5))),
    "matrix as a vector": lambda w: jnp.sum(jnp.cosh(X[:, :3] @ w.reshape(4, 3).ravel().reshape(3, 4) - 1)),
    "matrix of margins as a vector": lambda w: jnp.sum(
        jnp.cosh((X[:, :3] @ w.reshape(3, 4)).ravel() - np.arange(120) / 50)
    ),
    "inner product": lambda w: jnp.mean(jnp.logaddexp(0.0, -SIGNS * (X @ w))) + 0.1 * w @ w,
    "weighted squares": lambda w: (COUNTS * (X @ w - SIGNS)) @ jnp.cosh(X @ w - SIGNS),
    "product of matrices": lambda w: jnp.tensordot(w.reshape(3, 4), w.reshape(3, 4) ** 3, 2) + jnp.sum(w),
    "same column twice": lambda w: jnp.sum(jnp.cosh(X @ w[np.array([0, *range(P - 1)])] + w[P - 1])),
}
OTHER: dict[str, Callable[[Any], Any]] = {
    "product with another order": lambda w: jnp.sum(jnp.cosh(X @ w)) + w[::-1] @ w,
    "product along an axis": lambda w: jnp.sum((w.reshape(3, 4) @ w.reshape(3, 4).T) ** 2),
    "softmax": lambda w: jax.nn.logsumexp(X @ w),
    "product of margins": lambda w: jnp.sum((X @ w)[1:] * (X @ w)[:-1] * (X @ w)[1:]),
    "square of a sum": lambda w: jnp.sum(jnp.exp(X @ w)) ** 2,
    "largest": lambda w: jnp.max((X @ w - 1) ** 2),
    "sorted": lambda w: jnp.sum(jnp.sort(X @ w) ** 4),
    "layers": lambda w: jnp.sum(jnp.tanh(X.T @ jnp.tanh(X @ w)) ** 2),
    "loop": lambda w: jax.lax.fori_loop(0, 2, lambda _, total: total * w[0] + jnp.sum(w**4), 1.0),
    "detached": lambda w: jnp.sum(jnp.exp(X @ w - jax.lax.stop_gradient(X @ w))) + jnp.sum(w**4),
    "not entrywise": lambda w: jnp.sum(double(w**2) ** 2 * np.arange(P)) + jnp.sum(jnp.exp(double(w) + w)),
    "backwards only": lambda w: jnp.sum(jnp.cosh(identity(X @ w))),
}


@pytest.mark.parametrize("name", SEPARABLE)
def test_sums_are_recognized(name: str) -> None:
    objective = from_jax(SEPARABLE[name], P)
    form = working_form(objective).objective
    assert isinstance(form, SeparableForm)
    rng = np.random.default_rng(0)
    support = np.isin(np.arange(P), [0, 3, 8, 11])
    x = np.where(support, 0.5 * rng.standard_normal(P), 0.0)
    last = np.array([False, True, True, True])
    pairs: list[tuple[Any, Any, Any]] = [
        (np.zeros(P), form, objective),
        (x, form, objective),
        (rng.standard_normal(P), form, objective),
        (x[support], form.restrict(support), objective.restrict(support)),
        (x[support][1:], form.restrict(support).restrict(last), objective.restrict(support).restrict(last)),
    ]
    for at, a, b in pairs:
        here, there = a.evaluate(at), b.evaluate(at)
        assert here.value == pytest.approx(there.value, rel=1e-12)
        assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-11)
        hessian = b.hessian(there)
        assert_allclose(a.hessian(here), hessian, rtol=1e-9, atol=1e-11)
        assert_allclose(a.hessian_operator(here) @ at, hessian @ at, rtol=1e-9, atol=1e-10)
        if not at.any():
            assert_allclose(a.curvature(here), bound_curvature(abs(np.diag(hessian))), rtol=1e-7)
        assert (a.curvature(here) > 0).all()
    point, whole = form.evaluate(x), objective.hessian(objective.evaluate(x))
    inside, others = np.flatnonzero(support), np.flatnonzero(~support)[1:]
    cross, diagonal = form.cross_hessian(point, point.restrict(support), inside, others)
    assert_allclose(cross, whole[np.ix_(inside, others)], rtol=1e-9, atol=1e-11)
    assert_allclose(diagonal, whole[others, others], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", OTHER)
def test_other_functions_are_not_taken_for_sums(name: str) -> None:
    objective = from_jax(OTHER[name], P)
    assert working_form(objective).objective is objective


def test_what_cannot_be_examined_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    objectives = [from_jax(SEPARABLE["logistic"], P, jit=False), from_torch(lambda w: (w**4).sum(), P)]
    monkeypatch.setattr("ksparse.objectives.autodiff.jax_margins.MAX_DIRECTIONS", 5)
    objectives.append(from_jax(SEPARABLE["convolved"], P))
    for objective in objectives:
        assert working_form(objective).objective is objective
    assert isinstance(working_form(from_jax(SEPARABLE["logistic"], P)).objective, SeparableForm)
    monkeypatch.setattr("ksparse.objectives.autodiff.jax_derivatives.MAX_MARGIN_NUMBERS", N * P - 1)
    objective = from_jax(SEPARABLE["logistic"], P)
    assert working_form(objective).objective is objective


def test_the_same_margins_are_one() -> None:
    """Where a closure writes them several times, with data that are the same."""
    copied = X.copy()
    objective = from_jax(lambda w: jnp.sum(jnp.exp(X @ w) - COUNTS * (X @ w) + (copied @ w) ** 2), P)
    form = working_form(objective).objective
    assert isinstance(form, SeparableForm)
    assert form.evaluate(np.zeros(P)).state.slopes.shape == (N,)


SEEN = np.where(np.arange(N) % 3 == 0, 0.5 + np.arange(N), 0.0)
WEIGHTED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "weighted sum": (lambda w: SEEN @ jnp.exp(X @ w) / 7.0 + 3.0, 10),
    "weighted losses": (lambda w: jnp.mean(SEEN * jnp.logaddexp(0.0, X @ w) - SEEN * COUNTS * (X @ w)), 10),
    "difference": (lambda w: 2.0 - (jnp.sum(-SEEN * jnp.cosh(X @ w - SIGNS) - SEEN * (1.0 + X @ w))), 10),
    "matrix": (lambda w: jnp.sum(jnp.cosh(X[:, :6] @ w.reshape(6, 2)), axis=1) @ SEEN, 20),
    "matrix of weights": (lambda w: jnp.sum(SEEN[:, None] * jnp.cosh(X[:, :6] @ w.reshape(6, 2))), 20),
    "matrix product": (lambda w: jnp.sum(jnp.cosh(X[:, :6] @ w.reshape(6, 2)).T @ SEEN[:, None]), 20),
    "columns of weights": (lambda w: jnp.sum(SEEN[None, :] @ jnp.tanh(X[:, :6] @ w.reshape(6, 2))), 20),
    "powers": (lambda w: jnp.sum(SEEN * (X @ w - 1) ** 4), 10),
    "of a part": (lambda w: jnp.sum(SEEN * jnp.cosh(X @ w)) + jnp.sum(jnp.exp(X @ w)[:3]), N),
    "zeros that count": (lambda w: jnp.sum(jnp.cosh(SEEN * (X @ w))) + jnp.sum(jnp.exp(X @ w)), N),
    "few zeros": (lambda w: np.arange(float(N)) @ jnp.cosh(X @ w), N),
    "with a ridge": (lambda w: SEEN @ jnp.cosh(X @ w) + jnp.sum(w**2), N),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_margins_with_the_weight_zero_are_left_out(name: str) -> None:
    function, count = WEIGHTED[name]
    objective = from_jax(function, P)
    form = working_form(objective).objective
    assert isinstance(form, SeparableForm)
    for seed in range(3):
        x = 0.3 * np.random.default_rng(seed).standard_normal(P)
        here, there = form.evaluate(x), objective.evaluate(x)
        assert here.value == pytest.approx(there.value, rel=1e-12)
        assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-11)
        assert_allclose(form.hessian(here), objective.hessian(there), rtol=1e-9, atol=1e-11)
        assert here.state.slopes.size == count


def test_answers_are_those_of_the_same_model() -> None:
    y = SIGNS > 0
    expected = ksparse.minimize(Logistic(X, y, alpha=0.1), k=3)
    ridge = 0.05

    def loss(w: Any, columns: Any = slice(None)) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -SIGNS * (jnp.asarray(X)[:, columns] @ w))) + ridge * jnp.sum(w**2)

    for objective in (from_jax(loss, P), from_jax(loss, P, columns=True)):
        assert isinstance(working_form(objective).objective, SeparableForm)
        found = ksparse.minimize(objective, k=3)
        assert_array_equal(found.selected, expected.selected)
        assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-8)
        assert found.value == pytest.approx(expected.value, rel=1e-10)


def test_free_parameters_start_where_they_are_told() -> None:
    expected = ksparse.minimize(Logistic(X, SIGNS > 0, fit_intercept=True, alpha=0.1), sparsity=Entries(3, lower=0.0))
    start = {"b": 7.0, "w": np.zeros(P)}

    def loss(q: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -SIGNS * (X @ q["w"] + q["b"]))) + 0.05 * jnp.sum(q["w"] ** 2)

    objective = from_jax(loss, start, sparse="w")
    form = working_form(objective)
    assert isinstance(form.objective, SeparableForm)
    x = np.append(np.linspace(-1.0, 1.0, P), 6.0)
    assert form.objective.evaluate(form.to_working(x)).value == pytest.approx(objective.evaluate(x).value, rel=1e-12)
    found = ksparse.minimize(objective, sparsity=Entries(3, lower=0.0))
    assert_array_equal(found.selected, expected.selected)
    assert_allclose(found.x, expected.x, rtol=1e-5, atol=1e-7)


TWINS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "logistic": (
        lambda w: jnp.sum(jnp.logaddexp(0.0, -TWIN_SIGNS * (WIDE @ w))),
        lambda: Logistic(WIDE, TWIN_SIGNS > 0),
    ),
    "weighted logistic with a ridge": (
        lambda w: TWIN_COUNTS @ jnp.logaddexp(0.0, -TWIN_SIGNS * (WIDE @ w)) / TWIN_COUNTS.sum() + 0.01 * w @ w,
        lambda: Logistic(WIDE, TWIN_SIGNS > 0, sample_weight=TWIN_COUNTS, alpha=0.02),
    ),
    "Poisson": (
        lambda w: jnp.mean(jnp.exp(WIDE @ w) - TWIN_COUNTS * (WIDE @ w)) + 0.01 * w @ w,
        lambda: Poisson(WIDE, TWIN_COUNTS, alpha=0.02),
    ),
    "Huber": (
        lambda w: jnp.mean(
            jnp.where(
                jnp.abs(TWIN_COUNTS - WIDE @ w) < 1.0,
                0.5 * (TWIN_COUNTS - WIDE @ w) ** 2,
                jnp.abs(TWIN_COUNTS - WIDE @ w) - 0.5,
            )
        ),
        lambda: Huber(WIDE, TWIN_COUNTS, delta=1.0),
    ),
    "least squares": (
        lambda w: jnp.sum((TWIN_SIGNS - WIDE @ w) ** 2),
        lambda: LeastSquares(WIDE, TWIN_SIGNS),
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_function_has_the_answer_of_the_objective_that_is_the_same_model(name: str) -> None:
    """Where many supports are nearly as good, and each choice on the way matters."""
    function, make = TWINS[name]
    mine, own = ksparse.minimize(from_jax(function, WIDE.shape[1]), k=12), ksparse.minimize(make(), k=12)
    assert_array_equal(mine.selected, own.selected)
    assert_allclose(mine.x, own.x, rtol=1e-4, atol=1e-6)
    if name != "Huber":  # its curvature at zero is not the same for all samples
        factor = mine.history["value"][0] / own.history["value"][0]
        assert_allclose(mine.history["value"], factor * own.history["value"], rtol=1e-3)


def test_quadratics_of_a_matrix_that_is_flattened() -> None:
    Y = np.column_stack([SIGNS, np.sign(X[:, 3] + 0.2 * X[:, 5])])
    objective = from_jax(lambda W: jnp.sum((Y - X @ W.ravel().reshape(P, 2)) ** 2), (P, 2))
    form = working_form(objective).objective
    assert isinstance(form, QuadraticForm)
    W = np.random.default_rng(0).standard_normal((P, 2))
    here = form.evaluate(W)
    assert here.value == pytest.approx(np.sum((Y - X @ W) ** 2), rel=1e-12)
    assert_allclose(here.gradient, 2 * X.T @ (X @ W - Y), rtol=1e-9, atol=1e-11)
    assert_allclose(form.hessian(here), np.kron(2 * X.T @ X, np.eye(2)), rtol=1e-9, atol=1e-11)


def test_rows_of_a_matrix() -> None:
    Y = np.column_stack([SIGNS, np.sign(X[:, 3] + 0.2 * X[:, 5])])
    objective = from_jax(lambda W: jnp.sum(jnp.logaddexp(0.0, -Y * (X @ W))) + jnp.sum(W**2), (P, 2))
    form = working_form(objective).objective
    assert isinstance(form, SeparableForm)
    x = np.zeros((P, 2))
    x[[3, 8]] = [[1.0, -1.0], [0.5, 2.0]]
    here, there = form.evaluate(x), objective.evaluate(x)
    assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-11)
    zero, same = form.evaluate(0 * x), objective.evaluate(0 * x)
    assert_allclose(form.curvature(zero).ravel(), np.diag(objective.hessian(same)), rtol=1e-9)
    assert_array_equal(ksparse.minimize(objective, sparsity=Rows(2)).selected, [3, 8])


def test_a_function_of_columns_must_be_the_same_function_of_all() -> None:
    wide = design(n=N, p=100)

    def loss(w: Any, columns: Any) -> Any:
        return jnp.mean(jnp.cosh(jnp.asarray(wide)[:, columns] @ w - SIGNS)) + 0.01 * w.shape[0]

    with pytest.raises(ValueError, match="must not depend on which zeros it sees"):
        working_form(from_jax(loss, 100, columns=True))


def test_it_is_compiled_once() -> None:
    objective = from_jax(SEPARABLE["ridge"], P)
    for k in (1, 2, 3):
        ksparse.minimize(objective, k=k)
    assert objective.counters.compilations == 1, "margins are read from the traced function"
    assert objective.compile_seconds > 0
