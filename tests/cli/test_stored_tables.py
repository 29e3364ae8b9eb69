"""Tables that are not in memory have the cells that the usual reader gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions, open_table
from ksparse.cli.stored import text_pieces
from ksparse.cli.stored.feature_file import FeatureFile
from ksparse.cli.stored.large_files import find_stored_files
from ksparse.cli.stored.table import StoredTable
from ksparse.designs.blocked.disk_paths import list_matches
from ksparse.tables.kinds import write_value

#: Texts of ten rows: what a column holds may show only in its last cells.
COLUMNS = {
    "numbers": "1 2 3 4 5 6 7 8 9 10",
    "wide": "1 2 3 4 5 6 7 8 9 1e300",
    "gaps": "1.5 NA 3 - 5 . 7 8 9 nan",
    "codes": "007 008 009 010 011 012 013 014 015 x16",
    "truth": "True False True True False True False True True False",
    "half": "True False True True False True False True True 1",
    "unsure": "True False NA True False True False True True False",
    "signs": "+ - + - - + - + + -",
    "dashes": "a - b - c d e f g h",
    "prices": "1,000 2,000 3,000 4,000 5,000 6,000 7,000 8,000 9,000 999",
    "words": "1 2 3 4 5 6 7 8 9 unknown",
    "large": "1 2 3 4 5 6 7 8 9 99999999999999999999",
    "empty": "NA NA NA NA NA NA NA NA NA NA",
    "end": "NA NA NA NA NA NA NA NA NA word",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = zip(*(cells.split() for cells in COLUMNS.values()), strict=True)
    lines = [";".join(COLUMNS), *(";".join(row) for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "a.csv"


def open_stored(source: Path, options: ReadingOptions, unneeded: tuple[str, ...] = ()) -> StoredTable:
    files = find_stored_files(str(source), options, 10**6, asked="--out-of-core")
    assert files is not None
    folder = source.parent / f"stored-{len(list(source.parent.iterdir()))}"
    folder.mkdir()
    return files.open(options, folder, lambda _: unneeded)


def write_cells(cells: pd.Series) -> list[str | None]:
    return [None if pd.isna(cell) else write_value(cell) for cell in cells.tolist()]


def check_equal(stored: StoredTable, frame: pd.DataFrame) -> None:
    assert stored.names == frame.columns.tolist()
    whole = stored.read(stored.names)
    blocks = pd.concat([block.astype(object) for block in stored.iterate(stored.names, 4)], ignore_index=True)
    for name in frame:
        expected = write_cells(frame[name])
        assert write_cells(whole[name]) == expected, name
        assert write_cells(blocks[name].astype(whole[name].dtype)) == expected, name


@pytest.mark.parametrize("options", [{}, {"decimal": ","}, {"na": ("3", "b")}], ids=str)
@pytest.mark.parametrize("cells", [14, 14 * 4, 10**6])
def test_text(path: Path, options: dict[str, object], cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pieces, "MOST_CELLS", cells)
    reading = ReadingOptions(**options)  # type: ignore[arg-type]
    check_equal(open_stored(path, reading), open_table(str(path), reading).read())


def test_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
            "single": np.arange(6, dtype=np.float32),
            "truth": [True, False, True, True, False, True],
            "text": ["7", "8", "9", None, "1", "2"],
            "labels": pd.Categorical(["b", "a", "b", "b", None, "a"]),
            "when": pd.date_range("2024-01-01", periods=6),
            "a.b": [1.0, 2.0, 3.0, -999.0, 5.0, 6.0],
        },
        index=pd.Index(list("uvwxyz"), name="name"),
    )
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=2)
    options = ReadingOptions(na=("-999",))
    stored, there = open_stored(tmp_path / "a.parquet", options), open_table(str(tmp_path / "a.parquet"), options)
    check_equal(stored, there.read())
    assert stored.notes == there.notes
    index = stored.read_index(np.array([1, 4]))
    assert index is not None
    assert index["name"].tolist() == ["v", "y"]


def test_rows_and_columns_that_are_left_out(path: Path) -> None:
    frame = open_table(str(path)).read()
    unneeded = ("codes", "end")
    stored = open_stored(path, ReadingOptions(), unneeded)
    stored.kept = np.arange(10) % 3 != 0
    check_equal(stored, frame.drop(columns=list(unneeded))[stored.kept].reset_index(drop=True))
    rows = np.array([0, 3, 5])
    assert stored.read_rows(rows, ["numbers"])["numbers"].tolist() == [2, 6, 9]


def test_columns_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",index,x\n" + "".join(f"r{i},{i},{i / 2}\n" for i in range(5)))
    stored = open_stored(tmp_path / "a.csv", ReadingOptions())
    assert stored.names == ["index", "x"]
    index = stored.read_index(np.arange(2))
    assert index is not None
    assert [cells.tolist() for _, cells in index.items()] == [["r0", "r1"]]


def test_names_that_occur_twice(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,x\n1,2\n")
    with pytest.raises(InputError, match="two columns called 'x'"):
        open_stored(tmp_path / "a.csv", ReadingOptions())


def test_a_file_of_features(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((11, 3))
    stored = FeatureFile.write(tmp_path / "X", 3, [X[:4], np.asfortranarray(X[4:])])
    assert stored.shape == X.shape
    np.testing.assert_array_equal(stored[2:7], X[2:7])
    np.testing.assert_array_equal(stored[9:20, 0:3], X[9:])
    assert stored[5:5].shape == (0, 3)


def test_files_have_the_order_of_open_blocks(tmp_path: Path) -> None:
    names = ["part.02.csv", "part.2.csv", "part.10.csv", "part.11.csv"]
    for name in reversed(names):
        (tmp_path / name).write_text("a,y\n1,2\n")
    pattern = str(tmp_path / "part.*.csv")
    files = find_stored_files(pattern, ReadingOptions())
    assert files is not None
    assert [Path(path).name for path in files.paths] == names
    assert list(files.paths) == list_matches(pattern)
