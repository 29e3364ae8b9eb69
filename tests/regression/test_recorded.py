"""Problems give what they gave before.

`python -m tests.regression.table` records them again, after a change that is meant to change answers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from .records import DIGITS, Record, differences, fragile_fields, read, write
from .table import PROBLEMS, run

RECORDED = read()


def section(name: str) -> str:
    """What kind of problem it is: for small ones, which there are many of, with its objective."""
    kind, rest = name.split(": ")
    return rest.split(",")[0] if kind == "small" else kind


SECTIONS = list(dict.fromkeys(map(section, PROBLEMS)))


def test_every_problem_is_recorded() -> None:
    assert list(RECORDED) == list(PROBLEMS)


@pytest.mark.slow
@pytest.mark.parametrize("chosen", SECTIONS)
def test_nothing_has_changed(chosen: str) -> None:
    names = [name for name in PROBLEMS if section(name) == chosen]
    found = {name: differences(run(name), RECORDED[name]) for name in names}
    lines = [f"  {name}: {'; '.join(changes.values())}" for name, changes in found.items() if changes]
    if lines:
        pytest.fail("\n".join([f"{len(lines)} of {len(names)} problems have changed:", *lines]), pytrace=False)


BEFORE = Record("converged", "0 3 4", (1.5, 2.0), n_iter=4, passes=7)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "max_iter"),
        ("selected", "0 3 5"),
        ("values", (1.5, 2.0 + 1e-8)),
        ("values", (1.5,)),
        ("values", (1.5, float("nan"))),
        ("n_iter", 5),
        ("passes", 8),
        ("passes", None),
    ],
)
def test_what_is_a_change(field: str, value: Any) -> None:
    after = replace(BEFORE, **{field: value})
    assert list(differences(after, BEFORE)) == [field]
    assert not differences(after, replace(BEFORE, fragile=frozenset({field})))


def test_what_is_no_change() -> None:
    assert not differences(replace(BEFORE, values=(1.5, 2.0 + 1e-10), n_iter=3, passes=6), BEFORE)
    assert not differences(replace(BEFORE, values=(1.5, 2.0 + 1e-6)), replace(BEFORE, fragile=frozenset({DIGITS})))


def test_what_depends_on_rounding_is_found() -> None:
    fewer, other = replace(BEFORE, passes=6), replace(BEFORE, values=(1.5, 2.0 + 1e-7))
    assert fragile_fields(BEFORE, [BEFORE]) == set()
    assert fragile_fields(BEFORE, [fewer, other]) == {"passes", DIGITS}
    assert fragile_fields(BEFORE, [replace(BEFORE, values=(1.6, 2.0))]) == {"values"}


def test_files_keep_all_digits(tmp_path: Path) -> None:
    records = {"a: b, c": replace(BEFORE, values=(0.1 + 0.2, -1e-300)), "d": Record("refused", "")}
    records["e"] = replace(BEFORE, fragile=frozenset({"values", "passes"}))
    write(records, tmp_path / "table.csv")
    assert read(tmp_path / "table.csv") == records
