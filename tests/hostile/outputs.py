"""Outputs for the hostile tests: a saved model with its data, and what a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ksparse
from ksparse.cli import report

DATA = "a,b\n1,2\n3,5\n"


def save_model(folder: Path) -> tuple[Path, Path]:
    """A saved model and new rows for it."""
    model: Any = ksparse.SparseLinearRegression(k=1).fit([[1.0, 0.0], [2.0, 1.0], [3.0, 0.5]], [1.0, 2.0, 3.0])
    ksparse.save(model, folder / "saved.json")
    (folder / "new.csv").write_text(DATA)
    return folder / "saved.json", folder / "new.csv"


def make_quick_fit(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a fit that takes little time: its report is one word."""
    monkeypatch.setattr(report, "render_report", lambda fitted, day: "page")
    return ["fit", "diabetes", "--k", "1", "--alpha", "0", "--test", "0"]


def read_folder(folder: Path) -> dict[str, str]:
    """All files in a folder with their texts, also hidden ones and those below."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if not path.is_dir()}
