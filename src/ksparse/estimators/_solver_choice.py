"""The solvers that estimators know by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..solvers import FBS, HTP, IHT, Backtracking, FGraHTP, GLasso, GraHTP, GraSP, Solver, SwapGraHTP
from ..solvers.swap import check_no_effort

__all__ = ["GRAPH_SOLVERS", "LINEAR_SOLVERS", "Choices", "find_solver"]

Choices = Mapping[str, Callable[[], Solver]]

LINEAR_SOLVERS: Choices = {
    "auto": SwapGraHTP,
    "grahtp": GraHTP,
    "fgrahtp": FGraHTP,
    "htp": HTP,
    "iht": IHT,
    "grasp": GraSP,
    "fbs": FBS,
}

#: The Lipschitz constant of a log-determinant is so large that a step of its inverse would not change the support.
GRAPH_SOLVERS: Choices = {
    "auto": SwapGraHTP,
    "grahtp": lambda: GraHTP(step=Backtracking(scaled=True)),
    "grasp": GraSP,
    "fbs": FBS,
    "glasso": GLasso,
}


def find_solver(solver: Any, choices: Choices, effort: int = 0) -> Solver:
    """The solver that the parameter `solver` names, or is; `effort` is a parameter of the default solver."""
    default = SwapGraHTP(effort=effort)  # checks effort, whatever the solver
    if isinstance(solver, str) and solver == "auto":
        return default
    check_no_effort(solver, effort)
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in choices:
        raise ValueError(
            f"solver must be one of {', '.join(map(repr, choices))} or a solver such as ksparse.GraHTP(); "
            f"got {solver!r}"
        )
    return choices[solver]()
