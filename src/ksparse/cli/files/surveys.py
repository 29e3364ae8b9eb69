"""A first look at a whole text file: its encoding, and how much there is of what it is made of."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...limits import CHUNK
from ..errors import InputError, quote_path
from .limited_files import open_bytes, open_text_bytes
from .sources import FileSource

#: How text begins that says its encoding; UTF-32 first, since its mark begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
UTF_8 = "utf-8"
#: The encoding of text that is not UTF-8: that of Windows and of Excel in Western Europe and America.
WINDOWS = "cp1252"
#: Bytes that have no meaning there.
NOT_WINDOWS = b"\x81\x8d\x8f\x90\x9d"
#: A byte of Windows-1252 is up to three of UTF-8.
WINDOWS_GROWTH = 3
#: What may separate cells, and is counted.
COUNTED = b",;\t| "


@dataclass
class Survey:
    """What a text file has, as UTF-8.

    Parameters
    ----------
    encoding : str
        Its encoding.
    """

    encoding: str
    size: int = 0
    lines: int = 0
    quotes: int = 0
    marks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED.decode(), 0))
    notes: tuple[str, ...] = ()


def survey_text(source: FileSource, limit: int, encoding: str | None) -> Survey:
    """Look at a text file once, from its start to its end; raises `InputError` if it is not text.

    Parameters
    ----------
    source : FileSource
        The file.
    limit : int
        Memory in bytes that the content may take.
    encoding : str, optional
        The encoding, if the user gave it.
    """
    with open_bytes(source, limit) as file:
        head = file.peek(4)
    encoding = encoding or next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    return _survey_unknown(source, limit) if encoding is None else _survey_known(source, limit, encoding)


def _survey_known(source: FileSource, limit: int, encoding: str) -> Survey:
    survey = Survey(encoding)
    with open_text_bytes(source, limit, encoding) as file:
        _check_nul(source, _count_chunks(iter(lambda: file.read(CHUNK), b""), survey))
    return survey


def _survey_unknown(source: FileSource, limit: int) -> Survey:
    """The survey of a file that does not say its encoding: UTF-8 if it can be, or that of Windows."""
    survey, decoder = Survey(UTF_8), codecs.getincrementaldecoder(UTF_8)()
    is_utf_8 = is_windows = True

    def read_chunks() -> Iterator[bytes]:
        nonlocal is_utf_8, is_windows
        chunk = b"-"
        while chunk:
            chunk = file.read(CHUNK)
            is_windows = is_windows and not any(byte in chunk for byte in NOT_WINDOWS)
            try:
                if is_utf_8:
                    decoder.decode(chunk, not chunk)
            except UnicodeDecodeError:
                is_utf_8 = False
            yield chunk

    with open_bytes(source, limit) as file:
        _check_nul(source, _count_chunks(read_chunks(), survey))
    if is_utf_8:
        return survey
    if not is_windows:
        raise InputError(
            f"{quote_path(source.name)} is not UTF-8 text, nor Windows-1252; save it as UTF-8, name its encoding with"
            " --encoding, or check that it is the right file"
        )
    survey.encoding, survey.size = WINDOWS, WINDOWS_GROWTH * survey.size
    survey.notes = ("The file is not UTF-8; it was read as Windows-1252 text (--encoding sets another one)",)
    return survey


def _count_chunks(chunks: Iterator[bytes], survey: Survey) -> list[int]:
    """Count what is in some bytes; the lines that have NUL characters."""
    found: list[int] = []
    for chunk in chunks:
        if b"\0" in chunk:
            rows = chunk.split(b"\n")
            found += [survey.lines + row + 1 for row, text in enumerate(rows) if b"\0" in text]
        survey.size += len(chunk)
        survey.lines += max(chunk.count(b"\n"), chunk.count(b"\r"))
        survey.quotes += chunk.count(b'"')
        for mark in survey.marks:
            survey.marks[mark] += chunk.count(mark.encode())
    return sorted(set(found))


def _check_nul(source: FileSource, lines: list[int]) -> None:
    """Raise if there are NUL characters: pandas would end a cell there, and so make one label of two."""
    if lines:
        where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} lines, first on line {lines[0]}"
        raise InputError(
            f"{quote_path(source.name)} has NUL characters ({where}), so it is not UTF-8 text; save it as UTF-8, name"
            " its encoding with --encoding (such as utf-16-le), or check that it is the right file"
        )
