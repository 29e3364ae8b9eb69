"""Information criteria, the deviance of a model plus a penalty on its size; and estimators that choose k by them."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning

from ..estimators import Samples
from ..objectives import Objective
from ..solvers import Result
from .choosing import ChosenK
from .pathwise import PathSolver
from .penalties import PenaltyGrid, PenaltyPaths
from .schedule import find_first_best

__all__ = ["CRITERIA", "GRAPH_CRITERIA", "InformationCriterion", "graph_criterion", "information_criterion"]

log = logging.getLogger(__name__)

CRITERIA = ("aic", "bic", "ebic", "gic")
GRAPH_CRITERIA = ("aic", "bic", "ebic")

C = TypeVar("C", bound="InformationCriterion")


def information_criterion(
    criterion: str, deviance: float, *, parameters: float, k: int, n_samples: float, n_features: int
) -> float:
    """Minus twice the log-likelihood plus a penalty on the model's size; smaller is better.

    With deviance D, d parameters, n samples, p features (or groups) of which k are selected:

    - ``"aic"``: D + 2d (Akaike 1974);
    - ``"bic"``: D + d·log n (Schwarz 1978);
    - ``"ebic"``: D + d·log n + 2·log C(p, k) (Chen and Chen, Biometrika 2008, γ = 1): for many features;
    - ``"gic"``: D + d·log p·log log n (Fan and Tang, JRSS B 2013): for many features.

    Parameters
    ----------
    criterion : {"aic", "bic", "ebic", "gic"}
        Which one.
    deviance : float
        D: minus twice the log-likelihood, up to a constant; n·log of the mean square, where the variance is unknown.
    parameters : float
        d: number of fitted coefficients, with intercepts; with a ridge, the effective degrees of freedom.
    k, n_features : int
        Number of selected features, and of all.
    n_samples : float
        n: number of samples, or the sum of their weights.

    Returns
    -------
    float
        The criterion.

    Examples
    --------
    >>> from ksparse import information_criterion
    >>> round(information_criterion("bic", 120.0, parameters=4, k=3, n_samples=100, n_features=50), 2)
    138.42
    """
    log_n, log_p = np.log(max(n_samples, 2.0)), np.log(max(n_features, 2))
    log_subsets = gammaln(n_features + 1) - gammaln(k + 1) - gammaln(n_features - k + 1)
    penalties = {
        "aic": 2.0 * parameters,
        "bic": parameters * log_n,
        "ebic": parameters * log_n + 2.0 * log_subsets,
        "gic": parameters * log_p * np.log(max(log_n, 1.0)),
    }
    return float(deviance + penalties[_check_criterion(criterion, CRITERIA)])


def graph_criterion(
    criterion: str, deviance: float, *, edges: float, n_samples: float, n_features: int, gamma: float = 0.5
) -> float:
    """Minus twice the log-likelihood of a Gaussian graph plus a penalty on its edges; smaller is better.

    With deviance D = n·(−log det Ω + ⟨Σ, Ω⟩), E edges, n samples and p variables:

    - ``"aic"``: D + 2E;
    - ``"bic"``: D + E·log n;
    - ``"ebic"``: D + E·log n + 4E·γ·log p (Foygel and Drton, NeurIPS 2010, equation 1).

    Parameters
    ----------
    criterion : {"aic", "bic", "ebic"}
        Which one.
    deviance : float
        D.
    edges, n_features : int
        E and p.
    n_samples : float
        n.
    gamma : float, default=0.5
        γ, from 0, which is BIC, to 1.

    Returns
    -------
    float
        The criterion.

    Examples
    --------
    >>> from ksparse.selection import graph_criterion
    >>> round(graph_criterion("ebic", 120.0, edges=3, n_samples=100, n_features=50), 2)
    157.29
    """
    log_n = np.log(max(n_samples, 2.0))
    penalties = {"aic": 2.0, "bic": log_n, "ebic": log_n + 4.0 * gamma * np.log(n_features)}
    return float(deviance + edges * penalties[_check_criterion(criterion, GRAPH_CRITERIA)])


def _check_criterion(criterion: str, known: tuple[str, ...]) -> str:
    if criterion not in known:
        raise ValueError(f"criterion must be one of {', '.join(map(repr, known))}, got {criterion!r}")
    return criterion


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
        _check_criterion(self.criterion, self.criteria)
        objective, penalty = self.prepare(samples), self.get_refit_penalty()
        paths = PenaltyPaths(self, objective, PenaltyGrid(refit=(penalty,)))
        solver = paths.solvers[0]
        if penalty is not None:
            objective = self.with_penalty(objective, penalty)
        n_samples = self.count_samples(objective, samples)

        def refit(k: int) -> Result:
            return paths.refit(0, k, paths.grid.refit)[0]

        def compute(k: int) -> float:
            return self.compute_criterion(objective, refit(k), n_samples, solver)

        def score(k: int) -> float:
            return -compute(k) if self.has_minimum(objective, refit(k)) else -np.inf

        def evaluate(further: list[int]) -> dict[int, float]:
            solver.solve(further)
            for k in further:
                log.info("k = %d: %s %.6g", k, self.criterion, compute(k))
            return {k: score(k) for k in solver.results}

        self.evaluate_ks(solver, self.count_reliable_samples(n_samples, solver.most), evaluate)
        tried, refined = sorted(solver.results), set[int]()
        while True:
            # A refined solution may make another k the best one.
            self.criterion_ = np.array([compute(k) for k in tried])
            chosen = tried[find_first_best([score(k) for k in tried])]
            if chosen in refined:
                self._warn_without_minimum(chosen, objective, refit(chosen))
                results = {k: self.adapt_to_size(objective, refit(k), k) for k in tried}
                return self.store_choice(results, solver.passes, chosen)
            solver.refine(chosen)
            refined.add(chosen)

    def _warn_without_minimum(self, k: int, objective: Objective, result: Result) -> None:
        """Say that no k has a minimum; the message of a solution without success says it itself."""
        if result.success and not self.has_minimum(objective, result):
            warnings.warn(
                f"for the chosen k = {k}: all responses are fitted exactly, and coefficients grow without end; "
                "set alpha > 0, or try smaller ks",
                ConvergenceWarning,
                stacklevel=4,
            )

    def compute_criterion(self, objective: Objective, result: Result, n_samples: float, solver: PathSolver) -> float:
        """The criterion of a solution; always-selected features are not counted as choices."""
        return information_criterion(
            self.criterion,
            self.deviance(objective, result, n_samples),
            parameters=self.count_parameters(objective, result),
            k=len(result.selected) - solver.fewest,
            n_samples=n_samples,
            n_features=solver.most - solver.fewest,
        )

    def count_reliable_samples(self, n_samples: float, n_units: int) -> float:
        """Twice n/(log p·log log n), beyond which criteria are not reliable (Zhu et al., PNAS 2020), and at most n."""
        price = np.log(max(n_units, 2)) * np.log(np.log(max(n_samples, 3.0)))
        return float(2.0 * n_samples / max(price, 2.0))
