"""Branch and bound for least squares with a compiled loop over the nodes."""

from __future__ import annotations

import numpy as np

from .._types import AnyArray, Array, IntArray
from ..clock import read_clock
from ._gram_passes import without_passes
from ._gram_pool import MISSED, MOST, NODES, OPEN, UNUSED, Pool, enlarge_pool, make_pool
from ._gram_relaxation import Frame
from ._gram_tree import NOT_BOUNDED, REABSORBED, explore, keep_node
from .bounding import BoundedProblem, needs_whole_gram, suits_gram
from .branching import CALLBACK_SECONDS, Progress, SearchLimits, SearchOutcome
from .gram_rows import add_features, complete_rows, count_room, start_passes
from .incumbents import Incumbents
from .linearization import EPS
from .moved_curvature import KEPT_FRACTIONS, LEAST_CURVATURE, find_least_eigenvalue, find_sparse_curvature
from .moved_diagonal import find_proved_diagonal

__all__ = ["is_least_squares", "search_gram"]

#: Memory of the open nodes and of the rows of the Gram matrix, in bytes.
POOL_BYTES, ROW_BYTES = 200_000_000, 1_000_000_000
#: Room for so many nodes at first.
FIRST_NODES = 64
#: Seconds between two looks at the clock, about.
CHUNK_SECONDS = 0.05
#: Without bounds and beyond this gap at the root, it is also where there are more features than samples.
WEAK_GAP = 0.1
#: After so many nodes the best diagonal is looked for, with at most so many open features: it costs some twenty p³.
PLAIN_NODES, MAX_DIAGONAL = 200, 700
#: It is used where its median is at least this fraction of its mean. Where it has hardly anything for most features,
#: λ_min is better, which grows at the nodes.
TYPICAL_FRACTION = 0.5


def is_least_squares(problem: BoundedProblem) -> bool:
    """Whether the problem is least squares of one response, whose units are features."""
    return problem.form.loss.is_quadratic and problem.outputs == 1 and problem.perspective.has_single_features


def plant(status: AnyArray, start: Array, lower: float, upper: float, least: float) -> Pool:
    """A pool with one node, which is not bounded yet."""
    count = status.size
    most = int(min(max(POOL_BYTES // (5 * count + 64), 2 * count + 16), 1_000_000))
    pool = make_pool(count, min(FIRST_NODES + 2 * count, most), most, upper)
    keep_node(pool, status, start.astype(np.float32), lower, least, int((status == 0).sum()), NOT_BOUNDED)
    return pool


def search_gram(problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> SearchOutcome:
    """Branch and bound for least squares.

    At each node the selected features are eliminated, curvature is computed again once a quarter of the features is
    gone, and the relaxation is solved on working sets by accelerated proximal steps with Newton steps between them. The
    node with the lowest bound comes first; the newest one while memory is short.

    With more features than samples there is no curvature that all directions have: only those rows of the Gram matrix
    are computed that working sets need.
    """
    return _GramSearch(problem, incumbents, limits).run()


class _GramSearch:
    #: The problem of the features that are left, these features, and the open nodes.
    frame: Frame
    features: IntArray
    pool: Pool

    def __init__(self, problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> None:
        self.problem, self.incumbents, self.limits = problem, incumbents, limits
        self.form = problem.gram_form
        self.fixings = problem.perspective.fixings
        #: The lower bound of all solutions, and the node before which rows were last forgotten.
        self.lower, self.forgotten = -np.inf, -1
        #: What a tree that was given up has proved, and its number of nodes.
        self.proved, self.given_up = -np.inf, 0
        self.began, self.called = read_clock(), -np.inf

    def run(self) -> SearchOutcome:
        """Bound the root until screening there fixes few more features, and then its parts."""
        count = int((~self.fixings.outside).sum())
        is_whole = needs_whole_gram(self.problem.form, count, self.problem.has_box)
        self.features = np.flatnonzero(~self.fixings.outside)
        self._plant(self._make_frame(self.features, False, 1.0), 0.0)
        try:
            reason = self._bound_root(is_whole)
            if reason == "weak":
                reason = self._bound_root(True)
            if reason is None:
                reason = self._explore_all(PLAIN_NODES)
            if reason is None and self.pool.counters[OPEN]:
                self._move_diagonal()
                reason = self._explore_all(self.limits.max_nodes)
        except KeyboardInterrupt:  # never within the compiled loop, which leaves the pool complete
            reason = "stopped"
        self._take_solution()
        return SearchOutcome(self._compute_lower_bound(), self.nodes, reason)

    @property
    def nodes(self) -> int:
        """Number of nodes that were bounded."""
        return self.given_up + int(self.pool.counters[NODES])

    # --- the root -----------------------------------------------------------------------------------------------------

    def _bound_root(self, is_whole: bool) -> str | None:
        """Bound all solutions, again with fewer features while screening leaves them out; why not, otherwise."""
        while True:
            features = np.flatnonzero(~self.fixings.outside)
            opened = int(self.fixings.open.sum())
            frame, least = self._find_frame(features, is_whole)
            self.features = features
            if not _is_bounded(frame, least):
                return "weak" if not is_whole and suits_gram(self.problem.form) else "no_bound"
            self._plant(frame, least)
            while self.pool.counters[OPEN] and not self.pool.counters[NODES]:
                if read_clock() >= self.limits.deadline:
                    return "time_limit"
                self._explore(1)
            if not self.pool.counters[OPEN]:
                return None
            top = self.pool.heap[0]
            self.lower = max(self.lower, float(self.pool.bound[top]))
            status = self.pool.status[top]
            self._take_solution()
            self.fixings = self.fixings.include(features[status == 1]).exclude(features[status == -1])
            if not is_whole and self._is_weak(int((status >= 0).sum())):
                return "weak"
            if (status == 0).sum() > REABSORBED * opened:
                return None

    def _is_weak(self, count: int) -> bool:
        """Whether the bound of the root is so far from f that curvature is worth the whole Gram matrix."""
        value = self.incumbents.value
        is_far = not self.problem.has_box and value - self.lower > WEAK_GAP * value
        form = self.problem.form
        return (suits_gram(form) and is_far) or needs_whole_gram(form, count, self.problem.has_box)

    def _plant(self, frame: Frame, least: float) -> None:
        """Begin with one node."""
        self.frame = frame
        status = self.fixings.inside[self.features].astype(np.int8)
        status[self.fixings.outside[self.features]] = -1
        start = self.incumbents.x.reshape(-1)[self.problem.units] * self.problem.scale
        self.pool = plant(status, start[self.features], self.lower, self.incumbents.upper, least)

    def _find_frame(self, features: IntArray, is_whole: bool) -> tuple[Frame, float]:
        """The problem of some features with the best curvature to move, and λ_min if it is that."""
        frame = self._make_frame(features, is_whole, 1.0)
        opened = self.fixings.open[features]
        if not is_whole or not opened.any():
            return frame, 0.0
        inside = self.fixings.inside[features] & (not frame.has_box)
        reduced = self.form.reduce(features[~inside], features[inside])
        if reduced is None:
            return frame, 0.0
        least = find_least_eigenvalue(reduced.gram, frame.matrix_rounding) if opened.sum() <= frame.rank else 0.0
        if least > LEAST_CURVATURE:
            return frame, least
        sparse = find_sparse_curvature(reduced.gram, frame.k - int(inside.sum())) - frame.matrix_rounding
        frames = [frame] if _is_bounded(frame, 0.0) else []
        if sparse.min() > LEAST_CURVATURE:
            frames += [frame._replace(fraction=fraction) for fraction in KEPT_FRACTIONS]
        if len(frames) > 1:
            self.features = features
            return max(frames, key=self._try_frame), 0.0
        return (frames or [frame])[0], 0.0

    def _try_frame(self, frame: Frame, least: float = 0.0) -> float:
        """The bound of the root."""
        self._plant(frame, least)
        explore(frame, self.pool, 1)
        return self._compute_lower_bound()

    def _make_frame(self, features: IntArray, is_whole: bool, fraction: float) -> Frame:
        form, perspective, count = self.form, self.problem.perspective, features.size
        rows = np.zeros((0, count))
        if is_whole:
            is_all = count == len(form.scale)
            rows = form.gram if is_all else np.ascontiguousarray(form.gram[np.ix_(features, features)])
        return Frame(
            rows=rows,
            slot=np.arange(count) if is_whole else np.full(count, -1),
            place=np.arange(count),
            passes=without_passes() if is_whole else start_passes(form, features),
            linear=form.linear[features, 0].copy(),
            constant=form.constant,
            ridge=form.ridge[features],
            lower=perspective.lower[features],
            upper=perspective.upper[features],
            inflation=form.inflation[features],
            response_size=form.response_size,
            rounding=EPS * (form.n_samples + 4.0 * len(form.scale) + 16.0),
            matrix_rounding=form.matrix_rounding,
            rank=form.n_samples - self.problem.form.fit_intercept,
            k=perspective.k,
            diagonal=np.zeros(count),
            fraction=fraction,
            has_box=self.problem.has_box,
            gap=self.limits.gap,
        )

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _explore_all(self, most: int) -> str | None:
        """Explore until the proof is complete, so many nodes were bounded or a limit is reached; which, if one is."""
        quota = 1
        while self.pool.counters[OPEN]:
            before = read_clock()
            left = self.limits.max_nodes - self.nodes
            if before >= self.limits.deadline:
                return "time_limit"
            if left <= 0:
                return "max_nodes"
            if self._calls_for_end(before):
                return "stopped"
            if self.nodes >= most:
                return None
            self._explore(min(quota, left, most - self.nodes))
            seconds = read_clock() - before
            quota = max(1, min(2 * quota, int(quota * CHUNK_SECONDS / max(seconds, 1e-6))))
        return None

    def _move_diagonal(self) -> None:
        """Begin again with the best diagonal of the root, if its bound there is better and there is hope for nodes."""
        frame, pool = self.frame, self.pool
        opened, inside = self.fixings.open[self.features], self.fixings.inside[self.features]
        is_whole = frame.fraction == 1.0 and bool((frame.slot >= 0).all())
        if not is_whole or frame.has_box or opened.sum() > min(MAX_DIAGONAL, frame.rank):
            return
        reduced = self.form.reduce(self.features[opened], self.features[inside])
        if reduced is None:
            return
        self._take_solution()
        start = (self.incumbents.x.reshape(-1)[self.problem.units] * self.problem.scale)[reduced.kept]
        form, value = reduced.as_perspective_form(frame.k - int(inside.sum())), self.incumbents.value
        proved = find_proved_diagonal(form, start, frame.matrix_rounding, value, self.limits.deadline)
        if proved is None or np.median(proved[0]) < TYPICAL_FRACTION * np.mean(proved[0]):
            return
        diagonal = np.zeros(self.features.size)
        diagonal[opened] = proved[0]
        moved, lower = frame._replace(diagonal=diagonal), self._compute_lower_bound()
        if _is_bounded(moved, proved[1]) and self._try_frame(moved, proved[1]) > self.lower:
            self.proved, self.given_up = lower, int(pool.counters[NODES])
        else:
            self.frame, self.pool = frame, pool

    def _calls_for_end(self, now: float) -> bool:
        """Call the callback from time to time; whether it ends the search."""
        if self.limits.callback is None or now - self.called < CALLBACK_SECONDS:
            return False
        self.called, value = now, float(min(self.incumbents.value, self.pool.values[0]))
        lower = self._compute_lower_bound()
        gap = (value - lower) / value if value > 0 else 0.0
        nodes, opened = self.nodes, int(self.pool.counters[OPEN])
        stop = self.limits.callback(Progress(now - self.began, nodes, opened, value, lower, gap))
        return isinstance(stop, (bool, np.bool_)) and bool(stop)

    def _explore(self, quota: int) -> None:
        """Bound some nodes; fewer, where rows of the matrix or room in the pool were missing, which is made."""
        explore(self.frame, self.pool, quota)
        self.frame = complete_rows(self.frame, self.form, self.features, ROW_BYTES)
        if self.pool.counters[MISSED]:
            self._add_rows(np.flatnonzero(self.pool.wanted))
            self.pool.counters[MISSED] = 0
            self.pool.wanted[:] = False
        if self.pool.counters[UNUSED] <= self.features.size + 2 and self.pool.bound.size < self.pool.counters[MOST]:
            self.pool = enlarge_pool(self.pool)

    def _add_rows(self, wanted: IntArray) -> None:
        """Compute rows of the Gram matrix; all others are forgotten when they take too much memory."""
        nodes, known = int(self.pool.counters[NODES]), int((self.frame.slot >= 0).sum())
        if known + wanted.size > count_room(self.frame, ROW_BYTES) and self.forgotten < nodes:
            self.forgotten = nodes
            self.frame = self.frame._replace(slot=np.full(self.features.size, -1))
        self.frame = add_features(self.frame, self.form, self.features, wanted)

    def _take_solution(self) -> None:
        """The best support of the tree, if it is better than what is known."""
        chosen = self.problem.units[self.features[self.pool.best == 1]]
        if chosen.size:
            self.incumbents.refit_units(chosen)

    def _compute_lower_bound(self) -> float:
        lowest = float(self.pool.bound[self.pool.heap[0]]) if self.pool.counters[OPEN] else np.inf
        lowest = max(min(lowest, float(self.pool.values[1])), self.proved)
        return max(min(lowest, self.incumbents.value, float(self.pool.values[0])), 0.0)


def _is_bounded(frame: Frame, least: float) -> bool:
    """Whether all scores are finite, so that there can be a bound."""
    is_boxed = np.isfinite(frame.lower) & np.isfinite(frame.upper)
    ridge = frame.ridge + frame.diagonal + least
    return frame.fraction < 1.0 or bool(((ridge > 0) | is_boxed).all())
