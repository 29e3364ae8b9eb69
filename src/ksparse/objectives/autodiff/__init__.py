"""Objectives from any function that JAX or PyTorch can differentiate."""

from .factories import from_jax, from_torch
from .objective import AutodiffFunction

__all__ = ["AutodiffFunction", "from_jax", "from_torch"]
