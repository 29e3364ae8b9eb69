"""What the page of ``ksparse fit --out`` shows, as plain data: from a fit to a dictionary that JSON can hold."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np

from ..._types import IntArray
from ...wording import escape_control
from ..fitted_model import FittedModel
from . import inferred
from .details import ADVICE_ON_OPTIONS, list_details, list_scores
from .distributions import choose_drawn, draw_distributions
from .numbers import make_label, round_numbers
from .sentences import conclude
from .source import Source, is_usable, take_source
from .states import choose_predicted_rows, describe_state, find_positions, list_score_heads
from .trajectories import describe_choice_of_k, trace_coefficients

__all__ = ["gather_report"]


def gather_report(fitted: FittedModel, day: date | None = None, *, resamples: int | None = None) -> dict[str, Any]:
    """All that the page shows; the same fit and day give the same dictionary.

    Parameters
    ----------
    fitted : FittedModel
        The fit.
    day : date, optional
        When it was made; by default the page has no date.
    resamples : int, optional
        Bootstrap resamples for intervals of coefficients, by default those of the settings; none if 0.

    Returns
    -------
    dict
        Strings, numbers, None, lists and dictionaries with keys of text. All texts are without control characters,
        and are texts, not markup.
    """
    resamples = fitted.resamples if resamples is None else resamples
    source = take_source(fitted)
    shown, drawn = choose_predicted_rows(source), choose_drawn(source)
    summaries = inferred.summarize_models(source, resamples)
    states = [describe_state(source, k, shown, drawn[k], summaries.get(k)) for k in source.models]
    scores = {
        state.k: {name: np.nan if value is None else value for name, value in state.scores.items()} for state in states
    }
    features = sorted({feature for part in drawn.values() for feature in part})
    heads, rows = list_scores(source)
    choice = describe_choice_of_k(source)
    return {
        "summary": asdict(conclude(source, scores)),
        "source": escape_control(source.data),
        "version": version("ksparse"),
        "date": "" if day is None else f"{day.day} {day:%B %Y}",
        "task": source.task.name,
        "target": asdict(make_label(source.target)),
        "classes": [asdict(make_label(name)) for name in source.classes],
        "responses": [asdict(make_label(name)) for name in source.responses],
        "outputs": source.count_outputs(),
        "unit": source.unit_name,
        "chosen": list(source.models).index(source.k),
        "refitted": source.refitted,
        "heldOut": bool(len(source.held_out)),
        "rowCount": len(source.rows),
        "hints": describe_limits(source),
        "notes": describe_notes(source),
        "states": [asdict(state) for state in states],
        "heads": list_score_heads(source, next(iter(scores.values()))),
        "resamples": resamples,
        "choice": None if choice is None else asdict(choice),
        "paths": [asdict(part) for part in trace_coefficients(source)],
        "distributions": {str(key): asdict(value) for key, value in draw_distributions(source, features).items()},
        "predictions": list_truth(source, shown),
        "scores": {"heads": heads, "rows": rows},
        "details": [asdict(detail) for detail in list_details(source)],
        "predictsFrom": "svm" if fitted.data.first_index is not None else "csv",
    }


def describe_limits(source: Source) -> list[str]:
    """Whether k is as large as any that was tried."""
    largest = max(source.models)
    if not source.chose_k or source.k < largest or largest == source.unit_count:
        return []
    return [f"{source.k} is the largest number of {source.unit_name} that was tried; more may predict better"]


def describe_notes(source: Source) -> list[str]:
    """How the data were prepared and what was found: without advice on options of the command."""
    notes = [ADVICE_ON_OPTIONS.sub("", escape_control(note)) for note in source.notes]
    return [note for note in notes if " --" not in f" {note}"]


def list_truth(source: Source, shown: IntArray) -> dict[str, Any]:
    """The rows whose predictions are in the page: their numbers in the data, from 1, and what was true."""
    rows = source.rows[shown]
    y, numbers = source.y[rows], source.fit.data.row_numbers[rows].tolist()
    if source.task.is_survival:
        events = y["event"].astype(int).tolist()
        times = round_numbers(y["time"], 6)
        return {"rows": numbers, "truth": times, "events": events, "total": len(source.rows)}
    if source.task.has_classes:
        truth: list[Any] = find_positions(source.models[source.k].classes_, y)
    elif source.responses:
        truth = [round_numbers(column, 6) for column in y.T]
    else:
        truth = round_numbers(np.where(is_usable(y), y.astype(np.float64), np.nan), 6)
    return {"rows": numbers, "truth": truth, "total": len(source.rows)}
