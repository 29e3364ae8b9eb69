"""The independent check of bounds that hold for all solutions that are not worse.

What f is above a tangent at w₀ is Σᵢ sᵢDᵢ(tᵢ − t₀ᵢ) with the Bregman divergences Dᵢ of the losses. A second derivative
that grows and then falls has Dᵢ(r) ≥ cr²/2 for all |r| ≤ B, if it does at r → 0, r = −B and r = B. If all that
Σᵢ sᵢcᵢrᵢ²/2 leaves at an excess over the tangent is within |rᵢ| < Bᵢ, so is all that Σᵢ sᵢDᵢ leaves, which is convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import Array, Mask
from ..objectives import Loss
from ..objectives.losses import HuberLoss, LogisticLoss, NegativeBinomialLoss, PoissonLoss, SquaredHingeLoss
from .duals import LevelSetDual
from .verified_curvature import LONG_EPS, lower_curvature

__all__ = ["LevelData", "QuadraticTangent", "check_level_set"]

#: Losses whose second derivative is constant, or grows and then falls.
UNIMODAL = (LogisticLoss, PoissonLoss, HuberLoss, SquaredHingeLoss, NegativeBinomialLoss)
#: Rounding of a divergence, in units of the numbers that it is the difference of, and of a number.
DIVERGENCE_ROUNDING, EXCESS_ROUNDING = 2e-15, 2.3e-16
#: Of the largest curvature, what a certificate may have too much; it is lowered to what is proved. That of a sample
#: depends on the rounding of its margin.
LEVEL_TOLERANCE, SAMPLE_TOLERANCE = 1e-9, 1e-4


class LevelData(NamedTuple):
    """What the check is about; rows are those whose weight is not zero."""

    loss: Loss
    #: X, about its means where there is an intercept, in long doubles.
    X: Array
    weights: Array
    target: Array
    offset: Array
    fit_intercept: bool
    #: Features that are not left out.
    kept: Mask
    #: Slopes, moves of margins and c of these rows.
    slopes: Array
    moves: Array
    curvature: Array


class QuadraticTangent(NamedTuple):
    """What is added to a tangent of the mean loss: f(w) ≥ its base + `base` − ⟨its v + `slopes`, w⟩ + the ridges."""

    base: float
    slopes: Array
    #: Bounds of the rounding errors of the slopes.
    errors: Array
    #: What is proved of the curvature that is moved into the ridge.
    curvature: Array


def check_level_set(data: LevelData, dual: LevelSetDual, excess: float) -> QuadraticTangent | str:
    """What the curvature adds to a tangent that f exceeds by at most `excess`; what is wrong with it, otherwise."""
    if not isinstance(data.loss, UNIMODAL):
        return f"nothing is known of the curvature of {data.loss} between two margins"
    if dual.center[~data.kept].any() or dual.point[~data.kept].any() or dual.curvature[~data.kept].any():
        return "a feature is left out that has a coefficient or curvature"
    if (data.curvature < 0).any() or (data.moves <= 0).any():
        return "a move is not above 0, or a curvature below it"
    margins = _find_margins(data, dual)
    most = _find_most_curvature(data, margins)
    if (data.curvature > most + SAMPLE_TOLERANCE * most.max()).any():
        return "a sample has less curvature than the certificate says"
    data = data._replace(curvature=np.clip(most, 0.0, data.curvature))
    matrix = _make_matrix(data)
    rest = _add_rest(data, margins)
    try:
        factor = np.linalg.cholesky(np.asarray(matrix, dtype=np.float64))
    except np.linalg.LinAlgError:
        return "the curvature of the samples does not bound the moves of their margins"
    solved = np.linalg.solve(factor, np.asarray(_make_columns(data), dtype=np.float64).T)
    reach = np.sqrt(2.0 * (excess + rest) * (solved * solved).sum(axis=0))
    if not (reach < data.moves).all():
        return "margins may move by more than the certificate says"
    tangent = _find_quadratic_tangent(data, dual, matrix, rest)
    return "there is less curvature than the certificate moves" if tangent is None else tangent


def _find_quadratic_tangent(data: LevelData, dual: LevelSetDual, matrix: Array, rest: float) -> QuadraticTangent | None:
    """The tangent of the quadratic function without the curvature that is moved, and what moving it adds."""
    kept = data.kept
    center, count = dual.center[kept].astype(np.longdouble), int(kept.sum())
    schur, size = matrix[:count, :count], np.sqrt(matrix.diagonal()[:count])
    if data.fit_intercept:
        schur = schur - np.outer(matrix[:-1, -1], matrix[:-1, -1] / matrix[-1, -1])
    in_doubles = np.asarray(schur, dtype=np.float64), dual.curvature[kept], np.asarray(size, dtype=np.float64)
    curvature, missing = lower_curvature(*in_doubles)
    if missing > LEVEL_TOLERANCE:
        return None
    point = dual.point[kept].astype(np.longdouble)
    move = point - center
    product, added = schur @ move - curvature * move, curvature * center
    slopes, errors, proved = np.zeros(kept.size), np.zeros(kept.size), np.zeros(kept.size)
    slopes[kept], proved[kept] = added - product, curvature
    base = 0.5 * (move @ product) - product @ point + 0.5 * (added @ center)
    # Each sum is bounded by the sizes of its terms, by the Cauchy–Schwarz inequality.
    rounding, reach = LONG_EPS * (len(data.X) + count + 16.0), size @ np.abs(move)
    errors[kept] = rounding * reach * size + EXCESS_ROUNDING * np.abs(slopes[kept])
    of_base = rounding * (reach * (reach + size @ np.abs(point)) + np.abs(added) @ np.abs(center))
    return QuadraticTangent(float(base - rest - of_base), slopes, errors, proved)


def _make_columns(data: LevelData) -> Array:
    """The kept features, and a column of ones for the intercept, in long doubles."""
    columns = data.X[:, data.kept]
    return np.column_stack([columns, np.ones(len(columns))]) if data.fit_intercept else columns


def _make_matrix(data: LevelData) -> Array:
    """Σᵢ sᵢcᵢxᵢxᵢᵀ, of the rows of these columns, in long doubles."""
    columns = _make_columns(data)
    matrix: Array = columns.T @ (columns * (data.weights * data.curvature)[:, None])
    return matrix


def _find_margins(data: LevelData, dual: LevelSetDual) -> Array:
    """The margins of the center."""
    margins = data.X @ dual.center.astype(np.longdouble) + data.offset
    if data.fit_intercept:
        known = data.offset - (data.target if data.loss.of_residuals else 0.0)
        margins = margins + (dual.mean_margin - float(data.weights @ known))
    return np.asarray(margins, dtype=np.float64)


def _find_most_curvature(data: LevelData, margins: Array) -> Array:
    """The largest c with D(r) ≥ cr²/2 for all moves within the given ones."""
    loss, target = data.loss, data.target
    value, slope = loss.value(margins, target), loss.slope(margins, target)
    most = loss.curvature(margins, target)
    for move in (data.moves, -data.moves):
        moved = loss.value(margins + move, target)
        size = np.abs(moved) + np.abs(value) + np.abs(slope) * (np.abs(margins) + np.abs(move))
        with np.errstate(invalid="ignore"):
            divergence = np.nan_to_num(moved - value - slope * move - DIVERGENCE_ROUNDING * size, nan=0.0)
        most = np.minimum(most, 2.0 * divergence / np.square(move))
    return most


def _add_rest(data: LevelData, margins: Array) -> float:
    """By how much the slopes of the tangent, which are not quite those of the margins, may lower what is above it."""
    own = data.loss.slope(margins, data.target)
    return float((data.weights * np.abs(data.slopes - own)) @ data.moves)
