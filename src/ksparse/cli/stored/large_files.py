"""Whether files are read in blocks of rows, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...designs.blocked.disk_inputs import choose_memory_limit, find_machine_memory
from ...designs.blocked.disk_paths import list_matches
from ...limits import describe_size
from ..errors import InputError, explain_read_errors, quote_path
from ..files.sources import DASH, ZIP, FileSource, is_pattern
from ..reading import PARQUET, TEXT, ReadingOptions
from .parquet_files import open_parquet_table, read_footer
from .table import FindUnneeded, StoredTable
from .text_pieces import open_large_text, store_text

__all__ = ["StoredFiles", "can_be_stored", "find_large_file", "find_stored_files"]

#: Larger data are read in blocks without being asked to: this fraction of the memory of the machine.
MEMORY_FRACTION = 0.5
#: Numbers in a Parquet file are rarely more than so many times its size, and those in a text file 8 bytes for two
#: letters; smaller files need not be opened to know that they fit.
MOST_GROWTH = {True: 50, False: 4}
#: Letters that are looked at, and compressed bytes, to estimate what a file takes.
SAMPLE, PACKED_SAMPLE = 2**20, 2**18
#: What separates cells.
SEPARATING = b",;\t| "
BYTES_OF_NUMBER = 8


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
    limit = choose_memory_limit(max_memory)
    if asked is not None or pattern:
        is_parquet = _require_format(paths, options)
        reason = "since they are several files" if asked is None else f"since {asked} asks for it"
        return StoredFiles(source, tuple(paths), is_parquet, reason, limit)
    reason = find_large_file(source, options, max_memory)
    return StoredFiles(source, (source,), source.lower().endswith(PARQUET), reason, limit) if reason else None


def find_large_file(source: str, options: ReadingOptions, max_memory: int | None = None) -> str:
    """Why one file is read in blocks, in words; empty if it is not."""
    most = MEMORY_FRACTION * find_machine_memory() if max_memory is None else max_memory
    if not can_be_stored(source, options):
        return ""
    is_parquet, found = source.lower().endswith(PARQUET), FileSource(source, Path(source))
    with explain_read_errors(source):
        packed = max(_find_growth(found), 1.0) if found.packing else 1.0
        size = packed * os.path.getsize(source)
        if MOST_GROWTH[is_parquet] * size <= most:
            return ""
        needed = _measure_parquet(source) if is_parquet else size * _find_text_factor(found)
    if needed <= most:
        return ""
    allowed = f"half of the {describe_size(int(find_machine_memory()))} of memory"
    if max_memory is not None:
        allowed = f"the {describe_size(max_memory)} of --max-memory"
    return f"since it takes about {describe_size(int(needed))}, more than {allowed}"


def can_be_stored(source: str, options: ReadingOptions) -> bool:
    """Whether a file can be read in blocks."""
    if source == DASH or not os.path.isfile(source) or options.transpose or options.labels is not None:
        return False
    found = FileSource(source, Path(source))
    with explain_read_errors(source):
        return source.lower().endswith(PARQUET) or found.suffix in TEXT


def _measure_parquet(path: str) -> float:
    schema, rows = read_footer(path)
    return float(BYTES_OF_NUMBER * rows * len(schema.names))


def _find_growth(source: FileSource) -> float:
    """How many times as much a compressed file has, by its start."""
    if source.packing == ZIP:
        return float(source.get_unpacked_size() / max(source.path.stat().st_size, 1))
    with source.path.open("rb") as file:
        start = file.read(PACKED_SAMPLE)
    unpacked = 0
    try:
        with FileSource(source.name, source.path, start).open() as content:
            while chunk := content.read(SAMPLE // 256):  # the last part, which ends too early, is lost
                unpacked += len(chunk)
    except EOFError:  # the rest of the file is not there
        pass
    return unpacked / max(len(start), 1)


def _find_text_factor(source: FileSource) -> float:
    """How many times as much the numbers or letters of a text file take, by its start."""
    with source.open() as file:
        text = file.read(SAMPLE)
    cells = text.count(b"\n") + max(text.count(mark.to_bytes(1, "little")) for mark in SEPARATING)
    return max(BYTES_OF_NUMBER * cells / max(len(text), 1), 1.0)


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
