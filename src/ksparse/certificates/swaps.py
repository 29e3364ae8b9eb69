"""Whether swapping one or two units of a solution lowers f: all swaps are tried, or excluded by a lower bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives.base import VALUE_ROUNDING, value_at_zero
from ..objectives.protocols import WorkingForm
from ..signal_guard import guard_signals
from ..sparsity import Units
from ..threads import one_thread
from .bounding import BoundedProblem, NoCertificateError
from .branching import NODE_STEPS, SearchLimits, branch_and_bound
from .incumbents import Incumbents
from .linearization import StepLimits
from .relaxation import Fixings
from .screening import screen

__all__ = ["has_better_swap"]

#: Swaps that lower f by a smaller fraction do not count.
LEAST_DECREASE = 1e-9


def has_better_swap(form: WorkingForm, units: Units, x: Array, value: float, pairs: Any) -> bool:
    """Whether another support that lacks at most `pairs` of the units has a lower f.

    For each choice of the units that leave, branch and bound looks for those that enter. Where only one enters, all are
    tried that one lower bound does not exclude: a bound of the others takes longer than a trial. Where f has no lower
    bounds, all units are tried.
    """
    if isinstance(pairs, bool) or pairs not in (1, 2):
        raise ValueError(f"pairs must be 1 or 2, the number of units that leave; got {pairs!r}")
    chosen = units.find_units((x != 0) & units.constrained) | units.always
    with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        problem = _bound(form, units)
        least = -np.inf if problem is None else problem.least_value
        # Where a loss falls to its least value without end, as if all counts are 0, f ends anywhere below its rounding.
        # Small losses of residuals are as exact as the residuals.
        is_endless = problem is not None and not problem.form.loss.of_residuals
        if is_endless and value - least <= VALUE_ROUNDING * abs(value_at_zero(form.objective)):
            return False
        size = abs(value) if problem is None else abs(value - least)
        limit = value - LEAST_DECREASE * size - form.objective.value_rounding(value, form.value_at_start)
        for count in range(1, int(pairs) + 1):
            for leaving in combinations(np.flatnonzero(chosen & ~units.always), count):
                incumbents = Incumbents(form, units, least, None)
                incumbents.offer(x, value)
                staying = chosen.copy()
                staying[list(leaving)] = False
                _search(problem, incumbents, units, staying, np.array(leaving), limit)
                if incumbents.value < limit:
                    return True
    return False


def _bound(form: WorkingForm, units: Units) -> BoundedProblem | None:
    try:
        return BoundedProblem.of(form, units)
    except NoCertificateError:
        return None


def _search(
    problem: BoundedProblem | None, incumbents: Incumbents, units: Units, staying: Mask, leaving: IntArray, limit: float
) -> None:
    """Look for the best units in place of those that leave, until f is below the limit."""
    outside = np.zeros(staying.size, dtype=bool)
    outside[leaving] = True
    fixings = Fixings(staying, outside)
    if problem is not None:
        fixed = replace(problem, perspective=problem.perspective.with_fixings(fixings))
        if fixed.perspective.budget == 1:
            fixings = _exclude(fixed, fixings, incumbents, limit)
            if not fixings.open.any():
                return
        else:
            outcome = branch_and_bound(fixed, incumbents, SearchLimits(LEAST_DECREASE, np.inf, np.iinfo(np.int64).max))
            if outcome.reason is None:
                return
            if outcome.reason == "stopped":
                raise KeyboardInterrupt
    for entering in _list_entering(units, fixings):
        trial = staying.copy()
        trial[list(entering)] = True
        if incumbents.refit(trial) < limit:
            return


def _exclude(problem: BoundedProblem, fixings: Fixings, incumbents: Incumbents, limit: float) -> Fixings:
    """The fixings without units that no solution with f below the limit has."""
    start = incumbents.x.reshape(-1)[: problem.scale.size] * problem.scale
    relaxed = problem.relax(fixings, start, limit, StepLimits(NODE_STEPS))
    if relaxed is None:
        return fixings
    tightened = relaxed.tightened
    if tightened.bound >= limit:
        return fixings.exclude(np.flatnonzero(fixings.open))
    found = screen(relaxed.perspective, tightened.linearization.base, tightened.scores, limit)
    return fixings.exclude(relaxed.units[found.outside])


def _list_entering(units: Units, fixings: Fixings) -> Iterator[tuple[int, ...]]:
    others = np.flatnonzero(fixings.open)
    return combinations(others, min(units.k - int(fixings.inside.sum()), others.size))
