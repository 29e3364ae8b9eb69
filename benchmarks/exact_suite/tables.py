"""Tables of proofs: seconds to the gap, or the gap at the limit."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from .summary import reaches_limit, render_summary

__all__ = ["NAMES", "insert_tables", "read_rows", "render_tables"]

#: What the tables of a page are between.
FIRST_LINE, LAST_LINE = "<!-- tables -->", "<!-- end of tables -->"

TITLES = {
    "grid": "More samples than features, gap 1e-6 (OKRidge: its own 1e-4)",
    "hard": "Little signal or many features, gap 1e-4",
    "wide": "No more samples than features, gap 1e-4",
    "glm": "Logistic and Poisson regression, gap 1e-4",
    "real": "Real data, gap 1e-4",
}
NAMES = {"ksparse": "ksparse", "okridge": "OKRidge", "l0bnb": "l0bnb", "el0ps": "El0ps"}
#: A value this much above the lowest one is another solution.
SAME_VALUE = 1e-5


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The results in a file."""
    with path.open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row.update({name: float(row[name]) for name in ("seconds", "gap", "value", "wanted", "limit", "gram")})
        row["nodes"] = int(row["nodes"])
    return rows


def insert_tables(page: str, results: Path) -> str:
    """The page with the tables of some results."""
    before, _, rest = page.partition(FIRST_LINE)
    _, _, after = rest.partition(LAST_LINE)
    rows = read_rows(results)
    return f"{before}{FIRST_LINE}\n\n{render_summary(rows)}\n\n{render_tables(rows)}\n\n{LAST_LINE}{after}"


def render_tables(rows: list[dict[str, Any]]) -> str:
    """A table for each kind of problem, in Markdown."""
    return "\n\n".join(
        f"**{title}**\n\n{render_table([row for row in rows if row['table'] == table])}"
        for table, title in TITLES.items()
        if any(row["table"] == table for row in rows)
    )


def render_table(rows: list[dict[str, Any]]) -> str:
    """A line for each case, a column for ksparse and for each other method that was measured."""
    methods = [method for method in NAMES if method == "ksparse" or any(row["method"] == method for row in rows)]
    lines = ["| problem | " + " | ".join(NAMES[method] for method in methods) + " | nodes |"]
    lines.append("|---" * (len(methods) + 2) + "|")
    for case in dict.fromkeys(row["case"] for row in rows):
        found = {row["method"]: row for row in rows if row["case"] == case}
        lowest = min((row["value"] for row in found.values() if not math.isnan(row["value"])), default=math.nan)
        cells = [describe(found.get(method), lowest) for method in methods]
        nodes = found["ksparse"]["nodes"] if "ksparse" in found else ""
        lines.append(f"| {case} | " + " | ".join(cells) + f" | {nodes} |")
    return "\n".join(lines)


def describe(row: dict[str, Any] | None, lowest: float) -> str:
    """Seconds, or the gap at the limit; f if it is not the lowest."""
    if row is None:
        return ""
    if row.get("unsolved"):
        return "not run"
    if math.isnan(row["seconds"]):
        return "failed"
    worse = row["value"] / lowest - 1.0
    note = f", f {100 * worse:.2g} % higher" if worse > max(SAME_VALUE, row["wanted"]) else ""
    if reaches_limit(row):
        return f"gap {100 * row['gap']:.2g} % at {row['limit']:.0f} s{note}"
    return f"{row['seconds']:.2g} s{note}"
