"""A warning of categories that no fitted row had, where they are no matter of course."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pandas as pd
from scipy.stats import poisson

from ..wording import MOST_NAMES, quote
from .features import OTHER, ColumnFeatures

__all__ = ["UnknownCategoryWarning", "ignore_unknown", "warn_of_unknown"]

#: Fewer rows are those of somebody who wants to know: the warning is always given.
FEW_NEW_ROWS = 10
#: As many unknown values as there are would come with a smaller probability, if new rows are like the fitted ones.
UNEXPECTED = 0.01


class UnknownCategoryWarning(UserWarning):
    """A table has categories that no fitted row had.

    Examples
    --------
    >>> import warnings
    >>> from ksparse.tables import UnknownCategoryWarning
    >>> warnings.simplefilter("error", UnknownCategoryWarning)  # refuse such tables
    >>> warnings.resetwarnings()
    """


@contextmanager
def ignore_unknown() -> Iterator[None]:
    """Give no `UnknownCategoryWarning`: for folds, which the user has not made, or where something else tells of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)
        yield


def warn_of_unknown(columns: Sequence[ColumnFeatures], table: pd.DataFrame) -> None:
    """Warn of categories that no fitted row had, with the columns and numbers of rows.

    Where many fitted rows had a value of their own, so will new rows: then values that are new are "(other)", as those
    were, and no warning says so unless they are more than expected. So cross-validation is quiet about rare values.
    """
    found = []
    for features in columns:
        count = int(features.find_unknown(table[features.column]).sum())
        if count and _is_unexpected(count, len(table), features):
            rows = f"{count} of {len(table)} row{'s' * (len(table) != 1)}"
            taken = f'taken as "{OTHER}"' if features.has_other else "taken as none of the known values"
            found.append(f"{quote(features.column)} in {rows} ({taken})")
    if found:
        more = f", … and {len(found) - MOST_NAMES} more columns" if len(found) > MOST_NAMES else ""
        warnings.warn(
            f"categories that no fitted row had: {', '.join(found[:MOST_NAMES])}{more}; find_unknown of the encoder"
            " tells the rows",
            UnknownCategoryWarning,
            stacklevel=4,
        )


def _is_unexpected(count: int, rows: int, features: ColumnFeatures) -> bool:
    if not features.has_other or rows < FEW_NEW_ROWS:
        return True
    return bool(poisson.sf(count - 1, features.novelty * rows) < UNEXPECTED)
