"""The tables of docs/certificates.md are those of the results."""

from __future__ import annotations

from pathlib import Path

import pytest
from exact_suite.summary import compare, is_in, is_not_gram
from exact_suite.tables import describe, insert_tables, render_table

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_results() -> None:
    page = (ROOT / "docs/certificates.md").read_text()
    assert insert_tables(page, ROOT / "benchmarks/results/exact.csv") == page


def test_ksparse_has_a_column_also_before_it_is_measured() -> None:
    row = {"method": "el0ps", "case": "a", "seconds": 1.0, "gap": 0.0, "value": 2.0, "wanted": 1e-4, "limit": 60.0}
    assert render_table([row]).splitlines()[::2] == ["| problem | ksparse | El0ps | nodes |", "| a |  | 1 s |  |"]


def test_cells() -> None:
    row = {"seconds": 1.234, "gap": 1e-5, "value": 2.0, "wanted": 1e-4, "limit": 60.0}
    assert describe(row, 2.0) == "1.2 s"
    assert describe({**row, "seconds": 60.2, "gap": 0.123}, 2.0) == "gap 12 % at 60 s"
    assert describe(row, 1.99) == "1.2 s, f 0.5 % higher"
    assert describe({**row, "seconds": float("nan")}, 2.0) == "failed"
    assert describe(None, 2.0) == ""


def test_ratios_leave_out_what_neither_has_solved() -> None:
    both = {"table": "grid", "limit": 60.0, "gram": 0.4}
    own = [
        {**both, "method": "ksparse", "case": str(i), "seconds": seconds} for i, seconds in enumerate([0.5, 2.0, 60.0])
    ]
    others = [{**both, "method": "okridge", "case": str(i), "seconds": 60.0} for i in range(3)]
    assert compare([*own, *others], "okridge", is_in("grid")) == pytest.approx([120.0, 30.0])
    assert compare([*own, *others], "okridge", is_not_gram) == pytest.approx([30.0])
    assert compare([*own, *others], "okridge", is_in("hard")) == []
