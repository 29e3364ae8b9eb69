"""`SparsePrecision`: a precision matrix with k edges."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.covariance import EmpiricalCovariance, empirical_covariance, log_likelihood
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Array, Mask
from ..designs.blocked import BlockedDesign
from ..objectives import LogDet, Objective
from ..objectives.targets import check_squares
from ..solvers import Result
from ..validation import check_flag, refuse_date_columns
from ._docs import document
from .base import Samples
from .graph_model import GraphModel, center, compute_covariance_around, find_constant
from .normal_scores import compute_normal_scores
from .parameters import accept_names
from .stored_covariance import compute_stored_covariance, find_stored_constants, open_variables
from .stored_data import is_stored_elsewhere, refuse_stored_data
from .variables import check_variables, looks_like_covariance

__all__ = ["SparsePrecision"]


@document
@accept_names(transform="transformation")
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecision(GraphModel, EmpiricalCovariance):  # type: ignore[misc]
    """A precision matrix with k edges: min −log det Ω + ⟨Σ, Ω⟩ over αI ⪯ Ω ⪯ βI with ‖Ω⁻‖₀ ≤ 2k.

    The paper's §4.2, with k instead of a penalty: within the bounds, Ω maximizes the likelihood among the matrices with
    its graph. Works with fewer samples than variables, where the bounds keep it finite.

    With a `shrinkage` s, Σ_s takes the place of Σ: by default Σ_s = (1 − s)·Σ + s·diag(Σ). With
    ``shrink_by="amount"`` it is the covariance of the graphical lasso with the penalty s, argmax log det W over the
    matrices with |W_ij − Σ_ij| ≤ s and W_ii = Σ_ii: all pairs together give the graphical lasso, and k edges the
    graph that is nearest to it by the Kullback–Leibler divergence.

    With ``transformation="rank"`` the model is that of normal scores: the r-th smallest of n values becomes
    Φ⁻¹(r/(n + 1)). This is a Gaussian copula, the nonparanormal of Liu, Lafferty and Wasserman (JMLR 10, 2009): its
    graph does not depend on the distributions of the variables, and heavy tails and outliers do it no harm.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePrecision
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> X[:, 1] += X[:, 0]
    >>> X[:, 4] -= 0.5 * X[:, 1]
    >>> model = SparsePrecision(k=2).fit(X)
    >>> for i, j, strength in model.edges_.tolist():
    ...     print(i, j, round(strength, 2))
    0 1 0.65
    1 4 -0.42
    """

    more_attributes: ClassVar[tuple[str, ...]] = ("location_",)

    covariance: str | None = None
    assume_centered: bool = False
    transformation: str | None = None

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None) -> Samples:
        precomputed, ranks = self._is_precomputed(), self._uses_ranks()
        if is_stored_elsewhere(X):
            return self._check_stored_samples(X, y)
        X = check_variables(self, X, ensure_min_samples=1 if precomputed else 2)
        if precomputed:
            if ranks:
                raise ValueError('transformation="rank" needs samples; leave it out with covariance="precomputed"')
            return Samples(LogDet(X, bounds=None).covariance, y)
        if looks_like_covariance(X):
            warnings.warn(
                "X is square and symmetric, as covariance matrices are, and was taken for samples; if it is a"
                ' covariance, pass it to SparsePrecision or SparsePrecisionIC with covariance="precomputed"',
                UserWarning,
                stacklevel=3,
            )
        # Ranks of large numbers have no squares that overflow.
        self._report_constant(np.ptp(X, axis=0) == 0 if ranks else self._find_constant_variables(X))
        return Samples(X, y)

    def _check_stored_samples(self, X: Any, y: Any) -> Samples:
        """Samples in blocks, of which the covariance is all that is needed."""
        if self._is_precomputed() or self._uses_ranks():
            refuse_stored_data(self, X)
        design = open_variables(self, X)
        self._report_constant(find_stored_constants(design.second_moments))
        return Samples(design, y)

    def _report_constant(self, is_constant: Mask) -> None:
        constant = np.flatnonzero(is_constant)
        if constant.size:
            names = getattr(self, "feature_names_in_", np.arange(is_constant.size))[constant[:5]].tolist()
            warnings.warn(
                f"{constant.size} variables are constant, such as {names}: they have no edges, and the largest "
                "precision that the bounds allow; leave them out if they carry no information",
                UserWarning,
                stacklevel=4,
            )

    def _is_precomputed(self) -> bool:
        if self.covariance is None:
            return False
        if not isinstance(self.covariance, str) or self.covariance != "precomputed":
            raise ValueError(
                f'covariance must be None or "precomputed", got {self.covariance!r}; pass the matrix itself to fit'
            )
        return True

    def _uses_ranks(self) -> bool:
        if self.transformation is None:
            return False
        if not isinstance(self.transformation, str) or self.transformation != "rank":
            raise ValueError(f'transformation must be None or "rank", got {self.transformation!r}')
        return True

    def _find_constant_variables(self, X: Array) -> Mask:
        check_squares(X, "X")
        return find_constant(X, self._fit_location(X))

    def fit_covariance(self, samples: Samples) -> Array:
        if self._is_precomputed():
            self.location_ = np.zeros(len(samples))
            return samples.X
        if isinstance(samples.X, BlockedDesign):
            centred = check_flag(self.assume_centered, "assume_centered")
            means = samples.X.second_moments.means
            self.location_ = np.zeros_like(means) if centred else means
            return compute_stored_covariance(samples.X, self.location_)
        if self._uses_ranks():
            self._ordered = np.sort(samples.X, axis=0)
        X = self._transform_samples(samples.X)
        self.location_ = self._fit_location(X)
        return compute_covariance_around(X, self.location_)

    def _transform_samples(self, X: Array) -> Array:
        """Samples as the model describes them: their normal scores, with ``transformation="rank"``."""
        return compute_normal_scores(X, self._ordered) if self._uses_ranks() else X

    def _fit_location(self, X: Array) -> Array:
        """The means of the variables, or zeros."""
        if check_flag(self.assume_centered, "assume_centered"):
            return np.zeros(X.shape[1])
        return X.mean(axis=0, dtype=np.float64)

    def center_held_out(self, held_out: Samples) -> Array:
        return center(self._transform_samples(held_out.X), self.location_)

    def score_held_out(self, objective: Objective, result: Result, held_out: Samples) -> float:
        if not isinstance(held_out.X, BlockedDesign):
            return super().score_held_out(objective, result, held_out)
        covariance = compute_stored_covariance(held_out.X, self.location_)
        return float(log_likelihood(covariance, self.extract_precision(result)))

    def score_held_out_samples(self, objective: Objective, result: Result, held_out: Samples) -> Array | None:
        if isinstance(held_out.X, BlockedDesign):
            return None  # the log-likelihood of each sample would be another pass
        return super().score_held_out_samples(objective, result, held_out)

    def score(self, X_test: Any, y: Any = None) -> float:
        """Mean log-likelihood of samples under the fitted model; or of their scores (`transformation`)."""
        deviations = self._find_deviations(X_test)
        return float(log_likelihood(empirical_covariance(deviations, assume_centered=True), self.precision_))

    def mahalanobis(self, X: Any) -> Array:
        """Squared Mahalanobis distances (x − μ)ᵀΩ(x − μ) of samples, or of their scores."""
        deviations = self._find_deviations(X)
        distances: Array = np.sum((deviations @ self.precision_) * deviations, axis=1)
        return distances

    def _find_deviations(self, X: Any) -> Array:
        """Other samples, validated, less the location."""
        check_is_fitted(self)
        refuse_date_columns(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        deviations: Array = self._transform_samples(X) - self.location_
        return deviations

    def get_precision(self) -> Array:
        """The precision matrix."""
        check_is_fitted(self)
        return self.precision_

    def to_networkx(self) -> Any:
        """The graph as a `networkx.Graph`.

        Nodes are the names of the variables, or their numbers; edges have the attributes ``partial_correlation``, and
        its absolute value as ``weight``.
        """
        check_is_fitted(self)
        try:
            import networkx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx, which is not installed; install it with: pip install networkx"
            ) from error
        graph = networkx.Graph()
        graph.add_nodes_from(getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist())
        for i, j, strength in self.edges_.tolist():
            graph.add_edge(i, j, partial_correlation=strength, weight=abs(strength))
        return graph

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.covariance, str) and self.covariance == "precomputed"
        return tags
