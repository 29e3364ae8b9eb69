"""Greedy methods: Gradient Support Pursuit and Forward Basis Selection."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .._types import Array
from ..debias import Debias, Exact
from ..validation import check_callable
from .halting import HaltingRules, SameSupport, check_rules, find_first_reason
from .loop import Solver
from .problem import Iterate, Problem

__all__ = ["FBS", "GraSP"]


@dataclass(frozen=True)
class GraSP(Solver):
    """Gradient Support Pursuit (Bahmani, Raj and Boufounos, JMLR 14, 2013), as the paper's §3.2 compares with it.

    Minimize f over the top k units of x and the top 2k of the gradient, keep the k largest, and minimize over them.
    f may rise, and the method ends where the support repeats, not where f was lowest: started at a good x0, it may end
    above it. `Result.message` then says so, and names the lower f.

    Parameters
    ----------
    debias : Debias, default=Exact()
        How f is minimized on a support.
    halting : HaltingRule or tuple of them, default=SameSupport()
        When to stop.
    max_iter, time_limit
        Limits of iterations (default 100) and of seconds (default none).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.GraSP()).selected
    array([1, 3])
    """

    debias: Debias = field(default_factory=Exact)
    halting: HaltingRules = field(default_factory=SameSupport)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_callable(self.debias, "debias", "such as ksparse.debias.Exact()")
        check_rules(self.halting)

    def find_reason_to_halt(self, previous: Iterate, current: Iterate) -> str | None:
        return find_first_reason(self.halting, previous, current)

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        units = problem.units
        steepest = units.select_units(units.mean_squares(units.project_gradient(current.point.gradient)), k=2 * units.k)
        merged = units.to_mask(steepest) | (current.point.x != 0)
        wide = problem.refit(merged, current.point.x, self.debias)
        return problem.refit(units.select(wide.point.x), wide.point.x, self.debias)


@dataclass(frozen=True)
class FBS(Solver):
    """Forward Basis Selection (Yuan and Yan, 2013): add the unit with the largest gradient, minimize, k times.

    Begins with the always-selected units; an x0 is not used.

    Parameters
    ----------
    debias : Debias, default=Exact()
        How f is minimized on the units selected so far.
    max_iter, time_limit
        Limits of iterations (default: as many as there are units to add) and of seconds (default none).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.FBS()).selected
    array([1, 3])
    """

    debias: Debias = field(default_factory=Exact)
    max_iter: int = field(default=1_000_000, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_callable(self.debias, "debias", "such as ksparse.debias.Exact()")

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        support = problem.units.to_mask(problem.units.always)
        return self._mark_if_finished(problem, problem.refit(support, problem.objective.start, self.debias))

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        units, chosen = problem.units, problem.find_selected_units(current)
        scores = np.where(chosen, -np.inf, units.mean_squares(units.project_gradient(current.point.gradient)))
        best = int(np.argmax(scores))
        if scores[best] == 0.0:
            return replace(current, done="converged: no unit outside the support has a gradient")
        chosen[best] = True
        return self._mark_if_finished(problem, problem.refit(units.to_mask(chosen), current.point.x, self.debias))

    @staticmethod
    def _mark_if_finished(problem: Problem, iterate: Iterate) -> Iterate:
        selected = int(problem.find_selected_units(iterate).sum())
        done = f"converged: {selected} units were selected" if selected >= problem.units.k else None
        return replace(iterate, done=done)
