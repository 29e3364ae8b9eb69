"""The kind of model that a target suggests, and what else it could mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._types import AnyArray, Array, IntArray

#: Integers with at most this many distinct values are taken for classes,
MAX_INTEGER_CLASSES = 10
#: if each value occurs in at least this many rows; otherwise they are counts.
ROWS_OF_A_CLASS = 5
#: Whole numbers from 0 on are probably counts if their mean is below this.
LARGEST_MEAN_COUNT = 50
#: Counts whose variance is this many times their mean probably vary more than Poisson's, whatever the features.
LARGE_VARIANCE = 3.0
#: The skewness from which positive numbers are probably amounts, whose deviations grow with their mean, if their
#: logarithms have less than half of it; the exponential distribution has 2, normal errors 0.
SKEWED = 1.5
#: Amounts of which this fraction is 0, or more, are sums of some amounts or none.
SOME_ZEROS = 0.05
#: Fewer rows say too little of a distribution.
LEAST_JUDGED_ROWS = 30


def guess_task(values: AnyArray, numbers: Array) -> tuple[str, str, tuple[str, ...]]:
    """The name of the task that a target suggests, why, and advice on other tasks.

    Parameters
    ----------
    values : ndarray
        The target: numbers, booleans or text.
    numbers : ndarray
        The same as numbers; NaN for text.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.cli.guessing import guess_task
    >>> guess_task(np.array([0.5, 1.5, 2.25]), np.array([0.5, 1.5, 2.25]))
    ('regression', 'since the target has many distinct numbers; use --task to change this', ())
    """
    found = _Numbers.of(numbers)
    is_text = values.dtype == object
    reasons = {
        "is text": is_text,
        "is true or false": values.dtype == bool,
        f"has {len(found.distinct)} distinct values": len(found.distinct) <= 2,
        f"has only {len(found.distinct)} distinct integers": found.are_few and found.counts.min() >= ROWS_OF_A_CLASS,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    task, advice = "classification", ""
    if not is_text and len(found.distinct) > 2:
        advice = _advise(found, has_classes=reason is not None)
    if reason is None:
        task, reason = "regression", "has many distinct numbers"
        if found.are_few and found.are_repeated:
            reason = "has integers of which some are rare"
    return task, f"since the target {reason}; use --task to change this", (advice,) if advice else ()


@dataclass(frozen=True)
class _Numbers:
    """Numbers, the distinct ones, and how often each of these occurs."""

    numbers: Array
    distinct: Array
    counts: IntArray

    @classmethod
    def of(cls, numbers: Array) -> _Numbers:
        distinct, counts = np.unique(numbers, return_counts=True)
        return cls(numbers, distinct, counts)

    @property
    def are_whole(self) -> bool:
        return bool(np.all(self.distinct == np.round(self.distinct)))

    @property
    def are_few(self) -> bool:
        """Whether they are integers that could be classes."""
        return self.are_whole and len(self.distinct) <= MAX_INTEGER_CLASSES

    @property
    def are_repeated(self) -> bool:
        return bool(self.counts.sum() >= ROWS_OF_A_CLASS * len(self.distinct))

    @property
    def span(self) -> str:
        return f"{self.distinct[0]:g} to {self.distinct[-1]:g}"


def _advise(found: _Numbers, *, has_classes: bool) -> str:
    """What to do if numbers are something else than what they are taken for; empty if nothing is likely."""
    if not found.are_whole:
        return _advise_on_amounts(found.numbers)
    counted = found.distinct[0] >= 0
    if has_classes:
        counts = "; if they are counts, --task poisson does" if counted else ""
        return (
            f"The {len(found.distinct)} integers from {found.span} are taken for classes without an order: if they are"
            f" grades, --task ordinal uses their order{counts}"
        )
    if found.are_few and found.are_repeated:
        rare, counts = int(found.counts.argmin()), "; if they are counts, --task poisson" if counted else ""
        return (
            f"The {len(found.distinct)} integers from {found.span} are taken for numbers, since"
            f" {found.distinct[rare]:g} is in {found.counts[rare]} of {found.counts.sum()} rows only: if they are"
            f" classes, use --task classification, or --task ordinal if these have an order{counts}"
        )
    mean = float(found.numbers.mean())
    if not counted or found.distinct[0] > 1 or mean > LARGEST_MEAN_COUNT:
        return ""
    said = f"The target has whole numbers from {found.distinct[0]:g} on: if they are counts, use --task poisson"
    ratio = float(found.numbers.var()) / mean
    if ratio < LARGE_VARIANCE:
        return said
    return f"{said}, or --task negative-binomial, since their variance is {ratio:.0f} times their mean"


def _advise_on_amounts(numbers: Array) -> str:
    """What to do with numbers that are not negative, if they are skewed as amounts of money or times are."""
    zeros = float(np.mean(numbers == 0))
    if numbers.min() < 0 or len(numbers) < LEAST_JUDGED_ROWS or 0 < zeros < SOME_ZEROS:
        return ""
    positive = numbers[numbers > 0]
    skewness: Any = stats.skew(numbers)
    if not skewness > SKEWED or not abs(stats.skew(np.log(positive))) < 0.5 * skewness:
        return ""
    if zeros:
        return (
            f"The target is skewed, and 0 in {100 * zeros:.0f} % of the rows: if it is a sum of amounts of which there"
            " may be none, such as costs or rainfall, use --task tweedie"
        )
    return (
        "The target is positive and skewed: if its deviations grow with its mean, as those of amounts and durations do,"
        " use --task gamma"
    )
