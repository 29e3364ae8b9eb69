"""`SparsePrecision`: a precision matrix with k edges, as a covariance estimator of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Array
from ..objectives import LogDet
from ..solvers import Solver
from ..validation import check_flag, check_number_of_units
from ._docs import documented
from ._parameters import keeps_parameters
from .graphs import GraphModel, covariance_around, location_of

__all__ = ["PrecisionModel", "SparsePrecision"]

M = TypeVar("M", bound="PrecisionModel")


class PrecisionModel(GraphModel, EmpiricalCovariance):  # type: ignore[misc]
    """A covariance estimator whose precision matrix has few edges: the part that does not depend on how k is chosen."""

    covariance: str | None
    assume_centered: bool

    def _check_data(self, X: Any) -> Array:
        """X as an array of samples, or as a covariance; names and number of variables are remembered."""
        precomputed = self._precomputed()
        checked = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            ensure_min_samples=1 if precomputed else 2,
            ensure_all_finite=True,
        )
        self.location_ = np.zeros(checked.shape[1])
        if not precomputed:
            self.location_ = location_of(checked, check_flag(self.assume_centered, "assume_centered"))
        return checked

    def _precomputed(self) -> bool:
        if self.covariance is None:
            return False
        if not isinstance(self.covariance, str) or self.covariance != "precomputed":
            raise ValueError(
                f'covariance must be None or "precomputed", got {self.covariance!r}; the matrix itself goes to fit'
            )
        return True

    def _covariance_of(self, X: Array) -> Array:
        """The covariance of checked samples, or a given one that is checked."""
        if self._precomputed():
            return LogDet(X, bounds=None).covariance
        covariance = covariance_around(X, self.location_)
        constant = np.flatnonzero(covariance.diagonal() == 0.0)
        if constant.size:
            names = getattr(self, "feature_names_in_", np.arange(len(covariance)))[constant[:5]].tolist()
            warnings.warn(
                f"{constant.size} variables are constant, such as {names}: they have no edges, and the largest "
                "precision that bounds allow; leave them out if they mean nothing",
                UserWarning,
                stacklevel=3,
            )
        return covariance

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

        Nodes are the names of the variables, or their numbers; edges carry ``partial_correlation``, and its size as
        ``weight``.

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
                "to_networkx needs networkx, which is not installed; install it with: pip install 'ksparse[plots]'"
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


@documented
class SparsePrecision(PrecisionModel):
    """A precision matrix with k edges: min −log det Ω + ⟨Σ, Ω⟩ over αI ⪯ Ω ⪯ βI with ‖Ω⁻‖₀ ≤ 2k.

    The paper's §4.2, with k instead of a penalty: within the bounds, Ω is the likeliest among the matrices with its
    graph, and is not shrunken. Works with fewer samples than variables, where the bounds keep it finite.

    Parameters
    ----------
    k : int, default=10
        Number of edges, each an off-diagonal pair Ω_ij = Ω_ji. If there are no more pairs, all of them are used.
    $graph
    covariance : {None, "precomputed"}, default=None
        With "precomputed", `fit` takes a covariance matrix instead of samples.
    assume_centered : bool, default=False
        Whether the mean of the samples is known to be zero.

    Attributes
    ----------
    $omega
    $location
    $edges

    See Also
    --------
    SparsePrecisionCV, SparsePrecisionIC : The same with k chosen.
    ksparse.plots.GraphDisplay : A picture of the graph.

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

    @keeps_parameters
    def __init__(
        self,
        k: int = 10,
        *,
        bounds: Any = "auto",
        xi: float = 1e-2,
        standardize: bool = True,
        known_edges: Any = None,
        forbidden_edges: Any = None,
        solver: str | Solver = "auto",
        effort: int = 0,
        covariance: str | None = None,
        assume_centered: bool = False,
    ) -> None: ...

    def fit(self, X: Any, y: Any = None) -> SparsePrecision:
        """Fit the precision matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; a covariance matrix, with ``covariance="precomputed"``.
        y : None
            Not used, there for pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        k = check_number_of_units(self.k, "edges", "to have it chosen, use SparsePrecisionCV or SparsePrecisionIC")
        checked = self._check_data(X)
        problem = self._problem(self._covariance_of(checked), k)
        self._keep_graph(problem, self._solve(problem))
        return self
