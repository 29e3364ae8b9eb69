"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..persistence import write_text
from .errors import InputError, quote_path

__all__ = ["check_folder", "write_file", "write_files"]


def check_folder(folder: Path) -> None:
    """Raise early for a folder that nothing can be written to."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {quote_path(folder)} is a file; give a folder")
    parent = _find_existing(folder)
    if not parent.is_dir():
        raise InputError(f"--out {quote_path(folder)} is below {quote_path(parent)}, which is a file; give a folder")
    if not os.access(parent, os.W_OK):
        raise InputError(f"cannot write to {quote_path(parent)}; give --out a folder where you may write")


def write_file(path: Path, text: str) -> None:
    """Write one file."""
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(f"cannot write {quote_path(path)}: {error.strerror or error}; nothing was written") from error


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts to a folder, which is created if needed: first aside, then each is moved to its place."""
    try:
        # Aside in a folder that exists, so that a full disk leaves nothing behind.
        with tempfile.TemporaryDirectory(prefix=".ksparse-", dir=_find_existing(folder)) as aside:
            for name, text in files.items():
                if (folder / name).is_dir():
                    raise IsADirectoryError(None, f"{name} is a folder there")
                write_text(Path(aside) / name, text)
            folder.mkdir(parents=True, exist_ok=True)
            for name in files:
                os.replace(Path(aside) / name, folder / name)
    except OSError as error:
        raise InputError(f"cannot write to {quote_path(folder)}: {error.strerror or error}") from error


def _find_existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())
