"""Headers as spreadsheets write them: line breaks in quotes, separators in quotes, any Unicode encoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ksparse.cli.reading import open_table
from tests.cli.helpers import accepted, good_table, refused

ROWS = "".join(f"{50 + i},{i % 4},{100 + 2 * i}.5\n" for i in range(40))


def read(path: Path, content: str | bytes) -> list[str]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_table(str(path)).names


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_break_in_a_header(separator: str, end: str, place: int, tmp_path: Path) -> None:
    names = ["size", "rooms", "price"]
    cells = [f'"{name}{end}(m2)"' if j == place else name for j, name in enumerate(names)]
    text = end.join([separator.join(cells), *ROWS.replace(",", separator).split("\n")])
    names[place] += f"{end}(m2)"
    assert read(tmp_path / "a.csv", text) == names
    table = open_table(str(tmp_path / "a.csv"))
    assert table.read().shape == (40, 3)


def test_a_fit_with_a_line_break_in_a_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text('"size\n(m2)",rooms,price\n' + ROWS)
    assert "size\\n(m2)" in accepted(capsys, "fit", tmp_path / "a.csv", "--target", "price", "--k", "1")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('x,"a;b"\n1,"2;3"\n', ["x", "a;b"]),
        ('"a;b",x\n"2;3",1\n', ["a;b", "x"]),
        ('"a;b;c;d",x\n1,2\n', ["a;b;c;d", "x"]),
        ('"a,b";x\n1,5;2\n', ["a,b", "x"]),
        ("a;b\n1,5;2,5\n", ["a", "b"]),
        ('size 5",rooms\n1,2\n', ['size 5"', "rooms"]),
        ('"say ""hi, you""";x\n1;2\n', ['say "hi, you"', "x"]),
        ("a b\n1\n", ["a b"]),
        ('"a\n\n;;b",c,d\n"1\n2",3,4\n', ["a\n\n;;b", "c", "d"]),
    ],
)
def test_separators_in_quotes_do_not_count(text: str, names: list[str], tmp_path: Path) -> None:
    assert read(tmp_path / "a.csv", text) == names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    text = good_table().replace("age", "größe \U0001f600")
    assert read(tmp_path / "a.csv", text.encode(encoding))[0] == "größe \U0001f600"
    frame = open_table(str(tmp_path / "a.csv")).read()
    (tmp_path / "b.csv").write_text(text)
    assert frame.equals(open_table(str(tmp_path / "b.csv")).read())


@pytest.mark.parametrize("mark", [b"\xfe\xff", b"\x00\x00\xfe\xff"])
def test_big_endian_encodings(mark: bytes, tmp_path: Path) -> None:
    encoding = "utf-16-be" if len(mark) == 2 else "utf-32-be"
    assert read(tmp_path / "a.csv", mark + "größe,y\n1,2\n".encode(encoding)) == ["größe", "y"]


def test_a_line_of_other_white_space_is_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("size,rooms,price\n" + ROWS + "\u2028")
    assert "line 42 of" in refused(capsys, "fit", tmp_path / "a.csv", "--target", "price")


def test_a_letter_on_the_border_of_two_chunks(tmp_path: Path) -> None:
    for shift in range(4):
        text = "a" * (2**16 - 3 + shift) + "\U0001f600,y\n1,2\n"
        assert read(tmp_path / "a.csv", text)[0] == text[:-7]


def test_a_last_row_that_is_not_whole_has_a_place(tmp_path: Path) -> None:
    """pandas reads a row there, and Python's reader does not."""
    (tmp_path / "a.csv").write_bytes(b'"",y\n' * 28 + b'""')
    table = open_table(str(tmp_path / "a.csv"))
    rows = len(table.read())
    assert table.locate(0) == "line 2"
    assert table.locate(rows - 1) == f"row {rows}"
