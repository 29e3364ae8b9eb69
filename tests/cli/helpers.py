"""Files and runs for the tests of the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ksparse._types import Array
from ksparse.cli import main

NAMES = ["age", "dose", "height", "noise", "weight"]


def numbers(rows: int = 60) -> Array:
    """Features on very different scales."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, 5)) * [1.0, 1e-3, 10.0, 1.0, 100.0] + [40, 0, 170, 0, 70]


def response(X: Array) -> Array:
    """A number that depends on dose and weight."""
    return 3000 * X[:, 1] + 0.02 * X[:, 4] + 0.1 * np.random.default_rng(1).standard_normal(len(X))


def table(X: Array, target: list[str], separator: str = ",", end: str = "\n", names: list[str] = NAMES) -> str:
    """A CSV file with the target in the middle."""
    lines = [separator.join([*names[:2], "outcome", *names[2:]])]
    for row, cell in zip(X.tolist(), target, strict=True):
        cells = [repr(value) for value in row]
        lines.append(separator.join([*cells[:2], cell, *cells[2:]]))
    return end.join(lines) + end


def good_table(separator: str = ",", end: str = "\n") -> str:
    """A table with a numeric target."""
    X = numbers()
    return table(X, [repr(value) for value in response(X).tolist()], separator, end)


def class_table() -> str:
    """A table with a target of two classes."""
    X = numbers()
    return table(X, ["ill" if value > 1.4 else "well" for value in response(X)])


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line on standard error of a run that must fail with exit code 2 and print nothing else."""
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ksparse: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err


def accepted(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a run that must succeed prints."""
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out
