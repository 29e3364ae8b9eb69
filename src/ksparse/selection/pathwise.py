"""Solutions for many k: each starts from its neighbours, in both directions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._types import Mask
from ..debias import Exact
from ..debias.exact import TrialRefit
from ..objectives import LogDet, Objective, Point
from ..objectives.definite import Inverse
from ..objectives.protocols import working_form
from ..solvers import Iterate, Problem, Result, Solver, SwapGraHTP
from ..solvers.additive import removed
from ..solvers.merging import LOOSE, expected_gains
from ..solvers.swaps import SMALL
from ..sparsity import Sparsity
from ..threads import one_thread

__all__ = ["PathSolver"]

#: A start from a neighbour must lower f by this share, and by more than this share of f(0), to be worth a run.
WORTHWHILE, ROUNDING = 1e-6, 1e-15
#: Exchanges are looked for again when k has changed by this share.
SPACING = 0.2
#: Units together are not expected to gain more than so many times what they promise one by one.
TOGETHER = 1.5
#: How a start that is final is refitted.
EXACT = Exact()


class PathSolver:
    """Solves one problem for many k.

    A first call of the default solver with several k solves for the largest by itself. Downwards, the start for a
    smaller k is the solution of the next larger one without the units that cost least; then, upwards, that of the next
    smaller one with the units that promise most, where these may gain enough. Exchanges go on from some of these starts
    (from each, if there are few units); between them neighbours stand in. Further k, other solvers and graphs begin at
    the smallest k instead. No start needs a pass over the data of its own: leaving is work on the support, and the
    gradient that shows a solution to be final also says what enters next. Where a smaller k has become better than a
    larger one on the way, the larger one starts from it again.

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
            self._form = working_form(objective)
        self._objective = self._form.objective
        self._passes_before = self._objective.counters.passes
        self._units = replace(sparsity, k=objective.size).bind(objective.shape, objective.free)
        self._iterates: dict[int, Iterate] = {}
        self._latest: int | None = None
        self._seen_from_above: dict[tuple[int, int], float] = {}
        self.results: dict[int, Result] = {}

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
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            new = sorted(set(ks) - self.results.keys())
            if len(new) > 1 and not self.results and self._starts_from_above:
                self._from_the_largest(new)
            else:
                self._from_the_smallest(new)
            self._never_rising()
            self._lighten(self._latest)
        self.results = dict(sorted(self.results.items()))

    def polish(self, k: int) -> Result:
        """Let the solver itself go on from the solution for this k, and begin from nothing: the best of all."""
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            problem, solver = self._problem(k), self._solver
            if isinstance(solver, SwapGraHTP):
                solver = replace(solver, effort=0)
                self._run(k, problem, replace(self._iterates[k], memory=None), solver)
            self._run(k, problem, solver.prepare(problem, self._objective.start), solver)
            if self._has_effort:
                searched = self._run(k, problem, replace(self._iterates[k], memory=None))
                self.results[k] = replace(self.results[k], message=searched.message)
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
        return Problem(self._form, replace(self._units, k=k))

    @property
    def _starts_from_above(self) -> bool:
        return (
            isinstance(self._solver, SwapGraHTP)
            and self._solver.exchanges != 0
            and not isinstance(self._objective, LogDet)
        )

    def _from_the_smallest(self, ks: list[int]) -> None:
        """Solve for each k from the next smaller one, then look downwards again."""
        for k in ks:
            self._upwards(k)
        for larger, smaller in pairwise(sorted(self._iterates, reverse=True)):
            self._downwards(larger, smaller)

    def _from_the_largest(self, ks: list[int]) -> None:
        """Solve for the largest k by itself, the others without the units that cost least; then look upwards again.

        Exchanges go on wherever k has changed by a share of SPACING since the last time, or everywhere if there are few
        units; between, neighbours stand in.
        """
        assert isinstance(self._solver, SwapGraHTP)
        largest, solver = self._problem(ks[-1]), replace(self._solver, effort=0)
        self._run(ks[-1], largest, solver.prepare(largest, self._objective.start), solver)
        exchanged = ks[-1]
        for smaller, larger in reversed(list(pairwise(ks))):
            self._seen_from_above[larger, smaller] = self.results[larger].value
            problem = self._problem(smaller)
            final = self._near(smaller, exchanged)
            start = self._continued(_shrunk(problem, self._iterates[larger], EXACT if final else LOOSE), final)
            exchanged = exchanged if final else smaller
            self._run(smaller, problem, start, solver)
        exchanged = 0
        for smaller, larger in pairwise(ks):
            problem, known, below = self._problem(larger), self._iterates[larger], self._iterates[smaller]
            growth = _growth(problem, below)
            if growth.hoped_for >= known.point.value or _on(known, growth.support):
                continue
            start = problem.refit(growth.support, below.point.x, LOOSE)
            if self._lower(start.point.value, known.point.value):
                final = self._near(larger, exchanged)
                exchanged = exchanged if final else larger
                self._run(larger, problem, self._continued(start, final), solver)

    def _near(self, k: int, exchanged: int) -> bool:
        """Whether exchanges were looked for at a k so near that they are not looked for again."""
        return abs(k - exchanged) < SPACING * k and self._units.count > SMALL

    @staticmethod
    def _continued(start: Iterate, final: bool) -> Iterate:
        """A start from a neighbour, from which exchanges go on unless it is final."""
        start = SwapGraHTP.continued(start)
        return replace(start, done="converged: on the support that a neighbouring k gave") if final else start

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
        self._lighten(below)

    def _above(self, problem: Problem, smaller: Iterate) -> Iterate:
        """The start for more units than a solution has."""
        if isinstance(self._solver, SwapGraHTP) and isinstance(self._objective, LogDet) and smaller.support is not None:
            inside = problem.units.units_in(smaller.support)
            return self._solver.growing(smaller, int(inside.sum()))
        return self._prepared(problem, problem.refit(_growth(problem, smaller).support, smaller.point.x, LOOSE))

    def _downwards(self, larger: int, smaller: int) -> None:
        value = self.results[larger].value
        if self._seen_from_above.get((larger, smaller)) == value:
            return  # the same start as in an earlier round
        self._seen_from_above[larger, smaller] = value
        problem = self._problem(smaller)
        start = _shrunk(problem, self._iterates[larger])
        self._lighten(larger)
        if self._lower(start.point.value, self._iterates[smaller].point.value):
            self._run(smaller, problem, self._prepared(problem, start))

    def _never_rising(self) -> None:
        """More units are no worse than fewer: where they were, they start from these again."""
        for smaller, larger in pairwise(sorted(self._iterates)):
            if self._lower(self.results[smaller].value, self.results[larger].value):
                problem = self._problem(larger)
                self._run(larger, problem, self._above(problem, self._iterates[smaller]))
                self._lighten(smaller)

    def _lower(self, value: float, known: float) -> bool:
        """Whether one value of f is below another by more than rounding."""
        return value < known - WORTHWHILE * abs(known) - ROUNDING * abs(self._form.value_at_start)

    def _prepared(self, problem: Problem, start: Iterate) -> Iterate:
        """The default solver goes on from an iterate; the others make one of their own from its x."""
        if isinstance(self._solver, SwapGraHTP):
            return self._solver.continued(start)
        return self._solver.prepare(problem, start.point.x)

    def _run(self, k: int, problem: Problem, start: Iterate, solver: Solver | None = None) -> Result:
        result, last = (solver or self._solver).resume(problem, start)
        known = self.results.get(k)
        # Results that rounding alone tells apart are the same, and the first of them stays.
        if known is None or self._lower(result.value, known.value):
            self.results[k] = result
            self._lighten(self._latest)
            self._iterates[k], self._latest = replace(last, done=None), k
        return result

    def _lighten(self, k: int | None) -> None:
        """Forget what can be made again for a solution: matrices for each k would fill the memory."""
        if k in self._iterates:
            iterate = self._iterates[k]
            point = iterate.point
            light = Point(self._objective, point.x, point.value) if isinstance(point.state, Inverse) else point
            self._iterates[k] = replace(iterate, point=light, proposal=None, solution=None)


def _units_of(problem: Problem, iterate: Iterate) -> Mask:
    """The units that a solution has selected."""
    return problem.units.units_in(iterate.support if iterate.support is not None else iterate.point.x != 0)


def _on(iterate: Iterate, support: Mask) -> bool:
    return iterate.support is not None and np.array_equal(iterate.support, support)


class _Growth(NamedTuple):
    """A solution with fewer units and the most promising others, up to k; and what f may come to with them."""

    support: Mask
    hoped_for: float


def _growth(problem: Problem, iterate: Iterate) -> _Growth:
    """How a solution with fewer units grows."""
    inside = _units_of(problem, iterate)
    gains = np.where(inside, 0.0, expected_gains(problem, iterate))
    grown = problem.units.top(np.where(inside, np.inf, gains))
    promised = float(gains[grown & ~inside].sum())
    return _Growth(problem.units.mask(grown), iterate.point.value - TOGETHER * promised)


def _shrunk(problem: Problem, iterate: Iterate, debias: Exact = LOOSE) -> Iterate:
    """A solution with more units without those that matter least."""
    units = problem.units
    inside = _units_of(problem, iterate) | units.always
    surplus = int(inside.sum()) - units.k
    if surplus <= 0:
        return problem.refit(units.mask(inside), iterate.point.x, debias)
    out, forecast = removed(problem, replace(iterate, support=units.mask(inside)), surplus)
    inside[out] = False
    if forecast is None:
        return problem.refit(units.mask(inside), iterate.point.x, debias)
    return problem.refit(units.mask(inside), forecast.x, TrialRefit(tol=debias.tol, hessian=forecast.hessian))
