"""Debiasing proper: the minimum of f on a support."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Literal, get_args

import numpy as np

from .._types import Array
from ..objectives.base import Objective, Outcome, Point, describe_objective, has_hessian, is_quadratic, value_at_zero
from ..objectives.protocols import HasMajorizer
from ..validation import check_iterations, check_positive_number
from ._samples import Limits
from .base import Bounds, Solution
from .compiled import minimize_compiled
from .lbfgs import minimize_lbfgs
from .newton import (
    REUSED_TOL_FACTOR,
    check_uniqueness,
    find_least_decrease,
    minimize_newton,
    minimize_quadratic,
    solve_by_conjugate_gradients,
    solve_by_majorizing,
)

__all__ = ["Exact", "Method", "TrialRefit", "find_limits", "minimize_on_support"]

Method = Literal["auto", "newton-cholesky", "newton-cg", "lbfgs", "neighbourhood", "adm"]

#: All methods.
METHODS = get_args(Method)
#: Methods that are for precision matrices only.
PRECISION_METHODS = ("neighbourhood", "adm")
#: Tolerance of a result.
RESULT_TOL = 1e-12
#: With a larger tolerance a refit only compares supports, and needs no refinement of its last step.
COMPARISON_TOL = 1e-6
#: Where Newton's method has failed, quadratics above f come this near to the minimum before it is tried again.
NEAR_TOL = 1e-6
#: Default limit of Newton iterations.
MAX_NEWTON_STEPS = 100
#: Largest support whose Hessian is factorized. Measured on dense and sparse linear models: beyond it conjugate
#: gradients are faster, below it they take up to three times as long.
MAX_CHOLESKY_SIZE = 1200


@dataclass(frozen=True)
class Exact:
    """x = argmin{f(x) : supp(x) ⊆ F}, the S3 of the paper's Algorithm 1.

    Parameters
    ----------
    method : {"auto", "newton-cholesky", "newton-cg", "lbfgs", "neighbourhood", "adm"}, default="auto"
        "auto" is Newton's method where there is a Hessian, with Cholesky for supports of up to 1200 coordinates and
        conjugate gradients beyond, and L-BFGS where there is none. For precision matrices it is "neighbourhood":
        coordinate descent within the eigenvalue bounds; "adm" is the alternating direction method of the paper's
        Appendix B.
    tol : float, default=1e-12
        Relative accuracy in f. A quadratic f without bounds is minimized by one factorization, whatever `tol` and
        `max_iter`; L-BFGS is never less accurate than 1e-8.
    max_iter : int, optional
        Limit of Newton iterations (default 100; L-BFGS, which also finishes what Newton
        steps have not, may take ten times as many), or of iterations of "adm"
        (default 5000). "neighbourhood" takes none.
    rho : float, optional
        ρ of "adm"; by default it is adapted.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.diag([1.0, 2.0, 3.0]), [1.0, 3.0, 2.0])
    >>> ksparse.minimize(f, k=1, solver=ksparse.GraHTP(debias=ksparse.debias.Exact("lbfgs"))).x.round(3)
    array([0. , 1.5, 0. ])
    """

    method: Method = "auto"
    tol: float = RESULT_TOL
    max_iter: int | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, got {self.method!r}")
        check_positive_number(self.tol, "tol")
        if self.rho is not None:
            check_positive_number(self.rho, "rho")
            if self.method != "adm":
                raise ValueError(f'rho is a parameter of method="adm", not of {self.method!r}; leave one of them out')
        if self.max_iter is None:
            return
        if check_iterations(self.max_iter, "max_iter") == 0:
            raise ValueError("max_iter must be at least 1; for no debiasing, use Truncate()")
        if self.method == "neighbourhood":
            raise ValueError('"neighbourhood" has no max_iter; leave it out, or use method="adm"')

    @property
    def is_accurate(self) -> bool:
        """Whether its minimum is as accurate as a result."""
        return self.tol <= RESULT_TOL

    def __call__(self, objective: Objective, start: Array, bounds: Bounds | None = None) -> Solution:
        """Minimize the restricted objective from `start`."""
        return minimize_on_support(objective, start, bounds, self)


@dataclass(frozen=True)
class TrialRefit(Exact):
    """A refit that only shows whether a support is better than another; for solvers.

    Parameters
    ----------
    target : float, optional
        Give up once f is not expected to come below this value.
    hessian : ndarray, optional
        The Hessian on the support near the start, if it is known; Newton's first steps use it.
    """

    target: float | None = None
    hessian: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Solvers make many of them, so that nothing is checked."""

    @property
    def is_accurate(self) -> bool:
        return super().is_accurate and self.target is None


@singledispatch
def minimize_on_support(objective: Objective, start: Array, bounds: Bounds | None, settings: Exact) -> Solution:
    """Minimize a restricted objective; kinds of objectives with a method of their own register it here."""
    if settings.method in PRECISION_METHODS:
        raise ValueError(
            f'"{settings.method}" is for precision matrices, not for {describe_objective(objective)}; use "auto"'
        )
    target = settings.target if isinstance(settings, TrialRefit) else None
    hessian = settings.hessian if isinstance(settings, TrialRefit) else None
    max_iter = settings.max_iter or MAX_NEWTON_STEPS
    method = _choose_method(objective, settings)
    if method == "newton-cholesky" and bounds is None:
        solution = minimize_compiled(objective, start, find_limits(settings), hessian)
        if solution is not None:
            if solution.outcome is Outcome.UNFINISHED and target is None:
                return _finish(objective, solution.point, bounds, settings.tol, max_iter)
            return solution
    point = _evaluate_start(objective, start)
    if not np.isfinite(point.value):
        return Solution(point, Outcome.NOT_FINITE)
    if start.size == 0:
        return Solution(point, Outcome.SOLVED)
    if method == "lbfgs":
        return minimize_lbfgs(objective, point, bounds, tol=min(settings.tol, 1e-8) * 1e-2, max_iter=10 * max_iter)
    if method == "newton-cholesky" and is_quadratic(objective) and bounds is None:
        return minimize_quadratic(objective, point, refine=settings.tol < COMPARISON_TOL)
    solution = minimize_newton(
        objective,
        point,
        bounds,
        solve=None if method == "newton-cholesky" else solve_by_conjugate_gradients,
        tol=settings.tol,
        max_iter=max_iter,
        target=target,
        hessian=hessian,
    )
    if solution.outcome is Outcome.SOLVED and method == "newton-cg":
        return Solution(solution.point, check_uniqueness(objective, solution.point))
    if solution.outcome is Outcome.UNFINISHED and target is None:
        return _finish(objective, solution.point, bounds, settings.tol, max_iter)
    return solution


def find_limits(settings: Exact) -> Limits:
    """When compiled refits end."""
    target = settings.target if isinstance(settings, TrialRefit) else None
    least = find_least_decrease(settings.tol, target)
    goal = np.inf if target is None else target
    return Limits(settings.tol, settings.tol * REUSED_TOL_FACTOR, least, goal, settings.max_iter or MAX_NEWTON_STEPS)


def _finish(objective: Objective, point: Point, bounds: Bounds | None, tol: float, max_iter: int) -> Solution:
    """Go on where Newton's method has lost its way: by quadratics above f if it has any, then by L-BFGS."""
    if isinstance(objective, HasMajorizer) and objective.size <= MAX_CHOLESKY_SIZE:
        near = minimize_newton(objective, point, bounds, solve=solve_by_majorizing, tol=NEAR_TOL, max_iter=max_iter)
        solution = minimize_newton(objective, near.point, bounds, tol=tol, max_iter=max_iter)
        if solution.outcome is not Outcome.UNFINISHED:
            return solution
        point = solution.point
    return minimize_lbfgs(objective, point, bounds, tol=tol * 1e-2, max_iter=10 * max_iter)


def _evaluate_start(objective: Objective, start: Array) -> Point:
    """The start, or zero where a long gradient step has left f above f(0)."""
    point = objective.evaluate(start)
    at_zero = value_at_zero(objective)
    if np.isfinite(at_zero) and not point.value <= at_zero:
        return objective.evaluate(np.zeros_like(start))
    return point


def _choose_method(objective: Objective, settings: Exact) -> Method:
    if settings.method != "auto":
        return settings.method
    if not has_hessian(objective):
        return "lbfgs"
    return "newton-cholesky" if objective.size <= MAX_CHOLESKY_SIZE else "newton-cg"
