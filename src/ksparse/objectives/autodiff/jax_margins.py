"""A function of JAX as a sum of functions of one margin each: its margins, and the derivatives in them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._types import Array
from .jax_compiler import Compiler, use_float64
from .jax_map import MapReader
from .jax_structure import MarginStructure, find_degrees
from .jax_weights import find_weighted_sum
from .separable_form import MarginDerivatives

__all__ = ["JaxMargins"]

#: Most coordinates for which A is computed from products with all unit vectors.
MAX_DIRECTIONS = 1000


class JaxMargins:
    """The margins Ax + b of a function f(x) = Σᵢ φᵢ(mᵢ) + Σⱼ ψⱼ(xⱼ), and its derivatives.

    Functions are compiled when they are called first.
    """

    def __init__(self, structure: MarginStructure, constants: list[Any], size: int, compiler: Compiler) -> None:
        self._structure, self._constants, self._size, self._compiler = structure, constants, size, compiler
        self.has_own_terms = structure.has_own_terms
        #: f as a sum over the margins that count; None if all do.
        self._sum = find_weighted_sum(structure, constants)
        self._arguments = constants if self._sum is None else self._sum.constants
        self._reader = MapReader(structure.jaxpr, compiler)
        self._compiled: Any = None
        self._compiled_map: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> JaxMargins:
        """Itself: what was traced and compiled does not change, and cannot be copied."""
        return self

    @property
    def compilations(self) -> int:
        """How many functions have been compiled."""
        return self._compiler.count

    @property
    def count(self) -> int:
        """How many margins count."""
        return self._structure.count if self._sum is None else int(self._sum.kept.size)

    @cached_property
    def is_quadratic(self) -> bool:
        """Whether f is quadratic: steps of its value count, though they leave no trace in its slopes."""
        inputs = self._make_inputs(np.zeros(self.count), np.zeros(self._size))
        with use_float64():
            jaxpr = jax.make_jaxpr(self._combine)(self._arguments, *inputs).jaxpr
        return find_degrees(jaxpr, [0] * len(self._arguments) + [1] * len(inputs))[0] <= 2

    def differentiate(self, margins: Array, x: Array) -> MarginDerivatives:
        """f, its slopes and its curvatures in the margins, and in the entries of x besides these."""
        inputs = self._make_inputs(margins, x)
        with use_float64():
            if self._compiled is None:
                self._compiled = self._compiler.compile(self._differentiate, self._arguments, *inputs)
            value, *derivatives = self._compiled(self._arguments, *inputs)
            return MarginDerivatives(float(value), *map(np.asarray, derivatives))

    def compute_map(self) -> tuple[Array, Array] | None:
        """b, and the columns of A as rows; None if they would take long."""
        structure = self._structure
        with use_float64():
            found = self._reader.read_map(structure.margins, structure.know(self._constants))
            if found is not None or self._size > MAX_DIRECTIONS:
                return None if found is None else self._select(*found)
            directions = np.eye(self._size)
            if self._compiled_map is None:
                self._compiled_map = self._compiler.compile(self._map, self._constants, directions)
            offset, columns = self._compiled_map(self._constants, directions)
            return self._select(np.array(offset), np.array(columns))

    def _select(self, offset: Array, columns: Array) -> tuple[Array, Array]:
        """The map of the margins that count."""
        if self._sum is None:
            return offset, columns
        return offset[self._sum.kept], columns[:, self._sum.kept]

    def _make_inputs(self, margins: Array, x: Array) -> tuple[Array, ...]:
        return (margins, x) if self.has_own_terms else (margins,)

    def _combine(self, constants: Any, margins: Any, *own: Any) -> Any:
        if self._sum is not None:
            return self._sum.combine(constants, margins)
        return self._structure.combine(constants, own[0] if own else None, margins)

    def _differentiate(self, constants: Any, *inputs: Any) -> list[Any]:
        """f, then slopes and curvatures in the margins, then those in the entries of x."""
        differentiate = jax.value_and_grad(lambda *inputs: self._combine(constants, *inputs), tuple(range(len(inputs))))
        # No margin acts on the slope of another, so one product with the Hessian has its whole diagonal.
        (value, slopes), (_, curvatures) = jax.jvp(differentiate, inputs, tuple(map(jnp.ones_like, inputs)))
        return [value, *(array for pair in zip(slopes, curvatures, strict=True) for array in pair)]

    def _map(self, constants: Any, directions: Any) -> Any:
        def compute(x: Any) -> Any:
            return self._structure.compute_margins(constants, x)

        zero = jnp.zeros(self._size)
        return compute(zero), jax.vmap(lambda direction: jax.jvp(compute, (zero,), (direction,))[1])(directions)
