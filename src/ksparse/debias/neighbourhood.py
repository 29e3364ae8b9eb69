"""Precision matrices on a support: neighbourhood coordinate descent, and alternating directions where bounds bind.

A support is split into the connected components of its graph, which are independent problems, eigenvalue bounds
included. In each, W = Ω⁻¹ is fitted column by column (Hastie, Tibshirani and Friedman, *The Elements of Statistical
Learning*, Algorithm 17.1; Højsgaard and Lauritzen, arXiv 2112.10388). If the Ω that belongs to it is within the bounds,
it is the constrained minimum too; if not, or if there is none, the component goes to the alternating direction method.
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
from .adm import adm, pulled_in
from .base import Bounds, Outcome, Solution
from .exact import Exact, TrialRefit, minimize_on_support
from .newton import cholesky_direction, conjugate_gradient_direction, newton

__all__ = ["alternating_directions", "minimize_precision", "neighbourhood"]

#: No entry of a correlation matrix can be told to be stiller than this.
STILLEST = 1e-10
#: Limits of sweeps, each of O(p) for each edge, and of iterations with an eigendecomposition.
MAX_SWEEPS, MAX_ITERATIONS, MAX_NEWTON = 2000, 5000, 100
#: The residuals of the alternating direction method fall linearly: smaller ones are not worth waiting for.
SMALLEST_RESIDUAL = 1e-8
#: A solution whose eigenvalues keep this share away from their bounds would be the same without them.
MARGIN = 1e-4
#: While the support moves, a solution that misses the bounds by a smaller share is pulled in.
NEARLY_WITHIN = 1e-2
#: Largest support whose Hessian is factorized rather than multiplied with.
SMALL = 200
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

    def part(self, first: int, size: int) -> _Graph:
        """The graph of consecutive nodes that have no others for neighbours."""
        starts = self.starts[first : first + size + 1]
        return _Graph(starts - starts[0], self.neighbours[starts[0] : starts[-1]] - first)

    @property
    def rows(self) -> IntArray:
        """The node whose neighbour each entry of `neighbours` is."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def support(self) -> Mask:
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
        limit = settings.max_iter or MAX_ITERATIONS
        return alternating_directions(objective, start, tol=settings.tol, rho=settings.rho, max_iter=limit)
    if settings.method not in ("auto", "neighbourhood"):
        raise ValueError(f'precision matrices are debiased by "neighbourhood" or "adm", not by "{settings.method}"')
    if settings.max_iter is not None and not isinstance(settings, TrialRefit):
        raise ValueError(
            "max_iter has no effect on a precision matrix, which is refitted by neighbourhood coordinate descent; "
            'leave it out, or use Exact("adm", max_iter=...)'
        )
    return neighbourhood(objective, start, tol=max(settings.tol, STILLEST))


def neighbourhood(objective: LogDetOnSupport, start: Array, *, tol: float) -> Solution:
    """Minimize `LogDet` on a support by neighbourhood coordinate descent wherever the bounds do not bind.

    Parameters
    ----------
    objective : LogDetOnSupport
        f on the support.
    start : ndarray
        Its entries at first; only the alternating direction method looks at them.
    tol : float
        How still the correlations of the model must be.

    Returns
    -------
    Solution
        The minimum, and how it was reached.
    """
    whole = objective.whole
    covariance, variances = whole.covariance, whole.covariance.diagonal()
    # A constant variable has no covariances: by symmetry its edges are zero at the minimum.
    real = (objective.rows != objective.columns) & (variances[objective.rows] * variances[objective.columns] > 0)
    order, sizes, graph = _components(objective.rows[real], objective.columns[real], len(covariance))
    alone = order[: int((sizes == 1).sum())]
    omega = np.zeros(whole.shape)
    omega[alone, alone], outcome = _variances_alone(variances[alone], whole.bounds)
    blocks, first = [(alone, np.sqrt(omega[alone, alone]))], alone.size
    for size in sizes[sizes > 1].tolist():
        nodes = order[first : first + size]
        block = _solved(objective, start, nodes, covariance[nodes[:, None], nodes], graph.part(first, size), tol)
        first += size
        omega[nodes[:, None], nodes] = block.omega
        blocks.append((nodes, block.factor))
        outcome = block.outcome if outcome is Outcome.SOLVED else outcome
    return _solution(objective, omega, Inverse(len(omega), blocks), outcome)


def alternating_directions(
    objective: LogDetOnSupport, start: Array, *, tol: float, rho: float | None, max_iter: int = MAX_ITERATIONS
) -> Solution:
    """Minimize `LogDet` on a support by the alternating direction method on the whole matrix (paper, Appendix B).

    Parameters
    ----------
    objective : LogDetOnSupport
        f on the support.
    start : ndarray
        Its entries at first.
    tol : float
        How small both residuals of the method must be.
    rho : float, optional
        ρ; adapted by default.
    max_iter : int, default=5000
        Limit of iterations.

    Returns
    -------
    Solution
        The minimum, and whether it was reached.
    """
    support = objective.matrix(np.ones(objective.size)) != 0
    whole = objective.whole
    block = _bounded(whole.covariance, support, whole.bounds, objective.matrix(start), tol, rho, max_iter)
    inverse = Inverse(len(support), [(np.arange(len(support)), block.factor)])
    return _solution(objective, block.omega, inverse, block.outcome)


def _solution(objective: LogDetOnSupport, omega: Array, inverse: Inverse, outcome: Outcome) -> Solution:
    entries = omega[objective.rows, objective.columns]
    linear = float(objective.whole.covariance[objective.rows, objective.columns] @ entries)
    return Solution(Point(objective, entries, inverse.log_det + linear, inverse), outcome)


def _components(rows: IntArray, columns: IntArray, size: int) -> tuple[IntArray, IntArray, _Graph]:
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


def _variances_alone(variances: Array, bounds: EigenvalueBounds) -> tuple[Array, Outcome]:
    """The precisions of variables without edges."""
    with np.errstate(divide="ignore"):
        precisions = np.clip(1.0 / variances, bounds.lower, bounds.upper)
    if np.isfinite(precisions).all():
        return precisions, Outcome.SOLVED
    # Without an upper bound f falls for ever as the precision of a constant variable grows.
    return np.where(np.isfinite(precisions), precisions, 1.0 / np.finfo(float).eps), Outcome.NO_MINIMUM


def _solved(
    objective: LogDetOnSupport, start: Array, nodes: IntArray, covariance: Array, graph: _Graph, tol: float
) -> _Block:
    """The solution on one component."""
    bounds = objective.whole.bounds
    block = _swept(covariance, graph, tol)
    if block is not None and bounds.admit(block.omega):
        return block if block.outcome is Outcome.SOLVED else _polished(covariance, graph, bounds, block.omega)
    if block is None and bounds.upper == np.inf:
        # A smallest eigenvalue does not keep f from falling for ever.
        free = _polished(covariance, graph, UNBOUNDED, np.diag(1.0 / covariance.diagonal()))
        if free.outcome is Outcome.NO_MINIMUM or bounds.admit(free.omega):
            return _block(pulled_in(free.omega, bounds)[0], free.outcome)
    begin = objective.matrix(start)[nodes[:, None], nodes]
    if block is not None:
        begin, share = pulled_in(block.omega, bounds)
        if share <= NEARLY_WITHIN and tol > STILLEST:
            return _block(begin, block.outcome)  # as good a guess as a few iterations would give
    block = _bounded(covariance, graph.support(), bounds, begin, tol)
    binding = not bounds.narrowed(MARGIN).admit(block.omega)
    return block if binding or tol > STILLEST else _polished(covariance, graph, bounds, block.omega)


def _swept(covariance: Array, graph: _Graph, tol: float) -> _Block | None:
    """The unbounded solution, or None if there is none that can be found in this way."""
    from ._sweeps import sweep  # compiled when it is first needed

    scale = np.sqrt(covariance.diagonal())
    target = covariance / np.multiply.outer(scale, scale)
    W, slopes, variances = target.copy(), np.empty(graph.neighbours.size), np.empty(len(scale))
    change = sweep(target, graph.starts, graph.neighbours, W, slopes, variances, tol, MAX_SWEEPS)
    if change < 0.0:
        return None
    omega = np.diag(1.0 / variances)
    omega[graph.rows, graph.neighbours] = -slopes / variances[graph.rows]
    omega = 0.5 * (omega + omega.T) / np.multiply.outer(scale, scale)
    factor = cholesky(omega)
    if factor is None:
        return None
    return _Block(omega, factor, Outcome.SOLVED if change <= tol else Outcome.UNFINISHED)


def _bounded(
    covariance: Array,
    support: Mask,
    bounds: EigenvalueBounds,
    start: Array,
    tol: float,
    rho: float | None = None,
    max_iter: int = MAX_ITERATIONS,
) -> _Block:
    """The solution where a bound binds."""
    found = adm(covariance, support, bounds, start, tol=max(tol, SMALLEST_RESIDUAL), max_iter=max_iter, rho=rho)
    return _block(found.omega, Outcome.SOLVED if found.converged else Outcome.UNFINISHED)


def _block(omega: Array, outcome: Outcome) -> _Block:
    factor = cholesky(omega)
    assert factor is not None
    return _Block(omega, factor, outcome)


def _polished(covariance: Array, graph: _Graph, bounds: EigenvalueBounds, start: Array) -> _Block:
    """Newton's method from a matrix within the bounds, which it does not leave."""
    support = graph.support()
    objective = LogDet.of_valid(covariance, bounds).restrict(support)
    begin = objective.evaluate(start[support])
    solve = cholesky_direction if objective.size <= SMALL else conjugate_gradient_direction
    solution = newton(objective, begin, None, solve=solve, tol=1e-14, max_iter=MAX_NEWTON)
    omega = objective.matrix(solution.point.x)
    omega = 0.5 * (omega + omega.T)  # conjugate gradients keep symmetry up to rounding
    # A Hessian that rounding makes singular is not: f is strictly convex.
    outcome = Outcome.SOLVED if solution.outcome is Outcome.SINGULAR else solution.outcome
    if outcome is Outcome.UNFINISHED and bounds == UNBOUNDED:
        outcome = Outcome.NO_MINIMUM
    return _block(omega, outcome)
