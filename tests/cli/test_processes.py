"""The command as a process of its own: in pipes, in a terminal, and where letters are lacking; and interrupts."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from typing import Any

import pytest

from ksparse.cli import commands, main


def test_interrupts_end_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(commands, "fit_model", interrupt)
    assert main(["fit"]) == 130
    assert capsys.readouterr().err == "ksparse: interrupted\n"


def run(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    shell = f"set -o pipefail; {command.replace('ksparse', f'{sys.executable} -m ksparse')}"
    return subprocess.run(["bash", "-c", shell], capture_output=True, env={**inherited(), **environment}, check=False)


def inherited() -> dict[str, str]:
    """The environment without what would overrule the size of a terminal."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


@pytest.mark.slow
def test_pipes_get_plain_text_and_may_close() -> None:
    quick = "--k 2 --alpha 0.1 --resamples 0"
    done = run(f"ksparse fit {quick}", COLUMNS="20", FORCE_COLOR="", TERM="xterm-256color")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert b"Data: breast-cancer, 569 rows, 30 columns, target 'diagnosis'\n" in done.stdout
    assert done.stderr == b""
    done = run("ksparse fit --help | true")
    assert b"Traceback" not in done.stderr
    done = run(f"ksparse fit {quick} | true")
    assert done.returncode in (0, 141)
    assert done.stderr == b""


@pytest.mark.slow
def test_letters_that_a_terminal_lacks_do_not_stop_it() -> None:
    done = run("ksparse fit diabetes --k 2 --alpha 0.1 --resamples 0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"R\\xb2" in done.stdout


def in_a_terminal(columns: int, *arguments: str) -> bytes:
    """What the command shows in a terminal of its own."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "ksparse", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**inherited(), "TERM": "xterm-256color"},
    )
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal whose last program has ended
        while part := os.read(leader, 65536):
            shown += part
    os.close(leader)
    assert process.wait() == 0
    return shown


@pytest.mark.slow
def test_a_terminal_shows_progress_and_then_the_result() -> None:
    shown = in_a_terminal(60, "fit", "diabetes", "--k", "auto")
    assert b"Fitting" in shown
    assert b"k = " in shown
    assert b"\x1b[1m" in shown
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    last = text[text.rindex("Data:") :]
    assert max(len(line.rstrip()) for line in last.splitlines()) <= 60
