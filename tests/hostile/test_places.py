"""What cannot be written is refused before the work, and leaves everything as it was."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import ksparse
from ksparse.cli import commands
from ksparse.writing import check_output_file, check_output_folder, replace_files
from tests.cli.helpers import refused

from .outputs import read_folder, save_model


def make_bad_places(folder: Path) -> None:
    """Names that no output can have."""
    (folder / "file").write_text("keep")
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "left").symlink_to("right")
    (folder / "right").symlink_to("left")
    (folder / "astray").symlink_to("nowhere/file")


BAD_FILES = {
    "folder": "it is a folder",
    "new/": "ends like a folder",
    "loop": "links",
    "left": "links",
    "astray": "nowhere', which is not a folder",
    "file/below": "a part of the path is a file",
    "nowhere/file": "nowhere', which is not a folder",
    "loop/file": "links",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_places_for_predictions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bad_places(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(commands, "predict_rows", pytest.fail)
    line = refused(capsys, "predict", "model.json", "new.csv", "--out", f"{tmp_path}/{name}")
    assert line.startswith(f"ksparse: cannot write '{tmp_path}/{name}': ")
    assert BAD_FILES[name] in line
    monkeypatch.setattr(ksparse.persistence, "dumps", pytest.fail)
    with pytest.raises(OSError, match=BAD_FILES[name].partition("'")[0]):
        ksparse.save("model", f"{tmp_path}/{name}")
    assert sorted(tmp_path.rglob("*")) == before


BAD_FOLDERS = {
    "file": "file' is a file; give a folder",
    "file/below/deeper": "file' is a file; give a folder",
    "loop": "loop of links",
    "left/below": "loop of links",
    "model is a folder": "model.json there: it is a folder",
    "report is a pipe": "report.html there is a pipe",
    "report goes astray": "report.html there: it is a link to a place in",
    "model in a loop": "model.json there: ",
    "one file": "model.json and features.csv and predictions.csv and report.html are links to one file",
}


@pytest.mark.parametrize("name", BAD_FOLDERS)
def test_bad_places_for_reports(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bad_places(tmp_path)
    (tmp_path / "model is a folder" / "model.json").mkdir(parents=True)
    for other in ("report is a pipe", "report goes astray", "model in a loop", "one file"):
        (tmp_path / other).mkdir()
    os.mkfifo(tmp_path / "report is a pipe" / "report.html")
    (tmp_path / "report goes astray" / "report.html").symlink_to("nowhere/file")
    (tmp_path / "model in a loop" / "model.json").symlink_to("model.json")
    (tmp_path / "one file" / "model.json").symlink_to("../file")
    for file in ("features.csv", "predictions.csv", "report.html"):
        (tmp_path / "one file" / file).symlink_to("../file")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(commands, "load_data", pytest.fail)
    line = refused(capsys, "fit", "--out", tmp_path / name)
    assert line.startswith(f"ksparse: cannot write to --out '{tmp_path / name}': ")
    assert BAD_FOLDERS[name] in line
    assert sorted(tmp_path.rglob("*")) == before


def forbid(monkeypatch: pytest.MonkeyPatch, *places: Path) -> None:
    """Let these places be read-only, for root too."""
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) not in places)


def test_read_only_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "model.json").write_text("old")
    monkeypatch.setattr(commands, "predict_rows", pytest.fail)
    monkeypatch.setattr(commands, "load_data", pytest.fail)
    forbid(monkeypatch, folder / "model.json")
    assert "it is read-only" in refused(capsys, "predict", "m", "d", "--out", folder / "model.json")
    assert "model.json there: it is read-only" in refused(capsys, "fit", "--out", folder)
    forbid(monkeypatch, folder)
    for name in ("model.json", "new"):
        line = refused(capsys, "predict", "m", "d", "--out", folder / name)
        assert f"you may not write in the folder '{folder}'" in line
    for out in (folder, folder / "new" / "deep"):
        assert f"you may not write in the folder '{folder}'" in refused(capsys, "fit", "--out", out)
    assert read_folder(tmp_path) == {"folder/model.json": "old"}


def test_what_is_neither_a_file_nor_a_stream_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(OSError, match="neither a file nor a stream"):
            check_output_file("socket")


def test_files_that_are_read_are_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = save_model(tmp_path)
    (tmp_path / "link").symlink_to(data)
    before = read_folder(tmp_path)
    for out in (model, data, tmp_path / "link"):
        assert "is a file that is read" in refused(capsys, "predict", model, data, "--out", out)
    assert read_folder(tmp_path) == before


def test_places_that_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("to/be/made")
    files = check_output_folder(tmp_path / "link", ("a", "b"))
    assert files == [f"{tmp_path}/to/be/made/a", f"{tmp_path}/to/be/made/b"]
    assert list(tmp_path.iterdir()) == [tmp_path / "link"]
    replace_files(dict.fromkeys(files, "text"))
    assert read_folder(tmp_path / "link") == {"a": "text", "b": "text"}
