"""Branch and bound: units are selected or left out, one at a time, until no better solution can be left."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._types import Array, Mask
from ..clock import read_clock
from .bounding import BoundedProblem, Relaxed
from .incumbents import Incumbents
from .level_set import LEAST_GAIN
from .level_trials import LevelTrials
from .linearization import StepLimits
from .relaxation import Fixings
from .screening import screen

__all__ = ["Progress", "SearchLimits", "SearchOutcome", "branch_and_bound"]

#: Steps on the relaxation of a node.
NODE_STEPS = 200
#: Steps on a problem with one support, from its minimum, and the accuracy that is enough.
LEAF_STEPS, LEAF_ACCURACY = 50, 1e-12
#: Beyond this number of open nodes the search goes depth first, which keeps their number.
MAX_OPEN_NODES = 50_000
#: Seconds between two calls of a callback.
CALLBACK_SECONDS = 0.5


class Progress(NamedTuple):
    """How far a search is."""

    #: Seconds since its start.
    seconds: float
    #: Nodes that were bounded, and those that are open.
    nodes: int
    #: Nodes that are to be divided.
    open_nodes: int
    #: The lowest f that was found.
    value: float
    #: No f is lower.
    lower_bound: float
    #: The relative gap between them.
    gap: float


@dataclass(frozen=True)
class SearchLimits:
    """When a search ends before its proof is complete."""

    #: The relative gap that is enough.
    gap: float
    #: By `ksparse.clock.read_clock`.
    deadline: float
    #: Limit of the nodes.
    max_nodes: int
    #: Called with a `Progress` before the first division and from time to time; returning True ends the search.
    callback: Callable[[Progress], Any] | None = None


class SearchOutcome(NamedTuple):
    """How a search ended."""

    #: No solution has a lower f.
    lower_bound: float
    #: Number of nodes that were bounded.
    nodes: int
    #: None if the proof is complete; otherwise "time_limit", "max_nodes", "stopped" or "no_bound".
    reason: str | None


@dataclass(order=True)
class Node:
    """Solutions with some units, and without some others."""

    #: A lower bound of f for them.
    bound: float
    number: int
    fixings: Fixings = field(compare=False)
    #: Where the relaxation ended, in scaled coordinates, and its z.
    x: Array = field(compare=False)
    z: Array = field(compare=False)
    #: The problem without features that are left out.
    problem: BoundedProblem = field(compare=False)


def branch_and_bound(problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> SearchOutcome:
    """Divide the supports until the lower bound of every part is at least that of the best solution, less the gap.

    The node with the lowest bound is divided first, by the open unit with the largest z that is not 1 (Dedieu, Hazimeh
    and Mazumder 2021 take the most fractional one). Screening fixes more units in each part.

    References
    ----------
    A. Dedieu, H. Hazimeh and R. Mazumder, *Learning sparse classifiers: continuous and mixed integer optimization
    perspectives*, JMLR 22 (2021).
    """
    return _BranchAndBound(problem, incumbents, limits).run()


class _BranchAndBound:
    def __init__(self, problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> None:
        self.problem, self.incumbents, self.limits = problem, incumbents, limits
        self.open: list[Node] = []
        self.nodes = 0
        #: The lowest bound of the parts that are closed.
        self.closed = np.inf
        self.began, self.called = read_clock(), -np.inf
        self.least = self.proved = problem.least_value
        self.trials = LevelTrials()

    def run(self) -> SearchOutcome:
        """Search; Ctrl-C ends it like a limit, with what was proved before the part that it came in."""
        try:
            reason = self._search()
        except KeyboardInterrupt:
            return SearchOutcome(self.proved, self.nodes, "stopped")
        lower = self.least if reason == "no_bound" else self._compute_lower_bound()
        return SearchOutcome(lower, self.nodes, reason)

    def _search(self) -> str | None:
        """Divide nodes until none is open; why not, otherwise."""
        start = self.incumbents.x.reshape(-1)[: self.problem.scale.size] * self.problem.scale
        self._bound(self.problem.perspective.fixings, start, self.problem, -np.inf)
        if self.open and not np.isfinite(self.open[0].bound):
            return "no_bound"
        while self.open:
            # The lowest bound is on top, also while the newest nodes are taken first.
            self.proved = float(max(min(self.open[0].bound, self.closed, self.incumbents.value), self.least))
            reason = self._find_reason_to_end()
            if reason is not None:
                return reason
            node = self._take_node()
            if node.bound >= self._get_target():
                self.closed = min(self.closed, node.bound)
                continue
            for fixings in self._divide(node):
                self._bound(fixings, node.x, node.problem, node.bound)
        return None

    def _get_target(self) -> float:
        """Nodes whose bound reaches it are closed."""
        if self.incumbents.collects:
            return self._find_end()
        return min(
            self.incumbents.upper, self.incumbents.value - 0.99 * self.limits.gap * (self.incumbents.value - self.least)
        )

    def _find_end(self) -> float:
        """What is above all solutions that are looked for: those with just `upper` are, where many have the least f."""
        return float(np.nextafter(self.incumbents.upper, np.inf))

    def _compute_lower_bound(self) -> float:
        open_bound = min((node.bound for node in self.open), default=np.inf)
        return float(max(min(open_bound, self.closed, self.incumbents.value), self.least))

    def _compute_gap(self, lower: float) -> float:
        size = self.incumbents.value - self.least
        return (self.incumbents.value - lower) / size if size > 0 else 0.0

    def _find_reason_to_end(self) -> str | None:
        now = read_clock()
        if now >= self.limits.deadline:
            return "time_limit"
        if self.nodes >= self.limits.max_nodes:
            return "max_nodes"
        if self.limits.callback is not None and now - self.called >= CALLBACK_SECONDS:
            self.called = now
            lower = self._compute_lower_bound()
            gap, value = self._compute_gap(lower), self.incumbents.value
            stop = self.limits.callback(Progress(now - self.began, self.nodes, len(self.open), value, lower, gap))
            if isinstance(stop, (bool, np.bool_)) and stop:
                return "stopped"
        return None

    def _take_node(self) -> Node:
        """The node with the lowest bound; the newest one, where too many are open."""
        if len(self.open) <= MAX_OPEN_NODES:
            return heapq.heappop(self.open)
        newest = max(range(len(self.open)), key=lambda i: self.open[i].number)
        self.open[newest], self.open[-1] = self.open[-1], self.open[newest]
        node = self.open.pop()
        heapq.heapify(self.open)
        return node

    def _divide(self, node: Node) -> Iterator[Fixings]:
        open_units = np.flatnonzero(node.fixings.open)
        z = node.z[open_units]
        fractional = np.where(z < 1.0, z, -1.0)
        unit = open_units[int(np.argmax(fractional if fractional.max() > 0 else z))]
        yield node.fixings.include([unit])
        yield node.fixings.exclude([unit])

    def _bound(self, fixings: Fixings, x: Array, problem: BoundedProblem, inherited: float) -> None:
        """Bound a part, and keep it if it is not closed."""
        perspective = problem.perspective.with_fixings(fixings)
        if perspective.budget == 0 or fixings.open.sum() <= perspective.budget:
            self._close_leaf(fixings, perspective.budget, inherited)
            return
        self.nodes += 1
        steps = StepLimits(NODE_STEPS, self.limits.deadline)
        relaxed = problem.relax(fixings, x, self._get_target(), steps)
        z = np.zeros(fixings.inside.size)
        bound = inherited
        if relaxed is not None:
            start = relaxed.tightened.x
            relaxed = self._relax_further(problem, relaxed, steps)
            bound = max(inherited, min(relaxed.tightened.bound, self._find_end()))
            z[relaxed.units] = relaxed.tightened.z
            self._round(relaxed, fixings, perspective.budget)
            x = np.zeros(x.size)
            x[relaxed.coordinates] = start
            fixings = self._screen(relaxed, fixings)
        if bound >= self._get_target():
            self.closed = min(self.closed, bound)
            return
        if np.isfinite(inherited):
            self.trials.note_division(bound - inherited)
        after = problem.perspective.with_fixings(fixings)
        if after.budget == 0 or fixings.open.sum() <= after.budget:
            self._close_leaf(fixings, after.budget, bound)
            return
        heapq.heappush(self.open, Node(bound, self.nodes, fixings, x, z, problem.compact(fixings)))

    def _relax_further(self, problem: BoundedProblem, relaxed: Relaxed, steps: StepLimits) -> Relaxed:
        """The same, or with curvature on the set of all solutions that are not worse, if that may close the part."""
        target = self._get_target()
        lack, count = target - relaxed.tightened.bound, int((~relaxed.perspective.fixings.outside).sum())
        if problem.uses_gram or not 0.0 < lack < np.inf or not self.trials.is_promising(lack, count):
            return relaxed
        further = problem.relax_further(relaxed, self.incumbents.upper, target, steps, LEAST_GAIN)
        self.trials.note_trial(lack, count, further is not None and further.tightened.bound >= target)
        return further or relaxed

    def _round(self, relaxed: Relaxed, fixings: Fixings, budget: int) -> None:
        """Minimize f on the units with the largest z, and on those with the largest scores."""
        for ranking in (relaxed.tightened.z, relaxed.tightened.scores):
            ranks = np.full(fixings.inside.size, -np.inf)
            ranks[relaxed.units] = ranking
            ranks[~fixings.open] = -np.inf
            top = np.argsort(-ranks, kind="stable")[:budget]
            chosen: Mask = fixings.inside.copy()
            chosen[top] = fixings.open[top]
            self.incumbents.refit(chosen)

    def _screen(self, relaxed: Relaxed, fixings: Fixings) -> Fixings:
        tightened, perspective, units, _ = relaxed
        found = screen(perspective, tightened.linearization.base, tightened.scores, self.incumbents.upper)
        return fixings.include(units[found.inside]).exclude(units[found.outside])

    def _close_leaf(self, fixings: Fixings, budget: int, bound: float) -> None:
        """A part with one support: the minimum on it has a bound that is nearly its value."""
        chosen = fixings.inside | fixings.open if budget else fixings.inside
        value, x = self.incumbents.minimize_on(chosen)
        start = x.reshape(-1)[: self.problem.scale.size] * self.problem.scale
        steps = StepLimits(LEAF_STEPS, self.limits.deadline)
        relaxed = self.problem.relax(Fixings(chosen, ~chosen), start, value * (1.0 - LEAF_ACCURACY), steps)
        if relaxed is not None:
            bound = max(bound, relaxed.tightened.bound)
        self.closed = min(self.closed, bound)
