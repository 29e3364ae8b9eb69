"""The command line: ``ksparse fit``, ``ksparse predict`` and ``ksparse reproduce``."""

from .main import main

__all__ = ["main"]
