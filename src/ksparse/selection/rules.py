"""How scores decide: from the scores of all combinations of penalties and k on each fold to a choice.

Scores have the axes: penalty of the selection, k, penalty of the coefficients, fold. Larger is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Array, IntArray, Mask
from .schedule import find_first_best

__all__ = ["RULES", "Choice", "Comparison", "choose", "compare", "compute_deviations", "compute_standard_errors"]

RULES = ("smooth", "near", "best", "1se")

# How the constants of "smooth" were found: docs/estimators.md, "How the choice is made".
#: Width of the kernel that averages over k, in units of log(k + 1).
K_WIDTH = 0.4
#: Scores further than this many standard errors below the best count as that far: a model that is clearly worse must
#: not pull down its neighbour.
LOWEST = 2.0
#: A k whose scores are lower by this many standard errors of the difference is not averaged with: where a necessary
#: feature is missing, the next larger k must not suffer from it.
CLEAR_DIFFERENCE = 5.0
#: Penalties are never taken whose score is lower than that of the best ones for their k by this many standard errors
#: of the latter. Of 94 cross-validations of simulated data, noisy and nearly exact, 2 would choose otherwise with 2,
#: none with 5, and with 8 no k would have other penalties.
USELESS = 10.0
#: The smallest k within this many standard errors of the best is taken. How that of "near" was found: docs/graphs.md,
#: "Shrinkage".
MARGINS = {"smooth": 0.05, "near": 0.2, "1se": 1.0}


class Choice(NamedTuple):
    """Positions of a combination on the first three axes of the scores."""

    selection: int
    k: int
    refit: int


class Comparison(NamedTuple):
    """How the k compare, each with its best penalties."""

    #: What is compared: a mean score, or an average of those of neighbours; −∞ for a k that must not be chosen.
    rates: Array
    #: The best penalties for each k.
    choices: list[Choice]
    #: Standard error of the best score.
    error: float

    def choose(self, rule: str) -> Choice:
        """The chosen combination."""
        best = find_first_best(self.rates)
        if rule == "best" or not np.isfinite(self.error):
            return self.choices[best]
        return self.choices[int(np.argmax(self.rates >= self.rates[best] - MARGINS[rule] * self.error))]


def choose(scores: Array, ks: IntArray, rule: str, errors: Array | None = None) -> Choice:
    """The chosen combination."""
    return compare(scores, ks, rule, errors).choose(rule)


def compare(scores: Array, ks: IntArray, rule: str, errors: Array | None = None) -> Comparison:
    """Compare the k by mean scores, each with its best penalties; for "near", all with one penalty of the selection.

    `errors` are standard errors of the mean scores by what else is known of them; by default those over the folds.
    """
    if rule == "near":
        return _compare_near(scores, compute_standard_errors(scores) if errors is None else errors)
    return _compare_with_best(scores, ks, rule)


def _compare_near(scores: Array, errors: Array) -> Comparison:
    """Compare the k with the weakest penalty of the selection whose best score is near the best of all.

    What the penalty of the selection and k do to a score is much alike: where one is strong, the other hardly matters,
    and the best score is one of many that differ by chance. The weakest penalty leaves most to k.
    """
    means = scores.mean(axis=-1)
    top = np.unravel_index(np.argmax(means), means.shape)
    error = float(errors[top])
    margin = MARGINS["near"] * error if np.isfinite(error) else 0.0
    weakest = int(np.argmax(means.max(axis=(1, 2)) >= means[top] - margin))
    choices = [Choice(weakest, k, find_first_best(row)) for k, row in enumerate(means[weakest])]
    return Comparison(np.array([means[choice] for choice in choices]), choices, error)


def _compare_with_best(scores: Array, ks: IntArray, rule: str) -> Comparison:
    """Compare the k, each with its best penalties, by mean scores; for "smooth", averaged over neighbours.

    Cross-validated scores of neighbouring models differ mostly by chance where samples are few, and the best of
    hundreds is the luckiest. Averaged are 1:2:1 neighbours on both axes of penalties, and all k′ that are not clearly
    worse than k, with weights exp(−½d²), d = log((k + 1)/(k′ + 1))/0.4. A k whose best score is more than two standard
    errors below the best of all must not be chosen, whatever its neighbours, nor penalties whose own score is more than
    ten below the best for their k. One fold says nothing about chance.
    """
    unit = _find_unit(scores)
    rates, choices, error = _compare_scaled(scores / unit, ks, rule)
    return Comparison(rates * unit, choices, error * unit)


def _compare_scaled(scores: Array, ks: IntArray, rule: str) -> Comparison:
    means = scores.mean(axis=-1)
    top = np.unravel_index(np.argmax(means), means.shape)
    error = _pool_errors(scores, top)
    if rule != "smooth" or not 0.0 < error < np.inf:
        choices = _find_best(means)
        own = compute_standard_errors(np.array([scores[choice] for choice in choices]))
        rates = np.array([means[choice] for choice in choices])
        return Comparison(rates, choices, float(own[find_first_best(rates)]))
    lowest = means[top] - LOWEST * error
    kernel = _weigh_distances(ks)
    lacks, floors = _compare_penalties(scores, means)
    choices = _find_best(_average_over_k(_average_penalties(lacks), kernel), means >= floors[:, None])
    weights = kernel * ~_find_clearly_worse(np.array([scores[choice] for choice in choices]))
    averages = _average_over_k(_average_penalties(np.maximum(means, lowest)), weights)
    rates = np.array([averages[choice] for choice in choices])
    return Comparison(np.where(means.max(axis=(0, 2)) >= lowest, rates, -np.inf), choices, error)


def _find_best(values: Array, allowed: Mask | None = None) -> list[Choice]:
    """The best penalties for each k, among those that are allowed."""
    choices = []
    for k in range(values.shape[1]):
        of_k = values[:, k]
        places = np.arange(of_k.size) if allowed is None else np.flatnonzero(allowed[:, k])
        selection, refit = np.unravel_index(places[find_first_best(of_k.ravel()[places])], of_k.shape)
        choices.append(Choice(int(selection), k, int(refit)))
    return choices


def _compare_penalties(scores: Array, means: Array) -> tuple[Array, Array]:
    """By how much the penalties for each k are worse than its best ones, up to some of its standard errors.

    Also, for each k, the mean score below which penalties are useless: where the best ones fit nearly exactly,
    all others count as worse by as little, and any of them might be taken.
    """
    lacks, floors = np.zeros_like(means), np.full(means.shape[1], -np.inf)
    for k in range(means.shape[1]):
        best = np.unravel_index(np.argmax(means[:, k]), means[:, k].shape)
        error = compute_standard_errors(scores[best[0], k, best[1]][None])[0]
        if np.isfinite(error):
            highest = means[best[0], k, best[1]]
            floors[k] = highest - USELESS * error
            lacks[:, k] = np.maximum(means[:, k] - highest, -LOWEST * error)
    return lacks, floors


def _pool_errors(scores: Array, top: tuple[Any, ...]) -> float:
    """The standard error of the best score, pooled with those of the next k: a few folds may differ little by luck."""
    selection, k, refit = (int(position) for position in top)
    errors = compute_standard_errors(scores[selection, max(k - 1, 0) : k + 2, refit])
    finite = errors[np.isfinite(errors)]
    own = compute_standard_errors(scores[selection, k, refit][None])[0]
    return float(np.sqrt(np.mean(np.square(finite)))) if np.isfinite(own) else np.inf


def _weigh_distances(ks: IntArray) -> Array:
    """Weight of each k′ in the average for each k, by their distance."""
    places = np.log1p(np.asarray(ks, dtype=np.float64))
    weights: Array = np.exp(-0.5 * np.square((places[:, None] - places) / K_WIDTH))
    return weights


def _find_clearly_worse(by_k: Array) -> Mask:
    """For each k (rows), which k′ has clearly lower scores, fold by fold."""
    with np.errstate(invalid="ignore"):
        differences = by_k[None] - by_k[:, None]
        errors = differences.std(axis=-1, ddof=1) / np.sqrt(differences.shape[-1])
        worse: Mask = ~(differences.mean(axis=-1) >= -CLEAR_DIFFERENCE * errors)
    np.fill_diagonal(worse, False)
    return worse


def _average_over_k(values: Array, weights: Array) -> Array:
    return np.einsum("kj,ajr->akr", weights / weights.sum(axis=1, keepdims=True), values)


def _average_penalties(values: Array) -> Array:
    return _average_neighbours(_average_neighbours(values, 0), 2)


def _average_neighbours(values: Array, axis: int) -> Array:
    """Each value averaged with its neighbours on an axis, with weights 1:2:1; at an end, with itself on that side."""
    padded = np.pad(values, [(1, 1) if i == axis else (0, 0) for i in range(values.ndim)], mode="edge")
    size = values.shape[axis]
    before, after = (np.take(padded, range(start, start + size), axis) for start in (0, 2))
    return 0.25 * (before + 2.0 * values + after)


def compute_standard_errors(scores: Array) -> Array:
    """Standard errors of means over the folds, the last axis; 0 for one fold, infinite where a score is infinite."""
    n_folds = scores.shape[-1]
    if n_folds == 1:
        return np.zeros(scores.shape[:-1])
    return np.where(np.isfinite(scores).all(axis=-1), compute_deviations(scores, ddof=1) / np.sqrt(n_folds), np.inf)


def compute_deviations(scores: Array, ddof: int = 0) -> Array:
    """Standard deviation over the folds of each row's scores, whatever their units."""
    unit = _find_unit(scores)
    with np.errstate(invalid="ignore"):
        return unit * (scores / unit).std(axis=-1, ddof=ddof)


def _find_unit(scores: Array) -> float:
    """The power of two next to the largest score: squares of scores in these units neither overflow nor underflow."""
    sizes = np.abs(scores[np.isfinite(scores)])
    exponent = int(np.frexp(sizes.max(initial=0.0))[1])
    return float(np.ldexp(1.0, min(max(exponent, -1000), 1000)))
