"""Where x may be nonzero: entries, groups, rows; and the hard-thresholding operators (step S2)."""

from .base import Sparsity, Units
from .entries import Entries, Rows
from .groups import Groups

__all__ = ["Entries", "Groups", "Rows", "Sparsity", "Units"]
