"""Files that are written completely or not at all, and outputs that are not files.

A regular file is replaced: the new text is written aside in the same folder, and renamed when it is complete. Symbolic
links are followed, so that a link remains a link; mode and owner remain those of the old file. Other hard links keep
the old content. A pipe, a terminal or another device is written into, and never replaced.

`check_output_file` and `check_output_folder` say beforehand what would fail, as an `OSError` whose `strerror` is for
users.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Output", "check_output_file", "check_output_folder", "replace_files", "write_text"]

#: Prefix of files that are not complete yet; a killed process may leave one.
ASIDE = ".ksparse-"
#: Links from one to the next that are followed, as by Linux.
MOST_LINKS = 40
#: How text is written. Half of a surrogate pair, which UTF-8 lacks, becomes an escape that JSON knows too.
TEXT_OPTIONS: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}

StrPath = str | os.PathLike[str]
Hold = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Output:
    """Where an output goes: a regular file, which is replaced, or a stream, which is written into.

    Parameters
    ----------
    path : str
        The file, with all links followed; for a stream, the path as it was given.
    is_stream : bool
        Whether it is a pipe, a terminal or another device.
    descriptor : int, optional
        The open file that a path such as ``/dev/stdout`` or ``/dev/fd/3`` names.
    """

    path: str
    is_stream: bool = False
    descriptor: int | None = None


def check_output_file(path: StrPath) -> Output:
    """Find out where an output goes; raises an `OSError` if it cannot be written there."""
    name = os.fspath(path)
    if (descriptor := _find_descriptor(name)) is not None:
        os.fstat(descriptor)  # raises if it is not open
        return Output(name, is_stream=True, descriptor=descriptor)
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return _check_new_file(name)
    except NotADirectoryError as error:
        raise NotADirectoryError(errno.ENOTDIR, "a part of the path is a file, not a folder", name) from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file", name)
    if not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only; make it writable, or give another file", name)
    if stat.S_ISREG(mode):
        real = os.path.realpath(name)
        _check_writable(os.path.dirname(real))
        return Output(real)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return Output(name, is_stream=True)
    raise OSError(errno.EINVAL, "it is neither a file nor a stream; give the name of a file", name)


def check_output_folder(folder: StrPath, names: tuple[str, ...]) -> list[str]:
    """The files of these names in a folder, with links followed; raises an `OSError` if one cannot be written.

    The folder need not exist if it can be made. The files must be regular: together, several can be replaced, but not
    written into streams.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        _check_new_folder(real)
        return [os.path.join(real, name) for name in names]
    _check_writable(real)
    found = []
    for name in names:
        path = os.path.join(real, name)
        try:
            output = check_output_file(path)
        except OSError as error:
            error.strerror = f"{name} there: {error.strerror}"
            raise
        if output.is_stream:
            raise OSError(errno.EINVAL, f"{name} there is a pipe or a device, not a file; give another folder", path)
        found.append(output.path)
    if len(set(found)) < len(found):
        raise OSError(errno.EINVAL, f"{' and '.join(names)} are links to one file; give another folder", found[0])
    return found


def write_text(path: StrPath, text: str | Iterable[str], *, hold: Hold = nullcontext) -> None:
    """Write UTF-8 text to a file, completely or not at all, or into a stream.

    Parameters
    ----------
    path : path-like
        The file or the stream; see `check_output_file`.
    text : str or iterable of str
        What is written; of an iterable, one part after the other, so that not all of it need be in memory.
    hold : callable, optional
        As for `replace_files`.
    """
    output = check_output_file(path)
    if output.is_stream:
        _write_stream(output, text)
    else:
        replace_files({output.path: text}, hold=hold)


def replace_files(texts: Mapping[str, str | Iterable[str]], *, hold: Hold = nullcontext) -> None:
    """Replace regular files by new texts: all of them, or none if anything fails.

    Parameters
    ----------
    texts : mapping of str to str or iterable of str
        The text for each path; folders that are missing are made. Paths must not be links. They are renamed in this
        order.
    hold : callable, optional
        Makes a context within which no exception comes from a signal: what is made there is not left behind, and either
        all files are renamed or none.
    """
    cleanup = ExitStack()
    asides: dict[str, TextIO] = {}
    try:
        for path, text in texts.items():
            with hold():
                _make_folders(os.path.dirname(path), cleanup)
                asides[path] = _open_aside(path, cleanup)
            _write_aside(path, asides[path], text)
        with hold():
            _put_in_place(asides, cleanup)
            cleanup.close()
    finally:
        with hold():
            cleanup.close()


def _find_descriptor(name: str) -> int | None:
    """The number of the open file that a path names, as ``/dev/stdout`` does.

    Such a path leads to a pipe or a file that may be opened for appending; opening it again would lose that.
    """
    folders = {os.path.realpath("/dev/fd"), os.path.realpath("/proc/self/fd")}
    for _ in range(MOST_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in folders:
            return int(last)
        if not os.path.islink(name):
            return None
        name = os.path.join(folder, os.readlink(name))
    return None  # a loop, which the caller finds as well


def _check_new_file(name: str) -> Output:
    """A file that does not exist, perhaps at the end of a link."""
    real = os.path.realpath(name)
    folder = os.path.dirname(real)
    if not os.path.basename(name):
        raise IsADirectoryError(errno.EISDIR, "it ends like a folder; give the name of a file", name)
    if not os.path.isdir(folder):
        link = "it is a link to a place in" if os.path.islink(name) else "it is in"
        raise FileNotFoundError(errno.ENOENT, f"{link} {folder!r}, which is not a folder; make it first", name)
    _check_writable(folder)
    return Output(real)


def _check_new_folder(folder: str) -> None:
    """Check a folder that can be made: the nearest thing above it that exists must be a folder, and writable."""
    place = folder
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if os.path.islink(place):
        raise OSError(errno.ELOOP, f"{place!r} is a link in a loop of links; give another folder", folder)
    if not os.path.isdir(place):
        raise NotADirectoryError(errno.ENOTDIR, f"{place!r} is a file; give a folder", folder)
    _check_writable(place)


def _check_writable(folder: str) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"you may not write in the folder {folder!r}; give another one", folder)


def _make_folders(folder: str, cleanup: ExitStack) -> None:
    """Make a folder and those above it; they are removed again if they are still empty in the end."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path)
        cleanup.callback(_ignore_errors, os.rmdir, path)


def _open_aside(path: str, cleanup: ExitStack) -> TextIO:
    """An empty file in the folder of another one; it is removed in the end unless it was renamed.

    A new file gets the mode that `open` would give it, without asking for the mask of the process, which other threads
    would notice. What replaces a file is for the owner only until it is complete.
    """
    mode = 0o600 if os.path.exists(path) else 0o666
    aside = _name_aside(path)
    cleanup.callback(_ignore_errors, os.unlink, aside)
    file = open(aside, "x", **TEXT_OPTIONS, opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
    cleanup.callback(_ignore_errors, file.close)
    return file


def _name_aside(path: str) -> str:
    return os.path.join(os.path.dirname(path), f"{ASIDE}{os.urandom(8).hex()}.tmp")


def _write_aside(path: str, file: TextIO, text: str | Iterable[str]) -> None:
    """Write a file to the disk, with the mode and the owner of the file that it will replace."""
    with file:
        file.writelines([text] if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        old = os.stat(path)
        _keep_owner(file.name, old)
        os.chmod(file.name, stat.S_IMODE(old.st_mode))


def _keep_owner(aside: str, old: os.stat_result) -> None:
    """Give a file the owner and the group of another one, or the group alone, as far as the user may do so."""
    new = os.stat(aside)
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid) or not hasattr(os, "chown"):
        return
    try:
        os.chown(aside, old.st_uid, old.st_gid)
    except OSError:
        _ignore_errors(os.chown, aside, -1, old.st_gid)


def _put_in_place(asides: Mapping[str, TextIO], cleanup: ExitStack) -> None:
    """Rename all files; if one cannot be renamed, put back the old ones of those before it."""
    *earlier, _ = asides
    backups = {path: _back_up(path, cleanup) for path in earlier}
    with ExitStack() as undo:
        for path, file in asides.items():
            os.replace(file.name, path)
            undo.callback(_restore, path, backups.get(path))
        undo.pop_all()


def _back_up(path: str, cleanup: ExitStack) -> str | None:
    """A second name of a file, or a copy where the file system has no hard links; None if there is no file."""
    if not os.path.exists(path):
        return None
    backup = _name_aside(path)
    cleanup.callback(_ignore_errors, os.unlink, backup)
    try:
        os.link(path, backup)
    except OSError:
        shutil.copy2(path, backup)
    return backup


def _restore(path: str, backup: str | None) -> None:
    if backup is None:
        os.unlink(path)
    else:
        os.replace(backup, path)


def _write_stream(output: Output, text: str | Iterable[str]) -> None:
    """Write into a pipe or a device, which is neither made nor cut."""
    if output.descriptor is not None:
        descriptor = os.dup(output.descriptor)
    else:
        descriptor = os.open(output.path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    with open(descriptor, "w", **TEXT_OPTIONS) as stream:
        stream.writelines([text] if isinstance(text, str) else text)


def _ignore_errors(action: Callable[..., object], *arguments: object) -> None:
    with suppress(OSError):
        action(*arguments)
