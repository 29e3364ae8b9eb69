"""Methods for survival and generalized linear models: ksparse, abess and scikit-survival's Coxnet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .families import FAMILIES, Coefficients
from .tasks import Task

__all__ = ["choose_coxnet", "choose_ridge", "make_family_estimator", "prepare_coxnet", "prepare_family_abess"]

#: Folds of the training rows in which parameters are chosen, and the smallest penalty, relative to the largest.
N_FOLDS, SMALLEST_PENALTY = 5, 0.03


def make_family_estimator(task: Task) -> Any:
    """The estimator of ksparse."""
    import ksparse

    family = FAMILIES[task.kind]
    return getattr(ksparse, family.estimator)(task.k, alpha=task.alpha, **dict(family.options))


def prepare_family_abess(search: int, task: Task, threads: int) -> Callable[[], Any]:
    """abess's estimator with a single number of features."""
    import abess

    estimator = getattr(abess, FAMILIES[task.kind].peer)
    y = task.y.astype(int) if task.kind in ("ordinal", "multinomial") else task.y

    def run() -> Any:
        model = estimator(support_size=task.k, thread=threads, important_search=search).fit(task.X, y)
        coefficients = np.asarray(model.coef_)
        if coefficients.ndim == 2 and coefficients.shape[0] != task.X.shape[1]:
            coefficients = coefficients.T
        return np.flatnonzero(coefficients.reshape(task.X.shape[1], -1).any(axis=1))

    return run


def choose_ridge(task: Task) -> Coefficients:
    """ksparse with k features and the ridges that it chooses by cross-validation."""
    import ksparse

    options = dict(FAMILIES[task.kind].options)
    return Coefficients(ksparse.SparseCoxRegressionCV(ks=[task.k], cv=N_FOLDS, **options).fit(task.X, task.y).coef_)


def choose_coxnet(task: Task) -> Coefficients:
    """The model of the lasso's path with the highest concordance index in folds, of those with at most k features."""
    from sklearn.model_selection import StratifiedKFold
    from sksurv.linear_model import CoxnetSurvivalAnalysis
    from sksurv.metrics import concordance_index_censored

    y = _as_structured(task.y)
    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=SMALLEST_PENALTY).fit(task.X, y)
    sizes = np.count_nonzero(path.coef_, axis=0)
    scores = np.zeros(len(path.alphas_))
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(task.X, y["event"]):
        model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=path.alphas_).fit(task.X[train], y[train])
        margins = task.X[test] @ model.coef_
        for position, risk in enumerate(margins.T):
            scores[position] += concordance_index_censored(y["event"][test], y["time"][test], risk)[0]
    scores[(sizes == 0) | (sizes > task.k)] = -1.0
    return Coefficients(path.coef_[:, int(np.argmax(scores))])


def _as_structured(y: Any) -> Any:
    """Times and events as scikit-survival takes them."""
    return np.array([(event > 0, time) for time, event in y], dtype=[("event", bool), ("time", float)])


def _follow_coxnet(task: Task, ratio: float | None) -> Any:
    """The coefficients of the largest model with at most k features, for penalties above a fraction of the largest.

    Without a fraction it is scikit-survival's default: .0001, and .01 with more features than samples.
    """
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=ratio or "auto").fit(task.X, _as_structured(task.y))
    sizes = np.count_nonzero(path.coef_, axis=0)
    # Of several such models the last one is shrunken the least.
    return path.coef_[:, np.flatnonzero(sizes == sizes[sizes <= task.k].max())[-1]]


def prepare_coxnet(refit: bool, task: Task, threads: int, ratio: float | None) -> Callable[[], Any]:
    """Coxnet's features, or its own coefficients, which are shrunken."""

    def run() -> Any:
        coefficients = _follow_coxnet(task, ratio)
        return np.flatnonzero(coefficients) if refit else Coefficients(coefficients)

    return run
