"""Few rows in place of many: samples with the same weighted means and second moments.

Least squares depends on samples by their means and second moments only. With q variables (features and responses),
q + 1 rows have the same moments as n: fits, standardization and mean squared errors of them are the same, up to
rounding, for every ridge, support and bound. The moments of a fold's training part are those of all samples minus
those of its held-out part: one pass over the data serves all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from .._types import Array, IntArray
from ..designs import Design
from ..designs.dense import compute_gram
from ..estimators import Samples, SparseEstimator

__all__ = ["SplitSamples", "compress_for_fits", "compress_samples", "split_samples"]

#: Samples are compressed if there are this many times as many as rows that are left. Below, a pass over all rows costs
#: hardly more than one over the compressed rows, and their moments cost more than they save.
MIN_ROW_RATIO = 4
#: Largest number of variables: the moments of each fold take the square of it in memory.
MAX_VARIABLES = 4000
#: Rows are read in blocks of about this many numbers.
BLOCK_SIZE = 2**22
#: Sums of squares about the mean that are a smaller fraction of the sums they come from have lost too many digits.
MIN_SQUARES = 1e-4
#: If the others explain a variable but for this fraction of its standard deviation, moments are not accurate enough.
MIN_RESIDUAL = 1e-5
#: Smaller mean squares have lost digits.
UNDERFLOW = 1e-280


class SplitSamples(NamedTuple):
    """All samples, and the training and held-out part of each split."""

    whole: Samples
    folds: list[tuple[Samples, Samples]]


class SampleMoments(NamedTuple):
    """Sums over samples of weights, of the weighted variables, and of their weighted products, about an origin."""

    weight: float
    first: Array
    second: Array

    def subtract(self, part: SampleMoments) -> SampleMoments:
        """The moments of the other samples."""
        return SampleMoments(self.weight - part.weight, self.first - part.first, self.second - part.second)

    def has_lost_digits(self, whole: SampleMoments) -> bool:
        """Whether the variance of a variable is too small a part of the sums that it was computed from."""
        if not self.weight > 0:
            return False  # `_expand` refuses it
        squares = self.second.diagonal() - np.square(self.first) / self.weight
        return bool((squares < MIN_SQUARES * whole.second.diagonal()).any())


def split_samples(
    model: SparseEstimator, samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], *, scores_moments: bool
) -> SplitSamples:
    """The parts of each split; compressed where the model depends on moments only and that saves work.

    With `scores_moments`, the scores of held-out samples depend on moments only too.
    """
    fewest = min(len(train) for train, _ in splits)
    if _may_compress(model, samples, fewest):
        compress = _compress_splits if samples.encoding is None else _compress_encoded
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
    return _expand(_sum_moments(samples, np.arange(len(samples)), origin), origin, samples)


def compress_for_fits(model: SparseEstimator, samples: Samples) -> Samples | None:
    """The samples for several fits of all of them, compressed; None where that is not possible or saves no work."""
    return compress_samples(samples) if _may_compress(model, samples, len(samples)) else None


def _may_compress(model: SparseEstimator, samples: Samples, n_training: int) -> bool:
    in_memory = not (sparse.issparse(samples.X) or isinstance(samples.X, Design))
    if not in_memory or samples.offset is not None or not model.depends_on_moments():
        return False
    variables = _count_variables(samples)
    return variables <= MAX_VARIABLES and n_training >= MIN_ROW_RATIO * (variables + 1)


def _count_variables(samples: Samples) -> int:
    return int(samples.X.shape[1]) + (1 if samples.y.ndim == 1 else int(samples.y.shape[1]))


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
    whole, folds = _expand(total, origin, samples), []
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
            else _expand(moments, origin, samples)
        )
        compress_held_out = scores_moments and len(test) > len(total.first) + 1 and not part.has_lost_digits(part)
        held_out = _expand(part, origin, samples) if compress_held_out else None
        if whole is None or training is None:
            return None
        folds.append((training, samples.select_rows(test) if held_out is None else held_out))
    return None if whole is None else SplitSamples(whole, folds)


def _compress_encoded(
    samples: Samples, splits: Sequence[tuple[IntArray, IntArray]], scores_moments: bool
) -> SplitSamples | None:
    """The same for features of a table, which each fold encodes anew: its moments are not those of other rows."""
    whole, folds = compress_samples(samples), []
    if whole is None:
        return None
    for train, test in splits:
        training, held_out = samples.split(train, test)
        few = compress_samples(training)
        # An encoder may find features in a fold that others determine; that fold keeps its samples.
        training = training if few is None else replace(few, encoding=training.encoding)
        few = compress_samples(held_out) if scores_moments and len(held_out) > _count_variables(held_out) + 1 else None
        folds.append((training, held_out if few is None else few))
    return SplitSamples(whole, folds)


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


def _expand(moments: SampleMoments, origin: Array, samples: Samples) -> Samples | None:
    """Rows with these moments: the mean plus an orthonormal basis, orthogonal to 1, times a root of the covariance."""
    if not (np.isfinite(moments.second).all() and moments.weight > 0):
        return None
    squares = moments.second.diagonal() / moments.weight
    if not squares.any() or ((squares > 0) & (squares < UNDERFLOW)).any():
        return None
    mean = moments.first / moments.weight
    covariance = moments.second / moments.weight - np.outer(mean, mean)
    deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    varies = deviations > 1e-8 * np.sqrt(moments.second.diagonal() / moments.weight)
    safe = np.where(varies, deviations, 1.0)
    correlation = covariance / safe / safe[:, None]
    correlation[~varies] = correlation[:, ~varies] = 0.0
    np.fill_diagonal(correlation, 1.0)
    try:
        root = cholesky(correlation)
    except LinAlgError:
        return None
    if root.diagonal().min() < MIN_RESIDUAL:
        return None
    root *= np.where(varies, deviations, 0.0)
    count = origin.size + 1
    # The reflection that takes the last unit vector to 1/√m takes the other ones to an orthonormal basis of the rest.
    normal = np.full(count, -1.0 / np.sqrt(count))
    normal[-1] += 1.0
    normal /= np.linalg.norm(normal)
    rows = np.vstack([root, np.zeros(origin.size)])
    rows -= 2.0 * np.outer(normal, normal[:-1] @ root)
    rows = rows * np.sqrt(count) + mean + origin
    n_features = samples.X.shape[1]
    y = rows[:, n_features] if samples.y.ndim == 1 else rows[:, n_features:]
    return Samples(np.asfortranarray(rows[:, :n_features]), y, np.full(count, moments.weight / count))
