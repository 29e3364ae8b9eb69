"""Bootstrap intervals of functions of means over rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from .._types import Array

__all__ = ["bootstrap_means"]

#: The weights of the resamples are drawn in blocks of about this many numbers.
BLOCK_NUMBERS = 2**22


def bootstrap_means(
    rows: Array, combine: Callable[[Array], Array], *, level: float, resamples: int, random_state: int
) -> tuple[float, float]:
    """The BCa interval of a function of the means of some columns.

    The rows are resampled with replacement; the percentiles are corrected for bias and acceleration (Efron, *Better
    bootstrap confidence intervals*, JASA 82, 1987).

    Parameters
    ----------
    rows : ndarray of shape (n, c)
        The columns.
    combine : callable
        From means of shape (m, c) to m values.
    level : float
        The level of the interval.
    resamples, random_state : int
        Number of resamples, and their seed.

    Returns
    -------
    tuple of float
        The ends of the interval; NaN if there are fewer than two rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference.row_bootstrap import bootstrap_means
    >>> rows = np.random.default_rng(0).exponential(size=(200, 1))
    >>> low, high = bootstrap_means(rows, lambda means: means[:, 0], level=0.95, resamples=2000, random_state=0)
    >>> round(low, 2), round(high, 2), round(float(rows.mean()), 2)
    (1.0, 1.28, 1.13)
    """
    n = len(rows)
    if n < 2:
        return np.nan, np.nan
    generator = np.random.default_rng(random_state)
    size, drawn = max(BLOCK_NUMBERS // n, 1), []
    for start in range(0, resamples, size):
        counts = generator.multinomial(n, np.full(n, 1.0 / n), size=min(size, resamples - start))
        drawn.append(combine(counts @ rows / n))
    total = rows.sum(axis=0)
    value, left_out = float(combine(total[None] / n)[0]), combine((total - rows) / (n - 1))
    values = np.concatenate(drawn)
    values, left_out = values[~np.isnan(values)], left_out[np.isfinite(left_out)]
    if not values.size or np.isnan(value):
        return np.nan, np.nan
    # Values that are equal to the estimate count half, so that discrete statistics have no bias.
    below = (np.sum(values < value) + 0.5 * np.sum(values == value)) / values.size
    bias = stats.norm.ppf(np.clip(below, 0.5 / values.size, 1.0 - 0.5 / values.size))
    quantiles = bias + stats.norm.ppf([0.5 - 0.5 * level, 0.5 + 0.5 * level])
    levels = stats.norm.cdf(bias + quantiles / (1.0 - _find_acceleration(left_out) * quantiles))
    low, high = np.quantile(values, np.sort(levels))
    return float(low), float(high)


def _find_acceleration(left_out: Array) -> float:
    """Efron's acceleration, a sixth of the skewness of the jackknife values."""
    deviations = left_out.mean() - left_out if left_out.size else np.zeros(1)
    squares = float(np.square(deviations).sum())
    return float((deviations**3).sum() / (6.0 * squares**1.5)) if squares > 0 else 0.0
