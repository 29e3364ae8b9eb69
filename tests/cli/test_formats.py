"""The same table in every format is the same data frame."""

from __future__ import annotations

import datetime
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions, open_table
from tests.real_data import needs_data

from .helpers import accepted, good_table

ROWS = 40


def make_truth() -> pd.DataFrame:
    """Numbers of all sizes, counts, text with separators, and gaps."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "größe": rng.standard_normal(ROWS).round(6),
            "count": rng.integers(-50, 10**6, ROWS),
            "dose (mg)": np.where(rng.random(ROWS) < 0.3, np.nan, rng.exponential(1e-3, ROWS).round(9)),
            "city": rng.choice(["Köln", "Rome; Italy", "Lima, Peru", "a|b", 'say "hi"'], ROWS),
            "kind": rng.choice(np.array(["x", "y z", None], dtype=object), ROWS),
            "y": rng.integers(0, 2, ROWS),
        }
    )
    return frame.astype({"city": object, "kind": object})


TRUTH = make_truth()


def check_same(found: pd.DataFrame, truth: pd.DataFrame = TRUTH) -> None:
    """Names, numbers, text and gaps are the same; numbers to the last digit."""
    assert list(found.columns) == list(truth.columns)
    for name in truth.columns:
        column, expected = found[name], truth[name]
        if pd.api.types.is_numeric_dtype(expected):
            np.testing.assert_array_equal(column.to_numpy(dtype=float), expected.to_numpy(dtype=float))
        else:
            cells = [None if pd.isna(cell) else cell for cell in column]
            assert cells == [None if pd.isna(cell) else cell for cell in expected]


def write_text(text: str, **options: Any) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text, newline="", **options)


def write_csv(**options: Any) -> Callable[[Path], Any]:
    return lambda path: TRUTH.to_csv(path, **{"index": False, "encoding": "utf-8", **options})


def write_r_table(path: Path) -> None:
    """As R's write.table: spaces, quotes, names of rows without a name of their column."""
    names = " ".join(f'"{name}"' for name in TRUTH.columns)
    rows = TRUTH.set_axis([f"p {row}" for row in range(ROWS)]).to_csv(sep=" ", header=False, na_rep="NA")
    path.write_text(f"{names}\n{rows}", encoding="utf-8")


def write_marks(path: Path) -> None:
    """Each gap is written in another way, among numbers also in words."""
    marks = ["?", ".", "-", "NA", "n/a", "NaN", "NULL", "<NA>", "#N/A", " ", "n.a.", "--", "nA"]
    written = {}
    for name, column in TRUTH.items():
        numeric = pd.api.types.is_numeric_dtype(column)
        every = cycle([*(["None", "missing", "unknown"] if numeric else []), *marks])
        written[name] = [next(every) if pd.isna(cell) else cell for cell in column]
    pd.DataFrame(written, dtype=object).to_csv(path, index=False, encoding="utf-8")


def pad(text: str) -> str:
    return "".join(f"{line},\n" for line in text.splitlines())


TEXT = TRUTH.to_csv(index=False)
EUROPEAN = TRUTH.to_csv(index=False, sep=";", decimal=",")
COMMAS = "Numbers have decimal commas (--decimal . if they do not)"
SPACED = "Cells are separated by spaces (--sep sets another separator)"
UNNAMED = "Column 1 has no name and was left out"
WINDOWS = "The file is not UTF-8; it was read as Windows-1252 text (--encoding sets another one)"
#: How a file is written, and what is said about it.
FILES: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "comma.csv": (write_csv(), []),
    "UPPER.CSV": (write_csv(), []),
    "no_ending": (write_csv(), []),
    "semicolon.csv": (write_csv(sep=";"), []),
    "tab.tsv": (write_csv(sep="\t"), []),
    "bar.txt": (write_csv(sep="|"), []),
    "space.dat": (write_csv(sep=" ", na_rep="NA"), [SPACED]),
    "european.csv": (write_text(EUROPEAN, encoding="utf-8"), [COMMAS]),
    "european tab.tsv": (write_csv(sep="\t", decimal=","), [COMMAS]),
    "quoted.csv": (write_csv(decimal=",", quoting=1), [COMMAS]),
    "excel.csv": (write_text("sep=;\r\n" + EUROPEAN.replace("\n", "\r\n"), encoding="cp1252"), [WINDOWS, COMMAS]),
    "bom.csv": (write_csv(encoding="utf-8-sig"), []),
    "wide.csv": (write_csv(encoding="utf-16"), []),
    "wider.csv": (write_csv(encoding="utf-32"), []),
    "windows.csv": (write_csv(encoding="cp1252"), [WINDOWS]),
    "ends.csv": (write_csv(lineterminator="\r\n"), []),
    "blank.csv": (write_text("\n \n" + TEXT.replace("\n", "\n\n"), encoding="utf-8"), []),
    "comments.csv": (
        write_text('# exported 2024-01-01, "5" rows\n#\n' + TEXT, encoding="utf-8"),
        ["2 comment lines before the header were skipped"],
    ),
    "comment as header.csv": (write_text("#" + TEXT, encoding="utf-8"), []),
    "title.csv": (
        write_text("Trial of 2024\n\n" + TEXT, encoding="utf-8"),
        ["A title above the names of the columns was skipped"],
    ),
    "padded title.csv": (
        write_text("Trial of 2024,,,,,\n" + TEXT, encoding="utf-8"),
        ["A title above the names of the columns was skipped"],
    ),
    "trailing.csv": (write_text(pad(TEXT), encoding="utf-8"), []),
    "trailing rows.csv": (
        write_text(TEXT.split("\n")[0] + "\n" + pad(TEXT.partition("\n")[2]), encoding="utf-8"),
        [],
    ),
    "index.csv": (write_csv(index=True), [UNNAMED]),
    "r.txt": (
        write_r_table,
        [SPACED, "Rows have one cell more than the header; the first was taken for the name of the row"],
    ),
    "marks.csv": (write_marks, []),
    "a.csv.gz": (write_csv(), []),
    "a.csv.bz2": (write_csv(), []),
    "a.csv.xz": (write_csv(), []),
    "a.zip": (write_csv(compression={"method": "zip", "archive_name": "folder/a.csv"}), []),
    "a.xlsx": (lambda path: TRUTH.to_excel(path, index=False), []),
    "index.xlsx": (lambda path: TRUTH.to_excel(path), [UNNAMED]),
    "title.xlsx": (
        lambda path: TRUTH.to_excel(path, index=False, startrow=2),
        [],
    ),
    "a.parquet": (lambda path: TRUTH.to_parquet(path), []),
    "index.parquet": (
        lambda path: TRUTH.set_axis(range(ROWS, 0, -1)).rename_axis("case").to_parquet(path),
        ["The index of the data frame ('case') was left out"],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_what_was_written(name: str, tmp_path: Path) -> None:
    write, notes = FILES[name]
    write(tmp_path / name)
    table = open_table(str(tmp_path / name))
    check_same(table.read())
    assert list(table.notes) == notes
    assert table.names == list(TRUTH.columns)


@pytest.mark.parametrize("name", ["index.csv", "r.txt", "index.xlsx", "index.parquet"])
def test_an_index_is_an_identifier(name: str, tmp_path: Path) -> None:
    FILES[name][0](tmp_path / name)
    identifiers = open_table(str(tmp_path / name)).identifiers
    assert identifiers is not None
    assert identifiers.shape == (ROWS, 1)
    expected = {"r.txt": ["p 0", "p 1"], "index.parquet": [ROWS, ROWS - 1]}.get(name, [0, 1])
    assert identifiers.iloc[:2, 0].tolist() == expected
    assert list(identifiers) == ["case" if name == "index.parquet" else "index"]


def test_indices_of_parquet(tmp_path: Path) -> None:
    """An index without a name, of several levels, and one that other programs have kept as a column."""
    path = tmp_path / "a.parquet"
    for index in (np.arange(ROWS) * 3, pd.MultiIndex.from_product([["a", "b"], range(ROWS // 2)], names=["g", None])):
        TRUTH.set_axis(index).to_parquet(path)
        table = open_table(str(path))
        check_same(table.read())
        assert table.identifiers is not None
        assert len(table.identifiers.drop_duplicates()) == ROWS
    TRUTH.assign(__index_level_0__=range(ROWS)).to_parquet(path, index=False)
    check_same(open_table(str(path)).read())


def read_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> pd.DataFrame:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    return open_table("-").read()


@pytest.mark.parametrize("name", ["comma.csv", "a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.zip", "a.xlsx", "a.parquet"])
def test_standard_input(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FILES[name][0](tmp_path / name)
    check_same(read_stdin(monkeypatch, (tmp_path / name).read_bytes()))


def test_closed_and_endless_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="cannot read standard input: it is closed"):
        open_table("-")
    endless = SimpleNamespace(buffer=SimpleNamespace(read=lambda size: b"1," * (size // 2)))
    monkeypatch.setattr("sys.stdin", endless)
    with pytest.raises(InputError, match=r"content of 'standard input' would take about .* more than 1 MB"):
        open_table("-", max_memory=2**20)


def test_packed_tables_of_other_formats(tmp_path: Path) -> None:
    """Excel and Parquet files in an archive, or compressed."""
    TRUTH.to_excel(tmp_path / "a.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.write(tmp_path / "a.xlsx", "a.xlsx")
        archive.writestr("__MACOSX/._a.xlsx", "")
    check_same(open_table(str(tmp_path / "b.zip")).read())
    TRUTH.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "c.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    check_same(open_table(str(tmp_path / "c.parquet.gz")).read())


def test_streams_of_xz_one_after_another(tmp_path: Path) -> None:
    cut = len(TEXT) // 2
    parts = [lzma.compress(text.encode()) for text in (TEXT[:cut], TEXT[cut:])]
    (tmp_path / "a.csv.xz").write_bytes(parts[0] + bytes(8) + parts[1] + bytes(4))
    check_same(open_table(str(tmp_path / "a.csv.xz")).read())


def test_values_of_excel(tmp_path: Path) -> None:
    """Dates, truth values, numbers as text, errors of formulas, and cells of several kinds."""
    frame = pd.DataFrame(
        {
            "day": [datetime.datetime(2024, 1, 2), None, datetime.datetime(2023, 5, 6, 7, 8)],
            "well": [True, False, None],
            "text": ["1.5", "2", " 3 "],
            "error": ["#N/A", 4, "#DIV/0!"],
            "mixed": [1, "a", 2.5],
            "dotted": ["<1", "1,5", "x"],
        }
    )
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        pd.DataFrame().to_excel(writer, sheet_name="Empty", index=False)
        frame.to_excel(writer, sheet_name="Data", index=False)
        frame.to_excel(writer, sheet_name="Copy", index=False)
    table = open_table(str(tmp_path / "a.xlsx"))
    assert table.notes == ("Read the sheet 'Data'; sheets that were left out: 1",)
    found = table.read()
    assert found["day"].dtype == "datetime64[us]"
    assert found["day"].tolist() == [pd.Timestamp("2024-01-02"), pd.NaT, pd.Timestamp("2023-05-06 07:08")]
    assert found["well"].dropna().tolist() == [True, False]
    assert found["text"].tolist() == [1.5, 2.0, 3.0]
    assert found["error"].isna().tolist() == [True, False, True]
    assert found["mixed"].tolist() == ["1", "a", "2.5"]
    assert table.locate(0) == "row 2"


def test_a_header_of_excel_that_is_further_down(tmp_path: Path) -> None:
    lines = [["Trial", "", "x"], ["", "", ""], ["of", 5, 6]]
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        pd.DataFrame(lines).to_excel(writer, index=False, header=False)
        TRUTH.to_excel(writer, index=False, startrow=4)
    with pytest.raises(InputError, match=r"row 1 of .* has names for 2 of 6 columns; .*--skip N"):
        open_table(str(tmp_path / "a.xlsx"))
    table = open_table(str(tmp_path / "a.xlsx"), ReadingOptions(skip=3))
    check_same(table.read())
    assert table.locate(2) == "row 8"


def test_options_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the options say is what is read, for fitting and for predicting."""
    text = "trial\n5,5,5,5,5,5\n" + good_table().replace(",", ":").replace(".", ",").replace("\n", ":\n")
    lines = text.splitlines()
    lines[5] = lines[5].replace(lines[5].split(":")[0], "-99", 1)
    (tmp_path / "a.csv").write_text("\n".join(lines[:5] + lines[6:]), encoding="utf-16-le")
    options = ["--sep", ":", "--decimal", ",", "--skip", "2", "--encoding", "utf-16-le", "--na=-99,x"]
    fit: list[str | Path] = ["fit", tmp_path / "a.csv", "--target", "outcome", "--k", "1", "--alpha", "0", *options]
    assert "dose" in accepted(capsys, *fit, "--out", tmp_path / "o")
    out = accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / "a.csv", *options)
    assert len(out.splitlines()) == 60
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-16-le")
    assert "Missing numbers replaced by the median: age (1 row)" in accepted(capsys, *fit)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["penguins", "ames", "TitanicSurvival", "pbc"])
def test_real_tables_in_other_forms(name: str, tmp_path: Path) -> None:
    path = Path(os.environ["KSPARSE_DATA"]) / "tables" / f"{name}.csv"
    truth, raw = open_table(str(path)).read(), pd.read_csv(path)
    raw.to_csv(tmp_path / "a.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    raw.to_csv(tmp_path / "b.txt", sep=" ", na_rep="NA", index=False)
    raw.to_parquet(tmp_path / "c.parquet")
    for file in ("a.csv", "b.txt", "c.parquet"):
        check_same(open_table(str(tmp_path / file)).read(), truth)
