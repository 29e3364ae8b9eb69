"""The report of a run: one page that a reader can hold beside the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..pages import address, figure, link, page, row, section, svg, table, text, tiles
from .base import Experiment, Picture, TextTable
from .claims import Claim, Verdict
from .machine import machine, versions
from .tables import Table

__all__ = [
    "EXPLANATION",
    "LEAD",
    "RULES",
    "TITLE",
    "Finished",
    "Report",
    "claims_table",
    "described",
    "html_report",
    "made_with",
    "what_is_missing",
]

TITLE = "Gradient Hard Thresholding Pursuit, again"
LEAD = (
    "The experiments of X.-T. Yuan, P. Li and T. Zhang, “Gradient Hard Thresholding Pursuit” (JMLR 18, 2018), run again"
    " with ksparse. Means are over replications, with their standard errors; all methods have the same data; seconds"
    " are those of the processor on one thread. Whether a sentence of the paper holds is computed from these results."
)
EXPLANATION = (
    "Each sentence of the paper’s §5, and some of §3 and §4, that says something is better, comparable, faster, falls"
    " or rises, with a verdict for the methods as the paper states them. How it is computed:"
)
RULES = (
    "A sentence holds if it is so in at least 80 % of the settings (of a trend: of the methods), and partly if in at"
    " least 30 %. Of a sentence with several parts the weakest part counts. Theorems must hold in all runs. A method is"
    " the first, fastest or largest only if it is ahead of all others at once.",
    "A mean falls or rises if its last value is below or above its first, and Kendall’s τ with the variable has the"
    " same sign; where it turns back on the way, that is said. Two means are comparable if they differ by at most 10 %"
    " of the larger one.",
    "Ratios are those of the method that is named first to the other. A difference on the same data is clear if"
    " Student’s t says so at 5 %; a margin that a sentence has (“at most half of the time”) is then left aside.",
    "Where a sentence does not hold, or only partly, the reason is given with the numbers, as far as it is known.",
    "The default solver: the same sentence with it in the place of GraHTP. A sentence about another method (“FBS is the"
    " fastest”) then compares that method with the default solver.",
)
#: So many values are written out, whatever they are.
FEW = 4
#: CSS classes of verdicts.
KINDS = {"holds": "holds", "partly": "partly", "does not hold": "fails", "not measured": "unknown"}


@dataclass(frozen=True)
class Finished:
    """An experiment with its results.

    Attributes
    ----------
    experiment : Experiment
        Which one.
    settings : Settings
        With which settings.
    table : Table
        Its results, perhaps not all.
    missing : str
        How many tasks were not done, such as "3 of 8"; nothing if all were.
    reasons : bool
        Whether it is enough of the experiment to say why it differs from the paper.
    """

    experiment: Experiment
    settings: Any
    table: Table
    missing: str = ""
    reasons: bool = True

    @cached_property
    def pictures(self) -> list[Picture]:
        """Its figures."""
        return self.experiment.pictures(self.settings, self.table) if len(self.table) else []

    @cached_property
    def drawn(self) -> dict[str, str]:
        """The SVG of each figure, by its name."""
        return {picture.name: svg(picture.draw, picture.size) for picture in self.pictures}

    def text_tables(self) -> list[TextTable]:
        """Its tables."""
        return self.experiment.text_tables(self.settings, self.table) if len(self.table) else []

    @property
    def unfinished(self) -> str:
        """A sentence if not all was done."""
        if not self.missing:
            return ""
        if not len(self.table):
            return "This experiment was not begun."
        return f"This run was not finished: {self.missing} tasks are missing, so that means are over fewer results."

    @cached_property
    def claims(self) -> list[Claim]:
        """What the paper says of these results."""
        claims = self.experiment.claims(self.settings, self.table) if len(self.table) else []
        return claims if self.reasons else [replace(claim, reason="") for claim in claims]


def what_is_missing(finished: Iterable[Finished]) -> str:
    """A sentence on the experiments of which something is missing; nothing if all was done."""
    parts = [f"{each.experiment.name} ({each.missing} tasks are missing)" for each in finished if each.missing]
    return f"Not finished, and shown as far as they came: {', '.join(parts)}." if parts else ""


class Report(NamedTuple):
    """All that a report shows, whatever it is written in.

    Attributes
    ----------
    finished : sequence of Finished
        The experiments that were run.
    left_out : dict of str to str
        Why others were not, by their titles.
    made_with : dict of str to str
        What a reader needs to make the same results, by names: see `made_with`.
    notice : str
        What a reader has to know first; may be empty.
    """

    finished: Sequence[Finished]
    left_out: dict[str, str]
    made_with: dict[str, str]
    notice: str = ""


def html_report(report: Report) -> str:
    """The report as one page."""
    claims = [claim for each in report.finished for claim in each.claims]
    sections = [_contents(report.finished), _claims(claims), *(_experiment(each) for each in report.finished)]
    if report.left_out:
        sections.append(_left_out(report.left_out))
    return page(
        title=TITLE,
        lead=text(LEAD) + (f" <b>{text(report.notice)}</b>" if report.notice else ""),
        numbers=tiles(_numbers(claims)),
        sections=[*sections, _made_with(report.made_with)],
    )


def claims_table(finished: Iterable[Finished]) -> Table:
    """All claims with their verdicts, as rows."""
    rows = []
    for each in finished:
        for claim in each.claims:
            names = {"experiment": each.experiment.name, "paper": claim.where, "claim": claim.words}
            faithful = {"verdict": claim.faithful.word, "numbers": claim.faithful.numbers}
            ours = {} if claim.ours is None else {"default": claim.ours.word, "default_numbers": claim.ours.numbers}
            why = {"why": claim.why} if claim.why else {}
            rows.append({**names, **faithful, **why, **ours})
    return Table(rows)


def _numbers(claims: list[Claim]) -> list[tuple[Any, Any]]:
    words = Counter(claim.faithful.word for claim in claims)
    ours = [claim.ours.word for claim in claims if claim.ours is not None]
    return [
        *((words[word], f"claims, as published: {word}") for word in KINDS if words[word]),
        (ours.count("holds"), f"of {len(ours)} claims hold with the default solver"),
    ]


def _contents(finished: Iterable[Finished]) -> str:
    links = (link(each.experiment.name, f"{each.experiment.title} ({each.experiment.paper})") for each in finished)
    return f'<p class="note">{" · ".join(links)}</p>'


def _claims(claims: list[Claim]) -> str:
    heads = ["Paper", "Says", "As published", "Measured", "Default solver", "Measured"]
    rows = [_claim(claim) for claim in claims]
    rules = "".join(f"<li>{text(rule)}</li>" for rule in RULES)
    explained = f'<p class="note">{text(EXPLANATION)}</p><ul class="note">{rules}</ul>'
    return section("What the paper says", explained, table(heads, rows, "claims"))


def _claim(claim: Claim) -> str:
    cells = [f"<td>{text(claim.where)}</td><td>{text(claim.words)}</td>", _verdict(claim.faithful, claim.why)]
    cells.append(_verdict(claim.ours) if claim.ours is not None else "<td>—</td><td></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _verdict(verdict: Verdict, why: str = "") -> str:
    reason = f"<br><i>{text(why)}</i>" if why else ""
    return f'<td class="{KINDS[verdict.word]}">{text(verdict.word)}</td><td>{text(verdict.numbers)}{reason}</td>'


def _experiment(each: Finished) -> str:
    experiment = each.experiment
    parts = [f'<p class="note">{text(experiment.paper)}. {text(experiment.text)}</p>']
    if remark := experiment.remark(each.settings):
        parts.append(f"<p><b>{text(remark)}</b></p>")
    if each.unfinished:
        parts.append(f"<p><b>{text(each.unfinished)}</b></p>")
    parts += [figure(address(each.drawn[picture.name]), picture.caption) for picture in each.pictures]
    parts += [_text_table(shown) for shown in each.text_tables()]
    parts.append(f'<p class="note">Settings: {text(described(each.settings))}.</p>')
    return section(f"{experiment.title} ({experiment.name})", *parts, name=experiment.name)


def _text_table(shown: TextTable) -> str:
    return f"<p><b>{text(shown.caption)}</b></p>" + table(shown.heads, [row(cells) for cells in shown.rows])


def described(settings: Any) -> str:
    """All settings in a line."""
    return "; ".join(f"{name.replace('_', ' ')} = {_value(value)}" for name, value in asdict(settings).items())


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        parts = [_value(each) for each in value]
        return f"({', '.join([*parts[:2], '…', parts[-1]] if _steady(value) else parts)})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _steady(values: Sequence[Any]) -> bool:
    """Whether numbers, or points, follow one another by the same difference, so that one need not read them all."""
    if len(values) < FEW or not all(isinstance(value, (int, float, tuple)) for value in values):
        return False
    return bool(np.ptp(np.diff(np.array(values, dtype=np.float64), axis=0), axis=0).max() < 1e-9)


def _left_out(left_out: dict[str, str]) -> str:
    return section("Left out", table(["Experiment", "Why"], [row(pair) for pair in left_out.items()], "settings"))


def _made_with(named: dict[str, str]) -> str:
    return section("Made with", table(["", ""], [row(pair) for pair in named.items()], "settings"))


def made_with(command: str) -> dict[str, str]:
    """What a reader needs to make the results of this process again: the command, and where it ran."""
    return {"Command": command, "Versions": versions(), "Machine": machine()}
