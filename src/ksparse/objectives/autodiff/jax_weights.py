"""Margins that count: those that f weights by zero, such as states that were never seen, are left out.

A function that ends in a weighted sum is taken apart: f = c + Σₑ wₑ·vₑ, with weights w that are constants and values v
that are functions of one margin each. Values with the weight zero are not computed.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._types import Array, IntArray
from .jax_programs import evaluate_part, find_inner, is_literal
from .jax_structure import ENTRYWISE, MarginStructure, UnknownOperationError, find_degree

__all__ = ["WeightedSum", "find_weighted_sum"]

#: Margins are left out if no larger fraction of them counts.
MAX_KEPT = 0.75


class WeightedSum:
    """f as a sum over the margins that count.

    Parameters
    ----------
    jaxpr : object
        The traced function.
    margins : object
        The one variable that are the margins.
    known : dict
        Values of its constants.
    weights : dict
        The weights of the values, and the constant c.
    kept : ndarray
        The margins that count.
    """

    def __init__(self, jaxpr: Any, margins: Any, known: dict[Any, Any], weights: _Weights, kept: IntArray) -> None:
        self._margins, self._weights, self.kept = margins, weights, kept
        self._maker = {variable: equation for equation in jaxpr.eqns for variable in equation.outvars}
        self._constants: dict[Any, Array] = {}
        for variable in weights.of_values:
            self._collect(jaxpr, variable, known)
        self._values = [(variable, array.ravel()[kept]) for variable, array in weights.of_values.items()]

    @property
    def constants(self) -> list[Array]:
        """The constants of the values that count, which are arguments of what is compiled."""
        return list(self._constants.values())

    def combine(self, constants: list[Any], margins: Any) -> Any:
        """f, given the margins that count."""
        known = {**dict(zip(self._constants, constants, strict=True)), self._margins: margins}
        return self._weights.constant + sum(weights @ self._evaluate(v, known) for v, weights in self._values)

    def _collect(self, jaxpr: Any, variable: Any, known: dict[Any, Any]) -> None:
        """Check that a value is computed entry by entry, and collect the constants that it needs."""
        if is_literal(variable) or variable is self._margins or variable in self._constants:
            return
        if variable not in self._weights.depends:
            whole = np.asarray(evaluate_part(jaxpr, [variable], known)[0])
            if whole.shape not in ((), self._margins.aval.shape):
                raise UnknownOperationError
            self._constants[variable] = whole if whole.ndim == 0 else whole.ravel()[self.kept]
            return
        equation = self._maker[variable]
        if variable.aval.shape != self._margins.aval.shape:
            raise UnknownOperationError
        if equation.primitive.name not in ENTRYWISE and not _is_logaddexp(equation):
            raise UnknownOperationError
        for argument in equation.invars:
            self._collect(jaxpr, argument, known)

    def _evaluate(self, variable: Any, known: dict[Any, Any]) -> Any:
        if is_literal(variable):
            return variable.val
        if variable not in known:
            equation = self._maker[variable]
            arguments = [self._evaluate(v, known) for v in equation.invars]
            if equation.primitive.name in ENTRYWISE:
                known[variable] = equation.primitive.bind(*arguments, **equation.params)
            else:
                known[variable] = jnp.logaddexp(*arguments)
        return known[variable]


def _is_logaddexp(equation: Any) -> bool:
    """Whether an operation is `jnp.logaddexp`, which has derivatives of its own."""
    if equation.primitive.name != "custom_jvp_call":
        return False
    arguments = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars]
    traced = jax.make_jaxpr(jnp.logaddexp)(*arguments).jaxpr
    while len(traced.eqns) == 1 and traced.eqns[0].primitive.name != "custom_jvp_call":
        traced = find_inner(traced.eqns[0])
    return len(traced.eqns) == 1 and str(find_inner(traced.eqns[0])) == str(find_inner(equation))


def find_weighted_sum(structure: MarginStructure, constants: list[Any]) -> WeightedSum | None:
    """f as a sum over the margins that count, if many do not; otherwise None."""
    known = structure.know(constants)
    if structure.has_own_terms or len(structure.margins) != 1:
        return None
    if not any(np.ndim(constant) and not np.asarray(constant).all() for constant in constants):
        return None  # no weight is zero
    margins = structure.margins[0]
    try:
        weights = _Weights(structure.jaxpr, margins, known)
        kept = np.flatnonzero(np.any([array.ravel() != 0 for array in weights.of_values.values()], axis=0))
        if kept.size > MAX_KEPT * math.prod(margins.aval.shape):
            return None
        return WeightedSum(structure.jaxpr, margins, known, weights, kept)
    except UnknownOperationError:
        return None


class _Weights:
    """The weights with which f sums values that are no sums themselves, found backwards from f."""

    def __init__(self, jaxpr: Any, margins: Any, known: dict[Any, Any]) -> None:
        self._jaxpr, self._known = jaxpr, known
        self.constant = 0.0
        self.of_values: dict[Any, Array] = {}
        self.depends = {margins}
        found: dict[Any, Array] = {jaxpr.outvars[0]: np.ones(())}
        for equation in jaxpr.eqns:
            if any(not is_literal(v) and v in self.depends for v in equation.invars):
                self.depends.update(equation.outvars)
        for equation in reversed(jaxpr.eqns):
            weight = found.pop(equation.outvars[0], None) if equation.outvars[0] is not margins else None
            if weight is None:
                continue
            depends = [not is_literal(v) and v in self.depends for v in equation.invars]
            if find_degree(equation, list(map(int, depends))) != 1:
                self.of_values[equation.outvars[0]] = weight
                continue
            for i, variable in enumerate(equation.invars):
                if depends[i]:
                    found[variable] = found.get(variable, 0.0) + self._pull_back(equation, i, weight)
                elif equation.primitive.name in ("add", "sub"):
                    sign = -1.0 if equation.primitive.name == "sub" and i else 1.0
                    self.constant += sign * float(np.sum(weight * self._read(variable)))
        self.of_values.update(found)
        if any(variable.aval.shape != margins.aval.shape for variable in self.of_values):
            raise UnknownOperationError

    def _read(self, variable: Any) -> Array:
        if is_literal(variable):
            return np.asarray(variable.val)
        return np.asarray(evaluate_part(self._jaxpr, [variable], self._known)[0])

    def _pull_back(self, equation: Any, i: int, weight: Array) -> Array:
        """The weights of an argument of a linear operation, given those of its result."""
        shape, parameters = equation.invars[i].aval.shape, equation.params
        match equation.primitive.name:
            case "add" | "add_any":
                pulled = weight
            case "sub":
                pulled = -weight if i else weight
            case "neg":
                pulled = -weight
            case "mul":
                pulled = weight * self._read(equation.invars[1 - i])
            case "div":
                pulled = weight / self._read(equation.invars[1])
            case "reduce_sum":
                pulled = np.broadcast_to(np.expand_dims(weight, tuple(parameters["axes"])), shape)
            case "dot_general":
                pulled = self._pull_back_product(equation, i, weight)
            case "reshape" | "squeeze" if parameters.get("dimensions") is None or equation.primitive.name == "squeeze":
                pulled = weight.reshape(shape)
            case "transpose":
                pulled = weight.transpose(np.argsort(parameters["permutation"]))
            case _:
                raise UnknownOperationError
        if pulled.shape != shape:
            raise UnknownOperationError  # a number that was repeated
        return pulled

    def _pull_back_product(self, equation: Any, i: int, weight: Array) -> Array:
        axes, batch = equation.params["dimension_numbers"]
        if any(batch) or len(axes[0]) != 1:
            raise UnknownOperationError
        other = self._read(equation.invars[1 - i])
        free = [axis for axis in range(other.ndim) if axis != axes[1 - i][0]]
        # The axes of the result are the free ones of the first argument, then those of the second.
        own = weight.ndim - len(free)
        places = list(range(own, weight.ndim)) if i == 0 else list(range(len(free)))
        return np.moveaxis(np.tensordot(weight, other, (places, free)), -1, axes[i][0])
