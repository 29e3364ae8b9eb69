"""Valid files of each format, and mutations of them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import ksparse
from ksparse.persistence import dumps

from .data import Choose

__all__ = ["FORMATS", "File", "draw_file", "list_seeds"]

#: What may be put anywhere into a file.
TOKENS = (
    *(b'"', b'""', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b" ", b":", b"#", b"\\", b"=", b"\0"),
    *(b"0", b"-1", b"1e400", b"-1e308", b"1e-320", b"nan", b"inf", b"NA", b"null", b"true", b"1,5", b"0x1f", b"1_000"),
    *(
        b"2147483647",
        b"99999999999999999999",
        b"50000000",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1b[2J",
        b"\xc3\xa9",
        b"\x1c",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
    ),
    *(b"[", b"]", b"{", b"}", b"qid:1", b"y", b"a" * 3000, b",," * 200, b"[" * 2000, b"1:1 " * 50),
)
#: What may take the place of a value of a JSON file.
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**40,
        2**70,
        1.5,
        -0.0,
        1e308,
        "",
        "a",
        "x" * 500,
        [],
        {},
        [[]],
        [0],
        [None],
    ),
    *({"array": {}}, {"tuple": [1]}, {"float": "nan"}, {"range": [0, 10**9, 1]}, {"dtype": "O"}, {"dtype": "<U9"}),
    *(
        "<f8",
        "|O",
        "<U100000000",
        "f2",
        ",b1",
        "(9,)f8",
        "f8,i4",
        "M8[ns]",
        "V9",
        {"Status": {"value": "converged"}},
        {"scalar": 3},
        {"dict": [[1, 2]]},
    ),
)
FORMATS = ("csv", "svm", "json", "parquet", "csv.gz", "csv.bz2", "csv.xz", "csv.zip", "svm.gz", "xlsx")
MOST_MUTATIONS = 4


@dataclass(frozen=True)
class File:
    """A file, possibly damaged."""

    format: str
    content: bytes


def draw_file(choose: Choose) -> File:
    """A valid file with some mutations; the unpacked content of a compressed file, or the packed one, is mutated."""
    rng = np.random.default_rng(choose(range(2**32)))
    kind = choose(FORMATS)
    plain, _, packing = kind.partition(".")
    content: bytes = choose(list_seeds(plain))
    if plain == "parquet" and rng.random() < 0.5:  # bits that flip rarely reach the names of columns
        return File(kind, _write_parquet(_draw_frame(rng)))
    for _ in range(choose(range(MOST_MUTATIONS + 1))):
        mutate = _mutate_json if plain == "json" and rng.random() < 0.7 else _mutate_bytes
        content = mutate(rng, content)
    if packing or plain == "xlsx":
        content = PACK[packing or plain](content)
        content = _mutate_bytes(rng, content) if rng.random() < 0.3 else content
    return File(kind, content)


@cache
def list_seeds(kind: str) -> tuple[bytes, ...]:
    """Valid files of a format."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3)).round(2)
    frame = pd.DataFrame(X, columns=["size", "rooms", "y"])
    if kind == "parquet":
        names = (["size", "rooms", "y"], ["a,b", 'q"\n', "y"], ["", " ", "y"], ["=1+1", "\x1b]0;x\x07", "y"])
        labelled = frame.assign(y=np.where(frame["y"] > 0, "yes", "no"), day=pd.Timestamp("2020-01-01"), flag=True)
        indexed = frame.set_index(pd.Index(range(12), name="row"))
        return tuple(
            _write_parquet(table) for table in (*(frame.set_axis(n, axis=1) for n in names), labelled, indexed)
        )
    if kind == "xlsx":
        return (_list_parts()[SHEET],)
    if kind == "svm":
        lines = [f"{row[2]} 1:{row[0]} 3:{row[1]}" for row in X]
        return tuple(
            "\n".join(text).encode() for text in (lines, ["1 0:1 # a", "-1 2:5", ""], ["1 qid:2 1:1", "0 1:3"])
        )
    if kind == "json":
        return _write_models(X)
    text = frame.to_csv(index=False)
    quoted = 'name,"a ""b""",y\n"x, z",1,2\n"line\nbreak",3,4\n,5,6\n'
    labels = "a;b;y\n" + "".join(f"{row[0]};{row[1]};{'yes' if row[2] > 0 else 'no'}\n" for row in X)
    dates = "a\tb\ty\n2020-01-01\t1,5\t2\n\t\t\n2020-01-02\t2,5\t3\n"
    plain = (text, quoted, labels, dates, "\ufeff" + text, text.replace("\n", "\r\n"), "y\n1\n2\n", "a,y\n")
    return tuple(each.encode() for each in plain)


@cache
def _list_parts() -> dict[str, bytes]:
    """The parts of a workbook, but for those with the time at which it was made."""
    book = io.BytesIO()
    rows = [["size", "rooms", "y"], [1.5, "a", 2], ["NA", True, 3], [4, "=1+1", 0.5], [2, "b & c", 1]]
    pd.DataFrame(rows).to_excel(book, index=False, header=False)
    with zipfile.ZipFile(book) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.startswith("docProps")}


def _pack_parts(parts: dict[str, bytes]) -> bytes:
    """An archive that depends on its parts only, not on the time."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return content.getvalue()


#: The part of a workbook with its cells, which is mutated.
SHEET = "xl/worksheets/sheet1.xml"
#: How content is packed.
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda content: gzip.compress(content, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda content: _pack_parts({"a.csv": content}),
    "xlsx": lambda content: _pack_parts(_list_parts() | {SHEET: content}),
}


def _write_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def _draw_frame(rng: np.random.Generator) -> pd.DataFrame:
    """Columns with strange names and types, and the target y."""
    names = [TOKENS[j].decode(errors="replace") for j in rng.choice(len(TOKENS), 3, replace=False)]
    cells: tuple[Any, ...] = (1.5, -3, True, "text", None, b"bytes", [1.0], np.datetime64("2020-01-01"), np.inf, 1e300)
    columns = {name: [cells[int(rng.integers(len(cells)))]] * 8 for name in names}
    return pd.DataFrame({**columns, "y": rng.standard_normal(8)})


def _write_models(X: Any) -> tuple[bytes, ...]:
    features, y = X[:, :2], X[:, 2]
    labels = np.where(y > 0, "yes", "no")
    models = (
        ksparse.SparseLinearRegression(k=1).fit(features, y),
        ksparse.SparseLogisticRegression(k=1, alpha=0.1).fit(features, labels),
        ksparse.SparsePrecision(k=1).fit(X),
        ksparse.SparseLinearRegressionCV(ks=[1, 2], cv=3).fit(pd.DataFrame(features, columns=["size", "rooms"]), y),
    )
    return tuple(dumps(model).encode() for model in models)


def _mutate_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """Flip a byte, insert a token, remove, repeat or move a part, or cut the end off."""
    first, second = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    short = min(second, first + int(rng.integers(1, 20)))
    kind = rng.integers(7)
    if kind == 0 and content:
        at = min(first, len(content) - 1)
        return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
    if kind in (1, 2):
        return content[:first] + TOKENS[int(rng.integers(len(TOKENS)))] + content[short if kind == 2 else first :]
    if kind == 3:
        return content[:first] + content[short:]
    if kind == 4:
        return content[:first] + content[first:short] * int(rng.integers(2, 50)) + content[short:]
    if kind == 5:
        return content[first:short] + content[:first] + content[short:]
    return content[:second]


def _mutate_json(rng: np.random.Generator, content: bytes) -> bytes:
    """Replace a value, or give a field another name."""
    try:
        tree = json.loads(content)
        places = _list_places(tree)
    except (ValueError, RecursionError):  # earlier mutations have damaged it
        return _mutate_bytes(rng, content)
    if not places:
        return _mutate_bytes(rng, content)
    parent, key = places[int(rng.integers(len(places)))]
    if isinstance(parent, dict) and rng.random() < 0.2:
        parent[("k", "coef_", "model", "__class__", "array", "values")[int(rng.integers(6))]] = parent.pop(key)
    else:
        parent[key] = VALUES[int(rng.integers(len(VALUES)))]
    return json.dumps(tree).encode()


def _list_places(tree: Any) -> list[tuple[Any, Any]]:
    """All values of a JSON tree, as the list or object that has them, and where."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [place for key in keys for place in ((tree, key), *_list_places(tree[key]))]
