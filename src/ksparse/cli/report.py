"""The page that ``ksparse fit --out`` writes: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import io
import platform
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.metrics import confusion_matrix

from ..limits import LARGEST
from ..plots import CoefficientPathDisplay, ConvergenceDisplay, ScorePathDisplay
from ..wording import cut_text, escape_control
from . import summary
from .fitting import FittedModel

#: Width and height of a figure in inches.
SIZE = (5.6, 3.9)
#: More points cannot be distinguished, and make a page slow.
MOST_POINTS = 2000
#: Number of classes whose paths are drawn.
MAX_PLOTTED_CLASSES = 4
#: Number of classes whose confusions are counted: the table has the square of it.
MAX_CONFUSED_CLASSES = 50


def render_report(fitted: FittedModel) -> str:
    """The report of a fit; Jinja2 escapes all texts, and control characters are shown as escapes."""
    environment = Environment(
        loader=PackageLoader("ksparse.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_control(value) if type(value) is str else value,
    )
    result, choosing = fitted.model.result_, fitted.chose_k
    rows = fitted.test if len(fitted.test) else fitted.train
    with np.errstate(over="ignore"):  # an exponential of a far row
        y, prediction = fitted.y[rows], fitted.chosen.predict(fitted.training.encode(fitted.data.X, rows))
    standardized = fitted.coefficients(standardize=True)[:, fitted.selected]
    return environment.get_template("report.html").render(
        fitted=fitted,
        summary=summary,
        result=result,
        bars=standardized[0].tolist() if len(standardized) == 1 else None,
        rows="test" if len(fitted.test) else "training",
        confusion=_count_confusions(fitted, y, prediction) if _has_few_classes(fitted) else None,
        predictions=None if fitted.task.has_classes else _draw_predictions(fitted, y, prediction),
        path_figures=_draw_path(fitted) if choosing else None,
        convergence=_draw(ConvergenceDisplay.from_estimator, fitted.model) if len(result.history) else None,
        versions={name: version(name) for name in ("ksparse", "scikit-learn", "numpy", "scipy")}
        | {"Python": platform.python_version()},
    )


def _has_few_classes(fitted: FittedModel) -> bool:
    return fitted.task.has_classes and len(fitted.model.classes_) <= MAX_CONFUSED_CLASSES


def _count_confusions(fitted: FittedModel, y: Any, prediction: Any) -> pd.DataFrame:
    classes = [cut_text(name) for name in fitted.model.classes_.tolist()]
    counts = confusion_matrix(y, prediction, labels=fitted.model.classes_)
    return pd.DataFrame(counts, classes, classes).rename_axis(columns="true \\ predicted")


def _draw_path(fitted: FittedModel) -> list[tuple[str, str]]:
    """Figures of the k that were tried, with captions: scores, and coefficients of the first classes."""
    figures = [(_draw(ScorePathDisplay.from_estimator, fitted.chosen), f"{summary.describe_choice(fitted)}.")]
    names, outputs = [escape_control(name) for name in fitted.names], len(np.atleast_2d(fitted.model.coef_))
    options = {"standardize_by": fitted.scaler.scale_, "feature_names": names}
    for output in range(min(outputs, MAX_PLOTTED_CLASSES)):
        picture = _draw(CoefficientPathDisplay.from_estimator, fitted.chosen, output=output, **options)
        which = f" of class {cut_text(fitted.model.classes_[output])}" if outputs > 1 else ""
        figures.append((picture, f"Standardized coefficients{which} for each k."))
    return figures


def _draw_predictions(fitted: FittedModel, y: Any, prediction: Any) -> str | None:
    finite = np.abs(prediction) <= LARGEST
    if not finite.any():
        return None
    y, prediction = y[finite], prediction[finite]
    rows = np.random.default_rng(fitted.settings.seed).permutation(len(y))[:MOST_POINTS]
    ends = [min(y.min(), prediction.min()), max(y.max(), prediction.max())]

    def draw(ax: Axes) -> None:
        ax.plot(ends, ends, color="#c3c9d1", linewidth=1.0)
        ax.scatter(prediction[rows], y[rows], s=14, color="#3f5f8a", alpha=0.6, linewidths=0)
        ax.set_xlabel("predicted")
        ax.set_ylabel(f"true {cut_text(fitted.data.target.name)}", parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)

    return _draw(draw)


def _draw(plot: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """A picture as an address that contains it; the same in each run."""
    picture = io.BytesIO()
    # Letters that the font lacks are drawn as boxes; a line on the terminal would not help.
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "ksparse"}):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=SIZE, layout="constrained")
        plot(*arguments, ax=figure.add_subplot(), **options)
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(picture.getvalue()).decode("ascii")
