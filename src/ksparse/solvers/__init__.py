"""The methods, and what they are made of: steps, halting rules, results."""

from .base import Callback, Iterate, Problem, Solver
from .fbs import FBS
from .glasso import GLasso
from .grahtp import HTP, IHT, FGraHTP, GraHTP
from .grasp import GraSP
from .halting import HaltingRule, RelativeChange, SameSupport
from .result import History, Iteration, Result, Status
from .steps import Backtracking, BarzilaiBorwein, Constant, Lipschitz, Normalized, Step, StepRule, Theory
from .swaps import SwapGraHTP

__all__ = [
    "FBS",
    "HTP",
    "IHT",
    "Backtracking",
    "BarzilaiBorwein",
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
    "Status",
    "Step",
    "StepRule",
    "SwapGraHTP",
    "Theory",
]
