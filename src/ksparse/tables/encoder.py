"""A transformer from tables with text, gaps and dates to features that are finite numbers."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._types import AnyArray, Array
from ..objectives.losses.cox import compute_martingale_residuals
from ..wording import quote, quote_list
from .encoding import ATTRIBUTE, EncodedColumns, Encoding
from .features import (
    OTHER,
    ColumnFeatures,
    distinguish,
    encode_column,
    find_without_features,
    fit_features,
    is_predictive,
    keep_a_feature,
)
from .input_tables import NUMBERS, as_table, check_limit, find_complete_numbers, infer_kinds
from .kinds import DATE_ORDERS, ColumnKind, KindOfColumn, read_number_columns
from .unknown import warn_of_unknown
from .unused import NoColumnError, UnusedColumn, find_unused

__all__ = ["TableEncoder"]

E = TypeVar("E", bound="TableEncoder")


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features from a table as people have it: text, gaps, dates, identifiers.

    - **Numbers**, also as text with percent signs, currency, thousands or decimal commas, are used as they are. Missing
      ones are the median of the fitted rows; where it predicts y whether a value is missing, an indicator is added.
    - **Categories** (text) become indicators of each value but the most frequent one, to which the others are compared.
      Missing cells are a category, and rare values are one, "(other)".
    - **Dates** become years, months, days of the month, weekdays, and hours if there are any.
    - **True and false** are 1 and 0.
    - Identifiers, numbers of rows, constant and empty columns are left out.

    All features of a column have this column as their group: with ``feature_groups="columns"``, estimators select or
    leave out whole columns, so that k counts the columns of the table. Estimators that choose k by cross-validation
    find the medians, indicators and categories again for the training part of each fold (see `refit`), if they are
    given what `fit_transform` or `transform` returns, as a pipeline does.

    The names of features are distinct: one that another column or feature has gets a number, as "age is missing (2)".

    Parameters
    ----------
    drop : sequence of str, default=()
        Columns that are not used.
    keep : sequence of str, default=()
        Columns that are used even if they look like identifiers.
    max_categories : int, default=30
        Largest number of values of a category that have an indicator; the rarer ones are "(other)".
    min_frequency : int, default=5
        Values that occur in fewer rows are "(other)".
    indicators : {"auto"} or bool, default="auto"
        Whether there are indicators of missing numbers. With "auto", those that are associated with y in the fitted
        rows, by an F-test at the level 0.05: of their correlation with y, or, if y is text, true and false, or whole
        numbers with at most 10 distinct values, one test over all its classes.

    dates : {"auto", "dmy", "mdy", "ymd"}, default="auto"
        The order of day, month and year in dates of text that are numbers, such as 03/04/2024. With "auto", or where
        fewer than 95 % of the cells fit this order, the cells decide; if they do not, the month is first.

    Attributes
    ----------
    columns_ : ndarray of str
        The columns that are used.
    features_ : dict of str to ColumnFeatures
        How columns are encoded that do not simply hold numbers without gaps.
    unused_ : list of UnusedColumn
        The columns that are left out, with the reasons.
    medians_ : ndarray
        The medians of the columns that are not in `features_`: they had no gaps, but new rows may have some.
    feature_columns_ : ndarray of str, shape (n_features_out,)
        The column of the table for each feature.
    needed_columns_ : list of str
        The columns that must be there in tables to `transform`: all that are used, unless `require` has named fewer.
    n_features_out_ : int
        Number of features that the columns become.
    n_features_in_ : int
        Number of columns seen.
    feature_names_in_ : ndarray of str
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from ksparse import SparseLinearRegression, TableEncoder
    >>> homes = pd.DataFrame({
    ...     "id": range(1, 9), "area": [50, 60, None, 80, 90, 100, 110, 120],
    ...     "town": ["Ulm", "Bonn", "Bonn", "Ulm", "Bonn", "Ulm", "Kiel", "Kiel"],
    ... })
    >>> price = [100, 130, 150, 160, 190, 200, 240, 260]
    >>> encoder = TableEncoder(min_frequency=2)
    >>> encoder.fit_transform(homes).columns.tolist()
    ['area', 'town=Kiel', 'town=Ulm']
    >>> print(encoder.unused_[0].name, "is left out:", encoder.unused_[0].reason)
    id is left out: it numbers the rows from 1 to 8
    >>> model = make_pipeline(encoder, SparseLinearRegression(k=1, feature_groups="columns")).fit(homes, price)
    >>> model[-1].get_feature_names_out()
    array(['area'], dtype=object)
    """

    _: KW_ONLY
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    max_categories: int = 30
    min_frequency: int = 5
    indicators: str | bool = "auto"
    dates: str = "auto"

    def fit(self: E, X: Any, y: Any = None) -> E:
        """Find how each column is encoded.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            The table.
        y : array-like of shape (n_samples,), optional
            The response or the labels, for the indicators of missing values.

        Returns
        -------
        self
            The fitted encoder.
        """
        table = self._check_table(X, reset=True)
        self._check_parameters(table)
        kinds = infer_kinds(table, self.dates)
        self.unused_ = self._find_unused(table, kinds)
        unused = {column.name for column in self.unused_}
        used = [name for name in table.columns if name not in unused]
        self.features_: dict[str, ColumnFeatures] = {}
        # Most columns of wide tables are numbers, which need no word in a saved model.
        self._kinds = {name: kinds[name] for name in used if kinds[name] != NUMBERS}
        self._n_rows = len(table)
        self._fit_columns(table, used, y)
        without = find_without_features(self.features_, self.min_frequency)
        if without:
            self.unused_ += without.values()
            self._leave_out(without.keys())
        if not len(self.columns_):
            raise NoColumnError(self.unused_)
        return self

    def refit(self: E, X: Any, y: Any = None) -> E:
        """An encoder that uses the same columns in the same way, with the medians and categories of other rows.

        Of these rows are the medians, the parts of dates, which values of a category are frequent, which one is the one
        to which others are compared, and for which columns there are indicators of missing values. A value is frequent
        in a part of the rows if it occurs in the same fraction of them as `min_frequency` is of the fitted ones. Only
        which columns are used and what they hold stays as it is, which depends on X only, not on y; so a column has a
        feature at least, whatever the rows: if no value is frequent, all but the most frequent one are "(other)".
        """
        check_is_fitted(self)
        encoder = copy.copy(self)
        table = encoder._check_table(X, reset=False)
        return encoder._fit_columns(table, self.columns_.tolist(), y)

    def _fit_columns(self: E, table: pd.DataFrame, used: list[str], y: Any) -> E:
        if isinstance(y, np.ndarray) and y.dtype.names:
            y = compute_martingale_residuals(y)  # a number for each row, large for early events
        plain = set(find_complete_numbers(table[used])) - self.features_.keys()
        frequency = max(1, -(-self.min_frequency * len(table) // self._n_rows))  # of the rows as of the fitted ones
        self.columns_: AnyArray = np.array(used, dtype=object)
        self.medians_: Array = np.median(read_number_columns(table[[name for name in used if name in plain]]), axis=0)
        self.features_ = {
            name: self._fit_column(table[name], self._kinds.get(name, NUMBERS), y, frequency)
            for name in used
            if name not in plain
        }
        self.needed_columns_ = used
        return self

    def _leave_out(self, names: Collection[str]) -> None:
        for name in names:
            del self.features_[name], self._kinds[name]
        self.needed_columns_ = [name for name in self.columns_.tolist() if name not in names]
        self.columns_ = np.array(self.needed_columns_, dtype=object)

    @property
    def feature_columns_(self) -> AnyArray:
        """The column of the table for each feature."""
        return np.array([name for name, made in self._list_features() for _ in made], dtype=object)

    def _fit_column(self, cells: pd.Series, kind: ColumnKind, y: Any, frequency: int) -> ColumnFeatures:
        name = str(cells.name)
        features = fit_features(name, cells, kind, self.max_categories, frequency)
        if kind.kind is KindOfColumn.CATEGORY:
            before = self.features_.get(name)
            return features if before is None or before.reference == OTHER else keep_a_feature(features, cells)
        if not features.indicator:
            return features
        predicts = self.indicators is True
        if self.indicators == "auto" and y is not None:
            predicts = is_predictive(features.find_missing(cells), np.asarray(y), self.min_frequency)
        return features if predicts else replace(features, indicator=False)

    def _list_features(self) -> list[tuple[str, list[str]]]:
        """Each column with the names of its features; complete numbers are their own feature."""
        names = distinguish(self.columns_.tolist(), self.features_)
        return list(names.items())

    def transform(self, X: Any) -> pd.DataFrame:
        """The features of a table.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            A table with the columns that `fit` has seen; other columns are ignored.

        Returns
        -------
        DataFrame of shape (n_samples, n_features_out)
            Finite numbers. A category that `fit` has not seen is "(other)" if there is such, otherwise none of the
            known ones; missing numbers are the median, also where no fitted row lacked one (`find_unreadable` tells).

        Warns
        -----
        UnknownCategoryWarning
            If there are such categories, in more rows than the fitted ones let expect: see `find_unknown`.
        """
        check_is_fitted(self)
        table = self._check_table(X, reset=False)
        warn_of_unknown([self.features_[name] for name in self.needed_columns_ if name in self.features_], table)
        return self._encode(table)

    def _encode(self, table: pd.DataFrame) -> pd.DataFrame:
        columns = self.feature_columns_
        values = np.zeros((len(table), len(columns)), order="F")
        present, start, plain = set(table.columns), 0, dict[str, int]()
        for name, made in self._list_features():
            part = slice(start, start + len(made))
            start = part.stop
            if name in self.features_:
                features = self.features_[name]
                values[:, part] = encode_column(table[name], features) if name in present else features.typical_values
            else:
                plain[name] = part.start
        values[:, list(plain.values())] = self.medians_
        known = [name for name in plain if name in present]
        if known:
            numbers = read_number_columns(table[known])
            places = [plain[name] for name in known]
            values[:, places] = np.where(np.isnan(numbers), values[:, places], numbers)
        check_limit(values, columns)
        names = self.get_feature_names_out()
        frame = pd.DataFrame(values, index=table.index, columns=names, copy=False)
        frame.attrs[ATTRIBUTE] = EncodedColumns(
            dict(zip(names.tolist(), columns.tolist(), strict=True)), Encoding(table, self), frame
        )
        return frame

    def find_unreadable(self, X: Any) -> dict[str, AnyArray]:
        """Rows without a usable value, for each needed column: missing or unreadable, and never so in the fitted rows.

        Where fitted rows lacked a number or a date, rows with text that is none are such too if no row has one.

        Returns
        -------
        dict of str to ndarray of bool
            A mask of the rows for each column that has such.
        """
        check_is_fitted(self)
        table = self._check_table(X, reset=False)
        masks = {name: self.get_features(name).find_unreadable(table[name]) for name in self.needed_columns_}
        return {name: mask for name, mask in masks.items() if mask.any()}

    def find_unknown(self, X: Any) -> dict[str, AnyArray]:
        """Rows with a category that no fitted row had, for each needed column.

        Where more than 1000 values are rare, they are not remembered, and no category is called unknown.

        Returns
        -------
        dict of str to ndarray of bool
            A mask of the rows for each column that has such.

        Examples
        --------
        >>> import pandas as pd
        >>> from ksparse import TableEncoder
        >>> encoder = TableEncoder(min_frequency=1).fit(pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm"]}))
        >>> encoder.find_unknown(pd.DataFrame({"town": ["Bonn", "Kiel"]}))
        {'town': array([False,  True])}
        """
        check_is_fitted(self)
        table = self._check_table(X, reset=False)
        masks = {name: self.get_features(name).find_unknown(table[name]) for name in self.needed_columns_}
        return {name: mask for name, mask in masks.items() if mask.any()}

    @property
    def n_features_out_(self) -> int:
        """Number of features that the columns become."""
        return len(self.feature_columns_)

    def get_features(self, name: str) -> ColumnFeatures:
        """How a column is encoded; complete numbers are as they are."""
        return self.features_.get(name) or ColumnFeatures(name, NUMBERS, medians=(0.0,))

    def require(self, columns: Sequence[str]) -> None:
        """Say which columns a model needs; in tables to `transform`, the others may be absent."""
        check_is_fitted(self)
        used, wanted = self.columns_.tolist(), set(columns)
        if unknown := sorted(wanted - set(used)):
            raise ValueError(f"the encoder has no columns {quote_list(unknown)}")
        self.needed_columns_ = [name for name in used if name in wanted]

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """The names of the features."""
        check_is_fitted(self)
        return np.array([name for _, names in self._list_features() for name in names], dtype=object)

    def _find_unused(self, table: pd.DataFrame, kinds: dict[str, ColumnKind]) -> list[UnusedColumn]:
        dropped, kept = set(self.drop), set(self.keep)
        unused = [UnusedColumn(name, "as asked for") for name in table.columns if name in dropped]
        if self._named:  # columns of an array without names are features that somebody made
            judged = {name: kind for name, kind in kinds.items() if name not in dropped | kept}
            unused += find_unused(table, judged).values()
        return unused

    def _check_parameters(self, table: pd.DataFrame) -> None:
        for parameter in ("drop", "keep"):
            given = getattr(self, parameter)
            if isinstance(given, str):
                raise TypeError(f"{parameter} must be a list of columns, got the text {given!r}; pass [{given!r}]")
            if unknown := [name for name in given if name not in table.columns]:
                raise ValueError(
                    f"{parameter} has {quote_list(unknown)}, which are not columns of the table; those are"
                    f" {quote_list(table.columns.tolist())}"
                )
        if both := set(self.drop) & set(self.keep):
            raise ValueError(f"{quote(min(both))} is in both drop and keep; name it once")
        for parameter, least in (("max_categories", 2), ("min_frequency", 1)):
            number = getattr(self, parameter)
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
                raise ValueError(f"{parameter} must be an integer of at least {least}, got {number!r}")
        if not (self.indicators == "auto" or isinstance(self.indicators, bool)):
            raise ValueError(f'indicators must be "auto", True or False, got {self.indicators!r}')
        if self.dates not in ("auto", *DATE_ORDERS):
            raise ValueError(f"dates must be one of {quote_list(['auto', *DATE_ORDERS])}, got {self.dates!r}")

    def _check_table(self, X: Any, *, reset: bool) -> pd.DataFrame:
        table, named = as_table(X)
        if reset:
            self._named = named
            self.n_features_in_ = table.shape[1]
            if named:
                self.feature_names_in_: AnyArray = np.array(table.columns, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return table
        if not named and table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {table.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input; pass a table with the same columns"
            )
        if not named and self._named:
            table.columns = self.feature_names_in_
        if missing := [name for name in self.needed_columns_ if name not in table.columns]:
            raise ValueError(
                f"the table lacks {'columns' if len(missing) > 1 else 'the column'} {quote_list(missing)}, which the "
                f"encoder needs; it has {quote_list(table.columns.tolist())}"
            )
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags
