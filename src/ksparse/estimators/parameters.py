"""Parameters that other packages have and these estimators have not: what to pass instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature

__all__ = ["INSTEAD", "check_parameter_names", "list_parameters"]

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


def list_parameters(cls: type) -> list[str]:
    """The parameters of a class, from its ``__init__``: `inspect.signature` of a class may ask ``__new__``."""
    _, *names = signature(cls.__init__).parameters  # type: ignore[misc]
    return names


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
