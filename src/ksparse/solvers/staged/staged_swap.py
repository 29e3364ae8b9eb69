"""The default solver for graphs: a support that grows in stages, and batch swaps."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

from ...objectives import Objective
from ..loop import Budget, Solver
from ..problem import Iterate, Problem
from ..swap.descent import end_descent, is_lower
from ..swap.ranking import entering_gains, get_max_model_size
from ..swap.restarts import plan_growth
from ..swap.state import Phase, SwapState, hand_over, with_state
from ..swap.swap_grahtp import SwapGraHTP
from .stages import Stage, StageTuning, batch_swap

__all__ = ["StagedState", "StagedSwap", "specialize"]


@dataclass(frozen=True)
class StagedState(SwapState):
    """The state of `SwapGraHTP`, and the stage; None before the first."""

    stage: Stage | None = None


@dataclass(frozen=True)
class StagedSwap(SwapGraHTP):
    """Grow a graph to k edges in stages, each twice as large as the one before; swap many edges at a time.

    A graph of k edges chosen at once would have edges that explain each other. So the search begins with a sixteenth
    of k, and what a stage has found says which edges gain most in the next. A batch swap adds the q edges that gain
    most, refits, and removes the q that cost least. Each stage tries one, with q an eighth of its edges; the last one
    halves q whenever f does not fall, down to a single edge. Small graphs then try single swaps ranked by a quadratic
    model, restarts and perturbations, as features do. It is what `minimize` uses for objectives of pairs.

    Parameters
    ----------
    max_swaps, candidates, restarts, effort, max_iter, time_limit
        See `SwapGraHTP`.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> covariance = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 1.0]])
    >>> ksparse.minimize(ksparse.objectives.LogDet(covariance), k=1, solver=ksparse.solvers.StagedSwap()).selected
    array([[0, 1]])
    """

    stages: ClassVar[StageTuning] = StageTuning()
    adds_units: ClassVar[bool] = True

    def run_phase(self, problem: Problem, current: Iterate, state: SwapState) -> Iterate:
        """Do what the phase says; the state of the result has the phase that comes next.

        ============  ==============================  ================  ========================================
        phase         what is done                    next, if f fell   next, if not
        ============  ==============================  ================  ========================================
        GROW          more units, refit               BULK_SWAP         SWAP, when there are k units
        BULK_SWAP     a batch swap                    BULK_SWAP         GROW, when the stage has tried enough
        SWAP          as in `SwapGraHTP`              BULK_SWAP         RESTART, and so on as in `SwapGraHTP`
        ============  ==============================  ================  ========================================
        """
        assert isinstance(state, StagedState)
        match state.phase:
            case Phase.GROW:
                return self._grow(problem, current, state)
            case Phase.BULK_SWAP:
                return self._batch_swap(problem, current, state)
            case Phase.SWAP if self.max_swaps != 0 and self._is_too_large(problem, current):
                return end_descent(current, state, "no swap of the most promising units lowers f")
        following = super().run_phase(problem, current, state)
        assert isinstance(following.state, StagedState)
        if following.point is not current.point and following.state.phase is Phase.SWAP:
            return hand_over(following, following.state, Phase.BULK_SWAP)
        return following

    def make_first_state(self, problem: Problem, iterate: Iterate, budget: Budget = Budget.FULL) -> StagedState:
        tuning, k = self.tuning, problem.units.k
        stage = None if iterate.support is None else Stage.begin(k, self.stages)
        phase = Phase.GROW if stage is None else Phase.BULK_SWAP
        return StagedState(phase, tuning.longest_step, tuning.chain_length, budget, stage=stage)

    def make_nearby_state(self, problem: Problem, iterate: Iterate, budget: Budget) -> StagedState:
        """The same, but an iterate with fewer units than k grows first."""
        state = self.make_first_state(problem, iterate, budget)
        size = int(problem.find_selected_units(iterate).sum())
        if size < problem.units.k:
            return replace(state, phase=Phase.GROW, stage=Stage(size, 0, tried=True))
        return replace(state, chain_length=self.tuning.warm_chain_length)

    def _grow(self, problem: Problem, current: Iterate, state: StagedState) -> Iterate:
        """The first stage of the search, or the next one."""
        k, tuning = problem.units.k, self.stages
        if state.stage is None:
            chosen = problem.find_selected_units(current) | problem.units.always
            current = replace(current, support=problem.units.to_mask(chosen))
            stage: Stage | None = Stage.begin_first(k, int(chosen.sum()), tuning)
        else:
            stage = state.stage.begin_next(k, tuning)
        if stage is None:
            return hand_over(current, state, Phase.SWAP)
        support, _ = plan_growth(problem, current, stage.size)
        larger = problem.refit(support, current.point.x, self.tuning.loose_refit)
        return with_state(larger, replace(state, phase=Phase.BULK_SWAP, stage=stage))

    def _batch_swap(self, problem: Problem, current: Iterate, state: StagedState) -> Iterate:
        """The first batch swap of the stage that lowers f; without one, the stage is over."""
        assert state.stage is not None
        stage = state.stage
        thorough = stage.size == problem.units.k and state.budget is Budget.FULL
        if self.max_swaps == 0 or stage.is_over(thorough):
            return hand_over(current, state, Phase.GROW)
        gains = entering_gains(problem, current)
        while not stage.is_over(thorough):
            if problem.out_of_time:
                return with_state(current, replace(state, stage=stage))
            trial = batch_swap(problem, current, gains, stage.batch, self.tuning.loose_refit)
            lower = trial is not None and is_lower(problem, trial, current, self.tuning)
            stage = stage.record_swap(lower)
            if trial is not None and lower:
                return with_state(trial, replace(state, stage=stage))
        return hand_over(current, state, Phase.GROW)

    def _is_too_large(self, problem: Problem, current: Iterate) -> bool:
        """Whether the support has too many coordinates for a quadratic model."""
        assert current.support is not None
        return int(current.support.sum()) > get_max_model_size(problem.objective, self.tuning)


def specialize(solver: Solver, objective: Objective) -> Solver:
    """The solver to run for an objective: for graphs `StagedSwap` in the place of `SwapGraHTP`, otherwise itself."""
    if objective.unit_kind != "pairs" or not isinstance(solver, SwapGraHTP) or isinstance(solver, StagedSwap):
        return solver
    return StagedSwap(**{field.name: getattr(solver, field.name) for field in fields(solver)})
