"""Figures of a report, as SVG that a page can hold in itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..pages import embedded
from ..plots import CoefficientPathDisplay, ConvergenceDisplay, ScorePathDisplay
from .errors import clean
from .fitting import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coefficient_paths", "convergence", "predicted_against_true", "score_path"]

#: More points than this cannot be told apart, and make a page slow.
MOST_POINTS = 2000
#: Paths are drawn for so many classes.
MOST_CLASSES = 4


def convergence(outcome: Outcome) -> str:
    """Value of f during the fit."""
    return _drawn(lambda ax: ConvergenceDisplay.from_estimator(outcome.fitted, ax=ax))


def score_path(outcome: Outcome) -> str:
    """Scores over k."""
    return _drawn(lambda ax: ScorePathDisplay.from_estimator(outcome.fitted, ax=ax))


def coefficient_paths(outcome: Outcome) -> list[str]:
    """Coefficients per standard deviation over k: one figure, or one for each of the first classes."""
    names = [clean(name) for name in outcome.data.names]
    outputs = len(outcome.coefficients(scaled=True))

    def draw(output: int) -> str:
        return _drawn(
            lambda ax: CoefficientPathDisplay.from_estimator(outcome.fitted, output=output, feature_names=names, ax=ax)
        )

    return [draw(output) for output in range(min(outputs, MOST_CLASSES))]


def predicted_against_true(outcome: Outcome) -> str:
    """Predictions against the target: of test rows if there are any."""
    rows = outcome.test if len(outcome.test) else outcome.train
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(outcome.settings.seed).choice(rows, MOST_POINTS, replace=False))
    y, prediction = outcome.y[rows], outcome.model.predict(outcome.data.X[rows])

    def draw(ax: Axes) -> None:
        low, high = min(y.min(), prediction.min()), max(y.max(), prediction.max())
        ax.plot([low, high], [low, high], color="#c3c9d1", linewidth=1.0)
        ax.scatter(prediction, y, s=14, color="#3f5f8a", alpha=0.6, linewidths=0)
        ax.set_xlabel("predicted")
        ax.set_ylabel(f"true {clean(outcome.data.target)}"[:60], parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)

    return _drawn(draw)


def _drawn(draw: Callable[[Axes], Any]) -> str:
    return embedded(lambda figure: draw(figure.add_subplot()))
