"""Fitted models as plain JSON: `save` and `load`.

The file holds numbers, names and nothing that runs, so a model from a stranger is safe to open: every field is checked,
the class is looked up in a fixed table, and a file cannot ask for more memory than `LARGEST` coefficients.
"""

from .files import load, notes, save
from .reading import loads
from .writing import dumps, write_text

__all__ = ["dumps", "load", "loads", "notes", "save", "write_text"]
