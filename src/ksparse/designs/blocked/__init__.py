"""X in blocks of rows that need not be in this process's memory: on disk, or on the workers of a Dask cluster."""

from .blocked_design import BlockedDesign
from .dask_inputs import DaskCollection, collect_if_dask, find_column_names
from .dask_targets import open_row_values
from .disk_inputs import open_blocks
from .row_values import RowValues, collect_values, fill_rows, map_values, multiply_rows, reduce_values
from .runner import Blocks, LocalRunner, Runner
from .second_moments import SecondMoments

__all__ = [
    "BlockedDesign",
    "Blocks",
    "DaskCollection",
    "LocalRunner",
    "RowValues",
    "Runner",
    "SecondMoments",
    "collect_if_dask",
    "collect_values",
    "fill_rows",
    "find_column_names",
    "map_values",
    "multiply_rows",
    "open_blocks",
    "open_row_values",
    "reduce_values",
]
