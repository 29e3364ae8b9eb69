"""Constructors that only keep their parameters, as scikit-learn wants them: the signature says it all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

__all__ = ["keeps_parameters"]

F = TypeVar("F", bound=Callable[..., None])


def keeps_parameters(constructor: F) -> F:
    """Make a constructor keep each parameter under its own name; its body only documents that it does.

    Examples
    --------
    >>> class Model:
    ...     @keeps_parameters
    ...     def __init__(self, k: int = 10, *, alpha: float = 0.0) -> None: ...
    >>> vars(Model(3))
    {'k': 3, 'alpha': 0.0}
    """
    parameters = signature(constructor)

    @wraps(constructor)
    def keep(*arguments: Any, **keywords: Any) -> None:
        given = parameters.bind(*arguments, **keywords)
        given.apply_defaults()
        (_, model), *values = given.arguments.items()
        for name, value in values:
            setattr(model, name, value)

    return keep  # type: ignore[return-value]
