"""The methods, and what they are made of: steps, halting rules, results."""

from .fixed_support import FixedSupport
from .glasso import GLasso
from .grahtp import HTP, IHT, FGraHTP, GraHTP
from .greedy import FBS, GraSP
from .halting import HaltingRule, RelativeChange, SameSupport
from .loop import Budget, Callback, Solver
from .problem import Iterate, Problem, SolverState, Tolerance
from .result import History, Iteration, Result, Status
from .staged import StagedSwap, specialize
from .steps import Backtracking, BarzilaiBorwein, Constant, Lipschitz, Normalized, Step, StepRule, Theory
from .swap import MAX_EFFORT, SwapGraHTP, check_no_effort
from .swap.restarts import grow, plan_growth, shrink

__all__ = [
    "FBS",
    "HTP",
    "IHT",
    "MAX_EFFORT",
    "Backtracking",
    "BarzilaiBorwein",
    "Budget",
    "Callback",
    "Constant",
    "FGraHTP",
    "FixedSupport",
    "GLasso",
    "GraHTP",
    "GraSP",
    "HaltingRule",
    "History",
    "Iterate",
    "Iteration",
    "Lipschitz",
    "Normalized",
    "Problem",
    "RelativeChange",
    "Result",
    "SameSupport",
    "Solver",
    "SolverState",
    "StagedSwap",
    "Status",
    "Step",
    "StepRule",
    "SwapGraHTP",
    "Theory",
    "Tolerance",
    "check_no_effort",
    "grow",
    "plan_growth",
    "shrink",
    "specialize",
]
