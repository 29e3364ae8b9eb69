"""Time limits do not count what Numba needs for compiling."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.event import trigger_event
from sklearn.exceptions import ConvergenceWarning

import ksparse
from ksparse import clock
from ksparse.certificates.bounding import BoundedProblem
from ksparse.objectives import LeastSquares, Logistic, Objective

LOCK = "numba:compiler_lock"


class Time:
    """A clock of a machine, which passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def perf_counter(self) -> float:
        """The name of what it stands for."""
        return self.now


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(clock, "time", time)
    return time


def test_the_clock_stands_still_while_functions_are_compiled(machine: Time) -> None:
    before = clock.read_clock()
    machine.now += 1.0
    with trigger_event(LOCK):
        machine.now += 10.0
        with trigger_event(LOCK):  # a function that it calls
            machine.now += 20.0
    machine.now += 2.0
    assert clock.read_clock() - before == 3.0


def test_numba_tells_when_it_compiles(caplog: pytest.LogCaptureFixture) -> None:
    before = clock.compiling_time.seconds
    inner = njit(lambda x: x + 1.0)
    with caplog.at_level(logging.INFO, "ksparse"):
        assert njit(lambda x: 2.0 * inner(x))(2.0) == 6.0
    assert clock.compiling_time.seconds > before
    assert clock.compiling_time.depth == 0
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        "compiling for the first time, up to a minute in all"
    ]


def make_objective(kind: str) -> Objective:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30)) + rng.standard_normal((60, 1))
    y = X[:, :3].sum(axis=1) + 3.0 * rng.standard_normal(60)
    return LeastSquares(X, y, alpha=0.05) if kind == "squares" else Logistic(X, y > 0, alpha=0.05)


def relax_slowly(machine: Time, is_compiling: bool) -> Callable[..., Any]:
    """A relaxation of which the first one takes a minute, for compiling or for itself."""
    relax, seen = BoundedProblem.relax, [False]

    def relax_late(*arguments: Any) -> Any:
        if not seen[0]:
            seen[0] = True
            with trigger_event(LOCK) if is_compiling else nullcontext():
                machine.now += 60.0
        return relax(*arguments)

    return relax_late


@pytest.mark.parametrize("is_compiling", [True, False])
@pytest.mark.parametrize("kind", ["squares", "logistic"])
def test_a_limit_of_a_proof(kind: str, is_compiling: bool, machine: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProblem, "relax", relax_slowly(machine, is_compiling))
    proof = ksparse.solve_exact(make_objective(kind), 3, time_limit=10.0, within=0.01)
    assert proof.status == ("optimal" if is_compiling else "time_limit")
    assert proof.seconds == (0.0 if is_compiling else 60.0)


@pytest.mark.parametrize("is_compiling", [True, False])
def test_a_limit_of_a_certificate(is_compiling: bool, machine: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ksparse.minimize(make_objective("logistic"), 3)
    monkeypatch.setattr(BoundedProblem, "relax", relax_slowly(machine, is_compiling))
    certificate = result.certificate(time_limit=10.0)
    assert certificate.ended_by == ("" if is_compiling else "time")
    assert certificate.seconds == (0.0 if is_compiling else 60.0)


@pytest.mark.parametrize("is_compiling", [True, False])
def test_a_limit_of_a_solver(is_compiling: bool, machine: Time) -> None:
    """The callback stands for an iteration that compiles."""

    def pass_a_minute(*_: Any) -> None:
        with trigger_event(LOCK) if is_compiling else nullcontext():
            machine.now += 60.0

    objective, solver = make_objective("logistic"), ksparse.GraHTP(time_limit=10.0)
    with nullcontext() if is_compiling else pytest.warns(ConvergenceWarning):
        result = ksparse.minimize(objective, 3, solver=solver, callback=pass_a_minute)
    assert result.status == ("converged" if is_compiling else "time_limit")
