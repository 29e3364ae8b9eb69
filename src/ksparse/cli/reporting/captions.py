"""What the captions of charts of predictions say, where it depends on the model."""

from __future__ import annotations

import numpy as np

from .numbers import write_percent
from .risk_groups import SurvivalCurve
from .source import Source

__all__ = ["caption_numbers", "caption_survival", "find_fraction_below"]


def caption_numbers(source: Source, k: int) -> list[str]:
    """The captions of the charts of predicted and true numbers, and of residuals."""
    level = source.find_predicted(k).parameters.get("quantile")
    if level is None:
        return [
            "Each point is a row; on the line, the prediction is right.",
            "True minus predicted value: no pattern should be left.",
        ]
    rows, share = len(source.rows), f"{100 * level:g}%"
    found = write_percent(find_fraction_below(source, k), rows)
    held_out = "held-out rows" if len(source.held_out) else "rows it was fitted to"
    return [
        f"Each point is a row. About {share} of new rows should lie on the line or below it, where the true value is"
        f" not above the predicted {level:g}-quantile; of the {rows:,} {held_out}, {found} do.",
        f"True minus predicted value: about {share} should lie at 0 or below, everywhere from left to right.",
    ]


def find_fraction_below(source: Source, k: int) -> float:
    """The fraction of rows that are not above the predicted numbers."""
    found = source.find_predicted(k)
    return float(np.mean(found.y <= found.prediction))


def caption_survival(curves: list[SurvivalCurve]) -> list[str]:
    """The caption of the survival curves of some risk groups."""
    drawn = "with 95% intervals; ticks are rows whose time was cut off."
    *others, last = (curve.name.removesuffix(" risk") for curve in curves)
    if not others:
        which = "all rows, which have the same predicted risk" if last == "all" else f"rows with {last} predicted risk"
        return [f"Kaplan–Meier curve of {which}, {drawn}"]
    said = f"{', '.join(others)} or {last}"
    return [f"Kaplan–Meier curves of rows with {said} predicted risk, {drawn} The further apart, the better."]
