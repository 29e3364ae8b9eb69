"""What the user says about a file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadingOptions"]


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a table; what is left at its default is found out from the file.

    Parameters
    ----------
    sep : str, optional
        What separates the cells of a text file: one character; a space stands for runs of spaces and tabs.
    decimal : {".", ","}, optional
        The decimal mark of the numbers in a text file.
    skip : int
        Lines or rows before the names of the columns; comments and blank lines there are skipped anyway.
    na : tuple of str
        Cells that mean a missing value, such as ``-999``, besides the usual ones.
    transpose : bool
        Whether features are in rows, and samples in columns.
    labels : str, optional
        A second file, with the target (and other columns) of the samples.
    encoding : str, optional
        The encoding of a text file.
    """

    sep: str | None = None
    decimal: str | None = None
    skip: int = 0
    na: tuple[str, ...] = ()
    transpose: bool = False
    labels: str | None = None
    encoding: str | None = None
