"""The default solver for graphs, `StagedSwap`: `SwapGraHTP` with stages and batch swaps in the place of PURSUE.

`solver` shows which phase follows which, `stages` the schedule, and `batches` what a batch swap does.
"""

from .solver import StagedSwap

__all__ = ["StagedSwap"]
