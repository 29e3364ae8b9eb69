"""Functions that fail, and what the user is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ksparse
from ksparse.diagnostics import check_objective
from ksparse.objectives import Function, from_jax, from_torch
from ksparse.objectives.base import compute_hessian


class OwnError(RuntimeError):
    """An error of the user's."""

    def __init__(self, code: int, text: str) -> None:  # cannot be made from a text alone
        super().__init__(text)
        self.code = code


def fail(x: Any) -> Any:
    raise OwnError(7, "the model is not ready")


def fail_away_from_zero(x: Any) -> Any:
    if bool((x != 0).any()):
        raise OwnError(7, "the model is not ready")
    return ((x - 1) ** 2).sum()


FAILING: dict[str, Callable[[], Any]] = {
    "jax": lambda: from_jax(fail, 3),
    "jax without jit": lambda: from_jax(fail, 3, jit=False),
    "torch": lambda: from_torch(fail, 3),
    "function": lambda: Function(fail, gradient=fail, shape=3),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_arrive_as_they_are(name: str) -> None:
    with pytest.raises(OwnError, match="the model is not ready") as caught:
        ksparse.minimize(FAILING[name](), k=1)
    assert caught.value.code == 7
    assert "This error came from your function at x = 0, of shape (3,)" in caught.value.__notes__  # type: ignore[attr-defined]


FAILING_LATER: dict[str, Callable[[], Any]] = {
    "jax": lambda: from_jax(fail_away_from_zero, 3, jit=False),
    "torch": lambda: from_torch(fail_away_from_zero, 3),
    "function": lambda: Function(fail_away_from_zero, gradient=lambda x: 2 * (x - 1), shape=3),
}


@pytest.mark.parametrize("name", FAILING_LATER)
def test_errors_say_at_which_x(name: str) -> None:
    with pytest.raises(OwnError) as caught:
        FAILING_LATER[name]().evaluate(np.array([0.0, 0.25, 0.0]))
    note = caught.value.__notes__[-1]  # type: ignore[attr-defined]
    assert note == "This error came from your function at x with 1 nonzero of 3 entries: x[1] = 0.25"
    with pytest.raises(OwnError) as caught:
        ksparse.minimize(FAILING_LATER[name](), k=1)
    note = caught.value.__notes__[-1]  # type: ignore[attr-defined]
    assert "nonzero of 3 entries: x[" in note


RETURNS: dict[str, tuple[Any, Any, str]] = {
    "a vector": (lambda x: x**2, lambda x: x**2, r"returned an? (array|tensor) of shape \(3,\); it must return one"),
    "nothing": (lambda x: None, lambda x: None, "returned a NoneType; it must return one number"),
    "a pair": (lambda x: (x.sum(), 1), lambda x: (x.sum(), 1), "returned a tuple; it must return one number"),
    "a text": (lambda x: "1.0", lambda x: "1.0", "returned a str; it must return one number"),
    "single precision": (
        lambda x: jnp.sum(x.astype(jnp.float32) ** 2),
        lambda x: (x.float() ** 2).sum(),
        "float32 for .* of float64; compute in float64",
    ),
    "a complex number": (lambda x: jnp.sum(x) + 0j, lambda x: x.sum() + 0j, r"complex128; f\(x\) must be real"),
    "an integer": (lambda x: jnp.sum(x > 0), lambda x: (x > 0).sum(), "returned .*int64 for .* of float64"),
}


@pytest.mark.parametrize("name", RETURNS)
def test_wrong_values_are_refused(name: str) -> None:
    in_jax, in_torch, message = RETURNS[name]
    for objective in (from_jax(in_jax, 3), from_jax(in_jax, 3, jit=False), from_torch(in_torch, 3)):
        with pytest.raises((TypeError, ValueError), match=message):
            ksparse.minimize(objective, k=1)


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_one_number_may_be_in_an_array(package: str) -> None:
    objective = (
        from_jax(lambda x: jnp.sum((x - 1) ** 2, keepdims=True), 3)
        if package == "jax"
        else from_torch(lambda x: ((x - 1) ** 2).sum(dim=0, keepdim=True), 3)
    )
    assert ksparse.minimize(objective, k=1).value == pytest.approx(2.0)


@pytest.mark.parametrize("function", [lambda x: x.detach().sum(), lambda x: torch.tensor(float(x.detach().sum()))])
def test_values_without_derivatives_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match=r"float32|without derivatives"):
        from_torch(function, 3).evaluate(np.zeros(3))


def draw_batch(x: Any) -> Any:
    return ((x - torch.rand((), dtype=torch.float64)) ** 2).sum()


def drop_out(x: Any) -> Any:
    return ((torch.nn.functional.dropout(x, 0.5) - 1) ** 2).sum()  # the same value at zero, with another gradient


@pytest.mark.parametrize("function", [draw_batch, drop_out])
def test_functions_that_draw_random_numbers_are_refused(function: Any) -> None:
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"the same each time: switch off dropout with net.eval\(\)"):
        ksparse.minimize(from_torch(function, 20), k=1)


def test_functions_without_compilation_are_repeated_too() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"returned \d.* and then \d.* at the same x"):
        ksparse.minimize(from_jax(lambda x: jnp.sum((x - rng.random()) ** 2), 3, jit=False), k=1)


def read_number(x: Any) -> Any:
    return jnp.sum((x - float(x[0])) ** 2)


def write_text(x: Any) -> Any:
    return jnp.sum(x**2) + len(f"{x[0]:.3f}")


def use_numpy(x: Any) -> Any:
    return jnp.sum(x**2) + np.square(np.asarray(x)).sum()


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("function", [read_number, write_text, use_numpy])
def test_functions_that_need_numbers_are_told_of_tracers(function: Any, jit: bool) -> None:
    with pytest.raises(Exception) as own:  # noqa: PT011 - JAX's own error, whatever its kind
        jax.jit(jax.grad(function))(np.ones(3)) if jit else jax.grad(function)(np.ones(3))
    with pytest.raises(type(own.value)) as caught:
        from_jax(function, 3, jit=jit).evaluate(np.array([0.0, 0.25, 0.0]))
    *_, explanation, place = caught.value.__notes__  # type: ignore[attr-defined]
    assert "with a tracer in the place of x" in explanation
    assert "without float(x[0]), x.item() or x in an f-string" in explanation
    assert ("jit=False lets your function branch" in explanation) == (not jit)
    assert place.endswith("at x with 1 nonzero of 3 entries: x[1] = 0.25")


@pytest.mark.parametrize("jit", [True, False])
def test_own_errors_say_nothing_of_tracers(jit: bool) -> None:
    with pytest.raises(OwnError) as caught:
        from_jax(fail, 3, jit=jit).evaluate(np.zeros(3))
    assert not any("tracer" in note for note in caught.value.__notes__)  # type: ignore[attr-defined]


def test_without_compilation_a_function_may_branch_in_all_derivatives() -> None:
    objective = from_jax(lambda x: jnp.sum((x - 1) ** (2 if x[0] > 0.5 else 4)), 3, jit=False)
    point = objective.evaluate(np.ones(3))
    np.testing.assert_allclose(point.gradient, np.zeros(3))
    np.testing.assert_allclose(compute_hessian(objective, point), 2 * np.eye(3))


def test_data_of_numpy_are_pointed_at() -> None:
    data = np.ones((2, 3))
    with pytest.raises(TypeError) as caught:
        from_torch(lambda x: (data @ x).sum(), 3).evaluate(np.zeros(3))
    assert any("torch.as_tensor(X)" in note for note in caught.value.__notes__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [lambda x: jnp.sum(x**2), lambda x, _: jnp.sum(np.ones((2, 40)) @ x)])
def test_functions_that_know_nothing_of_columns_are_told(function: Any) -> None:
    with pytest.raises(TypeError) as caught:
        ksparse.minimize(from_jax(function, 40, columns=True), k=2)
    assert any(
        "called as fun(x, columns) and gets x in 16 of the 40 columns only" in note
        for note in caught.value.__notes__  # type: ignore[attr-defined]
    )


def test_data_of_another_precision_are_pointed_at() -> None:
    data = torch.ones(3)
    with pytest.raises(RuntimeError, match="dtype") as caught:
        ksparse.minimize(from_torch(lambda x: data @ x, 3), k=1)
    assert any(".double()" in note for note in caught.value.__notes__)  # type: ignore[attr-defined]


def test_what_is_detached_is_found_by_the_check_of_derivatives() -> None:
    objective = from_torch(lambda x: ((x - 1) ** 2).sum() + (x.detach() ** 2).sum(), 3)
    assert not check_objective(objective).ok


NOT_FINITE: dict[str, tuple[Any, Any]] = {
    "value": (
        lambda x: jnp.where(jnp.abs(x[0]) > 0.1, jnp.nan, jnp.sum((x - 1) ** 2)),
        lambda x: torch.where(x[0].abs() > 0.1, torch.nan, ((x - 1) ** 2).sum()),
    ),
    "gradient": (
        lambda x: jnp.sum((x - 1) ** 2) + jnp.sqrt(jnp.sum(x**2)),
        lambda x: ((x - 1) ** 2).sum() + torch.sqrt((x**2).sum()),
    ),
}


@pytest.mark.parametrize("package", ["jax", "torch"])
@pytest.mark.parametrize("name", NOT_FINITE)
def test_results_are_finite(name: str, package: str) -> None:
    in_jax, in_torch = NOT_FINITE[name]
    objective = from_jax(in_jax, 3) if package == "jax" else from_torch(in_torch, 3)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=ksparse.solvers.Backtracking()), ksparse.FBS()):
        try:
            with pytest.warns(ksparse.ConvergenceWarning):
                result = ksparse.minimize(objective, k=2, solver=solver)
        except pytest.fail.Exception:
            result = ksparse.minimize(objective, k=2, solver=solver)
            assert result.success
        assert np.isfinite(result.x).all()
        assert np.isfinite(result.value)
        if name == "gradient":  # a square root has no derivative at zero, where the search starts
            assert result.status == "not_finite"
            assert "NaN" in result.message


@pytest.mark.parametrize("jit", [True, False])
def test_a_start_with_the_gradient_zero_is_told(jit: bool) -> None:
    """Here a saddle, which only another start leaves."""
    objective = from_jax(lambda w: w[0] ** 2 - w[1] ** 2 + jnp.sum(w**4), 2, jit=jit)
    result = ksparse.minimize(objective, k=1)
    assert not result.x.any()
    assert "if the gradient of f is zero at x = 0 without a minimum there, begin at another x0" in result.message
    assert ksparse.minimize(objective, k=1, x0=[0.0, 0.1]).value == pytest.approx(-0.25)


def leave_domain(x: Any, xp: Any) -> Any:
    """(x − 1)² where |x₀| ≤ 0.1."""
    return xp.where(abs(x[0]) > 0.1, xp.nan, ((x - 1) ** 2).sum())


LEAVING: dict[str, Callable[[], Any]] = {
    "jax": lambda: from_jax(lambda x: leave_domain(x, jnp), 1),
    "jax without jit": lambda: from_jax(lambda x: leave_domain(x, jnp), 1, jit=False),
    "torch": lambda: from_torch(lambda x: torch.where(x[0].abs() > 0.1, torch.nan, ((x - 1) ** 2).sum()), 1),
    "value and gradient": lambda: Function(lambda x: leave_domain(x, np), lambda x: 2 * (x - 1), shape=1),
    "value, gradient and Hessian": lambda: Function(
        lambda x: leave_domain(x, np), lambda x: 2 * (x - 1), shape=1, hessian=lambda _: 2 * np.eye(1)
    ),
}


@pytest.mark.parametrize("name", LEAVING)
def test_a_search_that_ends_where_f_is_not_finite_says_so(name: str) -> None:
    message = r"f is nan at x with 1 nonzero of 1 entries: x\[0\] = (0\.[1-9]|1\.).*keep x there by bounds"
    with pytest.warns(ksparse.ConvergenceWarning, match=message):
        result = ksparse.minimize(LEAVING[name](), k=1)
    assert result.status == "not_finite"
    assert 0.05 < result.x[0] <= 0.1
    bounded = ksparse.minimize(LEAVING[name](), sparsity=ksparse.sparsity.Entries(1, upper=0.1))
    assert bounded.success
    np.testing.assert_allclose(bounded.x, [0.1])


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_gradient_that_is_not_finite_says_where(package: str) -> None:
    in_jax, in_torch = NOT_FINITE["gradient"]
    objective = from_jax(in_jax, 3) if package == "jax" else from_torch(in_torch, 3)
    with pytest.warns(
        ksparse.ConvergenceWarning, match=r"gradient has 3 NaN .* where f is 3, at x = 0, of shape \(3,\)"
    ):
        ksparse.minimize(objective, k=1)


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_start_outside_the_domain_is_refused(package: str) -> None:
    objective = (
        from_jax(lambda x: jnp.sum(jnp.log(x)), 3) if package == "jax" else from_torch(lambda x: x.log().sum(), 3)
    )
    with pytest.raises(ValueError, match="f is -inf at the starting point; pass an x0"):
        ksparse.minimize(objective, k=1)


def make_half_frozen() -> torch.nn.Linear:
    layer = torch.nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    return layer


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no function": (lambda: from_jax(3.0, 3), "fun must be callable"),  # type: ignore[arg-type]
    "class": (lambda: from_torch(OwnError, 3), "did you forget the parentheses"),
    "negative shape": (lambda: from_jax(jnp.sum, -1), "shape must be an integer at least 0"),
    "text": (lambda: from_jax(jnp.sum, "30"), "shape must be an integer, a tuple of them, or arrays"),
    "float": (lambda: from_torch(torch.sum, 3.0), "shape must be an integer, a tuple of them, or arrays"),
    "tensor": (lambda: from_torch(torch.sum, torch.ones(3)), "a dict of tensors, or a module; got Tensor"),
    "sparse without names": (lambda: from_jax(jnp.sum, 3, sparse="w"), "x is one array: leave it out"),
    "columns is no flag": (lambda: from_jax(jnp.sum, 3, columns=[1]), "columns must be True or False"),  # type: ignore[arg-type]
    "integers": (lambda: from_jax(jnp.sum, {"w": np.arange(3)}), "'w' must be an array of floats, got int64"),
    "array of integers": (
        lambda: from_jax(jnp.sum, np.zeros(3, int)),
        r"the array of parameters has entries of type int64; pass floats, as np.zeros\(\(3,\)\), or its shape",
    ),
    "array with NaN": (lambda: from_jax(jnp.sum, np.full(3, np.nan)), "the array of parameters has NaN or infinite"),
    "list of lengths": (lambda: from_jax(jnp.sum, [3, 4]), "'0' must be an array of floats"),
    "no parameters": (lambda: from_torch(torch.sum, {}), "there are no parameters"),
    "NaN": (lambda: from_jax(jnp.sum, {"w": np.array([np.nan])}), "'w' has NaN or infinite entries"),
    "unknown name": (lambda: from_jax(jnp.sum, {"w": np.ones(2)}, sparse="v"), "the parameters are 'w'"),
    "no name": (lambda: from_jax(jnp.sum, {"w": np.ones(2)}, sparse=[]), "sparse names nothing"),
    "a number": (lambda: from_jax(jnp.sum, {"w": np.ones(2)}, sparse=0), "sparse must be names of parameters"),
    "no such axis": (lambda: from_jax(jnp.sum, {"w": np.ones(2)}, sparse={"w": 1}), "axis 1 of 'w'"),
    "name of two": (
        lambda: from_jax(jnp.sum, {"a.b": np.ones(2), "a": {"b": np.ones(2)}}),
        r"several arrays have the name 'a\.b'; rename keys",
    ),
    "number of a list": (
        lambda: from_jax(jnp.sum, [np.ones(2), np.ones(2)], sparse=0),
        "as text, or a dict of names and axes; the parameters are '0', '1'; got 0$",
    ),
    "frozen module": (
        lambda: from_torch(torch.sum, torch.nn.Linear(2, 1).requires_grad_(False)),
        r"none of the 2 parameters of the module may change: .*requires_grad_\(True\)",
    ),
    "module without parameters": (lambda: from_torch(torch.sum, torch.nn.Tanh()), "the module has no parameters"),
    "frozen parameter": (
        lambda: from_torch(torch.sum, make_half_frozen(), sparse="weight"),
        "sparse names 'weight', but requires_grad=False keeps",
    ),
    "different numbers": (
        lambda: from_jax(jnp.sum, {"v": np.ones(3), "w": np.ones(2)}, sparse={"v": 0, "w": 0}),
        "different numbers of slices",
    ),
    "different columns": (
        lambda: from_jax(jnp.sum, {"v": np.ones(3), "w": np.ones(2)}, columns=True),
        "their numbers differ",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_arguments_are_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=message):
        make()
