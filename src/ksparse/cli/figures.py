"""Figures of the report, as SVG in the address of a picture."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plots import CoefficientPathDisplay, ConvergenceDisplay, ScorePathDisplay
from .errors import escape_control
from .fitting import FittedModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_coefficient_paths", "draw_convergence", "draw_predictions", "draw_scores"]

#: Width and height in inches.
SIZE = (5.6, 3.9)
#: More points cannot be distinguished, and make a page slow.
MOST_POINTS = 2000
#: Number of classes whose paths are drawn.
MOST_CLASSES = 4


def draw_convergence(fitted: FittedModel) -> str:
    """Value of f during the fit."""
    return _draw(lambda ax: ConvergenceDisplay.from_estimator(fitted.model, ax=ax))


def draw_scores(fitted: FittedModel) -> str:
    """Scores over k."""
    return _draw(lambda ax: ScorePathDisplay.from_estimator(fitted.model, ax=ax))


def draw_coefficient_paths(fitted: FittedModel) -> list[str]:
    """Standardized coefficients over k: one figure, or one for each of the first classes."""
    names = [escape_control(name) for name in fitted.data.names]

    def draw(output: int, ax: Axes) -> None:
        CoefficientPathDisplay.from_estimator(
            fitted.model, output=output, standardize_by=fitted.scales, feature_names=names, ax=ax
        )

    outputs = min(len(fitted.coefficients(standardize=True)), MOST_CLASSES)
    return [_draw(lambda ax, output=output: draw(output, ax)) for output in range(outputs)]  # type: ignore[misc]


def draw_predictions(fitted: FittedModel) -> str:
    """Predictions against the target, for test rows if there are any."""
    rows = fitted.test if len(fitted.test) else fitted.train
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(fitted.settings.seed).choice(rows, MOST_POINTS, replace=False))
    y, prediction = fitted.y[rows], fitted.model.predict(fitted.data.X[rows])

    def draw(ax: Axes) -> None:
        low, high = min(y.min(), prediction.min()), max(y.max(), prediction.max())
        ax.plot([low, high], [low, high], color="#c3c9d1", linewidth=1.0)
        ax.scatter(prediction, y, s=14, color="#3f5f8a", alpha=0.6, linewidths=0)
        ax.set_xlabel("predicted")
        ax.set_ylabel(f"true {escape_control(fitted.data.target)}"[:60], parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)

    return _draw(draw)


def _draw(draw: Callable[[Axes], Any]) -> str:
    """A picture as an address that contains it; the same in each run."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    # Letters that the font lacks are drawn as boxes; a line on the terminal would not help.
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "ksparse"}):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=SIZE, layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(picture.getvalue()).decode("ascii")
