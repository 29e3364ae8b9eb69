"""The folder for what a fit or predictions in blocks keep on disk."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...limits import describe_size
from ...writing import Hold
from ..errors import InputError, quote_path

__all__ = ["check_room", "make_work_folder"]

ADVICE = "free some, or name a folder with more room by the environment variable TMPDIR"


@contextmanager
def make_work_folder(hold: Hold) -> Iterator[Path]:
    """A temporary folder, which is removed in the end, also after an error or an interrupt."""
    with hold():
        folder = Path(tempfile.mkdtemp(prefix="ksparse-"))
    try:
        yield folder
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InputError(
                f"no space is left in {quote_path(folder.parent)} for temporary files; {ADVICE}"
            ) from error
        raise
    finally:
        with hold():
            shutil.rmtree(folder, ignore_errors=True)


def check_room(folder: Path, needed: float, what: str) -> None:
    """Raise if a disk has not enough space for temporary files."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{what} takes about {describe_size(int(needed))} of temporary files, but {quote_path(folder.parent)} has"
            f" {describe_size(free)} left; {ADVICE}"
        )
