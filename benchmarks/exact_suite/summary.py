"""How the seconds of other packages compare with those of ksparse, over the problems that both were measured on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

__all__ = ["compare", "reaches_limit", "render_summary"]

#: Seconds near the limit are the limit.
NEARLY = 0.98
#: The Gram matrix is the cost of a proof if it takes more than this fraction of its seconds.
MOSTLY_GRAM = 0.5
#: A package is behind by much if it takes so many times the other one's seconds.
MUCH = 1.5

Row = dict[str, Any]


def is_in(table: str) -> Callable[[Row], bool]:
    """Whether the row of ksparse is in a table."""
    return lambda row: bool(row["table"] == table)


def is_not_gram(row: Row) -> bool:
    """Whether XᵀX is not most of the cost of ksparse."""
    return row["table"] == "grid" and row["gram"] <= MOSTLY_GRAM * row["seconds"]


#: What is compared: the other package, a name for the problems, and which rows of ksparse they are.
COMPARISONS: list[tuple[str, str, str, Callable[[Row], bool]]] = [
    ("okridge", "OKRidge", "more samples than features", is_in("grid")),
    ("okridge", "OKRidge", "of these, where XᵀX is at most half of ksparse's time", is_not_gram),
    ("okridge", "OKRidge", "little signal or many features", is_in("hard")),
    ("l0bnb", "l0bnb", "no more samples than features", is_in("wide")),
    ("el0ps", "El0ps", "no more samples than features", is_in("wide")),
    ("el0ps", "El0ps", "logistic regression", is_in("glm")),
    ("el0ps", "El0ps", "real data", is_in("real")),
]


def reaches_limit(row: Row) -> bool:
    """Whether a proof was not complete at the limit."""
    return bool(row["seconds"] >= NEARLY * row["limit"])


def find_pairs(rows: list[Row], method: str, is_meant: Callable[[Row], bool]) -> list[tuple[Row, Row]]:
    """The rows of ksparse and of a method for the same cases, but for those where both reach the limit."""
    others = {row["case"]: row for row in rows if row["method"] == method and not math.isnan(row["seconds"])}
    pairs = [(row, others[row["case"]]) for row in rows if row["method"] == "ksparse" and row["case"] in others]
    return [(own, other) for own, other in pairs if is_meant(own) and not (reaches_limit(own) and reaches_limit(other))]


def compare(rows: list[Row], method: str, is_meant: Callable[[Row], bool]) -> list[float]:
    """The seconds of a method over those of ksparse; limits count as they are, and those of both not at all."""
    return [other["seconds"] / own["seconds"] for own, other in find_pairs(rows, method, is_meant)]


def render_summary(rows: list[Row]) -> str:
    """A line for each comparison, and the slowest proofs of the grid, in Markdown."""
    lines = [
        "| seconds of the other package over those of ksparse | problems | ksparse is faster "
        f"| behind by {MUCH:g} times | median | geometric mean | least |",
        "|---|---|---|---|---|---|---|",
    ]
    for method, name, problems, is_meant in COMPARISONS:
        ratios = compare(rows, method, is_meant)
        if ratios:
            counts = [len(ratios), sum(ratio > 1 for ratio in ratios), sum(ratio < 1 / MUCH for ratio in ratios)]
            means = [statistics.median(ratios), statistics.geometric_mean(ratios), min(ratios)]
            cells = [*map(str, counts), *map(format_ratio, means)]
            lines.append(f"| {name}, {problems} | " + " | ".join(cells) + " |")
    lines += ["", *describe_comparison(rows)]
    own = [row for row in rows if row["table"] == "grid" and row["method"] == "ksparse"]
    for title, is_large in (("fewer than 3,000 features", False), ("3,000 features", True)):
        seconds = [row["seconds"] for row in own if (" x 3000," in row["case"]) == is_large]
        if seconds:
            count = len(seconds)
            lines += ["", f"More samples than features, {title}: {count} proofs, the slowest {max(seconds):.2g} s."]
    return "\n".join(lines)


def describe_comparison(rows: list[Row]) -> list[str]:
    """What the lines say, in words: the ratios of OKRidge, and each problem that another package is faster on."""
    lines = []
    ratios = compare(rows, "okridge", is_in("grid"))
    if ratios:
        median, mean = (format_ratio(of(ratios)) for of in (statistics.median, statistics.geometric_mean))
        lines.append(
            f"With more samples than features OKRidge takes {median} times the seconds of ksparse in the median, "
            f"{mean} times in the geometric mean, and {format_ratio(min(ratios))} times at least."
        )
    names = dict.fromkeys((method, name) for method, name, *_ in COMPARISONS)
    ahead = [
        f"- {name} on {other['case']}: {other['seconds']:.2g} s, ksparse {own['seconds']:.2g} s"
        for method, name in names
        for own, other in find_pairs(rows, method, lambda _: True)
        if other["seconds"] < own["seconds"]
    ]
    title = "Other packages are faster on these problems:" if ahead else "No other package is faster on any problem."
    return [*lines, "", title, *([""] if ahead else []), *ahead]


def format_ratio(ratio: float) -> str:
    """Two digits, and no exponent."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}"
