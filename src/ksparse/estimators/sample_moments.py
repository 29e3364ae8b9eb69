"""Few rows with the moments of many samples: least squares depends on nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky

from .._types import Array, IntArray
from ..designs import Design
from ..designs.blocked import BlockedDesign, SecondMoments, fill_rows
from .base import Samples

__all__ = [
    "SampleMoments",
    "compress_stored_samples",
    "count_variables",
    "expand_moments",
    "expand_stored_moments",
    "is_worth_it",
    "sum_stored_moments",
]

#: Samples are compressed if there are this many times as many as rows that are left. Below, a pass over all rows costs
#: hardly more than one over the compressed rows, and their moments cost more than they save.
MIN_ROW_RATIO = 4
#: Largest number of variables: the moments of each fold take the square of it in memory.
MAX_VARIABLES = 4000
#: Sums of squares about the mean that are a smaller fraction of the sums they come from have lost too many digits.
MIN_SQUARES = 1e-4
#: If the others explain a variable but for this fraction of its standard deviation, moments are not accurate enough.
MIN_RESIDUAL = 1e-5
#: Smaller mean squares have lost digits.
UNDERFLOW = 1e-280


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
            return False  # `expand_moments` refuses it
        squares = self.second.diagonal() - np.square(self.first) / self.weight
        return bool((squares < MIN_SQUARES * whole.second.diagonal()).any())


def expand_moments(moments: SampleMoments, origin: Array, samples: Samples) -> Samples | None:
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


def compress_stored_samples(samples: Samples) -> Samples | None:
    """Few rows with the moments of samples in blocks, by one pass; None if that saves nothing, or is not accurate."""
    if not is_worth_it(samples, len(samples)):
        return None
    (moments,) = sum_stored_moments(samples, None, 1)
    return expand_stored_moments(moments, moments.means, samples)


def is_worth_it(samples: Samples, n_training: int, n_labels: int = 1) -> bool:
    """Whether there are many more dense samples than variables; in blocks, whether X is larger than their moments."""
    if sparse.issparse(samples.X) or (isinstance(samples.X, Design) and not isinstance(samples.X, BlockedDesign)):
        return False
    variables = count_variables(samples)
    if variables > MAX_VARIABLES or n_training < MIN_ROW_RATIO * (variables + 1):
        return False
    n_blocks = len(samples.X.rows.sizes) if isinstance(samples.X, BlockedDesign) else 0
    return n_labels * n_blocks * variables <= len(samples)


def count_variables(samples: Samples) -> int:
    """Number of features and responses."""
    return int(samples.X.shape[1]) + (1 if samples.y.ndim == 1 else int(samples.y.shape[1]))


def sum_stored_moments(samples: Samples, labels: IntArray | None, count: int) -> list[SecondMoments]:
    """The moments of features and responses for the samples of each label, or of all: one pass."""
    assert isinstance(samples.X, BlockedDesign)
    weights = fill_rows(samples.X, 1.0) if samples.sample_weight is None else samples.sample_weight
    return samples.X.sum_moments(samples.y, weights, fill_rows(samples.X, 0) if labels is None else labels, count)


def expand_stored_moments(moments: SecondMoments, origin: Array, samples: Samples) -> Samples | None:
    """Rows with these moments, which are written about an origin near the means of all samples."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found in the sums
        apart = moments.means - origin
        second = moments.products + moments.weight * np.outer(apart, apart)
    return expand_moments(SampleMoments(moments.weight, moments.weight * apart, second), origin, samples)
