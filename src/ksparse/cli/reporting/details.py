"""How a model was made, for those who want to check or to repeat it."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from importlib.metadata import version

from ...wording import escape_control
from .. import summary
from ..row_facts import list_loss_facts, list_row_facts
from ..settings import FOLDS
from .numbers import write_number
from .source import Source

#: Advice to the user of the command, which a page does not give.
ADVICE_ON_OPTIONS = re.compile(r"\s*\([^()]*--[^()]*\)")
#: Packages whose versions matter for the result.
PACKAGES = ("ksparse", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Detail:
    """A fact with its name."""

    name: str
    text: str


def list_details(source: Source) -> list[Detail]:
    """Data, choices, settings, the end of the solver, versions."""
    fit, model = source.fit, source.models[source.k]
    result, settings = model.result_, fit.settings
    versions = {name: version(name) for name in PACKAGES} | {"Python": platform.python_version()}
    facts = {
        "Data": f"{escape_control(source.data)}: {fit.row_count:,} rows, {fit.data.X.shape[1]:,} {source.column_name}",
        "Target": source.target,
        **list_row_facts(fit),
        **list_loss_facts(fit),
        "Model": f"{source.task.model} with at most k = {source.k} {source.unit_name}",
        "Rows": describe_split(source),
        "Choice of k": describe_selection(source),
        "Ridge": f"{summary.describe_ridges(fit.model)} (on standardized features)",
        "Always selected": ", ".join(settings.always) or "none",
        "Search": f"{result.message} (iterations: {result.n_iter}, passes over the data: {result.passes},"
        f" {fit.seconds:.2f} s, effort {settings.effort})",
        "Proof": ADVICE_ON_OPTIONS.sub("", fit.proof) or "none was asked for",
        "Value of the objective": write_number(float(result.value), 6),
        "Charts": describe_charts(source),
        "Seed": str(settings.seed),
        "Versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
    }
    return [Detail(name, escape_control(text)) for name, text in facts.items()]


def describe_split(source: Source) -> str:
    """Which rows were used for what."""
    training, held_out = source.fit.training_count, len(source.held_out)
    if not held_out:
        return f"all {training:,} for fitting, none held out"
    said = f"{training:,} for fitting, {held_out:,} held out at random for the scores of this page"
    if source.refitted:
        return f"{said}; then the model was fitted again to all {training + held_out:,} rows"
    return f"{said}; the model has not seen those"


def describe_charts(source: Source) -> str:
    """Which rows charts of values are of."""
    if not source.fit.is_sampled:
        return "of all rows"
    training, held_out = len(source.train), len(source.held_out)
    return f"of a sample of {training + held_out:,} rows: {training:,} that were fitted to, and {held_out:,} held out"


def describe_selection(source: Source) -> str:
    """How k was chosen."""
    if not source.chose_k:
        return f"k = {source.k} was set"
    models = list(source.models)
    said = (
        f"k = {source.k}, chosen among {source.tried} numbers of {source.unit_name} from {min(models)} to {max(models)}"
    )
    if source.criterion != "cv":
        return f"{said} by {source.criterion.upper()} (smaller is better)"
    rule = summary.RULE_NAMES[source.fit.settings.rule]
    return f"{said} by {FOLDS}-fold cross-validation{rule} in the training rows"


def list_scores(source: Source) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the table of scores of the chosen model."""
    table = summary.tabulate_scores(source.fit)
    return ["Score", *(str(head).strip() for head in table)], [list(row) for row in table.itertuples(name=None)]
