"""Processes that may take little memory and time, so that a bomb fails fast."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ksparse

#: Starts Python under the limits, and writes how much memory it took, even if it was killed. It is its own process,
#: since what the kernel says of a child of the tests would include the memory of the tests.
SUPERVISOR = """
import os, resource, subprocess, sys
report, memory, seconds, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
child = subprocess.Popen([sys.executable, *arguments])
_, status, usage = os.wait4(child.pid, 0)
with open(report, "w") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss * 1024} {usage.ru_utime + usage.ru_stime}")
"""


@dataclass(frozen=True)
class Run:
    """What a process did."""

    code: int  # negative: the signal that ended it
    out: str
    err: str
    peak: int  # bytes of resident memory
    seconds: float  # of the processor


def run_limited(arguments: Sequence[str | Path], *, memory: int, seconds: int) -> Run:
    """Run Python with arguments such as ``["-m", "ksparse", "fit"]`` under limits.

    Parameters
    ----------
    arguments : sequence
        Those of Python.
    memory : int
        Bytes of data that the process may allocate; beyond it, allocations fail. Imports take about 400 MB of it.
    seconds : int
        Time of the processor; beyond it, the process is killed.
    """
    environment = os.environ | {
        "PYTHONPATH": str(Path(ksparse.__file__).parents[1]),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        command = [sys.executable, "-I", "-S", "-c", SUPERVISOR, report, memory, seconds, *arguments]
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if not report.exists():
            raise RuntimeError(f"the supervisor failed: {done.stderr}")
        code, peak, spent = report.read_text().split()
    return Run(int(code), done.stdout, done.stderr, int(peak), float(spent))
