"""Resamples of the samples of a fit, and what the whole selection gives on each of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from .._types import AnyArray, Array, IntArray, Mask
from ..threads import one_thread
from ..weights import count_weighted_samples
from .ordinary import OrdinaryFit, fit_ordinary

__all__ = ["Resamples", "bootstrap_model", "draw_bootstrap", "draw_halves", "split_model"]


@dataclass(frozen=True)
class Resamples:
    """What models fitted to resamples have selected and estimated.

    Attributes
    ----------
    selected : ndarray of bool, shape (n_resamples, n_features)
        The features that each model has selected.
    coefficients : ndarray of shape (n_resamples, n_outputs, n_reported)
        Their coefficients of the features that are reported, 0 where they are not selected.
    n_unfinished : int
        Number of fits that did not converge.
    """

    selected: Mask
    coefficients: Array
    n_unfinished: int


def draw_halves(labels: AnyArray, generator: np.random.RandomState) -> tuple[IntArray, IntArray]:
    """Two random disjoint halves of the samples, each with half of the samples of each label."""
    order = generator.permutation(len(labels))
    # Sorted by label, every other sample goes to the other half.
    order = order[np.argsort(labels[order], kind="stable")]
    return np.sort(order[0::2]), np.sort(order[1::2])


def draw_bootstrap(labels: AnyArray, sample_weight: Array | None, generator: np.random.Generator) -> Array:
    """Weights of the samples in a bootstrap resample, which has as many samples of each label, or as much weight.

    Samples are drawn with replacement, with probabilities in proportion to their weights, and as many as the weights
    stand for: weights that are counts stand for as many equal samples.
    """
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    drawn = np.zeros(len(labels))
    for label in np.unique(labels):
        rows = np.flatnonzero((labels == label) & (weights > 0))
        total = float(weights[rows].sum())
        if not rows.size:
            continue
        count = max(round(count_weighted_samples(weights[rows])), 1)
        drawn[rows] = generator.multinomial(count, weights[rows] / total) * (total / count)
    return drawn


def bootstrap_model(
    model: Any, samples: Any, labels: AnyArray, reported: IntArray, seeds: Sequence[Any], n_jobs: int | None
) -> Resamples:
    """Fit the model, with its whole selection, to bootstrap resamples."""

    def draw(seed: Any) -> Any:
        weights = draw_bootstrap(labels, samples.sample_weight, np.random.default_rng(seed))
        # A sample that is drawn twice has weight 2: in cross-validation it is never in both parts of a fold.
        rows = np.flatnonzero(weights)
        return replace(samples.select_rows(rows), sample_weight=np.ascontiguousarray(weights[rows]), encoding=None)

    with one_thread():
        tasks = (delayed(_fit_resample)(model, draw(seed), reported) for seed in seeds)
        fits = Parallel(n_jobs=n_jobs)(tasks)
    selected, coefficients, finished = zip(*fits, strict=True)
    return Resamples(np.array(selected), np.array(coefficients), len(finished) - sum(finished))


def _fit_resample(model: Any, resample: Any, reported: IntArray) -> tuple[Mask, Array, bool]:
    """The selected features, the coefficients of those that are reported, and whether the fit converged."""
    fitted, finished = _fit_quietly(model, resample)
    return fitted.support_, np.atleast_2d(fitted.coef_)[:, reported], finished


def _fit_quietly(model: Any, samples: Any) -> tuple[Any, bool]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        fitted = model.copy_for_fold(samples).fit_samples(samples)
    return fitted, not any(issubclass(each.category, ConvergenceWarning) for each in caught)


def split_model(
    model: Any, samples: Any, labels: AnyArray, count: int, random_state: int, n_jobs: int | None
) -> tuple[Mask, list[OrdinaryFit]]:
    """Select on a random half of the samples and fit the selected features to the other half, many times."""
    generator = np.random.RandomState(random_state)
    halves = [draw_halves(labels, generator) for _ in range(count)]
    with one_thread():
        tasks = (delayed(_select_and_fit)(model, *map(samples.select_rows, half)) for half in halves)
        fits = Parallel(n_jobs=n_jobs)(tasks)
    return np.array([support for support, _ in fits]), [fit for _, fit in fits]


def _select_and_fit(model: Any, first: Any, second: Any) -> tuple[Mask, OrdinaryFit]:
    fitted, _ = _fit_quietly(model, first)
    return fitted.support_, fit_ordinary(model, second, np.flatnonzero(fitted.support_))
