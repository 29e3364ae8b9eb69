"""The methods that the experiments compare, each with its rule for the step in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..objectives import Objective
from ..solvers import FBS, FGraHTP, GraHTP, GraSP, RelativeChange, Solver, SwapGraHTP
from .timing import solved

__all__ = ["DEFAULT", "FAITHFUL", "FEATURE_METHODS", "Method", "step_caption", "warm_up"]

#: What the report calls our solver.
DEFAULT = "ksparse default"
#: The methods of the paper.
FAITHFUL = ("GraHTP", "FGraHTP", "GraSP", "FBS")


@dataclass(frozen=True)
class Method:
    """A method for f of k features.

    Attributes
    ----------
    name : str
        What tables and figures call it.
    step : str
        Its step-size rule, for captions; "{multiple}" is the multiple of 1/L that the settings have.
    make : callable
        The solver for a constant step, a tolerance of the paper's stopping rule and a limit of iterations.
    """

    name: str
    step: str
    make: Callable[[float, float, int], Solver]


def _grahtp(step: float, tolerance: float, limit: int) -> Solver:
    return GraHTP(step=step, halting=RelativeChange(tolerance), max_iter=limit)


def _fgrahtp(step: float, tolerance: float, limit: int) -> Solver:
    return FGraHTP(step=step, halting=RelativeChange(tolerance), max_iter=limit)


def _grasp(_step: float, tolerance: float, limit: int) -> Solver:
    return GraSP(halting=RelativeChange(tolerance), max_iter=limit)


def _fbs(_step: float, _tolerance: float, _limit: int) -> Solver:
    return FBS()


def _default(_step: float, _tolerance: float, _limit: int) -> Solver:
    return SwapGraHTP()


FEATURE_METHODS: tuple[Method, ...] = (
    Method("GraHTP", "constant, η = {multiple:g}/L", _grahtp),
    Method("FGraHTP", "constant, η = {multiple:g}/L", _fgrahtp),
    Method("GraSP", "none", _grasp),
    Method("FBS", "none", _fbs),
    Method(DEFAULT, "per coordinate, 16 times the inverse curvature, halved until f falls; then exchanges", _default),
)


def warm_up(objective: Objective) -> None:
    """Fits that are not timed: the first ones of a process also load and compile code."""
    step = 1.0 / objective.lipschitz()
    for method in FEATURE_METHODS:
        solved(objective, 2, method.make(step, 1e-4, 2))


def step_caption(multiple: float, methods: tuple[Method, ...] = FEATURE_METHODS) -> str:
    """The step-size rules of the methods, in a sentence."""
    rules = "; ".join(f"{method.name}: {method.step.format(multiple=multiple)}" for method in methods)
    return f"Steps, of which the paper says nothing (L: Lipschitz constant of the gradient). {rules}."
