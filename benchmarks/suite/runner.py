"""Runs each method in a separate process with a time limit, and evaluates its outputs."""

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
from .environment import make_environment
from .evaluator import evaluate
from .methods import METHODS, Method
from .results import DONE, FAILED, TIMED_OUT, Row
from .tasks import Instance
from .worker import READY, serve

__all__ = ["WARM_UP_SEED", "FitOutcome", "run_case", "run_method"]

#: Seed of the warm-up data, which are not measured.
WARM_UP_SEED = 1000
#: Time limit, in seconds, of starting a worker, loading the data and preparing; also the extra time of a warm-up.
START_LIMIT = 60.0
#: Extra seconds for the repeats of a quick fit and for sending its output.
REPEAT_LIMIT = 2.0


class FitOutcome(NamedTuple):
    """The status of a fit; its output, times and memory only if it is done."""

    seed: int
    status: str
    detail: str = ""
    output: Any = None
    seconds: float = float("nan")
    cpu_seconds: float = float("nan")
    megabytes: float = float("nan")


def run_case(case: Case, seeds: list[int], threads: list[int], record: Callable[[Row], None]) -> None:
    """Measure all methods of a case; the data of one variant at a time are on disk."""
    skipped: dict[tuple[str, str, Any], str] = {}
    for variant in case.variants:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            instances = {seed: variant.make(seed) for seed in (WARM_UP_SEED, *seeds)}
            folders = {seed: Path(folder) / str(seed) for seed in instances}
            for seed, instance in instances.items():
                instance.task.save(folders[seed])
            for count, name in product(threads, variant.methods):
                if count > 1 and name in COMPILING:
                    continue  # compilation is measured on one thread only
                for setting in METHODS[name].settings:
                    for row in _measure_method(case, variant, name, setting, count, folders, instances, skipped):
                        record(row)


def _measure_method(
    case: Case,
    variant: Variant,
    name: str,
    setting: Any,
    threads: int,
    folders: dict[int, Path],
    instances: dict[int, Instance],
    skipped: dict[tuple[str, str, Any], str],
) -> Iterator[Row]:
    """Yield the rows of a method; after a timeout, it is not run on larger variants of the family or more threads."""
    key = variant.family or variant.name, name, setting
    if key in skipped:
        outcomes: Any = (FitOutcome(seed, TIMED_OUT, skipped[key]) for seed in folders)
    else:
        # Evaluating while the next fit runs would compete for the processor, so all fits come first.
        outcomes = list(run_method(METHODS[name], setting, threads, folders, case.time_limit))
    for outcome in outcomes:
        if outcome.status == TIMED_OUT:
            skipped.setdefault(key, f"not run after {outcome.detail} at {variant.name}, threads: {threads}")
        if outcome.seed == WARM_UP_SEED:
            continue
        measures = evaluate(instances[outcome.seed], outcome.output) if outcome.status == DONE else {}
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
            cpu_seconds=outcome.cpu_seconds,
            megabytes=outcome.megabytes,
            **measures,
        )


def run_method(
    method: Method, setting: Any, threads: int, folders: dict[int, Path], time_limit: float
) -> Iterator[FitOutcome]:
    """Run a method in a separate process on the tasks in these folders, the first of which is the warm-up.

    After a fit that exceeds the time limit or ends the process, the remaining ones are not run and get its status.
    """
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe(duplex=False)
    with _set_environment(make_environment(threads)):
        process = context.Process(target=serve, args=(end, method, setting, threads, folders), daemon=True)
        process.start()
    end.close()
    stopped: FitOutcome | None = None
    try:
        for seed in folders:
            if stopped is None:
                outcome, alive = _receive(pipe, process, seed, time_limit)
                stopped = None if alive else outcome
            else:
                outcome = stopped._replace(seed=seed)
            yield outcome
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        pipe.close()


def _receive(pipe: Connection, process: BaseProcess, seed: int, time_limit: float) -> tuple[FitOutcome, bool]:
    """Return the outcome of the next fit, and whether the process is still alive, as it is after an exception."""
    timed_out = FitOutcome(seed, TIMED_OUT, f"> {time_limit:g} s")
    # A warm-up may compile.
    limits = START_LIMIT, time_limit + (START_LIMIT if seed == WARM_UP_SEED else REPEAT_LIMIT)
    message: Any = READY
    for limit in limits:
        if message != READY:
            break
        if not pipe.poll(limit):
            return timed_out, False
        try:
            message = pipe.recv()
        except EOFError:
            process.join()
            return FitOutcome(seed, FAILED, f"its process ended with code {process.exitcode}"), False
    if isinstance(message, str):
        return FitOutcome(seed, FAILED, message), True
    output, seconds, cpu_seconds, megabytes = message
    if seconds > time_limit and seed != WARM_UP_SEED:
        return timed_out, False
    return FitOutcome(seed, DONE, "", output, seconds, cpu_seconds, megabytes), True


@contextmanager
def _set_environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables temporarily; a process started meanwhile inherits them."""
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
