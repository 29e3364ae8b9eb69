"""Estimators that scale features before they fit, inside each fold of a cross-validation too."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, Matrix
from ..estimators import SparseLinearModel
from ..objectives import LinearObjective
from ..solvers import Result

__all__ = ["make_standardized"]


def make_standardized(kind: type[Any]) -> type[Any]:
    """The class of an estimator that divides each feature by its standard deviation in the rows that it is fitted to.

    A model of cross-validation makes one objective for each fold, from the training rows of this fold: their standard
    deviations scale it, and held-out rows have no influence. Coefficients are in the units of the data throughout.
    Features are not centred, which would change only the intercept, and sparse ones stay sparse.
    """
    return type(f"Standardized{kind.__name__}", (_Standardized, kind), {})


class _Standardized(SparseLinearModel):
    _scale: Array | float = 1.0

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        self.scaler_ = StandardScaler(with_mean=False).fit(X)
        self._scale = 1.0  # pilot fits of the objective see scaled features
        objective = super()._objective(self.scaler_.transform(X), y, sample_weight, k)  # type: ignore[safe-super]
        self._scale = self.scaler_.scale_
        return objective

    def _coefficients(self, result: Result) -> tuple[Array, Any]:
        coefficients, intercept = super()._coefficients(result)
        return coefficients / self._scale, intercept
