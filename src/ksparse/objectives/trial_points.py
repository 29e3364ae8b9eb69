"""The points of a model of margins: what a refit needs of one, or of several, in one round trip."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._types import Array, Mask
from ..counters import Counters
from ..designs import ColumnBlock, Design, RowVector
from .base import Objective, Point, TwiceDifferentiable
from .coefficient_layout import CoefficientLayout
from .protocols import EvaluatesTogether
from .row_functions import sum_over_rows
from .terms import Terms

__all__ = ["TrialPoints"]


class TrialPoints(TwiceDifferentiable, EvaluatesTogether):
    """A loss of the margins of some columns, plus a penalty of the coefficients, evaluated at trial points.

    Where the rows are in blocks elsewhere, a round trip brings all that a refit may need of a point: f, its gradient,
    its Hessian where that is cheap, and how far the margins have moved. Several points may share it.
    """

    fit_intercept: bool
    _design: Design
    _terms: Terms
    _block: ColumnBlock
    _layout: CoefficientLayout
    #: Whether the model sees some columns of the design only.
    _is_restricted: bool

    def __init__(self, counters: Counters | None = None) -> None:
        super().__init__(counters)
        #: The margins where the gradient was computed last, with which trial points are compared.
        self._current_margins: RowVector | None = None
        #: The start of a refit, where it was evaluated ahead, and those of refits on supports.
        self._start: Point | None = None
        self._refits_ahead: dict[bytes, Point] = {}

    @abstractmethod
    def penalty(self, weights: Array) -> float:
        """What is added to the loss."""

    def evaluate(self, x: Array) -> Point:
        """Evaluate f at x, touching only the columns where x is nonzero."""
        x = self.check_point(x)
        start, self._start = self._start, None
        if start is not None and np.array_equal(start.x, x):
            return start
        margins = self._compute_margins(x)
        if not self._design.is_local:
            self._design.anticipate(self._list_sums(margins, 1))
        point = self._make_point(x, margins)
        if self._value_at_zero is None and not x.any():
            self._value_at_zero = point.value
        return point

    def evaluate_each(self, points: Sequence[Array]) -> Iterable[Point]:
        if self._design.is_local or len(points) == 1:
            return map(self.evaluate, points)  # each when it is asked for: a line search may need only some
        return _evaluate_together([self] * len(points), points)

    def anticipate_refits(self, starts: Iterable[tuple[Mask, Array]]) -> None:
        if self._design.is_local:
            return
        self._refits_ahead.clear()
        starts = list(starts)
        models = [self.restrict(support) for support, _ in starts]
        points = _evaluate_together(
            [model for model in models if isinstance(model, TrialPoints)], [x for _, x in starts]
        )
        self._refits_ahead = {support.tobytes(): point for (support, _), point in zip(starts, points, strict=True)}

    def _find_refit_ahead(self, support: Mask) -> Objective | None:
        """The restriction to a support whose start was evaluated ahead; each is given once."""
        start = self._refits_ahead.pop(np.asarray(support).tobytes(), None) if self._refits_ahead else None
        if start is None:
            return None
        assert isinstance(start.objective, TrialPoints)
        start.objective._start = start
        return start.objective

    def _compute_margins(self, x: Array) -> RowVector:
        """Xw + b + offset."""
        weights, intercept = self._layout.split(x)
        return self._terms.add_offset(self._block.matvec(weights), intercept)

    def _make_point(self, x: Array, margins: RowVector) -> Point:
        """The point whose margins are known."""
        return Point(self, x, self._terms.total(margins) + self.penalty(self._layout.split(x)[0]), margins)

    def _list_sums(self, margins: RowVector, n_points: int) -> list[Callable[[], Any]]:
        """What a refit needs of a point, one of several that are evaluated together."""
        calls: list[Callable[[], Any]] = [lambda: self._terms.total(margins)]
        if not self._is_restricted:
            return calls
        calls += self._list_gradient_sums(self._terms.slopes(margins))
        width = int(np.ceil(self.size * np.sqrt(n_points)))
        if not self.is_quadratic and self._design.can_anticipate(width):
            calls.append(lambda: self._terms.hessian(self._block, margins, self.fit_intercept))
        if self._current_margins is not None:
            calls.append(lambda: self._terms.find_extremes(self._current_margins, margins))
        return calls

    def _list_gradient_sums(self, slopes: RowVector) -> list[Callable[[], Any]]:
        return [lambda: self._block.rmatvec(slopes), lambda: self._sum_rows(slopes)]

    def _sum_rows(self, rows: RowVector) -> Any:
        return self._design.reduce_rows(sum_over_rows, rows) if self.fit_intercept else None


def _evaluate_together(models: Sequence[TrialPoints], points: Sequence[Array]) -> list[Point]:
    """A point of each model: one round trip."""
    pairs = [(model, x, model._compute_margins(x)) for model, x in zip(models, points, strict=True)]
    calls = [call for model, _, margins in pairs for call in model._list_sums(margins, len(pairs))]
    models[0]._design.anticipate(calls)
    return [model._make_point(x, margins) for model, x, margins in pairs]
