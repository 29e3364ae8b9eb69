"""The files of an output folder."""

from __future__ import annotations

from pathlib import Path

from ..writing import check_output_folder
from .errors import explain_write_errors, quote_path


def find_output_files(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Where files of these names go; raises for a folder that they cannot be written to."""
    with explain_write_errors(f"to --out {quote_path(folder)}"):
        return dict(zip(names, check_output_folder(folder, names), strict=True))
