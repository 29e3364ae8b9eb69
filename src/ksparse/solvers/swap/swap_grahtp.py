"""The default solver: which phase follows which, and what ends the search."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..._types import Array, Mask
from ...debias import Outcome
from ...validation import check_iterations
from ..loop import Budget, Solver
from ..problem import Iterate, Problem
from .descent import SwapLimits, bulk_swap, end_descent, is_exact, is_lower, pursue, swap
from .exploring import explore_model
from .ranking import build_candidate_model, build_joint_model, can_explore, entering_gains
from .restarts import count_swaps, perturb, ranks_all_swaps, restart_supports, try_all_swaps
from .state import ALL_PHASES, LOCAL_PHASES, Phase, SwapState, hand_over, with_state
from .ties import break_ties
from .tuning import SwapTuning

__all__ = ["MAX_EFFORT", "SwapGraHTP", "check_no_effort"]

#: The highest level of effort.
MAX_EFFORT = 5


@dataclass(frozen=True)
class SwapGraHTP(Solver):
    """GraHTP with scaled steps and backtracking, then swaps of units until none lowers f.

    A quadratic model of f on the support and the best candidates ranks all swaps of a unit inside with one outside.
    Chains of swaps, then single ones, are tried on f itself and kept only if f falls, so f never rises. One iteration
    costs one pass over the data; a second model with more candidates, and restarts, cost more. `ksparse.solvers.swap`
    describes the method. Graphs have a solver of their own, which takes the place of this one: `StagedSwap`.

    Parameters
    ----------
    max_swaps : int, optional
        How many single swaps are tried on f, whatever the model predicts, before the solver calls a support final; by
        default none if a model of all units is explored, which needs at most 64 of them, 8 if so few cannot be
        explored, and 1 otherwise. 0 turns swaps off; restarts remain.
    candidates : int, optional
        How many units outside the support the model sees; by default k of them, but at least 30 and at most 200
        coordinates, and more in a second model if none of them may enter. A given number allows no second model, and
        explores nothing.
    restarts : int, optional
        How often to restart: from the best units outside a final support, and the last time by backward elimination
        from all units; as often again after a success. By default with at most 64 units only: once where a model of
        all of them is explored, never if that model is exact, as on least squares without bounds, and 3 times
        otherwise.
    effort : int, default=0
        How much more time to spend on a lower f, from 0 to 5. From 1 on, the search continues 3, 9, 27, 81 or 243
        times from the best support with a tenth or a fifth of its units replaced at random, which takes about 3, 6,
        15, 40 or 120 times as long, and less on small problems. 5 ends only when no single swap lowers f: each is
        tried on f if there are at most 1000; otherwise those that a quadratic model on all units ranks best, which is
        exact for least squares. Draws are the same in each run, and without a time limit f is never higher than with
        less effort.
    max_iter, time_limit
        Limits of iterations (default 500) and of seconds (default none).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.SwapGraHTP()).selected
    array([1, 3])
    """

    max_swaps: int | None = None
    candidates: int | None = None
    restarts: int | None = None
    effort: int = field(default=0, kw_only=True)
    max_iter: int = field(default=500, kw_only=True)

    tuning: ClassVar[SwapTuning] = SwapTuning()
    has_budgets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("max_swaps", "candidates", "restarts"):
            if getattr(self, name) is not None:
                check_iterations(getattr(self, name), name)
        effort: Any = self.effort
        whole = isinstance(effort, numbers.Integral) and not isinstance(effort, (bool, np.bool_))
        if not whole or not 0 <= effort <= MAX_EFFORT:
            kind = ValueError if whole else TypeError
            raise kind(f"effort must be an integer from 0 (fastest) to {MAX_EFFORT} (lowest f), got {effort!r}")
        if effort and self.max_swaps == 0:
            raise ValueError(f"effort={effort} searches by swaps, which max_swaps=0 turns off; leave one of them out")

    def run_phase(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
        """Do what the phase says; the state of the result has the phase that comes next.

        ============  =====================================  ================================  ========================
        phase         what is done                           next, if f fell                   next, if not
        ============  =====================================  ================================  ========================
        PURSUE        scaled gradient step, refit            PURSUE; after a small decrease    BULK_SWAP
                                                             BULK_SWAP
        BULK_SWAP     many swaps at once (large supports)    BULK_SWAP; after a small          SWAP
                                                             decrease SWAP
        SWAP          a chain of swaps, or a single one      SWAP                              RESTART; QUICK: done
        RESTART       long chains in a model of some units;  SWAP                              PERTURB; effort 0: done
                      descents from other supports
        PERTURB       a descent from a perturbed support     PERTURB; after the last one       the same
                                                             VERIFY (effort 5) or done
        VERIFY        every single swap                      VERIFY                            done
        ============  =====================================  ================================  ========================

        A descent runs the phases up to SWAP, until one of them hands over to RESTART or is done.
        """
        match state.phase:
            case Phase.BULK_SWAP | Phase.SWAP if self.max_swaps == 0:
                return end_descent(current, state, "no step lowers f")
            case Phase.PURSUE:
                return self._pursue(problem, current, state)
            case Phase.BULK_SWAP:
                return bulk_swap(problem, current, state, self.tuning)
            case Phase.SWAP:
                limits = SwapLimits.from_problem(problem, self.candidates, self.max_swaps, self.tuning)
                return swap(problem, current, state, limits, self.tuning)
            case Phase.RESTART:
                return self._restart(problem, current, state)
            case Phase.PERTURB:
                return self._perturb(problem, current, state)
            case Phase.VERIFY:
                return self._verify(problem, current, state)
        raise AssertionError(f"{state.phase} is not a phase of {type(self).__name__}")

    def make_first_state(self, problem: Problem, iterate: Iterate, budget: Budget = Budget.FULL) -> SwapState:
        """The state of a search from a new start."""
        return SwapState(Phase.PURSUE, self.tuning.longest_step, self.tuning.chain_length, budget)

    def make_nearby_state(self, problem: Problem, iterate: Iterate, budget: Budget) -> SwapState:
        """The state of a search from an iterate with k units that is almost final: a few swaps at a time."""
        return SwapState(Phase.SWAP, self.tuning.longest_step, self.tuning.warm_chain_length, budget)

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        units = problem.units
        start = Iterate(problem.objective.evaluate(x))
        chosen = units.find_units(x != 0) | units.always
        if np.isfinite(start.value) and (chosen.any() or not units.constrained.all()):
            refitted = problem.refit(units.to_mask(chosen), x, self.tuning.loose_refit)
            may_enter = units.k > 0 and not units.inactive and not chosen.any()
            is_dead = may_enter and _is_dead_end(problem, refitted, start, self.tuning)
            start = start if is_dead else refitted
        # Any unit may enter a start that has fewer than k: it is not a solution yet.
        return start if chosen.sum() == units.k else replace(start, support=None)

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        units = problem.units
        if units.inactive or units.k == 0:
            reason = "f was minimized over all units" if units.inactive else "k = 0 selects nothing"
            support = units.to_mask(np.full(units.count, units.inactive))
            return replace(problem.refit(support, current.point.x), done=f"converged: {reason}")
        if current.support is not None and current.outcome is Outcome.NO_MINIMUM:
            exact = current if current.is_accurate else problem.refit(current.support, current.point.x)
            if exact.outcome is Outcome.NO_MINIMUM:
                return replace(exact, done="f is unbounded below on this support")
            current = replace(exact, state=current.state)
        return self._run_phases(problem, current, ALL_PHASES)

    def _run_phases(self, problem: Problem, current: Iterate, phases: Set[Phase]) -> Iterate:
        """One iteration: phases that only hand over, then one that moves or has more to do."""
        while True:
            state = self._get_state(problem, current)
            following = self.run_phase(problem, current, state)
            phase = self._get_state(problem, following).phase
            if following.point is not current.point or phase is state.phase or phase not in phases:
                return following
            current = following

    def _descend(self, problem: Problem, current: Iterate, final: Iterate | None = None) -> Iterate:
        """Iterate the local phases from a start, until none lowers f, or at a support that is known to be `final`."""
        for _ in range(self.max_iter):
            if final is not None and current.has_same_support(final):
                break
            if current.done is not None or not np.isfinite(current.value) or problem.out_of_time:
                break
            current = self._run_phases(problem, current, LOCAL_PHASES)
        return current

    def _get_state(self, problem: Problem, iterate: Iterate) -> SwapState:
        return iterate.state if isinstance(iterate.state, SwapState) else self.make_first_state(problem, iterate)

    def finish(self, problem: Problem, iterate: Iterate) -> Iterate:
        units, support = problem.units, iterate.support
        if support is None and iterate.outcome is Outcome.UNFINISHED:
            return iterate
        if support is None:
            support = units.to_mask(problem.find_selected_units(iterate) | units.always)
        if iterate.outcome is Outcome.NO_MINIMUM:
            return iterate
        final = iterate if iterate.is_accurate else problem.refit(support, iterate.point.x)
        if final.outcome is Outcome.SINGULAR:
            # Of many minimizers, the one that is found from zero does not depend on the course of the search.
            again = problem.refit(support, np.zeros_like(iterate.point.x))
            as_good = again.outcome is Outcome.SINGULAR and not is_lower(problem, final, again, self.tuning)
            final = again if as_good else final
        if final.outcome not in (Outcome.UNFINISHED, Outcome.NOT_FINITE):
            return break_ties(problem, iterate, final, self.tuning)
        best = final if final.value <= iterate.value else iterate
        return replace(best, outcome=Outcome.UNFINISHED)

    def _pursue(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
        """PURSUE: without a step, swaps follow, unless there are fewer than k units: then the search ends."""
        following = pursue(problem, current, state, self.tuning)
        if following.point is not current.point or current.support is not None:
            return following
        expected = 2.0 * entering_gains(problem, current).max(initial=0.0)
        if expected > self.tuning.clear_gain * self.tuning.lower.compute_least_decrease(problem, current.value):
            # Units may still enter and f has a slope in them: a refit that does not follow it cannot be trusted.
            return replace(current, state=state, done="no step lowers f", outcome=Outcome.UNFINISHED)
        return replace(current, state=state, done="converged: no step lowers f")

    def _restart(self, problem: Problem, best: Iterate, state: SwapState) -> Iterate:
        """RESTART: a better support, explored or from the first start that leads to one; else PERTURB with effort."""
        wanted = self.candidates is None and self.max_swaps != 0
        explores = wanted and can_explore(problem, self.tuning)
        model = build_joint_model(problem, best) if explores else None
        explored = model if explores or not wanted else build_candidate_model(problem, best, self.tuning)
        n_restarts = self._count_restarts(problem, explores)
        n_explored = self.tuning.explored_starts if explores and not is_exact(problem) else 0
        starts: Iterable[Mask] = restart_supports(problem, best, max(n_restarts, n_explored), model, self.tuning)
        others: list[Mask] = []
        if n_explored:  # each of them begins with those of the best units, and ends with that of an elimination
            given = list(starts)
            others, starts = ([*given[: count - 1], *given[-1:]] if count else [] for count in (n_explored, n_restarts))
        found = None if explored is None else explore_model(problem, best, best, explored, self.tuning, others)
        if found is not None:
            return with_state(found, replace(state, phase=Phase.SWAP))
        for support in starts:
            if problem.out_of_time:
                return replace(best, done=None)
            if best.support is not None and np.array_equal(support, best.support):
                continue
            start = problem.refit(support, np.zeros_like(best.point.x), self.tuning.loose_refit)
            budget = Budget.QUICK if explores else Budget.FULL  # exploring does more than the rest of a full descent
            start = replace(start, state=self.make_first_state(problem, start, budget))
            other = self._descend(problem, start, final=best)
            if other.has_same_support(best):
                continue
            if is_lower(problem, other, best, self.tuning):
                reached = self._get_state(problem, other)
                phase = reached.phase if reached.phase in LOCAL_PHASES else Phase.SWAP
                return with_state(other, replace(reached, phase=phase, budget=Budget.FULL))
            if explores and other.support is not None:
                found = explore_model(problem, other, best, build_joint_model(problem, other), self.tuning)
                if found is not None:
                    return with_state(found, replace(state, phase=Phase.SWAP))
        if self.effort == 0 or not count_swaps(problem, best):
            return best
        exact = _refit_exactly(problem, best)  # so that others are compared with its true value
        if exact.outcome not in (Outcome.SOLVED, Outcome.SINGULAR):
            return best
        return with_state(exact, replace(state, phase=Phase.PERTURB, perturbation=1))

    def _count_restarts(self, problem: Problem, explores: bool) -> int:
        """How many restarts there are: none where the model of all units, which was explored, is exact."""
        if self.restarts is not None:
            return self.restarts
        if explores:
            return 0 if is_exact(problem) else self.tuning.restarts_if_explored
        return self.tuning.restarts_if_few if problem.units.count <= self.tuning.few_units else 0

    def _perturb(self, problem: Problem, best: Iterate, state: SwapState) -> Iterate:
        """PERTURB: one perturbation; the best iterate, or a better one that it led to."""
        count = min(self.tuning.effort_growth**self.effort, count_swaps(problem, best))
        number, drawn, following = state.perturbation, state.drawn, best
        if number > count:
            return hand_over(best, state, Phase.VERIFY)
        perturbed = perturb(problem, best, number, drawn, self.tuning)
        if perturbed is not None:
            start, draw = perturbed
            following = self._improve_from(problem, best, start) or best
            drawn |= {draw}
        following = with_state(following, replace(state, perturbation=number + 1, drawn=drawn))
        if number < count or self.effort == MAX_EFFORT:
            return following
        return replace(following, done=f"converged: {count} perturbations were tried (effort={self.effort})")

    def _verify(self, problem: Problem, best: Iterate, state: SwapState) -> Iterate:
        """VERIFY: a better iterate, found from a single swap; done if there is none."""
        following = with_state(best, replace(state, perturbation=state.perturbation + 1))
        for trial in try_all_swaps(problem, best, self.tuning):
            lower = is_lower(problem, trial, best, self.tuning)
            found = self._improve_from(problem, best, trial) if lower else None
            if found is not None:
                return replace(found, state=following.state)
        if problem.out_of_time:
            return following
        proven = count_swaps(problem, best) <= self.tuning.max_swaps_to_try_all
        if not proven and not ranks_all_swaps(problem, best, self.tuning):
            return replace(following, done="converged: no perturbation lowers f; there are too many swaps to try all")
        basis = "" if proven or is_exact(problem) else " (according to the quadratic model)"
        return replace(following, done=f"converged: no single swap lowers f{basis}")

    def _improve_from(self, problem: Problem, best: Iterate, start: Iterate) -> Iterate | None:
        """Where a quick descent from a start, then a full one, end; None if f is not lower than at the best iterate."""
        near = self._descend(problem, replace(start, state=self.make_nearby_state(problem, start, Budget.QUICK)))
        if not near.value < best.value + self.tuning.promising_gap * abs(best.value):
            return None
        other = _refit_exactly(problem, near)
        if not is_lower(problem, other, best, self.tuning):
            return None
        state = self.make_nearby_state(problem, other, Budget.FULL)
        settled = _refit_exactly(problem, self._descend(problem, replace(other, state=state)))
        return settled if is_lower(problem, settled, other, self.tuning) else other

    @property
    def descends_paths(self) -> bool:
        return self.max_swaps != 0 and not self.adds_units

    def warm_start(self, problem: Problem, iterate: Iterate, budget: Budget = Budget.QUICK) -> Iterate:
        """QUICK: swaps continue from the iterate at once. FULL: the search starts anew, from there."""
        if iterate.support is None:
            prepared = self.prepare(problem, iterate.point.x)
            return replace(prepared, state=self.make_first_state(problem, prepared, budget))
        state = self.make_first_state if budget is Budget.FULL else self.make_nearby_state
        return replace(iterate, state=state(problem, iterate, budget), done=None)

    def without_effort(self) -> SwapGraHTP:
        return replace(self, effort=0)


def _refit_exactly(problem: Problem, iterate: Iterate) -> Iterate:
    assert iterate.support is not None
    return problem.refit(iterate.support, iterate.point.x)


def check_no_effort(solver: object, effort: int) -> None:
    """Refuse effort together with a given solver."""
    if effort != 0:
        raise ValueError(
            f"effort={effort!r} is for the default solver, but solver={solver!r} is given; leave one of them out, or "
            f"pass solver=ksparse.SwapGraHTP(effort=...) with your options"
        )


def _is_dead_end(problem: Problem, refitted: Iterate, start: Iterate, tuning: SwapTuning) -> bool:
    """Whether no unit may enter once the free coordinates are fitted without any, though some may at the start.

    So it is with a network: without inputs, a penalty takes the weights of its later layers to zero.
    """
    if refitted.outcome not in (Outcome.SOLVED, Outcome.SINGULAR):
        return False
    least = tuning.dead_gain * abs(refitted.value)
    gain = float(entering_gains(problem, refitted).max(initial=0.0))
    return gain <= least < float(entering_gains(problem, start).max(initial=0.0))
