"""Where X is stored: dense or sparse in memory, or any storage that implements `Design`."""

from .base import ColumnBlock, CrossProducts, Design, Moments, RowVector, SelectedColumns
from .blocked import BlockedDesign
from .conversion import as_design
from .dense import DenseDesign
from .sparse import SparseDesign

__all__ = [
    "BlockedDesign",
    "ColumnBlock",
    "CrossProducts",
    "DenseDesign",
    "Design",
    "Moments",
    "RowVector",
    "SelectedColumns",
    "SparseDesign",
    "as_design",
]
