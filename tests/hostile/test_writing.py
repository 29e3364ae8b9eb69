"""No file is lost: what is replaced, what is written into, what is refused, and what a signal leaves."""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

import ksparse
from ksparse import writing
from ksparse.cli import main
from ksparse.cli.interrupts import RaiseOnSignals, Stop
from ksparse.cli.settings import FILES
from ksparse.writing import replace_files, write_text
from tests.cli.helpers import accepted, refused

from .forks import ForkServer, start_fork_server
from .outputs import make_quick_fit, read_folder, save_model


def find_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- regular files are replaced -------------------------------------------------------------------------------------


def test_links_are_followed_and_remain(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_text("old")
    (tmp_path / "second").symlink_to("far/file")
    (tmp_path / "first").symlink_to(tmp_path / "second")
    write_text(tmp_path / "first", "new")
    assert (tmp_path / "far" / "file").read_text() == "new"
    assert os.readlink(tmp_path / "first") == str(tmp_path / "second")
    assert os.readlink(tmp_path / "second") == "far/file"
    assert not (tmp_path / "far" / "file").is_symlink()


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_modes_are_kept(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert (path.read_text(), find_mode(path)) == ("new", mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_of_any_other(mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(mask)
    try:
        monkeypatch.setattr(os, "umask", pytest.fail)  # other threads would see it
        write_text(tmp_path / "file", "new")
        (tmp_path / "other").write_text("")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert find_mode(tmp_path / "file") == find_mode(tmp_path / "other") == 0o666 & ~mask


def test_a_private_file_is_private_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    write_text(tmp_path / "file", "new")
    assert modes == [0o600]


def test_owners_are_kept_as_far_as_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("old")
    with suppress(PermissionError):  # only root may give files away
        os.chown(tmp_path / "file", 12345, 54321)
    before = (tmp_path / "file").stat()
    write_text(tmp_path / "file", "new")
    after = (tmp_path / "file").stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    asked: list[tuple[int, int]] = []

    def refuse_owners(path: str, owner: int, group: int) -> None:
        asked.append((owner, group))
        if owner != -1:
            raise PermissionError

    monkeypatch.setattr(os, "chown", refuse_owners)
    old: Any = SimpleNamespace(st_uid=1, st_gid=2)
    writing._keep_owner(str(tmp_path / "file"), old)
    assert asked == [(1, 2), (-1, 2)]


def test_other_hard_links_keep_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    os.link(tmp_path / "file", tmp_path / "other")
    write_text(tmp_path / "file", "new")
    assert read_folder(tmp_path) == {"file": "new", "other": "old"}


def test_long_names_and_odd_letters(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "line\nhalf of a pair: \ud800")
    assert read_folder(tmp_path) == {"n" * 255: "line\nhalf of a pair: \\ud800"}


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".ksparse-0123.tmp").write_text("not complete")
    write_text(tmp_path / "file", "new")
    assert read_folder(tmp_path) == {"file": "new", ".ksparse-0123.tmp": "not complete"}


# --- streams are written into ---------------------------------------------------------------------------------------


def collect(path: Path) -> Callable[[], str]:
    """Read a pipe in another thread; the function that is returned waits for the text."""
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append(path.read_text()), daemon=True)
    reader.start()

    def wait() -> str:
        reader.join(60)
        return texts[0]

    return wait


def test_pipes_stay_pipes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = save_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    whole = accepted(capsys, "predict", model, data)
    for name in ("pipe", "link"):
        wait = collect(tmp_path / "pipe")
        assert accepted(capsys, "predict", model, data, "--out", tmp_path / name) == ""
        assert wait() == whole
    wait = collect(tmp_path / "pipe")
    ksparse.save(ksparse.load(model), tmp_path / "pipe")
    assert wait() == model.read_text()
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    assert (tmp_path / "link").is_symlink()


def test_a_terminal_is_a_device_and_stays_one(tmp_path: Path) -> None:
    leader, follower = os.openpty()
    name = os.ttyname(follower)
    (tmp_path / "link").symlink_to(name)
    write_text(tmp_path / "link", "some text")
    assert os.read(leader, 100) == b"some text"
    assert stat.S_ISCHR(os.stat(name).st_mode)
    assert (tmp_path / "link").is_symlink()
    os.close(leader)
    os.close(follower)


def test_open_files_are_written_where_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shell opens a file for appending with ``>>``; to open it again by /dev/fd/3 would lose what it has."""
    (tmp_path / "log").write_text("first\n")
    with (tmp_path / "log").open("a") as log:
        (tmp_path / "link").symlink_to(f"/dev/fd/{log.fileno()}")
        write_text(f"/dev/fd/{log.fileno()}", "second\n")
        write_text(tmp_path / "link", "third\n")
        closed = f"/dev/fd/{log.fileno()}"
    assert (tmp_path / "log").read_text() == "first\nsecond\nthird\n"
    with pytest.raises(OSError, match="Bad file descriptor"):
        write_text(closed, "text")


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = save_model(tmp_path)
    whole = accepted(capsys, "predict", model, data)
    assert whole.startswith("prediction\n")
    for name in ("-", "/dev/fd/1"):
        assert accepted(capsys, "predict", model, data, "--out", name) == whole
    monkeypatch.chdir(tmp_path)
    assert accepted(capsys, "predict", model, data, "--out", "./-") == ""
    assert (tmp_path / "-").read_text() == whole


# --- a report and its model belong together -------------------------------------------------------------------------


def test_links_and_modes_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, far = tmp_path / "folder", tmp_path / "far"
    folder.mkdir()
    far.mkdir()
    (far / "model").write_text("old")
    (far / "model").chmod(0o600)
    (folder / "model.json").symlink_to("../far/model")
    (folder / "report.html").symlink_to(far / "report")
    accepted(capsys, *make_quick_fit(monkeypatch), "--out", folder)
    assert (folder / "model.json").is_symlink()
    assert (folder / "report.html").is_symlink()
    assert (far / "report").read_text() == "page"
    assert ksparse.load(far / "model").n_features_in_ == 10
    assert find_mode(far / "model") == 0o600
    assert sorted(path.name for path in far.iterdir()) == ["model", "report"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("which", ["first", "second"])
def test_a_failed_rename_puts_the_old_files_back(
    which: str, existing: bool, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {"first": "old 1", "second": "old 2"} if existing else {}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    replace = os.replace

    def fail(source: str, target: str) -> None:
        if Path(target).name == which and "new" in Path(source).read_text():
            raise OSError(errno.EBUSY, "busy")
        replace(source, target)

    def have_no_links(*_: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "replace", fail)
    if not links:
        monkeypatch.setattr(os, "link", have_no_links)
    with pytest.raises(OSError, match="busy"):
        replace_files({str(tmp_path / name): f"new {name}" for name in ("first", "second")})
    assert read_folder(tmp_path) == before


def run_with_signal(action: Callable[[], None], number: int, event: int) -> bool:
    """Run an action, and send a signal when it has come to a line; whether it came so far."""
    seen = 0

    def trace(frame: FrameType, kind: str, _: Any) -> Any:
        nonlocal seen
        if not frame.f_code.co_filename.endswith(("writing.py", "contextlib.py", "interrupts.py")):
            return None
        if kind == "line":
            seen += 1
            if seen == event:
                os.kill(os.getpid(), number)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return seen >= event


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("existing", [True, False])
def test_a_signal_at_any_line_leaves_both_old_files_or_both_new_ones(
    existing: bool, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # it takes most of the time
    old, new = ({"a/b/first": f"{age} 1", "a/b/second": f"{age} 2"} for age in ("old", "new"))
    outcomes, event, reached = [], 0, True
    while reached:
        event += 1
        folder = tmp_path / str(event)
        folder.mkdir()
        if existing:
            (folder / "a" / "b").mkdir(parents=True)
            for name, text in old.items():
                (folder / name).write_text(text)
        texts = {str(folder / name): text for name, text in new.items()}
        signals, received = RaiseOnSignals(), None
        with signals:
            try:
                reached = run_with_signal(lambda: replace_files(texts, hold=signals.hold), number, event)  # noqa: B023
            except Stop as stop:
                received = stop.number
        assert received == (number if reached else None)
        outcomes.append(read_folder(folder))
        assert outcomes[-1] in (old if existing else {}, new), event
        assert existing or outcomes[-1] or not list(folder.iterdir()), "an empty folder is left"
    assert event > 100
    assert outcomes[0] != new
    assert outcomes[-1] == new


KILLED = """
import os, signal, sys
from ksparse.cli import report, run
name, count, number = sys.argv[1], int(sys.argv[2]), getattr(signal, sys.argv[3])
original, calls = getattr(os, name), 0

def kill(*arguments):
    global calls
    calls += 1
    if calls == count:
        os.kill(os.getpid(), number)
    return original(*arguments)

setattr(os, name, kill)
report.render_report = lambda fitted, day: "page"
sys.argv[1:] = ["fit", "diabetes", "--k", "1", "--alpha", "0", "--resamples", "0", "--out", sys.argv[4]]
run()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with start_fork_server() as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize(("name", "count"), [("fsync", 1), ("fsync", 2), ("link", 1), ("replace", 1), ("replace", 2)])
def test_a_killed_process_leaves_files_of_one_fit(
    name: str, count: int, number: str, server: ForkServer, tmp_path: Path
) -> None:
    for file in FILES:
        (tmp_path / file).write_text("old")
    done = server.run(KILLED, [name, str(count), number, str(tmp_path)])
    left = read_folder(tmp_path)
    new = {file for file in FILES if left[file] != "old"}
    if number == "SIGKILL":  # what it may leave: files aside, and a new model beside an old report
        assert done.returncode == -signal.SIGKILL
        assert new == ({"model.json"} if (name, count) == ("replace", 2) else set())
        assert all(file.startswith(".ksparse-") for file in left.keys() - set(FILES))
        return
    word, code = {"SIGTERM": ("terminated", 143), "SIGHUP": ("hung up", 129)}[number]
    assert (done.returncode, done.stderr) == (code, f"ksparse: {word}\n")
    assert left.keys() == set(FILES)
    assert new == (set() if name == "fsync" else set(FILES))


def test_a_full_disk_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    model, data = save_model(tmp_path)
    (tmp_path / "out.csv").write_text("old")
    before = read_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", fill)
    assert "No space left on device" in refused(capsys, "predict", model, data, "--out", tmp_path / "out.csv")
    assert main([*make_quick_fit(monkeypatch), "--out", str(tmp_path / "deep" / "er")]) == 2
    assert read_folder(tmp_path) == before
    assert not (tmp_path / "deep").exists()
