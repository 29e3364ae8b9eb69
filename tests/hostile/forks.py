"""Processes that fork from one that has imported the command: as real as others, without the two seconds of imports."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ForkServer", "start_fork_server"]

#: Forks once for each line that it reads, and writes the exit code; the child runs a program with arguments, and ends
#: as Python does.
SERVER = """
import contextlib, io, json, os, sys
from ksparse.cli import main, report

with contextlib.redirect_stdout(io.StringIO()):
    main(["fit", "diabetes", "--k", "1", "--alpha", "0", "--resamples", "0"])  # imports what a fit needs
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
program, arguments, *places = json.loads(line)
for number, place in enumerate([os.devnull, *places]):
    descriptor = os.open(place, os.O_RDWR)
    os.dup2(descriptor, number)
    os.close(descriptor)
sys.argv[1:] = arguments
exec(program)
"""


class ForkServer:
    """A process that runs programs in forks of itself.

    Parameters
    ----------
    process : Popen
        The process.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, program: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a program in Python, with nothing as its input, and wait for its end."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        with tempfile.TemporaryDirectory() as folder:
            places = [Path(folder) / name for name in ("out", "err")]
            for place in places:
                place.touch()
            requests.write(json.dumps([program, list(arguments), *map(str, places)]) + "\n")
            requests.flush()
            code = int(answers.readline())
            out, err = (place.read_text() for place in places)
        return subprocess.CompletedProcess(list(arguments), code, out, err)


@contextmanager
def start_fork_server() -> Iterator[ForkServer]:
    """A server that ends with the context."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield ForkServer(process)
