"""An independent check of certificates, from the data, the dual points and the curvature alone.

Nothing of the code that makes certificates is used: products are sums of long doubles, conjugates are found by
bisection of the loss's slope, eliminations are projections by a QR factorization, and curvature is checked by
eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import Array, IntArray, Mask
from ..objectives import LinearObjective
from ..objectives.margin_form import MarginForm
from ..sparsity import Sparsity, Units, make_set
from .certificate import OPTIMAL_GAP, Certificate, ProofStage
from .claims import (
    InvalidCertificateError,
    check_array,
    check_claimed_solution,
    check_printed_numbers,
    require_claim,
)
from .duals import LevelSetDual, QuadraticDual
from .level_verification import LevelData, check_level_set
from .verified_curvature import LONG_EPS, bound_sparse_curvature, lower_curvature
from .verified_losses import bound_rounding, find_best_constant, find_conjugates

__all__ = ["InvalidCertificateError", "verify"]

#: Two computations of a bound may differ by this fraction of what f is above its least value.
TOLERANCE = 1e-9
#: Rounding of f, as a fraction of the numbers that it is a sum of.
CHECKED_ROUNDING = 4e-15
#: Residuals below this fraction of the numbers that they are differences of are rounding.
CHECKED_RESIDUALS = 1e-14
#: Rounding of the least excess of f over a tangent, as a fraction of the numbers that it is computed from.
LEVEL_ROUNDING = 1e-14
#: Features whose root mean square is below this fraction of the largest are taken to be of that size.
LEAST_FEATURE_SIZE = 1e-8


def verify(
    certificate: Certificate,
    objective: LinearObjective,
    sparsity: Sparsity | int | None = None,
    x: ArrayLike | None = None,
) -> float:
    """Check a certificate of a linear model by other code than that which made it.

    The lower bound of each stage is computed again from its dual point, and so is what it proves about the units. All
    that the gap is computed from is compared with the data, but for `value`: that a solution has this f can only be
    checked where the solution is given as `x`. Bounds may differ by 1e-9 of what f is above its least value, and by
    rounding errors as long as these are below 1e-6 of it; f(x) by 1e-9 of the same, and by what the rounding of the
    margins, of their terms and of y changes it at most.

    Parameters
    ----------
    certificate : Certificate
        What to check.
    objective : LinearObjective
        f, bound to its data.
    sparsity : Sparsity or int, optional
        The sparsity set, if it was not an integer k; or this k.
    x : array-like, optional
        The solution, as `Result.x`: it must have at most k units, lie within the bounds, and f(x) must be `value`.
        Without it, `value` is taken as the certificate has it.

    Returns
    -------
    float
        The lower bound as computed here; that of the certificate is not above it, but for rounding.

    Raises
    ------
    InvalidCertificateError
        If the certificate does not prove what it says; the message tells what is wrong.
    TypeError
        If the first argument is no certificate, or the second no linear model.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> f = ksparse.objectives.Logistic(X, X[:, 5] > X[:, 2], alpha=0.1)
    >>> result = ksparse.minimize(f, k=2)
    >>> certificate = result.certificate()
    >>> lower_bound = ksparse.certificates.verify(certificate, f, x=result.x)
    >>> bool(abs(lower_bound / certificate.lower_bound - 1) < 1e-9)
    True
    """
    if not isinstance(certificate, Certificate):
        raise TypeError(
            f"certificate must be a Certificate, such as `result.certificate()`; got {type(certificate).__name__}"
        )
    if not isinstance(objective, LinearObjective):
        raise TypeError(
            "objective must be a linear model bound to its data, such as LeastSquares(X, y); got "
            f"{type(objective).__name__}"
        )
    check_printed_numbers(certificate)
    k = certificate.k if sparsity is None else sparsity
    chosen = k if isinstance(k, Sparsity) else make_set(objective.unit_kind, k)
    units = chosen.bind(objective.shape, objective.free)
    form = objective.margin_form()
    if form is None:
        raise InvalidCertificateError(f"{objective!r} is not a linear model whose loss is a sum over samples")
    checker = _Checker(form, units)
    checker.check_claims(certificate)
    if x is not None:
        checker.check_value(check_claimed_solution(x, objective, units), certificate.value, objective)
    inside, outside = units.always.copy(), np.zeros(units.count, dtype=bool)
    lower = checker.least
    for number, stage in enumerate(certificate.stages):
        checker.check_shapes(stage, number)
        require_claim(
            (stage.before.inside <= inside).all() and (stage.before.outside <= outside).all(),
            f"stage {number} supposes more about the units than was proved",
        )
        bound = checker.check_stage(stage, certificate.value, number)
        lower = max(lower, min(bound, certificate.value))
        inside, outside = stage.after.inside, stage.after.outside
    slack = checker.allow(certificate.value)
    require_claim(certificate.lower_bound <= lower + slack, f"only {lower:.12g} is proved as a lower bound")
    proved = ((certificate.must_contain, inside, "in"), (certificate.cannot_contain, outside, "not in"))
    for names, mask, what in proved:
        require_claim(np.isin(names, units.names[mask]).all(), f"some units are not proved to be {what} each solution")
    return lower


class _Checker:
    """The data of a problem, in long doubles."""

    def __init__(self, form: MarginForm, units: Units) -> None:
        counted = form.weights > 0
        self.form, self.units, self.counted = form, units, counted
        self.X = form.collect()[counted].astype(np.longdouble)
        self.weights = form.weights[counted].astype(np.longdouble)
        target = form.target[counted]
        self.offset = np.zeros(target.shape) if form.offset is None else form.offset[counted]
        if form.fit_intercept:
            self.X = self.X - self.weights @ self.X / self.weights.sum()
        sizes = np.sqrt(np.asarray(self.weights @ np.square(self.X), dtype=np.float64))
        #: The root mean square of each feature.
        self.sizes = np.maximum(sizes, LEAST_FEATURE_SIZE * sizes.max(initial=0.0) or 1.0)
        self.p, self.outputs = self.X.shape[1], int(np.prod(form.shape[1:], dtype=int))
        self.number = units.number.reshape(-1, self.outputs)[: self.p].ravel()
        unlimited = np.full(units.number.shape, np.inf)
        self.lower = (-unlimited if units.lower is None else units.lower).reshape(-1, self.outputs)[: self.p].ravel()
        self.upper = (unlimited if units.upper is None else units.upper).reshape(-1, self.outputs)[: self.p].ravel()
        lowest = np.broadcast_to(form.loss.find_lowest(target), len(self.weights))
        self.least = float(self.weights @ lowest)
        weights, constant = form.weights[counted], np.zeros(target.shape[1:])
        #: The larger f where all margins are zero and where they are the offset.
        self.start = max(float(weights @ form.loss.value(m, target)) for m in (0.0 * self.offset, self.offset))
        if form.fit_intercept:
            constant = find_best_constant(form.loss, self.offset, target, weights)
        if form.loss.of_residuals:  # without the best constant, of which products with slopes would keep the rounding
            target = np.asarray(target.astype(np.longdouble) - self.offset - constant, dtype=np.float64)
            self.offset, constant = np.zeros(target.shape), np.zeros(target.shape[1:])
        self.target = target
        start = form.loss.value(self.offset + constant, target)
        #: The size of the numbers that f is a sum of, without features.
        self.magnitude = float(weights @ (np.abs(start) + np.abs(lowest)))

    @property
    def has_bounds(self) -> bool:
        """Whether some coefficients have bounds."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def rounding(self) -> float:
        """Rounding of f."""
        return CHECKED_ROUNDING * self.magnitude

    def allow(self, value: float) -> float:
        """By how much bounds may differ: a small part of the gap that a certificate speaks of, whatever the data."""
        room = max(value - self.least, 0.0)
        own = CHECKED_ROUNDING * abs(self.least)
        return max(min(TOLERANCE * room + self.rounding, OPTIMAL_GAP * room), own)

    def check_value(self, x: Array, value: float, objective: LinearObjective) -> None:
        """f(x) is what the certificate says, but for the rounding of f and of the margins."""
        found = objective.evaluate(x).value
        slack = TOLERANCE * max(value - self.least, 0.0) + self.rounding
        slack += bound_rounding(self.form, self.counted, x)
        slack += CHECKED_RESIDUALS**2 * abs(self.start)  # f that are so near to the least value are this
        require_claim(abs(found - value) <= slack, f"f(x) is {found:.12g}, and the certificate says {value:.12g}")

    def check_claims(self, certificate: Certificate) -> None:
        """What the certificate says besides its bound."""
        require_claim(
            abs(certificate.least - self.least) <= self.rounding,
            f"the least loss of these data is {self.least:.12g}, and the certificate says {certificate.least:.12g}",
        )
        require_claim(
            certificate.value >= self.least - self.rounding,
            f"no f is below {self.least:.12g}, and the certificate says {certificate.value:.12g}",
        )
        require_claim(
            certificate.k == self.units.k,
            f"the certificate is for k = {certificate.k}, and the sparsity set has k = {self.units.k}",
        )
        claimed, given = ("with" if known else "without" for known in (certificate.has_bounds, self.has_bounds))
        require_claim(
            claimed == given,
            f"the certificate is for coefficients {claimed} bounds, and the sparsity set is {given} them; give the set "
            "that the problem was solved with",
        )

    def check_shapes(self, stage: ProofStage, number: int) -> None:
        """The arrays of a stage are of these data, and have numbers."""
        for fixings in (stage.before, stage.after):
            for mask in (fixings.inside, fixings.outside):
                check_array(mask, (self.units.count,), f"units of stage {number}", bool)
        dual = stage.dual
        if isinstance(dual, LevelSetDual):
            self._check_level_shapes(dual, number)
            return
        if not isinstance(dual, QuadraticDual):
            check_array(dual, self.form.target.shape, f"slopes of stage {number}", float)
            return
        require_claim(self.form.loss.is_quadratic, f"stage {number} is for least squares, and this is another loss")
        check_array(dual.coefficients, (self.p, self.outputs), f"coefficients of stage {number}", float)
        for name in ("curvature", "scale"):
            check_array(getattr(dual, name), (self.p,), f"{name} of stage {number}", float)
        check_array(dual.eliminated, (self.p,), f"eliminated features of stage {number}", bool)
        require_claim(0.0 <= dual.fraction <= 1.0, f"the fraction of stage {number} is not between 0 and 1")
        has_ridge = (self.form.alpha + dual.curvature >= 0).all()
        require_claim(has_ridge, f"the curvature of stage {number} has an entry below -alpha")
        require_claim((dual.scale > 0).all(), f"the scale of stage {number} has an entry that is not above 0")

    def _check_level_shapes(self, dual: LevelSetDual, number: int) -> None:
        require_claim(self.outputs == 1 and len(self.form.shape) == 1, f"stage {number} is for models with one output")
        for name in ("slopes", "moves", "sample_curvature"):
            check_array(getattr(dual, name), self.form.target.shape, f"{name} of stage {number}", float)
        for name in ("center", "curvature", "point"):
            check_array(getattr(dual, name), (self.p,), f"{name} of stage {number}", float)
        check_array(dual.mean_margin, (), f"mean margin of stage {number}", float)
        require_claim((dual.curvature >= 0).all(), f"the curvature of stage {number} has an entry below 0")

    def check_stage(self, stage: ProofStage, value: float, number: int) -> float:
        """The lower bound of a stage; an error if it does not prove what the stage says.

        That of all solutions with f ≤ `value` may be for these alone.
        """
        if isinstance(stage.dual, LevelSetDual):
            base, scores = self._check_level_set(stage, stage.dual, value)
        else:
            quadratic = isinstance(stage.dual, QuadraticDual)
            base, scores = (self._check_quadratic if quadratic else self._check_slopes)(stage)
        bound = self._add(base, scores, stage.before.inside, stage.before.outside)
        is_proved = stage.bound <= bound + self.allow(value)
        require_claim(is_proved, f"the bound of stage {number} is too high by {stage.bound - bound:.3g}")
        inside, outside = stage.before.inside, stage.before.outside
        for j in np.flatnonzero(stage.after.inside & ~inside):
            without = self._add(base, scores, inside, outside | _unit(j, inside.size))
            require_claim(without > value, f"stage {number} does not prove that unit {j} is selected")
        for j in np.flatnonzero(stage.after.outside & ~outside):
            with_unit = self._add(base, scores, inside | _unit(j, inside.size), outside)
            require_claim(with_unit > value, f"stage {number} does not prove that unit {j} is not selected")
        return bound

    def _add(self, base: float, scores: Array, inside: Mask, outside: Mask) -> float:
        """base − the scores of the selected units and the largest ones of the others; ∞ if too many are selected."""
        budget = self.units.k - int(inside.sum())
        if budget < 0:
            return np.inf
        others = np.sort(scores[~inside & ~outside])[::-1][:budget]
        return base - float(scores[inside].sum() + others.sum())

    def _score(self, slopes: Array, ridge: Array, errors: Array | float = 0.0) -> Array:
        """What each unit takes off the bound at most, whatever the errors of its slopes are."""
        scores = np.maximum(self._score_exactly(slopes - errors, ridge), self._score_exactly(slopes + errors, ridge))
        sums: Array = np.bincount(self.number, weights=scores.astype(np.float64), minlength=self.units.count).astype(
            np.float64
        )
        return sums

    def _score_exactly(self, slopes: Array, ridge: Array) -> Array:
        """max over w of slope·w − ½·ridge·w² within the bounds, of each coordinate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.clip(np.where(slopes == 0, 0.0, slopes / ridge), self.lower, self.upper)
            scores = np.where(slopes == 0, 0.0, slopes * best - 0.5 * ridge * best * best)
        return np.where(np.isnan(scores) | (ridge < 0), np.inf, scores)

    def _check_slopes(self, stage: ProofStage) -> tuple[float, Array]:
        base, products = self._find_tangent(np.asarray(stage.dual))
        return base, self._score(products, np.full(self.number.size, self.form.alpha))

    def _find_tangent(self, dual: Array) -> tuple[float, Array]:
        """The tangent of the mean loss that slopes of the samples give."""
        slopes = dual[self.counted].astype(np.longdouble)
        weights = self.weights if slopes.ndim == 1 else self.weights[:, None]
        weighted = weights * slopes
        if self.form.fit_intercept:
            rest, sizes = weighted.sum(axis=0), np.abs(weighted).sum()
            require_claim(np.abs(rest).max() <= TOLERANCE * sizes, "the slopes do not sum to zero")
            if np.abs(rest).max() > CHECKED_ROUNDING * sizes:  # which an intercept of any size would be multiplied with
                slopes = slopes - rest / self.weights.sum()
                weighted = weights * slopes
        conjugates = find_conjugates(self.form.loss, np.asarray(slopes, dtype=np.float64), self.target)
        base = float((weighted * self.offset).sum() - self.weights @ conjugates)
        return base, -np.asarray(self.X.T @ weighted, dtype=np.float64).ravel()

    def _check_level_set(self, stage: ProofStage, dual: LevelSetDual, value: float) -> tuple[float, Array]:
        """The bound of all solutions with f ≤ `value`: no other claim of a certificate is about others."""
        inside, outside = stage.before.inside, stage.before.outside
        base, products = self._find_tangent(dual.slopes)
        ridge = np.full(self.number.size, self.form.alpha)
        lower = self._add(base, self._score(products, ridge), inside, outside)
        require_claim(np.isfinite(lower), "the tangent of a stage has no lower bound")
        counted, form = self.counted, self.form
        samples = (dual.slopes[counted], dual.moves[counted], dual.sample_curvature[counted])
        weights, kept = np.asarray(self.weights, dtype=np.float64), ~outside[self.number]
        X: Any = self.X
        data = LevelData(form.loss, X, weights, self.target, self.offset, form.fit_intercept, kept, *samples)
        excess = max(value - lower, 0.0) + LEVEL_ROUNDING * self.magnitude
        tangent = check_level_set(data, dual, excess)
        if isinstance(tangent, str):
            raise InvalidCertificateError(tangent)
        return base + tangent.base, self._score(products + tangent.slopes, ridge + tangent.curvature, tangent.errors)

    def _check_quadratic(self, stage: ProofStage) -> tuple[float, Array]:
        """The tangent of the form that is left when the selected features are projected out."""
        dual: Any = stage.dual
        target = (self.target - self.offset).astype(np.longdouble)
        if self.form.fit_intercept:
            target = target - self.weights @ target / self.weights.sum()
        root = np.sqrt(self.weights)[:, None]
        ridge_rows = np.sqrt(np.longdouble(self.form.alpha)) * np.eye(self.p, dtype=np.longdouble)
        is_out = stage.before.outside[self.number].reshape(self.p, -1).all(axis=1)
        kept = ~dual.eliminated & ~is_out
        selected = stage.before.inside[self.number].reshape(self.p, -1).all(axis=1)
        require_claim(bool((dual.eliminated <= selected).all()), "a feature is eliminated that is not selected")
        units = _units_of(self.number, np.repeat(dual.eliminated, self.outputs), self.units.count)
        whole = (units[self.number] == np.repeat(dual.eliminated, self.outputs)).all()
        require_claim(whole, "a unit is eliminated in part")
        padded = np.vstack([root * self.X, ridge_rows])
        right = np.vstack([root * target.reshape(len(target), -1), np.zeros((self.p, self.outputs))])
        left = np.vstack([root * self.X[:, kept], np.zeros((self.p, int(kept.sum())), dtype=np.longdouble)])
        basis, _ = np.linalg.qr(padded[:, dual.eliminated].astype(np.float64))
        left, right = (part - basis @ (basis.T @ part) for part in (left, right))
        left, right = (part - basis @ (basis.T @ part) for part in (left, right))
        matrix = left.T @ left
        proved = dual.curvature.copy()
        proved[kept] = self._find_curvature(matrix, dual, kept)
        point = dual.coefficients[kept].astype(np.longdouble)
        absorbed = proved[kept][:, None] * (dual.fraction == 1.0)
        product = dual.fraction * (matrix @ point) - absorbed * point
        full, errors = np.zeros((self.p, self.outputs)), np.zeros((self.p, self.outputs))
        full[kept] = left.T @ right - product
        # The sums of the sizes of all terms, by the Cauchy–Schwarz inequality.
        sizes = np.sqrt(np.square(left).sum(axis=0) + np.abs(absorbed[:, 0]))
        reach = np.sqrt(np.square(right).sum()) + float((sizes @ np.abs(point)).sum())
        rounding = LONG_EPS * (len(left) + self.p + 16.0)
        errors[kept] = (rounding * reach * sizes)[:, None]
        ridge = np.repeat(self.form.alpha + proved, self.outputs)
        base = 0.5 * float((right * right).sum() - (point * product).sum()) - float(rounding * reach * reach)
        scores = self._score(full.ravel(), ridge, errors.ravel())
        scores[units] = 0.0
        return base, scores

    def _find_curvature(self, matrix: Array, dual: QuadraticDual, kept: Mask) -> Array:
        """What is proved of the curvature of the kept features; an error where it is clearly less than moved."""
        matrix, curvature = np.asarray(matrix, dtype=np.float64), dual.curvature[kept]
        if not curvature.size:
            return curvature
        size = self.sizes[kept]  # tolerances are relative to the data, and not to what a certificate has
        if dual.fraction == 1.0:
            lowered, missing = lower_curvature(matrix, curvature, size)
            require_claim(missing <= TOLERANCE, "there is less curvature than the certificate moves")
            return lowered
        widest = max(int(np.bincount(column).max()) for column in self.number.reshape(self.p, -1)[kept].T)
        eliminated = _units_of(self.number, np.repeat(dual.eliminated, self.outputs), self.units.count)
        nonzero = widest * max(self.units.k - int(eliminated.sum()), 1)
        limit = (1.0 - dual.fraction) * bound_sparse_curvature(matrix, dual.scale[kept], nonzero)
        is_less = curvature <= limit + TOLERANCE * np.square(size)
        require_claim(bool(is_less.all()), "there is less sparse curvature than moved")
        return np.minimum(curvature, limit)


def _unit(index: Any, count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[index] = True
    return mask


def _units_of(number: IntArray, coordinates: Mask, count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[number[coordinates]] = True
    return mask
