"""Choosing k, whatever it counts and whatever it is chosen by: trying more and more k, and storing the chosen model."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._types import Array
from ..estimators import Samples, SparseEstimator
from ..estimators.parameters import list_parameters
from ..solvers import Result
from .pathwise import PathSolver
from .schedule import KSchedule, check_ks

__all__ = ["ChosenK"]

C = TypeVar("C", bound="ChosenK")
#: Parameters of estimators with a fixed k that are chosen here, and what sets what is tried.
CHOSEN_PARAMETERS = {
    "k": "ks, such as ks=[10]",
    "alpha": "alphas, such as alphas=0.1, and refit_alphas=None for the same ridge of the coefficients",
    "refit_alpha": "refit_alphas",
    "shrinkage": "shrinkages",
}
#: With ks="auto", about this many units are expected before anything is known.
EXPECTED_K = 10


@dataclass(eq=False, repr=False, kw_only=True)
class ChosenK(SparseEstimator):
    """An estimator that chooses its k; to be combined with one that has a fixed k, of which it uses the hooks."""

    # What an estimator with a fixed k has as parameters, and this one has not.
    k: Any = field(default=None, init=False)
    warm_start: Any = field(default=False, init=False)

    ks: Any = "auto"

    def __new__(cls, *_: Any, **options: Any) -> Any:
        """Say what to pass instead of a parameter that is chosen."""
        for name, instead in CHOSEN_PARAMETERS.items():
            if name in options and name not in list_parameters(cls):
                raise TypeError(f"{cls.__name__} has no parameter {name}, which it chooses; pass {instead}")
        return super().__new__(cls, **options)

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

    def estimate_k(self) -> int:
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
        smallest = solver.fewest
        largest = max(smallest, min(max(self.limit_auto_k(n_samples), 1), solver.most))
        schedule = KSchedule(smallest, largest)
        scores: Mapping[int, float] = {}
        while further := schedule.propose_ks(scores):
            scores = evaluate(further)

    def store_choice(self: C, results: Mapping[int, Result], passes: int, chosen: int) -> C:
        """Set the fitted attributes from the solutions for all k and the chosen one."""
        self.path_: Any = self.build_path(results, passes)
        self.ks_ = self.path_.ks
        self.k_ = chosen
        result = results[chosen]
        if not result.success:
            warnings.warn(f"for the chosen k = {chosen}: {result.message}", ConvergenceWarning, stacklevel=4)
        self.adopt_estimates(chosen)
        return self.store_result(result)

    def at(self, k: int) -> SparseEstimator:
        """The fitted model for another k that was tried, with the penalties that would be chosen for it.

        Parameters
        ----------
        k : int
            One of `ks_`.

        Returns
        -------
        SparseEstimator
            The model with a fixed k, fitted to all samples; after cross-validation, its `scores_` are those of the
            folds.
        """
        model, position = self.build_fixed(k)
        self.describe_fixed(model, position)
        return model.store_result(self.path_.get_result(position))

    def describe_fixed(self, model: Any, position: int) -> None:
        """Set what belongs to a model for one of `ks_` besides its solution: its penalties and scores."""

    def build_fixed(self, k: int) -> tuple[Any, int]:
        """The model with this k as a parameter, with all that was fitted but the solution; and the position of k."""
        check_is_fitted(self)
        position = np.flatnonzero(self.ks_ == k)
        if isinstance(k, bool) or not position.size:
            raise ValueError(f"k = {k!r} was not tried; ks_ has {self.ks_.tolist()}, and ks= sets what is tried")
        kind = next(c for c in type(self).__mro__ if issubclass(c, SparseEstimator) and not issubclass(c, ChosenK))
        names = set(list_parameters(kind))
        model = kind(**{name: value for name, value in self.get_params(deep=False).items() if name in names})
        model.k = int(k)
        fitted = {name: value for name, value in vars(self).items() if name not in names and name not in vars(model)}
        parameters = set(list_parameters(type(self)))
        chosen = {"ks_", "k_", "path_", "scores_", "grid_scores_", "choice_", "criterion_", "_bounds", "_grid_errors"}
        chosen |= parameters | {f"{name}{ending}" for name in self.penalty_names for ending in ("_", "s_")}
        model.__dict__.update({name: value for name, value in fitted.items() if name not in chosen})
        model.adopt_estimates(model.k)
        model.fix_estimates()
        return model, int(position[0])
