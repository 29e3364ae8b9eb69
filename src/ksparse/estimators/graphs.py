"""What estimators of graphs share: from a covariance and parameters to an objective and a sparsity set, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import AnyArray, Array, Mask
from ..objectives import EigenvalueBounds, LogDet
from ..objectives.definite import check_bounds
from ..optimize import minimize
from ..solvers import Result, Solver
from ..sparsity import Pairs
from ..sparsity.pairs import pair_mask
from ..validation import check_flag
from ._solvers import GRAPH_SOLVERS, find_solver

__all__ = ["GraphModel", "GraphProblem", "covariance_around", "edges_of", "location_of"]

#: A spread below this share of a variable's level is rounding: the variable is constant.
CONSTANT = 1e-13
#: The fields of `edges_`.
EDGE = np.dtype([("i", np.intp), ("j", np.intp), ("partial_correlation", np.float64)])


@dataclass(frozen=True)
class GraphProblem:
    """A precision matrix to be estimated, in the units of `scale`, in which solvers work."""

    objective: LogDet
    sparsity: Pairs
    scale: Array

    def precision(self, result: Result) -> Array:
        """Ω in the units of the data."""
        return result.x / np.multiply.outer(self.scale, self.scale)

    def covariance(self, result: Result) -> Array:
        """Ω⁻¹ in the units of the data."""
        point = LogDet.of_valid(self.objective.covariance, EigenvalueBounds(0.0, np.inf)).evaluate(result.x)
        inverse: Array = point.state.matrix * np.multiply.outer(self.scale, self.scale)
        return inverse


class GraphModel:
    """The parameters of a sparse precision matrix, and what follows from them."""

    bounds: Any
    xi: float
    standardize: bool
    known_edges: Any
    forbidden_edges: Any
    solver: str | Solver
    effort: int

    def _names(self) -> AnyArray | None:
        """The names of the variables, if they have any."""
        return getattr(self, "feature_names_in_", None)

    def _problem(self, covariance: Array, k: int) -> GraphProblem:
        """The problem of a matrix that is known to be a covariance."""
        size = len(covariance)
        scale = np.ones(size)
        if check_flag(self.standardize, "standardize"):
            spreads = np.sqrt(covariance.diagonal())
            scale = np.where(spreads > 0, spreads, 1.0)
            covariance = covariance / np.multiply.outer(scale, scale)
            covariance.flat[:: size + 1] = np.where(spreads > 0, 1.0, 0.0)
        names = self._names()
        bounds = check_bounds(self.bounds, covariance, self.xi)
        known = pair_mask(_pairs(self.known_edges, names, "known_edges"), size, "known_edges")
        forbidden = pair_mask(_pairs(self.forbidden_edges, names, "forbidden_edges"), size, "forbidden_edges")
        _check_edges(known, forbidden, k)
        return GraphProblem(LogDet.of_valid(covariance, bounds), Pairs(k, always=known, never=forbidden), scale)

    def _solver(self) -> Solver:
        return find_solver(self.solver, GRAPH_SOLVERS, self.effort)

    def _solve(self, problem: GraphProblem) -> Result:
        return minimize(problem.objective, sparsity=problem.sparsity, solver=self._solver())

    def _keep_graph(self, problem: GraphProblem, result: Result) -> None:
        """Set the fitted attributes of a graph from a result."""
        self.result_ = result
        self.n_iter_ = result.n_iter
        self.bounds_ = problem.objective.bounds
        self.precision_ = problem.precision(result)
        self.covariance_ = problem.covariance(result)
        self.edges_ = edges_of(self.precision_)


def location_of(X: Array, assume_centered: bool) -> Array:
    """The means of the variables, or zero."""
    return np.zeros(X.shape[1]) if assume_centered else X.mean(axis=0, dtype=np.float64)


def covariance_around(X: Array, centres: Array) -> Array:
    """Mean of (x − c)(x − c)ᵀ over the samples, in double precision; constant variables have exactly no covariance.

    `centres` is one point for all samples, or one for each.
    """
    centred = X.astype(np.float64) - centres
    covariance = centred.T @ centred / len(X)
    covariance = 0.5 * (covariance + covariance.T)
    level = np.abs(X).max(axis=0).astype(np.float64)
    constant = np.sqrt(covariance.diagonal()) <= CONSTANT * level
    covariance[constant] = covariance[:, constant] = 0.0
    return covariance


def edges_of(precision: Array) -> AnyArray:
    """The edges of a precision matrix with their partial correlations −Ω_ij/√(Ω_ii·Ω_jj), the strongest first."""
    rows, columns = np.nonzero(np.triu(precision, 1))
    spread = np.sqrt(precision.diagonal())
    edges = np.empty(rows.size, dtype=EDGE)
    edges["i"], edges["j"] = rows, columns
    edges["partial_correlation"] = -precision[rows, columns] / (spread[rows] * spread[columns])
    return edges[np.argsort(-np.abs(edges["partial_correlation"]), kind="stable")]


def _check_edges(known: Mask, forbidden: Mask, k: int) -> None:
    count = int(np.triu(known, 1).sum())
    if count > k:
        raise ValueError(f"known_edges has {count} edges, but k = {k}; they count in k, so raise k or name fewer")
    both = np.argwhere(np.triu(known & forbidden, 1))
    if both.size:
        raise ValueError(f"the edge {tuple(both[0].tolist())} is both in known_edges and forbidden_edges; name it once")


def _pairs(edges: Any, names: AnyArray | None, parameter: str) -> Any:
    """Edges between names as pairs of indices; indices and masks as they are."""
    if edges is None:
        return ()
    given = np.asarray(edges)
    if given.dtype.kind not in "OUS":
        return given
    if names is None:
        raise ValueError(f"{parameter} has names, but X has none; pass a data frame, or pairs of indices")
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(f'{parameter} must hold pairs such as [("a", "b")], got {edges!r}')
    position = {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in given.ravel().tolist() if name not in position]
    if unknown:
        raise ValueError(f"{parameter} names {unknown[0]!r}, which is no column of X")
    return np.array([[position[first], position[second]] for first, second in given.tolist()])
