"""Tables as people have them: text, gaps and dates in, features that are finite numbers out."""

from typing import TYPE_CHECKING

from .._lazy import import_when_used

if TYPE_CHECKING:
    from .by_columns import fit_by_columns, refit_by_columns
    from .checking import require_selected_columns
    from .describing import describe_encoding
    from .encoder import TableEncoder
    from .encoding import EncodedColumns, Encoding, find_columns_of, find_encoding
    from .features import ColumnFeatures
    from .filled import describe_filled, describe_misread
    from .giveaways import Giveaway, find_giveaways
    from .kinds import ColumnKind, KindOfColumn
    from .unknown import UnknownCategoryWarning
    from .unused import NoColumnError, UnusedColumn

__all__ = [
    "ColumnFeatures",
    "ColumnKind",
    "EncodedColumns",
    "Encoding",
    "Giveaway",
    "KindOfColumn",
    "NoColumnError",
    "TableEncoder",
    "UnknownCategoryWarning",
    "UnusedColumn",
    "describe_encoding",
    "describe_filled",
    "describe_misread",
    "find_columns_of",
    "find_encoding",
    "find_giveaways",
    "fit_by_columns",
    "refit_by_columns",
    "require_selected_columns",
]

__getattr__ = import_when_used(
    __name__,
    {
        "ColumnFeatures": ".features",
        "ColumnKind": ".kinds",
        "EncodedColumns": ".encoding",
        "Encoding": ".encoding",
        "Giveaway": ".giveaways",
        "KindOfColumn": ".kinds",
        "NoColumnError": ".unused",
        "TableEncoder": ".encoder",
        "UnknownCategoryWarning": ".unknown",
        "UnusedColumn": ".unused",
        "describe_encoding": ".describing",
        "describe_filled": ".filled",
        "describe_misread": ".filled",
        "find_columns_of": ".encoding",
        "find_encoding": ".encoding",
        "find_giveaways": ".giveaways",
        "fit_by_columns": ".by_columns",
        "refit_by_columns": ".by_columns",
        "require_selected_columns": ".checking",
    },
)
