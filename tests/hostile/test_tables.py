"""Text of strangers in what is said about a table: sheets, archives, samples, labels and cells."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions, open_table
from tests.cli.helpers import accepted, class_table, refused

ESCAPE = "\x1b[31mx\x07"
LONG = "b" * 5000


@pytest.mark.parametrize("name", [ESCAPE, LONG])
def test_notes_show_no_control_characters(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of samples, of their labels and of the column that joins them."""
    rng = np.random.default_rng(0)
    names = [*(f"{name}{place}" for place in range(30)), "none"]
    frame = pd.DataFrame(rng.standard_normal((3, 31)), columns=names, index=["a", "b", "c"])
    frame.to_csv(tmp_path / "a.csv")
    labels = pd.DataFrame({name: [*names[:30], f"{name}spare"], "group": ["ill", "well"] * 15 + ["ill"]})
    labels.to_csv(tmp_path / "b.csv", index=False)
    options: list[str | Path] = [
        "--transpose",
        "--labels",
        tmp_path / "b.csv",
        "--target",
        "group",
        "--k",
        "1",
        "--alpha",
        "1",
    ]
    out = accepted(capsys, "fit", tmp_path / "a.csv", *options)
    assert "Labels of 30 of 31 samples" in out
    assert out.replace("\n", "").isprintable()
    assert len(out) < 5000
    labels.iloc[:2].assign(**{name: "z"}).to_csv(tmp_path / "b.csv", index=False)
    assert len(refused(capsys, "fit", tmp_path / "a.csv", *options)) < 1000


def test_errors_show_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for place in range(100):
            archive.writestr(f"{ESCAPE}{place}.csv", "")
    line = refused(capsys, "fit", tmp_path / "a.zip", "--target", "y")
    assert "and 92 more" in line
    assert line[:-1].isprintable()
    text = f'"{ESCAPE}","{ESCAPE}",y\n1,2\n'
    (tmp_path / "a.csv").write_text(text)
    assert refused(capsys, "fit", tmp_path / "a.csv", "--target", "y")[:-1].isprintable()
    (tmp_path / "a.csv").write_text(f"name,a,b\n{ESCAPE},1,2\n{ESCAPE},3,4\n")
    assert refused(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--transpose")[:-1].isprintable()


def test_members_of_archives_are_not_written(tmp_path: Path) -> None:
    """A name that leads out of the folder is only a name."""
    (tmp_path / "inner").mkdir()
    with zipfile.ZipFile(tmp_path / "inner" / "a.zip", "w") as archive:
        archive.writestr("../../evil.csv", class_table())
    assert open_table(str(tmp_path / "inner" / "a.zip")).read().shape == (60, 6)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.zip", "inner"]


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "\u202eabc", "a\x1cb", "'-1"])
def test_cells_are_text_as_they_are(cell: str, tmp_path: Path) -> None:
    """In text, Excel and Parquet files; a formula is neither run nor changed."""
    frame = pd.DataFrame({"a": [cell, "x"], "b": [1, 2]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert open_table(str(tmp_path / name)).read()["a"].tolist() == [cell, "x"]


def test_labels_are_no_second_way_around_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "b.csv").write_text("id,group\na,1\nb,2\n" + "c,3\n" * 10_000)
    with pytest.raises(InputError, match=r"b.csv' would take about .* more than 100000 bytes"):
        open_table(str(tmp_path / "a.csv"), ReadingOptions(labels=str(tmp_path / "b.csv")), 100_000)
