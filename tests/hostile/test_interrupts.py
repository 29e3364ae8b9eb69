"""Signals at any time: one line, the exit code that shells expect, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import ksparse
from ksparse.cli import commands, interrupts, main
from ksparse.cli.interrupts import RaiseOnSignals, Stop
from ksparse.cli.settings import FILES

from .outputs import make_quick_fit

ENDS = [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143), (signal.SIGHUP, "hung up", 129)]


# --- while the command works ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "word", "code"), ENDS)
@pytest.mark.parametrize("where", ["load_data", "fit_model", "print_model"])
def test_a_signal_while_the_command_works(
    where: str, number: int, word: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(other) for other, _, _ in ENDS]
    monkeypatch.setattr(commands, where, lambda *_: signal.raise_signal(number))
    assert main(make_quick_fit(monkeypatch)) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"ksparse: {word}\n")
    assert [signal.getsignal(other) for other, _, _ in ENDS] == before


def test_ignored_signals_remain_ignored(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr(commands, "load_data", lambda *_: signal.raise_signal(signal.SIGHUP))
        monkeypatch.setattr(commands, "fit_model", lambda *_: None)
        monkeypatch.setattr(commands, "print_model", lambda *_: None)
        assert main(["fit"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_error_that_a_library_makes_of_a_signal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def convert(*_: Any) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("the library could not be initialized") from None

    monkeypatch.setattr(commands, "fit_model", convert)
    assert main(["fit"]) == 143
    assert capsys.readouterr().err == "ksparse: terminated\n"


def test_more_signals_do_not_disturb_the_cleanup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.2)
    with RaiseOnSignals():
        with pytest.raises(Stop):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0.25)  # who waits may ask again
        with pytest.raises(Stop):
            signal.raise_signal(signal.SIGTERM)


def hold_twice(signals: RaiseOnSignals, done: list[str]) -> None:
    with signals.hold():
        with signals.hold():
            signal.raise_signal(signal.SIGTERM)
            done.append("inner")
        done.append("outer")
    done.append("never")


def test_held_signals_wait() -> None:
    done: list[str] = []
    with RaiseOnSignals() as signals, pytest.raises(Stop) as stopped:
        hold_twice(signals, done)
    assert (stopped.value.number, done) == (signal.SIGTERM, ["inner", "outer"])


def fail_after_a_signal() -> None:
    with RaiseOnSignals() as signals, signals.hold():
        signal.raise_signal(signal.SIGHUP)
        raise OSError("full")


def test_a_signal_is_not_lost_if_what_held_it_fails() -> None:
    with pytest.raises(Stop) as stopped:
        fail_after_a_signal()
    assert isinstance(stopped.value.__cause__, OSError)


class Careless:
    """Something that is destroyed while a signal arrives: Python drops exceptions there."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def destroy_and_wait() -> None:
    thing = Careless()
    del thing
    for _ in range(1000):
        time.sleep(0.01)


def test_a_signal_that_python_drops_is_sent_again(capsys: pytest.CaptureFixture[str]) -> None:
    with RaiseOnSignals(), pytest.raises(Stop):
        destroy_and_wait()
    assert capsys.readouterr().err == ""


def test_other_threads_may_run_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["fit", "nothing.csv"])))
    thread.start()
    thread.join()
    assert codes == [2]
    assert capsys.readouterr().err.count("\n") == 1


# --- while Python imports -------------------------------------------------------------------------------------------

AT_IMPORT = """
import os, signal, sys
name, number = sys.argv.pop(1), int(sys.argv.pop(1))

class Finder:
    def find_spec(self, wanted, path=None, target=None):
        if wanted == name:
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Finder())
from ksparse.cli import run
run()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "end"),
    [
        *((name, 0) for name in ("ksparse.cli.streams", "numpy", "sklearn", "ksparse.solvers.swap", "rich", "jinja2")),
        ("numpy", 1),
        ("ksparse.cli.report", 2),
    ],
)
def test_a_signal_during_an_import(name: str, end: int, tmp_path: Path) -> None:
    number, word, code = ENDS[end]
    program = [sys.executable, "-c", AT_IMPORT, name, str(int(number)), "fit", "diabetes", "--out", str(tmp_path / "o")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"ksparse: {word}\n")
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.4, 0.7, 1.0, 1.5, 2.2])
def test_a_signal_at_any_time(delay: float, tmp_path: Path) -> None:
    """From the first line of the command to the last; while Python itself starts and ends, nothing can be caught."""
    start = "import os; from ksparse.cli import program\nprogram.quit_on_signals(); os.write(2, b'.'); program.run()"
    command = [sys.executable, "-c", start, "fit", "diabetes", "--out", str(tmp_path / "o")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stderr.read(1) == b"."
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    ended = (-signal.SIGINT, b"")  # Python takes our handler away before it ends
    assert (process.returncode, errors) in [(130, b"ksparse: interrupted\n"), (0, b""), ended]
    left = sorted(path.name for path in tmp_path.rglob("*"))
    assert left in ([], sorted(["o", *FILES]))


@pytest.mark.slow
def test_the_package_is_imported_when_it_is_used() -> None:
    """So little is imported before signals are handled that an interrupt hardly finds the time."""
    program = (
        "import sys, ksparse.cli\n"
        "light = sorted({'numpy', 'argparse', 'typing', 'importlib.metadata'} & set(sys.modules))\n"
        "import ksparse\n"
        "from ksparse import *\n"
        "assert minimize is ksparse.minimize and solvers is ksparse.solvers and GraHTP is ksparse.solvers.GraHTP\n"
        "assert ksparse.threads.keep_threads and ksparse.persistence.register\n"
        "print(light)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, env=paths()
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def paths() -> dict[str, str]:
    """An environment in which Python finds all packages without `site`, which imports some of its own."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_names_of_the_package() -> None:
    assert set(ksparse.__all__) <= set(dir(ksparse))
    assert all(hasattr(ksparse, name) for name in ksparse.__all__)
    assert ksparse.__version__
    with pytest.raises(AttributeError, match="module 'ksparse' has no attribute 'minimise'"):
        _ = ksparse.minimise  # type: ignore[attr-defined]
