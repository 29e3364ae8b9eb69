"""Sparsity sets of entries, groups, rows or pairs, and their hard-thresholding operators (step S2)."""

from .base import Sparsity, Units
from .entries import Entries, Groups, Rows
from .pairs import Pairs, make_set

__all__ = ["Entries", "Groups", "Pairs", "Rows", "Sparsity", "Units", "make_set"]
