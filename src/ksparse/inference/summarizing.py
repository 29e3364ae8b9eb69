"""From a fitted model and its samples to its `Summary`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..threads import one_thread
from ..validation import check_flag, check_iterations, check_positive_number, check_size
from .building import build_summary
from .refits import check_fit_samples, fix_model
from .summaries import Summary
from .uncertainty import Request, estimate_uncertainty
from .units import describe_units
from .valuing import value_units

__all__ = ["summarize", "summarize_model"]

INTERVALS = ("bootstrap", "split", "naive")


def summarize(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    **options: Any,
) -> Summary:
    """What is known about a fitted linear model, or about a pipeline that ends with one.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted linear model of ksparse, or a pipeline whose last step is one. The steps before it are taken as they
        were fitted: resamples do not fit them again.
    X : array-like, optional
        The features of the fit, as they enter the pipeline; by default the model's own reference to them.
    y : array-like, optional
        The response or the labels of the fit.
    **options
        Those of the method `summary` of the models.

    Returns
    -------
    Summary
        The summary. Its coefficients are for the features as they leave the step before the model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.inference import summarize
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=2)).fit(X, y)
    >>> summarize(pipeline, intervals=None).units["fraction"].round(2).to_dict()
    {'bmi': 0.3, 's5': 0.25}
    """
    if not isinstance(estimator, Pipeline):
        if not hasattr(estimator, "summary"):
            raise TypeError(f"expected a linear model of ksparse or a pipeline that ends with one; got {estimator!r}")
        return estimator.summary(X, y, **options)
    model = estimator[-1]
    if not hasattr(model, "summary"):
        raise TypeError(f"the last step of the pipeline must be a linear model of ksparse; it is {model!r}")
    check_is_fitted(model)
    before = estimator[:-1] if len(estimator) > 1 else None
    if X is not None and before is not None:
        X = before.transform(X)
    if options.get("feature_names") is None and not hasattr(model, "feature_names_in_") and before is not None:
        try:
            options["feature_names"] = before.get_feature_names_out()
        except (AttributeError, ValueError):  # a step without names of its outputs
            options.pop("feature_names", None)
    return model.summary(X, y, **options)


def summarize_model(
    model: Any, X: Any, y: Any, sample_weight: Any, offset: Any, feature_names: Any, request: Request
) -> Summary:
    """The summary of a fitted linear model; see the method `summary`."""
    check_is_fitted(model)
    check_request(request)
    if (X is None) != (y is None):
        raise ValueError("pass both X and y, or neither for the samples of the fit")
    if X is None and not (sample_weight is None and offset is None):
        raise ValueError("sample_weight and offset come with X and y; without them those of the fit are used")
    samples = getattr(model, "_samples", None) if X is None else check_fit_samples(model, X, y, sample_weight, offset)
    units = describe_units(model, feature_names)
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if samples is None:
            return build_summary(model, units, request, None, None, None)
        fixed = fix_model(model)
        values = value_units(fixed, samples, units, request.replacements)
        reported = np.flatnonzero(model.support_)
        uncertainty = None
        if request.intervals is not None and reported.size:
            uncertainty = estimate_uncertainty(model, fixed, samples, reported, request)
        return build_summary(model, units, request, samples, values, uncertainty)


def check_request(request: Request) -> None:
    """Check the options of a summary."""
    if request.intervals is not None and request.intervals not in INTERVALS:
        raise ValueError(
            f"intervals must be one of {', '.join(map(repr, INTERVALS))} or None, got {request.intervals!r}"
        )
    if check_positive_number(request.level, "level") >= 1.0:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {request.level!r}")
    check_size(request.resamples, "resamples")
    check_flag(request.repeat_choice, "repeat_choice")
    check_iterations(request.replacements, "replacements")
    check_iterations(request.random_state, "random_state")
