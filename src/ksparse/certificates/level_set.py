"""Curvature of a mean loss on the set of all solutions that are not worse, moved into the ridge.

A tangent at w₀ gives f(w) ≥ L + Σᵢ sᵢ Dᵢ(tᵢ − t₀ᵢ) for all w of a relaxation, with its lower bound L and the Bregman
divergences Dᵢ of the losses. Every w with f(w) ≤ U hence has Σᵢ sᵢ Dᵢ ≤ δ = U − L. Let |tᵢ − t₀ᵢ| ≤ Bᵢ imply
Dᵢ(r) ≥ cᵢr²/2, and M = Xᵀ diag(sᵢcᵢ) X, with a column of ones for the intercept. If √(2δ xᵢᵀM⁻¹xᵢ) < Bᵢ for all i, the
set is within these bounds, since it is convex, contains w₀ and does not reach them. On it, f is not below a quadratic
function with the Hessian M, of which curvature is moved into the ridge as in least squares.

For a loss whose second derivative is quasiconcave, D(r)/r² on |r| ≤ B is least at 0, −B or B: along a ray it is an
average of the second derivative over a growing interval, which grows first and then falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigvalsh, lapack, solve_triangular

from .._types import Array, IntArray, Mask
from ..clock import read_clock
from ..objectives.losses import HuberLoss, LogisticLoss, NegativeBinomialLoss, PoissonLoss, SquaredHingeLoss
from ._gram_nodes import relax_node
from .duals import LevelSetDual
from .linearization import EPS, Approach, Linearization, SmoothPart, StepLimits
from .mean_loss import MeanLoss
from .relaxation import Perspective
from .tightening import Tightened, tighten

__all__ = ["tighten_on_level_set"]

#: Losses whose second derivative is a quasiconcave function of the margin.
QUASICONCAVE = (LogisticLoss, PoissonLoss, HuberLoss, SquaredHingeLoss, NegativeBinomialLoss)
#: Fraction of the curvature that is given up for rounding errors of margins.
ROUNDING_SHARE = 1e-6
#: The least bound of a move of a margin, and the largest that is tried; of the size of y for losses of residuals.
LEAST_MOVE, LARGEST_MOVE = 1e-3, 300.0
#: Rounds until bounds of moves are proved. They grow with the square root of the bounds that they follow from, so that
#: the next ones are guessed by this power of their growth.
MAX_MOVE_ROUNDS, EXTRAPOLATION, MARGIN = 8, 1.8, 1.02
#: Rounds of an estimate of them.
ESTIMATES = 3
#: Fractions of the least eigenvalue that are tried, until a factorization proves one of them.
SCHUR_FRACTIONS = (0.995, 0.9)
#: The bound would rise by so many times what it lacks, if it were a linear function of the ridge; otherwise parts are
#: hardly ever closed, and the time is better spent on dividing them.
LEAST_GAIN = 4.0


class LevelSet(NamedTuple):
    """A quadratic function below F for all solutions that are not worse."""

    #: M, with the intercept as its last row.
    matrix: Array
    #: A bound of the spectral norm of the errors of M and of a factorization.
    rounding: float
    #: How much lower the function is than the tangent with M, for rounding.
    slack: float
    #: A bound of the move of the intercept.
    intercept_move: float
    #: Bounds of the moves of the margins, and c.
    moves: Array
    curvature: Array
    #: The mean of the margins at the point of the tangent, less that of y for losses of residuals.
    mean_margin: float


def tighten_on_level_set(
    part: MeanLoss,
    perspective: Perspective,
    found: Tightened,
    upper: float,
    target: float,
    limits: StepLimits,
    least_gain: float = LEAST_GAIN,
) -> tuple[Tightened, Perspective] | None:
    """A better bound for all solutions with f ≤ `upper`, and the perspective that it follows from.

    Parameters
    ----------
    part, perspective, found
        The smooth part, the perspective and the bound without this curvature.
    upper : float
        f of the solutions that matter.
    target, limits
        See `tighten`.
    least_gain : float, default=4
        It is not tried, if the bound would rise by less than so many times what it lacks, were it a linear function of
        the ridge.

    Returns
    -------
    tuple of Tightened and Perspective, or None
        None where it does not help.
    """
    samples = part.samples if perspective.has_single_features and isinstance(part.form.loss, QUASICONCAVE) else None
    if samples is None or not -np.inf < found.bound < target or read_clock() > limits.deadline:
        return None
    fixings = perspective.fixings
    kept = np.flatnonzero(~fixings.outside)
    design = samples.design[kept]
    if part.form.fit_intercept:
        design = np.vstack([design, np.ones(design.shape[1])])
    if design.shape[1] <= design.shape[0] or fixings.inside[kept].all():
        return None
    if found.point[fixings.outside].any():
        return None
    level = Level(part, found, design, upper)
    guess, gain = level.estimate()
    if gain * measure_room(perspective, found) < least_gain * level.excess:
        return None
    level_set = level.bound_moves(guess)
    if level_set is None:
        return None
    moved = find_moved(level_set, fixings.inside[kept])
    if moved is None:
        return None
    added = np.zeros(perspective.ridge.size)
    added[kept] = moved
    minorant = QuadraticMinorant(part, level_set, found, kept, added)
    inner = perspective.with_ridge(perspective.ridge + added)
    better = tighten(minorant, inner, found.x, target, limits)
    return (better, inner) if better.bound > found.bound else None


def measure_room(perspective: Perspective, found: Tightened) -> float:
    """Σ w_j²(1/z_j − 1)/2 of the open features: by how much a bound rises at most with the ridge."""
    w, z = found.x, found.z
    fractional = perspective.fixings.open & (z > 0.0)
    return 0.5 * float(np.sum(np.square(w[fractional]) * (1.0 / z[fractional] - 1.0)))


class Level:
    """The set of all solutions with f ≤ `upper`, around the point of a tangent."""

    def __init__(self, part: MeanLoss, found: Tightened, design: Array, upper: float) -> None:
        self.part, self.design = part, design
        self.loss, rows = part.form.loss, part.form.weights > 0
        samples = part.samples
        assert samples is not None
        self.target, self.weights = samples.target, samples.weights
        size = float(np.sqrt(self.weights @ np.square(self.target))) if self.loss.of_residuals else 1.0
        #: The least and the largest bound of a move.
        self.least_move, self.largest_move = LEAST_MOVE * (size or 1.0), LARGEST_MOVE * (size or 1.0)
        point = found.point
        self.margins = part.find_margins(point)[rows]
        self.mean_margin = float(self.weights @ (self.margins - self.target * self.loss.of_residuals))
        slopes = found.linearization.dual[rows]
        self.excess = max(upper - found.bound, 0.0) + 4.0 * EPS * (abs(upper) + abs(found.bound))
        own = self.loss.slope(self.margins, self.target)
        #: What the slopes of the tangent differ by from those at its point, with the rest of their sum.
        self.unbalanced = self.weights * np.abs(slopes - own)
        self.rest = 4.0 * EPS * float(self.weights @ np.abs(slopes))
        nonzero = np.flatnonzero(point)
        sizes = np.abs(point[nonzero]) @ np.abs(samples.design[nonzero])
        sizes += abs(float(part.intercept)) + np.abs(samples.offset)
        self.errors = EPS * (nonzero.size + 16.0) * sizes
        self.least_curvature = self.loss.curvature(self.margins, self.target)

    def find_curvature(self, moves: Array) -> Array:
        """c, such that D(r) ≥ c·r²/2 for all |r| ≤ B."""
        loss, margins, target = self.loss, self.margins, self.target
        value, slope = loss.value(margins, target), loss.slope(margins, target)
        curvature = self.least_curvature
        for move in (moves, -moves):
            moved = loss.value(margins + move, target)
            sizes = np.abs(moved) + np.abs(value) + np.abs(slope) * (np.abs(margins) + moves)
            divergence = moved - value - slope * move - 16.0 * EPS * sizes
            curvature = np.minimum(curvature, 2.0 * divergence / np.square(moves))
        return np.maximum(np.nan_to_num(curvature, nan=0.0, posinf=0.0), 0.0) * (1.0 - 3.0 * ROUNDING_SHARE)

    def estimate(self) -> tuple[float, float]:
        """About how far margins will move and how much curvature there will be, if all move by as much."""
        total = len(self.design) * 2.0 * self.excess
        move, former = self.least_move, self.least_move
        for _ in range(ESTIMATES):
            curvature = float(self.weights @ self.find_curvature(np.full(self.margins.size, move)))
            following = np.sqrt(total / max(curvature, 1e-300))
            power = 1.0 if former == self.least_move else EXTRAPOLATION
            former, move = move, min(max(move * (following / move) ** power, self.least_move), self.largest_move)
        return move, curvature * self.part.least_eigenvalue

    def bound_moves(self, guess: float) -> LevelSet | None:
        """Bounds of the moves of all margins, from a guess, and M with the curvature that they leave."""
        moves = np.full(self.margins.size, guess)
        first = True
        for _ in range(MAX_MOVE_ROUNDS):
            curvature = self.find_curvature(moves)
            if curvature.max() <= 0.0:
                return None
            slack = self._add_slack(curvature, moves)
            rooted = self.design * np.sqrt(self.weights * curvature)
            matrix = rooted @ rooted.T
            size = len(matrix)
            rounding = 4.0 * EPS * (self.margins.size + 8.0 * size + 32.0) * float(np.trace(matrix))
            reached = self._find_reach(matrix, rounding, self.excess + slack)
            if reached is None:
                return None
            reach, of_intercept = reached
            if (reach < (1.0 - ROUNDING_SHARE) * moves).all():
                return LevelSet(matrix, rounding, slack, of_intercept, moves, curvature, self.mean_margin)
            growth = reach / moves
            power = 1.0 if first else EXTRAPOLATION
            following = moves * np.where(growth > 1.0, growth**power, growth)
            moves, first = np.maximum(MARGIN * following, self.least_move), False
            if not moves.max() <= self.largest_move:
                return None
        return None

    def _add_slack(self, curvature: Array, moves: Array) -> float:
        """By how much rounding may lower Σᵢ sᵢ Dᵢ below the quadratic form, within the bounds."""
        slopes = float(self.unbalanced @ moves) + self.rest * float(moves.max())
        margins = float((self.weights * curvature) @ np.square(self.errors)) / ROUNDING_SHARE
        return 1.01 * (slopes + margins)

    def _find_reach(self, matrix: Array, rounding: float, excess: float) -> tuple[Array, float] | None:
        """√(2δ xᵢᵀM⁻¹xᵢ), rounded up, and the same for the intercept."""
        size = len(matrix)
        try:
            factor = cholesky(matrix - rounding * np.eye(size), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        solved = solve_triangular(factor, self.design, lower=True, check_finite=False)
        reach = np.sqrt(2.0 * excess * np.einsum("ji,ji->i", solved, solved)) * (1.0 + ROUNDING_SHARE)
        of_intercept = np.sqrt(2.0 * excess) / factor[-1, -1] * (1.0 + ROUNDING_SHARE)
        return reach, float(of_intercept)


def find_moved(level: LevelSet, inside: Mask) -> Array | None:
    """d of the kept features, with M − diag(d) positive semidefinite: the same for all that are open."""
    matrix, size = level.matrix, len(level.matrix)
    is_open = np.zeros(size, dtype=bool)
    is_open[: inside.size] = ~inside
    schur = matrix[np.ix_(is_open, is_open)]
    if not is_open.all():
        cross = matrix[np.ix_(~is_open, is_open)]
        inner, status = lapack.dpotrf(matrix[np.ix_(~is_open, ~is_open)], lower=1)
        if status:
            return None
        half = solve_triangular(inner, cross, lower=True, check_finite=False)
        schur = schur - half.T @ half
    least = float(eigvalsh(schur, subset_by_index=(0, 0), check_finite=False)[0])
    for fraction in SCHUR_FRACTIONS:
        moved = fraction * least - 3.0 * level.rounding
        if moved <= 0.0:
            return None
        added = np.where(is_open, moved, 0.0)
        _, status = lapack.dpotrf(matrix - np.diag(added + 2.0 * level.rounding), lower=1)
        if not status:
            return added[: inside.size]
    return None


class QuadraticMinorant(SmoothPart):
    """A tangent of F at w₀ and ½uᵀQu, u = (w − w₀, b − b₀), minimized over b, without the curvature that was moved.

    Q = M − diag(d) less the rounding of M; what was moved is ½ Σ d_j (w_j − w₀_j)².
    """

    def __init__(self, part: MeanLoss, level: LevelSet, found: Tightened, kept: IntArray, added: Array) -> None:
        self.part, self.found, self.level, self.kept = part, found, level, kept
        self.tangent = found.linearization
        self.center = found.point[kept]
        self.added = added[kept]
        own = np.zeros(len(level.matrix))
        own[: kept.size] = self.added
        self.matrix = level.matrix - np.diag(own + level.rounding)
        self.inner = self.matrix
        self.has_intercept = len(level.matrix) > kept.size
        if self.has_intercept:
            last = self.matrix[-1, :-1]
            self.inner = self.matrix[:-1, :-1] - np.outer(last, last / self.matrix[-1, -1])
        self.inner = np.ascontiguousarray(self.inner)
        self.lipschitz = max(float(np.abs(self.inner).sum(axis=1).max()), float(np.finfo(float).tiny))

    def approach(self, perspective: Perspective, x: Array, target: float, limits: StepLimits) -> Approach:
        kept, center = self.kept, self.center
        product = self.inner @ center
        linear = self.tangent.slopes[kept] + product + self.added * center
        constant = 2.0 * (self.tangent.base - self.level.slack)
        constant += float(center @ product) + float(self.added @ np.square(center))
        lower, upper = perspective.lower[kept], perspective.upper[kept]
        inside = perspective.fixings.inside[kept]
        has_box = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        found, _, z, _, steps = relax_node(
            self.inner, linear, constant, 1.0, np.zeros(kept.size), perspective.ridge[kept], lower, upper, inside,
            perspective.budget, x[kept], self.lipschitz, target, has_box,
        )  # fmt: skip
        point, shares = np.zeros(x.size), np.zeros(x.size)
        point[kept], shares[kept] = found, z
        return Approach(point, shares, True, steps)

    def linearize(self, x: Array) -> Linearization:
        kept, center, tangent, level = self.kept, self.center, self.tangent, self.level
        move = x[kept] - center
        if self.has_intercept:
            move = np.append(move, -(self.matrix[-1, :-1] @ move) / self.matrix[-1, -1])
        size = len(move)
        product = self.matrix @ move
        error = EPS * (size + 8.0) * (np.abs(self.matrix) @ np.abs(move))
        own = product[: kept.size]
        quadratic, moved = float(move @ product), float(self.added @ np.square(center))
        base = tangent.base - float(own @ center) - 0.5 * quadratic + 0.5 * moved
        sizes = abs(tangent.base) + np.abs(own) @ np.abs(center) + np.abs(move) @ np.abs(product) + moved
        rounding = EPS * (size + 16.0) * float(sizes) + float(error @ np.abs(move))
        rounding += float(error[: kept.size] @ np.abs(center))
        if self.has_intercept:
            rounding += (abs(float(product[-1])) + float(error[-1])) * level.intercept_move
        slopes, errors = tangent.slopes.copy(), tangent.errors.copy()
        slopes[kept] += self.added * center - own
        sizes_of_slopes = np.abs(tangent.slopes[kept]) + np.abs(own) + self.added * np.abs(center)
        errors[kept] += error[: kept.size] + 8.0 * EPS * sizes_of_slopes
        value = tangent.value - float(tangent.slopes[kept] @ move[: kept.size]) + 0.5 * quadratic
        return Linearization(base - rounding - level.slack, slopes, errors, value, self._make_dual(x))

    def evaluate_at(self, x: Array) -> float:
        return self.linearize(x).value

    def _make_dual(self, point: Array) -> LevelSetDual:
        scale, form = self.part.scale, self.part.form
        moved, rows, level = np.zeros(scale.size), form.weights > 0, self.level
        moved[self.kept] = self.added * np.square(scale[self.kept])
        moves, curvature = np.zeros(rows.size), np.zeros(rows.size)
        moves[rows], curvature[rows] = level.moves, level.curvature
        center, slopes = self.found.point / scale, self.tangent.dual
        return LevelSetDual(slopes, center, level.mean_margin, moves, curvature, moved, point / scale)
