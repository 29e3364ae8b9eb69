"""Covariances of samples in blocks, by one pass over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array, Mask
from ..designs.blocked import BlockedDesign, SecondMoments
from .graph_model import CONSTANT_SPREAD
from .stored_data import open_design, refuse_stored_data

__all__ = ["compute_stored_covariance", "find_stored_constants", "open_variables"]


def open_variables(estimator: Any, X: Any) -> BlockedDesign:
    """Samples in blocks with finite values; this is the pass over them."""
    design = open_design(estimator, X, reset=True)
    if not isinstance(design, BlockedDesign):
        refuse_stored_data(estimator, design)
    assert isinstance(design, BlockedDesign)
    if design.shape[0] < 2:
        raise ValueError(f"{type(estimator).__name__} needs at least 2 samples, got {design.shape[0]}")
    bad = np.flatnonzero(~np.isfinite(design.second_moments.products.diagonal()))
    if bad.size:
        names = getattr(estimator, "feature_names_in_", np.arange(design.shape[1]))[bad[:5]].tolist()
        raise ValueError(
            f"X has NaN or infinite values, or values whose squares overflow, in the variables {names}; leave these "
            "out, or remove or impute their values"
        )
    return design


def find_stored_constants(moments: SecondMoments) -> Mask:
    """Which variables differ from their means by rounding only."""
    spreads = np.sqrt(moments.products.diagonal() / moments.weight)
    constant: Mask = spreads <= CONSTANT_SPREAD * np.abs(moments.means)
    return constant


def compute_stored_covariance(design: BlockedDesign, centre: Array) -> Array:
    """Mean of (x − c)(x − c)ᵀ over the samples; constant variables are exactly zero."""
    moments = design.second_moments
    apart = moments.means - centre
    covariance = moments.products / moments.weight + np.outer(apart, apart)
    constant = find_stored_constants(moments) & (np.abs(apart) <= CONSTANT_SPREAD * np.abs(centre))
    covariance[constant] = covariance[:, constant] = 0.0
    return 0.5 * (covariance + covariance.T)
