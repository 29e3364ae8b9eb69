"""Gradient Support Pursuit."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..debias import Debias, Exact
from ..validation import check_callable
from .halting import HaltingRules, SameSupport, check_rules, first_reason
from .loop import Solver
from .problem import Iterate, Problem

__all__ = ["GraSP"]


@dataclass(frozen=True)
class GraSP(Solver):
    """Gradient Support Pursuit (Bahmani, Raj and Boufounos, 2013), in the form that the paper's §3.2 compares with.

    Minimize f over the top k units of x and the top 2k of the gradient, keep the k largest, and minimize over them.

    Parameters
    ----------
    debias : Debias, default=Exact()
        How f is minimized on a support.
    halting : HaltingRule or tuple of them, default=SameSupport()
        When to stop.
    max_iter : int, default=100
        Limit of iterations.
    time_limit : float, optional
        Limit in seconds.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> f = ksparse.objectives.LeastSquares(X, X[:, 3] - 2 * X[:, 7])
    >>> ksparse.minimize(f, k=2, solver=ksparse.GraSP()).selected
    array([3, 7])

    References
    ----------
    S. Bahmani, B. Raj and P. T. Boufounos, Greedy Sparsity-Constrained Optimization, JMLR 14 (2013).
    """

    debias: Debias = field(default_factory=Exact)
    halting: HaltingRules = field(default_factory=SameSupport)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_callable(self.debias, "debias", "such as ksparse.debias.Exact()")
        check_rules(self.halting)

    def halted(self, previous: Iterate, current: Iterate) -> str | None:
        return first_reason(self.halting, previous, current)

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        units = problem.units
        gradient = current.point.gradient
        steepest = units.top(units.mean_squares(units.descent(gradient)), k=2 * units.k)
        merged = units.mask(steepest) | (current.point.x != 0)
        wide = problem.refit(merged, current.point.x, self.debias)
        return problem.refit(units.select(wide.point.x), wide.point.x, self.debias)
