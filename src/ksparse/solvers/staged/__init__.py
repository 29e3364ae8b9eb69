"""The default solver for graphs, `StagedSwap`: `SwapGraHTP` with stages and batch swaps in the place of PURSUE.

`solver` shows which phase follows which; `stages` has the schedule, and what a batch swap does.
"""

from .solver import StagedSwap, specialize

__all__ = ["StagedSwap", "specialize"]
