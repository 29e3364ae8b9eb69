"""Traced functions of JAX as programs: evaluated in part, and without calls and repetitions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

__all__ = ["CALLS", "evaluate_part", "find_inner", "inline_calls", "is_literal", "merge_repetitions"]

#: Operations of JAX that call a function which they have as a parameter.
CALLS = frozenset({"jit", "pjit", "closed_call", "core_call"})


def is_literal(variable: Any) -> bool:
    """Whether a variable of a traced function is a number that stands in it."""
    return hasattr(variable, "val")


def find_inner(equation: Any) -> Any:
    """The traced function that an operation calls."""
    inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
    return getattr(inner, "jaxpr", inner)


def _rebuild(jaxpr: Any, inputs: list[Any], outputs: list[Any], equations: list[Any]) -> Any:
    """A traced function of other variables, made of operations of this one."""
    # The names of its arguments are not those of the new one: JAX drops them itself, but for versions of 2024.
    dropped = {} if hasattr(jaxpr.debug_info, "with_unknown_names") else {"debug_info": None}
    return jaxpr.replace(constvars=[], invars=inputs, outvars=outputs, eqns=equations, **dropped)


def _run(jaxpr: Any, equations: list[Any], known: dict[Any, Any], outputs: list[Any]) -> list[Any]:
    """The values of some variables by a part of a traced function."""
    part = _rebuild(jaxpr, list(known), outputs, equations)
    return list(jax.core.eval_jaxpr(part, [], *known.values()))


def inline_calls(jaxpr: Any, constants: Iterable[Any], *inputs: Any) -> list[Any]:
    """Evaluate a traced function; traced again, it has no calls of jitted functions, but their operations."""
    known = dict(zip(jaxpr.constvars, constants, strict=True))
    known.update(zip(jaxpr.invars, inputs, strict=True))
    for equation in jaxpr.eqns:
        arguments = [_get(known, variable) for variable in equation.invars]
        if equation.primitive.name in CALLS:
            inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
            results = inline_calls(find_inner(equation), getattr(inner, "consts", ()), *arguments)
        else:
            given = {v: _get(known, v) for v in equation.invars if not is_literal(v)}
            results = _run(jaxpr, [equation], given, equation.outvars)
        known.update(zip(equation.outvars, results, strict=True))
    return [_get(known, variable) for variable in jaxpr.outvars]


def _get(known: dict[Any, Any], variable: Any) -> Any:
    return variable.val if is_literal(variable) else known[variable]


def evaluate_part(jaxpr: Any, outputs: list[Any], known: dict[Any, Any]) -> list[Any]:
    """The values of some variables of a traced function, computed from others that are known."""
    needed, selected = set(outputs) - set(known), []
    for equation in reversed(jaxpr.eqns):
        if needed.intersection(equation.outvars):
            selected.append(equation)
            needed.update(v for v in equation.invars if not is_literal(v) and v not in known)
    return _run(jaxpr, selected[::-1], known, outputs)


def merge_repetitions(jaxpr: Any, constants: list[Any]) -> tuple[Any, list[Any]]:
    """A traced function without calls, and its constants, with operations and constants that are the same only once.

    Its constants, which closures in the user's code may repeat, become its first arguments.
    """
    variables, x = [*jaxpr.constvars, *jaxpr.invars[:-1]], jaxpr.invars[-1]
    renamed: dict[Any, Any] = {}
    kept: dict[Any, tuple[Any, Any]] = {}
    kinds = Counter((constant.shape, constant.dtype) for constant in constants)
    for variable, constant in zip(variables, constants, strict=True):
        is_alone = kinds[constant.shape, constant.dtype] == 1
        key = variable if is_alone else (constant.shape, constant.dtype, _digest(constant))
        renamed[variable], _ = kept.setdefault(key, (variable, constant))
    equations, seen = [], dict[Any, Any]()
    for equation in jaxpr.eqns:
        inputs = [v if is_literal(v) else renamed.get(v, v) for v in equation.invars]
        key = _describe_operation(equation, inputs)
        if key is not None and key in seen:
            renamed.update(zip(equation.outvars, seen[key], strict=True))
            continue
        if key is not None:
            seen[key] = equation.outvars
        equations.append(equation.replace(invars=inputs))
    outputs = [v if is_literal(v) else renamed.get(v, v) for v in jaxpr.outvars]
    arguments = [variable for variable, _ in kept.values()]
    merged = _rebuild(jaxpr, [*arguments, x], outputs, equations)
    return merged, [constant for _, constant in kept.values()]


def _digest(constant: Any) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(constant).tobytes()).digest()


def _describe_operation(equation: Any, inputs: list[Any]) -> Any:
    """A key that operations have in common if they are the same; None if it is not known."""
    variables = tuple((str(v.aval), str(v.val)) if is_literal(v) else v for v in inputs)
    key = equation.primitive.name, variables, tuple(sorted(equation.params.items()))
    try:
        hash(key)
    except TypeError:
        return None
    return key
