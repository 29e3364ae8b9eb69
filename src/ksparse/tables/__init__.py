"""Tables as people have them: text, gaps and dates in, features that are finite numbers out."""

from .encoder import TableEncoder
from .encoding import EncodedColumns, Encoding, find_columns_of, find_encoding
from .giveaways import Giveaway, find_giveaways
from .kinds import ColumnKind, KindOfColumn
from .unused import UnusedColumn

__all__ = [
    "ColumnKind",
    "EncodedColumns",
    "Encoding",
    "Giveaway",
    "KindOfColumn",
    "TableEncoder",
    "UnusedColumn",
    "find_columns_of",
    "find_encoding",
    "find_giveaways",
]
