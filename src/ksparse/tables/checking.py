"""Whether the parts of a fitted encoder fit together: it may come from a file of a stranger."""

from __future__ import annotations

from typing import Any

import numpy as np

from .encoder import TableEncoder
from .features import DATE_PARTS, ColumnFeatures
from .kinds import ColumnKind, KindOfColumn
from .unused import UnusedColumn

__all__ = ["check_encoder", "require_selected_columns"]


def require_selected_columns(model: Any) -> None:
    """Let the encoder of a loaded pipeline ask only for the columns that the last step has selected.

    Raises a ValueError if encoder and last step do not fit together.
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    if not steps or not isinstance(steps[0], TableEncoder):
        if isinstance(model, TableEncoder):
            check_encoder(model)
        return
    encoder, last = steps[0], steps[-1]
    check_encoder(encoder)
    names, support = getattr(last, "feature_names_in_", None), getattr(last, "support_", None)
    made = encoder.get_feature_names_out().tolist()
    if names is not None and list(names) != made and len(steps) == 2:
        raise ValueError("the encoder is damaged: its features are not those of the model")
    if isinstance(support, np.ndarray) and support.dtype == bool and support.shape == (len(made),):
        selected = set(encoder.feature_columns_[support].tolist())
        encoder.require([name for name in encoder.columns_.tolist() if name in selected])


def check_encoder(encoder: TableEncoder) -> None:
    """Raise a ValueError if a fitted encoder cannot have been made by `fit`."""
    columns = _require_names(getattr(encoder, "columns_", None), "columns_")
    needed = _require_names(getattr(encoder, "needed_columns_", None), "needed_columns_")
    features: Any = getattr(encoder, "features_", None)
    medians: Any = getattr(encoder, "medians_", None)
    _require(isinstance(features, dict) and set(features) <= set(columns), "its features_ are not those of its columns")
    _require(set(needed) <= set(columns), "it needs columns that it has not")
    plain = len(columns) - len(features)
    _require(
        isinstance(medians, np.ndarray) and medians.dtype == np.float64 and medians.shape == (plain,),
        "it has not one median for each column of numbers",
    )
    _require(bool(np.isfinite(medians).all()), "its medians are not finite")
    for name, column in features.items():
        _check_column(name, column)
    rows: Any = getattr(encoder, "_n_rows", None)
    _require(type(rows) is int and rows > 0, "it does not say how many rows it has seen")
    unused = getattr(encoder, "unused_", None)
    _require(isinstance(unused, list) and all(map(_is_unused_column, unused)), "its unused_ are no columns")
    _require(isinstance(getattr(encoder, "_named", None), bool), "it does not say whether its columns have names")
    names = encoder.get_feature_names_out().tolist()
    _require(len(set(names)) == len(names), "two of its features have the same name")


def _check_column(name: str, column: Any) -> None:
    about = f"the features of its column {name[:60]!r} "
    _require(type(column) is ColumnFeatures and column.column == name, f"{about}are none")
    kind = column.kind
    _require(type(kind) is ColumnKind and type(kind.kind) is KindOfColumn, f"{about}are of no kind")
    _require(_is_text(kind.decimal, kind.date_format, *kind.remarks), f"{about}have a kind without text")
    flags = (column.has_missing, column.indicator, column.has_other)
    _require(all(type(flag) is bool for flag in flags), f"{about}have flags that are not true or false")
    texts = isinstance(column.categories, tuple) and _is_text(*column.categories)
    _require(texts, f"{about}have no text as categories")
    known = [*column.categories, *([] if column.reference is None else [column.reference])]
    _require(_is_text(*known) and len(set(known)) == len(known), f"{about}have a category twice")
    remembered = isinstance(column.rare, tuple) and _is_text(*column.rare)
    _require(remembered and not set(column.rare) & set(known), f"{about}have rare values that are no text, or not rare")
    _require(type(column.novelty) is float and 0 <= column.novelty <= 1, f"{about}have no fraction of new values")
    parts = isinstance(column.parts, tuple) and set(column.parts) <= DATE_PARTS.keys()
    _require(parts and len(set(column.parts)) == len(column.parts), f"{about}have parts that dates have not")
    counts = {KindOfColumn.CATEGORY: 0, KindOfColumn.DATE: len(column.parts)}
    numbers = isinstance(column.medians, tuple) and all(type(value) is float for value in column.medians)
    _require(numbers and bool(np.isfinite(column.medians).all()), f"{about}have medians that are no numbers")
    _require(len(column.medians) == counts.get(kind.kind, 1), f"{about}have not as many medians as numbers")


def _is_unused_column(column: Any) -> bool:
    return type(column) is UnusedColumn and _is_text(column.name, column.reason) and type(column.is_identifier) is bool


def _is_text(*values: Any) -> bool:
    return all(type(value) is str for value in values)


def _require_names(names: Any, what: str) -> list[str]:
    listed: Any = names.tolist() if isinstance(names, np.ndarray) and names.ndim == 1 else names
    named = isinstance(listed, list) and _is_text(*listed) and len(set(listed)) == len(listed)
    _require(named, f"its {what} are no names")
    return list(listed or ())


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(f"the encoder is damaged: {problem}")
