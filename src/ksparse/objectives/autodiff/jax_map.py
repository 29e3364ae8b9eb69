"""The matrix of an affine part of a traced function, read from its operations without evaluating it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._types import Array, IntArray
from .jax_compiler import Compiler
from .jax_programs import evaluate_part, is_literal
from .jax_structure import UnknownOperationError, move_entries

__all__ = ["MapReader"]


#: Operations that are known here.
READ = frozenset(
    {"add", "add_any", "sub", "neg", "mul", "div", "dot_general", "reshape", "squeeze", "expand_dims", "transpose"}
    | {"rev", "broadcast_in_dim", "slice", "reduce_sum", "cumsum"}
)
#: Operations each of whose entries is one of an argument; JAX evaluates them on numbers of entries.
SELECTING = frozenset({"gather", "scatter", "concatenate", "pad", "dynamic_slice"})


class _Entries(NamedTuple):
    """Some entries of x, by their places in it; -1 stands for zeros."""

    places: IntArray


class _Affine(NamedTuple):
    """b + Ax."""

    #: b, in the shape of the variable.
    offset: Array
    #: Its entries in the rows of x: shape (size of x, *shape of the variable).
    columns: Array


class MapReader:
    """Reads the matrix of an affine part of a traced function.

    Parameters
    ----------
    jaxpr : object
        The traced function, whose last input is x.
    compiler : Compiler
        What compiles the operations that select entries of x.
    """

    def __init__(self, jaxpr: Any, compiler: Compiler) -> None:
        self._jaxpr, self._compiler, self._x = jaxpr, compiler, jaxpr.invars[-1]
        self._selections: dict[Any, _Entries] = {}
        self._known: dict[Any, Any] = {}
        self.size = math.prod(self._x.aval.shape)
        self._maker = {variable: equation for equation in jaxpr.eqns for variable in equation.outvars}
        self._depends = {self._x}
        for equation in jaxpr.eqns:
            if any(not is_literal(v) and v in self._depends for v in equation.invars):
                self._depends.update(equation.outvars)

    def read_map(self, variables: tuple[Any, ...], known: dict[Any, Any]) -> tuple[Array, Array] | None:
        """b and the columns of A (as rows) of some variables that are Ax + b; None if an operation is not known here.

        `known` has the values of the other inputs.
        """
        self._known = known
        try:
            parts = [self._expand(self._read(variable), variable.aval.shape) for variable in variables]
        except UnknownOperationError:
            return None
        offset = np.concatenate([np.zeros(0), *(part.offset.ravel() for part in parts)])
        columns = [np.ascontiguousarray(part.columns.reshape(self.size, -1)) for part in parts]
        return offset, columns[0] if len(columns) == 1 else np.concatenate([np.zeros((self.size, 0)), *columns], axis=1)

    def _read(self, variable: Any) -> Array | _Entries | _Affine:
        """What a variable is: a constant, entries of x, or affine in x."""
        if is_literal(variable) or variable not in self._depends:
            return self._read_constant(variable)
        if variable is self._x:
            return _Entries(np.arange(self.size))
        equation = self._maker[variable]
        name = equation.primitive.name
        if name in SELECTING:
            return self._select(variable)
        if name not in READ:
            raise UnknownOperationError  # before any constant is computed
        arguments = [self._read(v) for v in equation.invars]
        if isinstance(arguments[0], _Entries):
            places = move_entries(equation, arguments[0].places)
            if places is not None:
                return _Entries(places)
        if name == "dot_general":
            return self._multiply(arguments, equation)
        if name in ("reduce_sum", "cumsum"):
            return self._sum(self._expand(arguments[0], equation.invars[0].aval.shape), equation)
        return self._combine(name, arguments, variable.aval.shape)

    def _sum(self, affine: _Affine, equation: Any) -> _Affine:
        parameters = equation.params
        if equation.primitive.name == "reduce_sum":
            axes = tuple(parameters["axes"])
            return _Affine(affine.offset.sum(axis=axes), affine.columns.sum(axis=tuple(axis + 1 for axis in axes)))
        axis = parameters["axis"]
        if not parameters["reverse"]:
            return _Affine(affine.offset.cumsum(axis), affine.columns.cumsum(axis + 1))
        flipped = np.flip(affine.offset, axis).cumsum(axis), np.flip(affine.columns, axis + 1).cumsum(axis + 1)
        return _Affine(np.flip(flipped[0], axis), np.flip(flipped[1], axis + 1))

    def _select(self, variable: Any) -> _Entries:
        """Which entries of x a selection of them has."""
        selections = SELECTING | {"reshape", "squeeze", "expand_dims", "transpose", "rev", "broadcast_in_dim", "slice"}
        pending = [variable]
        while pending:
            inner = pending.pop()
            if not is_literal(inner) and inner in self._depends and inner is not self._x:
                if self._maker[inner].primitive.name not in selections:
                    raise UnknownOperationError
                pending.extend(self._maker[inner].invars)
        if variable not in self._selections:
            self._selections[variable] = self._number_entries(variable)
        return self._selections[variable]

    def _number_entries(self, variable: Any) -> _Entries:
        """Which entries of x a variable has, found by its value where each entry of x is its own number."""
        names = list(self._known)

        def evaluate(constants: list[Any], numbers: Any) -> Any:
            known = {**dict(zip(names, constants, strict=True)), self._x: numbers}
            return evaluate_part(self._jaxpr, [variable], known)[0]

        constants, numbers = list(self._known.values()), np.arange(1.0, 1.0 + self.size)
        compiled = self._compiler.compile(evaluate, constants, numbers)
        if np.asarray(compiled(constants, np.zeros(self.size))).any():
            raise UnknownOperationError  # there are constants among them
        return _Entries(np.asarray(compiled(constants, numbers)).astype(np.intp) - 1)

    def _combine(self, name: str, arguments: list[Any], shape: tuple[int, ...]) -> _Affine:
        """The result of an arithmetic operation."""
        if name in ("add", "add_any", "sub"):
            first, second = (self._expand(argument, shape) for argument in arguments)
            sign = -1.0 if name == "sub" else 1.0
            return _Affine(first.offset + sign * second.offset, first.columns + sign * second.columns)
        if name == "neg":
            return self._scale(arguments[0], -1.0, shape)
        if name == "mul" and isinstance(arguments[0], np.ndarray):
            return self._scale(arguments[1], arguments[0], shape)
        if name == "mul" and isinstance(arguments[1], np.ndarray):
            return self._scale(arguments[0], arguments[1], shape)
        if name == "div" and isinstance(arguments[1], np.ndarray):
            return self._scale(arguments[0], 1.0 / arguments[1], shape)
        raise UnknownOperationError

    def _scale(self, part: Any, factor: Any, shape: tuple[int, ...]) -> _Affine:
        affine = self._expand(part, shape)
        return _Affine(affine.offset * factor, affine.columns * factor)

    def _expand(self, part: Array | _Entries | _Affine, shape: tuple[int, ...]) -> _Affine:
        """A constant or entries of x as an affine function."""
        if isinstance(part, _Affine):
            columns = part.columns.reshape(self.size, *(1,) * (len(shape) - part.offset.ndim), *part.offset.shape)
            return _Affine(np.broadcast_to(part.offset, shape), np.broadcast_to(columns, (self.size, *shape)))
        if isinstance(part, np.ndarray):
            return _Affine(np.broadcast_to(part, shape), np.zeros((1,) * (1 + len(shape))))
        places = np.broadcast_to(part.places, shape)
        columns, used = np.zeros((self.size, places.size)), np.flatnonzero(places.ravel() >= 0)
        columns[places.ravel()[used], used] = 1.0
        return _Affine(np.zeros(shape), columns.reshape(self.size, *shape))

    def _read_constant(self, variable: Any) -> Array:
        if is_literal(variable):
            return np.asarray(variable.val)
        if variable not in self._known:
            self._known[variable] = evaluate_part(self._jaxpr, [variable], self._known)[0]
        return np.asarray(self._known[variable])

    def _multiply(self, arguments: list[Any], equation: Any) -> _Affine:
        """The product of a constant matrix or vector with something affine."""
        axes, batch = equation.params["dimension_numbers"]
        i = 0 if isinstance(arguments[0], np.ndarray) else 1
        matrix, part = arguments[i], arguments[1 - i]
        if any(batch) or len(axes[0]) != 1 or not isinstance(matrix, np.ndarray) or matrix.ndim > 2:
            raise UnknownOperationError
        rows = np.moveaxis(matrix, axes[i][0], 0).astype(np.float64)
        if isinstance(part, _Entries) and np.array_equal(part.places, np.arange(self.size)):
            return _Affine(np.zeros(rows.shape[1:]), rows)  # x itself
        affine = self._expand(part, equation.invars[1 - i].aval.shape)
        columns = np.moveaxis(affine.columns, 1 + axes[1 - i][0], 1)
        offset = np.moveaxis(affine.offset, axes[1 - i][0], 0)
        if columns.ndim > 3:
            raise UnknownOperationError
        free, others = rows.reshape(len(rows), -1), columns.reshape(*columns.shape[:2], -1)
        whole = np.concatenate([others, offset.reshape(1, len(rows), -1)])
        product = free.T @ whole if i == 0 else np.swapaxes(whole, 1, 2) @ free
        product = product.reshape(-1, *equation.outvars[0].aval.shape)
        return _Affine(product[-1], product[:-1])
