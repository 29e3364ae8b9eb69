"""The matrix of an affine part of a traced function, read from its operations without evaluating it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._types import Array, IntArray
from .jax_structure import evaluate_part, is_literal, move_entries

__all__ = ["read_map"]


#: Operations that are known here.
READ = frozenset(
    {"add", "add_any", "sub", "neg", "mul", "div", "dot_general", "reshape", "squeeze", "expand_dims", "transpose"}
    | {"rev", "broadcast_in_dim", "slice"}
)


class _Entries(NamedTuple):
    """Some entries of x, by their places in it."""

    places: IntArray


class _Affine(NamedTuple):
    """b + Ax."""

    #: b, in the shape of the variable.
    offset: Array
    #: Its entries in the rows of x: shape (size of x, *shape of the variable).
    columns: Array


class _UnknownError(Exception):
    """An operation that only JAX knows."""


def read_map(jaxpr: Any, variables: tuple[Any, ...], known: dict[Any, Any]) -> tuple[Array, Array] | None:
    """b and the columns of A (as rows) of some variables that are Ax + b; None if an operation is not known here.

    x is the last input of the traced function, and `known` the values of the others.
    """
    reader = _Reader(jaxpr, known)
    try:
        parts = [reader.expand(reader.read(variable), variable.aval.shape) for variable in variables]
    except _UnknownError:
        return None
    size = reader.size
    offset = np.concatenate([np.zeros(0), *(part.offset.ravel() for part in parts)])
    if len(parts) == 1:
        return offset, np.ascontiguousarray(parts[0].columns.reshape(size, -1))
    return offset, np.concatenate([np.zeros((size, 0)), *(part.columns.reshape(size, -1) for part in parts)], axis=1)


class _Reader:
    def __init__(self, jaxpr: Any, known: dict[Any, Any]) -> None:
        self._jaxpr, self._known, self._x = jaxpr, known, jaxpr.invars[-1]
        self.size = math.prod(self._x.aval.shape)
        self._maker = {variable: equation for equation in jaxpr.eqns for variable in equation.outvars}
        self._depends = {self._x}
        for equation in jaxpr.eqns:
            if any(not is_literal(v) and v in self._depends for v in equation.invars):
                self._depends.update(equation.outvars)

    def read(self, variable: Any) -> Array | _Entries | _Affine:
        """What a variable is: a constant, entries of x, or affine in x."""
        if is_literal(variable) or variable not in self._depends:
            return self._read_constant(variable)
        if variable is self._x:
            return _Entries(np.arange(self.size))
        equation = self._maker[variable]
        if equation.primitive.name not in READ:
            raise _UnknownError  # before any constant is computed
        arguments = [self.read(v) for v in equation.invars]
        if isinstance(arguments[0], _Entries):
            places = move_entries(equation, arguments[0].places)
            if places is not None:
                return _Entries(places)
        if equation.primitive.name == "dot_general":
            return self._multiply(arguments[0], arguments[1], equation.params["dimension_numbers"])
        return self._combine(equation.primitive.name, arguments, variable.aval.shape)

    def _combine(self, name: str, arguments: list[Any], shape: tuple[int, ...]) -> _Affine:
        """The result of an arithmetic operation."""
        if name in ("add", "add_any", "sub"):
            first, second = (self.expand(argument, shape) for argument in arguments)
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
        raise _UnknownError

    def _scale(self, part: Any, factor: Any, shape: tuple[int, ...]) -> _Affine:
        affine = self.expand(part, shape)
        return _Affine(affine.offset * factor, affine.columns * factor)

    def expand(self, part: Array | _Entries | _Affine, shape: tuple[int, ...]) -> _Affine:
        """A constant or entries of x as an affine function."""
        if isinstance(part, _Affine):
            return part
        if isinstance(part, np.ndarray):
            return _Affine(np.broadcast_to(part, shape), np.zeros((1,) * (1 + len(shape))))
        places = np.broadcast_to(part.places, shape)
        columns = np.zeros((self.size, places.size))
        columns[places.ravel(), np.arange(places.size)] = 1.0
        return _Affine(np.zeros(shape), columns.reshape(self.size, *shape))

    def _read_constant(self, variable: Any) -> Array:
        if is_literal(variable):
            return np.asarray(variable.val)
        if variable not in self._known:
            self._known[variable] = evaluate_part(self._jaxpr, [variable], self._known)[0]
        return np.asarray(self._known[variable])

    def _multiply(self, first: Any, second: Any, dimensions: Any) -> _Affine:
        """The product of a constant matrix and a vector of entries of x."""
        (axes, batch) = dimensions
        if any(batch):
            raise _UnknownError
        if isinstance(first, np.ndarray):
            matrix, entries, axis = first, second, axes[0]
        else:
            matrix, entries, axis = second, first, axes[1]
        if not isinstance(entries, _Entries) or not isinstance(matrix, np.ndarray):
            raise _UnknownError
        if entries.places.ndim != 1 or len(axis) != 1 or matrix.ndim > 2:
            raise _UnknownError
        rows = np.moveaxis(matrix, axis[0], 0).astype(np.float64)
        if np.array_equal(entries.places, np.arange(self.size)):
            columns = rows
        else:
            columns = np.zeros((self.size, *rows.shape[1:]))
            np.add.at(columns, entries.places, rows)
        return _Affine(np.zeros(rows.shape[1:]), columns)
