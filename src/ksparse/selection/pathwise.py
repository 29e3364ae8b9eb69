"""Solutions for many k: each starts from its neighbours, upwards and then downwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..objectives import Objective
from ..solvers import Iterate, Problem, Result, Solver, SwapGraHTP
from ..solvers.additive import removals
from ..solvers.merging import expected_gains
from ..solvers.swaps import START
from ..sparsity import Sparsity
from ..threads import one_thread

__all__ = ["PathSolver"]

#: A start from a neighbour must lower f by this share, and by more than this share of f(0), to be worth a run.
WORTHWHILE, ROUNDING = 1e-6, 1e-15


class PathSolver:
    """Solves one problem for more and more k.

    Upwards, the start for a larger k is the solution of the next smaller one with the units that promise most;
    downwards, the solution of the next larger one without the units that cost least, where that is better than what
    is known. Neither start needs a pass over the data: the gradient that showed a solution to be final also says what
    enters next, and leaving is work on the support. So a further k costs one pass if no exchange lowers f on the way.
    Where a smaller k has become better than a larger one on the way down, the larger one starts from it again.

    Parameters
    ----------
    objective : Objective
        f.
    sparsity : Sparsity
        The set; its k does not matter.
    solver : Solver
        The method for each k. The default solver searches briefly on the way, where neighbours stand in for a wider
        search, which `polish` adds; it is also where its effort goes.

    Attributes
    ----------
    results : dict of int to Result
        The best solution known for each k.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.selection import PathSolver
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> f = ksparse.objectives.LeastSquares(X, X[:, 3] - 2 * X[:, 7] + 3 * X[:, 9])
    >>> path = PathSolver(f, ksparse.sparsity.Entries(1), ksparse.SwapGraHTP())
    >>> path.solve([1, 2, 3])
    >>> [result.selected.tolist() for result in path.results.values()]
    [[9], [7, 9], [3, 7, 9]]
    """

    def __init__(self, objective: Objective, sparsity: Sparsity, solver: Solver) -> None:
        self._solver = solver
        with one_thread():
            self._objective = objective.working()
        self._units = replace(sparsity, k=objective.size).bind(objective.shape, objective.free)
        self._iterates: dict[int, Iterate] = {}
        self._seen_from_above: dict[tuple[int, int], float] = {}
        self.results: dict[int, Result] = {}

    @property
    def fewest(self) -> int:
        """The smallest k there can be: the number of always-selected units."""
        return int(self._units.always.sum())

    @property
    def most(self) -> int:
        """The largest k that makes a difference: the number of units."""
        return self._units.count

    def solve(self, ks: Iterable[int]) -> None:
        """Add solutions for these k, and improve earlier ones where the new ones can."""
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for k in sorted(set(ks) - self.results.keys()):
                self._upwards(k)
            known = sorted(self._iterates, reverse=True)
            for larger, smaller in pairwise(known):
                self._downwards(larger, smaller)
            self._never_rising()
            self._lighten()

    def polish(self, k: int) -> Result:
        """Let the solver itself go on from the solution for this k, and begin from nothing: the best of all."""
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            problem, solver = self._problem(k), self._solver
            if isinstance(solver, SwapGraHTP):
                solver = replace(solver, effort=0)
                self._run(k, problem, replace(self._iterates[k], memory=None), solver)
            self._run(k, problem, solver.prepare(problem, self._objective.start), solver)
            if self._has_effort:
                self._run(k, problem, replace(self._iterates[k], memory=None))
            self._never_rising()
        return self.results[k]

    def search(self) -> None:
        """Spend the solver's effort, if it has any, on the solution for each k."""
        for k in sorted(self.results) if self._has_effort else ():
            self.polish(k)

    @property
    def _has_effort(self) -> bool:
        return isinstance(self._solver, SwapGraHTP) and self._solver.effort > 0

    def _problem(self, k: int) -> Problem:
        return Problem(self._objective, replace(self._units, k=k))

    def _upwards(self, k: int) -> None:
        problem = self._problem(k)
        below = max((known for known in self._iterates if known < k), default=None)
        if below is None:
            start = self._solver.prepare(problem, self._objective.start)
            if isinstance(self._solver, SwapGraHTP):
                start = self._solver.brief(start)
        else:
            start = self._above(problem, self._iterates[below])
        self._run(k, problem, start)

    def _above(self, problem: Problem, smaller: Iterate) -> Iterate:
        """The start for more units than a solution has."""
        if isinstance(self._solver, SwapGraHTP) and self._objective.merges and smaller.support is not None:
            inside = problem.units.units_in(smaller.support)
            return self._solver.growing(smaller, int(inside.sum()))
        return self._prepared(problem, _grown(problem, smaller))

    def _downwards(self, larger: int, smaller: int) -> None:
        value = self.results[larger].value
        if self._seen_from_above.get((larger, smaller)) == value:
            return  # the same start as in an earlier round
        self._seen_from_above[larger, smaller] = value
        problem = self._problem(smaller)
        start = _shrunk(problem, self._iterates[larger])
        self._lighten()
        if self._lower(start.point.value, self._iterates[smaller].point.value):
            self._run(smaller, problem, self._prepared(problem, start))

    def _never_rising(self) -> None:
        """More units are no worse than fewer: where they were, they start from these again."""
        for smaller, larger in pairwise(sorted(self._iterates)):
            if self._lower(self.results[smaller].value, self.results[larger].value):
                problem = self._problem(larger)
                self._run(larger, problem, self._above(problem, self._iterates[smaller]))

    def _lower(self, value: float, known: float) -> bool:
        """Whether one value of f is below another by more than rounding."""
        return value < known - WORTHWHILE * abs(known) - ROUNDING * abs(self._objective.value_at_start)

    def _prepared(self, problem: Problem, start: Iterate) -> Iterate:
        """The default solver goes on from an iterate; the others make one of their own from its x."""
        if isinstance(self._solver, SwapGraHTP):
            return self._solver.continued(start)
        return self._solver.prepare(problem, start.point.x)

    def _run(self, k: int, problem: Problem, start: Iterate, solver: Solver | None = None) -> None:
        result, last = (solver or self._solver).resume(problem, start)
        known = self.results.get(k)
        # Results that rounding alone tells apart are the same, and the first of them stays.
        if known is None or self._lower(result.value, known.value):
            self.results[k] = result
            self._lighten()
            self._iterates[k] = replace(last, done=None)

    def _lighten(self) -> None:
        """Forget what can be made again: matrices for each k would fill the memory."""
        for k, iterate in self._iterates.items():
            light = self._objective.light(iterate.point)
            self._iterates[k] = replace(iterate, point=light, proposal=None, solution=None)


def _grown(problem: Problem, iterate: Iterate) -> Iterate:
    """A solution with fewer units and the best others, up to k."""
    units = problem.units
    support = iterate.support if iterate.support is not None else iterate.point.x != 0
    gains = np.where(units.units_in(support), np.inf, expected_gains(problem, iterate))
    return problem.refit(units.mask(units.top(gains)), iterate.point.x, START)


def _shrunk(problem: Problem, iterate: Iterate) -> Iterate:
    """A solution with more units without those that matter least."""
    units = problem.units
    support = iterate.support if iterate.support is not None else iterate.point.x != 0
    inside = units.units_in(support) | units.always
    surplus = int(inside.sum()) - units.k
    if surplus > 0:
        inside[removals(problem, replace(iterate, support=units.mask(inside)), surplus)] = False
    return problem.refit(units.mask(inside), iterate.point.x, START)
