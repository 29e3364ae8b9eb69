"""Least squares with k features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin

from .._types import AnyArray, Array, Matrix
from ..objectives import LeastSquares, LinearObjective, Objective
from ..objectives.base import value_at_zero
from ..solvers import Result
from ._docs import document
from .linear_model import SparseLinearModel
from .offset_scores import LinearRegressorMixin

__all__ = ["SparseLinearRegression"]

#: A mean squared residual below this fraction of the mean square of y is the rounding error of an exact fit.
EXACT_MEAN_SQUARE = 1e-24


@document
@dataclass(eq=False, repr=False)
class SparseLinearRegression(MultiOutputMixin, LinearRegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """Least squares with k features: best-subset regression.

    Minimizes (1/2n)·‖y − Xw − b‖² + (alpha/2)·‖w‖² over w with at most k nonzero features (paper, equation 1).

    y may have several columns: one model predicts all responses with the same k features, each with coefficients of its
    own. Responses count by their variances: divide them by their standard deviations if their units differ.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegression(k=3).fit(X, y)
    >>> model.get_feature_names_out()
    array(['bmi', 'bp', 's5'], dtype=object)
    >>> model.coef_[model.support_].round(1), round(model.score(X, y), 4)
    (array([603.1, 262.3, 543.9]), 0.4801)
    """

    has_several_outputs: ClassVar[bool] = True
    more_attributes: ClassVar[tuple[str, ...]] = ("response_names_",)

    def check_data(self, X: Any, y: Any) -> tuple[Matrix, AnyArray]:
        names = [str(name) for name in getattr(y, "columns", ())]
        self.response_names_: AnyArray | None = np.array(names, dtype=object) if len(names) > 1 else None
        return super().check_data(X, y)

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return LeastSquares(X, target, **options)

    def depends_on_moments(self) -> bool:
        hooks = ("build_objective", "fit_target", "encode_target", "weigh_samples")
        return all(getattr(type(self), hook) is getattr(SparseLinearRegression, hook) for hook in hooks)

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """n·log of the mean squared residual, which estimates the unknown variance."""
        outputs = self.count_free_outputs(result)
        smallest = max(EXACT_MEAN_SQUARE * value_at_zero(objective), np.finfo(float).tiny)
        mean_square = max(2.0 * self.mean_loss(objective, result) / outputs, smallest)
        return float(n_samples * outputs * np.log(mean_square))
