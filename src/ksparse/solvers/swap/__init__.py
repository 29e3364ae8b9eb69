"""The default solver for features."""

from .solver import SwapGraHTP

__all__ = ["SwapGraHTP"]
