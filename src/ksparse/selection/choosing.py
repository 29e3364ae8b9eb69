"""Choosing k, whatever it counts and whatever it is chosen by: trying more and more k, and storing the chosen model."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from .._types import Array
from ..estimators import Samples, SparseEstimator
from ..objectives import Objective
from .pathwise import PathSolver
from .schedule import KSchedule, check_ks

__all__ = ["ChosenK", "build_path_solver"]

C = TypeVar("C", bound="ChosenK")
#: With ks="auto", about this many units are expected before anything is known.
EXPECTED_K = 10


@dataclass(eq=False, repr=False, kw_only=True)
class ChosenK(SparseEstimator):
    """An estimator that chooses its k; to be combined with one that has a fixed k, of which it uses the hooks."""

    # What an estimator with a fixed k has as parameters, and this one has not.
    k: Any = field(default=None, init=False)
    warm_start: Any = field(default=False, init=False)

    ks: Any = "auto"

    @abstractmethod
    def fit_samples(self: C, samples: Samples) -> C:
        """Choose k and fit the model to validated samples."""

    @property
    def coef_path_(self) -> Array:
        """Coefficients for each k of `ks_`."""
        return self.path_.coef

    @property
    def intercept_path_(self) -> Array:
        """Intercepts for each k of `ks_`."""
        return self.path_.intercept

    def expected_k(self) -> int:
        if isinstance(self.ks, Iterator):
            raise TypeError("ks is an iterator, which can be read only once; pass a list or a range")
        if isinstance(self.ks, str):
            return min(EXPECTED_K, self.n_features_in_)
        return check_ks(self.ks, 0, self.n_features_in_, self.unit_name)[-1]

    def evaluate_ks(
        self, solver: PathSolver, n_samples: float, evaluate: Callable[[list[int]], Mapping[int, float]]
    ) -> None:
        """Evaluate each k of `ks`, or with "auto" those of a schedule, up to a largest k that depends on `n_samples`.

        `evaluate` takes further k, and returns all scores so far; larger is better.
        """
        if not isinstance(self.ks, str):
            evaluate(check_ks(self.ks, solver.fewest, solver.most, self.unit_name))
            return
        if self.ks != "auto":
            raise ValueError(f'ks must be "auto" or a sequence of integers such as range(1, 21), got {self.ks!r}')
        smallest = max(solver.fewest, min(self.first_k, solver.most))
        largest = max(smallest, min(max(self.largest_auto_k(n_samples), 1), solver.most))
        schedule = KSchedule(smallest, largest, self.k_factor, self.k_resolution)
        scores: Mapping[int, float] = {}
        while further := schedule.next_ks(scores):
            scores = evaluate(further)

    def store_choice(self: C, solver: PathSolver, chosen: int) -> C:
        """Set the fitted attributes from the solutions for all k and the chosen one."""
        self.path_: Any = self.build_path(solver.results, solver.passes)
        self.ks_ = self.path_.ks
        self.k_ = chosen
        result = solver.results[chosen]
        if not result.success:
            warnings.warn(f"for the chosen k = {chosen}: {result.message}", ConvergenceWarning, stacklevel=4)
        return self.store_result(result)


def build_path_solver(model: SparseEstimator, objective: Objective) -> PathSolver:
    """The problem of a model for many k."""
    return PathSolver(objective, model.build_sparsity(objective, objective.size), model.find_solver())
