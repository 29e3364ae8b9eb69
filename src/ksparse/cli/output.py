"""Files written together or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..persistence import write_text
from .errors import InputError, whole

__all__ = ["check_folder", "write_file", "write_files"]


def check_folder(folder: Path) -> None:
    """Complain early about a place where nothing can be written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {whole(folder)} is a file; give a folder")
    parent = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not parent.is_dir():
        raise InputError(f"--out {whole(folder)} is below {whole(parent)}, which is a file; give a folder")
    if not os.access(parent, os.W_OK):
        raise InputError(f"cannot write to {whole(parent)}; give --out a folder where you may write")


def write_file(path: Path, text: str) -> None:
    """Write one file at once, or say why not."""
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(f"cannot write {whole(path)}: {error.strerror or error}; nothing was written") from error


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write all of these texts into a folder, which is made if need be; if one fails, all is as it was before.

    Parameters
    ----------
    folder : Path
        The folder.
    files : mapping of str to str
        Texts by the names of their files.
    """
    made: list[Path] = []
    try:
        _make(folder, made)
        with tempfile.TemporaryDirectory(prefix=".ksparse-", dir=folder) as name:
            _replace(folder, Path(name), files)
    except BaseException as error:
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise InputError(f"cannot write to {whole(folder)}: {reason}; nothing was written") from error
        raise


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, remembering which are new."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir()
        made.append(place)


def _replace(folder: Path, stage: Path, files: Mapping[str, str]) -> None:
    """Write all files aside, then put each in its place; if one cannot be, bring the old ones back."""
    for name, text in files.items():
        if (folder / name).is_dir():
            raise IsADirectoryError(None, f"{name} is a folder there")
        write_text(stage / name, text)
        if (folder / name).exists():
            shutil.copy2(folder / name, stage / f"{name}.old")
    replaced: list[str] = []
    try:
        for name in files:
            replaced.append(name)
            os.replace(stage / name, folder / name)
    except BaseException:
        for name in replaced:
            if (stage / f"{name}.old").exists():
                os.replace(stage / f"{name}.old", folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        raise
