"""The best solution with k units, with a proof: what `ksparse.solve_exact` returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, Array
from ..clock import read_clock
from ..objectives.protocols import WorkingForm
from ..signal_guard import guard_signals
from ..sparsity import Units
from ..threads import one_thread
from .bounding import BoundedProblem
from .branching import Progress, SearchLimits, SearchOutcome, branch_and_bound
from .certificate import format_gap
from .gram_search import is_least_squares, search_gram
from .incumbents import Incumbents

__all__ = ["ExactResult", "NearSupport", "ProofStatus", "prove"]


#: The default of the gap that is enough: with a larger one, a better solution may well be left.
USUAL_GAP = 1e-4
#: Smaller gaps are rounding.
LEAST_GAP = 1e-9


class ProofStatus(str, Enum):
    """How a search for a proof ended.

    ``optimal``: the gap is as small as was asked for. ``time_limit``, ``max_nodes``: a limit was reached before.
    ``stopped``: by the callback, or Ctrl-C. ``no_bound``: there is no ridge and no bounds of the coefficients, or
    rounding errors exceed the gap. A status equals its name.

    Examples
    --------
    >>> from ksparse.certificates import ProofStatus
    >>> ProofStatus.OPTIMAL == "optimal"
    True
    """

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    MAX_NODES = "max_nodes"
    STOPPED = "stopped"
    NO_BOUND = "no_bound"

    def __str__(self) -> str:
        return self.value


class NearSupport(NamedTuple):
    """A support that is near to the best."""

    #: Names of its units.
    selected: AnyArray
    #: The minimum of f on it.
    value: float


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The best solution that branch and bound has found, and how far from the best of all it may be.

    Attributes
    ----------
    x : ndarray
        The solution.
    selected : ndarray
        Names of the units that are nonzero or always selected.
    value : float
        f(x).
    lower_bound : float
        No solution has a lower f.
    gap : float
        (value − lower_bound)/(value − least), with the least value that the loss has at any margins: 0 for least
        squares and for classification.
    status : ProofStatus
        Why the search ended; "optimal" if the gap is as small as was asked for, and all supports were found that were
        asked for.
    nodes : int
        Number of parts of the set of supports that were bounded.
    k : int
        Number of units.
    supports : tuple of NearSupport
        With `within`: all supports of k units that are so near to the best, the best first, if the status is "optimal";
        otherwise those that were found, the best known among them.
    has_bounds : bool
        Whether the proof is for coefficients within the bounds of the sparsity set.
    seconds : float
        Time of the search.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> f = ksparse.objectives.LeastSquares(X, X[:, 3] + X[:, 17] + X[:, 5], alpha=0.1)
    >>> ksparse.solve_exact(f, k=3).selected
    array([ 3,  5, 17])
    """

    x: Array = field(repr=False)
    selected: AnyArray
    value: float
    lower_bound: float
    least: float = field(repr=False)
    status: ProofStatus
    nodes: int
    k: int
    supports: tuple[NearSupport, ...]
    has_bounds: bool
    seconds: float

    @property
    def gap(self) -> float:
        """The relative gap, between 0 and 1."""
        size = self.value - self.least
        return min((self.value - self.lower_bound) / size, 1.0) if size > 0 else 0.0

    def __str__(self) -> str:
        among = " within the bounds" if self.has_bounds else ""
        verdict = f"Not proved ({self.status})"
        if self.status is ProofStatus.OPTIMAL:
            verdict = "Proved" if self.gap <= USUAL_GAP else "Within the gap that was asked for"
        return (
            f"{verdict}: f = {self.value:.8g}, and no x{among} with at most k = {self.k} units has less "
            f"than {self.lower_bound:.8g} (gap {format_gap(self.gap)}, {self.nodes} nodes, {self.seconds:.3g} s)"
        )


def search(problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> SearchOutcome:
    """Branch and bound by the method that fits; none is needed for one solution with the least value of all."""
    if not incumbents.collects and incumbents.value <= problem.least_value:
        return SearchOutcome(problem.least_value, 0, None)
    if incumbents.collects or not is_least_squares(problem):
        return branch_and_bound(problem, incumbents, limits)
    return search_gram(problem, incumbents, limits)


def _report_end(
    outcome: SearchOutcome, incumbents: Incumbents, least: float, limits: SearchLimits, began: float
) -> None:
    """Call the callback once more, so that it is called however short a search is."""
    if limits.callback is None or outcome.reason == "stopped":
        return
    size, lower = incumbents.value - least, outcome.lower_bound
    gap = min((incumbents.value - lower) / size, 1.0) if size > 0 else 0.0
    limits.callback(Progress(read_clock() - began, outcome.nodes, 0, incumbents.value, lower, gap))


def prove(
    form: WorkingForm,
    units: Units,
    x: Array,
    value: float,
    *,
    gap: float,
    time_limit: float,
    max_nodes: int,
    within: float | None,
    callback: Callable[[Progress], Any] | None,
) -> ExactResult:
    """Branch and bound from a solution; `ksparse.solve_exact` is the friendlier way in.

    Parameters
    ----------
    form, units, x, value
        f in working coordinates, the sparsity set, a solution and f there.
    gap, time_limit, max_nodes, within, callback
        See `ksparse.solve_exact`.

    Returns
    -------
    ExactResult
        The best solution and the proof.
    """
    with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        problem = BoundedProblem.of(form, units)
        began = read_clock()
        incumbents = Incumbents(form, units, problem.least_value, within)
        incumbents.offer(x, value)
        limits = SearchLimits(max(gap, LEAST_GAP), began + time_limit, max_nodes, callback)
        outcome = None
        try:
            outcome = search(problem, incumbents, limits)
            _report_end(outcome, incumbents, problem.least_value, limits, began)
        except KeyboardInterrupt:  # before the first part was bounded, or after the last one
            outcome = outcome or SearchOutcome(problem.least_value, 0, "stopped")
        best = np.array(form.to_user(incumbents.x))
    size, reason = incumbents.value - problem.least_value, outcome.reason
    is_near = incumbents.value - outcome.lower_bound <= limits.gap * size
    if reason is None and not is_near:
        reason = "time_limit" if read_clock() >= limits.deadline else "no_bound"
    elif reason in ("no_bound", "time_limit", "max_nodes") and is_near and within is None:
        reason = None
    support = (best != 0) & units.constrained
    near = incumbents.list_near() if within is not None else []
    return ExactResult(
        x=best if units.lower is not None else form.canonical(best),
        selected=units.names[units.find_units(support) | units.always],
        value=incumbents.value,
        lower_bound=outcome.lower_bound,
        least=problem.least_value,
        status=ProofStatus.OPTIMAL if reason is None else ProofStatus(reason),
        nodes=outcome.nodes,
        k=units.k,
        supports=tuple(NearSupport(units.names[chosen], lowest) for lowest, chosen in near),
        has_bounds=problem.has_box,
        seconds=read_clock() - began,
    )
