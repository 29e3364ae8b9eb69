"""The command line: ``ksparse fit`` and ``ksparse predict``."""

from .main import main

__all__ = ["main"]
