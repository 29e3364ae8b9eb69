"""Whether files are read in blocks of rows, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...designs.blocked.disk_inputs import choose_memory_limit, find_machine_memory
from ...designs.blocked.disk_paths import find_partition_names, list_matches
from ...limits import BYTE_COST, CELL_COST, COLUMN_COST, describe_size
from ..errors import (
    InputError,
    MemoryLimitError,
    choose_limit,
    escape_control,
    explain_read_errors,
    quote_list,
    quote_path,
)
from ..files.parquet import estimate_parquet_memory
from ..files.sources import DASH, FileSource, is_pattern
from ..files.text_files import TextFile
from ..reading import PARQUET, TEXT, ReadingOptions
from .parquet_files import open_parquet_table, read_footer
from .table import FindUnneeded, StoredTable
from .text_pieces import open_large_text, store_text

__all__ = ["StoredFiles", "can_be_stored", "find_large_file", "find_stored_files"]

#: Files that need more memory are read in blocks without being asked to: this fraction of the memory of the machine.
MEMORY_FRACTION = 0.5
#: A byte of text needs no more memory, even if it is a column; so small files need not be read to know that they fit.
MOST_BYTE_COST = BYTE_COST + 2 * CELL_COST + COLUMN_COST


@dataclass(frozen=True)
class StoredFiles:
    """Files of one table that are read in blocks.

    Parameters
    ----------
    source : str
        What the user wrote.
    paths : tuple of str
        The files.
    is_parquet : bool
        Whether they are Parquet files; otherwise they are text.
    reason : str
        Why they are read in blocks, in words.
    limit : float
        Memory in bytes that this may take.
    """

    source: str
    paths: tuple[str, ...]
    is_parquet: bool
    reason: str
    limit: float

    def open(self, options: ReadingOptions, folder: Path, find_unneeded: FindUnneeded) -> StoredTable:
        """The table.

        Parameters
        ----------
        options : ReadingOptions
            What the user says about the files.
        folder : Path
            Where what is made of the files is kept.
        find_unneeded : callable
            Gives the columns that are not used, by all their names.
        """
        if self.is_parquet:
            return open_parquet_table(self.source, self.paths, options, folder, self.limit, find_unneeded)
        files = [open_large_text(path, options) for path in self.paths]
        return store_text(self.source, files, folder, self.limit, find_unneeded)

    def describe(self, *, by_cluster: bool = False) -> str:
        """That they are read in blocks, and why; within which memory, unless the workers of a cluster read them."""
        files = "1 file is" if len(self.paths) == 1 else f"{len(self.paths)} files are"
        within = "" if by_cluster else f" within {describe_size(int(self.limit))} of memory,"
        return f"{files} read in blocks,{within} {self.reason}"


def find_stored_files(
    source: str, options: ReadingOptions, max_memory: int | None = None, *, asked: str | None = None
) -> StoredFiles | None:
    """The files to read in blocks: if that was asked for, if they are several, or if they would take much memory.

    Parameters
    ----------
    source : str
        A file, or a pattern that several match.
    options : ReadingOptions
        What the user says about the files.
    max_memory : int, optional
        Memory in bytes that the data may take; by default half of the memory of the machine.
    asked : str, optional
        The option by which the user asks for blocks.
    """
    pattern = is_pattern(source)
    paths = list_matches(source) if pattern else [source]
    if not paths:
        raise InputError(f"no file matches {quote_path(source)}; check the pattern")
    if names := find_partition_names(paths):
        raise InputError(
            f"{quote_list(names)}: in the names of folders ({escape_control(names[0])}=...) and not in the files, so"
            " such columns would be lost; write the table without partitions, or give the files of one folder"
        )
    limit = choose_memory_limit(max_memory)
    if asked is not None or pattern:
        is_parquet = _require_format(paths, options)
        reason = "since they are several files" if asked is None else f"since {asked} asks for it"
        return StoredFiles(source, tuple(paths), is_parquet, reason, limit)
    reason = find_large_file(source, options, max_memory)
    return StoredFiles(source, (source,), source.lower().endswith(PARQUET), reason, limit) if reason else None


def find_large_file(source: str, options: ReadingOptions, max_memory: int | None = None) -> str:
    """Why one file is read in blocks, in words; empty if it is not.

    What decides is the estimate by which the reader of whole files refuses them.
    """
    if not can_be_stored(source, options):
        return ""
    most = int(MEMORY_FRACTION * find_machine_memory()) if max_memory is None else max_memory
    is_parquet = source.lower().endswith(PARQUET)
    with explain_read_errors(source):
        if is_parquet:
            needed = float(estimate_parquet_memory(read_footer(source)[1]))
        else:
            needed = _estimate_text(source, options, most, choose_limit(Path(source), max_memory))
    if needed <= most:
        return ""
    allowed = f"half of the {describe_size(int(find_machine_memory()))} of memory"
    if max_memory is not None:
        allowed = f"the {describe_size(max_memory)} of --max-memory"
    about = "" if needed == float("inf") else f"about {describe_size(int(needed))}, "
    return f"since reading it as a whole would take {about}more than {allowed}"


def can_be_stored(source: str, options: ReadingOptions) -> bool:
    """Whether a file can be read in blocks."""
    if source == DASH or not os.path.isfile(source) or options.transpose or options.labels is not None:
        return False
    found = FileSource(source, Path(source))
    with explain_read_errors(source):
        return source.lower().endswith(PARQUET) or found.suffix in TEXT


def _estimate_text(path: str, options: ReadingOptions, most: int, limit: int) -> float:
    """Memory that a text file needs as a whole: infinite if its letters alone need more than `most`.

    Where the reader would refuse them, by its own `limit`, this is 0, so that it says so.
    """
    source = FileSource(path, Path(path))
    if not source.packing and MOST_BYTE_COST * source.path.stat().st_size <= most:
        return 0.0
    try:
        return TextFile(source, options, min(most, limit)).estimate_memory()
    except MemoryLimitError:
        return float("inf") if most <= limit else 0.0


def _require_format(paths: Sequence[str], options: ReadingOptions) -> bool:
    """Whether files are Parquet, and not text; raises if they can be read only as a whole."""
    for option, given in (("--transpose", options.transpose), ("--labels", options.labels is not None)):
        if given:
            raise InputError(
                f"{option} needs the whole table in memory; leave it out for files that are read in blocks"
            )
    kinds = set()
    for path in paths:
        if not os.path.isfile(path):
            raise InputError(f"{quote_path(path)} is no file; only files can be read in blocks, so check the path")
        source = FileSource(path, Path(path))
        with explain_read_errors(path):
            suffix = source.suffix
        if suffix not in (*TEXT, *PARQUET) or (suffix in PARQUET and source.packing):
            raise InputError(
                f"{quote_path(path)} cannot be read in blocks, but text ({', '.join(filter(None, TEXT))}, also"
                " compressed) and Parquet (.parquet) can; save it as one of them"
            )
        kinds.add(suffix in PARQUET)
    if len(kinds) > 1:
        raise InputError("some files are text and some are Parquet; give files of one kind")
    return kinds.pop()
