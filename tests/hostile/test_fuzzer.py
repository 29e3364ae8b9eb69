"""The fuzzer itself: cases can be made again, limits hold, and failures are found, counted and written."""

from __future__ import annotations

import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuzz.__main__
from fuzz.checks import CHECKS, GIGABYTE, Check
from fuzz.choosing import Halved
from fuzz.data import Recipe, Scales
from fuzz.files import File
from fuzz.functions import Multiple
from fuzz.graphs import Graph
from fuzz.invariances import Changed, Rescaled
from fuzz.kills import Kill
from fuzz.outcomes import Failed, Missed, Refused, demand, refuse_clearly
from fuzz.running import Runner, draw_case

# The worker is forked, so that it sees the checks of a test. It never calls JAX, which other tests may have imported.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")

CLASSES = (Changed, File, Graph, Halved, Kill, Multiple, Recipe, Rescaled, Scales)


@pytest.mark.parametrize("name", CHECKS)
def test_a_case_can_be_made_again(name: str) -> None:
    for number in range(20):
        case = draw_case(name, 0, number)
        assert case == draw_case(name, 0, number)
        assert eval(repr(case), {cls.__name__: cls for cls in CLASSES}) == case
    assert len({repr(draw_case(name, seed, 0)) for seed in range(10)}) > 5


def fail(case: Any) -> None:
    demand(case.seed % 2, f"the seed {case.seed} is even")


def refuse(case: Any) -> None:
    raise Refused("no")


def miss(case: Any) -> None:
    raise Missed("almost")


def hang(case: Any) -> None:
    time.sleep(100)


def take_memory(case: Any) -> None:
    np.ones(GIGABYTE // 4)


def die(case: Any) -> None:
    os._exit(7)


def err(case: Any) -> None:
    raise KeyError("lost")


def add_check(monkeypatch: pytest.MonkeyPatch, run: Callable[[Any], None]) -> None:
    """Replace all checks by one; who hangs has a second."""
    seconds = 1.0 if run is hang else 60.0
    check = Check(lambda choose: Recipe("linear", seed=choose(range(2**16))), run, seconds, memory=GIGABYTE)
    for name in list(CHECKS):
        monkeypatch.delitem(CHECKS, name)
    monkeypatch.setitem(CHECKS, "only one", check)


@pytest.mark.parametrize(
    ("run", "outcome", "said"),
    [
        (refuse, "refused", ""),
        (miss, "missed", ""),
        (take_memory, "failed", "MemoryError"),
        (die, "failed", "exit code 7"),
        (err, "failed", "KeyError: 'lost'"),
        pytest.param(hang, "failed", "no answer within 1 seconds", marks=pytest.mark.slow),
    ],
)
def test_outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[Any], None], outcome: str, said: str
) -> None:
    add_check(monkeypatch, run)
    runner = Runner(0, tmp_path)
    tally = runner.run("only one", 2, 0.0)
    runner.stop()
    assert dict(tally.counts) == {outcome: 2}
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert len(written) == (2 if outcome == "failed" else 0)
    assert all(said in text for text in written)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    add_check(monkeypatch, fail)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--cases", "10", "--failures", str(tmp_path)])
    assert fuzz.__main__.main() == 1
    even = sum(draw_case("only one", 0, number).seed % 2 == 0 for number in range(10))
    assert 0 < even < 10
    scripts = sorted(tmp_path.iterdir())
    assert len(scripts) == even
    line = capsys.readouterr().out.splitlines()[1].split()
    assert line[:7] == ["only", "one", "10", str(10 - even), "0", "0", str(even)]
    # A script makes the plain call, and then fails as the case did.
    with pytest.raises(Failed, match="is even"):
        runpy.run_path(str(scripts[0]))
    assert "Result (converged)" in capsys.readouterr().out
    assert "ksparse.SparseLinearRegression(k=2," in scripts[0].read_text()
    monkeypatch.setattr(sys, "argv", ["fuzz", "--only", "other"])
    assert fuzz.__main__.main() == 2


def test_which_errors_are_clear() -> None:
    with pytest.raises(Refused, match="NaN"), refuse_clearly():
        Recipe("linear").build().build_estimator().fit([[np.nan]], [1.0])
    with pytest.raises(Failed, match="LinAlgError"), refuse_clearly():
        np.linalg.inv(np.zeros((2, 2)))
    with pytest.raises(Failed, match="RuntimeWarning"), refuse_clearly():
        np.float64(1.0) / np.float64(0.0)
    with pytest.raises(Failed, match="not meant for a user"), refuse_clearly():
        raise ValueError("not meant for a user")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["damaged files", "damaged files, command"])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    """In a worker: a file that takes too much memory or time must not take that of the tests."""
    runner = Runner(0, tmp_path)
    tally = runner.run(name, 100, 0.0)
    runner.stop()
    assert not tally.counts["failed"], [path.read_text() for path in tmp_path.iterdir()]
