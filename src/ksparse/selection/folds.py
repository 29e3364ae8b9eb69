"""Cross-validation of k, whatever the model: solutions for more and more k on all samples and on each fold."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed

from .._types import Array
from ..threads import one_thread
from .choosing import tried
from .growth import Growth, first_best
from .pathwise import PathSolver

__all__ = ["Fold", "check_rule", "check_splits", "choose", "cross_validate", "standard_errors"]

log = logging.getLogger(__name__)


class Fold(Protocol):
    """The training part of a split with its solutions, which know nothing of any other, and its held-out part."""

    def scores(self, ks: list[int]) -> list[float]:
        """Solve for these k, and score each on the held-out samples; larger is better."""
        ...


def cross_validate(
    ks: Any, whole: PathSolver, growth: Growth, folds: Sequence[Fold], *, rule: str, n_jobs: int | None
) -> tuple[int, Array]:
    """The k that a rule chooses by its scores on the folds, its solution polished, and the scores of each k.

    Parameters
    ----------
    ks : "auto" or sequence of int
        As the user gave it.
    whole : PathSolver
        The problem on all samples; it then has the solutions.
    growth : Growth
        What "auto" tries.
    folds : sequence of Fold
        The folds.
    rule : {"best", "1se"}
        How to choose.
    n_jobs : int, optional
        Folds side by side.

    Returns
    -------
    int, ndarray of shape (n_ks, n_folds)
        The chosen k, and the scores of each k in increasing order.
    """
    scores: dict[int, Array] = {}

    def score(more: list[int]) -> dict[int, float]:
        # One thread each: what runs side by side are the folds, which share the data and keep their solutions.
        with one_thread():
            jobs = [delayed(whole.solve)(more), *(delayed(fold.scores)(more) for fold in folds)]
            _, *columns = Parallel(n_jobs=n_jobs, require="sharedmem")(jobs)
        for k, values in zip(more, np.array(columns).T, strict=True):
            if np.isnan(values).any() or np.isposinf(values).any():
                raise ValueError(f"the score of k = {k} is no number in some fold; choose another scoring")
            scores[k] = values
            log.info("k = %d: score %.4g ± %.2g", k, values.mean(), standard_errors(values[None])[0])
        return {k: float(values.mean()) for k, values in scores.items()}

    tried(ks, whole, growth, score)
    known = sorted(scores)
    table = np.array([scores[k] for k in known])
    chosen = known[choose(table, rule)]
    whole.refine(chosen)
    return chosen, table


def check_rule(rule: Any) -> None:
    """Refuse an unknown rule."""
    if rule not in ("best", "1se"):
        raise ValueError(f'rule must be "best" or "1se", got {rule!r}')


def check_splits(splits: Any) -> list[tuple[Any, Any]]:
    """The splits as a list, which must not be empty."""
    listed = list(splits)
    if not listed:
        raise ValueError("cv gives no splits; pass at least one, and remember that an iterator gives them only once")
    return listed


def standard_errors(scores: Array) -> Array:
    """Standard error over the folds of each k's mean score; 0 for one fold, infinite where a score is."""
    n_folds = scores.shape[1]
    if n_folds == 1:
        return np.zeros(len(scores))
    with np.errstate(invalid="ignore"):
        spread = scores.std(axis=1, ddof=1)
    return np.where(np.isfinite(scores).all(axis=1), spread / np.sqrt(n_folds), np.inf)


def choose(scores: Array, rule: str) -> int:
    """Position of the chosen k: the best mean score, or the first one within a standard error of it."""
    means = scores.mean(axis=1)
    best = first_best(means)
    if rule == "best":
        return best
    return int(np.argmax(means >= means[best] - standard_errors(scores)[best]))
