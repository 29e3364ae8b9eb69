"""X in blocks of rows that need not be in this process's memory: on disk, or on the workers of a Dask cluster."""

from .blocked_design import BlockedDesign
from .dask_inputs import DaskCollection, collect_if_dask, find_column_names
from .disk_inputs import open_blocks
from .runner import Blocks, LocalRunner, Runner
from .second_moments import SecondMoments

__all__ = [
    "BlockedDesign",
    "Blocks",
    "DaskCollection",
    "LocalRunner",
    "Runner",
    "SecondMoments",
    "collect_if_dask",
    "find_column_names",
    "open_blocks",
]
