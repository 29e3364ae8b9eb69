"""More time for a lower f: units of a final support are replaced at random, and exchanges go on from there.

This is iterated local search (Lourenço, Martin and Stützle, 2003). Units that leave are drawn, in turn, from all of the
support and from those of it that cost least; those that promise most without them enter. What comes of it is kept
only if f falls. Draws depend on the number of a round and nothing else, so that a higher effort repeats all that a
lower one has done, and goes on.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Array, IntArray, Mask
from ..debias import Outcome
from ..debias.exact import TrialRefit
from ..objectives.base import has_hessian, is_quadratic
from ..sparsity.base import top_mask
from .additive import AdditiveModel, removals
from .base import Iterate, Problem
from .merging import LOOSE, expected_gains
from .models import exchange_model

__all__ = ["HIGHEST", "Search", "check_effort", "check_no_effort"]

#: The highest level of effort, and how many times more rounds a level has than the one below.
HIGHEST, GROWTH = 5, 3
#: Shares of the units that leave, in turn, and the fewest.
SHARES, FEWEST = (0.2, 0.1), 2
#: Where exchanges end above the best f by a larger share than brief refits leave, nothing is lost by going on.
NEAR = 0.02
#: If there are no more single exchanges than this, each is tried on f.
PAIRS = 1000
#: Otherwise all units outside are looked at, so many at a time, and so many exchanges with each lot are tried.
LOT, TRIES = 300, 3


def check_effort(effort: Any, exchanges: int | None) -> None:
    """Refuse what is no level of effort."""
    whole = isinstance(effort, numbers.Integral) and not isinstance(effort, (bool, np.bool_))
    if not whole or not 0 <= effort <= HIGHEST:
        kind = ValueError if whole else TypeError
        raise kind(f"effort must be an integer from 0 (fastest) to {HIGHEST} (lowest f), got {effort!r}")
    if effort and exchanges == 0:
        raise ValueError(f"effort={effort} searches by exchanges, which exchanges=0 turns off; leave one of them out")


def check_no_effort(solver: object, effort: int) -> None:
    """Refuse effort beside a solver that is given."""
    if effort != 0:
        raise ValueError(
            f"effort={effort!r} is for the default solver, but solver={solver!r} is given; leave one of them out, or "
            f"pass solver=ksparse.SwapGraHTP(effort=...) with your options"
        )


@dataclass(frozen=True)
class Search:
    """The search for a lower f than that of a final support.

    Parameters
    ----------
    effort : int
        The level.
    problem : Problem
        The problem.
    descend : callable
        Where exchanges from a start end: briefly, or (second argument) thoroughly.
    lower : callable
        Whether the f of one iterate is below that of another by more than rounding.
    """

    effort: int
    problem: Problem
    descend: Callable[[Iterate, bool], Iterate]
    lower: Callable[[Iterate, Iterate], bool]

    def begin(self, final: Iterate) -> Iterate:
        """The final iterate, minimized on its support, so that others are compared with what it is worth."""
        best = self._refitted(final)
        if best.outcome not in (Outcome.SOLVED, Outcome.SINGULAR) or not self._exchanges(final):
            return final
        return replace(best, done=None, memory=final.memory, turn=1)

    def round(self, best: Iterate) -> Iterate:
        """The best iterate after one more attempt; done after the last."""
        rounds = min(GROWTH**self.effort, self._exchanges(best))
        if best.turn > rounds:
            return self._last_round(best)
        start = kicked(self.problem, best, best.turn)
        found = None if start is None else self._better(best, start)
        following = replace(best if found is None else found, turn=best.turn + 1)
        if best.turn < rounds or self.effort == HIGHEST:
            return following
        return replace(following, done=f"converged: {rounds} further searches, as effort={self.effort} asks, are done")

    def _last_round(self, best: Iterate) -> Iterate:
        """A single exchange that lowers f; done if there is none."""
        for trial in self._neighbours(best):
            if self.lower(trial, best):
                found = self._better(best, trial)
                if found is not None:
                    return replace(found, turn=best.turn + 1)
            if self.problem.out_of_time:
                return replace(best, turn=best.turn + 1)
        proven = self._few(best) or (is_quadratic(self.problem.objective) and self.problem.units.lower is None)
        belief = "" if proven else ", as far as its quadratic model tells"
        return replace(best, turn=best.turn + 1, done=f"converged: no exchange of two units lowers f{belief}")

    def _better(self, best: Iterate, start: Iterate) -> Iterate | None:
        """Where exchanges from a start end, if f is lower there."""
        near = self.descend(start, False)
        if not near.point.value < best.point.value + NEAR * abs(best.point.value):
            return None
        other = self._refitted(near)
        if not self.lower(other, best):
            return None
        settled = self._refitted(self.descend(other, True))
        return settled if self.lower(settled, other) else other

    def _refitted(self, iterate: Iterate) -> Iterate:
        """The minimum on a support; an iterate that has none is no better than any other."""
        assert iterate.support is not None
        return self.problem.refit(iterate.support, iterate.point.x)

    # --- single exchanges ---------------------------------------------------------------------------------------

    def _exchanges(self, best: Iterate) -> int:
        """How many single exchanges there are."""
        leaving, entering = _movable(self.problem, best)
        return leaving.size * entering.size

    def _few(self, best: Iterate) -> bool:
        return self._exchanges(best) <= PAIRS

    def _neighbours(self, best: Iterate) -> Iterator[Iterate]:
        """Refits after one exchange: after each, if there are few, or else after the most promising ones."""
        units = self.problem.units
        assert best.support is not None
        inside = units.units_in(best.support)
        debias = TrialRefit(target=best.point.value)
        for leaving, entering in self._all_pairs(best) if self._few(best) else self._promising_pairs(best):
            exchanged = inside.copy()
            exchanged[leaving], exchanged[entering] = False, True
            yield self.problem.refit(units.mask(exchanged), best.point.x, debias)

    def _all_pairs(self, best: Iterate) -> Iterator[tuple[int, int]]:
        leaving, entering = _movable(self.problem, best)
        return ((int(out), int(into)) for out in leaving for into in entering)

    def _promising_pairs(self, best: Iterate) -> Iterator[tuple[int, int]]:
        """The exchanges that a quadratic model advises, which looks at all units, a lot of them at a time."""
        problem, units, objective = self.problem, self.problem.units, self.problem.objective
        assert best.support is not None
        _, entering = _movable(problem, best)
        entering = entering[np.argsort(-expected_gains(problem, best)[entering], kind="stable")]
        size = max(LOT // int(units.sizes.max(initial=1)), 1)
        for first in range(0, entering.size if has_hessian(objective) else 0, size):
            lot = np.zeros(units.count, dtype=bool)
            lot[entering[first : first + size]] = True
            model = exchange_model(problem, best, lot)
            if problem.out_of_time or isinstance(model, AdditiveModel):
                return
            for pair in model.best_pairs(TRIES):
                if pair.change < 0 or not is_quadratic(objective):
                    yield pair.leaving, pair.entering


def kicked(problem: Problem, best: Iterate, number: int) -> Iterate | None:
    """The best support with some units, drawn at random, replaced by those that promise most; None if met before."""
    units = problem.units
    assert best.support is not None
    inside = units.units_in(best.support)
    leaving, entering = _movable(problem, best)
    remaining = _drawn(problem, best, number, leaving, min(leaving.size, entering.size))
    if remaining is None:
        return None
    thin = problem.refit(units.mask(remaining), best.point.x, LOOSE)
    gains: Array = np.where(inside, -np.inf, expected_gains(problem, thin))
    replaced = remaining | top_mask(gains, int(inside.sum() - remaining.sum()))
    return problem.refit(units.mask(replaced), thin.point.x, LOOSE)


def _drawn(problem: Problem, best: Iterate, number: int, leaving: IntArray, most: int) -> Mask | None:
    """The best support without units drawn at random: more of them, where a draw was met before; None if all were."""
    assert best.support is not None
    inside = problem.units.units_in(best.support)
    random = np.random.default_rng(number)
    seen: set[bytes] = problem.cached("draws", set)
    least = max(int(SHARES[(number - 1) // 2 % len(SHARES)] * leaving.size), FEWEST)
    for q in range(min(least, most), most + 1):
        drawn_from = leaving if number % 2 else removals(problem, best, 2 * q)
        remaining = inside.copy()
        remaining[random.choice(drawn_from, q, replace=False)] = False
        draw = np.packbits([inside, remaining]).tobytes()
        if draw not in seen:
            seen.add(draw)
            return remaining
    return None


def _movable(problem: Problem, best: Iterate) -> tuple[IntArray, IntArray]:
    """Units that may leave, and units that may enter."""
    units = problem.units
    assert best.support is not None
    inside = units.units_in(best.support)
    return np.flatnonzero(inside & ~units.always), np.flatnonzero(~inside)
