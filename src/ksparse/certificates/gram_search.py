"""Branch and bound for least squares with a compiled loop over the nodes."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from .._types import IntArray
from ..objectives.protocols import largest_eigenvalue
from ._gram_tree import NODES, OPEN, Frame, Pool, bound_part, explore, make_pool
from .bounding import BoundedProblem
from .branching import CALLBACK_SECONDS, Progress, SearchLimits, SearchOutcome
from .certificate import ProofStage, tighten_and_screen
from .gram_form import QuadraticDual
from .incumbents import Incumbents
from .linearization import EPS, StepLimits
from .moved_curvature import find_least_eigenvalue
from .relaxation import Fixings

__all__ = ["ROOT_STEPS", "compile_search", "is_least_squares", "search_gram"]

#: Memory of the open nodes, in bytes.
POOL_BYTES = 200_000_000
#: Seconds between two looks at the clock, about.
CHUNK_SECONDS = 0.05
#: λ_min of the features that screening leaves is computed again if they are at most this fraction.
MOSTLY = 0.75
#: Rounding of numbers that were multiplied by squares.
KEPT_DIGITS = 1.0 - 1e-14
#: Steps on the relaxation at the root.
ROOT_STEPS = 300


def is_least_squares(problem: BoundedProblem) -> bool:
    """Whether the problem is least squares of one response, whose units are features."""
    return problem.form.loss.is_quadratic and problem.outputs == 1 and problem.perspective.has_single_features


@cache
def compile_search() -> None:
    """Compile the loop, or load what an earlier process has compiled, which should not count in a time limit."""
    one = np.ones(3)
    frame = Frame(
        np.eye(3),
        one,
        3.0,
        0.1 * one,
        -np.inf * one,
        np.inf * one,
        one,
        1.0,
        1e-14,
        1e-14,
        3,
        1,
        1.0,
        1.0,
        1.0,
        False,
        1e-4,
    )
    pool = make_pool(3, 16, np.inf)
    bound_part(frame, pool, np.zeros(3, dtype=np.int8), np.zeros(3, dtype=np.float32), -np.inf, 0.0, 1.0, 3)
    explore(frame, pool, 1)


def search_gram(problem: BoundedProblem, incumbents: Incumbents, limits: SearchLimits) -> SearchOutcome:
    """Branch and bound for least squares: the features that are left after screening at the root are gathered.

    At each node the selected features are eliminated, curvature is computed again once a quarter of the features is
    gone, and the relaxation is solved by accelerated proximal steps with Newton steps between them. The node with the
    lowest bound comes first; the newest one while memory is short.
    """
    start = incumbents.x.reshape(-1)[problem.units] * problem.scale
    steps = StepLimits(ROOT_STEPS, limits.deadline)
    lower, fixings, stages, _ = tighten_and_screen(problem, start, incumbents.value, incumbents.upper, steps)
    if not stages or not np.isfinite(lower):
        return SearchOutcome(problem.least_value, 1, "no_bound")
    fraction = min(stage.dual.fraction for stage in stages if isinstance(stage.dual, QuadraticDual))
    frame, features = _make_frame(problem, fixings, fraction, limits.gap)
    capacity = int(min(max(POOL_BYTES // (5 * features.size + 64), 2 * features.size + 16), 1_000_000))
    pool = make_pool(features.size, capacity, incumbents.upper)
    known = _find_known_curvature(problem, stages[0]) if features.size > MOSTLY * fixings.inside.size else 0.0
    frame, least, largest = _find_curvature(frame, fixings, features, known)
    status = fixings.inside[features].astype(np.int8)
    warm = start[features].astype(np.float32)
    bound_part(frame, pool, status, warm, lower, least, largest, int((status == 0).sum()))
    try:
        reason = _run(frame, pool, incumbents, limits)
    except KeyboardInterrupt:  # never within the compiled loop, which leaves the pool complete
        reason = "stopped"
    chosen = problem.units[features[pool.best == 1]]
    if chosen.size:
        incumbents.refit_units(chosen)
    return SearchOutcome(_compute_lower_bound(pool, incumbents.value), int(pool.counters[NODES]), reason)


def _make_frame(problem: BoundedProblem, fixings: Fixings, fraction: float, gap: float) -> tuple[Frame, IntArray]:
    form, perspective = problem.gram_form, problem.perspective
    features = np.flatnonzero(~fixings.outside)
    frame = Frame(
        np.ascontiguousarray(form.gram[np.ix_(features, features)]),
        form.linear[features, 0].copy(),
        form.constant,
        form.ridge[features],
        perspective.lower[features],
        perspective.upper[features],
        form.inflation[features],
        form.response_size,
        EPS * (form.n_samples + 4.0 * len(form.scale) + 16.0),
        form.matrix_rounding,
        form.n_samples - problem.form.fit_intercept,
        perspective.k,
        fraction,
        0.0,
        1.0,
        problem.has_box,
        gap,
    )
    return frame, features


def _find_known_curvature(problem: BoundedProblem, stage: ProofStage) -> float:
    """λ_min of the form of all features, if a stage of the certificate has it: it is at most that of some of them."""
    dual: Any = stage.dual
    if dual.fraction < 1.0 or dual.eliminated.any():
        return 0.0
    return KEPT_DIGITS * float((dual.curvature / np.square(problem.scale)).min(initial=np.inf))


def _find_curvature(frame: Frame, fixings: Fixings, features: IntArray, known: float) -> tuple[Frame, float, float]:
    """λ_min and an upper bound of λ_max of the whole form, in the frame, and of the form of the open features."""
    inside = fixings.inside[features]
    is_spectral = frame.fraction == 1.0
    least = known
    if is_spectral and known <= 0.0:
        least = find_least_eigenvalue(frame.gram, frame.matrix_rounding)
    largest = largest_eigenvalue(aslinearoperator(frame.gram)) if frame.gram.size else 1.0
    frame = frame._replace(least=least, largest=largest)
    if not frame.has_box and inside.any() and not inside.all():
        inner = frame.gram[np.ix_(inside, inside)] + np.diag(frame.ridge[inside])
        cross = frame.gram[np.ix_(inside, ~inside)]
        matrix = frame.gram[np.ix_(~inside, ~inside)] - cross.T @ np.linalg.solve(inner, cross)
        matrix = 0.5 * (matrix + matrix.T)
        largest = largest_eigenvalue(aslinearoperator(matrix))
        if is_spectral:
            least = max(least, find_least_eigenvalue(matrix, frame.matrix_rounding))
    return frame, least, largest


def _run(frame: Frame, pool: Pool, incumbents: Incumbents, limits: SearchLimits) -> str | None:
    """Explore until the proof is complete or a limit is reached."""
    began, called = time.perf_counter(), -np.inf
    quota = 1
    while pool.counters[OPEN]:
        before = time.perf_counter()
        if before >= limits.deadline:
            return "time_limit"
        left = limits.max_nodes - int(pool.counters[NODES])
        if left <= 0:
            return "max_nodes"
        if limits.callback is not None and before - called >= CALLBACK_SECONDS:
            called, value = before, float(min(incumbents.value, pool.values[0]))
            lower = _compute_lower_bound(pool, value)
            gap = (value - lower) / value if value > 0 else 0.0
            nodes, opened = int(pool.counters[NODES]), int(pool.counters[OPEN])
            stop = limits.callback(Progress(before - began, nodes, opened, value, lower, gap))
            if isinstance(stop, (bool, np.bool_)) and stop:
                return "stopped"
        explore(frame, pool, min(quota, left))
        seconds = time.perf_counter() - before
        quota = max(1, min(2 * quota, int(quota * CHUNK_SECONDS / max(seconds, 1e-6))))
    return None


def _compute_lower_bound(pool: Pool, value: float) -> float:
    lowest = float(pool.bound[pool.heap[0]]) if pool.counters[OPEN] else np.inf
    return max(min(lowest, float(pool.values[1]), value), 0.0)
