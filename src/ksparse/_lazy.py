"""Names of a package that are imported when they are used: pandas and rich take longer to import than all the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["import_when_used"]


def import_when_used(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The function ``__getattr__`` of a package, for names that are in the modules after them.

    Examples
    --------
    >>> from ksparse._lazy import import_when_used
    >>> import_when_used("ksparse.tables", {"TableEncoder": ".encoder"})("TableEncoder").__name__
    'TableEncoder'
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    return find
