"""Estimators that scale features while they fit, inside each fold of a cross-validation too."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, Matrix
from ..estimators import SparseLinearModel
from ..objectives import LinearObjective
from ..solvers import Result

__all__ = ["fit_standardized"]


def fit_standardized(kind: type[Any], parameters: dict[str, Any], X: Matrix, y: AnyArray) -> SparseLinearModel:
    """Fit an estimator to features that are divided by their standard deviations, and give it in the units of the data.

    In a cross-validation, each fold is scaled by its own training rows; held-out rows have no influence. Features are
    not centred, which would change only the intercept, so sparse ones stay sparse.
    """
    scaled = type(kind.__name__, (_Standardized, kind), {})(**parameters).fit(X, y)
    model: SparseLinearModel = kind(**parameters)
    for name, value in vars(scaled).items():
        if name.endswith("_"):
            setattr(model, name, value)
    return model


class _Standardized(SparseLinearModel):
    """Scales the rows that each objective is made from, and takes the scales out of the coefficients."""

    _scale: Array | float = 1.0

    def _objective(self, X: Matrix, y: AnyArray, sample_weight: Any, k: int) -> LinearObjective:
        scaler = StandardScaler(with_mean=False).fit(X)
        self._scale = 1.0  # pilot fits of the objective see scaled features
        objective = super()._objective(scaler.transform(X), y, sample_weight, k)  # type: ignore[safe-super]
        self._scale = scaler.scale_
        return objective

    def _coefficients(self, result: Result) -> tuple[Array, Any]:
        coefficients, intercept = super()._coefficients(result)
        return coefficients / self._scale, intercept
