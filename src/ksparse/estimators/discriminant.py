"""Linear discriminant analysis with a sparse precision matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Array
from ..objectives.targets import check_squares
from ..solvers import Result
from ..validation import as_real_array, refuse_date_columns
from ._docs import document
from .base import Samples
from .classification import ProbabilityClassifier
from .graph_model import GraphModel, center, compute_covariance_around
from .margins import add_offset, check_offset
from .stored_data import refuse_stored_data
from .variables import check_variables

__all__ = ["SparseDiscriminantAnalysis"]

M = TypeVar("M", bound="SparseDiscriminantAnalysis")


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseDiscriminantAnalysis(ProbabilityClassifier, GraphModel):
    """Linear discriminant analysis whose precision matrix has k edges (paper, §5.2.2), of two classes or more.

    Samples of class l are modelled as N(μ_l, Ω⁻¹), where Ω is the `SparsePrecision` of the samples around their class
    means, with its `shrinkage` s: (1 − s)·Σ + s·diag(Σ) in place of Σ by default. A sample is assigned to the class
    with the largest δ_l(x) = xᵀΩμ_l − ½μ_lᵀΩμ_l + log π_l. The decision function leaves out (x − μ̄/2)ᵀΩμ̄, which all
    classes have in common, with μ̄ = Σ π_l μ_l.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ksparse import SparseDiscriminantAnalysis
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SparseDiscriminantAnalysis(k=28).fit(X, y)
    >>> len(model.edges_), round(model.score(X, y), 3)
    (28, 1.0)
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("classes_", "means_", "priors_", "coef_", "intercept_")

    priors: Any = None

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None) -> Samples:
        refuse_stored_data(self, X)
        X, y = check_variables(self, X, y)
        return Samples(check_squares(X, "X"), y)

    def fit_covariance(self, samples: Samples) -> Array:
        codes = self.fit_labels(samples.y)
        counts = np.bincount(codes)
        if len(samples) <= len(counts):
            raise ValueError(
                f"{len(samples)} samples of {len(counts)} classes are too few to estimate a covariance; there must be "
                "more samples than classes"
            )
        # About a sample: the mean of a constant is that constant, without rounding.
        origin = samples.X[0].astype(np.float64)
        sums = np.array([(samples.X[codes == code] - origin).sum(axis=0) for code in range(len(counts))])
        self.means_ = origin + sums / counts[:, None]
        self.priors_ = self._check_priors(counts / len(samples))
        return compute_covariance_around(samples.X, self.means_[codes])

    def center_held_out(self, held_out: Samples) -> Array:
        return center(held_out.X, self.means_[self.encode_labels(held_out.y)])

    def _check_priors(self, frequencies: Array) -> Array:
        if self.priors is None:
            return frequencies
        priors = as_real_array(self.priors, "priors")
        if priors.shape != frequencies.shape:
            raise ValueError(f"priors has shape {priors.shape} for {len(frequencies)} classes; give one for each class")
        if not (priors > 0).all() or abs(float(priors.sum()) - 1.0) > 1e-8:
            raise ValueError(f"priors must be positive and add up to 1, got {priors.tolist()}")
        return priors

    def store_result(self: M, result: Result) -> M:
        super().store_result(result)
        # About a centre: what all classes have in common does not decide, and would cost digits where means are large.
        centre = self.priors_ @ self.means_
        offsets = self.means_ - centre
        coefficients = offsets @ self.precision_
        intercepts = -np.sum(coefficients * (0.5 * offsets + centre), axis=1) + np.log(self.priors_)
        if len(self.classes_) == 2:
            coefficients, intercepts = np.diff(coefficients, axis=0), np.diff(intercepts)
        self.coef_, self.intercept_ = coefficients, intercepts
        return self

    def linear_predictor(self, X: Any, offset: Any = None) -> Array:
        """δ_l(x) of each class, plus an offset; for two classes, the difference of the second and the first."""
        check_is_fitted(self)
        refuse_date_columns(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        margins: Array = X.astype(np.float64) @ self.coef_.T + self.intercept_
        return margins if offset is None else add_offset(margins, check_offset(offset, len(margins)))
