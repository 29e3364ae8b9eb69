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
    rows: Array,
    combine: Callable[[Array], Array],
    *,
    level: float,
    resamples: int,
    random_state: int,
    counts: Array | None = None,
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
    counts : ndarray of shape (n,), optional
        How many rows each row stands for, by default one: a row of two is drawn as two equal rows would be.

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
    counts = np.ones(len(rows)) if counts is None else counts
    n = float(counts.sum())
    if n < 2:
        return np.nan, np.nan
    generator = np.random.default_rng(random_state)
    size, drawn, n_drawn = max(BLOCK_NUMBERS // len(rows), 1), [], round(n)
    for start in range(0, resamples, size):
        times = generator.multinomial(n_drawn, counts / n, size=min(size, resamples - start))
        drawn.append(combine(times @ rows / n_drawn))
    total = counts @ rows
    value, left_out = float(combine(total[None] / n)[0]), combine((total - rows) / (n - 1))
    values = np.concatenate(drawn)
    values, counts, left_out = values[~np.isnan(values)], counts[np.isfinite(left_out)], left_out[np.isfinite(left_out)]
    if not values.size or np.isnan(value):
        return np.nan, np.nan
    # Values that are equal to the estimate count half, so that discrete statistics have no bias.
    below = (np.sum(values < value) + 0.5 * np.sum(values == value)) / values.size
    bias = stats.norm.ppf(np.clip(below, 0.5 / values.size, 1.0 - 0.5 / values.size))
    quantiles = bias + stats.norm.ppf([0.5 - 0.5 * level, 0.5 + 0.5 * level])
    levels = stats.norm.cdf(bias + quantiles / (1.0 - _find_acceleration(left_out, counts) * quantiles))
    low, high = np.quantile(values, np.sort(levels))
    return float(low), float(high)


def _find_acceleration(left_out: Array, counts: Array) -> float:
    """Efron's acceleration, a sixth of the skewness of the jackknife values."""
    if not left_out.size:
        return 0.0
    deviations = np.average(left_out, weights=counts) - left_out
    squares = float(counts @ np.square(deviations))
    return float(counts @ deviations**3 / (6.0 * squares**1.5)) if squares > 0 else 0.0
