"""Docstrings with shared texts, each written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc
from string import Template
from typing import TypeVar

__all__ = ["fill_docstrings"]

C = TypeVar("C", bound=type)


def fill_docstrings(texts: Mapping[str, str]) -> Callable[[C], C]:
    """A class decorator that replaces lines like ``$name`` in docstrings of a class and of its methods by texts.

    Examples
    --------
    >>> @fill_docstrings({"k": "k : int"})
    ... class Model:
    ...     '''A model. $k'''
    >>> Model.__doc__
    'A model. k : int'
    """

    def fill(cls: C) -> C:
        for member in (cls, *vars(cls).values()):
            documented = getattr(member, "__func__", member)  # the function of a class method
            if callable(documented) and "$" in (documented.__doc__ or ""):
                documented.__doc__ = Template(cleandoc(documented.__doc__)).substitute(texts)
        return cls

    return fill
