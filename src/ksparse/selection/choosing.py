"""What the estimators that choose k share: trying more and more k, and keeping the path and the chosen model."""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._types import Array
from ..estimators import SparseLinearModel
from ..solvers import Result
from .growth import Growth, check_ks, first_best
from .path import Path
from .pathwise import PathSolver

__all__ = ["ChoosesFeatures", "chosen_result", "feature_growth", "least_criterion", "tried"]

log = logging.getLogger(__name__)

M = TypeVar("M", bound="ChoosesFeatures")
#: With ks="auto", about so many features are expected before anything is known.
EXPECTED = 10


class ChoosesFeatures(SparseLinearModel):
    """A linear model that chooses its number of features."""

    ks: Any

    @abstractmethod
    def fit(self: M, X: Any, y: Any, sample_weight: Any = None) -> M:
        """Choose k and fit the model."""

    def _expected(self) -> int:
        """About how many features will be selected, for what is estimated beforehand."""
        if isinstance(self.ks, str):
            return min(EXPECTED, self.n_features_in_)
        return check_ks(self._wanted(), 0, self.n_features_in_)[-1]

    def _wanted(self) -> Any:
        """`ks` as a list where it is one; an iterator would be empty the second time."""
        if isinstance(self.ks, Iterator):
            raise TypeError("ks is an iterator, which can be read only once; pass a list or a range")
        return self.ks

    def _keep_path(self: M, solver: PathSolver, chosen: int) -> M:
        """Set the fitted attributes from a path and the chosen k."""
        result = chosen_result(solver, chosen)
        self.path_ = Path.of(self, solver)
        self.ks_ = self.path_.ks
        self.coef_path_ = self.path_.coef
        self.intercept_path_ = self.path_.intercept
        self.k_ = chosen
        return self._keep(result)


def chosen_result(solver: PathSolver, k: int) -> Result:
    """The solution for the chosen k, with a warning for who called `fit` if it has not converged."""
    result = solver.results[k]
    if not result.success:
        warnings.warn(f"for the chosen k = {k}: {result.message}", ConvergenceWarning, stacklevel=4)
    return result


def tried(ks: Any, solver: PathSolver, growth: Growth, score: Callable[[list[int]], Mapping[int, float]]) -> None:
    """Have each k scored: those given, or with "auto" as many as it takes.

    Parameters
    ----------
    ks : "auto" or sequence of int
        As the user gave it.
    solver : PathSolver
        The problem, which knows the smallest and the largest possible k.
    growth : Growth
        What "auto" tries.
    score : callable
        Scores some more k, and gives all scores so far; larger is better.
    """
    if not isinstance(ks, str):
        score(check_ks(ks, solver.fewest, solver.most))
        return
    if ks != "auto":
        raise ValueError(f'ks must be "auto" or a sequence of integers such as range(1, 21), got {ks!r}')
    scores: Mapping[int, float] = {}
    while following := growth.following(scores):
        scores = score(following)


def feature_growth(solver: PathSolver, sensible: int) -> Growth:
    """Numbers of features for "auto", from 1 to what is sensible."""
    return Growth(max(solver.fewest, min(1, solver.most)), min(max(sensible, 1), solver.most))


def least_criterion(
    ks: Any, solver: PathSolver, growth: Growth, value: Callable[[Result], float], *, name: str
) -> tuple[int, Array]:
    """The k whose solution has the least value of a criterion, its solution polished, and the criterion of each k.

    Parameters
    ----------
    ks : "auto" or sequence of int
        As the user gave it.
    solver : PathSolver
        The problem; it then has the solutions.
    growth : Growth
        What "auto" tries.
    value : callable
        The criterion of a solution.
    name : str
        What the log calls it.

    Returns
    -------
    int, ndarray
        The chosen k, and the criterion of each k in increasing order.
    """

    def score(more: list[int]) -> dict[int, float]:
        solver.solve(more)
        scores = {k: -value(result) for k, result in solver.results.items()}
        for k in more:
            log.info("k = %d: %s %.6g", k, name, -scores[k])
        return scores

    tried(ks, solver, growth, score)
    known, polished = sorted(solver.results), set[int]()
    while True:
        criterion = np.array([value(solver.results[k]) for k in known])
        chosen = known[first_best(-criterion)]
        if chosen in polished:
            return chosen, criterion
        solver.refine(chosen)
        polished.add(chosen)
