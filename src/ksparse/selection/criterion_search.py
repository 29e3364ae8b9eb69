"""Choosing k by an information criterion, whatever it counts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeVar

import numpy as np

from ..estimators import Samples
from ..objectives import Objective
from ..solvers import Result
from .choosing import ChosenK, build_path_solver, refine
from .criteria import CRITERIA, information_criterion
from .pathwise import PathSolver
from .schedule import first_best

__all__ = ["InformationCriterion"]

log = logging.getLogger(__name__)

C = TypeVar("C", bound="InformationCriterion")


@dataclass(eq=False, repr=False, kw_only=True)
class InformationCriterion(ChosenK):
    """An estimator whose k is chosen by an information criterion.

    Put it before an estimator with a fixed k, as a dataclass: the parameters are those of the estimator without `k` and
    `warm_start`, and `ks` and `criterion`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.selection import InformationCriterion
    >>> @dataclass(eq=False, repr=False)
    ... class MyRegressionIC(InformationCriterion, SparseLinearRegression):
    ...     "Least squares with k chosen by an information criterion."
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MyRegressionIC(criterion="bic").fit(X, y).k_
    5
    """

    criteria: ClassVar[tuple[str, ...]] = CRITERIA

    criterion: str = "ebic"

    def fit_samples(self: C, samples: Samples) -> C:
        if self.criterion not in self.criteria:
            raise ValueError(f"criterion must be one of {', '.join(map(repr, self.criteria))}, got {self.criterion!r}")
        objective = self.prepare(samples)
        solver = build_path_solver(self, objective)
        n_samples = self.count_samples(objective, samples)
        value = partial(self.criterion_value, objective, n_samples=n_samples, solver=solver)
        chosen = self._minimize_criterion(solver, value, self.reliable_samples(n_samples, solver.most))
        return self.store_choice(solver, chosen)

    def _minimize_criterion(self, solver: PathSolver, value: Callable[[Result], float], n_samples: float) -> int:
        """Solve for each k, set `criterion_`, and return the k with the smallest value; its solution is refined."""

        def evaluate(further: list[int]) -> dict[int, float]:
            solver.solve(further)
            scores = {k: -value(result) for k, result in solver.results.items()}
            for k in further:
                log.info("k = %d: %s %.6g", k, self.criterion, -scores[k])
            return scores

        self.evaluate_ks(solver, n_samples, evaluate)
        tried, refined = sorted(solver.results), set[int]()
        while True:
            # A refined solution may make another k the best one.
            self.criterion_ = np.array([value(solver.results[k]) for k in tried])
            chosen = tried[first_best(-self.criterion_)]
            if chosen in refined:
                return chosen
            refine(solver, chosen)
            refined.add(chosen)

    def criterion_value(self, objective: Objective, result: Result, n_samples: float, solver: PathSolver) -> float:
        """The criterion of a solution; always-selected features are not counted as choices."""
        return information_criterion(
            self.criterion,
            self.deviance(objective, result, n_samples),
            parameters=self.count_parameters(objective, result),
            k=len(result.selected) - solver.fewest,
            n_samples=n_samples,
            n_features=solver.most - solver.fewest,
        )

    def reliable_samples(self, n_samples: float, n_units: int) -> float:
        """Twice n/(log p·log log n), beyond which criteria are not reliable (Zhu et al., PNAS 2020), and at most n."""
        price = np.log(max(n_units, 2)) * np.log(np.log(max(n_samples, 3.0)))
        return float(2.0 * n_samples / max(price, 2.0))
