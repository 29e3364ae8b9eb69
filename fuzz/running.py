"""Cases run in a process of their own, with limits of memory and time; failures are written as scripts."""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext
from pathlib import Path
from typing import Any

import numpy as np

from .checks import CHECKS
from .data import Problem
from .outcomes import Missed, Refused

__all__ = ["OUTCOMES", "Runner", "Tally", "draw_case"]

OUTCOMES = ("passed", "refused", "missed", "failed")
#: Failures of one check that are written as files.
MOST_FILES = 50


@dataclass
class Tally:
    """How the cases of one check ended."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        """The number of cases."""
        return self.counts.total()


def draw_case(name: str, seed: int, number: int) -> Any:
    """The case of this number: always the same one."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    return CHECKS[name].draw(lambda options: options[int(rng.integers(len(options)))])


class Runner:
    """Runs cases in a worker, which is replaced when it dies or hangs."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._seed, self._folder = seed, folder
        self._context: ForkContext = multiprocessing.get_context("fork")
        self._process: Any = None

    def run(self, name: str, cases: int | None, seconds: float) -> Tally:
        """Run this many cases of a check, or as many as there is time for."""
        tally, start = Tally(), time.monotonic()
        while tally.cases < cases if cases is not None else time.monotonic() - start < seconds:
            number = tally.cases
            outcome, message = self._run_case(name, number)
            tally.counts[outcome] += 1
            if outcome == "failed" and tally.counts[outcome] <= MOST_FILES:
                write_failure(self._folder, name, number, draw_case(name, self._seed, number), message)
        tally.seconds = time.monotonic() - start
        return tally

    def stop(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _run_case(self, name: str, number: int) -> tuple[str, str]:
        if self._process is None:
            self._start()
        try:
            self._pipe.send((name, self._seed, number))
            if self._pipe.poll(CHECKS[name].seconds):
                outcome: tuple[str, str] = self._pipe.recv()
                return outcome
            problem = f"no answer within {CHECKS[name].seconds:g} seconds"
        except (EOFError, OSError):
            self._process.join()
            problem = f"the process died with the exit code {self._process.exitcode}"
        self.stop()
        return "failed", problem

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other,), daemon=False)
        self._process.start()
        other.close()


def _serve(pipe: Connection) -> None:
    """Run the cases that are asked for until the pipe is closed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            name, seed, number = pipe.recv()
        except EOFError:
            return
        _limit_memory(CHECKS[name].memory)
        pipe.send(_judge(name, seed, number))


def _limit_memory(more: int) -> None:
    """Let the process take so many bytes more than it has; child processes inherit the sum."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])  # of data and stack
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))


def _judge(name: str, seed: int, number: int) -> tuple[str, str]:
    try:
        CHECKS[name].run(draw_case(name, seed, number))
    except Refused as error:
        return "refused", str(error)
    except Missed as error:
        return "missed", str(error)
    except AssertionError as error:
        return "failed", str(error)
    except BaseException:
        return "failed", traceback.format_exc()
    return "passed", ""


def write_failure(folder: Path, name: str, number: int, case: Any, message: str) -> None:
    """Write a script that repeats a case: the plain call of ksparse, if there is one, and the check."""
    said = message.replace("\\", "/").replace('"""', "'''")
    imports = {f"from {type(part).__module__} import {type(part).__name__}" for part in _list_parts(case)}
    lines = [f'"""{name}, case {number}.', "", said, "", "From the root of the repository: PYTHONPATH=. python FILE"]
    lines += ['"""', "", "import numpy as np", "from numpy import array", "", "import ksparse"]
    lines += ["from fuzz.checks import CHECKS", *sorted(imports), ""]
    if _makes_problem(case):
        lines += [*_show_problem(case.build()), ""]
    lines += ["# The check that failed.", f'CHECKS["{name}"].run({case!r})', ""]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^a-z0-9]+', '_', name)}_{number}.py"
    path.write_text("\n".join(lines), encoding="utf-8")


def _makes_problem(case: Any) -> bool:
    return hasattr(case, "build") and type(case).build.__annotations__.get("return") == "Problem"


def _list_parts(case: Any) -> list[Any]:
    """The case, and the dataclasses that it is made from."""
    return [case, *(part for part in vars(case).values() if hasattr(part, "__dataclass_fields__"))]


def _show_problem(problem: Problem) -> list[str]:
    """A call of ksparse with its data."""
    with np.printoptions(threshold=10**6, floatmode="unique"):
        estimator = type(problem.build_estimator()).__name__
        parameters = ", ".join(f"{name}={value!r}" for name, value in problem.parameters.items())
        weights = repr(problem.weights)
        return [
            f"X = np.{problem.dense!r}" + (f"  # given as {type(problem.X).__name__} of {problem.X.dtype}"),
            f"y = np.{problem.y!r}",
            f"weights = {weights}",
            f"model = ksparse.{estimator}({parameters}).fit(X, y, sample_weight=weights)",
            "print(model.coef_, model.intercept_, model.result_, sep='\\n')",
        ]
