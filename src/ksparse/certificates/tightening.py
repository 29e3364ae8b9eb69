"""Accelerated proximal steps on a perspective relaxation: each of them gives a lower bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import Array
from ..clock import read_clock
from .linearization import Linearization, SmoothPart, StepLimits
from .relaxation import Perspective

__all__ = ["Tightened", "tighten"]

#: The bound is compared with that of so many steps ago.
WINDOW = 20
#: Steps end when a window of them closes less than this fraction of the gap.
LEAST_PROGRESS = 0.02
#: By how much the Lipschitz constant grows where it was too small, and shrinks after each step, where it is not known.
GROWTH, DECLINE = 2.0, 0.95
#: Rounding of a decrease that a step is tested by.
DECREASE_ROUNDING = 1e-12


@dataclass(frozen=True)
class Tightened:
    """The best lower bound that was found for a relaxation."""

    #: The bound.
    bound: float
    #: The tangent that it follows from.
    linearization: Linearization
    #: The scores of the units at it, rounded up.
    scores: Array
    #: Where the steps ended, and z there.
    x: Array
    #: z.
    z: Array
    #: How many steps were taken.
    steps: int
    #: Where the tangent is.
    point: Array


def tighten(part: SmoothPart, perspective: Perspective, x: Array, target: float, limits: StepLimits) -> Tightened:
    """Maximize the lower bound F's tangent − Ω* by accelerated proximal steps on F + Ω (FISTA with restarts).

    They stop when the bound reaches `target`, or comes no nearer to it.

    References
    ----------
    B. O'Donoghue and E. Candès, *Adaptive restart for accelerated gradient schemes*, Foundations of Computational
    Mathematics 15 (2015), 715–732.
    """
    best: Tightened | None = None
    z = perspective.fixings.inside.astype(np.float64)
    earlier, taken = -np.inf, 0
    approach = part.approach(perspective, x, target, replace(limits, steps=limits.steps - 1))
    if approach is not None:
        x, z, taken = approach.x, approach.z, approach.steps
    ahead, momentum, lipschitz, guess = x, 1.0, 0.0, 1.0
    for step in range(taken + 1, max(limits.steps, taken + 1) + 1):
        tangent = part.linearize(ahead)
        scores = perspective.score(tangent.slopes, tangent.errors)
        bound = tangent.base - perspective.add_scores(scores)
        bound = -np.inf if np.isnan(bound) else bound
        if best is None or bound > best.bound:
            best = Tightened(bound, tangent, scores, x, z, step, ahead)
        is_approached = step == taken + 1 and approach is not None and approach.is_near
        if is_approached or best.bound >= target or read_clock() > limits.deadline:
            break
        lipschitz = lipschitz or part.lipschitz
        if step % WINDOW == 0:
            if best.bound - earlier <= LEAST_PROGRESS * (target - best.bound):
                break
            earlier = best.bound
        following, z, guess, lipschitz = _take_step(part, perspective, ahead, tangent, lipschitz, guess)
        if float((ahead - following) @ (following - x)) > 0:
            momentum = 1.0
        grown = 0.5 + np.sqrt(0.25 + momentum * momentum)
        ahead, x, momentum = following + (momentum - 1.0) / grown * (following - x), following, grown
    assert best is not None
    return Tightened(best.bound, best.linearization, best.scores, x, z, step, best.point)


def _take_step(
    part: SmoothPart, perspective: Perspective, ahead: Array, tangent: Linearization, lipschitz: float, guess: float
) -> tuple[Array, Array, float, float]:
    """A proximal step, with a Lipschitz constant that holds for it."""
    if not part.is_lipschitz:
        lipschitz *= DECLINE
    while True:
        steps = np.full(perspective.count, 1.0 / lipschitz)
        following, z, guess = perspective.step(ahead + tangent.slopes / lipschitz, steps, guess)
        if part.is_lipschitz or not np.isfinite(lipschitz * GROWTH):
            return following, z, guess, lipschitz
        move = following - ahead
        model = tangent.value - tangent.slopes @ move + 0.5 * lipschitz * (move @ move)
        if part.evaluate_at(following) <= model + DECREASE_ROUNDING * abs(tangent.value):
            return following, z, guess, lipschitz
        lipschitz *= GROWTH
