"""Intervals of coefficients and frequencies of selection: by the bootstrap, by sample splitting, and naive ones."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._types import AnyArray, Array, IntArray, Mask
from .ordinary import OrdinaryFit, fit_ordinary
from .resampling import bootstrap_model, split_model

__all__ = ["Request", "Uncertainty", "aggregate_splits", "estimate_uncertainty"]


@dataclass(frozen=True)
class Request:
    """What a user asks of a summary: the options of the method `summary`."""

    intervals: str | None
    level: float
    resamples: int
    repeat_choice: bool
    replacements: int
    random_state: int
    n_jobs: int | None

    @property
    def percent(self) -> str:
        """The level in percent."""
        return f"{100 * self.level:g} %"


@dataclass(frozen=True)
class Uncertainty:
    """Intervals of the coefficients that are reported, and what else resamples tell.

    Attributes
    ----------
    low, high : ndarray of shape (n_outputs, n_reported)
        The ends of the intervals; infinite where the samples do not determine a coefficient.
    notes : tuple of str
        What the intervals are, and what went wrong.
    p_values : ndarray of the same shape, or None
        P-values, where they mean something.
    selected : ndarray of bool, shape (n_resamples, n_features), or None
        The features that were selected on each resample.
    """

    low: Array
    high: Array
    notes: tuple[str, ...]
    p_values: Array | None = None
    selected: Mask | None = None


def estimate_uncertainty(model: Any, fixed: Any, samples: Any, reported: IntArray, request: Request) -> Uncertainty:
    """Intervals for the coefficients of some features of a fitted model.

    `fixed` is the model with the k and the penalties that `model` has chosen.
    """
    if request.intervals == "naive":
        return _make_naive_intervals(fixed, samples, reported, request)
    repeated = model if request.repeat_choice else fixed
    cv = getattr(repeated, "cv", None)
    if not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split")):
        raise ValueError(
            "repeat_choice needs a model whose cv is a number of folds or a splitter, not a list of splits"
        )
    labels = model.stratify(samples.y)
    if labels is None:
        labels = np.zeros(len(samples), dtype=np.intp)
    if request.intervals == "bootstrap":
        return _bootstrap(repeated, samples, labels, reported, request)
    return _split(repeated, samples, labels, reported, request)


def _describe_selection(request: Request) -> str:
    return "the whole selection, with the choice of k and ridges," if request.repeat_choice else "the whole selection"


def _bootstrap(model: Any, samples: Any, labels: AnyArray, reported: IntArray, request: Request) -> Uncertainty:
    count = request.resamples
    seeds = np.random.SeedSequence(request.random_state).spawn(count)
    resamples = bootstrap_model(model, samples, labels, reported, seeds, request.n_jobs)
    tails = [0.5 - 0.5 * request.level, 0.5 + 0.5 * request.level]
    low, high = np.quantile(resamples.coefficients, tails, axis=0, method="weibull")
    notes = [
        f"{request.percent} interval: percentiles of the coefficient over {count} bootstrap resamples, each with "
        f"{_describe_selection(request)} repeated; it is 0 where the feature is not selected. selected: in how many."
    ]
    if (count + 1) * tails[0] < 1.0:
        notes.append(
            f"{request.percent} interval: {count} resamples are too few for percentiles; the ends are the extremes"
        )
    if resamples.n_unfinished:
        notes.append(
            f"on {resamples.n_unfinished} of {count} resamples the solver did not converge; a ridge (alpha) may help"
        )
    return Uncertainty(low, high, tuple(notes), selected=resamples.selected)


def _split(model: Any, samples: Any, labels: AnyArray, reported: IntArray, request: Request) -> Uncertainty:
    _, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            'intervals="split" needs at least 2 samples of each class, one for each half; use intervals="bootstrap"'
        )
    count = request.resamples
    selected, fits = split_model(model, samples, labels, count, request.random_state, request.n_jobs)
    low, high, p_values = aggregate_splits(fits, reported, request.level)
    aggregated = (
        ""
        if count == 1
        else (
            f" They are aggregated over {count} random splits: points within at least half of the "
            f"{100 * (0.5 + 0.5 * request.level):g} % intervals, and twice the median p-value (Meinshausen, Meier and "
            "Bühlmann 2009); a feature that is selected on fewer than half of the halves has no finite interval."
        )
    )
    notes = [
        f"{request.percent} interval and p-value: features selected on one half of the samples, with "
        f"{_describe_selection(request)}, and fitted without a ridge to the other half. They hold for the model "
        f"selected on half of the samples; p-values are multiplied by its number of coefficients.{aggregated} "
        "selected: on how many of the halves."
    ]
    undetermined = sum(bool(np.isinf(fit.errors).all()) for fit in fits if fit.features.size)
    if undetermined:
        notes.append(
            f"on {undetermined} of {count} second halves the fit without a ridge has no unique minimum (classes are "
            "separated, or there are too few samples): their intervals are infinite"
        )
    return Uncertainty(low, high, tuple(notes), p_values, selected)


def aggregate_splits(fits: list[OrdinaryFit], reported: IntArray, level: float) -> tuple[Array, Array, Array]:
    """Intervals and p-values of some features from fits to the second halves of several splits.

    With B > 1 splits, the p-value of a coefficient is 2·median_b min(1, p_b·|S_b|), with |S_b| the number of
    coefficients of split b, and p_b = 1 where the feature is not selected (Meinshausen, Meier and Bühlmann 2009, with
    γ = ½). The interval has the values that this rule does not reject, without the factor |S_b|: those within at least
    half of the intervals of level (1 + level)/2.
    """
    many = len(fits) > 1
    shape = (len(fits), len(fits[0].coefficients), reported.size)
    lows, highs, p_values = np.full(shape, -np.inf), np.full(shape, np.inf), np.ones(shape)
    for split, fit in enumerate(fits):
        position = {feature: place for place, feature in enumerate(fit.features.tolist())}
        here = [place for place, feature in enumerate(reported.tolist()) if feature in position]
        there = [position[int(reported[place])] for place in here]
        low, high = fit.compute_intervals(0.5 + 0.5 * level if many else level)
        lows[split][:, here], highs[split][:, here] = low[:, there], high[:, there]
        p_values[split][:, here] = np.minimum(fit.compute_p_values()[:, there] * fit.coefficients.size, 1.0)
    if not many:
        return lows[0], highs[0], p_values[0]
    # A point is within at least half of the intervals only if it is above the lower ends of at least half of them, and
    # below the upper ends of at least half: for intervals about nearby estimates, the converse holds too.
    needed = -(-len(fits) // 2)
    low, high = np.sort(lows, axis=0)[needed - 1], np.sort(highs, axis=0)[len(fits) - needed]
    return low, high, np.minimum(2.0 * np.median(p_values, axis=0), 1.0)


def _make_naive_intervals(model: Any, samples: Any, reported: IntArray, request: Request) -> Uncertainty:
    fit = fit_ordinary(model, samples, reported)
    low, high = fit.compute_intervals(request.level)
    notes = [
        f"{request.percent} interval, naive: as if the features had been fixed in advance. It ignores that they were "
        "selected on the same samples, and is too short and too far from 0. It is of a fit without a ridge."
    ]
    if np.isinf(fit.errors).any():
        notes.append(
            "the fit without a ridge has no unique minimum (classes are separated, or there are too few samples): the "
            "intervals are infinite"
        )
    return Uncertainty(low, high, tuple(notes))
