"""Files that xz has compressed; unlike those of the standard library, they limit the memory of the decoder."""

from __future__ import annotations

import io
import lzma
from pathlib import Path
from typing import Any, BinaryIO

from ...limits import CHUNK, XZ_MEMORY, describe_size
from ..errors import InputError


class XzFile(io.RawIOBase):
    """The content of an xz file, of one stream or several.

    Parameters
    ----------
    file : Path or binary file
        The compressed file.
    """

    def __init__(self, file: Path | BinaryIO) -> None:
        self._file: BinaryIO = file.open("rb") if isinstance(file, Path) else file
        self._decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        content = b""
        while not content:
            packed = b""
            if self._decoder.eof:
                packed = self._find_next_stream()
                if not packed:
                    return 0
                self._decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif self._decoder.needs_input:
                packed = self._file.read(CHUNK)
                if not packed:
                    raise EOFError("the file ends within a stream")
            content = self._decompress(packed, len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _find_next_stream(self) -> bytes:
        """The first bytes after the end of a stream and its padding."""
        packed = self._decoder.unused_data.lstrip(b"\0")
        while not packed and (chunk := self._file.read(CHUNK)):
            packed = chunk.lstrip(b"\0")
        return packed

    def _decompress(self, packed: bytes, most: int) -> bytes:
        try:
            return self._decoder.decompress(packed, most)
        except lzma.LZMAError as error:
            if "limit" in str(error):
                raise InputError(
                    f"an .xz file needs more than {describe_size(XZ_MEMORY)} of memory to be read; compress it again"
                    " with xz -9 or less"
                ) from error
            raise
