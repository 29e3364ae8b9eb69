"""The report of a run in Markdown, with its figures in files beside it, for readers of a repository."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..text import clean
from .report import EXPLANATION, LEAD, RULES, TITLE, Finished, Report, claims_table, described

__all__ = ["markdown_report"]

CLAIMS = {
    "paper": "Paper",
    "claim": "Says",
    "verdict": "As published",
    "numbers": "Measured",
    "why": "Why it differs",
    "default": "Default solver",
    "default_numbers": "Measured",
}
#: Characters that Markdown would take for its own.
SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\|*_<>[]`"})


def markdown_report(report: Report) -> str:
    """What `html_report` shows."""
    claims = [[line.get(name, "") for name in CLAIMS] for line in claims_table(report.finished).rows]
    parts = [
        f"# {_text(TITLE)}",
        _text(LEAD),
        *([f"**{_text(report.notice)}**"] if report.notice else []),
        "## What the paper says",
        _text(EXPLANATION),
        "\n".join(f"- {_text(rule)}" for rule in RULES),
    ]
    parts.append(_table(CLAIMS.values(), claims))
    for each in report.finished:
        parts += _experiment(each)
    if report.left_out:
        parts += ["## Left out", _table(["Experiment", "Why"], report.left_out.items())]
    parts += ["## Made with", _table(["", ""], report.made_with.items())]
    return "\n\n".join(parts) + "\n"


def _experiment(each: Finished) -> list[str]:
    experiment = each.experiment
    parts = [f"## {_text(experiment.title)} (`{experiment.name}`)"]
    parts.append(f"{_text(experiment.paper)}. {_text(experiment.text)}")
    if remark := experiment.remark(each.settings):
        parts.append(f"**{_text(remark)}**")
    if each.unfinished:
        parts.append(f"**{_text(each.unfinished)}**")
    for picture in each.pictures:
        parts += [f"![{_text(experiment.title)}: {picture.name}]({picture.name}.svg)", f"*{_text(picture.caption)}*"]
    for shown in each.text_tables():
        parts += [f"**{_text(shown.caption)}**", _table(shown.heads, shown.rows)]
    return [*parts, f"Settings: {_text(described(each.settings))}."]


def _table(heads: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    names = [_text(head) for head in heads]
    lines = [names, ["---"] * len(names), *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: Any) -> str:
    return clean(value).translate(SPECIAL)
