"""The tables of docs/certificates.md are those of the results."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import exact
import pytest
from exact_suite.cases import ExactCase
from exact_suite.summary import compare, describe_comparison, is_in, is_not_gram
from exact_suite.tables import describe, insert_tables, render_table

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\d+(?:\.\d+)?")


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
    assert describe({**row, "seconds": float("nan"), "unsolved": "an easier one"}, 2.0) == "not run"
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


def test_problems_that_another_package_is_faster_on_are_named() -> None:
    row = {"table": "grid", "limit": 60.0, "gram": 0.4, "case": "a", "method": "ksparse", "seconds": 0.5}
    rows = [row, {**row, "method": "okridge", "seconds": 2.0}, {**row, "method": "l0bnb", "seconds": 0.25}]
    assert describe_comparison(rows) == [
        "With more samples than features OKRidge takes 4 times the seconds of ksparse in the median, 4 times in the "
        "geometric mean, and 4 times at least.",
        "",
        "Other packages are faster on these problems:",
        "",
        "- l0bnb on a: 0.25 s, ksparse 0.5 s",
    ]
    assert describe_comparison(rows[:2])[1:] == ["", "No other package is faster on any problem."]


def test_packages_that_reach_the_limit_are_not_run_on_harder_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """ksparse is, and so is a package on what is not harder."""
    runs, kept = [], []

    def measure(case: ExactCase, method: str, limit: float, _: Any) -> exact.Row:
        runs.append((case.k, method))
        return exact.Row(case.table, case.name, method, limit if case.k > 1 else 1.0, 0.0, 1.0, 1, 1e-4, limit, 0.0)

    monkeypatch.setattr(exact, "measure", measure)
    monkeypatch.setattr(exact, "find_rows", list)
    monkeypatch.setattr(exact, "write_rows", lambda rows: kept.extend(rows))
    arguments = argparse.Namespace(peers=Path(), methods=None, again=True, limit=60.0)
    ladder = [ExactCase("real", "squares", 9, 9, k, 0.0, 1.0, peers=("el0ps",), ladder="a") for k in (1, 2, 3)]
    exact.measure_ladder(ladder, arguments)
    assert runs == [(1, "ksparse"), (1, "el0ps"), (2, "ksparse"), (2, "el0ps"), (3, "ksparse")]
    assert [row["unsolved"] for row in kept] == ["", "", "", "", "", ladder[1].name]


@pytest.mark.slow
def test_the_examples_of_the_page_say_what_they_print(capsys: pytest.CaptureFixture[str]) -> None:
    """Words are compared, and numbers to a thousandth; not what is in brackets, which includes the time."""
    page = (ROOT / "docs/certificates.md").read_text()
    found: list[tuple[str, str]] = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, flags=re.DOTALL)
    assert sum(bool(text) for _, text in found) == 3
    names: dict[str, Any] = {}
    for code, text in found:
        exec(code, names)
        printed, shown = (re.sub(r"\(.*?\)", "", words) for words in (capsys.readouterr().out, text))
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
        assert [float(x) for x in NUMBER.findall(printed)] == pytest.approx(
            [float(x) for x in NUMBER.findall(shown)], rel=1e-3
        )
