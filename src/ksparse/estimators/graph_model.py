"""What all models of precision matrices with k edges have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.extmath import fast_logdet
from sklearn.utils.validation import check_is_fitted

from .._types import AnyArray, Array, Mask
from ..objectives import EigenvalueBounds, LogDet, Objective
from ..objectives.definite import check_bounds, is_regular
from ..objectives.shrinkage import ShrunkenLogDet, shrink_covariance
from ..solvers import FBS, Backtracking, GLasso, GraHTP, GraSP, Result, Solver, SwapGraHTP
from ..sparsity import Pairs
from ..sparsity.pairs import pair_mask
from ..validation import check_flag
from .base import Samples, SolverChoices, SparseEstimator
from .edges import compute_partial_correlations, find_pairs, list_edges
from .paths import PrecisionPath

__all__ = ["GraphModel", "center", "compute_covariance_around", "find_constant"]

#: A standard deviation below this fraction of a variable's largest value is rounding: the variable is constant.
CONSTANT_SPREAD = 1e-13
#: Shrinkages that cross-validation tries: factors, and amounts as multiples of 1/√n. On the paper's simulations with
#: n = 100 and p = 30 to 200, amounts of 0.4/√n to 1.3/√n are best (benchmarks/graph_shrinkage.py); with steps of 1.5,
#: the largest amount would decide for p = 200.
FACTORS = (0.05, 0.15, 0.3, 0.5)
AMOUNTS = (0.3, 0.4, 0.5, 0.65, 0.85, 1.1, 1.4, 1.8)
#: Without standardizing, variances must not be larger, nor smaller than the inverse.
LARGEST_VARIANCE = 1e30
#: The Lipschitz constant of a log-determinant is so large that a step of its inverse would not change the support.
GRAPH_SOLVERS: SolverChoices = {
    "auto": SwapGraHTP,
    "grahtp": lambda: GraHTP(step=Backtracking(scaled=True)),
    "grasp": GraSP,
    "fbs": FBS,
    "glasso": GLasso,
}

G = TypeVar("G", bound="GraphModel")


@dataclass(eq=False, repr=False)
class GraphModel(SparseEstimator):
    """An estimator of a precision matrix Ω with k edges.

    A subclass implements `check_samples`, `fit_covariance` and `center_held_out`.
    """

    unit_name: ClassVar[str] = "edges"
    penalty_names: ClassVar[tuple[str, ...]] = ("shrinkage",)
    solver_choices: ClassVar[SolverChoices] = GRAPH_SOLVERS

    k: int = 10
    _: KW_ONLY
    shrinkage: float = 0.0
    shrink_by: str = "factor"
    bounds: Any = "auto"
    xi: float = 1e-2
    standardize: bool = True
    known_edges: Any = None
    forbidden_edges: Any = None
    solver: str | Solver = "auto"
    effort: int = 0

    def fit(self: G, X: Any, y: Any = None) -> G:
        """Fit the precision matrix; for a classifier, that of the samples around the means of their classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; a covariance matrix, with ``covariance="precomputed"``.
        y : array-like of shape (n_samples,)
            The labels, for a classifier; otherwise ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_samples(self.check_samples(X, y))

    @abstractmethod
    def fit_covariance(self, samples: Samples) -> Array:
        """The covariance of the samples; sets the means around which it is taken."""

    @abstractmethod
    def center_held_out(self, held_out: Samples) -> Array:
        """Other samples less the means of the training samples."""

    def prepare(self, samples: Samples) -> ShrunkenLogDet:
        self._n_samples = len(samples)
        shrinkage = 0.0 if self.shrinkage is None else self.shrinkage  # where it is yet to be chosen
        objective = self.build_objective(self.fit_scaled_covariance(samples), shrinkage)
        self.bounds_ = objective.bounds
        return objective

    def fit_scaled_covariance(self, samples: Samples) -> Array:
        """The covariance that is shrunken: the correlations, with `standardize`; sets the means and scales."""
        covariance = self.fit_covariance(samples)
        self._scale = np.ones(len(covariance))
        if not self.standardize:
            check_variances(covariance.diagonal())
        if check_flag(self.standardize, "standardize"):
            spreads = np.sqrt(covariance.diagonal())
            self._scale = np.where(spreads > 0, spreads, 1.0)
            covariance = covariance / np.multiply.outer(self._scale, self._scale)
            np.fill_diagonal(covariance, np.where(spreads > 0, 1.0, 0.0))
        return covariance

    def build_objective(self, covariance: Array, shrinkage: float) -> ShrunkenLogDet:
        """f with a shrinkage, from what `fit_scaled_covariance` returns."""
        shrunken = shrink_covariance(covariance, shrinkage, self.shrink_by)
        return ShrunkenLogDet.of_covariances(covariance, shrunken, check_bounds(self.bounds, shrunken, self.xi))

    def with_penalty(self, objective: Objective, value: float) -> ShrunkenLogDet:
        assert isinstance(objective, ShrunkenLogDet)
        return self.build_objective(objective.unshrunken, value)

    def suggest_penalties(self, objective: Objective) -> tuple[list[float], list[float]]:
        """Factors, or multiples of 1/√n, which is about the standard error of a correlation of n samples.

        0 is among them only where the covariance is regular.
        """
        assert isinstance(objective, ShrunkenLogDet)
        amounts = [float(multiple / np.sqrt(self._n_samples)) for multiple in AMOUNTS]
        values = list(FACTORS) if self.shrink_by == "factor" else [value for value in amounts if value < 1]
        return [0.0, *values] if is_regular(objective.unshrunken) else values, []

    def build_sparsity(self, objective: Objective, k: int) -> Pairs:
        size, names = objective.shape[0], self._get_feature_names()
        known = pair_mask(find_pairs(self.known_edges, names, "known_edges"), size, "known_edges")
        forbidden = pair_mask(find_pairs(self.forbidden_edges, names, "forbidden_edges"), size, "forbidden_edges")
        count = int(np.triu(known, 1).sum())
        if count > k:
            raise ValueError(f"known_edges has {count} edges, but k = {k}; they count in k, so raise k or name fewer")
        both = np.argwhere(np.triu(known & forbidden, 1))
        if both.size:
            edge = tuple(both[0].tolist())
            raise ValueError(f"the edge {edge} is in both known_edges and forbidden_edges; name it once")
        return Pairs(k, always=known, never=forbidden)

    def store_result(self: G, result: Result) -> G:
        self.result_ = result
        self.n_iter_ = result.n_iter
        self.precision_ = self.extract_precision(result)
        without_bounds = LogDet.of_valid(np.zeros_like(result.x), EigenvalueBounds(0.0, np.inf))
        inverse = without_bounds.evaluate(result.x).state.matrix
        self.covariance_ = inverse * np.multiply.outer(self._scale, self._scale)
        return self

    @property
    def edges_(self) -> AnyArray:
        """The edges as records, the strongest first; by name, if X has names."""
        check_is_fitted(self)
        return list_edges(self.precision_, self._get_feature_names())

    @property
    def partial_correlation_(self) -> Array:
        """The matrix of partial correlations −Ω_ij/√(Ω_ii·Ω_jj), with ones on the diagonal."""
        check_is_fitted(self)
        return compute_partial_correlations(self.precision_)

    def extract_precision(self, result: Result) -> Array:
        """Ω of a solution, in the units of the data."""
        return result.x / np.multiply.outer(self._scale, self._scale)

    def build_path(self, results: Mapping[int, Result], passes: int) -> PrecisionPath:
        return PrecisionPath.of_results(results, self.extract_precision, self._get_feature_names())

    def score_held_out(self, objective: Objective, result: Result, held_out: Samples) -> float:
        """Mean log-likelihood of a held-out sample."""
        scores = self.score_held_out_samples(objective, result, held_out)
        assert scores is not None
        return float(scores.mean())

    def score_held_out_samples(self, objective: Objective, result: Result, held_out: Samples) -> Array | None:
        """Log-likelihood of each held-out sample."""
        precision, deviations = self.extract_precision(result), self.center_held_out(held_out)
        distances: Array = np.sum((deviations @ precision) * deviations, axis=1)
        return 0.5 * (fast_logdet(precision) - distances - len(precision) * np.log(2.0 * np.pi))

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log-likelihood of the samples, whose covariance is not shrunken."""
        assert isinstance(objective, ShrunkenLogDet)
        return n_samples * objective.unshrunken_value(result.x, result.value)

    def limit_auto_k(self, n_samples: float) -> int:
        """One edge for every four numbers in the data."""
        return max(int(n_samples * self.n_features_in_ / 4), 1)


def find_constant(X: Array, centres: Array) -> Mask:
    """Which variables differ from their centres by rounding only; centres as in `center`."""
    spreads = np.sqrt(np.mean(np.square(X - centres), axis=0))
    constant: Mask = spreads <= CONSTANT_SPREAD * np.abs(X).max(axis=0).astype(np.float64)
    return constant


def center(X: Array, centres: Array) -> Array:
    """The samples less their centres, in double precision; constant variables are exactly zero.

    `centres` is one point for all samples, or one for each.
    """
    centred: Array = X.astype(np.float64) - centres
    centred[:, find_constant(X, centres)] = 0.0
    return centred


def compute_covariance_around(X: Array, centres: Array) -> Array:
    """Mean of (x − c)(x − c)ᵀ over the samples; centres as in `center`."""
    centred = center(X, centres)
    covariance = centred.T @ centred / len(X)
    return 0.5 * (covariance + covariance.T)


def check_variances(variances: Array) -> None:
    """Refuse variances that are so far from 1 that a precision matrix without standardizing has no digits left."""
    for size in (float(variances.max(initial=0.0)), float(variances[variances > 0].min(initial=np.inf))):
        if np.isfinite(size) and not 1.0 / LARGEST_VARIANCE <= size <= LARGEST_VARIANCE and size > 0:
            raise ValueError(
                f"a variable has the variance {size:.1g}; use standardize=True, or divide the variables by constants"
            )
