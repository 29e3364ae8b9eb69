"""Precision matrices on a support: neighbourhood coordinate descent, and alternating directions where bounds bind.

A support is split into the connected components of its graph, which are independent problems, eigenvalue bounds
included. In each, W = Ω⁻¹ is fitted column by column (Hastie, Tibshirani and Friedman, *The Elements of Statistical
Learning*, Algorithm 17.1; Højsgaard and Lauritzen, arXiv 2112.10388). If the Ω that belongs to it is within the bounds,
it is the constrained minimum too; if not, or if there is none, the alternating direction method solves the component.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._types import Array, IntArray, Mask
from ..objectives.base import Point
from ..objectives.definite import EigenvalueBounds, Inverse, cholesky
from ..objectives.logdet import LogDet, LogDetOnSupport
from .adm import minimize_adm, project_to_bounds
from .base import Bounds, Outcome, Solution
from .exact import Exact, TrialRefit, minimize_on_support
from .newton import minimize_newton, solve_by_cholesky, solve_by_conjugate_gradients

__all__ = ["debias_by_adm", "debias_by_neighbourhood", "minimize_precision"]

#: Smallest tolerance of the sweeps, which rounding allows.
MIN_SWEEP_TOL = 1e-10
#: Limits of sweeps (O(p) per edge), of iterations with an eigendecomposition, and of Newton steps.
MAX_SWEEPS, MAX_ADM_ITERATIONS, MAX_POLISH_STEPS = 2000, 5000, 100
#: Smallest tolerance of the alternating direction method, whose residuals fall only linearly.
MIN_ADM_TOL = 1e-8
#: If the eigenvalues keep this relative distance from their bounds, the bounds do not bind.
BOUND_MARGIN = 1e-4
#: While the support changes, a solution that violates the bounds by a smaller fraction is moved into them.
SMALL_VIOLATION = 1e-2
#: Largest support on which Newton steps are by Cholesky, not by conjugate gradients.
MAX_POLISH_CHOLESKY = 200
UNBOUNDED = EigenvalueBounds(0.0, np.inf)


class _Block(NamedTuple):
    """Ω on one component, its Cholesky factor, and how it was found."""

    omega: Array
    factor: Array
    outcome: Outcome


class _Graph(NamedTuple):
    """Node j's neighbours are ``neighbours[starts[j]:starts[j + 1]]``."""

    starts: IntArray
    neighbours: IntArray

    def select_nodes(self, first: int, size: int) -> _Graph:
        """The graph of consecutive nodes that have no others for neighbours."""
        starts = self.starts[first : first + size + 1]
        return _Graph(starts - starts[0], self.neighbours[starts[0] : starts[-1]] - first)

    @property
    def rows(self) -> IntArray:
        """The node whose neighbour each entry of `neighbours` is."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def to_mask(self) -> Mask:
        """The entries of a matrix with this graph."""
        mask = np.eye(len(self.starts) - 1, dtype=bool)
        mask[self.rows, self.neighbours] = True
        return mask


@minimize_on_support.register
def minimize_precision(objective: LogDetOnSupport, start: Array, bounds: Bounds | None, settings: Exact) -> Solution:
    """Minimize over the matrices on a support, within their eigenvalue bounds."""
    if bounds is not None:
        raise ValueError("entries of a precision matrix cannot be bounded; set bounds of its eigenvalues instead")
    if settings.method == "adm":
        limit = settings.max_iter or MAX_ADM_ITERATIONS
        return debias_by_adm(objective, start, tol=settings.tol, rho=settings.rho, max_iter=limit)
    if settings.method not in ("auto", "neighbourhood"):
        raise ValueError(f'precision matrices are debiased by "neighbourhood" or "adm", not by "{settings.method}"')
    if settings.max_iter is not None and not isinstance(settings, TrialRefit):
        raise ValueError(
            "max_iter has no effect on a precision matrix, which is refitted by neighbourhood coordinate descent; "
            'leave it out, or use Exact("adm", max_iter=...)'
        )
    return debias_by_neighbourhood(objective, start, tol=max(settings.tol, MIN_SWEEP_TOL))


def debias_by_neighbourhood(objective: LogDetOnSupport, start: Array, *, tol: float) -> Solution:
    """Minimize `LogDet` on a support by neighbourhood coordinate descent wherever the bounds do not bind.

    `start` has the entries that the alternating direction method starts from; `tol` is the largest change of a
    correlation of the model in the last sweep.
    """
    whole = objective.whole
    covariance, variances = whole.covariance, whole.covariance.diagonal()
    # A constant variable has no covariances, so its edges are zero at the minimum.
    real = (objective.rows != objective.columns) & (variances[objective.rows] * variances[objective.columns] > 0)
    order, sizes, graph = _find_components(objective.rows[real], objective.columns[real], len(covariance))
    isolated = order[: int((sizes == 1).sum())]
    omega = np.zeros(whole.shape)
    omega[isolated, isolated], outcome = _solve_isolated(variances[isolated], whole.bounds)
    blocks, first = [(isolated, np.sqrt(omega[isolated, isolated]))], isolated.size
    for size in sizes[sizes > 1].tolist():
        nodes = order[first : first + size]
        block = _solve_component(
            objective, start, nodes, covariance[nodes[:, None], nodes], graph.select_nodes(first, size), tol
        )
        first += size
        omega[nodes[:, None], nodes] = block.omega
        blocks.append((nodes, block.factor))
        outcome = block.outcome if outcome is Outcome.SOLVED else outcome
    return _make_solution(objective, omega, Inverse(len(omega), blocks), outcome)


def debias_by_adm(
    objective: LogDetOnSupport, start: Array, *, tol: float, rho: float | None, max_iter: int = MAX_ADM_ITERATIONS
) -> Solution:
    """Minimize `LogDet` on a support by the alternating direction method on the whole matrix (paper, Appendix B).

    `tol` is the tolerance of both residuals of the method; ρ is adapted unless it is given.
    """
    support = objective.matrix(np.ones(objective.size)) != 0
    whole = objective.whole
    block = _solve_bounded(whole.covariance, support, whole.bounds, objective.matrix(start), tol, rho, max_iter)
    inverse = Inverse(len(support), [(np.arange(len(support)), block.factor)])
    return _make_solution(objective, block.omega, inverse, block.outcome)


def _make_solution(objective: LogDetOnSupport, omega: Array, inverse: Inverse, outcome: Outcome) -> Solution:
    entries = omega[objective.rows, objective.columns]
    linear = float(objective.whole.covariance[objective.rows, objective.columns] @ entries)
    return Solution(Point(objective, entries, inverse.log_det + linear, inverse), outcome)


def _find_components(rows: IntArray, columns: IntArray, size: int) -> tuple[IntArray, IntArray, _Graph]:
    """Nodes in the order of their components, small ones first; the components' sizes; the graph in that order.

    Edges come in the order of their rows.
    """
    degrees = np.bincount(rows, minlength=size)
    starts = np.concatenate([[0], np.cumsum(degrees)])
    graph = sparse.csr_array((np.ones(rows.size), columns, starts), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    sizes = np.bincount(labels)
    order = np.lexsort((labels, sizes[labels]))
    position = np.empty(size, dtype=np.intp)
    position[order] = np.arange(size)
    by_component = np.argsort(position[rows], kind="stable")
    starts = np.concatenate([[0], np.cumsum(degrees[order])])
    return order, np.sort(sizes), _Graph(starts, position[columns[by_component]])


def _solve_isolated(variances: Array, bounds: EigenvalueBounds) -> tuple[Array, Outcome]:
    """The precisions of variables that have no edges."""
    with np.errstate(divide="ignore"):
        precisions = np.clip(1.0 / variances, bounds.lower, bounds.upper)
    if np.isfinite(precisions).all():
        return precisions, Outcome.SOLVED
    # Without an upper bound f is unbounded below: the precision of a constant variable grows without end.
    return np.where(np.isfinite(precisions), precisions, 1.0 / np.finfo(float).eps), Outcome.NO_MINIMUM


def _solve_component(
    objective: LogDetOnSupport, start: Array, nodes: IntArray, covariance: Array, graph: _Graph, tol: float
) -> _Block:
    """The solution on one component."""
    bounds = objective.whole.bounds
    block = _sweep_component(covariance, graph, tol)
    if block is not None and bounds.admit(block.omega):
        return block if block.outcome is Outcome.SOLVED else _polish(covariance, graph, bounds, block.omega)
    if block is None and bounds.upper == np.inf:
        # A lower bound of the eigenvalues does not bound f from below.
        free = _polish(covariance, graph, UNBOUNDED, np.diag(1.0 / covariance.diagonal()))
        if free.outcome is Outcome.NO_MINIMUM or bounds.admit(free.omega):
            return _make_block(project_to_bounds(free.omega, bounds)[0], free.outcome)
    begin = objective.matrix(start)[nodes[:, None], nodes]
    if block is not None:
        begin, fraction = project_to_bounds(block.omega, bounds)
        if fraction <= SMALL_VIOLATION and tol > MIN_SWEEP_TOL:
            return _make_block(begin, block.outcome)  # as good as a few iterations would give
    block = _solve_bounded(covariance, graph.to_mask(), bounds, begin, tol)
    binding = not bounds.tighten(BOUND_MARGIN).admit(block.omega)
    return block if binding or tol > MIN_SWEEP_TOL else _polish(covariance, graph, bounds, block.omega)


def _sweep_component(covariance: Array, graph: _Graph, tol: float) -> _Block | None:
    """The solution without bounds; None if sweeping does not find one."""
    from ._sweeps import sweep_columns  # compiled when it is first needed

    scale = np.sqrt(covariance.diagonal())
    target = covariance / np.multiply.outer(scale, scale)
    W, slopes, variances = target.copy(), np.empty(graph.neighbours.size), np.empty(len(scale))
    change = sweep_columns(target, graph.starts, graph.neighbours, W, slopes, variances, tol, MAX_SWEEPS)
    if change < 0.0:
        return None
    omega = np.diag(1.0 / variances)
    omega[graph.rows, graph.neighbours] = -slopes / variances[graph.rows]
    omega = 0.5 * (omega + omega.T) / np.multiply.outer(scale, scale)
    factor = cholesky(omega)
    if factor is None:
        return None
    return _Block(omega, factor, Outcome.SOLVED if change <= tol else Outcome.UNFINISHED)


def _solve_bounded(
    covariance: Array,
    support: Mask,
    bounds: EigenvalueBounds,
    start: Array,
    tol: float,
    rho: float | None = None,
    max_iter: int = MAX_ADM_ITERATIONS,
) -> _Block:
    """The solution where a bound binds."""
    found = minimize_adm(covariance, support, bounds, start, tol=max(tol, MIN_ADM_TOL), max_iter=max_iter, rho=rho)
    return _make_block(found.omega, Outcome.SOLVED if found.converged else Outcome.UNFINISHED)


def _make_block(omega: Array, outcome: Outcome) -> _Block:
    factor = cholesky(omega)
    assert factor is not None
    return _Block(omega, factor, outcome)


def _polish(covariance: Array, graph: _Graph, bounds: EigenvalueBounds, start: Array) -> _Block:
    """Newton's method from a matrix within the bounds, which it does not leave."""
    support = graph.to_mask()
    objective = LogDet.of_valid(covariance, bounds).restrict(support)
    begin = objective.evaluate(start[support])
    solve = solve_by_cholesky if objective.size <= MAX_POLISH_CHOLESKY else solve_by_conjugate_gradients
    solution = minimize_newton(objective, begin, None, solve=solve, tol=1e-14, max_iter=MAX_POLISH_STEPS)
    omega = objective.matrix(solution.point.x)
    omega = 0.5 * (omega + omega.T)  # conjugate gradients keep symmetry up to rounding
    # f is strictly convex: a Hessian is singular through rounding only.
    outcome = Outcome.SOLVED if solution.outcome is Outcome.SINGULAR else solution.outcome
    if outcome is Outcome.UNFINISHED and bounds == UNBOUNDED:
        outcome = Outcome.NO_MINIMUM
    return _make_block(omega, outcome)
