"""The phases of a descent, PURSUE, BULK_SWAP and SWAP: other supports, tried by short refits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..._types import Array, Mask
from ...debias.exact import TrialRefit
from ...debias.trials import count_failures
from ...objectives.base import NotFiniteError, Point, TwiceDifferentiable, has_hessian, is_quadratic
from ...sparsity.base import select_top
from ..domain import describe_value
from ..loop import Budget
from ..problem import Iterate, Problem
from ..steps import Step
from .ranking import build_additive_model, build_swap_model, can_explore, entering_gains
from .state import Phase, SwapState, hand_over, with_state
from .swap_model import PredictedMinimizer, Swap, SwapModel
from .tuning import SwapTuning

__all__ = [
    "SwapLimits",
    "Trial",
    "Tried",
    "bulk_swap",
    "end_descent",
    "is_exact",
    "is_lower",
    "pursue",
    "swap",
    "try_support",
    "try_supports",
]


class Trial(NamedTuple):
    """A support to be tried, and the predicted minimizer of f on it, if there is one."""

    support: Mask
    prediction: PredictedMinimizer | None = None

    def choose_start(self, current: Iterate) -> tuple[Array, Array | None]:
        """Where the refit starts, and the Hessian there if it is known: as predicted, or else at the current point."""
        return (current.point.x, None) if self.prediction is None else self.prediction


def try_support(problem: Problem, current: Iterate, trial: Trial, steps: int, tuning: SwapTuning) -> Iterate:
    """Refit on another support in a few Newton steps, which end early once f cannot come below the current one."""
    start, hessian = trial.choose_start(current)
    return problem.refit(trial.support, start, _make_debias(current, steps, tuning, hessian))


class Tried(NamedTuple):
    """What came of trials."""

    #: The first refit that lowers f; None if none does.
    found: Iterate | None
    #: Its number; that of trials without it.
    number: int
    #: Where the last refit ended, if f is not finite after any.
    outside: Point | None = None


def try_supports(problem: Problem, current: Iterate, trials: Sequence[Trial], steps: int, tuning: SwapTuning) -> Tried:
    """Refit on some supports, one after the other, until f is lower.

    Most often it never is: compiled code that knows the loss tells in one call how many in a row come to nothing.
    """
    least = current.value - tuning.lower.compute_least_decrease(problem, current.value)
    starts = [(trial.support, *trial.choose_start(current)) for trial in trials]
    if len(trials) > 1:
        problem.anticipate_refits((support, x) for support, x, _ in starts)
    number, n_finite, refitted = 0, 0, current
    while number < len(trials):
        if len(trials) - number > 1 and not problem.has_bounds:
            count = count_failures(problem.objective, starts[number:], _make_debias(current, steps, tuning), least)
            number, n_finite = number + count, n_finite + count
        if number < len(trials):
            refitted = try_support(problem, current, trials[number], steps, tuning)
            if refitted.value < least:
                return Tried(refitted, number)
            number, n_finite = number + 1, n_finite + bool(np.isfinite(refitted.value))
    return Tried(None, number, None if n_finite else refitted.point)


def _make_debias(current: Iterate, steps: int, tuning: SwapTuning, hessian: Array | None = None) -> TrialRefit:
    target = current.value if current.support is not None else np.inf
    return TrialRefit(tol=tuning.loose_refit.tol, max_iter=steps, target=target, hessian=hessian)


def is_lower(problem: Problem, trial: Iterate, current: Iterate, tuning: SwapTuning) -> bool:
    """Whether f is lower at the trial."""
    return tuning.lower.is_lower(problem, trial.value, than=current.value)


def _swap_units(problem: Problem, current: Iterate, swaps: Iterable[Swap]) -> Mask:
    """The support after some swaps."""
    inside = problem.find_selected_units(current)
    for swap in swaps:
        inside[swap.leaving], inside[swap.entering] = False, True
    return problem.units.to_mask(inside)


def pursue(problem: Problem, current: Iterate, state: SwapState, tuning: SwapTuning) -> Iterate:
    """PURSUE: take the longest step whose support gives a lower f; without one, hand over to swaps.

    z = x − η·D⁻¹∇f(x) with the curvature D, for η = `state.step_size` and half as long each time. The support of the
    k largest units of z is refitted.
    """
    max_steps = tuning.first_refit_steps if current.support is None else tuning.pursuit_refit_steps
    steps, n_tried, outside = _list_steps(problem, current, state, tuning), 0, list[Point | None]()
    for part in (islice(steps, 1), steps):  # the first succeeds most often: others are not looked at before
        sizes = list(part)
        trials = [Trial(support) for _, support in sizes]
        trial, number, end = try_supports(problem, current, trials, max_steps, tuning)
        if trial is not None:
            # Pursuit continues as long as it lowers f by much, with a longer step if this was the first one tried.
            size, is_first = sizes[number][0], n_tried + number == 0
            much = current.support is None or current.value - trial.value > tuning.pursuit_decrease * abs(current.value)
            phase = Phase.PURSUE if much else Phase.BULK_SWAP
            longer = min(tuning.longest_step, 2.0 * size if is_first else size)
            following = replace(state, phase=phase, step_size=longer, chain_length=tuning.chain_length)
            return replace(trial, step=size, state=following, done=None)
        n_tried += number
        outside += [end] if trials else []
    if outside and (last := outside[-1]) is not None and None not in outside:
        raise NotFiniteError(f"f is not finite after any step: {describe_value(problem, last)}")
    return hand_over(current, state, Phase.BULK_SWAP)


def _list_steps(
    problem: Problem, current: Iterate, state: SwapState, tuning: SwapTuning
) -> Iterator[tuple[float, Mask]]:
    """The steps that PURSUE tries, longest first, and the support of each, which is another one than that before."""
    gradient, metric = current.point.gradient, current.point.curvature
    size, last = state.step_size, current.support
    while size >= tuning.shortest_step:
        support = problem.units.select(Step(size, metric).take(current.point.x, gradient), metric)
        if last is None or not np.array_equal(support, last):
            yield size, support
            last = support
        size *= 0.5


def bulk_swap(problem: Problem, current: Iterate, state: SwapState, tuning: SwapTuning) -> Iterate:
    """BULK_SWAP: swap an eighth of a large support at once, or twice as much as last time; then hand over to SWAP.

    A small support is handed over at once: its quadratic model is cheap, and ranks swaps better.
    """
    assert current.support is not None
    if int(current.support.sum()) <= tuning.bulk_size:
        return hand_over(current, state, Phase.SWAP)
    length = max(state.chain_length, int(problem.units.k * tuning.bulk_fraction))
    least = tuning.lower.compute_least_decrease(problem, current.value)
    chain = build_additive_model(problem, current).find_chain(length, least)
    if not chain:
        return hand_over(current, state, Phase.SWAP)
    support = _swap_units(problem, current, chain)
    trial = try_support(problem, current, Trial(support), tuning.swap_refit_steps, tuning)
    much = current.value - trial.value > tuning.bulk_decrease * abs(current.value)
    next_length = 2 * len(chain) if much else max(len(chain) // tuning.bulk_shrinkage, tuning.chain_length)
    best = trial if is_lower(problem, trial, current, tuning) else current
    phase = Phase.BULK_SWAP if much else Phase.SWAP
    return with_state(best, replace(state, phase=phase, chain_length=next_length))


class SwapLimits(NamedTuple):
    """How much SWAP tries."""

    #: How many units outside the support the first model sees.
    candidates: int
    #: How many the second model sees if nothing came of the first; the same number if there is no second.
    wider: int
    #: How many single swaps are tried on f before a support is called final, whatever the model predicts; none are
    #: where it predicts f exactly.
    single_swaps: int

    @classmethod
    def from_problem(
        cls, problem: Problem, candidates: int | None, single_swaps: int | None, tuning: SwapTuning
    ) -> SwapLimits:
        """The limits for a problem; None is the default."""
        units = problem.units
        outside = units.count - units.k
        width = int(units.sizes.max(initial=1))
        second_order = has_hessian(problem.objective)
        if single_swaps is None:
            single_swaps = _count_single_swaps(problem, tuning)
        if candidates is not None:
            first = min(candidates, outside)
            return cls(first, first, single_swaps)
        most = tuning.max_candidates if second_order else tuning.min_candidates
        usual = max(min(max(units.k, tuning.min_candidates), most // width), tuning.least_candidates)
        first = min(usual, outside)
        reach = min(outside, tuning.wide_model_size // width - units.k)
        worthwhile = second_order and (reach == outside or reach >= 2 * first)
        return cls(first, max(first, reach) if worthwhile else first, single_swaps)


def _count_single_swaps(problem: Problem, tuning: SwapTuning) -> int:
    """How many single swaps are tried by default: fewer before a model is explored, whose chains try others."""
    if can_explore(problem, tuning):
        return tuning.single_swaps_if_explored
    return tuning.single_swaps_if_few if problem.units.count <= tuning.few_units else 1


def swap(problem: Problem, current: Iterate, state: SwapState, limits: SwapLimits, tuning: SwapTuning) -> Iterate:
    """SWAP: make the first swaps that lower f: a chain of the best ones, its halves, then single ones.

    If there are none, the descent ends; before that a FULL budget models more candidates.
    """
    gains = np.where(problem.find_selected_units(current), -np.inf, entering_gains(problem, current))
    replaced = _replace_idle(problem, current, gains, tuning)
    if replaced is not None:
        return with_state(replaced, replace(state, phase=Phase.SWAP))
    n_candidates = limits.candidates
    while True:
        model = build_swap_model(problem, current, select_top(gains, n_candidates), tuning)
        completed = _complete_exact_fit(problem, current, model, tuning)
        if completed is not None:
            return with_state(completed, replace(state, phase=Phase.SWAP))
        is_last = state.budget is Budget.QUICK or n_candidates == limits.wider
        predicts_all = model.is_joint and not model.is_singular and is_exact(problem)
        n_singles = limits.single_swaps if is_last and state.budget is Budget.FULL and not predicts_all else 0
        found = _try_swaps(problem, current, model, state.chain_length, n_singles, tuning)
        if found is not None:
            trial, n_swaps = found
            longer = max(tuning.shortest_growing_chain, 2 * n_swaps)
            return with_state(trial, replace(state, phase=Phase.SWAP, chain_length=longer))
        if is_last:
            return end_descent(current, state, _describe_no_swap(problem, n_candidates, model))
        n_candidates = limits.wider


def _replace_idle(problem: Problem, current: Iterate, gains: Array, tuning: SwapTuning) -> Iterate | None:
    """Replace units without a coefficient, which cost nothing, by those that gain most alone, if that lowers f."""
    units, inside = problem.units, problem.find_selected_units(current)
    idle = inside & ~units.always & ~units.find_units(current.point.x != 0)
    if not idle.any():
        return None
    entering = select_top(gains, int(idle.sum())) & (gains > 0)
    if not entering.any():
        return None
    support = units.to_mask((inside & ~idle) | entering)
    trial = try_support(problem, current, Trial(support), tuning.swap_refit_steps, tuning)
    return trial if is_lower(problem, trial, current, tuning) else None


def _try_swaps(
    problem: Problem, current: Iterate, model: SwapModel, chain_length: int, n_singles: int, tuning: SwapTuning
) -> tuple[Iterate, int] | None:
    """The first attempt that lowers f, and its number of swaps."""
    singles = model.find_best_swaps(n_singles) if n_singles else []
    chain = model.find_chain(chain_length, tuning.lower.compute_least_decrease(problem, current.value))
    attempts = list(_list_attempts(chain, singles))

    def make_trial(swaps: list[Swap], in_chain: bool) -> Trial:
        support = _swap_units(problem, current, swaps)
        # A model knows no bounds: what it predicts for coefficients that they hold is rounding error, not zero.
        predicts = in_chain and not problem.has_bounds
        return Trial(support, model.predict_minimizer(support, len(swaps)) if predicts else None)

    n_likely = min(len(chain), 1)  # a whole chain succeeds most often: others are not looked at before
    for part in (attempts[:n_likely], attempts[n_likely:]):
        trials = [make_trial(*attempt) for attempt in part]
        tried = try_supports(problem, current, trials, tuning.swap_refit_steps, tuning)
        if tried.found is not None:
            return tried.found, len(part[tried.number][0])
    return None


def _list_attempts(chain: list[Swap], singles: list[Swap]) -> Iterator[tuple[list[Swap], bool]]:
    """The chain, its first half, quarter, …, then single swaps; and whether an attempt is part of the chain."""
    length = len(chain)
    while length > 0:
        yield chain[:length], True
        length //= 2
    for single in singles[1:] if chain else singles:  # the best single swap is the first one of the chain
        yield [single], False


def _complete_exact_fit(problem: Problem, current: Iterate, model: SwapModel, tuning: SwapTuning) -> Iterate | None:
    """The exact refit of a singular support, if trial refits have left most of f: swaps would only follow rounding."""
    support, solution = current.support, current.solution
    if not model.is_singular or support is None:
        return None
    restricted = problem.objective.restrict(support) if solution is None else solution.objective
    if isinstance(restricted, TwiceDifferentiable) and restricted.is_strongly_convex:
        return None  # f is known to have a unique minimizer on every support
    completed = problem.refit(support, current.point.x)
    least = tuning.lower.compute_least_decrease(problem, current.value)
    drop = (1.0 - tuning.exact_fit_drop) * abs(current.value)
    return completed if completed.value < current.value - drop - least else None


def end_descent(current: Iterate, state: SwapState, message: str) -> Iterate:
    """No swap lowers f: the end of a quick search; a full one restarts."""
    phase = state.phase if state.budget is Budget.QUICK else Phase.RESTART
    return hand_over(current, state, phase, done=f"converged: {message}")


def _describe_no_swap(problem: Problem, n_candidates: int, model: SwapModel) -> str:
    all_units = n_candidates == problem.units.count - problem.units.k
    which = "single swap" if all_units else f"swap with one of the {n_candidates} best candidates"
    proven = model.is_joint and is_exact(problem)
    return f"no {which} lowers f" + ("" if proven else f" (according to {model.basis})")


def is_exact(problem: Problem) -> bool:
    """Whether a quadratic model predicts f exactly."""
    return is_quadratic(problem.objective) and problem.units.lower is None
