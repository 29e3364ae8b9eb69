"""Solutions for many k: each starts from its neighbours, in both directions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from .._types import Array, Mask
from ..debias.exact import RESULT_TOL
from ..objectives import Objective
from ..objectives.protocols import HasHeavyState, WorkingForm, working_form
from ..signal_guard import guard_signals
from ..solvers import (
    Budget,
    FixedSupport,
    Iterate,
    Problem,
    Result,
    Solver,
    Tolerance,
    grow,
    plan_growth,
    shrink,
    specialize,
)
from ..sparsity import Sparsity
from ..threads import one_thread

__all__ = ["PathSolver"]

#: By which fraction a start from a neighbour must lower f to be worth a run.
WORTHWHILE = Tolerance(1e-6)
#: Swaps are searched for again when k has changed by this fraction; at every k if there are no more units than this.
SPACING, FEW_UNITS = 0.2, 64
#: Units together are expected to gain at most this many times the sum of their single gains.
JOINT_GAIN = 1.5


class PathSolver:
    """Solves one problem for many k.

    A first call of the default solver with several k starts with the largest. Downwards, the start for a smaller k is
    the solution of the next larger one without the units that cost least; then, upwards, that of the next smaller one
    with the units that gain most, where these may gain enough. Swaps are searched for from some of these starts (from
    each, if there are few units). Further k start from their neighbours; other solvers and graphs start with the
    smallest k instead. No start
    needs a pass over the data of its own: removing units is work on the support, and the gradient that shows a
    solution to be final also shows what enters next. Where a smaller k has become better than a larger one on the
    way, the larger one starts from it again.

    Parameters
    ----------
    objective : Objective
        f.
    sparsity : Sparsity
        The set; its k does not matter.
    solver : Solver
        The method for each k. The default solver has a quick budget on the way, where neighbours take the place of a
        wider search; `refine` adds that, and the solver's effort.
    form : WorkingForm, optional
        The working form of the objective, if it is known: problems with the same form share what they gather of X.

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

    def __init__(
        self, objective: Objective, sparsity: Sparsity, solver: Solver, form: WorkingForm | None = None
    ) -> None:
        self._solver = specialize(solver, objective)
        with one_thread():
            self._form = working_form(objective) if form is None else form
        self._objective = self._form.objective
        self._passes_before = self._objective.counters.passes
        units = replace(sparsity, k=objective.size).bind(objective.shape, objective.free)
        self._units = units.divide_bounds(self._form.unit)
        self._iterates: dict[int, Iterate] = {}
        self._latest: int | None = None
        self._seen_from_above: dict[tuple[int, int], float] = {}
        self.results: dict[int, Result] = {}

    @property
    def objective(self) -> Objective:
        """f in working coordinates."""
        return self._objective

    @property
    def passes(self) -> int:
        """Passes over the data so far."""
        return self._objective.counters.passes - self._passes_before

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
        with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            new = sorted(set(ks) - self.results.keys())
            if not self._solver.descends_paths or (len(new) == 1 and not self.results):
                self._solve_from_smallest(new)
            elif not self.results:
                self._solve_from_largest(new)
            else:
                self._insert(new)
            self._enforce_monotone()
            self._drop_caches(self._latest)
        self.results = dict(sorted(self.results.items()))

    def refine(self, k: int) -> Result:
        """Run the solver with its full budget from the solution for this k, and from nothing: the best of all."""
        with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            problem, solver = self._problem(k), self._solver.without_effort()
            if solver.has_budgets:
                self._run(k, problem, self._restart(problem, k), solver)
            self._run(k, problem, solver.prepare(problem, self._objective.start), solver)
            if self._has_effort:
                searched = self._run(k, problem, self._restart(problem, k))
                self.results[k] = replace(self.results[k], message=searched.message)
            self._enforce_monotone()
        return self.results[k]

    def get_working_solution(self, k: int) -> tuple[Array, Mask]:
        """The solution for k in working coordinates, with its support: whole units, and the free coordinates."""
        x = self._iterates[k].point.x
        return x, self._units.to_mask(self._units.find_units(x != 0) | self._units.always)

    def refit(self, k: int, objectives: Iterable[Objective]) -> list[Result]:
        """Minimize other objectives, in the same working coordinates, on the support of the solution for this k."""
        results, x = [], self._iterates[k].point.x
        solver = FixedSupport()
        with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for objective in objectives:
                problem = Problem(replace(self._form, objective=objective), self._units.with_k(k))
                result, last = solver.resume(problem, solver.prepare(problem, x))
                results.append(result)
                x = last.point.x  # the next penalty is near
        return results

    def search(self) -> None:
        """Spend the solver's effort, if it has any, on the solution for each k."""
        for k in sorted(self.results) if self._has_effort else ():
            self.refine(k)

    @property
    def _has_effort(self) -> bool:
        return self._solver.without_effort() != self._solver

    def _restart(self, problem: Problem, k: int) -> Iterate:
        return self._solver.warm_start(problem, self._iterates[k], Budget.FULL)

    def _problem(self, k: int) -> Problem:
        return Problem(self._form, self._units.with_k(k))

    def _solve_from_smallest(self, ks: list[int]) -> None:
        """Solve for each k from the next smaller one, then try all downwards."""
        for k in ks:
            self._solve_upwards(k)
        for larger, smaller in pairwise(sorted(self._iterates, reverse=True)):
            self._solve_downwards(larger, smaller)

    def _solve_from_largest(self, ks: list[int]) -> None:
        """Solve for the largest k from nothing, for the others without the units that cost least; then try upwards.

        Swaps are searched for wherever k has changed by a fraction of SPACING since the last time; between, a start
        from a neighbour is final.
        """
        largest, solver = self._problem(ks[-1]), self._solver.without_effort()
        self._run(ks[-1], largest, solver.prepare(largest, self._objective.start), solver)
        swapped = ks[-1]
        for smaller, larger in reversed(list(pairwise(ks))):
            self._seen_from_above[larger, smaller] = self.results[larger].value
            problem = self._problem(smaller)
            final = self._is_near(smaller, swapped)
            iterate = self._iterates[larger]
            start = shrink(problem, iterate, RESULT_TOL) if final else shrink(problem, iterate)
            swapped = swapped if final else smaller
            self._run(smaller, problem, self._start_from_neighbour(problem, start, final), solver)
        swapped = 0
        for smaller, larger in pairwise(ks):
            problem, known, below = self._problem(larger), self._iterates[larger], self._iterates[smaller]
            support, gain = plan_growth(problem, below)
            same = known.support is not None and np.array_equal(known.support, support)
            if same or below.value - JOINT_GAIN * gain >= known.value:
                continue
            start = grow(problem, below, support)
            if WORTHWHILE.is_lower(problem, start.value, than=known.value):
                final = self._is_near(larger, swapped)
                swapped = swapped if final else larger
                self._run(larger, problem, self._start_from_neighbour(problem, start, final), solver)

    def _insert(self, ks: list[int]) -> None:
        """Solve for k between or beyond those that were solved before, each from its neighbours.

        Next to a known solution, the better of the starts from both sides is final; elsewhere swaps are searched for,
        and what they find may improve the next smaller k.
        """
        searched: list[int] = []
        for k in ks:
            below = max((known for known in self._iterates if known < k), default=None)
            above = min((known for known in self._iterates if known > k), default=None)
            if above is None:
                self._solve_upwards(k)
                searched.append(k)
                continue
            problem = self._problem(k)
            final = self._is_near(k, above) or (below is not None and self._is_near(k, below))
            larger = self._iterates[above]
            start = shrink(problem, larger, RESULT_TOL) if final else shrink(problem, larger)
            if below is not None:
                grown = grow(problem, self._iterates[below])
                start = grown if WORTHWHILE.is_lower(problem, grown.value, than=start.value) else start
            self._run(k, problem, self._start_from_neighbour(problem, start, final), self._solver.without_effort())
            searched += [] if final else [k]
        for lower, higher in reversed(list(pairwise(sorted(self._iterates)))):
            if higher in searched:
                self._solve_downwards(higher, lower)

    def _is_near(self, k: int, swapped: int) -> bool:
        """Whether swaps were searched for at a k so near that they are not searched for again."""
        return abs(k - swapped) < SPACING * k and self._units.count > FEW_UNITS

    def _start_from_neighbour(self, problem: Problem, start: Iterate, final: bool) -> Iterate:
        """A start from a neighbouring k, which is the result if it is final."""
        start = self._solver.warm_start(problem, start)
        return replace(start, done="converged: the support comes from a neighbouring k") if final else start

    def _solve_upwards(self, k: int) -> None:
        problem = self._problem(k)
        below = max((known for known in self._iterates if known < k), default=None)
        if below is None:
            nothing = Iterate(self._objective.evaluate(self._objective.start))
            start = self._solver.warm_start(problem, nothing)
        else:
            start = self._start_from_smaller(problem, self._iterates[below])
        self._run(k, problem, start)
        self._drop_caches(below)

    def _start_from_smaller(self, problem: Problem, smaller: Iterate) -> Iterate:
        """The start for more units than a solution has."""
        larger = smaller if self._solver.adds_units else grow(problem, smaller)
        return self._solver.warm_start(problem, larger)

    def _solve_downwards(self, larger: int, smaller: int) -> None:
        value = self.results[larger].value
        if self._seen_from_above.get((larger, smaller)) == value:
            return  # the same start as in an earlier round
        self._seen_from_above[larger, smaller] = value
        problem = self._problem(smaller)
        start = shrink(problem, self._iterates[larger])
        self._drop_caches(larger)
        if WORTHWHILE.is_lower(problem, start.value, than=self._iterates[smaller].value):
            self._run(smaller, problem, self._solver.warm_start(problem, start))

    def _enforce_monotone(self) -> None:
        """Restart each k whose solution is worse than one with fewer units, from that one."""
        for smaller, larger in pairwise(sorted(self._iterates)):
            if self.results[smaller].value >= self.results[larger].value:
                continue  # as it should be, whatever the tolerance
            problem = self._problem(larger)
            if WORTHWHILE.is_lower(problem, self.results[smaller].value, than=self.results[larger].value):
                self._run(larger, problem, self._start_from_smaller(problem, self._iterates[smaller]))
                self._drop_caches(smaller)

    def _run(self, k: int, problem: Problem, start: Iterate, solver: Solver | None = None) -> Result:
        result, last = (solver or self._solver).resume(problem, start)
        known = self.results.get(k)
        # Of results that differ by rounding, the first one is kept.
        if known is None or WORTHWHILE.is_lower(problem, result.value, than=known.value):
            self.results[k] = result
            self._drop_caches(self._latest)
            self._iterates[k], self._latest = replace(last, done=None), k
        return result

    def _drop_caches(self, k: int | None) -> None:
        """Forget what can be computed again for a solution: matrices for each k would fill the memory."""
        if k in self._iterates:
            objective, point = self._objective, self._iterates[k].point
            light = objective.without_state(point) if isinstance(objective, HasHeavyState) else point
            self._iterates[k] = replace(self._iterates[k], point=light, solution=None)
