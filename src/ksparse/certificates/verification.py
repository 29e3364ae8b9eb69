"""An independent check of certificates, from the data, the dual points and the curvature alone.

Nothing of the code that makes certificates is used: products are sums of long doubles, conjugates are found by
bisection of the loss's slope, eliminations are projections by a QR factorization, and curvature is checked by
eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array, IntArray, Mask
from ..objectives import LinearObjective, Loss
from ..objectives.margin_form import MarginForm
from ..sparsity import Sparsity, Units, make_set
from .certificate import Certificate, ProofStage
from .gram_form import QuadraticDual

__all__ = ["InvalidCertificateError", "verify"]

#: Two computations of a bound may differ by this fraction of the numbers in it.
TOLERANCE = 1e-9
#: Doublings and halvings when a margin is looked for.
BISECTIONS = 200
#: The largest margin that is tried; the loss of larger ones may overflow.
LARGEST_MARGIN = 700.0


class InvalidCertificateError(ValueError):
    """A certificate does not prove what it says."""


def verify(certificate: Certificate, objective: LinearObjective, sparsity: Sparsity | None = None) -> float:
    """Check a certificate of a linear model by other code than that which made it.

    The lower bound of each stage is computed again from its dual point, and so is what it proves about the units.

    Parameters
    ----------
    certificate : Certificate
        What to check.
    objective : LinearObjective
        f, bound to its data.
    sparsity : Sparsity, optional
        The sparsity set, if it was not an integer k.

    Returns
    -------
    float
        The lower bound as computed here; that of the certificate is not above it, but for rounding.

    Raises
    ------
    InvalidCertificateError
        If the certificate does not prove what it says; the message tells what is wrong.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((100, 20))
    >>> f = ksparse.objectives.Logistic(X, X[:, 5] > X[:, 2], alpha=0.1)
    >>> certificate = ksparse.minimize(f, k=2).certificate()
    >>> bool(abs(ksparse.certificates.verify(certificate, f) / certificate.lower_bound - 1) < 1e-9)
    True
    """
    chosen = make_set(objective.unit_kind, certificate.k) if sparsity is None else sparsity
    units = chosen.bind(objective.shape, objective.free)
    form = objective.margin_form()
    if form is None:
        raise InvalidCertificateError(f"{objective!r} is not a linear model whose loss is a sum over samples")
    checker = _Checker(form, units)
    inside, outside = units.always.copy(), np.zeros(units.count, dtype=bool)
    lower = checker.least
    for number, stage in enumerate(certificate.stages):
        _require(
            (stage.before.inside <= inside).all() and (stage.before.outside <= outside).all(),
            f"stage {number} supposes more about the units than was proved",
        )
        bound = checker.check_stage(stage, certificate.value, number)
        lower = max(lower, min(bound, certificate.value))
        inside, outside = stage.after.inside, stage.after.outside
    slack = TOLERANCE * checker.size
    _require(certificate.lower_bound <= lower + slack, f"only {lower:.12g} is proved as a lower bound")
    proved = ((certificate.must_contain, inside, "in"), (certificate.cannot_contain, outside, "not in"))
    for names, mask, what in proved:
        _require(np.isin(names, units.names[mask]).all(), f"some units are not proved to be {what} each solution")
    return lower


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise InvalidCertificateError(problem)


class _Checker:
    """The data of a problem, in long doubles."""

    def __init__(self, form: MarginForm, units: Units) -> None:
        counted = form.weights > 0
        self.form, self.units, self.counted = form, units, counted
        self.X = form.collect()[counted].astype(np.longdouble)
        self.weights = form.weights[counted].astype(np.longdouble)
        self.target = form.target[counted]
        self.offset = np.zeros(self.target.shape) if form.offset is None else form.offset[counted]
        if form.fit_intercept:
            self.X = self.X - self.weights @ self.X / self.weights.sum()
        self.p, self.outputs = self.X.shape[1], int(np.prod(form.shape[1:], dtype=int))
        self.number = units.number.reshape(-1, self.outputs)[: self.p].ravel()
        unlimited = np.full(units.number.shape, np.inf)
        self.lower = (-unlimited if units.lower is None else units.lower).reshape(-1, self.outputs)[: self.p].ravel()
        self.upper = (unlimited if units.upper is None else units.upper).reshape(-1, self.outputs)[: self.p].ravel()
        lowest = np.broadcast_to(form.loss.find_lowest(self.target), len(self.weights))
        self.least = float(self.weights @ lowest)
        start = form.loss.value(np.zeros(self.target.shape) + self.offset, self.target)
        self.size = float(self.weights @ np.abs(start)) + abs(self.least)

    def check_stage(self, stage: ProofStage, value: float, number: int) -> float:
        """The lower bound of a stage; an error if it does not prove what the stage says."""
        quadratic = isinstance(stage.dual, QuadraticDual)
        base, scores = (self._check_quadratic if quadratic else self._check_slopes)(stage)
        bound = self._add(base, scores, stage.before.inside, stage.before.outside)
        short = stage.bound - bound
        _require(short <= TOLERANCE * self.size, f"the bound of stage {number} is too high by {short:.3g}")
        inside, outside = stage.before.inside, stage.before.outside
        for j in np.flatnonzero(stage.after.inside & ~inside):
            without = self._add(base, scores, inside, outside | _unit(j, inside.size))
            _require(without > value, f"stage {number} does not prove that unit {j} is selected")
        for j in np.flatnonzero(stage.after.outside & ~outside):
            with_unit = self._add(base, scores, inside | _unit(j, inside.size), outside)
            _require(with_unit > value, f"stage {number} does not prove that unit {j} is not selected")
        return bound

    def _add(self, base: float, scores: Array, inside: Mask, outside: Mask) -> float:
        """base − the scores of the selected units and the largest ones of the others; ∞ if too many are selected."""
        budget = self.units.k - int(inside.sum())
        if budget < 0:
            return np.inf
        others = np.sort(scores[~inside & ~outside])[::-1][:budget]
        return base - float(scores[inside].sum() + others.sum())

    def _score(self, slopes: Array, ridge: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.clip(np.where(slopes == 0, 0.0, slopes / ridge), self.lower, self.upper)
            scores = np.where(slopes == 0, 0.0, slopes * best - 0.5 * ridge * best * best)
        scores = np.where(np.isnan(scores), np.inf, scores)
        sums: Array = np.bincount(self.number, weights=scores.astype(np.float64), minlength=self.units.count).astype(
            np.float64
        )
        return sums

    def _check_slopes(self, stage: ProofStage) -> tuple[float, Array]:
        slopes = np.asarray(stage.dual)[self.counted].astype(np.longdouble)
        weights = self.weights if slopes.ndim == 1 else self.weights[:, None]
        weighted = weights * slopes
        if self.form.fit_intercept:
            rest = np.abs(weighted.sum(axis=0)).max()
            _require(rest <= TOLERANCE * np.abs(weighted).sum(), "the slopes do not sum to zero")
        conjugates = find_conjugates(self.form.loss, np.asarray(slopes, dtype=np.float64), self.target)
        base = float((weighted * self.offset).sum() - self.weights @ conjugates)
        ridge = np.full(self.number.size, self.form.alpha)
        return base, self._score(-np.asarray(self.X.T @ weighted, dtype=np.float64).ravel(), ridge)

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
        _require(bool((dual.eliminated <= selected).all()), "a feature is eliminated that is not selected")
        padded = np.vstack([root * self.X, ridge_rows])
        right = np.vstack([root * target.reshape(len(target), -1), np.zeros((self.p, self.outputs))])
        left = np.vstack([root * self.X[:, kept], np.zeros((self.p, int(kept.sum())), dtype=np.longdouble)])
        basis, _ = np.linalg.qr(padded[:, dual.eliminated].astype(np.float64))
        left, right = (part - basis @ (basis.T @ part) for part in (left, right))
        left, right = (part - basis @ (basis.T @ part) for part in (left, right))
        matrix = left.T @ left
        self._check_curvature(matrix, dual, kept)
        point = dual.coefficients[kept]
        absorbed = dual.curvature[kept][:, None] * (dual.fraction == 1.0)
        product = dual.fraction * (matrix @ point) - absorbed * point
        full = np.zeros((self.p, self.outputs))
        full[kept] = left.T @ right - product
        ridge = np.repeat(self.form.alpha + dual.curvature, self.outputs)
        base = 0.5 * float((right * right).sum() - (point * product).sum())
        scores = self._score(full.ravel(), ridge)
        scores[_units_of(self.number, np.repeat(dual.eliminated, self.outputs), self.units.count)] = 0.0
        return base, scores

    def _check_curvature(self, matrix: Array, dual: QuadraticDual, kept: Mask) -> None:
        matrix, curvature = np.asarray(matrix, dtype=np.float64), dual.curvature[kept]
        if not curvature.size:
            return
        scale = dual.scale[kept]  # the proof holds for any; tolerances are relative to it
        scaled = matrix / np.multiply.outer(scale, scale)
        if dual.fraction == 1.0:
            least = np.linalg.eigvalsh(scaled - np.diag(curvature / scale**2))[0]
            _require(bool(least >= -TOLERANCE), "there is less curvature than the certificate moves")
            return
        widest = max(int(np.bincount(column).max()) for column in self.number.reshape(self.p, -1)[kept].T)
        eliminated = _units_of(self.number, np.repeat(dual.eliminated, self.outputs), self.units.count)
        nonzero = widest * max(self.units.k - int(eliminated.sum()), 1)
        others = np.sort(np.abs(scaled - np.diag(scaled.diagonal())), axis=1)[:, ::-1][:, : max(nonzero - 1, 0)]
        limit = (1.0 - dual.fraction) * (scaled.diagonal() - others.sum(axis=1))
        _require(bool((curvature / scale**2 <= limit + TOLERANCE).all()), "there is less sparse curvature than moved")


def find_conjugates(loss: Loss, slopes: Array, target: Array) -> Array:
    """ℓ*(a) = am − ℓ(m) at the margin m where ℓ has the slope a, or in the limit: by bisection."""
    if loss.couples_outputs:
        probabilities = slopes + target
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(probabilities > 0, probabilities * np.log(probabilities), 0.0).sum(axis=1)
    low, high = np.full(slopes.shape, -LARGEST_MARGIN), np.full(slopes.shape, LARGEST_MARGIN)
    if loss.of_residuals:
        low, high = target + 1e3 * low * (1 + np.abs(slopes)), target + 1e3 * high * (1 + np.abs(slopes))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        is_low = loss.slope(middle, target) < slopes
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    margins = 0.5 * (low + high)
    products = slopes * margins
    return (products if products.ndim == 1 else products.sum(axis=1)) - loss.value(margins, target)


def _unit(index: Any, count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[index] = True
    return mask


def _units_of(number: IntArray, coordinates: Mask, count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[number[coordinates]] = True
    return mask
