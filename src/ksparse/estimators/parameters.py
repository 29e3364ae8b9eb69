"""Other names of parameters, and those that other packages have and these estimators have not: what to pass instead."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from typing import Any, TypeVar

__all__ = ["INSTEAD", "accept_names", "check_parameter_names", "list_names", "list_parameters"]

C = TypeVar("C", bound=type)

#: What to do in place of parameters of scikit-learn and others.
INSTEAD = {
    "C": "alpha is the ridge, f = mean loss + (alpha/2)·‖w‖²; a smaller C is a larger alpha",
    "alphas": "alpha is one ridge; the estimator with CV after its name chooses among alphas",
    "groups": "feature_groups groups the features; groups of the samples are passed to fit",
    "ks": "k is one number; the estimator with CV or IC after its name chooses among ks",
    "lambda_": "alpha is the ridge, f = mean loss + (alpha/2)·‖w‖²",
    "max_iter": "iterations are not limited; effort=1 to 5 spends more time on a lower objective",
    "n_features_to_select": "k is the number of features",
    "normalize": "standardize=True divides features by their standard deviations",
    "penalty": "k is the number of features, and alpha the ridge",
    "random_state": "results are deterministic",
    "tol": "fits are exact up to rounding",
}


@cache
def _list_arguments(initialize: Callable[..., None]) -> tuple[str, ...]:
    return tuple(signature(initialize).parameters)


def list_parameters(cls: type) -> list[str]:
    """The parameters of a class, from its ``__init__``: `inspect.signature` of a class may ask ``__new__``."""
    _, *names = _list_arguments(cls.__init__)  # type: ignore[misc]
    return names


def list_names(cls: type) -> list[str]:
    """The names that the constructor of a class takes: those of its parameters, and others of `accept_names`."""
    return [*list_parameters(cls), *getattr(cls.__init__, "other_names", ())]  # type: ignore[misc]


def accept_names(**names: str) -> Callable[[C], C]:
    """Let the constructor of a class take parameters by other names too, as ``accept_names(other="parameter")``.

    This is for names that cannot be attributes: to scikit-learn, whatever has an attribute ``transform`` is a
    transformer. Parameters, attributes and what `get_params` returns keep their own names.

    Examples
    --------
    >>> from ksparse.estimators.parameters import accept_names
    >>> @accept_names(color="colour")
    ... class Line:
    ...     def __init__(self, colour="red"):
    ...         self.colour = colour
    >>> Line(color="blue").colour
    'blue'
    """

    def decorate(cls: C) -> C:
        initialize = cls.__init__  # type: ignore[misc]

        @wraps(initialize)  # `inspect.signature` shows the parameters
        def construct(self: Any, *values: Any, **options: Any) -> None:
            for other in names.keys() & options.keys():
                if names[other] in options:
                    raise TypeError(f"{other} is another name of {names[other]}; pass one of them")
                options[names[other]] = options.pop(other)
            initialize(self, *values, **options)

        construct.other_names = tuple(names)  # type: ignore[attr-defined]
        cls.__init__ = construct  # type: ignore[misc]
        return cls

    return decorate


def check_parameter_names(
    name: str, given: Iterable[str], known: Sequence[str], instead: Mapping[str, str] = INSTEAD
) -> None:
    """Raise for a parameter that a class lacks, with what to pass in its place.

    Examples
    --------
    >>> from ksparse.estimators.parameters import check_parameter_names
    >>> check_parameter_names("SparseLinearRegression", ["alfa"], ["k", "alpha"])
    Traceback (most recent call last):
    TypeError: SparseLinearRegression has no parameter 'alfa'; did you mean alpha?
    """
    for parameter in given:
        if parameter in known:
            continue
        close = difflib.get_close_matches(parameter, known, n=1)
        if parameter in instead:
            advice = instead[parameter]
        elif close:
            advice = f"did you mean {close[0]}?"
        else:
            advice = f"it has {', '.join(known)}"
        raise TypeError(f"{name} has no parameter {parameter!r}; {advice}")
