"""The files that a report consists of."""

from __future__ import annotations

from .markdown import markdown_report
from .report import Report, claims_table, html_report
from .tables import Table

__all__ = ["report_files"]


def report_files(report: Report) -> dict[str, str]:
    """Names and contents: the report as HTML and as Markdown, its figures, claims, and what it was made with."""
    made_with = Table({"name": name, "value": value} for name, value in report.made_with.items())
    return {
        "claims.csv": claims_table(report.finished).csv(),
        "made-with.csv": made_with.csv(),
        **{f"{name}.svg": drawn for each in report.finished for name, drawn in each.drawn.items()},
        "report.html": html_report(report),
        "report.md": markdown_report(report),
    }
