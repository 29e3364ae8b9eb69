"""What a traced function of JAX is: how it depends on x, and whether it is a sum of functions of one margin each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..._types import IntArray
from .jax_programs import CALLS, evaluate_part, find_inner, is_literal

__all__ = [
    "ENTRYWISE",
    "MarginStructure",
    "UnknownOperationError",
    "find_degree",
    "find_degrees",
    "find_structure",
    "move_entries",
]

#: Operations that are linear in all arguments together,
LINEAR = frozenset(
    {"add", "add_any", "sub", "neg", "reduce_sum", "cumsum", "broadcast_in_dim", "reshape", "transpose", "squeeze"}
    | {"expand_dims", "slice", "split", "concatenate", "pad", "rev", "copy", "copy_p"}
)
#: in each argument while the others are constant,
BILINEAR = frozenset({"mul", "dot_general", "conv_general_dilated"})
#: and in all but these, such as indices.
LINEAR_EXCEPT = {
    "div": slice(1, None),
    "gather": slice(1, 2),
    "scatter": slice(1, 2),
    "scatter-add": slice(1, 2),
    "dynamic_slice": slice(1, None),
    "dynamic_update_slice": slice(2, None),
    "select_n": slice(0, 1),
}
#: Operations on each entry alone: an entry of the result depends on the entries of the arguments in the same place.
ENTRYWISE = frozenset(
    {"add", "add_any", "sub", "neg", "mul", "div", "abs", "sign", "max", "min", "pow", "integer_pow", "square", "sqrt"}
    | {"rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "logistic", "tanh", "sinh", "cosh", "sin", "cos", "tan"}
    | {"asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "erf", "erfc", "erf_inv", "lgamma", "digamma"}
    | {
        "select_n",
        "clamp",
        "gt",
        "lt",
        "ge",
        "le",
        "eq",
        "ne",
        "and",
        "or",
        "not",
        "xor",
        "is_finite",
        "copy",
        "copy_p",
    }
)


def find_degrees(jaxpr: Any, inputs: list[int]) -> list[int]:
    """The degrees of the outputs of a traced function as polynomials in x, given those of its inputs.

    They are 0, 1, 2, or 3 for what is not known to be a polynomial of degree at most 2.
    """
    degrees = dict(zip(jaxpr.invars, inputs, strict=True))

    def get(variable: Any) -> int:
        return 0 if is_literal(variable) else degrees.get(variable, 0)

    for equation in jaxpr.eqns:
        arguments = [get(variable) for variable in equation.invars]
        outputs = [find_degree(equation, arguments)] * len(equation.outvars)
        if max(arguments, default=0) and equation.primitive.name in CALLS:
            outputs = find_degrees(find_inner(equation), arguments)
        degrees.update(zip(equation.outvars, outputs, strict=True))
    return [get(variable) for variable in jaxpr.outvars]


def find_degree(equation: Any, arguments: list[int]) -> int:
    """The degree of the results of an operation, given those of its arguments; see `find_degrees`."""
    name, highest, unknown = equation.primitive.name, max(arguments, default=0), 3
    if highest in (0, unknown):
        return highest
    if name in BILINEAR:
        return min(sum(arguments), unknown)
    if name == "square" or (name == "integer_pow" and equation.params["y"] == 2):
        return min(2 * highest, unknown)
    is_linear = (
        name in LINEAR
        or (name in LINEAR_EXCEPT and not any(arguments[LINEAR_EXCEPT[name]]))
        or (name == "convert_element_type" and equation.params["new_dtype"] == jnp.float64)
    )
    return highest if is_linear else unknown


# --- sums of functions of one margin each ----------------------------------------------------------------------------


class UnknownOperationError(Exception):
    """An operation that is not known here, so that nothing is known of the function."""


@dataclass(frozen=True)
class _Dependence:
    """How a variable depends on x."""

    #: The number of the one margin on which each entry depends; None if an entry is a sum over several.
    margins: IntArray | None
    #: Whether it is affine in x.
    is_affine: bool


@dataclass(frozen=True)
class MarginStructure:
    """f(x) = Σᵢ φᵢ(mᵢ) + Σⱼ ψⱼ(xⱼ) with margins m that are affine in x, as a traced function shows it.

    The traced function has the arrays that the user's function closes over, the constants, as its first arguments.
    """

    jaxpr: Any
    #: The variables that are margins.
    margins: tuple[Any, ...]
    #: Whether f depends on x besides its margins.
    has_own_terms: bool

    @property
    def count(self) -> int:
        """How many margins there are."""
        return sum(math.prod(variable.aval.shape) for variable in self.margins)

    def compute_margins(self, constants: Any, x: Any) -> Any:
        """The margins as one vector."""
        known = self.know(constants, x)
        parts = evaluate_part(self.jaxpr, list(self.margins), known)
        return jnp.concatenate([jnp.zeros(0), *(part.reshape(-1) for part in parts)])

    def combine(self, constants: Any, x: Any, margins: Any) -> Any:
        """f, given x and its margins."""
        known, first = self.know(constants, x), 0
        for variable in self.margins:
            last = first + math.prod(variable.aval.shape)
            known[variable], first = margins[first:last].reshape(variable.aval.shape), last
        return evaluate_part(self.jaxpr, self.jaxpr.outvars, known)[0]

    def know(self, constants: Any, x: Any = None) -> dict[Any, Any]:
        """The variables with these values; without x if it is None."""
        pairs = zip(self.jaxpr.invars, (*constants, x), strict=True)
        return {variable: value for variable, value in pairs if value is not None}


def find_structure(jaxpr: Any) -> MarginStructure | None:
    """The structure of a function without calls whose last input is x; None if it is not known to have one."""
    x, output = jaxpr.invars[-1], jaxpr.outvars[0]
    classified = _Classification(x)
    try:
        for equation in jaxpr.eqns:
            classified.add(equation)
    except UnknownOperationError:
        return None
    if output not in classified.dependences:
        return None  # f is constant
    return _prune(jaxpr, classified, x, output)


def _prune(jaxpr: Any, classified: _Classification, x: Any, output: Any) -> MarginStructure:
    """The structure with those margins on which f depends otherwise than by other margins."""
    needed, used, has_own_terms = {output}, [], False
    for equation in reversed(jaxpr.eqns):
        for variable in equation.outvars:
            if variable in needed and variable in classified.mixed:
                used.append(variable)
                needed.discard(variable)
        if needed.intersection(equation.outvars):
            needed.update(v for v in equation.invars if not is_literal(v))
    has_own_terms = x in needed
    return MarginStructure(jaxpr, tuple(reversed(used)), has_own_terms)


class _Classification:
    """How the variables of a traced function depend on x, operation by operation."""

    def __init__(self, x: Any) -> None:
        size = math.prod(x.aval.shape)
        self.dependences: dict[Any, _Dependence] = {x: _Dependence(np.arange(size).reshape(x.aval.shape), True)}
        #: Variables that mix several entries of x, affinely: margins.
        self.mixed: set[Any] = set()
        self._count = size

    def add(self, equation: Any) -> None:
        """Classify the results of an operation."""
        arguments = [None if is_literal(v) else self.dependences.get(v) for v in equation.invars]
        if not any(arguments):
            return
        for variable, dependence in zip(equation.outvars, self._classify(equation, arguments), strict=True):
            self.dependences[variable] = dependence or self._start_margins(variable)

    def _start_margins(self, variable: Any) -> _Dependence:
        """An affine mixture of entries of x: its entries are margins of their own."""
        size = math.prod(variable.aval.shape)
        self.mixed.add(variable)
        self._count += size
        return _Dependence(np.arange(self._count - size, self._count).reshape(variable.aval.shape), True)

    def _classify(self, equation: Any, arguments: list[_Dependence | None]) -> list[_Dependence | None]:
        """The dependence of each result; None if it begins margins."""
        given = [argument for argument in arguments if argument is not None]
        count = len(equation.outvars)
        aligned = _align(equation, given)
        is_affine = find_degree(equation, [0 if a is None else 2 - a.is_affine for a in arguments]) == 1
        if aligned is not None:
            return [_Dependence(aligned, is_affine)] * count
        if is_affine:
            return [None] * count
        if find_degree(equation, [0 if a is None else 1 for a in arguments]) == 1 or _sums_products(equation, given):
            return [_Dependence(None, False)] * count
        raise UnknownOperationError


def _sums_products(equation: Any, given: list[_Dependence]) -> bool:
    """Whether a product, such as w @ w, is a sum of products of entries with the same margin."""
    if equation.primitive.name != "dot_general" or len(given) != 2:
        return False
    axes, _ = equation.params["dimension_numbers"]
    whole = [
        None if argument.margins is None or argument.margins.ndim != len(each) else argument.margins.transpose(each)
        for argument, each in zip(given, axes, strict=True)
    ]
    return whole[0] is not None and whole[1] is not None and np.array_equal(whole[0], whole[1])


def _align(equation: Any, given: list[_Dependence]) -> IntArray | None:
    """The one margin on which each entry of the result depends; None if there is none, or it is not known."""
    first = given[0].margins
    if first is None or any(argument.margins is None for argument in given):
        return None
    moved = move_entries(equation, first) if len(given) == 1 else None
    if moved is not None:
        return moved
    name, shape = equation.primitive.name, equation.outvars[0].aval.shape
    is_entrywise = name in ENTRYWISE or _converts(equation) or _calls_entrywise(equation)
    if not is_entrywise or len(equation.outvars) != 1:
        return None
    whole = [np.broadcast_to(argument.margins, shape) for argument in given if argument.margins is not None]
    return whole[0] if all(np.array_equal(whole[0], other) for other in whole[1:]) else None


def _converts(equation: Any) -> bool:
    return equation.primitive.name == "convert_element_type"


def _calls_entrywise(equation: Any) -> bool:
    """Whether a function with a derivative of its own, such as logaddexp, consists of operations on each entry."""
    if equation.primitive.name != "custom_jvp_call":
        return False
    return _is_entrywise(find_inner(equation))


def _is_entrywise(jaxpr: Any) -> bool:
    for equation in jaxpr.eqns:
        if equation.primitive.name in CALLS | {"custom_jvp_call"}:
            if not _is_entrywise(find_inner(equation)):
                return False
        elif equation.primitive.name == "broadcast_in_dim":
            if equation.invars[0].aval.shape not in ((), equation.outvars[0].aval.shape):
                return False
        elif equation.primitive.name not in ENTRYWISE and not _converts(equation):
            return False
    return True


def move_entries(equation: Any, numbers: IntArray) -> IntArray | None:
    """What becomes of numbers that go with the entries, if an operation only moves or repeats these; otherwise None."""
    parameters, shape = equation.params, equation.outvars[0].aval.shape
    match equation.primitive.name:
        case "reshape":
            order = parameters.get("dimensions")
            return (numbers if order is None else numbers.transpose(order)).reshape(shape)
        case "squeeze" | "expand_dims":
            return numbers.reshape(shape)
        case "transpose":
            return numbers.transpose(parameters["permutation"])
        case "rev":
            return np.flip(numbers, parameters["dimensions"])
        case "broadcast_in_dim":
            lengths = dict(zip(parameters["broadcast_dimensions"], numbers.shape, strict=True))
            return np.broadcast_to(numbers.reshape([lengths.get(axis, 1) for axis in range(len(shape))]), shape)
        case "slice":
            strides = parameters["strides"] or (1,) * numbers.ndim
            limits = zip(parameters["start_indices"], parameters["limit_indices"], strides, strict=True)
            return numbers[tuple(slice(*limit) for limit in limits)]
    return None
