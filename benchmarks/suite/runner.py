"""Runs methods in processes of their own, each with a limit of time, and has their answers evaluated."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from .cases import COMPILING, Case, Variant
from .evaluator import evaluate
from .methods import METHODS, Method
from .results import DONE, FAILED, LATE, Row
from .tasks import Instance
from .worker import READY, environment, serve

__all__ = ["WARM_UP", "Outcome", "run_case", "run_method"]

#: The seed of the data on which everybody warms up; it is not measured.
WARM_UP = 1000
#: Seconds that a worker may take to start, load the data and prepare; a warm-up may take as many longer than a fit.
START = 60.0
#: Seconds that the repeats of a quick fit, and sending its answer, may take.
GRACE = 2.0


class Outcome(NamedTuple):
    """What became of a fit; the answer, and what it took, only if it is done."""

    seed: int
    status: str
    detail: str = ""
    answer: Any = None
    seconds: float = float("nan")
    processors: float = float("nan")
    megabytes: float = float("nan")


def run_case(case: Case, seeds: list[int], threads: list[int], record: Callable[[Row], None]) -> None:
    """Measure all methods of a case: variant by variant, so that the data of only one is on disk at a time."""
    given_up: dict[tuple[str, str, Any], str] = {}
    for variant in case.variants:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as place:
            instances = {seed: variant.make(seed) for seed in (WARM_UP, *seeds)}
            folders = {seed: Path(place) / str(seed) for seed in instances}
            for seed, instance in instances.items():
                instance.task.save(folders[seed])
            for count, name in product(threads, variant.methods):
                if count > 1 and name in COMPILING:
                    continue  # it is shown once what compiling costs
                for setting in METHODS[name].settings:
                    for row in _rows(case, variant, name, setting, count, folders, instances, given_up):
                        record(row)


def _rows(
    case: Case,
    variant: Variant,
    name: str,
    setting: Any,
    threads: int,
    folders: dict[int, Path],
    instances: dict[int, Instance],
    given_up: dict[tuple[str, str, Any], str],
) -> Iterator[Row]:
    """Rows of a method; one that has run out of time is not tried on larger data of the family, or on more threads."""
    key = variant.family or variant.name, name, setting
    if key in given_up:
        outcomes: Any = (Outcome(seed, LATE, given_up[key]) for seed in folders)
    else:
        # All of them before the first is evaluated, which would take a processor from the next fit.
        outcomes = list(run_method(METHODS[name], setting, threads, folders, case.patience))
    for outcome in outcomes:
        if outcome.status == LATE:
            given_up.setdefault(key, f"not run after {outcome.detail} at {variant.name}, threads: {threads}")
        if outcome.seed == WARM_UP:
            continue
        measures = evaluate(instances[outcome.seed], outcome.answer) if outcome.status == DONE else {}
        yield Row(
            case=case.name,
            variant=variant.name,
            method=name,
            setting="" if setting is None else f"{setting:g}",
            threads=threads,
            seed=outcome.seed,
            status=outcome.status,
            detail=outcome.detail,
            seconds=outcome.seconds,
            processors=outcome.processors,
            megabytes=outcome.megabytes,
            **measures,
        )


def run_method(
    method: Method, setting: Any, threads: int, folders: dict[int, Path], patience: float, start: float = START
) -> Iterator[Outcome]:
    """Run a method in a process of its own on the tasks in these folders, of which the first is the warm-up.

    After a fit that has run out of time, or with which the process has ended, the others are not tried and have the
    same status.
    """
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe(duplex=False)
    with _variables(environment(threads)):
        process = context.Process(target=serve, args=(end, method, setting, threads, folders), daemon=True)
        process.start()
    end.close()
    stopped: Outcome | None = None
    try:
        for seed in folders:
            if stopped is None:
                outcome, goes_on = _received(pipe, process, seed, patience, start)
                stopped = None if goes_on else outcome
            else:
                outcome = stopped._replace(seed=seed)
            yield outcome
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        pipe.close()


def _received(pipe: Connection, process: BaseProcess, seed: int, patience: float, start: float) -> tuple[Outcome, bool]:
    """The outcome of the next fit, and whether another one can follow: an exception leaves the process alive."""
    late = Outcome(seed, LATE, f"> {patience:g} s")
    # A warm-up may compile.
    limits = start, patience + (start if seed == WARM_UP else GRACE)
    message: Any = READY
    for limit in limits:
        if message != READY:
            break
        if not pipe.poll(limit):
            return late, False
        try:
            message = pipe.recv()
        except EOFError:
            process.join()
            return Outcome(seed, FAILED, f"its process ended with code {process.exitcode}"), False
    if isinstance(message, str):
        return Outcome(seed, FAILED, message), True
    answer, seconds, processors, megabytes = message
    if seconds > patience and seed != WARM_UP:
        return late, False
    return Outcome(seed, DONE, "", answer, seconds, processors, megabytes), True


@contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, which a new process inherits, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
