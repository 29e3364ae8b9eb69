"""Whatever is wrong with a file: one clear line, exit code 2, nothing written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path

import pytest

from ksparse.cli import main

from .helpers import accepted, class_table, good_table, numbers, refused, table

GOOD = good_table()
LINES = GOOD.splitlines()


def with_cell(line: int, column: int, text: str) -> str:
    lines = [row.split(",") for row in LINES]
    lines[line - 1][column] = text
    return "\n".join(",".join(row) for row in lines)


def make_zip(members: dict[str, str], method: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


FILES: dict[str, tuple[str, bytes, list[str], list[str]]] = {
    "identifiers only": (
        "a.csv",
        ("id,outcome\n" + "".join(f"p{row},{row}\n" for row in range(30))).encode(),
        [],
        ["no column of the table can be used", "id: it is an identifier or free text: each row has a value of its own"],
    ),
    "empty and constant": (
        "a.csv",
        b"x,site,outcome\n,Ulm,1.5\n,Ulm,2.5\n,Ulm,4\n",
        ["--test", "0"],
        ["x: it is empty; site: it has the same value in all rows"],
    ),
    "infinite": ("a.csv", with_cell(9, 0, "-inf").encode(), [], ["infinite or beyond 1e+100", "'age' in 1 row"]),
    "squares overflow": ("a.csv", with_cell(9, 0, "1e300").encode(), [], ["beyond 1e+100", "'age' in 1 row"]),
    "no target at all": ("a.csv", b"x,outcome\n1,\n2,NA\n", [], ["target 'outcome'", "missing in all rows"]),
    "infinite target": ("a.csv", with_cell(9, 2, "inf").encode(), [], ["target 'outcome'", "in 1 of 60 rows"]),
    "dates as target": ("a.csv", b"x,outcome\n1,2024-01-02\n2,2024-02-03\n", [], ["target 'outcome'", "dates"]),
    "texts as target": (
        "a.csv",
        table(numbers(), [f"p{i}" for i in range(60)]).encode(),
        [],
        ["60 classes in 60 rows"],
    ),
    "a copy of the target": ("a.csv", b"x,outcome\n" + b"1,a\n2,b\n" * 40, [], ["only column", "same values"]),
    "--include": ("a.csv", GOOD.encode(), ["--include", "hight"], ["no column 'hight'", "--include", "'height'"]),
    "--positive": (
        "a.csv",
        class_table().encode(),
        ["--positive", "sick"],
        ["--positive names 'sick'", "'ill', 'well'"],
    ),
    "--positive of numbers": ("a.csv", GOOD.encode(), ["--positive", "1"], ["--positive is for two classes"]),
    "--class-weight": ("a.csv", GOOD.encode(), ["--class-weight", "balanced"], ["--class-weight is for classes"]),
    "text target": ("a.csv", class_table().encode(), ["--task", "huber"], ["target 'outcome'", "classification"]),
    "negative counts": ("a.csv", GOOD.encode(), ["--task", "poisson"], ["--task poisson is for numbers at least 0"]),
    "short row": ("a.csv", "\n".join([*LINES[:20], "1,2,3", *LINES[20:]]).encode(), [], ["line 21", "3 cells", "6"]),
    "long row": ("a.csv", "\n".join([*LINES[:20], LINES[20] + ",7"]).encode(), [], ["line 21", "7 cells", "6"]),
    "short rows": (
        "a.csv",
        b"x,outcome\n1,2\n3\n4\n5,6,7\n" + b"8,9\n" * 9,
        [],
        ["3 of 13 rows", "2 have 1 (first on line 3), 1 has 3 (first on line 5)", "check the separators"],
    ),
    "titles": ("a.csv", b"x\n\nmy,trial\nx,outcome,z\n1,2,3\n3,4,5\n", [], ["no column 'outcome'"]),
    "all problems": (
        "a.csv",
        b"x,x,y,y,outcome\n1,2,3,4,5\n1,2\n1,2,3,4,5\n",
        [],
        ["2 names that several columns have ('x', 'y')", "also, line 3 of", "has 2 cells"],
    ),
    "all problems of names, rows, target and features": (
        "a.csv",
        b"x,x,z,outcome\n1,inf,0.5,4\n1,2\n2,-1e200,0.3,inf\n1,2,3,4,5\n3,1,2.5,5\n4,2,-inf,-inf\n5,9,1,inf\n",
        [],
        [
            "two columns called 'x'",
            "also, 2 of 7 rows",
            "1 has 2 (first on line 3), 1 has 5 (first on line 5)",
            "also, the target 'outcome' is infinite or beyond 1e+100 in 3 of 5 rows",
            "also, values are infinite or beyond 1e+100: 'x (2)' in 2 rows, 'z' in 1 row",
        ],
    ),
    "infinite target and features": (
        "a.csv",
        b"x,outcome\ninf,1\n2,inf\n3,3\n4,inf\n",
        [],
        ["the target 'outcome' is infinite or beyond 1e+100 in 2 of 4 rows", "also, values", "'x' in 1 row"],
    ),
    "dates as target and infinite features": (
        "a.csv",
        b"x,outcome\n1,2024-01-02\ninf,2024-01-03\n3,2024-02-03\n",
        [],
        ["the target 'outcome' has dates", "also, values are infinite", "'x' in 1 row"],
    ),
    "no target and short rows": (
        "a.csv",
        b"x,outcom\n1,2\n1\n2,2\n",
        [],
        ["line 3", "has 1 cell,", "also, ", "has no column 'outcome'", "did you mean 'outcom'"],
    ),
    "quotes": ("a.csv", b'x,outcome\n1,"2\n2,3\n', [], ["quotes"]),
    "no header": ("a.csv", b"1,2,3\n4,5,6\n", [], ["all numbers", "names"]),
    "twice": ("a.csv", b"x,x,outcome\n1,2,3\n", [], ["two columns called 'x'"]),
    "empty": ("a.csv", b"", [], ["empty"]),
    "blank": ("a.csv", b"\n \n", [], ["empty"]),
    "header only": ("a.csv", b"x,outcome\n", [], ["no rows"]),
    "only target": ("a.csv", b"outcome\n1\n2\n", [], ["no column besides the target"]),
    "no target": ("a.csv", b"x,outcom\n1,2\n", [], ["no column 'outcome'", "did you mean 'outcom'"]),
    "binary": ("a.csv", bytes(range(256)) * 20, [], ["not UTF-8", "the right file"]),
    "neither UTF-8 nor Windows": ("a.csv", b"x,outcome\n\x81\x8d,2\n", [], ["not UTF-8", "--encoding"]),
    "late bytes of other text": ("a.csv", GOOD.encode() + b"\xe9\x81" * 10_000, [], ["not UTF-8", "the right file"]),
    "utf-16 without a mark": (
        "a.csv",
        GOOD.encode("utf-16-le"),
        [],
        ["NUL characters (62 lines, first on line 1)", "save it as UTF-8", "--encoding"],
    ),
    "cut utf-16": ("a.csv", GOOD.encode("utf-16")[:-1], [], ["not UTF-16 text", "save it as UTF-8"]),
    "cut utf-32": ("a.csv", GOOD.encode("utf-32")[:-1], [], ["not UTF-32 text", "save it as UTF-8"]),
    "not gzip": ("a.csv.gz", GOOD.encode(), [], ["damaged or not compressed"]),
    "cut gzip": ("a.csv.gz", gzip.compress(GOOD.encode())[:-400], [], ["damaged or not compressed"]),
    "broken gzip": ("a.csv.gz", gzip.compress(GOOD.encode())[:200] + b"\xff" * 900, [], ["damaged or not compressed"]),
    "not bz2": ("a.csv.bz2", GOOD.encode(), [], ["damaged or not compressed"]),
    "cut bz2": ("a.csv.bz2", bz2.compress(GOOD.encode())[:-40], [], ["damaged or not compressed"]),
    "ending": ("a.doc", b"PK", [], ["format", "unknown", ".csv"]),
    "stata": ("a.dta", b"PK", [], ["does not read", "export delimited"]),
    "not xz": ("a.csv.xz", GOOD.encode(), [], ["damaged or not compressed"]),
    "cut xz": ("a.csv.xz", lzma.compress(GOOD.encode())[:-40], [], ["damaged or not compressed"]),
    "not zip": ("a.zip", GOOD.encode(), [], ["damaged or not compressed"]),
    "not excel": ("a.xlsx", b"PK", [], ["not an Excel file or is damaged"]),
    "zip as excel": ("a.xlsx", make_zip({"a.csv": GOOD}), [], ["not an Excel file or is damaged"]),
    "two in a zip": ("a.zip", make_zip({"a.csv": GOOD, "b.csv": GOOD}), [], ["2 files: 'a.csv', 'b.csv'", "extract"]),
    "none in a zip": ("a.zip", make_zip({"__MACOSX/a.csv": GOOD}), [], ["has no file"]),
    "unknown in a zip": ("a.zip", make_zip({"a.doc": GOOD}), [], ["format", "unknown"]),
    "escapes in a zip": ("a.zip", make_zip({"\x1b[31m.csv": GOOD, "b.csv": ""}), [], ["'\\x1b[31m.csv'"]),
    "unusual zip": ("a.zip", make_zip({"a.csv": GOOD}, zipfile.ZIP_LZMA), [], ["in an unusual way"]),
    "cut zip": ("a.zip", make_zip({"a.csv": GOOD})[:-40], [], ["damaged or not compressed"]),
    "broken zip": (
        "a.zip",
        make_zip({"a.csv": GOOD}).replace(b"age,dose", b"ape,dose"),
        [],
        ["damaged or not compressed"],
    ),
    "one class": ("a.csv", b"x,outcome\n" + b"1,ill\n2,ill\n" * 9, [], ["only one class", "'ill'"]),
    "lone row": ("a.csv", (class_table() + "1,2,odd,3,4,5\n").encode(), [], ["'odd'", "only one row", "--test 0"]),
    "identifiers": ("a.csv", table(numbers(), [f"p{row}" for row in range(60)]).encode(), [], ["60 classes"]),
    "few rows": ("a.csv", b"x,outcome\n1,2.5\n2,3.5\n3,7.5\n", [], ["3 rows are too few", "--test 0"]),
    "few for folds": ("a.csv", "\n".join(LINES[:9]).encode(), ["--k", "auto"], ["6 training rows", "5-fold"]),
    "small class": (
        "a.csv",
        (class_table() + "1,2,odd,3,4,5\n" * 3).encode(),
        ["--k", "auto"],
        ["'odd'", "2 training rows", "5-fold"],
    ),
    "not parquet": ("a.parquet", GOOD.encode(), [], ["not a Parquet file"]),
    "drop": ("a.csv", GOOD.encode(), ["--drop", "hight"], ["no column 'hight'", "'height'"]),
    "drop target": ("a.csv", GOOD.encode(), ["--drop", "outcome"], ["both --target and --drop"]),
    "always": ("a.csv", GOOD.encode(), ["--always", "nose"], ["--always", "'nose'"]),
    "always too many": ("a.csv", GOOD.encode(), ["--always", "age,dose", "--k", "1"], ["--always", "larger k"]),
    "escapes": (
        "a.csv",
        b"\x1b[31mred,outcome\n1,1.5\n1,2.5\n1,4\n",
        ["--test", "0"],
        ["\\x1b[31mred: it has the same"],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_tables(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, content, options, expected = FILES[name]
    (tmp_path / file).write_bytes(content)
    out = tmp_path / "deep" / "out"
    line = refused(capsys, "fit", tmp_path / file, "--target", "outcome", "--out", out, *options)
    for part in expected:
        assert part in line
    assert [entry.name for entry in tmp_path.iterdir()] == [file]


SVMLIGHT = {
    "label": (b"ill 1:2\n", ["svmlight", "ill"]),
    "order": (b"1 3:2 1:2\n", ["sorted"]),
    "value": (b"1 1:x\n", ["svmlight"]),
    "csv": (b"a,b\n1,2\n", ["svmlight"]),
    "nan": (b"1 1:2\n0 1:1 2:nan\n", ["feature 2", "row 2"]),
    "nan labels": (b"nan 1:2\nnan 1:1 2:3\n", ["target 'label'", "missing in all rows"]),
    "empty": (b"", ["empty"]),
    "no features": (b"1\n0\n", ["no features"]),
    "huge": (b"1 99999999999:1\n", ["svmlight"]),
    "infinite": (
        b"1 1:2\n2 1:inf 2:1e300\ninf 1:2\n3 2:-inf\n",
        ["not numbers up to 1e+100 in 2 rows, first feature 1 on row 2", "also, the target", "in 1 of 4 rows"],
    ),
    "negative": (b"1 -1:1\n", ["svmlight"]),
}


@pytest.mark.parametrize("name", SVMLIGHT)
def test_bad_svmlight(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, expected = SVMLIGHT[name]
    (tmp_path / "a.svm").write_bytes(content)
    line = refused(capsys, "fit", tmp_path / "a.svm")
    for part in expected:
        assert part in line


def test_rows_of_svmlight_without_a_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row % 7 + 0.1 * row} 1:{row % 7} 2:{row}" for row in range(20)]
    (tmp_path / "a.svm").write_text("\n".join(rows) + "\n")
    (tmp_path / "b.svm").write_text("\n".join(["nan 1:1 2:3", *rows]) + "\n")
    options = ["--k", "1", "--alpha", "0", "--test", "0"]
    out, second = (accepted(capsys, "fit", tmp_path / name, *options) for name in ("a.svm", "b.svm"))
    assert "1 of 21 rows has no target and is left out" in second
    tables = [re.findall(r"^Feature.*?\n\n", text, flags=re.M | re.S) for text in (out, second)]
    assert tables[0] == tables[1]


def test_compressed_svmlight_that_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.svm.gz").write_bytes(b"1 1:2\n")
    assert "damaged or not compressed" in refused(capsys, "fit", tmp_path / "a.svm.gz")


def test_a_target_for_svmlight(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.svm").write_bytes(b"1 1:2\n0 1:3\n")
    assert "leave --target out" in refused(capsys, "fit", tmp_path / "a.svm", "--target", "x")
    assert "--drop names the feature 'x'" in refused(capsys, "fit", tmp_path / "a.svm", "--drop", "x")


def test_damaged_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = {"x": [1.0, 2.0, None], "city": ["a", "b", "c"], "outcome": [None, None, None], "z": [1, 2, 3]}
    parquet.write_table(arrow.table(columns), path)
    assert "--target" in refused(capsys, "fit", path)
    assert "'outcome' is missing in all rows" in refused(capsys, "fit", path, "--target", "outcome")
    assert "3 classes in 3 rows, such as 'a', 'b', 'c'" in refused(capsys, "fit", path, "--target", "city")
    content = path.read_bytes()
    for damaged in (
        content[:100],
        content[:-100],
        b"PAR1" + b"\0" * 300 + b"PAR1",
        content[:4] + b"\xff" * 60 + content[64:],
    ):
        path.write_bytes(damaged)
        assert "not a Parquet file or is damaged" in refused(
            capsys, "fit", path, "--target", "outcome", "--drop", "city"
        )


def test_parquet_without_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert "pip install pyarrow" in refused(capsys, "fit", tmp_path / "a.parquet", "--target", "y")


def test_excel_without_openpyxl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(make_zip({"a": ""}))
    assert "pip install openpyxl" in refused(capsys, "fit", tmp_path / "a.xlsx", "--target", "y")


def test_an_address_is_not_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is an address; download the file" in refused(capsys, "fit", "https://example.org/a.csv")


def test_no_file_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("none.csv", "none.parquet", "iris"):
        assert f"there is no file '{tmp_path / name}'; check" in refused(capsys, "fit", tmp_path / name)
    missing = refused(capsys, "fit", tmp_path / "none.svm")
    assert f"cannot read '{tmp_path / 'none.svm'}': No such file or directory; check the path" in missing
    for name in ("d.csv", "d.svm", "d.parquet"):
        (tmp_path / name).mkdir()
        assert "Is a directory; check the path" in refused(capsys, "fit", tmp_path / name)
    assert "Is a directory; check the path" in refused(capsys, "fit", tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    assert "--target COL is needed" in refused(capsys, "fit", tmp_path / "a.csv")


@pytest.mark.parametrize(
    "arguments",
    [
        ["unfit"],
        [],
        ["fit", "--k", "many"],
        ["fit", "--k", "-1"],
        ["fit", "--alpha", "-2"],
        ["fit", "--alpha", "nan"],
        ["fit", "--test", "1"],
        ["fit", "--test", "nan"],
        ["fit", "--seed", "-1"],
        ["fit", "--jobs", "0"],
        ["fit", "--task", "iris"],
        ["fit", "--k", "3", "--rule", "1se"],
        ["fit", "--k", "3", "--criterion", "bic"],
        ["fit", "--k", "3", "--ks", "1,2"],
        ["fit", "--ks", "1,two"],
        ["fit", "--ks", "1,-2"],
        ["fit", "--ks", ""],
        ["fit", "--sep", "ab"],
        ["fit", "--sep", ""],
        ["fit", "--skip", "-1"],
        ["fit", "--na", ","],
        ["fit", "--encoding", "zip"],
        ["fit", "--encoding", "none"],
        ["fit", "--decimal", ";"],
        ["predict", "model.json", "a.csv", "--labels", "b.csv"],
        ["fit", "--k", "auto", "--criterion", "bic", "--rule", "1se"],
        ["predict", "model.json"],
    ],
)
def test_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: ksparse" in capsys.readouterr().err


def test_an_empty_name_of_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "--out", ""])
    assert "expected the name of a folder (. is the current one), got ''" in capsys.readouterr().err
