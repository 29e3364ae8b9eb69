"""The methods, and what they are made of: steps, halting rules, results."""

from .default import default_solver, specialize
from .fbs import FBS
from .glasso import GLasso
from .grahtp import HTP, IHT, FGraHTP, GraHTP
from .grasp import GraSP
from .halting import HaltingRule, RelativeChange, SameSupport
from .loop import Budget, Callback, Solver
from .problem import Iterate, Problem, SolverState
from .result import History, Iteration, Result, Status
from .staged import StagedSwap
from .steps import Backtracking, BarzilaiBorwein, Constant, Lipschitz, Normalized, Step, StepRule, Theory
from .swap import SwapGraHTP
from .swap.resizing import grow, plan_growth, shrink
from .tolerance import Tolerance

__all__ = [
    "FBS",
    "HTP",
    "IHT",
    "Backtracking",
    "BarzilaiBorwein",
    "Budget",
    "Callback",
    "Constant",
    "FGraHTP",
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
    "default_solver",
    "grow",
    "plan_growth",
    "shrink",
    "specialize",
]
