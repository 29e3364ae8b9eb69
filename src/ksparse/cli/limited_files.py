"""Files as streams of bytes that are decompressed on the way and end in an error where they grow beyond a limit."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
from pathlib import Path
from typing import Any, TextIO

from ..limits import BYTE_COST, CHUNK, MAX_LINE, describe_size
from .errors import InputError, check_memory, quote_path

COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
#: How text begins that says its encoding; UTF-32 first, since its mark begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class LimitedStream(io.RawIOBase):
    """The bytes of a file, decompressed if its name says so.

    Parameters
    ----------
    path : Path
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

    def __init__(self, path: Path, limit: int, cost: int = BYTE_COST) -> None:
        self._path, self._limit, self._cost = path, limit, cost
        self._file = COMPRESSED.get(path.suffix.lower(), open)(path, "rb")
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
        chunk: bytes = self._file.read(CHUNK)
        self._size += len(chunk)
        check_memory(self._cost * self._size, self._limit, f"the content of {quote_path(self._path)}")
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._line = self._line + len(chunk) if end < 0 else len(chunk) - end - 1
        if self._line > MAX_LINE:
            raise InputError(
                f"{quote_path(self._path)} has a line of more than {describe_size(MAX_LINE)}; expected lines of numbers"
                " with separators"
            )
        return chunk


class TextStream(LimitedStream):
    """The text of a file as UTF-8, from UTF-8, or from UTF-16 or UTF-32 with a byte-order mark."""

    _decoder: codecs.IncrementalDecoder | None = None

    def _fetch(self) -> bytes:
        text = b""
        ended = False
        while not text and not ended:  # a chunk may hold no more than a part of a letter
            chunk = super()._fetch()
            ended = not chunk
            text = self._convert(chunk, ended)
        return text

    def _convert(self, chunk: bytes, ended: bool) -> bytes:
        if self._decoder is None:
            encoding = next((name for mark, name in MARKS.items() if chunk.startswith(mark)), "utf-8-sig")
            self._decoder = codecs.getincrementaldecoder(encoding)()
        text = self._decoder.decode(chunk, ended)
        if "\0" in text:
            # pandas would end a cell there, and so make one label of two.
            raise InputError(
                f"{quote_path(self._path)} has NUL characters, so it is not UTF-8 text; save it as UTF-8, or check that"
                " it is the right file"
            )
        return text.encode()


def open_bytes(path: Path, limit: int, cost: int) -> io.BufferedReader:
    """The bytes of a file, up to a limit on the memory that they take."""
    return io.BufferedReader(LimitedStream(path, limit, cost), CHUNK)


def open_text_bytes(path: Path, limit: int) -> io.BufferedReader:
    """The text of a file as bytes of UTF-8, up to a limit."""
    return io.BufferedReader(TextStream(path, limit), CHUNK)


def open_text(path: Path, limit: int) -> TextIO:
    """The text of a file with its own line ends, up to a limit."""
    return io.TextIOWrapper(open_text_bytes(path, limit), encoding="utf-8", newline="")
