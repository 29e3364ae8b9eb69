"""`SparsePrecision`: a precision matrix with k edges, as a covariance estimator of scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Array
from ..objectives import LogDet
from ..validation import check_flag
from ._docs import document
from ._graph_model import GraphModel, covariance_around, find_constant
from .base import Samples

__all__ = ["SparsePrecision"]


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparsePrecision(GraphModel, EmpiricalCovariance):  # type: ignore[misc]
    """A precision matrix with k edges: min −log det Ω + ⟨Σ, Ω⟩ over αI ⪯ Ω ⪯ βI with ‖Ω⁻‖₀ ≤ 2k.

    The paper's §4.2, with k instead of a penalty: within the bounds, Ω maximizes the likelihood among the matrices with
    its graph, and is not shrunken. Works with fewer samples than variables, where the bounds keep it finite.

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

    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None) -> Samples:
        precomputed = self._is_precomputed()
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=1 if precomputed else 2)
        if precomputed:
            return Samples(LogDet(X, bounds=None).covariance, y)
        constant = np.flatnonzero(find_constant(X, self._fit_location(X)))
        if constant.size:
            names = getattr(self, "feature_names_in_", np.arange(X.shape[1]))[constant[:5]].tolist()
            warnings.warn(
                f"{constant.size} variables are constant, such as {names}: they have no edges, and the largest "
                "precision that the bounds allow; leave them out if they carry no information",
                UserWarning,
                stacklevel=3,
            )
        return Samples(X, y)

    def _is_precomputed(self) -> bool:
        if self.covariance is None:
            return False
        if not isinstance(self.covariance, str) or self.covariance != "precomputed":
            raise ValueError(
                f'covariance must be None or "precomputed", got {self.covariance!r}; pass the matrix itself to fit'
            )
        return True

    def fit_covariance(self, samples: Samples) -> Array:
        if self._is_precomputed():
            self.location_ = np.zeros(len(samples))
            return samples.X
        self.location_ = self._fit_location(samples.X)
        return covariance_around(samples.X, self.location_)

    def _fit_location(self, X: Array) -> Array:
        """The means of the variables, or zeros."""
        if check_flag(self.assume_centered, "assume_centered"):
            return np.zeros(X.shape[1])
        return X.mean(axis=0, dtype=np.float64)

    def held_out_covariance(self, held_out: Samples) -> Array:
        return covariance_around(held_out.X, self.location_)

    def score(self, X_test: Any, y: Any = None) -> float:
        """Mean log-likelihood of samples under the fitted model."""
        check_is_fitted(self)
        return float(super().score(X_test))

    def get_precision(self) -> Array:
        """The precision matrix."""
        check_is_fitted(self)
        return self.precision_

    def to_networkx(self) -> Any:
        """The graph as a `networkx.Graph`.

        Nodes are the names of the variables, or their numbers; edges have the attributes ``partial_correlation``, and
        its absolute value as ``weight``.

        Returns
        -------
        networkx.Graph
            With all variables as nodes.
        """
        check_is_fitted(self)
        try:
            import networkx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx, which is not installed; install it with: pip install 'ksparse[graphs]'"
            ) from error
        nodes = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        graph = networkx.Graph()
        graph.add_nodes_from(nodes)
        for i, j, strength in self.edges_.tolist():
            graph.add_edge(nodes[i], nodes[j], partial_correlation=strength, weight=abs(strength))
        return graph

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.covariance, str) and self.covariance == "precomputed"
        return tags
