"""The graphical lasso with at most k edges: the convex baseline for precision matrices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from .._types import Array
from ..objectives import EigenvalueBounds, LogDet, Point
from ..objectives.base import describe_objective
from ..validation import check_iterations, check_positive_number
from .loop import Solver
from .problem import Iterate, Problem, SolverState

__all__ = ["GLasso"]

#: Until a penalty leaves too many edges, the next one is smaller by this factor, down to this fraction of the largest.
STRIDE, SMALLEST = 1.25, 1e-6


@dataclass(frozen=True)
class GLasso(Solver):
    """min −log det Ω + ⟨Σ, Ω⟩ + λ·Σ_{i≠j}|Ω_ij| by scikit-learn, with λ bisected until k edges are left, or just fewer.

    The baseline that the paper's §5.2 compares with (Friedman, Hastie and Tibshirani, Biostatistics 2008). Its entries
    are shrunken by the penalty, and are returned as they are; eigenvalue bounds are not imposed. An iteration is one
    fit.

    Parameters
    ----------
    tol : float, default=1e-4
        Tolerance of scikit-learn's `graphical_lasso`.
    inner_tol : float, default=1e-8
        Its `enet_tol`, the tolerance of its regressions. With scikit-learn's own, 1e-4, they are often too inaccurate
        for the whole to converge.
    sweeps : int, default=100
        Its limit of iterations, for each λ.
    max_iter, time_limit
        Limits of how many λ are tried (default 100) and of seconds (default none).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> covariance = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])
    >>> f = ksparse.objectives.LogDet(covariance)
    >>> ksparse.minimize(f, k=1, solver=ksparse.solvers.GLasso()).selected
    array([[0, 1]])
    """

    tol: float = 1e-4
    inner_tol: float = 1e-8
    sweeps: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive_number(self.tol, "tol")
        check_positive_number(self.inner_tol, "inner_tol")
        if check_iterations(self.sweeps, "sweeps") == 0:
            raise ValueError("sweeps must be at least 1")

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        objective, units = problem.objective, problem.units
        if not isinstance(objective, LogDet):
            raise TypeError(
                f"GLasso is a method for LogDet, got {describe_objective(objective)}; use SwapGraHTP or GraHTP"
            )
        if units.always.any() or (units.number < -1).any():
            raise ValueError("GLasso does not support known or forbidden edges; use SwapGraHTP, GraHTP, GraSP or FBS")
        if (objective.covariance.diagonal() == 0).any():
            raise ValueError("the graphical lasso cannot fit constant variables; leave them out")
        sizes = np.sort(np.abs(objective.covariance[np.triu_indices(len(objective.covariance), 1)]))[::-1]
        # Beyond the largest covariance there is no edge; about as many are left as covariances exceed the penalty.
        highest = float(sizes.max(initial=0.0))
        guess = float(sizes[min(units.k, sizes.size) - 1]) if units.k and sizes.size else highest
        smallest = SMALLEST * highest
        none = problem.refit(units.to_mask(np.zeros(units.count, dtype=bool)), objective.start)
        nothing = "k = 0 selects nothing" if units.k == 0 else "there are no covariances"
        done = f"converged: {nothing}" if highest == 0.0 or units.k == 0 else None
        return replace(none, done=done, state=_Bracket(0.0, highest, max(guess, smallest), smallest))

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        objective, bracket = problem.objective, current.state
        assert isinstance(objective, LogDet)
        assert isinstance(bracket, _Bracket)
        found = self.solve_penalized(objective.covariance, bracket.penalty)
        edges = np.inf if found is None else np.count_nonzero(np.triu(found[0], 1))
        if found is None or edges > problem.units.k:
            narrowed = bracket.raise_penalty()
            following = replace(current, step=bracket.penalty, state=narrowed)
        else:
            narrowed, omega = bracket.lower_penalty(), found[0]
            unbounded = LogDet.of_valid(objective.covariance, EigenvalueBounds(0.0, np.inf)).evaluate(omega)
            point = Point(objective, omega, unbounded.value, unbounded.state)
            following = Iterate(point, omega != 0, step=bracket.penalty, state=narrowed)
        if edges == problem.units.k:
            return replace(following, done=f"converged: {edges} edges are left")
        if narrowed.closed:
            return replace(following, done="converged: no penalty leaves more edges, but at most k")
        return following

    def solve_penalized(self, covariance: Array, penalty: float) -> tuple[Array, int] | None:
        """Ω for a covariance without constant variables and a penalty λ, and the number of scikit-learn's iterations.

        None where scikit-learn finds the penalty too small to be solved.
        """
        unit = float(covariance.diagonal().mean())  # scikit-learn's tolerances are made for variances of about 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                options = {"tol": self.tol, "enet_tol": self.inner_tol, "max_iter": self.sweeps}
                _, found, n_iter = graphical_lasso(covariance / unit, penalty / unit, return_n_iter=True, **options)
            except FloatingPointError:
                return None
        return 0.5 * (found + found.T) / unit, int(n_iter)


@dataclass(frozen=True)
class _Bracket(SolverState):
    """The penalties between which the one that leaves k edges lies, and the one to try; `low` is 0 while unknown."""

    low: float
    high: float
    penalty: float
    smallest: float

    @property
    def closed(self) -> bool:
        return self.high <= self.low * (1.0 + 1e-6) or self.penalty < self.smallest

    def raise_penalty(self) -> _Bracket:
        """After a penalty that left too many edges."""
        return replace(self, low=self.penalty, penalty=float(np.sqrt(self.penalty * self.high)))

    def lower_penalty(self) -> _Bracket:
        """After a penalty that left few enough."""
        following = float(np.sqrt(self.low * self.penalty)) if self.low else self.penalty / STRIDE
        return replace(self, high=self.penalty, penalty=following)
