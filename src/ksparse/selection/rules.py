"""How scores decide: from the scores of all combinations of penalties and k on each fold to a choice.

Scores have the axes: penalty of the selection, k, penalty of the coefficients, fold. Larger is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray
from .schedule import first_best

__all__ = ["RULES", "Choice", "choose", "choose_penalties", "rate", "standard_errors"]

RULES = ("smooth", "best", "1se")

# How the constants of "smooth" were found: docs/estimators.md, "How the choice is made".
#: Width of the kernel that averages over k, in units of log(k + 1).
K_WIDTH = 0.4
#: Scores further than this many standard errors below the best count as that far: a model that is clearly worse must
#: not pull down its neighbour.
LOWEST = 2.0
#: A k whose scores are lower by this many standard errors of the difference is not averaged with: where a necessary
#: feature is missing, the next larger k must not suffer from it.
CLEAR_DIFFERENCE = 5.0
#: The smallest k within this many standard errors of the best is taken.
INDIFFERENCE = 0.05


class Choice(NamedTuple):
    """Positions of a combination on the first three axes of the scores."""

    selection: int
    k: int
    refit: int


def choose(scores: Array, ks: IntArray, rule: str) -> Choice:
    """The chosen combination: of those for one k always the one of `choose_penalties`."""
    rates, penalties = rate(scores, ks, rule), choose_penalties(scores, ks, rule)
    by_k = np.array([rates[selection, k, refit] for selection, k, refit in penalties])
    best = first_best(by_k)
    if rule == "best":
        return penalties[best]
    margin = INDIFFERENCE if rule == "smooth" else 1.0
    error = standard_errors(scores[penalties[best]][None])[0]
    return penalties[int(np.argmax(by_k >= by_k[best] - margin * error)) if np.isfinite(error) else best]


def choose_penalties(scores: Array, ks: IntArray, rule: str) -> list[Choice]:
    """The best penalties for each k."""
    rates = rate(scores, ks, rule)
    choices = []
    for k in range(scores.shape[1]):
        selection, refit = np.unravel_index(first_best(rates[:, k].ravel()), rates[:, k].shape)
        choices.append(Choice(int(selection), k, int(refit)))
    return choices


def rate(scores: Array, ks: IntArray, rule: str) -> Array:
    """What is compared: mean scores over the folds; for "smooth", averaged over neighbouring combinations.

    Cross-validated scores of neighbouring models differ mostly by chance where samples are few, and the best of
    hundreds is the luckiest. Averaged are 1:2:1 neighbours on both axes of penalties, and all k′ that are not clearly
    worse than k, with weights exp(−½d²), d = log((k + 1)/(k′ + 1))/0.4. One fold says nothing about chance.
    """
    means = scores.mean(axis=-1)
    if rule != "smooth":
        return means
    best = np.unravel_index(np.argmax(means), means.shape)
    error = standard_errors(scores[best][None])[0]
    if not 0.0 < error < np.inf:  # one fold says nothing about chance
        return means
    rates = np.maximum(means, means[best] - LOWEST * error)
    rates = _average_neighbours(_average_neighbours(rates, 0), 2)
    weights = _weigh_neighbours(scores, rates, ks)
    return np.einsum("kj,ajr->akr", weights / weights.sum(axis=1, keepdims=True), rates)


def _weigh_neighbours(scores: Array, rates: Array, ks: IntArray) -> Array:
    """Weight of each k′ in the average for each k; 0 where k′, with its best penalties, is clearly worse than k."""
    places = np.log1p(np.asarray(ks, dtype=np.float64))
    weights = np.exp(-0.5 * np.square((places[:, None] - places) / K_WIDTH))
    best = [np.unravel_index(np.argmax(rates[:, k]), rates[:, k].shape) for k in range(len(places))]
    by_k = np.array([scores[selection, k, refit] for k, (selection, refit) in enumerate(best)])
    with np.errstate(invalid="ignore"):
        differences = by_k[None] - by_k[:, None]
        errors = differences.std(axis=-1, ddof=1) / np.sqrt(differences.shape[-1])
        is_worse = ~(differences.mean(axis=-1) >= -CLEAR_DIFFERENCE * errors)
    is_worse[np.diag_indices_from(is_worse)] = False
    return np.where(is_worse, 0.0, weights)


def _average_neighbours(values: Array, axis: int) -> Array:
    """Each value averaged with its neighbours on an axis, with weights 1:2:1; at an end, with itself on that side."""
    padded = np.pad(values, [(1, 1) if i == axis else (0, 0) for i in range(values.ndim)], mode="edge")
    size = values.shape[axis]
    before, after = (np.take(padded, range(start, start + size), axis) for start in (0, 2))
    return 0.25 * (before + 2.0 * values + after)


def standard_errors(scores: Array) -> Array:
    """Standard error over the folds of each row's mean score; 0 for one fold, infinite where a score is infinite."""
    n_folds = scores.shape[1]
    if n_folds == 1:
        return np.zeros(len(scores))
    with np.errstate(invalid="ignore"):
        spread = scores.std(axis=1, ddof=1)
    return np.where(np.isfinite(scores).all(axis=1), spread / np.sqrt(n_folds), np.inf)
