"""Each sentence of SECURITY.md has tests, and its limits are those of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ksparse import limits

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
ROWS = re.findall(r"^\| (?!promise|---)(.+?) \| (.+?) \|$", TEXT, flags=re.M)


def list_tests(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=[promise[:40] for promise, _ in ROWS])
def test_each_promise_has_tests(promise: str, tests: str) -> None:
    assert promise.endswith(".")
    names = re.findall(r"`([^`]+)`", tests)
    assert names
    for name in names:
        path, test = name.split("::")
        assert test in list_tests(ROOT / "tests" / path), f"{name} is not there"


def test_every_row_is_read() -> None:
    assert len(ROWS) == TEXT.count("\n| ") - TEXT.count("\n| promise")
    assert len(ROWS) >= 35


def test_limits_are_those_of_the_code() -> None:
    size = limits.describe_size(limits.MAX_BYTES)
    assert f"A model takes at most {size};" in TEXT
    assert f"Data take at most {size}, or {limits.SIZE_FACTOR} times the size of their file" in TEXT
    assert f"A line of text has at most {limits.describe_size(limits.MAX_LINE)}." in TEXT
    assert limits.MEMORY_VARIABLE in TEXT
