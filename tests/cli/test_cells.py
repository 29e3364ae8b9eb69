"""What is found out about a text file as a whole: its separator, its decimal mark, and what its cells are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions, Table, open_table
from ksparse.tables import TableEncoder
from ksparse.tables.kinds import MISSING_MARKS, MISSING_WORDS

NAN = float("nan")
THOUSANDS = "Commas in numbers separate thousands (--decimal , if they are decimal marks)"
COMMAS = "Numbers have decimal commas (--decimal . if they do not)"


def read(path: Path, text: str, **options: Any) -> Table:
    (path / "a.csv").write_text(text, encoding="utf-8")
    return open_table(str(path / "a.csv"), ReadingOptions(**options))


def list_cells(table: Table) -> dict[str, list[Any]]:
    frame = table.read()
    return {name: [NAN if pd.isna(cell) else cell for cell in frame[name]] for name in frame}


#: A file, its columns, and what is said about it.
NUMBERS: dict[str, tuple[str, dict[str, list[Any]], str]] = {
    "decimal commas": ("a;b\n39,1;x\n-4,0;y\n", {"a": [39.1, -4.0], "b": ["x", "y"]}, COMMAS),
    "both marks": ("a;b\n1.234,5;1\n12;2\n", {"a": [1234.5, 12.0], "b": [1, 2]}, COMMAS),
    "points that group": ("a;b\n1.234;1,5\n12.000.000;2\n", {"a": [1234.0, 12e6], "b": [1.5, 2.0]}, COMMAS),
    "points that group once": (
        "a;b\n4.297;-1,26\n950;0,5\n-1.000.250;2\n;3\n",
        {"a": [4297.0, 950.0, -1000250.0, NAN], "b": [-1.26, 0.5, 2.0, 3.0]},
        COMMAS,
    ),
    "exponents": ("a;b\n1,5e-3;1\n2E5;2\n", {"a": [1.5e-3, 2e5], "b": [1, 2]}, COMMAS),
    "quoted decimal commas": ('a,b\n"39,1",1\n40,2\n', {"a": [39.1, 40.0], "b": [1, 2]}, COMMAS),
    "thousands": (
        'a,b\n"3,750",1\n"1,234,567",2\n900,3\n',
        {"a": [3750.0, 1234567.0, 900.0], "b": [1, 2, 3]},
        THOUSANDS,
    ),
    "thousands, points": ('a,b\n"3,750.25",1\n-2,2\n', {"a": [3750.25, -2.0], "b": [1, 2]}, THOUSANDS),
    "thousands, tabs": ("a\tb\n3,750\t1\n4,000\t2\n", {"a": [3750.0, 4000.0], "b": [1, 2]}, THOUSANDS),
    "three decimals": ("a;b\n3,750;1\n4,000;2\n", {"a": [3.75, 4.0], "b": [1, 2]}, COMMAS),
    "zero before": ("a\tb\n0,125\t1\n3,750\t2\n", {"a": [0.125, 3.75], "b": [1, 2]}, COMMAS),
    "dates": ("a;b\n01.02.2024;1,5\n31.12.2023;2,5\n", {"a": ["01.02.2024", "31.12.2023"], "b": [1.5, 2.5]}, COMMAS),
    "lists": ('a,b\n"1,2",1\n"1,2,4",2\n', {"a": ["1,2", "1,2,4"], "b": [1, 2]}, ""),
    "names": ('a,b\n"Lima, Peru",1\n"Rome, 5",2\n', {"a": ["Lima, Peru", "Rome, 5"], "b": [1, 2]}, ""),
    "money": ('a,b\n"$1,000",1\n"$2,500.5",2\n', {"a": ["$1000", "$2500.5"], "b": [1, 2]}, THOUSANDS),
    "per cent": ("a;b\n12,5 %;1\n4 %;2\n", {"a": ["12.5 %", "4 %"], "b": [1, 2]}, COMMAS),
    "few numbers among text": (
        "a;b\nx;1,5\ny;2\n1,5;3\nz;4\n",
        {"a": ["x", "y", "1,5", "z"], "b": [1.5, 2, 3, 4]},
        COMMAS,
    ),
    "mostly numbers": ("a;b\n1,5;1\n2,5;2\nlow;3\n", {"a": ["1.5", "2.5", "low"], "b": [1, 2, 3]}, COMMAS),
    "plain": ("a,b\n3.750,1\n4,2\n", {"a": [3.75, 4.0], "b": [1, 2]}, ""),
    "large": (f"a,b\n{10**25},1\n7,2\n", {"a": [1e25, 7.0], "b": [1, 2]}, ""),
    "truth": ("a,b,c\nTrue,yes,TRUE\nFalse,no,\n", {"a": [True, False], "b": ["yes", "no"], "c": [True, NAN]}, ""),
    "spaces": ("a,b\n x , 1 \ny,2\n", {"a": ["x", "y"], "b": [1, 2]}, ""),
    "nothing": ("a,b\n,1\nNA,2\n", {"a": [NAN, NAN], "b": [1, 2]}, ""),
    "words among text": (
        "a,b\nnone,1\nbrick,none\nmissing,3\n",
        {"a": ["none", "brick", "missing"], "b": [1, NAN, 3]},
        "",
    ),
    "words only": ("a,b\nnone,1\nnone,2\n", {"a": ["none", "none"], "b": [1, 2]}, ""),
    "words among decimal commas": ("a;b\n1,5;1\nunknown;2\n", {"a": [1.5, NAN], "b": [1, 2]}, COMMAS),
    "words among thousands": ('a,b\n"1,500",1\nNone,2\n', {"a": [1500.0, NAN], "b": [1, 2]}, THOUSANDS),
    "spaces between thousands": (
        "a;b\n1 234,5;1\n3,750;2\n12,5;3\n",
        {"a": [1234.5, 3.75, 12.5], "b": [1, 2, 3]},
        COMMAS,
    ),
    "codes of currencies": ('a,b\n"1,000 EUR",1\n"¥2,500",2\n', {"a": ["1000 EUR", "¥2500"], "b": [1, 2]}, THOUSANDS),
    "signs": ("a,b\n-,-\n+,2\n-,3\n", {"a": ["-", "+", "-"], "b": [NAN, 2, 3]}, ""),
    "not numbers": ("a,b\n1_000,1\n0x10,2\n", {"a": ["1_000", "0x10"], "b": [1, 2]}, ""),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_and_text(name: str, tmp_path: Path) -> None:
    text, columns, note = NUMBERS[name]
    table = read(tmp_path, text)
    np.testing.assert_equal(list_cells(table), columns)
    assert table.notes == ((note,) if note else ())


def test_both_decimal_marks_in_one_file(tmp_path: Path) -> None:
    table = read(tmp_path, 'a,b\n"1,5",1.5\n"2,5",2.5\n')
    assert list_cells(table) == {"a": ["1,5", "2,5"], "b": [1.5, 2.5]}
    assert table.notes == ("Some numbers have decimal points, others commas; those with commas were read as text",)


def test_options_of_numbers(tmp_path: Path) -> None:
    text = "a;b\n3,750;1\n4,000;2\n"
    table = read(tmp_path, text, decimal=".")
    assert (list_cells(table)["a"], table.notes) == ([3750.0, 4000.0], ())
    table = read(tmp_path, text.replace(";", "\t"), decimal=",")
    assert (list_cells(table)["a"], table.notes) == ([3.75, 4.0], ())


def test_points_and_commas_are_read_as_in_a_file_with_decimal_points(tmp_path: Path) -> None:
    american = read(tmp_path, "amount,b,y\n4297,-1.26,4.16\n950,0.5,3\n1200.5,1,2.25\n").read()
    text = "amount;b;y\n4.297;-1,26;4,16\n950;0,5;3\n1.200,5;1;2,25\n"
    pd.testing.assert_frame_equal(read(tmp_path, text).read().astype(float), american.astype(float))
    pd.testing.assert_frame_equal(read(tmp_path, text, decimal=",").read().astype(float), american.astype(float))


def test_points_that_cannot_group_are_decimal(tmp_path: Path) -> None:
    text = "a;b;c;d\n1.234;1,5;0.125;4,5\n1.25;2;1.500;1.234\n7;3;2.500;1.25\n"
    table = read(tmp_path, text, decimal=",")
    expected = {"a": [1.234, 1.25, 7], "b": [1.5, 2, 3], "c": [0.125, 1.5, 2.5], "d": [4.5, 1.234, 1.25]}
    assert list_cells(table) == expected
    said = "has decimal points, although other numbers of the file have decimal commas"
    assert table.notes == tuple(f"'{name}' {said}" for name in "acd")


def test_marks_of_missing_values(tmp_path: Path) -> None:
    """Those of the user are numbers and text, in every format."""
    frame = pd.DataFrame({"a": [-999, 1, 2], "b": [-999.0, 0.5, 1.5], "c": ["unknown", "x", "-999"], "d": [1, 2, 3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.xlsx", "a.parquet"):
        table = open_table(str(tmp_path / name), ReadingOptions(na=("-999", "unknown")))
        expected = {"a": [NAN, 1, 2], "b": [NAN, 0.5, 1.5], "c": [NAN, "x", NAN], "d": [1, 2, 3]}
        np.testing.assert_equal(list_cells(table), expected)


#: A file with its separator and the names of its columns.
SEPARATORS = {
    "texts with commas": ('name;note\nx;"a, b"\ny;"c, d"\n', ["name", "note"]),
    "sentences": ("note\tn\na b; c, d\t1\ne f; g, h\t2\n", ["note", "n"]),
    "bars in text": ("a,b\nx | y,1\nz | w,2\n", ["a", "b"]),
    "a name with spaces": ("body mass,bill length\n1,2\n3,4\n", ["body mass", "bill length"]),
    "one column of two words": ("full name\nAnna Maria\nTom\n", ["full name"]),
    "spaces before and after": ("  x   y  \n 1   2\n 10 20 \n", ["x", "y"]),
    "tabs and spaces": ("x \t y\n1\t\t2\n3 4\n", ["x", "y"]),
    "quotes and spaces": ('"body mass" kind\n1 "a b"\n2 c\n', ["body mass", "kind"]),
    "numbers with commas": ("x y\n1,5 2,5\n3,5 4\n", ["x", "y"]),
    "a row that differs": ("a;b;c\n" + "1;2;3\n" * 30 + "4;5\n" + "1;2;3\n" * 30, ["a", "b", "c"]),
}


@pytest.mark.parametrize("name", SEPARATORS)
def test_the_separator_is_found(name: str, tmp_path: Path) -> None:
    text, names = SEPARATORS[name]
    assert read(tmp_path, text).names == names


def test_the_separator_that_the_user_gives(tmp_path: Path) -> None:
    text = "a b:c\n1 2:3\n"
    assert read(tmp_path, text, sep=":").names == ["a b", "c"]
    assert read(tmp_path, text, sep=" ").names == ["a", "b:c"]
    assert read(tmp_path, "sep=|\na;b|c\n1;2|3\n").names == ["a;b", "c"]


def test_cells_mean_the_same_in_python_and_in_files(tmp_path: Path) -> None:
    """A column of a file has the kind, the numbers and the gaps that its text has in Python."""
    columns = {
        "marks": [*MISSING_MARKS, "1", "2"],
        "words": [*MISSING_WORDS, "1", "2"],
        "text": [*MISSING_WORDS, "brick", "stone"],
        "money": ["none", "$1,500", "1250 CHF", "12%", "?"],
        "dates": ["none", "2020-01-31", "?", "2020-02-28"],
    }
    for name, cells in columns.items():
        path = tmp_path / f"{name}.csv"
        pd.DataFrame({"a": cells, "b": 1}).to_csv(path, index=False)
        frame, text = open_table(str(path)).read(), pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": 1})
        ours, theirs = (TableEncoder(keep=["a"], min_frequency=1).fit_transform(table) for table in (frame, text))
        pd.testing.assert_frame_equal(ours, theirs)


def test_lines_to_skip(tmp_path: Path) -> None:
    table = read(tmp_path, 'x,"y\n\n# z\na,b\n1,2\n3,bad\n', skip=1)
    assert list_cells(table) == {"a": [1, 3], "b": ["2", "bad"]}
    assert (table.locate(0), table.locate(1)) == ("line 5", "line 6")
    with pytest.raises(InputError, match="is empty"):
        read(tmp_path, "a,b\n1,2\n", skip=5)


def test_lines_after_what_is_skipped(tmp_path: Path) -> None:
    """Comments, titles, blank lines and line breaks in a header count."""
    table = read(tmp_path, '# c\nsep=,\n\nTitle\n"a\nb",c\n\n1,2\n"x\ny",3\nz,4\n')
    assert [table.locate(row) for row in range(3)] == ["line 8", "line 9", "line 11"]
    assert table.names == ["a\nb", "c"]


SHORT = "a,b,c\n" + "1,2,3\n" * 5 + "1,2\n" + '"4",5,6\n' * 5


@pytest.mark.parametrize("text", [SHORT, SHORT.replace('"', ""), SHORT.replace(",", " "), "# x\n" + SHORT])
def test_short_rows_are_not_filled(text: str, tmp_path: Path) -> None:
    line = 8 if text.startswith("#") else 7
    with pytest.raises(InputError, match=f"line {line} of .* has 2 cells, but the header has 3"):
        read(tmp_path, text).read()
    missing = read(tmp_path, text.replace("1,2\n", "1,2,\n").replace("1 2\n", "1 2 NA\n")).read()
    assert missing["c"].isna().sum() == 1


def test_windows_text_that_begins_late(tmp_path: Path) -> None:
    """A byte that is not UTF-8 after many that are."""
    text = "a,b\n" + "1,x\n" * 50_000 + "2,€\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    table = open_table(str(tmp_path / "a.csv"))
    assert table.read()["b"].iloc[-1] == "€"
    assert "Windows-1252" in table.notes[0]
