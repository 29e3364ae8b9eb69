"""Folders that `ksparse fit --out` cannot use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ksparse.cli import main


def test_an_empty_name_and_a_folder_below_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "--out", ""])
    assert "got ''" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["fit", "--out", str(tmp_path / "file" / "below")]) == 2
    assert re.search(r"--out '.*below' is below '.*file', which is a file; give a folder", capsys.readouterr().err)
