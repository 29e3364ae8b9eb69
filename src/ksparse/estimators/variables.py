"""Checks of the samples of a graph: what is wrong is said by the names of the variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._types import AnyArray, Array
from ..validation import as_real_array, refuse_date_columns
from ..wording import quote_list

__all__ = ["check_variables", "looks_like_covariance"]

#: Number of variables with problems that a message names.
MOST_VARIABLES = 5


def check_variables(estimator: BaseEstimator, X: Any, *target: Any, ensure_min_samples: int = 2) -> Any:
    """Samples of numbers, and labels if any were passed; an error names the variables that have other values."""
    options: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_min_samples": ensure_min_samples}
    try:
        refuse_date_columns(X)
        checked = validate_data(estimator, X, *target, ensure_all_finite=False, **options)
    except (ValueError, TypeError) as error:
        if not (text := _find_text(X)):
            raise
        raise ValueError(
            f"variables must be numbers, but {len(text)} of {len(X.columns)} have text or other values: "
            f"{quote_list(text, MOST_VARIABLES)}; leave them out"
        ) from error
    samples = checked[0] if target else checked
    if not np.isfinite(samples).all():
        names = getattr(estimator, "feature_names_in_", None)
        raise ValueError(_describe_gaps(samples, names))
    return checked


def _find_text(X: Any) -> list[Any]:
    """The columns of a data frame that do not hold numbers."""
    found = []
    for name in getattr(X, "columns", ()):
        try:
            as_real_array(X[name], "X")
        except ValueError:
            found.append(name)
    return found


def _describe_gaps(X: Array, names: AnyArray | None) -> str:
    """How many values are missing or infinite, and in which variables."""
    bad = ~np.isfinite(X)
    counts, rows = bad.sum(axis=0), int(bad.any(axis=1).sum())
    worst = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    labels = quote_list((worst if names is None else names[worst]).tolist(), MOST_VARIABLES)
    total, missing = int(bad.sum()), int(np.isnan(X).sum())
    kinds = {"missing (NaN)": missing, "infinite": total - missing}
    what = " and ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return (
        f"X has {what} value{'s' * (total > 1)} in {rows} of {len(X)} rows, in the variable"
        f"{'s' * (len(worst) > 1)} {labels}; leave out these rows (DataFrame.dropna) or these variables, or fill the"
        " gaps, such as by medians (sklearn.impute.SimpleImputer)"
    )


def looks_like_covariance(X: Array) -> bool:
    """Whether X is square and symmetric, with entries that covariances may have: |X_ij| ≤ √(X_ii·X_jj)."""
    if X.shape[0] != X.shape[1] or len(X) < 2 or not np.allclose(X, X.T, rtol=1e-6, atol=0.0):
        return False
    variances = X.diagonal().astype(np.float64)
    if variances.min() <= 0:
        return False
    spreads = np.sqrt(variances)
    return bool((np.abs(X) <= (1.0 + 1e-6) * np.outer(spreads, spreads)).all())
