"""Other supports, made from that of a solution: with more or fewer units, and for RESTART, PERTURB and VERIFY.

PERTURB is iterated local search (Lourenço, Martin and Stützle, 2003). The units that leave are drawn, in turn, from the
whole support and from those of its units that cost least; then the units that gain most enter. Draws depend only on
the number of the perturbation, so that a higher effort repeats what a lower one does, and then continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from ..._types import IntArray, Mask
from ...debias import Outcome
from ...debias.exact import TrialRefit
from ...objectives.base import has_hessian, is_quadratic
from ...objectives.protocols import QuadraticModel
from ...sparsity.base import select_top
from ..problem import Iterate, Problem
from .ranking import build_swap_model, choose_removals, entering_gains, get_max_model_size, start_swaps
from .tuning import SwapTuning

__all__ = ["count_swaps", "grow", "perturb", "plan_growth", "restart_supports", "shrink", "try_all_swaps"]

TUNING = SwapTuning()


def plan_growth(problem: Problem, iterate: Iterate, size: int | None = None) -> tuple[Mask, float]:
    """The support with the units added that gain most, up to `size` (by default k), and the sum of their gains."""
    inside = problem.find_selected_units(iterate)
    gains = np.where(inside, 0.0, entering_gains(problem, iterate))
    larger = problem.units.select_units(np.where(inside, np.inf, gains), size)
    return problem.units.to_mask(larger), float(gains[larger & ~inside].sum())


def grow(problem: Problem, iterate: Iterate, support: Mask | None = None) -> Iterate:
    """Refit a solution that has fewer than k units on a larger support, by default that of `plan_growth`."""
    support = plan_growth(problem, iterate)[0] if support is None else support
    return problem.refit(support, iterate.point.x, TUNING.loose_refit)


def shrink(problem: Problem, iterate: Iterate, tol: float = TUNING.loose_refit.tol) -> Iterate:
    """Remove the units that cost least from a solution that has more than k, and refit."""
    units = problem.units
    inside = problem.find_selected_units(iterate) | units.always
    # Units without a coefficient cost nothing, whatever a model, which knows no bounds, makes of them.
    idle = np.flatnonzero(inside & ~units.always & ~units.find_units(iterate.point.x != 0))
    inside[idle[::-1][: max(int(inside.sum()) - units.k, 0)]] = False
    surplus, prediction = int(inside.sum()) - units.k, None
    if surplus > 0:
        support = units.to_mask(inside)
        same = iterate.support is not None and np.array_equal(support, iterate.support)
        complete = iterate if same else replace(iterate, support=support, solution=None)
        removed, prediction = choose_removals(problem, complete, surplus, TUNING)
        inside[removed] = False
    x, hessian = (iterate.point.x, None) if prediction is None else prediction
    return problem.refit(units.to_mask(inside), x, TrialRefit(tol=tol, hessian=hessian))


def restart_supports(
    problem: Problem, best: Iterate, count: int, model: QuadraticModel | None, tuning: SwapTuning
) -> Iterator[Mask]:
    """RESTART: supports of the best units that no earlier start had; the last one by backward elimination.

    All units are there in the beginning: in a `model` of f at the best iterate, or else where f has its minimum.
    """
    units, used = problem.units, problem.find_selected_units(best) & ~problem.units.always
    if count > 1:
        gains = entering_gains(problem, best)
        for _ in range(count - 1):
            start = units.select_units(np.where(used, -np.inf, gains))
            used |= start & ~units.always
            yield units.to_mask(start)
    if count:
        remaining, surplus = np.ones(units.count, dtype=bool), units.count - units.k
        everywhere = units.to_mask(remaining)
        if model is None:
            everything = problem.refit(everywhere, problem.objective.start, tuning.loose_refit)
            removed = choose_removals(problem, everything, surplus, tuning)[0]
        else:
            removed = start_swaps(problem, model, everywhere, tuning).find_removals(surplus)
        remaining[removed] = False
        yield units.to_mask(remaining)


def perturb(
    problem: Problem, best: Iterate, number: int, drawn: frozenset[bytes], tuning: SwapTuning
) -> tuple[Iterate, bytes] | None:
    """PERTURB: replace units of the best support: those that leave are random, those that enter gain most without them.

    The start for a descent, and a key of the units drawn for it; None if every draw of this number is in `drawn`.
    """
    units, inside = problem.units, problem.find_selected_units(best)
    remaining = _draw_remaining(problem, best, number, drawn, tuning)
    if remaining is None:
        return None
    reduced = problem.refit(units.to_mask(remaining), best.point.x, tuning.loose_refit)
    gains = np.where(inside, -np.inf, entering_gains(problem, reduced))
    entering = select_top(gains, int(inside.sum() - remaining.sum()))
    start = problem.refit(units.to_mask(remaining | entering), reduced.point.x, tuning.loose_refit)
    return start, _make_key(inside, remaining)


def _draw_remaining(
    problem: Problem, best: Iterate, number: int, drawn: frozenset[bytes], tuning: SwapTuning
) -> Mask | None:
    """The best support without units drawn at random: with more of them gone, where a draw is a repetition."""
    inside = problem.find_selected_units(best)
    leaving, entering = _find_movable_units(problem, best)
    random = np.random.default_rng(number)
    # Odd numbers draw from the whole support, even ones from its cheapest units; pairs of numbers share a fraction.
    fraction = tuning.perturbed_fractions[(number - 1) // 2 % len(tuning.perturbed_fractions)]
    most = min(leaving.size, entering.size)
    fewest = min(max(int(fraction * leaving.size), tuning.min_perturbed), most)
    for count in range(fewest, most + 1):
        pool = leaving if number % 2 else choose_removals(problem, best, 2 * count, tuning)[0]
        remaining = inside.copy()
        remaining[random.choice(pool, count, replace=False)] = False
        if _make_key(inside, remaining) not in drawn:
            return remaining
    return None


def _make_key(inside: Mask, remaining: Mask) -> bytes:
    return np.packbits([inside, remaining]).tobytes()


def count_swaps(problem: Problem, best: Iterate) -> int:
    """How many single swaps there are."""
    leaving, entering = _find_movable_units(problem, best)
    return leaving.size * entering.size


def try_all_swaps(problem: Problem, best: Iterate, tuning: SwapTuning) -> Iterator[Iterate]:
    """VERIFY: refits after all single swaps, if there are few, or after those that a quadratic model ranks best."""
    inside, debias = problem.find_selected_units(best), TrialRefit(target=best.value)
    few = count_swaps(problem, best) <= tuning.max_swaps_to_try_all
    pairs = product(*_find_movable_units(problem, best)) if few else _find_best_swaps(problem, best, tuning)
    for leaving, entering in pairs:
        swapped = inside.copy()
        swapped[leaving], swapped[entering] = False, True
        support = problem.units.to_mask(swapped)
        trial = problem.refit(support, best.point.x, debias)
        if few and trial.outcome is Outcome.UNFINISHED:
            # It was given up by an estimate, which may be wrong; that no swap lowers f must be true.
            trial = problem.refit(support, best.point.x)
        yield trial


def ranks_all_swaps(problem: Problem, best: Iterate, tuning: SwapTuning) -> bool:
    """Whether quadratic models of the support and batches of other units are small enough to rank all swaps."""
    objective, support = problem.objective, best.support
    if support is None or not has_hessian(objective):
        return False
    width = int(problem.units.sizes.max(initial=1))
    return int(support.sum()) + max(tuning.verify_batch, width) <= get_max_model_size(objective, tuning)


def _find_best_swaps(problem: Problem, best: Iterate, tuning: SwapTuning) -> Iterator[tuple[int, int]]:
    """The best swaps of quadratic models that together see all units outside, each a batch of them."""
    units, objective = problem.units, problem.objective
    _, entering = _find_movable_units(problem, best)
    entering = entering[np.argsort(-entering_gains(problem, best)[entering], kind="stable")]
    size = max(tuning.verify_batch // int(units.sizes.max(initial=1)), 1)
    for first in range(0, entering.size if ranks_all_swaps(problem, best, tuning) else 0, size):
        batch = np.zeros(units.count, dtype=bool)
        batch[entering[first : first + size]] = True
        model = build_swap_model(problem, best, batch, tuning)
        if problem.out_of_time:
            return
        for swap in model.find_best_swaps(tuning.verify_swaps_per_batch):
            if swap.change < 0 or not is_quadratic(objective):
                yield swap.leaving, swap.entering


def _find_movable_units(problem: Problem, best: Iterate) -> tuple[IntArray, IntArray]:
    """Units that may leave, and units that may enter."""
    inside = problem.find_selected_units(best)
    return np.flatnonzero(inside & ~problem.units.always), np.flatnonzero(~inside)
