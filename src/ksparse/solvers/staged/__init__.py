"""The default solver for graphs, `StagedSwap`: `SwapGraHTP` with stages and batch swaps in the place of PURSUE.

`staged_swap` shows which phase follows which; `stages` has the schedule, and what a batch swap does.
"""

from .staged_swap import StagedSwap, specialize

__all__ = ["StagedSwap", "specialize"]
