"""The default solver for graphs."""

from .solver import StagedSwap

__all__ = ["StagedSwap"]
