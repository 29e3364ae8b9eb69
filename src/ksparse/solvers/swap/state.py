"""What the search remembers: its phase, its budget, and the sizes of what it tries next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from ..loop import Budget
from ..problem import Iterate, SolverState

__all__ = ["ALL_PHASES", "LOCAL_PHASES", "Phase", "SwapState", "hand_over", "with_state"]


class Phase(Enum):
    """What the next update does; `SwapGraHTP` shows which phase follows which."""

    PURSUE = "a scaled gradient step, hard thresholding, and a refit"
    GROW = "more units enter; only in `StagedSwap`, in the place of PURSUE"
    BULK_SWAP = "many swaps at once, ranked by gains and costs of single units"
    SWAP = "a chain of swaps, or one swap, ranked by a quadratic model of f"
    RESTART = "exploring a model of all units, and descents from other supports"
    PERTURB = "a descent from the best support with some of its units replaced at random"
    VERIFY = "single swaps, until none lowers f"


#: All phases.
ALL_PHASES = frozenset(Phase)
#: The phases of a descent, which ends at a support that none of them improves.
LOCAL_PHASES = frozenset({Phase.PURSUE, Phase.GROW, Phase.BULK_SWAP, Phase.SWAP})


@dataclass(frozen=True)
class SwapState(SolverState):
    """The state of a search."""

    #: What the next update does.
    phase: Phase
    #: The first step that PURSUE tries, a multiple of the inverse curvature.
    step_size: float
    #: The longest chain that BULK_SWAP and SWAP try.
    chain_length: int
    #: QUICK ends where the model predicts that no swap lowers f. FULL models more candidates, tries swaps against the
    #: model's prediction, and continues with RESTART and PERTURB.
    budget: Budget = Budget.FULL
    #: Number of the next perturbation, from 1.
    perturbation: int = 0
    #: Perturbations so far, so that none is repeated.
    drawn: frozenset[bytes] = frozenset()


def with_state(iterate: Iterate, state: SwapState) -> Iterate:
    """The iterate with this state, not done."""
    return replace(iterate, state=state, done=None)


def hand_over(iterate: Iterate, state: SwapState, phase: Phase, done: str | None = None) -> Iterate:
    """The same iterate for another phase; `done` is the message if that finds nothing either."""
    return replace(iterate, state=replace(state, phase=phase), done=done)
