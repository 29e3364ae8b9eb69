"""The command line: ``ksparse fit``."""

from .main import main

__all__ = ["main"]
