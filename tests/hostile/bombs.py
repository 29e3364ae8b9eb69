"""Small files of data that ask for much memory or time."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pytest

MEGABYTE = 2**20


def open_compressed(path: Path, stack: contextlib.ExitStack) -> IO[bytes]:
    if path.suffix == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1))
        return stack.enter_context(archive.open("a.csv", "w"))
    openers: dict[str, Any] = {".gz": partial(gzip.open, compresslevel=1), ".bz2": bz2.open}
    return stack.enter_context(openers.get(path.suffix, partial(lzma.open, preset=0))(path, "wb"))


def write_compressed(path: Path, head: bytes, block: bytes, count: int) -> None:
    with contextlib.ExitStack() as stack:
        file = open_compressed(path, stack)
        file.write(head)
        for _ in range(count):
            file.write(block)


def write_xz_of_much_memory(path: Path) -> None:
    """A file whose decoder would take 1.5 GB at once, by what it says."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 3 * 2**29}]
    # The encoder would take more; only the description of the filter is of the large dictionary.
    small = lzma.compress(b"x,y\n1,2\n", filters=[filters[0] | {"dict_size": 2**20}])
    header = bytearray(small[12:24])
    at = header.index(bytes([lzma.FILTER_LZMA2, 1])) + 2
    header[at] = 37  # 1.5 GB
    header[8:12] = zlib.crc32(bytes(header[:8])).to_bytes(4, "little")
    path.write_bytes(small[:12] + bytes(header) + small[24:])


def write_lying_zip(path: Path) -> None:
    """An archive that says its file is small."""
    write_compressed(path, b"x,y\n", b"1,2\n" * (MEGABYTE // 4), 40)
    content = path.read_bytes()
    size = (4 + 40 * MEGABYTE).to_bytes(4, "little")
    assert content.count(size) >= 1
    path.write_bytes(content.replace(size, (1000).to_bytes(4, "little")))


RELATED = "xl/_rels/workbook.xml.rels"
SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
OFFICE = "http://schemas.openxmlformats.org"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
RELATIONS = f"{OFFICE}/officeDocument/2006/relationships"
#: The parts of a workbook with the columns x and y, and two rows.
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types">'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/{SHEET}" ContentType="{TYPES}.worksheet+xml"/>'
    f'<Override PartName="/{STRINGS}" ContentType="{TYPES}.sharedStrings+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{OFFICE}/spreadsheetml/2006/main" xmlns:r="{RELATIONS}">'
    '<sheets><sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
    RELATED: f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
    STRINGS: f'<sst xmlns="{OFFICE}/spreadsheetml/2006/main"><si><t>x</t></si><si><t>y</t></si><si><t>a</t></si></sst>',
    SHEET: f'<worksheet xmlns="{OFFICE}/spreadsheetml/2006/main"><sheetData>'
    '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
    '<row><c><v>1</v></c><c t="s"><v>2</v></c></row></sheetData></worksheet>',
}


def write_excel(path: Path, changes: dict[str, Iterable[str]]) -> None:
    """A small workbook with another content of some of its parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in PARTS.items():
            with archive.open(name, "w") as file:
                for piece in changes.get(name, [text]):
                    file.write(piece.encode())


def write_rows(path: Path, row: str, count: int, **changes: Iterable[str]) -> None:
    """A workbook with so many equal rows."""
    head, tail = PARTS[SHEET].split("</sheetData>")
    rows = (row * min(count, 1000) for _ in range(max(count // 1000, 1)))
    write_excel(path, {SHEET: chain([head], rows, ["</sheetData>" + tail]), **changes})


ENTITIES = (
    '<!DOCTYPE a [<!ENTITY b "'
    + "b" * 1000
    + '">'
    + "".join(f'<!ENTITY c{i} "{"&b;" * 100}">' for i in range(9))
    + "]>"
)


def write_long_labels(path: Path) -> None:
    rows = [f"{i % 7}.5,{'ab'[i % 2]}" for i in range(4000)]
    rows += [f"1.5,{letter * 120_000}" for letter in "yyzz"]
    path.write_text("x,y\n" + "\n".join(rows))


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path, compression="zstd", **options)


def write_repeated_text(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    texts = arrow.DictionaryArray.from_arrays(arrow.array([0, 1] * 3000, arrow.int32()), ["a" * 10**6, "b" * 10**6])
    write_parquet(path, {"x": list(range(6000)), "y": texts})


def write_many_rows(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    zeros = arrow.array(memoryview(bytes(20 * 10**6)).cast("b"))
    write_parquet(path, {"x": zeros, "y": zeros}, row_group_size=10**6)


REFERENCE = '<Relationship Id="a" Type="b" Target="c"/>'
LONG_STRING = PARTS[STRINGS].replace("<t>a</t>", f"<t>{'a' * MEGABYTE}</t>")

#: How a file is written, options, the exit code, and what the error or the output says.
DATA: dict[str, tuple[Any, list[str], int, str]] = {
    "long-labels.csv": (write_long_labels, ["--target", "y", "--k", "1", "--test", "0"], 0, "zzzz…zzzz"),
    "endless-line.csv.gz": (
        lambda path: write_compressed(path, b"x,y\n", b"a" * MEGABYTE, 90),
        ["--target", "y"],
        2,
        "a line of more than 64 MB",
    ),
    "endless-line.csv.bz2": (
        lambda path: write_compressed(path, b"x,y\n", b"a" * MEGABYTE, 90),
        ["--target", "y"],
        2,
        "a line of more than 64 MB",
    ),
    "endless-header.csv.gz": (
        lambda path: write_compressed(path, b"", b"a," * (MEGABYTE // 2), 90),
        ["--target", "y"],
        2,
        "a line of more than 64 MB",
    ),
    "endless-quote.csv.gz": (
        lambda path: write_compressed(path, b'x,"', b"a\n" * (MEGABYTE // 2), 90),
        ["--target", "y"],
        2,
        "field larger than field limit",
    ),
    "many-rows.csv.gz": (
        lambda path: write_compressed(path, b"x,y\n", b"1,2\n" * (MEGABYTE // 4), 90),
        ["--target", "y"],
        2,
        "memory, more than 2 GB; if you trust the file, allow more with --max-memory",
    ),
    "blank-lines.csv.gz": (
        lambda path: write_compressed(path, b"x,y\n1,2\n", b"\n" * MEGABYTE, 90),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "blank-start.csv.gz": (
        lambda path: write_compressed(path, b"", b"\n" * MEGABYTE, 90),
        ["--target", "y"],
        2,
        "is empty",
    ),
    "short-rows.csv": (
        lambda path: path.write_text(
            ",".join(f"c{i}" for i in range(2000)) + ",y\n" + "1," * 2000 + "1\n" + "1\n" * 100_000
        ),
        ["--target", "y"],
        2,
        "100000 have 1 (first on line 3)",
    ),
    "commas.csv": (
        lambda path: path.write_text("y" + "," * 2 * MEGABYTE + "\n" + "1" + "," * 2 * MEGABYTE + "\n"),
        ["--target", "y"],
        2,
        "no column besides the target",
    ),
    "columns.csv": (
        lambda path: path.write_text("y," + "a,b" * 10),
        ["--target", "z", "--max-memory", "1KB"],
        2,
        "9 columns called",
    ),
    "many-short-rows.csv.gz": (
        lambda path: write_compressed(path, b"y,a\n", b"0,1\n1,0\n" * (MEGABYTE // 8), 12),
        ["--target", "y", "--k", "1", "--max-memory", "1GB"],
        2,
        "rows and 1 features",
    ),
    "index.svm": (
        lambda path: path.write_text("1 1:1\n0 60000000:1\n" * 10),
        ["--k", "1"],
        2,
        "(their largest number is 60000000) would take about 251 GB of memory, more than 2 GB",
    ),
    "last-index.svm": (
        lambda path: path.write_text("1 1:1\n0 2147483646:1\n" * 10),
        ["--k", "1"],
        2,
        "(their largest number is 2147483646)",
    ),
    "endless-line.svm.gz": (
        lambda path: write_compressed(path, b"1 1:1\n1 ", b"2" * MEGABYTE, 90),
        ["--k", "1"],
        2,
        "a line of more than 64 MB",
    ),
    "many-rows.svm.gz": (
        lambda path: write_compressed(path, b"1 1:1\n", b"1 1:1 \n" * (MEGABYTE // 7), 90),
        ["--k", "1", "--max-memory", "100MB"],
        2,
        "memory, more than",
    ),
    "endless-line.csv.xz": (
        lambda path: write_compressed(path, b"x,y\n", b"a" * MEGABYTE, 90),
        ["--target", "y"],
        2,
        "a line of more than 64 MB",
    ),
    # Text that would take more than --max-memory is read in blocks, within it.
    "many-rows.csv.xz": (
        lambda path: write_compressed(path, b"x,y\n", b"1,2\n" * (MEGABYTE // 4), 40),
        ["--target", "y", "--max-memory", "500MB"],
        2,
        "has only one class",
    ),
    "decoder.csv.xz": (write_xz_of_much_memory, ["--target", "y"], 2, "needs more than 256 MB of memory"),
    "many-rows.zip": (
        lambda path: write_compressed(path, b"x,y\n", b"1,2\n" * (MEGABYTE // 4), 90),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "lies.zip": (write_lying_zip, ["--target", "y", "--max-memory", "100MB"], 2, "damaged or not compressed"),
    "spaces.txt": (
        lambda path: path.write_text("x y\n" + (" " * 1000 + "1 2\n") * 40_000),
        ["--target", "y", "--max-memory", "1GB"],
        2,
        "has only one class",
    ),
    "comments.csv": (lambda path: path.write_text("#\n" * 1_000_000), ["--target", "y"], 2, "is empty"),
    "high-letters.csv": (
        lambda path: path.write_bytes(b"x,y\n" + b"\x80,1\n" * (4 * MEGABYTE)),
        ["--target", "y", "--max-memory", "500MB"],
        2,
        "has only one class",
    ),
    "transposed.csv": (
        lambda path: path.write_text("name,a,b\n" + "".join(f"g{i},1,2\n" for i in range(100_000))),
        ["--target", "y", "--transpose", "--max-memory", "200MB"],
        2,
        "memory, more than 200 MB",
    ),
    "sheet.xlsx": (
        lambda path: write_rows(path, "<row><c><v>1</v></c></row>", 40_000_000),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "cells.xlsx": (
        lambda path: write_rows(path, '<row><c r="A1"><v>1</v></c><c r="XFD1"/></row>', 30_000),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "one-row.xlsx": (
        lambda path: write_rows(path, "<row>" + "<c/>" * 10**7 + "</row>", 1),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "columns.xlsx": (
        lambda path: write_rows(path, "<cols>" + "<col/>" * 10**7 + "</cols>", 1),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "references.xlsx": (
        lambda path: write_excel(path, {RELATED: [PARTS[RELATED][:-16], REFERENCE * 3 * 10**6, "</Relationships>"]}),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "far-row.xlsx": (
        lambda path: write_rows(path, '<row r="99999999999"><c><v>1</v></c></row>', 1),
        ["--target", "y"],
        2,
        "more rows than a sheet may have",
    ),
    "texts.xlsx": (
        lambda path: write_rows(
            path, "<row>" + '<c t="s"><v>2</v></c>' * 2 + "</row>", 4000, **{STRINGS: [LONG_STRING]}
        ),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "strings.xlsx": (
        lambda path: write_excel(path, {STRINGS: ["<sst>", *(["<si><t/></si>" * 10_000] * 400), "</sst>"]}),
        ["--target", "y"],
        2,
        "memory, more than 2 GB",
    ),
    "entities.xlsx": (
        lambda path: write_excel(path, {STRINGS: [ENTITIES, PARTS[STRINGS]]}),
        ["--target", "y"],
        2,
        "defines entities",
    ),
    "wide-entities.xlsx": (
        lambda path: write_excel(path, {STRINGS: ["\0".join(ENTITIES), PARTS[STRINGS]]}),
        ["--target", "y"],
        2,
        "defines entities",
    ),
    "good.xlsx": (lambda path: write_excel(path, {}), ["--target", "y"], 2, "has only one class, 'a'"),
    "rows.parquet": (write_many_rows, ["--target", "y"], 2, "memory, more than 2 GB"),
    "texts.parquet": (write_repeated_text, ["--target", "y", "--k", "1"], 2, "memory, more than 2 GB"),
}
