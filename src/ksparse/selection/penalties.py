"""Paths over k for several penalties: a path for each penalty of the selection, refits for each of the coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Array
from ..estimators import SparseEstimator, merge_results
from ..objectives import Objective
from ..objectives.protocols import working_form
from ..solvers import Result
from ..threads import one_thread
from .pathwise import PathSolver

__all__ = ["PenaltyGrid", "PenaltyPaths", "check_penalties"]


@dataclass(frozen=True)
class PenaltyGrid:
    """Penalties to try.

    Examples
    --------
    >>> from ksparse.selection import PenaltyGrid
    >>> PenaltyGrid(selection=(0.1, 1.0), refit=(0.0, 0.1)).selection
    (0.1, 1.0)
    """

    #: While units are selected; (None,) for a model without penalty, or with one that is fixed.
    selection: tuple[float | None, ...] = (None,)
    #: When selected units are fitted for the last time; None: as they are.
    refit: tuple[float | None, ...] = (None,)


class PenaltyPaths:
    """Solutions of one problem for many k and all penalties of a grid.

    Parameters
    ----------
    model : SparseEstimator
        The model; it has prepared the objective.
    objective : Objective
        f; its own penalty does not matter where the grid has values.
    grid : PenaltyGrid
        The penalties.
    """

    def __init__(self, model: SparseEstimator, objective: Objective, grid: PenaltyGrid) -> None:
        self._model, self.objective, self.grid = model, objective, grid
        with one_thread():
            self.form = working_form(objective)
        self.solvers = [self._build_solver(penalty) for penalty in grid.selection]

    def _build_solver(self, penalty: float | None) -> PathSolver:
        objective = self._change(penalty)
        sparsity = self._model.build_sparsity(self.objective, self.objective.size)
        form = replace(self.form, objective=objective)
        return PathSolver(objective, sparsity, self._model.find_solver(), form)

    def _change(self, penalty: float | None) -> Objective:
        """f with another penalty, in working coordinates."""
        return self.form.objective if penalty is None else self._model.with_penalty(self.form.objective, penalty)

    def find_objective(self, selection: int, penalty: float | None) -> Objective:
        """f with a penalty of the refit, or with that of the selection (by position) if it is None."""
        penalty = self.grid.selection[selection] if penalty is None else penalty
        return self.objective if penalty is None else self._model.with_penalty(self.objective, penalty)

    def solve(self, ks: Iterable[int]) -> None:
        """Add solutions for these k, with each penalty of the selection."""
        for solver in self.solvers:
            solver.solve(ks)

    def refit(self, selection: int, k: int, penalties: Sequence[float | None]) -> list[Result]:
        """The solution for k with a penalty of the selection (by position), refitted with each of some penalties."""
        solver = self.solvers[selection]
        chosen = solver.results[k]
        changed = [
            penalty for penalty in penalties if penalty is not None and penalty != self.grid.selection[selection]
        ]
        # From strong penalties to weak ones, each refit starts near its solution.
        order = sorted(changed, reverse=True)
        refits = dict(zip(order, solver.refit(k, map(self._change, order)), strict=True))
        return [merge_results(chosen, refits[penalty]) if penalty in refits else chosen for penalty in penalties]


def check_penalties(values: Any, name: str, suggested: list[float]) -> tuple[float, ...]:
    """Penalties that a user gives: "auto", a number, or a sequence of numbers; increasing."""
    if isinstance(values, str):
        if values != "auto":
            raise ValueError(f'{name} must be "auto", a number or a sequence of numbers, got {values!r}')
        return tuple(suggested)
    given = np.asarray(values)
    if given.dtype.kind not in "iuf" or given.ndim > 1:
        raise TypeError(f'{name} must be "auto", a number or a sequence of numbers, got {values!r}')
    numbers: Array = np.unique(given.astype(np.float64))
    if not numbers.size:
        raise ValueError(f'{name} is empty; pass "auto", a number or a sequence of numbers')
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise ValueError(f"{name} must hold finite numbers of at least 0, got {values!r}")
    return tuple(numbers.tolist())
