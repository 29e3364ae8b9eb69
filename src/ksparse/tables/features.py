"""The features that a column of a table becomes, and how they are found."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.feature_selection import f_classif, f_regression
from sklearn.preprocessing import OneHotEncoder

from .._types import AnyArray, Array, Mask
from .kinds import MISSING_WORDS, ColumnKind, KindOfColumn, clean_text, read_categories, read_dates, read_values
from .unused import CONSTANT, UnusedColumn

__all__ = [
    "DATE_PARTS",
    "ColumnFeatures",
    "distinguish",
    "encode_column",
    "fit_features",
    "is_predictive",
    "keep_a_feature",
]

#: What the category of rare values is called.
OTHER = "(other)"
#: Rare values that are remembered, so that new ones are known to be new; where there are more, new ones are usual.
MOST_RARE = 1000
#: The name of the indicator of missing values, and of their category.
IS_MISSING = "is missing"
#: An indicator of missing values is added if its association with y would be as large by chance with this probability.
CHANCE = 0.05
#: Whole numbers with at most this many distinct values are tested as classes.
MAX_CLASSES = 10
#: The parts of a date. A part that is the same in all rows is not used.
DATE_PARTS: dict[str, Callable[[pd.Series], pd.Series]] = {
    "year": lambda dates: dates.dt.year,
    "month": lambda dates: dates.dt.month,
    "day": lambda dates: dates.dt.day,
    "weekday": lambda dates: dates.dt.day_of_week,
    "hour": lambda dates: dates.dt.hour + dates.dt.minute / 60.0,
}


@dataclass(frozen=True)
class ColumnFeatures:
    """How a column becomes features.

    Attributes
    ----------
    column : str
        The name of the column.
    kind : ColumnKind
        What it holds.
    parts : tuple of str
        The parts of dates that are used.
    medians : tuple of float
        What replaces missing numbers, or the missing parts of dates.
    has_missing : bool
        Whether values were missing in the fitted rows.
    indicator : bool
        Whether there is a feature that tells whether a number is missing.
    reference : str or None
        The category to which the others are compared; None if it is that of missing cells.
    categories : tuple of str
        The other categories that have a feature.
    has_other : bool
        Whether rare values have a feature together.
    rare : tuple of str
        These values, unless they are too many to be remembered.
    novelty : float
        Fraction of the known cells whose value is in no other row, which estimates the probability that a new row has a
        value that none of the fitted rows had (I. J. Good, Biometrika 40, 1953).

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder
    >>> encoder = TableEncoder(min_frequency=1).fit(pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm", None]}))
    >>> encoder.features_["town"].reference, encoder.features_["town"].names
    ('Ulm', ['town=Bonn', 'town is missing'])
    """

    column: str
    kind: ColumnKind
    parts: tuple[str, ...] = ()
    medians: tuple[float, ...] = ()
    has_missing: bool = False
    indicator: bool = False
    reference: str | None = None
    categories: tuple[str, ...] = ()
    has_other: bool = False
    rare: tuple[str, ...] = ()
    novelty: float = 0.0

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        if self.kind.kind is KindOfColumn.CATEGORY:
            names = [f"{self.column}={value}" for value in self.categories]
            if self.has_other:
                names.append(f"{self.column}={OTHER}")
        elif self.kind.kind is KindOfColumn.DATE:
            names = [f"{self.column} ({part})" for part in self.parts]
        else:
            names = [self.column]
        return [*names, f"{self.column} {IS_MISSING}"] if self.indicator else names

    @property
    def typical_values(self) -> list[float]:
        """The features of a row of which nothing is known."""
        width = len(self.names)
        return [*self.medians, *([0.0] * (width - len(self.medians)))]

    def find_missing(self, cells: pd.Series) -> Mask:
        """Rows whose cell is missing or cannot be read."""
        if self.kind.kind is KindOfColumn.CATEGORY:
            return np.array([value is None for value in read_categories(cells)], dtype=bool)
        if self.kind.kind is KindOfColumn.DATE:
            return np.asarray(read_dates(cells, self.kind).isna(), dtype=bool)
        return np.isnan(read_values(cells, self.kind))

    def find_unreadable(self, cells: pd.Series) -> Mask:
        """Rows whose cell is missing or cannot be read, if there were none such in the fitted rows.

        If there were, text that cannot be read counts all the same where no cell of numbers or dates can be.
        """
        missing = self.find_missing(cells)
        if self.kind.kind is not KindOfColumn.CATEGORY:
            if not self.has_missing:
                return missing
            return self.find_misread(cells) if missing.all() else np.zeros_like(missing)
        refused: AnyArray = missing & np.bool_(not self.has_missing) | self.find_unknown(cells) & np.bool_(
            not self.has_other
        )
        return refused

    def find_misread(self, cells: pd.Series) -> Mask:
        """Rows with text where numbers or dates are expected; words for missing values are no such text."""
        if self.kind.kind is KindOfColumn.CATEGORY or is_numeric_dtype(cells):
            return np.zeros(len(cells), dtype=bool)
        texts = clean_text(cells)
        given = np.array([text is not None and text.lower() not in MISSING_WORDS for text in texts], dtype=bool)
        return given & self.find_missing(cells)

    def find_unknown(self, cells: pd.Series) -> Mask:
        """Rows whose category no fitted row had, as far as rare ones are remembered."""
        forgotten = self.has_other and not self.rare
        if self.kind.kind is not KindOfColumn.CATEGORY or forgotten:
            return np.zeros(len(cells), dtype=bool)
        known = {None, self.reference, *self.categories, *self.rare}
        return np.array([value not in known for value in read_categories(cells)], dtype=bool)


def fit_features(
    name: str, cells: pd.Series, kind: ColumnKind, max_categories: int, min_frequency: int
) -> ColumnFeatures:
    """How a column becomes features; with an indicator, if values are missing and it holds no categories."""
    features = ColumnFeatures(name, kind)
    if kind.kind is KindOfColumn.CATEGORY:
        return _fit_categories(features, read_categories(cells), max_categories, min_frequency)
    values = _read_parts(cells, features) if kind.kind is KindOfColumn.DATE else read_values(cells, kind)[:, None]
    missing = np.isnan(values).any(axis=1)
    if kind.kind is KindOfColumn.DATE:
        varies = [len(np.unique(part[~missing])) > 1 for part in values.T]
        used = [part for part, is_used in zip(DATE_PARTS, varies, strict=True) if is_used] or ["year"]
        features = replace(features, parts=tuple(used))
        values = values[:, [place for place, part in enumerate(DATE_PARTS) if part in used]]
    medians = np.median(values[~missing], axis=0) if not missing.all() else np.zeros(values.shape[1])
    has_missing = bool(missing.any())
    return replace(features, medians=tuple(medians.tolist()), has_missing=has_missing, indicator=has_missing)


def _fit_categories(
    features: ColumnFeatures, values: AnyArray, max_categories: int, min_frequency: int
) -> ColumnFeatures:
    """The most frequent category is the reference; missing cells are one, whose feature is called so."""
    known = pd.Series([value for value in values if value is not None], dtype=object)
    if known.empty:
        return replace(features, has_missing=True, indicator=True)
    encoder = OneHotEncoder(max_categories=max_categories, min_frequency=min_frequency, handle_unknown="ignore")
    encoder.fit(known.to_numpy()[:, None])
    found = encoder.infrequent_categories_[0]
    rare = [] if found is None or len(encoder.categories_[0]) == 2 else found.tolist()
    frequent = [value for value in encoder.categories_[0].tolist() if value not in set(rare)]
    counts = known.value_counts()
    features = replace(
        features,
        has_other=bool(rare),
        rare=tuple(rare) if len(rare) <= MOST_RARE else (),
        novelty=float((counts == 1).sum() / len(known)),
    )
    return _choose_reference(features, counts, frequent, has_missing=len(known) < len(values))


def keep_a_feature(features: ColumnFeatures, cells: pd.Series) -> ColumnFeatures:
    """The same, but if no value is frequent, or all are equal, "(other)" is compared to the most frequent one.

    So a column that has features by all rows does not vanish where its categories are found again in some of them.
    """
    if features.names and features.reference != OTHER:
        return features
    counts = pd.Series(read_categories(cells), dtype=object).value_counts()
    frequent = sorted(counts.index[counts == counts.max()])[:1]
    rare = tuple(sorted(set(counts.index) - set(frequent)))
    kept = replace(features, has_other=True, rare=rare if len(rare) <= MOST_RARE else ())
    return _choose_reference(kept, counts, frequent, has_missing=features.has_missing)


def _choose_reference(
    features: ColumnFeatures, counts: pd.Series, frequent: list[str], *, has_missing: bool
) -> ColumnFeatures:
    """The categories, compared to the most frequent one."""
    # The first of equally frequent ones; without any frequent value, rare ones are what the others are compared to.
    reference = max(frequent, key=lambda value: counts[value]) if frequent else OTHER
    return replace(
        features,
        reference=reference,
        categories=tuple(value for value in frequent if value != reference),
        has_other=features.has_other and bool(frequent),
        has_missing=has_missing,
        indicator=has_missing,
    )


def find_without_features(features: Mapping[str, ColumnFeatures], min_frequency: int) -> dict[str, UnusedColumn]:
    """Columns that become no feature: of text that is the same in all rows, or of rare values only."""
    rare = f"no value occurs in at least {min_frequency} rows"
    return {
        name: UnusedColumn(name, rare if made.reference == OTHER else CONSTANT)
        for name, made in features.items()
        if not made.names
    }


def distinguish(columns: Sequence[str], features: Mapping[str, ColumnFeatures]) -> dict[str, list[str]]:
    """The names of the features of each column, all distinct: columns keep theirs, and other features get a number.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables import TableEncoder
    >>> table = pd.DataFrame({"age": [30.0, None, 50.0], "age is missing": [1, 2, 1]})
    >>> TableEncoder(indicators=True).fit(table).get_feature_names_out().tolist()
    ['age', 'age is missing (2)', 'age is missing']
    """
    taken, named = set(columns), dict[str, list[str]]()
    for column in columns:
        made = features.get(column)
        named[column] = [column] if made is None else [_claim(name, column, taken) for name in made.names]
    return named


def _claim(name: str, column: str, taken: set[str]) -> str:
    """The name, if it is that of the column or not taken; else with the first number from 2 that is not."""
    if name == column:
        return name
    numbered = (f"{name} ({number})" for number in count(2))
    free = name if name not in taken else next(other for other in numbered if other not in taken)
    taken.add(free)
    return free


def encode_column(cells: pd.Series, features: ColumnFeatures) -> Array:
    """The features of the cells of a column: one column of numbers for each of their names."""
    values = np.zeros((len(cells), len(features.names)))
    kind = features.kind
    if kind.kind is KindOfColumn.CATEGORY:
        texts = read_categories(cells)
        missing: Mask = np.array([text is None for text in texts], dtype=bool)
        known = pd.Index([features.reference, *features.categories], dtype=object)
        places = known.get_indexer(texts) - 1  # of the reference −1, of other values −2
        listed = places >= 0
        values[np.flatnonzero(listed), places[listed]] = 1.0
        if features.has_other:
            values[(places == -2) & ~missing, len(features.categories)] = 1.0
    else:
        numbers = (
            read_values(cells, kind)[:, None] if kind.kind is not KindOfColumn.DATE else _read_parts(cells, features)
        )
        missing = np.asarray(np.isnan(numbers).any(axis=1))
        values[:, : numbers.shape[1]] = np.where(missing[:, None], features.medians, numbers)
    if features.indicator:
        values[:, -1] = missing
    return values


def _read_parts(cells: pd.Series, features: ColumnFeatures) -> Array:
    """The parts of dates, NaN where a date is missing."""
    dates = read_dates(cells, features.kind)
    used = features.parts or tuple(DATE_PARTS)
    return np.column_stack([DATE_PARTS[part](dates).to_numpy(dtype=np.float64, na_value=np.nan) for part in used])


def is_predictive(missing: Mask, y: AnyArray, min_frequency: int) -> bool:
    """Whether it predicts y which values are missing, by an F-test of the indicator of them.

    If y is text, true and false, or whole numbers with at most 10 distinct values, this is one test of whether values
    are missing equally often in all its classes; otherwise, of the correlation of the indicator with y.
    """
    if not min_frequency <= missing.sum() <= len(missing) - min_frequency or len(y) != len(missing):
        return False
    indicator = missing.astype(np.float64)[:, None]
    y = np.array(y.tolist()) if y.dtype == object else y
    responses = [y] if y.ndim == 1 else list(y.T)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of a constant y
        tests = ((f_classif if _has_classes(part) else f_regression)(indicator, part) for part in responses)
        return any(bool(chance[0] < CHANCE) for _, chance in tests)


def _has_classes(y: AnyArray) -> bool:
    """Whether y is text, true and false, or whole numbers with few distinct values."""
    if y.dtype.kind not in "iuf":
        return True
    distinct = np.unique(y)
    return len(distinct) <= MAX_CLASSES and bool((distinct == np.round(distinct)).all())
