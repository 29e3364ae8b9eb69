"""Values and derivatives of a function by JAX. Only `from_jax` imports this module, and with it JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil, log
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._types import Array, IntArray
from ..user import add_note
from .jax_compiler import Compiler, use_float64
from .jax_margins import JaxMargins
from .jax_programs import inline_calls, merge_repetitions
from .jax_structure import find_degrees, find_structure
from .leaves import Layout

__all__ = ["JaxDerivatives", "make_leaf", "read_pytree"]

#: Numbers of columns for which functions are compiled, and by how much further ones grow. Each takes 0.1 to 0.2 s, as
#: long as hundreds of evaluations on small data; filling up costs at most three times the work.
SIZES, SIZE_GROWTH = (16, 48, 128), 3
#: Most numbers in the matrix of margins: 128 MB.
MAX_MARGIN_NUMBERS = 2**24
#: Numbers of directions for which products with the Hessian are compiled; more directions are split.
DIRECTION_COUNTS = (1, 16, 64)
#: Errors of functions that take an array of JAX which has no values for an array of NumPy, or for a number.
TRACER_ERRORS = (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError)
#: What such functions must do.
TRACED_NOTE = (
    "JAX calls your function with a tracer in the place of x, which has a shape but no values, to differentiate and "
    "compile it. Compute f from x by jax.numpy in the place of numpy (jnp.asarray(X)[:, columns] for X[:, columns]), "
    "with data as arrays of NumPy or JAX (no data frames, no sparse matrices of SciPy), without float(x[0]), x.item() "
    "or x in an f-string; jax.debug.print prints values. For `if x[0] > 0` write jnp.where, or pass jit=False to "
    "from_jax"
)
DIFFERENTIATED_NOTE = (
    "jit=False lets your function branch on values, as in `if x[0] > 0`, but to differentiate it JAX still calls it "
    "with a tracer in the place of x: compute f from x by jax.numpy in the place of numpy, without float(x[0]), "
    "x.item() or x in an f-string; jax.lax.stop_gradient(x) or jax.debug.print has values to print"
)


def read_pytree(parameters: Any) -> tuple[dict[str, Array], Any]:
    """The arrays of a pytree by their names, and its structure."""
    paths, structure = jax.tree_util.tree_flatten_with_path(parameters)
    names = [".".join(_name_key(key) for key in path) for path, _ in paths]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"several arrays have the name {', '.join(map(repr, repeated))}; rename keys with points in them"
        )
    return {name: np.asarray(leaf) for name, (_, leaf) in zip(names, paths, strict=True)}, structure


def make_leaf() -> Any:
    """The structure of a single array."""
    return jax.tree_util.tree_structure(0)


def _name_key(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


class JaxDerivatives:
    """A function of a flat vector, traced and compiled for each number of columns.

    `structure` is that of the user's parameters. Arrays that the function closes over are arguments of the compiled
    functions: they are not copied into each of them.
    """

    def __init__(
        self, function: Callable[..., Any], layout: Layout, structure: Any, takes_columns: bool, compiles: bool
    ) -> None:
        self._function, self._layout, self._structure = function, layout, structure
        self._takes_columns, self._compiles = takes_columns, compiles
        self.is_traced = compiles
        self._traced: dict[int | None, tuple[list[Any], Any]] = {}
        self._compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._margins: JaxMargins | None = None
        self._is_examined = not compiles
        self._is_quadratic: bool | None = None if compiles else False
        self._compiler = Compiler()

    def __deepcopy__(self, memo: dict[int, Any]) -> JaxDerivatives:
        """Itself, as of a function: what was traced and compiled does not change, and cannot be copied."""
        return self

    @property
    def compile_seconds(self) -> float:
        return self._compiler.seconds

    @property
    def compilations(self) -> int:
        return self._compiler.count

    def round_up(self, count: int) -> int:
        if not self._compiles:
            return count
        for size in SIZES:
            if count <= size:
                return size
        return max(SIZES[-1] * SIZE_GROWTH ** ceil(log(count / SIZES[-1], SIZE_GROWTH)), count)

    def unflatten(self, x: Array) -> Any:
        return jax.tree_util.tree_unflatten(self._structure, list(self._layout.split(x)))

    def trace(self, x: Array, columns: IntArray | None) -> None:
        if self._compiles:
            with use_float64():
                self._trace(*_list_inputs(x, columns))

    def compute_value(self, x: Array, columns: IntArray | None) -> float:
        with use_float64():
            return float(self._call(_apply, x, columns))

    def evaluate(self, x: Array, columns: IntArray | None) -> tuple[float, Array]:
        with use_float64():
            value, gradient = self._call(_differentiate, x, columns)
            return float(value), np.array(gradient)

    def multiply_hessian(self, x: Array, columns: IntArray | None, directions: Array) -> Array:
        count = len(directions)
        sizes = sorted({*DIRECTION_COUNTS, x.size}) if self._compiles else []
        size = next((size for size in sizes if count <= size), count)
        padded = np.zeros((size, x.size))
        padded[:count] = directions
        with use_float64():
            try:
                products = self._call(_multiply_forward, x, columns, padded)
            except TypeError as error:
                if "custom_vjp" not in str(error):
                    raise
                products = self._call(_multiply_backward, x, columns, padded)
            return np.asarray(products)[:count]

    def is_quadratic(self, x: Array) -> bool:
        margins = self.find_margins(x)
        if margins is not None:
            return margins.is_quadratic
        if self._is_quadratic is None:
            with use_float64():
                _, jaxpr = self._trace(None, (x,))
            self._is_quadratic = not jaxpr.effects and find_degrees(jaxpr, [1])[0] <= 2
        return self._is_quadratic

    def find_margins(self, x: Array) -> JaxMargins | None:
        if not self._is_examined:
            with use_float64():
                self._margins = self._examine(x)
            self._is_examined = True
        return self._margins

    def _examine(self, x: Array) -> JaxMargins | None:
        """The margins if the traced function shows them."""
        constants, jaxpr = self._trace(None, (x,))
        if jaxpr.effects:
            return None  # what it prints would be lost
        flat = jax.make_jaxpr(partial(inline_calls, jaxpr))(constants, x)
        merged, constants = merge_repetitions(flat.jaxpr, [*flat.consts, *constants])
        structure = find_structure(merged)
        if structure is None or structure.count * x.size > MAX_MARGIN_NUMBERS:
            return None
        return JaxMargins(structure, constants, x.size, self._compiler)

    def _call(self, operation: Callable[..., Any], x: Array, columns: IntArray | None, *more: Array) -> Any:
        """Apply an operation to the function."""
        count, inputs = _list_inputs(x, columns)
        if not self._compiles:
            with self._explaining(inputs):
                return operation(self._run_user, False, [], tuple(map(jnp.asarray, inputs)), *map(jnp.asarray, more))
        key = (operation, count, *(array.shape for array in more))
        if key not in self._compiled:
            constants, jaxpr = self._trace(count, inputs)
            function = partial(operation, partial(_run_traced, jaxpr), True)
            self._compiled[key] = self._compiler.compile(function, constants, inputs, *more)
        return self._compiled[key](self._traced[count][0], inputs, *more)

    def _trace(self, count: int | None, inputs: tuple[Any, ...]) -> tuple[list[Any], Any]:
        """The function of some number of columns, as one of the arrays that it closes over and its inputs."""
        if count not in self._traced:
            with self._explaining(inputs):
                closed = jax.make_jaxpr(self._run_user)(*inputs)
            constants = [jax.device_put(constant) for constant in closed.consts]  # compiles nothing, as asarray would
            self._traced[count] = constants, closed.jaxpr
        return self._traced[count]

    @contextmanager
    def _explaining(self, inputs: tuple[Any, ...]) -> Iterator[None]:
        """Add to errors that a function has for JAX's tracers only what they are, and what to do."""
        try:
            yield
        except Exception as error:
            if isinstance(error, TRACER_ERRORS) or self._runs_untraced(inputs):
                add_note(error, TRACED_NOTE if self._compiles else DIFFERENTIATED_NOTE)
            raise

    def _runs_untraced(self, inputs: tuple[Any, ...]) -> bool:
        """Whether the user's function has no error for numbers."""
        with suppress(Exception):
            self._run_user(*map(jnp.asarray, inputs))
            return True
        return False

    def _run_user(self, flat: Any, columns: Any = None) -> Any:
        layout = self._layout.with_columns(None if columns is None else columns.size)
        parameters = jax.tree_util.tree_unflatten(self._structure, list(layout.split(flat)))
        if not self._takes_columns:
            return _check_value(self._function(parameters))
        return _check_value(self._function(parameters, slice(None) if columns is None else columns))


def _list_inputs(x: Array, columns: IntArray | None) -> tuple[int | None, tuple[Any, ...]]:
    """The number of columns, and what the function is called with."""
    return (None, (x,)) if columns is None else (columns.size, (x, columns))


def _run_traced(jaxpr: Any, *arguments: Any) -> Any:
    constants, *inputs = arguments
    return jax.core.eval_jaxpr(jaxpr, constants, *inputs)[0]


def _check_value(value: Any) -> Any:
    """What the user's function returned, as a scalar."""
    if not isinstance(value, (jax.Array, np.ndarray, np.generic, float, int)):
        raise TypeError(f"the function returned a {type(value).__name__}; it must return one number, f(x)")
    array = jnp.asarray(value)
    if array.size != 1:
        raise ValueError(f"the function returned an array of shape {array.shape}; it must return one number, f(x)")
    if jnp.iscomplexobj(array):
        raise ValueError(f"the function returned {array.dtype}; f(x) must be real: return abs(…)**2 or the real part")
    if array.dtype != jnp.float64:
        raise ValueError(
            f"the function returned {array.dtype} for x of float64; compute in float64: "
            "leave out dtype arguments and astype, which also round x"
        )
    return array.reshape(())


# --- operations on a function run(constants, *inputs), or run(*inputs) where nothing is compiled ---------------------


def _bind(run: Callable[..., Any], is_traced: bool, constants: Any, inputs: Any) -> Callable[[Any], Any]:
    """The function of the flat vector alone."""
    _, *columns = inputs
    return lambda flat: run(constants, flat, *columns) if is_traced else run(flat, *columns)


def _apply(run: Callable[..., Any], is_traced: bool, constants: Any, inputs: Any) -> Any:
    return _bind(run, is_traced, constants, inputs)(inputs[0])


def _differentiate(run: Callable[..., Any], is_traced: bool, constants: Any, inputs: Any) -> Any:
    return jax.value_and_grad(_bind(run, is_traced, constants, inputs))(inputs[0])


def _multiply_forward(run: Callable[..., Any], is_traced: bool, constants: Any, inputs: Any, directions: Any) -> Any:
    """Hessian times rows, the gradient differentiated forwards."""
    gradient = jax.grad(_bind(run, is_traced, constants, inputs))
    return _map(lambda v: jax.jvp(gradient, (inputs[0],), (v,))[1], directions, is_traced)


def _multiply_backward(run: Callable[..., Any], is_traced: bool, constants: Any, inputs: Any, directions: Any) -> Any:
    """The same backwards, for functions with a derivative of their own, which JAX differentiates only so."""
    gradient = jax.grad(_bind(run, is_traced, constants, inputs))
    pull_back = jax.vjp(gradient, inputs[0])[1]
    return _map(lambda v: pull_back(v)[0], directions, is_traced)


def _map(multiply: Callable[[Any], Any], directions: Any, is_traced: bool) -> Any:
    # Without compilation the function may depend on values of x, which a batch does not have.
    return jax.vmap(multiply)(directions) if is_traced else jnp.stack([multiply(v) for v in directions])
