"""Files as streams of bytes that are decompressed on the way and end in an error where they grow beyond a limit."""

from __future__ import annotations

import codecs
import io
from typing import Any, TextIO

from ...limits import BYTE_COST, CHUNK, MAX_LINE, describe_size
from ..errors import InputError, check_memory, quote_path
from .sources import FileSource


class LimitedStream(io.RawIOBase):
    """The bytes of a file, decompressed if it says so.

    Parameters
    ----------
    source : FileSource
        The file.
    limit : int
        Memory in bytes that the content may take.
    cost : int
        Memory that each byte takes when it is read.

    Raises
    ------
    InputError
        Where the content takes more than the limit, or a line is longer than `MAX_LINE`.
    """

    def __init__(self, source: FileSource, limit: int, cost: int = BYTE_COST) -> None:
        self._name, self._limit, self._cost = source.name, limit, cost
        self._file = source.open()
        self._size = self._line = 0
        self._pending = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        if not self._pending:
            self._pending = memoryview(self._fetch())
        count = min(len(buffer), len(self._pending))
        buffer[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def _fetch(self) -> bytes:
        """The next bytes; none at the end."""
        chunk = self._file.read(CHUNK)
        self._size += len(chunk)
        check_memory(self._cost * self._size, self._limit, f"the content of {quote_path(self._name)}")
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._line = self._line + len(chunk) if end < 0 else len(chunk) - end - 1
        if self._line > MAX_LINE:
            raise InputError(
                f"{quote_path(self._name)} has a line of more than {describe_size(MAX_LINE)}; expected lines of cells"
                " with separators"
            )
        return chunk


class TextStream(LimitedStream):
    """The text of a file as UTF-8, from any encoding.

    Parameters
    ----------
    source : FileSource
        The file.
    limit : int
        Memory in bytes that the content may take.
    encoding : str
        The encoding of the file; a byte-order mark is left out by ``utf-8-sig``, ``utf-16`` and ``utf-32``.
    """

    def __init__(self, source: FileSource, limit: int, encoding: str) -> None:
        super().__init__(source, limit)
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def _fetch(self) -> bytes:
        text = ""
        ended = False
        while not text and not ended:  # a chunk may hold no more than a part of a letter
            chunk = super()._fetch()
            ended = not chunk
            text = self._decoder.decode(chunk, ended)
        return text.encode()


def open_bytes(source: FileSource, limit: int, cost: int = BYTE_COST) -> io.BufferedReader:
    """The bytes of a file, up to a limit on the memory that they take."""
    return io.BufferedReader(LimitedStream(source, limit, cost), CHUNK)


def open_text_bytes(source: FileSource, limit: int, encoding: str) -> io.BufferedReader:
    """The text of a file as bytes of UTF-8, up to a limit."""
    return io.BufferedReader(TextStream(source, limit, encoding), CHUNK)


def open_text(source: FileSource, limit: int, encoding: str) -> TextIO:
    """The text of a file with its own line ends, up to a limit."""
    return io.TextIOWrapper(open_text_bytes(source, limit, encoding), encoding="utf-8", newline="")
