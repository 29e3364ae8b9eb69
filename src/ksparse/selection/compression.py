"""Few rows in place of many: samples with the same weighted means and second moments.

Least squares depends on samples by their means and second moments only. With q variables (features and responses),
q + 1 rows have the same moments as n: fits, standardization and mean squared errors of them are the same, up to
rounding, for every ridge, support and bound. The moments of a fold's training part are those of all samples minus
those of its held-out part: one pass over the data serves all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from .._types import Array, IntArray
from ..designs import BlockedDesign
from ..designs.blocked import SecondMoments
from ..designs.dense import compute_gram
from ..estimators import Samples, SparseEstimator
from ..estimators.sample_moments import (
    SampleMoments,
    compress_stored_samples,
    count_variables,
    expand_moments,
    expand_stored_moments,
    is_worth_it,
    sum_stored_moments,
)

__all__ = ["SplitSamples", "compress_for_fits", "compress_samples", "split_samples"]

#: Rows are read in blocks of about this many numbers.
BLOCK_SIZE = 2**22


class SplitSamples(NamedTuple):
    """All samples, and the training and held-out part of each split."""

    whole: Samples
    folds: list[tuple[Samples, Samples]]


def split_samples(
    model: SparseEstimator, samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], *, scores_moments: bool
) -> SplitSamples:
    """The parts of each split; compressed where the model depends on moments only and that saves work.

    With `scores_moments`, the scores of held-out samples depend on moments only too.
    """
    fewest = min(len(train) for train, _ in splits)
    if _may_compress(model, samples, fewest, len(splits)):
        compress = _compress_stored_splits if isinstance(samples.X, BlockedDesign) else _compress_splits
        compress = compress if samples.encoding is None else _compress_encoded
        compressed = compress(samples, splits, scores_moments)
        if compressed is not None:
            return compressed
    return SplitSamples(samples, [samples.split(train, test) for train, test in splits])


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is found in the sums
def compress_samples(samples: Samples) -> Samples | None:
    """One row more than there are variables, with the same moments; None if they would not be accurate enough.

    Parameters
    ----------
    samples : Samples
        Dense features, and responses that are numbers.

    Returns
    -------
    Samples or None
        The rows, each with the same weight.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators import Samples
    >>> from ksparse.selection.compression import compress_samples
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> few = compress_samples(Samples(X, X[:, 0] + X[:, 1] ** 2))
    >>> few.X.shape, bool(np.allclose(np.cov(few.X.T, ddof=0), np.cov(X.T, ddof=0)))
    ((4, 2), True)
    """
    origin = _find_origin(samples)
    return expand_moments(_sum_moments(samples, np.arange(len(samples)), origin), origin, samples)


def compress_for_fits(model: SparseEstimator, samples: Samples) -> Samples | None:
    """The samples for several fits of all of them, compressed; None where that is not possible or saves no work."""
    return _compress(samples) if _may_compress(model, samples, len(samples)) else None


def _compress(samples: Samples) -> Samples | None:
    return compress_stored_samples(samples) if isinstance(samples.X, BlockedDesign) else compress_samples(samples)


def _may_compress(model: SparseEstimator, samples: Samples, n_training: int, n_parts: int = 1) -> bool:
    return samples.offset is None and model.depends_on_moments() and is_worth_it(samples, n_training, n_parts)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is found in the sums
def _compress_splits(
    samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], scores_moments: bool
) -> SplitSamples | None:
    origin, n = _find_origin(samples), len(samples)
    parts = [_sum_moments(samples, test, origin) for _, test in splits]
    times_held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)
    if (times_held_out == 1).all():
        total = SampleMoments(*(sum(terms) for terms in zip(*parts, strict=True)))
    else:
        total = _sum_moments(samples, np.arange(n), origin)
    whole, folds = expand_moments(total, origin, samples), []
    for (train, test), part in zip(splits, parts, strict=True):
        complement = (
            len(train) + len(test) == n and not np.isin(train, test).any() and np.unique(train).size == len(train)
        )
        moments = total.subtract(part) if complement else _sum_moments(samples, train, origin)
        # Where little is left of a variable's squares, most digits are lost: sums about the means of the part keep
        # them.
        training = (
            compress_samples(samples.select_rows(train))
            if moments.has_lost_digits(total)
            else expand_moments(moments, origin, samples)
        )
        compress_held_out = scores_moments and len(test) > len(total.first) + 1 and not part.has_lost_digits(part)
        held_out = expand_moments(part, origin, samples) if compress_held_out else None
        if whole is None or training is None:
            return None
        folds.append((training, samples.select_rows(test) if held_out is None else held_out))
    return None if whole is None else SplitSamples(whole, folds)


def _compress_encoded(
    samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], scores_moments: bool
) -> SplitSamples | None:
    """The same for features of a table, which each fold encodes anew: its moments are not those of other rows."""
    whole, folds = _compress(samples), []
    if whole is None:
        return None
    for train, test in splits:
        training, held_out = samples.split(train, test)
        few = _compress(training)
        # An encoder may find features in a fold that others determine; that fold keeps its samples.
        training = training if few is None else replace(few, encoding=training.encoding)
        few = _compress(held_out) if scores_moments and len(held_out) > count_variables(held_out) + 1 else None
        folds.append((training, held_out if few is None else few))
    return SplitSamples(whole, folds)


def _compress_stored_splits(
    samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], scores_moments: bool
) -> SplitSamples | None:
    """One pass over X in blocks, where each sample is held out once; the moments of other folds are added up."""
    labels, n = np.full(len(samples), -1), len(samples)
    for label, (train, test) in enumerate(splits):
        if (labels[test] >= 0).any() or len(train) + len(test) != n or np.isin(train, test).any():
            return None
        labels[test] = label
    if (labels < 0).any():
        return None
    parts = sum_stored_moments(samples, labels, len(splits))
    total = reduce(SecondMoments.add, parts)
    whole, folds = expand_stored_moments(total, total.means, samples), []
    for i, (_, test) in enumerate(splits):
        others = reduce(SecondMoments.add, parts[:i] + parts[i + 1 :])
        training = expand_stored_moments(others, total.means, samples)
        compress = scores_moments and len(test) > len(total.means) + 1
        held_out = expand_stored_moments(parts[i], total.means, samples) if compress else None
        if whole is None or training is None:
            return None
        folds.append((training, samples.select_rows(test) if held_out is None else held_out))
    return None if whole is None else SplitSamples(whole, folds)


def _find_origin(samples: Samples) -> Array:
    """A point near the means, so that sums of squares about it lose no digits."""
    y = np.asarray(samples.y, dtype=np.float64).reshape(len(samples), -1)
    weights = samples.sample_weight
    if weights is None:
        return np.concatenate([np.mean(samples.X, axis=0, dtype=np.float64), y.mean(axis=0)])
    return np.concatenate([weights @ samples.X, weights @ y]) / weights.sum()


def _sum_moments(samples: Samples, rows: IntArray, origin: Array) -> SampleMoments:
    """Moments of some samples, block by block; NaN and infinity in X make them NaN or infinite."""
    weights = np.ones(len(samples)) if samples.sample_weight is None else samples.sample_weight
    responses = np.asarray(samples.y, dtype=np.float64).reshape(len(samples), -1)
    size = max(BLOCK_SIZE // origin.size, 1)
    weight, first, second = 0.0, np.zeros(origin.size), np.zeros((origin.size, origin.size))
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        variables = np.hstack([samples.X[block], responses[block]]) - origin
        weight, first = weight + float(weights[block].sum()), first + weights[block] @ variables
        second += compute_gram(variables, weights[block])
    return SampleMoments(weight, first, second)
