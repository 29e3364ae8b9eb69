"""Folders of outputs: complete or not there, and places that cannot be written to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from ksparse.cli import main, report
from ksparse.cli.settings import FILES

from .helpers import accepted, refused


@pytest.mark.slow
@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("where", ["report", "model", "model.json", "report.html", "interrupt"])
def test_a_failure_leaves_nothing_behind(
    where: str, existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a" / "b"
    if existing:
        folder.mkdir(parents=True)
        (folder / "report.html").write_text("old")
    replace = os.replace

    def fail(*arguments: Any, **_: Any) -> Any:
        if "." in where and Path(arguments[1]) != folder / where:
            return replace(*arguments)
        raise KeyboardInterrupt if where == "interrupt" else OSError(28, "No space left on device")

    if "." in where:
        monkeypatch.setattr(os, "replace", fail)
    elif where == "model":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(report, "render_report", fail)
    assert main(["fit", "diabetes", "--k", "5", "--alpha", "0", "--out", str(folder)]) == (
        130 if where == "interrupt" else 2
    )
    captured = capsys.readouterr()
    assert "with 5 of 10 features" in captured.out  # the work is not lost
    assert re.fullmatch(r"ksparse: .*(No space left on device|interrupted).*\n", captured.err)
    found = sorted(path.name for path in tmp_path.rglob("*"))
    assert found == (["a", "b", "report.html"] if existing else [])
    assert not existing or (folder / "report.html").read_text() == "old"


@pytest.mark.slow
def test_the_current_folder_may_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    accepted(capsys, "fit", "diabetes", "--out", ".")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


@pytest.mark.slow
def test_places_that_cannot_be_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("file", "file/below"):
        line = refused(capsys, "fit", "--out", tmp_path / name)
        assert f"cannot write to --out '{tmp_path / name}': '{tmp_path / 'file'}' is a file; give a folder" in line
    (tmp_path / "dir" / "model.json" / "keep").mkdir(parents=True)
    assert main(["fit", "--out", str(tmp_path / "dir")]) == 2
    assert sorted(path.name for path in (tmp_path / "dir").rglob("*")) == ["keep", "model.json"]
