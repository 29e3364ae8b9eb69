"""What changes with k: what k was chosen by, and coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..settings import FOLDS
from .numbers import Label, make_label, round_number, round_numbers
from .source import Source

#: Lines of a chart of coefficients, and classes with a chart.
MOST_LINES, MOST_OUTPUTS = 40, 6


@dataclass(frozen=True)
class ChoiceOfK:
    """What k was chosen by, for each k."""

    label: str
    caption: str
    values: list[float | None]
    errors: list[float | None]


@dataclass(frozen=True)
class Line:
    """Standardized coefficients of a feature for each k; None where it is not selected."""

    name: Label
    values: list[float | None]


@dataclass(frozen=True)
class Trajectories:
    """The coefficients of a class or of one of several targets, or of the only output."""

    name: Label | None
    lines: list[Line]  # the most important at the chosen k first
    hidden: int


def describe_choice_of_k(source: Source) -> ChoiceOfK | None:
    """What k was chosen by; None if it was not chosen."""
    if source.folds is None:
        return None
    means = [source.folds[k][0] for k in source.models]
    errors = [source.folds[k][1] for k in source.models]
    if source.criterion != "cv":
        name = source.criterion.upper()
        caption = f"{name} in the training rows; smaller is better."
        return ChoiceOfK(name, caption, round_numbers(means, 6), [])
    caption = (
        f"Average loss in {FOLDS}-fold cross-validation within the training rows, ± one standard error; smaller is"
        " better. The choice looks at this alone."
    )
    if source.task.is_survival:
        caption = caption.replace(
            "Average loss", "Average loss (negative partial log-likelihood for each held-out row)"
        )
    spread = [None if error is None else round_number(error, 2) for error in errors]
    return ChoiceOfK("average loss", caption, round_numbers((-mean for mean in means), 5), spread)


def trace_coefficients(source: Source) -> list[Trajectories]:
    """Standardized coefficients over k, for each of the first classes or targets."""
    if len(source.models) < 2:
        return []
    used = sorted({feature for k in source.models for feature in np.flatnonzero(source.models[k].support_).tolist()})
    path = np.array([source.coefficients(k, standardize=True)[:, used] for k in source.models])
    selected = np.array([source.models[k].support_[used] for k in source.models])
    place = list(source.models).index(source.k)
    traced = []
    for output in range(min(path.shape[1], MOST_OUTPUTS)):
        values = path[:, output]
        order = np.lexsort((-np.abs(values).max(axis=0), -np.abs(values[place])))
        lines = [
            Line(
                make_label(source.names[used[column]]),
                round_numbers(np.where(selected[:, column], values[:, column], np.nan)),
            )
            for column in order[:MOST_LINES].tolist()
        ]
        name = make_label((source.responses or source.classes)[output]) if path.shape[1] > 1 else None
        traced.append(Trajectories(name, lines, max(0, len(used) - MOST_LINES)))
    return traced
