"""``ksparse fit --out`` is killed at random times: the folder has the old files or the new ones, each whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ksparse.cli.settings import FILES
from ksparse.persistence import loads

from .data import Choose
from .outcomes import demand

__all__ = ["Kill", "check_kill", "draw_kill"]

NAMES = set(FILES)
SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
#: How long a whole run may take.
LONGEST_RUN = 60.0
ROWS = "a,b,y\n" + "".join(f"{i % 7},{i * i % 11},{2 * (i % 7) - (i * i % 11) + i % 3}\n" for i in range(40))


@dataclass(frozen=True)
class Kill:
    """A signal, and when it is sent: some time after the start, or after the first sign of writing."""

    signal: str
    after_writing: bool
    seconds: float


def draw_kill(choose: Choose) -> Kill:
    """Most kills come while files are written, where they can do harm."""
    after_writing = choose((True, True, True, False))
    most = 0.01 if after_writing else 4.0
    return Kill(choose(SIGNALS), after_writing, round(most * choose(range(1000)) / 1000, 6))


def check_kill(case: Kill) -> None:
    """After the kill, all files are old or all are new; after an interrupt, nothing else is there."""
    with tempfile.TemporaryDirectory() as place:
        folder, old = Path(place) / "out", make_old_files()
        folder.mkdir()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        process = _start(Path(place), 2)
        if case.after_writing:
            _wait_for_writing(process, folder)
        time.sleep(case.seconds)
        process.send_signal(getattr(signal, case.signal))
        process.wait(LONGEST_RUN)
        _check_folder(case, folder, old)


@cache
def make_old_files() -> dict[str, bytes]:
    """What an earlier run has written, with one feature."""
    with tempfile.TemporaryDirectory() as place:
        _start(Path(place), 1).wait(LONGEST_RUN)
        return {name: (Path(place) / "out" / name).read_bytes() for name in NAMES}


def _start(place: Path, k: int) -> subprocess.Popen[bytes]:
    data, folder = place / "data.csv", place / "out"
    data.write_text(ROWS)
    command = [sys.executable, "-m", "ksparse", "fit", str(data), "--target", "y", "--task", "regression"]
    command += ["--k", str(k), "--alpha", "0.1", "--test", "0", "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for_writing(process: subprocess.Popen[bytes], folder: Path) -> None:
    before = os.listdir(folder)
    while os.listdir(folder) == before and process.poll() is None:
        time.sleep(1e-4)


def _check_folder(case: Kill, folder: Path, old: dict[str, bytes]) -> None:
    found = set(os.listdir(folder))
    demand(found >= NAMES, f"only {found} are left")
    new = {name: (folder / name).read_bytes() for name in NAMES}
    changed = {name for name in NAMES if new[name] != old[name]}
    demand(changed in (set(), NAMES), f"only {changed} is new")
    model = loads(new["model.json"])[-1]
    demand(model.k == (2 if changed else 1), f"the model has k = {model.k}")
    demand(new["report.html"].rstrip().endswith(b"</html>"), "the report is not whole")
    # Nobody can clean up after SIGKILL.
    beside = set(os.listdir(folder.parent)) - {"out", "data.csv"}
    left = (found - NAMES) | beside if case.signal != "SIGKILL" else set()
    demand(not left, f"{left} are left behind")
