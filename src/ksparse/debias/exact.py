"""Debiasing proper: the minimum on the support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from .._types import Array
from ..objectives.base import Objective, Point
from ..objectives.logdet import LogDetOnSupport
from ..validation import check_iterations, check_positive_number
from .base import Bounds, Outcome, Solution
from .lbfgs import lbfgs
from .neighbourhood import STILLEST, alternating_directions, neighbourhood
from .newton import conjugate_gradient_direction, minimize_quadratic, newton, unique

__all__ = ["Exact", "Method"]

Method = Literal["auto", "newton-cholesky", "newton-cg", "lbfgs", "neighbourhood", "adm"]

#: With a larger tolerance a refit is only to show whether a support is worth more.
BRIEF = 1e-6
#: The tolerance of a result.
ACCURATE = 1e-12


@dataclass(frozen=True)
class Exact:
    """x = argmin{f(x) : supp(x) ⊆ F}, the S3 of the paper's Algorithm 1.

    Parameters
    ----------
    method : {"auto", "newton-cholesky", "newton-cg", "lbfgs", "neighbourhood", "adm"}, default="auto"
        "auto" takes Newton's method where there is a Hessian, with Cholesky for supports of up to 1200 coordinates (500
        of other functions than linear models) and conjugate gradients beyond, and L-BFGS where there is none. For
        precision matrices it takes "neighbourhood", coordinate descent within the eigenvalue bounds; "adm" is the
        alternating direction method of the paper's Appendix B.
    tol : float, default=1e-12
        Relative accuracy in f.
    max_iter : int, default=100
        Limit of Newton iterations; L-BFGS may take ten times as many.
    target : float, optional
        Give up once f cannot come below this value any more.
    rho : float, optional
        ρ of the alternating direction method; by default it adapts itself.
    hessian : ndarray, optional
        The Hessian on the support near the start, if it is known; it serves Newton's first steps.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.diag([1.0, 2.0, 3.0]), [1.0, 3.0, 2.0])
    >>> ksparse.minimize(f, k=1, solver=ksparse.GraHTP(debias=ksparse.debias.Exact("lbfgs"))).x.round(3)
    array([0. , 1.5, 0. ])
    """

    method: Method = "auto"
    tol: float = ACCURATE
    max_iter: int = 100
    target: float | None = None
    rho: float | None = None
    hessian: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        methods = get_args(Method)
        if self.method not in methods:
            raise ValueError(f"method must be one of {methods}, got {self.method!r}")
        check_positive_number(self.tol, "tol")
        if self.rho is not None:
            check_positive_number(self.rho, "rho")
        if check_iterations(self.max_iter, "max_iter") == 0:
            raise ValueError("max_iter must be at least 1; for no debiasing, use Truncate()")

    @property
    def accurate(self) -> bool:
        """Whether what it finds is as accurate as a result is."""
        return self.tol <= ACCURATE and self.target is None

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Minimize the restricted objective from `start`."""
        if isinstance(objective, LogDetOnSupport):
            return self._precision(objective, start, bounds)
        if self.method in ("neighbourhood", "adm"):
            raise ValueError(
                f'"{self.method}" is for precision matrices, not for {type(objective).__name__}; use "auto"'
            )
        point = self._start(objective, start)
        if not np.isfinite(point.value):
            return Solution(point, Outcome.NOT_FINITE)
        if start.size == 0:
            return Solution(point, Outcome.SOLVED)
        method = self._method_for(objective)
        if method == "lbfgs":
            return lbfgs(objective, point, bounds, tol=min(self.tol, 1e-8) * 1e-2, max_iter=10 * self.max_iter)
        if method == "newton-cholesky" and objective.quadratic and bounds is None:
            return minimize_quadratic(objective, point, refine=self.tol < BRIEF)
        solution = newton(
            objective,
            point,
            bounds,
            solve=None if method == "newton-cholesky" else conjugate_gradient_direction,
            tol=self.tol,
            max_iter=self.max_iter,
            target=self.target,
            hessian=self.hessian,
        )
        if solution.outcome is Outcome.SOLVED and method == "newton-cg":
            return Solution(solution.point, unique(objective, solution.point))
        if solution.outcome is Outcome.UNFINISHED and self.target is None:
            return lbfgs(objective, solution.point, bounds, tol=self.tol * 1e-2, max_iter=10 * self.max_iter)
        return solution

    def _precision(self, objective: LogDetOnSupport, start: Array, bounds: Bounds | None) -> Solution:
        """Minimize over the matrices on a support, within their eigenvalue bounds."""
        if bounds is not None:
            raise ValueError("entries of a precision matrix cannot be bounded; set bounds of its eigenvalues instead")
        if self.method == "adm":
            return alternating_directions(objective, start, tol=self.tol, rho=self.rho)
        if self.method not in ("auto", "neighbourhood"):
            raise ValueError(f'precision matrices are debiased by "neighbourhood" or "adm", not by "{self.method}"')
        return neighbourhood(objective, start, tol=max(self.tol, STILLEST))

    @staticmethod
    def _start(objective: Objective, start: Array) -> Point:
        """Where to begin: a long gradient step may have gone further from the minimum than zero is."""
        point = objective.at(start)
        at_zero = objective.value_at_zero
        return objective.at(np.zeros_like(start)) if np.isfinite(at_zero) and not point.value <= at_zero else point

    def _method_for(self, objective: Objective) -> Method:
        if self.method != "auto":
            return self.method
        if not objective.has_hessian:
            return "lbfgs"
        return "newton-cholesky" if objective.size <= objective.largest_factor else "newton-cg"
