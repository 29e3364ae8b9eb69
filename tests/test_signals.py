"""Signals while functions that Numba has compiled run: the process neither crashes nor gets another error."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from ksparse.signal_guard import SignalGuard, guard_signals

# --- handlers ---------------------------------------------------------------------------------------------------------


def raise_within(number: int, done: list[str]) -> Callable[[], None]:
    """What stands for a compiled function that a signal arrives in."""

    def run() -> None:
        signal.raise_signal(number)
        done.append("returned")

    return run


def is_default() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("is_entered", [True, False])
def test_handlers_wait_until_a_compiled_function_has_returned(is_entered: bool) -> None:
    guard, done = SignalGuard(), list[str]()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        if is_entered:
            with guard, guard:
                guard.call(raise_within(signal.SIGINT, done), ())
        guard.call(raise_within(signal.SIGINT, done), ())
    assert done == ["returned"]
    assert is_default()


def test_handlers_do_not_wait_elsewhere() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), guard_signals:
        raise_within(signal.SIGINT, done)()
    assert done == []
    assert is_default()


def test_handlers_do_not_wait_until_a_function_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr("ksparse.signal_guard.compiling_time.depth", 1)
    with pytest.raises(KeyboardInterrupt):
        guard_signals.call(raise_within(signal.SIGINT, done), ())
    assert done == []


def test_the_handlers_of_users_are_called_and_remain() -> None:
    seen: list[int] = []

    def first(number: int, _: FrameType | None) -> None:
        seen.append(number)

    def second(number: int, _: FrameType | None) -> None:
        seen.append(-number)

    before = signal.signal(signal.SIGTERM, first)
    try:
        with guard_signals:
            guard_signals.call(raise_within(signal.SIGTERM, []), ())
        assert signal.getsignal(signal.SIGTERM) is first
        with guard_signals:
            signal.signal(signal.SIGTERM, second)  # as a callback may do
            guard_signals.call(raise_within(signal.SIGTERM, []), ())
        assert signal.getsignal(signal.SIGTERM) is second
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM, -signal.SIGTERM]


def test_several_signals_wait() -> None:
    seen: list[int] = []

    def raise_both() -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert not seen

    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            guard_signals.call(raise_both, ())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_ignored_signals_are_left_alone() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with guard_signals:
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("when", [0, 1, 2, 3])
def test_ctrl_c_while_handlers_are_exchanged(when: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes as the first of two handlers is set, or restored, or just afterwards."""
    guard, calls, exchange = SignalGuard(), [0], signal.signal

    def exchange_late(number: int, handler: Any) -> Any:
        calls[0] += 1
        if calls[0] == when + 1:
            signal.raise_signal(signal.SIGINT)
        return exchange(number, handler)

    before = exchange(signal.SIGTERM, lambda *_: None)
    monkeypatch.setattr("ksparse.signal_guard.signal.signal", exchange_late)
    try:
        with pytest.raises(KeyboardInterrupt), guard:
            guard.call(lambda: None, ())
        for _ in range(2):
            done: list[str] = []
            with pytest.raises(KeyboardInterrupt):
                guard.call(raise_within(signal.SIGINT, done), ())
            assert done == ["returned"]
            assert is_default()
    finally:
        monkeypatch.undo()
        exchange(signal.SIGTERM, before)


def test_other_threads_do_not_touch_handlers() -> None:
    seen: list[Any] = []

    def work() -> None:
        with guard_signals:
            seen.append(guard_signals.call(lambda x: (x, is_default()), (3,)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(3, True)]


# --- real signals -----------------------------------------------------------------------------------------------------

START = """
import signal, sys
import numpy as np
import ksparse
from ksparse.objectives import LeastSquares, Logistic

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 100)) + 1.5 * rng.standard_normal((200, 1))
y = X[:, :8].sum(axis=1) + 30 * rng.standard_normal(200)
telling = [True]

def tell(*_):
    if telling[0]:
        telling[0] = False
        print("begun", flush=True)

def prove(objective, **options):
    proof = ksparse.solve_exact(objective, 8, time_limit=60, callback=tell, **options)
    assert proof.lower_bound <= proof.value
    return str(proof.status)

def fit(model, *data):
    model.fit(*data)
    tell()
    while True:
        model.fit(*data)

"""
TASKS = {
    "proof": "prove(Logistic(X, y > 0, alpha=1e-3))",
    "proof_within": "prove(LeastSquares(X, y, alpha=1e-4), within=0.01)",
    "proof_squares": "prove(LeastSquares(X, y, alpha=1e-4))",
    "cross_validation": "fit(ksparse.SparseLogisticRegressionCV(ks=[2, 4]), X[:, :60], y > 0)",
    "cox": "fit(ksparse.SparseCoxRegression(k=4), X[:, :60], np.rec.fromarrays([y > -10, np.exp(y / 50)], "
    "names='event,time'))",
}
ROUNDS = """
for _ in range(int(sys.argv[1])):
    telling[0] = True
    try:
        end = {task}
    except BaseException as error:
        end = type(error).__name__
    print(end, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_ctrl_c_at_any_time(task: str) -> None:
    """Proofs end with what is proved, fits by KeyboardInterrupt."""
    rounds, delays = 12, random.Random(0)
    program = [sys.executable, "-c", START + ROUNDS.format(task=TASKS[task]), str(rounds)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        watch = threading.Timer(300.0, process.kill)
        watch.start()
        assert process.stdout is not None
        ends = []
        for _ in range(rounds):
            if process.stdout.readline() != "begun\n":
                break
            time.sleep(0.02 + 0.2 * delays.random())
            process.send_signal(signal.SIGINT)
            ends.append(process.stdout.readline().strip())
        process.stdout.read()
        watch.cancel()
    assert process.returncode == 0
    assert ends == ["stopped" if task.startswith("proof") else "KeyboardInterrupt"] * rounds
