"""Choosing k by cross-validation, whatever it counts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from .._types import Array, IntArray
from ..estimators import Samples
from ..solvers import Result
from ..threads import one_thread
from .choosing import ChosenK, build_path_solver
from .pathwise import PathSolver
from .schedule import first_best

__all__ = ["CrossValidated", "choose_k", "standard_errors"]

log = logging.getLogger(__name__)

C = TypeVar("C", bound="CrossValidated")


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidated(ChosenK):
    """An estimator whose k is chosen by cross-validation; its `fit` is that of a linear model.

    Put it before an estimator with a fixed k, as a dataclass: the parameters are those of the estimator without `k` and
    `warm_start`, and `ks`, `cv`, `scoring`, `rule` and `n_jobs`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.selection import CrossValidated
    >>> @dataclass(eq=False, repr=False)
    ... class MyRegressionCV(CrossValidated, SparseLinearRegression):
    ...     "Least squares with k chosen by cross-validation."
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MyRegressionCV(ks=range(1, 6), rule="1se").fit(X, y).k_
    5
    """

    cv: Any = 5
    scoring: Any = None
    rule: str = "best"
    n_jobs: int | None = None

    def fit(self: C, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> C:
        """Choose k by cross-validation, and fit the model to all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fitting and in the default score.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self.fit_samples(self.check_samples(X, y, sample_weight), groups)

    def fit_samples(self: C, samples: Samples, groups: Any = None) -> C:
        """Choose k by cross-validation, and fit the model to all samples; `groups` are for the splitter."""
        if self.rule not in ("best", "1se"):
            raise ValueError(f'rule must be "best" or "1se", got {self.rule!r}')
        splitter = check_cv(self.cv, samples.y, classifier=is_classifier(self))
        splits = list(splitter.split(samples.X, samples.y, groups))
        if not splits:
            raise ValueError("cv gives no splits; pass at least one, and note that an iterator can be read only once")
        scorer = None if self.scoring is None else get_scorer(self.scoring)
        whole = build_path_solver(self, self.prepare(samples))
        folds = [_Fold(self, samples, train, test, scorer) for train, test in splits]
        scores = self._score_ks(whole, folds)
        tried = sorted(scores)
        self.scores_ = np.array([scores[k] for k in tried])
        chosen = tried[choose_k(self.scores_, self.rule)]
        whole.refine(chosen)
        return self.store_choice(whole, chosen)

    def _score_ks(self, whole: PathSolver, folds: Sequence[_Fold]) -> dict[int, Array]:
        """Solve the problem on all samples and on each fold for each k, and return the scores on the folds."""
        scores: dict[int, Array] = {}

        def evaluate(further: list[int]) -> dict[int, float]:
            # Each fold runs on one thread; the folds run in parallel, share the data, and keep their solutions.
            with one_thread():
                jobs = [delayed(whole.solve)(further), *(delayed(fold.scores)(further) for fold in folds)]
                _, *columns = Parallel(n_jobs=self.n_jobs, require="sharedmem")(jobs)
            for k, values in zip(further, np.array(columns).T, strict=True):
                if np.isnan(values).any() or np.isposinf(values).any():
                    raise ValueError(f"the score for k = {k} is NaN or +inf in some fold; choose another scoring")
                scores[k] = values
                log.info("k = %d: score %.4g ± %.2g", k, values.mean(), standard_errors(values[None])[0])
            return {k: float(values.mean()) for k, values in scores.items()}

        self.evaluate_ks(whole, min(fold.n_training for fold in folds), evaluate)
        return scores


class _Fold:
    """Solutions on the training part of a split, which is independent of all others, scored on its held-out part."""

    def __init__(self, model: ChosenK, samples: Samples, train: IntArray, test: IntArray, scorer: Any) -> None:
        training = samples.select_rows(train)
        self.n_training = len(training)
        self._model = model.copy_for_fold(training)
        self._objective = self._model.prepare(training)
        self._solver = build_path_solver(self._model, self._objective)
        # Held-out samples have lost the names of their features, which scikit-learn would miss in predictions.
        self._model.__dict__.pop("feature_names_in_", None)
        self._held_out, self._scorer = samples.select_rows(test), scorer

    def scores(self, ks: list[int]) -> list[float]:
        """Solve for these k, and score each solution on the held-out samples; larger is better."""
        self._solver.solve(ks)
        return [self._score(self._solver.results[k]) for k in ks]

    def _score(self, result: Result) -> float:
        if self._scorer is None:
            return self._model.held_out_score(self._objective, result, self._held_out)
        return float(self._scorer(self._model.store_result(result), self._held_out.X, self._held_out.y))


def standard_errors(scores: Array) -> Array:
    """Standard error over the folds of each k's mean score; 0 for one fold, infinite where a score is infinite."""
    n_folds = scores.shape[1]
    if n_folds == 1:
        return np.zeros(len(scores))
    with np.errstate(invalid="ignore"):
        spread = scores.std(axis=1, ddof=1)
    return np.where(np.isfinite(scores).all(axis=1), spread / np.sqrt(n_folds), np.inf)


def choose_k(scores: Array, rule: str) -> int:
    """Position of the chosen k: the best mean score, or the first one within a standard error of it."""
    means = scores.mean(axis=1)
    best = first_best(means)
    if rule == "best":
        return best
    return int(np.argmax(means >= means[best] - standard_errors(scores)[best]))
