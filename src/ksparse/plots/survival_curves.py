"""Kaplan–Meier curves of groups of samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..inference import KaplanMeier, kaplan_meier
from ..inference.censored import RISK_GROUPS, group_by_risk
from ..objectives.survival import as_survival_target
from ..validation import check_size
from . import _style as style
from ._inputs import check_has, document_display, get_fitted_model
from ._palette import choose_group_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from typing_extensions import Self

__all__ = ["SurvivalCurveDisplay"]


@document_display
@dataclass(eq=False, repr=False)
class SurvivalCurveDisplay:
    """Kaplan–Meier curves of groups, with pointwise intervals; ticks are times of censoring.

    Use `from_estimator` or `from_groups` to create one; the parameters are stored as attributes.

    Parameters
    ----------
    curves : dict of str to KaplanMeier
        The curve of each group, by its name.
    label : str, optional
        What the time is.

    Attributes
    ----------
    $axes_
    lines_ : list of Line2D
        The curves.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.plots import SurvivalCurveDisplay
    >>> y = make_survival_target([1.0, 2.0, 3.0, 4.0], [True, False, True, True])
    >>> display = SurvivalCurveDisplay.from_groups(y, ["a", "a", "b", "b"])
    >>> list(display.curves)
    ['a', 'b']
    """

    curves: Mapping[str, KaplanMeier]
    _: KW_ONLY
    label: str = "time"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, n_groups: int = 3, **options: Any) -> Self:
        """Draw the survival of groups of equal size by predicted risk.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            A survival model, such as `ksparse.SparseCoxRegression`, or a pipeline that ends with one.
        X : array-like, optional
            The features of new samples, as they enter the pipeline. By default those of the fit, whose groups differ
            more than those of new samples will.
        y : structured array, data frame or array of shape (n, 2), optional
            Their times and events.
        n_groups : int, default=3
            Number of groups.
        $options
        """
        model = get_fitted_model(estimator, "a survival model of ksparse", "result_")
        check_has(model, "predict_survival_function", "a survival model of ksparse", "it predicts no times")
        if (X is None) != (y is None):
            raise ValueError("pass both X and y, or neither for the samples of the fit")
        if X is None:
            samples = getattr(model, "_samples", None)
            if samples is None:
                raise ValueError("a model that was loaded or copied has no samples: pass X and y")
            estimator, X, y = model, samples.X, samples.y
        count, risk = check_size(n_groups, "n_groups"), np.asarray(estimator.predict(X), dtype=np.float64)
        names = RISK_GROUPS.get(count) or tuple(f"risk group {place} of {count}" for place in range(1, count + 1))
        groups = group_by_risk(risk, risk, count)
        return cls.from_groups(y, [names[group] for group in groups.tolist()], order=names, **options)

    @classmethod
    def from_groups(cls, y: Any, groups: Any, *, order: Any = None, **options: Any) -> Self:
        """Draw the survival of groups that are given.

        Parameters
        ----------
        y : structured array, data frame or array of shape (n, 2)
            Times and events.
        groups : array-like of shape (n,)
            The group of each sample.
        order : sequence, optional
            The groups in the order of the legend; by default sorted.
        $options
        """
        target, groups = as_survival_target(y), np.asarray(groups)
        if groups.shape != (len(target),):
            raise ValueError(f"groups has shape {groups.shape}, expected ({len(target)},): one for each sample")
        there = set(groups.tolist())
        names = sorted(there) if order is None else [name for name in order if name in there]
        curves = {str(name): kaplan_meier(target[groups == name]) for name in names}
        return cls(curves).plot(**options)

    def plot(self, ax: Axes | None = None, *, intervals: bool = True, line_kw: dict[str, Any] | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        $ax
        intervals : bool, default=True
            Whether to draw the 95 % intervals.
        line_kw : dict, optional
            Keywords of the curves, as in `matplotlib.axes.Axes.plot`.
        """
        self.ax_, self.figure_ = style.open_axes(ax, (6.0, 3.8))
        style.tidy(self.ax_, self.label, "without an event", grid="y")
        colours = choose_group_colours(len(self.curves))
        self.lines_: list[Line2D] = []
        for (name, curve), colour in zip(self.curves.items(), colours, strict=True):
            times = np.concatenate([[0.0], curve.times, [curve.last]])
            keywords = style.merge_keywords(line_kw, color=colour, linewidth=1.8, drawstyle="steps-post", label=name)
            self.lines_ += self.ax_.plot(times, _extend(curve.survival), **keywords)
            if intervals:
                low, high = _extend(curve.low), _extend(curve.high)
                self.ax_.fill_between(times, low, high, step="post", color=colour, alpha=0.12, linewidth=0)
            ticks = curve.find_survival(curve.censored)
            self.ax_.plot(curve.censored, ticks, "|", color=colour, markersize=5, alpha=0.7)
        self.ax_.set_xlim(0.0, max(curve.last for curve in self.curves.values()))
        self.ax_.set_ylim(0.0, 1.02)
        if len(self.curves) > 1:
            style.add_legend(self.ax_, self.lines_)
        return self


def _extend(values: Array) -> Array:
    """The steps of a curve that begins at 1 and goes on to the last time."""
    return np.concatenate([[1.0], values, values[-1:] if values.size else [1.0]])
