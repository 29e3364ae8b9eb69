"""Where the bytes of a table come from: a file, the one file in a zip archive, or standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from ...limits import BYTE_COST, CHUNK
from ..errors import InputError, check_memory, choose_limit, explain_read_errors, quote_list, quote_path
from .xz import XzFile

#: What opens a compressed file, by the ending of its name.
COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": XzFile}
ZIP = ".zip"
#: Standard input, as the user names it and as messages do.
DASH, STANDARD_INPUT = "-", "standard input"
#: How content begins that says its format; other content is text.
SIGNATURES = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"PAR1": ".parquet", b"PK\x03\x04": ZIP}
#: A part that every Excel file has, and no other archive.
EXCEL_PART = "[Content_Types].xml"
#: What archives have besides the files that a user put there.
HIDDEN = ("__MACOSX/", ".DS_Store", "Thumbs.db")
#: The bit of a member of an archive that says that a password is needed.
ENCRYPTED = 1
#: Methods of archives whose decoders take little memory.
COMPRESSION_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_pattern(source: str) -> bool:
    """Whether what the user names is no file, but a pattern that several files may match.

    Examples
    --------
    >>> from ksparse.cli.files.sources import is_pattern
    >>> is_pattern("data/*.csv"), is_pattern("data/a.csv")
    (True, False)
    """
    return any(sign in source for sign in "*?[") and not os.path.exists(source)


def shorten_source(source: str) -> str:
    """The name of a file without its folders; a pattern keeps the last one, which says more of the files.

    Examples
    --------
    >>> from ksparse.cli.files.sources import shorten_source
    >>> shorten_source("data/a.csv"), shorten_source("study/data/*.csv")
    ('a.csv', 'data/*.csv')
    """
    path = Path(source)
    return Path(path.parent.name, path.name).as_posix() if is_pattern(source) else path.name


def find_suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    packed = path.suffix.lower() in (*COMPRESSED, ZIP)
    return Path(path.stem if packed else path.name).suffix.lower()


@dataclass(frozen=True)
class FileSource:
    """A file, possibly compressed, or the content of standard input.

    Parameters
    ----------
    name : str
        What messages call it.
    path : Path
        The file.
    content : bytes, optional
        What was read from standard input, in place of a file.
    """

    name: str
    path: Path
    content: bytes | None = None

    @cached_property
    def packing(self) -> str:
        """The ending of the compression, or of a zip archive; empty if there is none."""
        suffix = self._guess_suffix() if self.content is not None else self.path.suffix.lower()
        return suffix if suffix in (*COMPRESSED, ZIP) else ""

    @cached_property
    def suffix(self) -> str:
        """The ending that says the format, in lower case; empty if there is none."""
        if self.packing == ZIP:
            return Path(self._member.filename).suffix.lower()
        if self.content is None:
            return find_suffix(self.path)
        return "" if self.packing else self._guess_suffix()

    def open(self) -> BinaryIO:
        """The bytes, decompressed."""
        packed = self._find_packed()
        if self.packing == ZIP:
            member = self._member
            with zipfile.ZipFile(packed) as archive:
                return archive.open(member)  # type: ignore[return-value]  # the archive stays open as long as its file
        if self.packing:
            return COMPRESSED[self.packing](packed)
        return packed.open("rb") if isinstance(packed, Path) else packed

    def open_whole(self, limit: int) -> BinaryIO:
        """The bytes as a file in which one can go back; what must be decompressed for it may take `limit` in memory."""
        if not self.packing:
            return self.open()
        with self.open() as file:
            return io.BytesIO(read_limited(file, limit, self.name))

    def get_unpacked_size(self) -> int:
        """How many bytes a zip archive says that its file has."""
        return self._member.file_size

    def _find_packed(self) -> Any:
        """The bytes as they are: a path, which whoever opens it also closes, or a file in memory."""
        return self.path if self.content is None else io.BytesIO(self.content)

    def _guess_suffix(self) -> str:
        """The ending that a file with the content of standard input would have."""
        content = self.content or b""
        found = next((suffix for mark, suffix in SIGNATURES.items() if content.startswith(mark)), "")
        if found == ZIP and EXCEL_PART in self._list_members():
            return ".xlsx"
        return found

    def _list_members(self) -> dict[str, zipfile.ZipInfo]:
        with zipfile.ZipFile(self._find_packed()) as archive:
            return {member.filename: member for member in archive.infolist() if not member.is_dir()}

    @cached_property
    def _member(self) -> zipfile.ZipInfo:
        """The file in a zip archive, if it is the only one."""
        members = self._list_members()
        names = [name for name in members if not name.startswith(HIDDEN) and not name.endswith(HIDDEN)]
        if len(names) != 1:
            found = f"has {len(names)} files: {quote_list(names)}" if names else "has no file"
            raise InputError(f"{quote_path(self.name)} {found}; expected an archive of one table, so extract it first")
        member = members[names[0]]
        if member.flag_bits & ENCRYPTED:
            raise InputError(f"{quote_path(self.name)} is protected by a password; extract it first")
        if member.compress_type not in COMPRESSION_METHODS:
            raise InputError(f"{quote_path(self.name)} is compressed in an unusual way; extract it first")
        return member


def read_limited(file: BinaryIO, limit: int, name: str, cost: int = 1) -> bytes:
    """All bytes of a file if they do not take more memory than a limit.

    Parameters
    ----------
    file : binary file
        The file.
    limit : int
        Memory in bytes.
    name : str
        What messages call the file.
    cost : int
        Memory that each byte takes.
    """
    parts, size = [], 0
    while chunk := file.read(CHUNK):
        size += len(chunk)
        check_memory(cost * size, limit, f"the content of {quote_path(name)}")
        parts.append(chunk)
    return b"".join(parts)


def find_source(name: str, max_memory: int | None) -> FileSource:
    """What the user names: a file, or ``-`` for standard input, which is read here, since it can be read only once."""
    path = Path(name)
    if name != DASH:
        return FileSource(str(path), path)
    if sys.stdin is None or not hasattr(sys.stdin, "buffer"):
        raise InputError("cannot read standard input: it is closed; give the name of a file")
    with explain_read_errors(STANDARD_INPUT):
        limit = choose_limit(Path(STANDARD_INPUT), max_memory)
        content = read_limited(sys.stdin.buffer, limit, STANDARD_INPUT, BYTE_COST)
    return FileSource(STANDARD_INPUT, Path(STANDARD_INPUT), content)


@contextmanager
def open_for_package(source: FileSource, limit: int, kind: str, package: str) -> Iterator[BinaryIO]:
    """A file for a package that reads such files; what can go wrong there is an `InputError`.

    Parameters
    ----------
    source : FileSource
        The file.
    limit : int
        Memory in bytes that its content may take.
    kind : str
        What it is, such as ``"Excel"``.
    package : str
        What reads it.
    """
    name = quote_path(source.name)
    with explain_read_errors(source.name), source.open_whole(limit) as file:
        try:
            yield file
        except ImportError as error:
            advice = f"install it with: pip install {package}"
            raise InputError(f"{kind} files need {package}; {advice}") from error
        except (InputError, MemoryError):
            raise
        except Exception as error:  # damaged files raise many kinds, without a common base
            article = "an" if kind[0] in "AEIOU" else "a"
            raise InputError(f"{name} is not {article} {kind} file or is damaged; make or download it again") from error
