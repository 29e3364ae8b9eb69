"""The interface of a model that ranks swaps.

A swap takes one unit out of the support and puts another in. There are three models: `QuadraticSwapModel` (the whole
Hessian on the support and the candidates), `ScreenedSwapModel` (the same for single coordinates, without the block
among the candidates), and `AdditiveSwapModel` (gains and costs of single units, where a Hessian would be too large).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..._types import Array, Mask

__all__ = ["PredictedMinimizer", "Swap", "SwapModel"]


class Swap(NamedTuple):
    """A unit that leaves, one that enters, and the predicted change of f, all other coefficients being refitted."""

    leaving: int
    entering: int
    change: float


class PredictedMinimizer(NamedTuple):
    """Where f is predicted to have its minimum on a support, and the Hessian on that support."""

    x: Array
    hessian: Array


class SwapModel(Protocol):
    """A model of f near a point, on its support and on candidates to enter."""

    #: What the predictions are based on; for messages.
    basis: str = "the quadratic model"
    #: Whether it predicts how units act together, which for a quadratic f is exact.
    is_joint: bool = True
    #: Whether the support has more coordinates than the data determine.
    is_singular: bool

    def find_best_swaps(self, count: int) -> list[Swap]:
        """The swaps with the lowest predicted change, whatever its sign; ties by position."""

    def find_chain(self, length: int, threshold: float) -> list[Swap]:
        """Up to `length` swaps, each the best one after those before it, while f falls by more than `threshold`."""

    def predict_minimizer(self, support: Mask, n_swaps: int) -> PredictedMinimizer | None:
        """The minimizer on the support after the first swaps of the last chain; None if the model knows of none."""
        return None
