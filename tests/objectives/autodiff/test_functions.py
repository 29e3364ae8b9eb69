"""What kinds of functions are accepted, what they see, and how often they are traced and compiled."""

from __future__ import annotations

import copy
import subprocess
import sys
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.objectives import AutodiffFunction, from_jax, from_torch
from ksparse.objectives.base import compute_hessian
from tests.problems import design

TARGET = np.array([0.1, -2.0, 0.3, 1.0])


def value(x: Any, target: Any = TARGET, power: int = 2) -> Any:
    """A function in JAX."""
    return jnp.sum((x - target) ** power)


class Callables:
    """The same function as methods of an object with data."""

    def __init__(self, target: Any = TARGET) -> None:
        self.target = target

    def method(self, x: Any) -> Any:
        return value(x, self.target)

    @staticmethod
    def static(x: Any) -> Any:
        return value(x)

    def __call__(self, x: Any) -> Any:
        return value(x, self.target)


CALLABLES: dict[str, Any] = {
    "function": value,
    "lambda": lambda x: value(x),
    "jitted": jax.jit(value),
    "partial": partial(value, target=TARGET),
    "jitted partial": jax.jit(partial(value, power=2)),
    "bound method": Callables().method,
    "static method": Callables.static,
    "object": Callables(),
    "jax arrays": lambda x: value(x, jnp.asarray(TARGET)),
    "own derivative": jax.custom_vjp(value, nondiff_argnums=(1, 2)),
}


def forward(x: Any, target: Any, power: int) -> Any:
    return value(x, target, power), x


def backward(target: Any, power: int, x: Any, slope: Any) -> Any:
    return (2 * slope * (x - TARGET),)


CALLABLES["own derivative"].defvjp(forward, backward)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("name", CALLABLES)
def test_callables_of_all_kinds(name: str, jit: bool) -> None:
    objective = from_jax(CALLABLES[name], 4, jit=jit)
    result = ksparse.minimize(objective, k=2)
    assert_array_equal(result.selected, [1, 3])
    assert_allclose(result.x, [0, -2, 0, 1], atol=1e-9)
    assert result.value == pytest.approx(0.1, rel=1e-12)
    assert_allclose(compute_hessian(objective, objective.evaluate(TARGET)), 2 * np.eye(4), atol=1e-12)


@pytest.mark.parametrize("power", [2, 4])
def test_deep_copies_share_what_was_compiled(power: int) -> None:
    objective = from_jax(partial(value, power=power), 4)
    result = ksparse.minimize(objective, k=2)
    copied = copy.deepcopy(objective)
    passes, seconds = objective.counters.passes, objective.compile_seconds
    assert_array_equal(ksparse.minimize(copied, k=2).x, result.x)
    assert (objective.counters.passes, objective.compile_seconds) == (passes, seconds)


def test_without_compilation_a_function_may_branch_on_values() -> None:
    def branching(x: Any) -> Any:
        return jnp.sum((x - TARGET) ** 2) if jnp.abs(x[0]) < 1 else jnp.sum((x - TARGET) ** 4) + 3.0

    assert_array_equal(ksparse.minimize(from_jax(branching, 4, jit=False), k=2).selected, [1, 3])
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        ksparse.minimize(from_jax(branching, 4), k=2)
    assert any("jit=False" in note for note in caught.value.__notes__)


def test_numpy_arrays_are_indexed_by_jax() -> None:
    X = design(p=4)
    with pytest.raises(jax.errors.TracerArrayConversionError) as caught:
        ksparse.minimize(from_jax(lambda w, columns: jnp.sum(X[:, columns] @ w), 40, columns=True), k=2)
    assert any("jnp.asarray(X)[:, columns]" in note for note in caught.value.__notes__)


def test_torch_callables_of_all_kinds() -> None:
    target = torch.tensor(TARGET)

    def torch_value(x: Any, power: int = 2) -> Any:
        return ((x - target) ** power).sum()

    class Loss:
        def method(self, x: Any) -> Any:
            return torch_value(x)

        __call__ = method

    for function in (torch_value, partial(torch_value, power=2), Loss().method, Loss(), lambda x: torch_value(x)):
        result = ksparse.minimize(from_torch(function, 4), k=2)
        assert_allclose(result.x, [0, -2, 0, 1], atol=1e-9)
    with torch.no_grad():
        assert ksparse.minimize(from_torch(torch_value, 4), k=2).value == pytest.approx(0.1)


class Squares(torch.autograd.Function):  # type: ignore[misc]
    """A function with a derivative of its own, which cannot be batched."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return (x**2).sum()

    @staticmethod
    def backward(ctx: Any, slope: Any) -> Any:
        (x,) = ctx.saved_tensors
        return Doubled.apply(x) * slope


class Doubled(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(_: Any, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(_: Any, slope: Any) -> Any:
        return 2 * torch.tensor(slope.tolist(), dtype=torch.float64)


def test_torch_derivatives_that_cannot_be_batched() -> None:
    objective = from_torch(lambda x: Squares.apply(x - torch.tensor(TARGET)), 4)
    assert_allclose(compute_hessian(objective, objective.evaluate(TARGET)), 2 * np.eye(4), atol=1e-12)
    assert_array_equal(ksparse.minimize(objective, k=2).selected, [1, 3])


@pytest.mark.parametrize("constant", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_linear_function_has_no_minimum(package: str, constant: float) -> None:
    make: Any = {"jax": from_jax, "torch": from_torch}[package]
    objective = make(lambda x: constant - x.sum(), 3)
    assert_array_equal(compute_hessian(objective, objective.evaluate(np.ones(3))), np.zeros((3, 3)))
    with pytest.warns(ksparse.ConvergenceWarning, match="no minimum"):
        assert ksparse.minimize(objective, k=1).status == "no_minimum"


# --- settings of the packages -----------------------------------------------------------------------------------------


def test_settings_of_jax_and_torch_do_not_change() -> None:
    before = jnp.ones(2).dtype, torch.ones(2).dtype, jax.config.jax_enable_x64
    ksparse.minimize(from_jax(value, 4), k=2)
    ksparse.minimize(from_torch(lambda x: ((x - torch.tensor(TARGET)) ** 2).sum(), 4), k=2)
    assert (jnp.ones(2).dtype, torch.ones(2).dtype, jax.config.jax_enable_x64) == before
    assert before[0] == jnp.float32  # so this test could fail


def test_data_of_single_precision_are_not_refused() -> None:
    single = jnp.array([0.1, -2.0, 0.3, 1.0])
    assert single.dtype == jnp.float32
    result = ksparse.minimize(from_jax(lambda x: jnp.sum((x - single) ** 2), 4), k=2)
    assert_array_equal(result.x, np.where([0, 1, 0, 1], np.asarray(single, dtype=np.float64), 0.0))


def test_ksparse_does_not_import_them() -> None:
    code = (
        "import sys, ksparse; ksparse.minimize(ksparse.objectives.Quadratic([[1.0]], [1.0]), 1); "
        "ksparse.objectives.from_jax; print({'jax', 'torch'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize(("package", "name"), [("jax", "JAX"), ("torch", "PyTorch")])
def test_without_the_package_the_error_says_what_to_install(
    package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"ksparse.objectives.autodiff.{package}_derivatives", raising=False)
    make: Any = {"jax": from_jax, "torch": from_torch}[package]
    with pytest.raises(ImportError, match=f"needs {name}; install it with: pip install {package}$"):
        make(value, 4)


# --- columns and compilation ------------------------------------------------------------------------------------------


def make_recording(p: int, sizes: list[Any], n: int = 30) -> AutodiffFunction:
    """Least squares in JAX that writes down how many columns it is traced for."""
    X = design(n=n, p=p)
    y = X[:, 3] - X[:, 7] + 0.1 * np.sin(np.arange(n))

    def loss(w: Any, columns: Any) -> Any:
        sizes.append(columns if isinstance(columns, slice) else columns.shape[0])
        gathered = jnp.asarray(X)[:, columns]
        assert gathered.shape == (n, w.shape[0])
        return jnp.mean((gathered @ w - y) ** 2)

    return from_jax(loss, p, columns=True)


def test_a_support_is_computed_from_a_few_columns() -> None:
    sizes: list[Any] = []
    objective = make_recording(300, sizes)
    restricted = objective.restrict(np.isin(np.arange(300), [3, 7, 200]))
    point = restricted.evaluate(np.array([1.0, -1.0, 0.5]))
    _ = point.gradient, compute_hessian(restricted, point)
    assert sizes == [16]
    assert objective.counters.passes == 0
    whole = point.extend(objective, np.isin(np.arange(300), [3, 7, 200]))
    assert whole.gradient.shape == (300,)
    assert sizes == [16, slice(None)]
    assert objective.counters.passes == 1


def test_a_support_of_torch_is_computed_from_its_columns() -> None:
    X, sizes = torch.tensor(design(n=30, p=100)), []

    def loss(w: Any, columns: Any) -> Any:
        sizes.append(len(w))
        return ((X[:, columns] @ w - X[:, 3]) ** 2).mean()

    objective = from_torch(loss, 100, columns=True)
    restricted = objective.restrict(np.isin(np.arange(100), [3, 7, 50]))
    point = restricted.evaluate(np.array([1.0, -1.0, 0.5]))
    _ = point.gradient, compute_hessian(restricted, point)
    assert set(sizes) == {3, 0}  # and none for f(0)


def test_supports_of_many_sizes_share_a_few_compiled_functions() -> None:
    sizes: list[Any] = []
    objective = make_recording(200, sizes)
    for k in range(1, 21):
        assert ksparse.minimize(objective, k=k).success
    assert len(sizes) == len(set(map(str, sizes)))  # traced once for each size
    assert objective.counters.compilations <= 9
    assert objective.compile_seconds > 0
    compiled = objective.counters.compilations
    ksparse.minimize(objective, k=7, effort=1)
    assert objective.counters.compilations == compiled


def test_functions_of_all_columns_are_compiled_for_few_sizes() -> None:
    traced = []

    def loss(w: Any) -> Any:
        traced.append(w.shape)
        return jnp.mean((X @ w - X[:, 3] + X[:, 7]) ** 2) + 0.01 * jnp.sum(w**4)

    X = design(n=30, p=200)
    objective = from_jax(loss, 200)
    for k in range(1, 21):
        ksparse.minimize(objective, k=k)
    assert traced == [(200,)]
    assert objective.counters.compilations <= 5


def test_a_function_must_not_see_how_many_columns_there_are() -> None:
    X = design(n=30, p=100)

    def loss(w: Any, columns: Any) -> Any:
        return jnp.mean((jnp.asarray(X)[:, columns] @ w - X[:, 3]) ** 2) + 0.01 * w.shape[0]

    with pytest.raises(
        ValueError, match=r"must not depend on which zeros it sees, but it is \d+\.\d+ for some columns"
    ):
        ksparse.minimize(from_jax(loss, 100, columns=True), k=2)


@pytest.mark.parametrize("make", [from_jax, partial(from_jax, jit=False), from_torch])
@pytest.mark.parametrize("power", [2, 4])
def test_means_over_the_columns_that_are_seen_are_refused(make: Any, power: int) -> None:
    """Without any column, the mean is NaN in PyTorch."""
    X = torch.tensor(design(n=30, p=60)) if make is from_torch else jnp.asarray(design(n=30, p=60), dtype=jnp.float32)

    def loss(w: Any, columns: Any) -> Any:
        return ((X[:, columns] @ w - X[:, 3]) ** 2).mean() + (w**power).mean()

    with pytest.raises(ValueError, match=r"for some columns .* as \(w\*\*2\)\.mean\(\) does"):
        ksparse.minimize(make(loss, 60, columns=True), k=2)
