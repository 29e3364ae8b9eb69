"""The command line: ``ksparse fit`` and ``ksparse predict``."""

from .program import main, run

__all__ = ["main", "run"]
