"""Which solver is the default for an objective."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..objectives import Objective
from .loop import Solver
from .staged import StagedSwap
from .swap import SwapGraHTP

__all__ = ["default_solver", "specialize"]


def default_solver(objective: Objective, **parameters: Any) -> SwapGraHTP:
    """`StagedSwap` for graphs, whose units are pairs of variables; `SwapGraHTP` otherwise."""
    return (StagedSwap if objective.unit_kind == "pairs" else SwapGraHTP)(**parameters)


def specialize(solver: Solver, objective: Objective) -> Solver:
    """The solver to run for an objective: that of graphs in the place of `SwapGraHTP`, otherwise itself."""
    if not isinstance(solver, SwapGraHTP) or isinstance(solver, StagedSwap):
        return solver
    if objective.unit_kind != "pairs":
        return solver
    return StagedSwap(**{field.name: getattr(solver, field.name) for field in fields(solver)})
