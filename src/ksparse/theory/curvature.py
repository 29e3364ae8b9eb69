"""m_s and M_s of an objective: proven where its form allows, and sampled from its Hessians otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._types import Array, Mask
from ..objectives import LogDet, Objective
from ..objectives.base import NotFiniteError, compute_hessian, describe_objective, is_quadratic, require_objective
from ..objectives.columns import LinearModel
from ..objectives.protocols import (
    HasLipschitzConstant,
    NoLipschitzConstantError,
    find_labels,
    lipschitz_constant,
    working_form,
)
from ..sparsity import Units
from ..validation import check_number_of_units
from .eigenvalues import Bracket, RestrictedEigenvalues, bracket_restricted_eigenvalues
from .gradients import bind_units

__all__ = ["bracket_curvature", "sample_curvature"]

#: Matrices of more rows are not formed: bounds of their eigenvalues come from products and diagonals.
MAX_COLUMNS = 1000
#: Supports that are sampled at each point.
N_SUPPORTS = 50
SAMPLED = "the worst Hessian sampled"
NOTHING_KNOWN = "nothing is known"
NO_BOUND = "no bound of the curvature of the loss is known"
OF_INTERCEPT = "the intercept"


def bracket_curvature(
    objective: Objective, s: int, *, points: Sequence[Any] = (), max_supports: int = 200_000
) -> RestrictedEigenvalues:
    """m_s and M_s of an objective (Definition 2), on supports of s units and the free coordinates.

    Least squares, other linear models and quadratics: from the eigenvalues of blocks of XᵀX/n or A, with a bound of the
    curvature of the loss. `LogDet`: from the bounds of the eigenvalues (Proposition 3). For other functions, and where
    the bounds leave a gap, Hessians are sampled at the start and at `points`: m_s is at most, and M_s at least, what is
    seen there. With an intercept, the features are centred, as solvers do.

    Parameters
    ----------
    objective : Objective
        f.
    s : int
        Number of units.
    points : sequence of array-like, default=()
        Where to sample Hessians too, such as a solution; of at most s units.
    max_supports : int, default=200_000
        Up to so many supports are enumerated.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import Logistic
    >>> from ksparse.theory import bracket_curvature
    >>> X = np.random.default_rng(0).standard_normal((100, 8))
    >>> found = bracket_curvature(Logistic(X, X[:, 0] > 0, alpha=0.1), s=4)
    >>> found.smallest.low, round(found.largest.high, 3), found.is_exact
    (0.1, 0.475, True)
    """
    require_objective(objective)
    s = check_number_of_units(s)
    form = working_form(objective)
    if form.unit != 1.0:
        raise ValueError("the squares of X overflow or underflow; multiply X by a constant for its constants of theory")
    known = _bracket_by_form(form.objective, s, max_supports)
    if known.is_exact:
        return known
    places = [form.to_working(objective.check_point(point, "points")) for point in (objective.start, *points)]
    seen = sample_curvature(form.objective, s, places)
    return RestrictedEigenvalues(s, _lower_top(known.smallest, seen[0]), _raise_bottom(known.largest, seen[1]))


def sample_curvature(
    objective: Objective, s: int, points: Sequence[Any], *, n_supports: int = N_SUPPORTS, random_state: int = 0
) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of Hessian blocks at some points, on supports of s units.

    Supports contain that of the point; one has the units with the largest gradient, the others are random. Points where
    f has no Hessian are left out. The smallest is an upper bound of m_s, the largest a lower bound of M_s.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import Function
    >>> from ksparse.theory import sample_curvature
    >>> f = Function(lambda x: np.sum(x**4), gradient=lambda x: 4 * x**3, hessian=lambda x: np.diag(12 * x**2), shape=5)
    >>> sample_curvature(f, 2, [[1.0, 0, 0, 0, 0]])
    (0.0, 12.0)
    """
    require_objective(objective)
    units = bind_units(objective, s)
    rng = np.random.default_rng(random_state)
    smallest, largest = np.inf, -np.inf
    for point in points:
        x = objective.check_point(point, "points")
        for support in _choose_supports(objective, units, x, n_supports, rng):
            eigenvalues = _find_eigenvalues(objective, x, support)
            if eigenvalues.size:
                smallest, largest = min(smallest, float(eigenvalues[0])), max(largest, float(eigenvalues[-1]))
    return smallest, largest


def _choose_supports(
    objective: Objective, units: Units, x: Array, n_supports: int, rng: np.random.Generator
) -> list[Mask]:
    inside = units.find_units((x != 0) & units.constrained)
    if inside.sum() > units.k:
        raise ValueError(f"a point has {int(inside.sum())} nonzero units, more than the supports of {units.k}")
    scores = [rng.random(units.count) for _ in range(n_supports)]
    start = objective.evaluate(x)
    if np.isfinite(start.value):
        scores.insert(0, units.mean_squares(start.gradient))
    chosen = {units.to_mask(units.select_units(np.where(inside, np.inf, score))).tobytes() for score in scores}
    return [np.frombuffer(mask, dtype=bool).reshape(x.shape) for mask in sorted(chosen)]


def _find_eigenvalues(objective: Objective, x: Array, support: Mask) -> Array:
    """Eigenvalues of the Hessian on a support, in order; none where f has no finite Hessian."""
    restricted = objective.restrict(support)
    try:
        point = restricted.evaluate(x[support].reshape(restricted.shape))
        hessian = compute_hessian(restricted, point) if np.isfinite(point.value) else np.empty((0, 0))
    except NotFiniteError:
        return np.empty(0)
    return np.asarray(np.linalg.eigvalsh(hessian)) if np.isfinite(hessian).all() else np.empty(0)


def _bracket_by_form(objective: Objective, s: int, max_supports: int) -> RestrictedEigenvalues:
    """What follows from the form of f; infinite where nothing does."""
    if isinstance(objective, LinearModel):
        return _bracket_linear_model(objective, s, max_supports)
    if _is_quadratic_of_entries(objective) and objective.size <= MAX_COLUMNS:
        hessian = compute_hessian(objective, objective.evaluate(objective.start))
        return bracket_restricted_eigenvalues(hessian, s, max_supports=max_supports)
    if isinstance(objective, LogDet):
        return _bracket_log_det(objective, s)
    low, high = (
        Bracket(-np.inf, np.inf, NOTHING_KNOWN, NOTHING_KNOWN),
        Bracket(-np.inf, np.inf, NOTHING_KNOWN, NOTHING_KNOWN),
    )
    return RestrictedEigenvalues(s, low, _bound_by_lipschitz(objective, high))


def _is_quadratic_of_entries(objective: Objective) -> bool:
    """Whether f is a quadratic of a vector whose entries are the units."""
    is_vector = len(objective.shape) == 1 and objective.free is None and find_labels(objective) is None
    return is_quadratic(objective) and is_vector


def _bound_by_lipschitz(objective: Objective, largest: Bracket) -> Bracket:
    if not isinstance(objective, HasLipschitzConstant):
        return largest
    try:
        bound = lipschitz_constant(objective)
    except NoLipschitzConstantError:
        return largest
    if bound >= largest.high:
        return largest
    return replace(largest, high=bound, high_source="the largest eigenvalue of all features (Lanczos)")


def _bracket_log_det(objective: LogDet, s: int) -> RestrictedEigenvalues:
    """The Hessian Ω⁻¹ ⊗ Ω⁻¹ has eigenvalues from β⁻² to α⁻², which it has at Ω = βI and αI."""
    lower, upper = objective.bounds
    smallest, largest = upper**-2.0 if upper < np.inf else 0.0, lower**-2.0 if lower > 0 else np.inf
    source = "the bounds of the eigenvalues of Ω (Proposition 3)"
    return RestrictedEigenvalues(
        s, Bracket(smallest, smallest, source, source), Bracket(largest, largest, source, source)
    )


def _bracket_linear_model(model: LinearModel, s: int, max_supports: int) -> RestrictedEigenvalues:
    bound, alpha = model.curvature_bounds.of_samples, model.alpha
    width = model.shape[0] - model.fit_intercept
    if width <= MAX_COLUMNS:
        gram = bracket_restricted_eigenvalues(model.gram(), s, max_supports=max_supports) if min(s, width) else None
        if gram is None:  # an intercept alone
            gram = RestrictedEigenvalues(s, Bracket(np.inf, np.inf, "", ""), Bracket(-np.inf, -np.inf, "", ""))
    else:
        trace = float(np.sort(model.column_squares())[-s:].sum())
        gram = RestrictedEigenvalues(
            s,
            Bracket(0.0, np.inf, "squares are not negative", NOTHING_KNOWN),
            Bracket(0.0, trace, NOTHING_KNOWN, "the s largest sums of squares"),
        )
    gram = replace(gram, smallest=replace(gram.smallest, low=max(gram.smallest.low, 0.0)))  # but for rounding
    if model.loss.is_quadratic:
        smallest, largest = _scale(gram.smallest, 1.0, alpha), _scale(gram.largest, 1.0, alpha)
        if model.fit_intercept:
            smallest, largest = _include_smallest(smallest, 1.0), _include_largest(largest, 1.0)
    else:
        smallest = _bound_smallest(model)
        largest = _scale(gram.largest, bound, alpha) if np.isfinite(bound) else _bound_by_ranges(model, s)
        if model.fit_intercept:
            largest = _include_largest(largest, bound)
        if not model.loss.is_steepest_at_zero or model.has_offset:
            largest = replace(largest, low=-np.inf, low_source=NOTHING_KNOWN)
    if width > MAX_COLUMNS or bound != model.loss.curvature_bound:  # bounds that differ among samples
        largest = _bound_by_lipschitz(model, largest)
    return RestrictedEigenvalues(s, smallest, largest)


def _bound_by_ranges(model: LinearModel, s: int) -> Bracket:
    """M_s of a loss that is a sum of variances of margins; infinite for others."""
    bound = model.curvature_bounds.bound_by_ranges(s=s)
    source = "the ranges of the margins" if np.isfinite(bound) else NO_BOUND
    return Bracket(-np.inf, bound + model.alpha, NOTHING_KNOWN, source)


def _bound_smallest(model: LinearModel) -> Bracket:
    """m_s of a loss that is not quadratic: that of the ridge, which an intercept does not have."""
    if not model.loss.is_convex:
        return Bracket(-np.inf, np.inf, f"{describe_objective(model)} is not convex", NOTHING_KNOWN)
    floor = 0.0 if model.fit_intercept else model.alpha
    source = "the ridge, as the loss is convex" if floor else "the loss is convex, and there is no ridge"
    if model.fit_intercept:
        source = "the loss is convex, and an intercept has no ridge"
    if model.loss.curvature_vanishes:
        reason = "an intercept has no ridge" if model.fit_intercept else "the ridge" if floor else "there is no ridge"
        return Bracket(floor, floor, source, f"{reason}, and the curvature of the loss vanishes far from zero")
    return Bracket(floor, np.inf, source, NOTHING_KNOWN)


def _scale(bracket: Bracket, factor: float, shift: float) -> Bracket:
    return replace(bracket, low=factor * bracket.low + shift, high=factor * bracket.high + shift)


def _include_smallest(bracket: Bracket, value: float) -> Bracket:
    """The smaller of a number in a bracket and a value, that of the intercept."""
    return Bracket(
        min(bracket.low, value),
        min(bracket.high, value),
        OF_INTERCEPT if value < bracket.low else bracket.low_source,
        OF_INTERCEPT if value < bracket.high else bracket.high_source,
    )


def _include_largest(bracket: Bracket, value: float) -> Bracket:
    mirrored = _include_smallest(_mirror(bracket), -value)
    return _mirror(mirrored)


def _mirror(bracket: Bracket) -> Bracket:
    return Bracket(-bracket.high, -bracket.low, bracket.high_source, bracket.low_source)


def _lower_top(bracket: Bracket, value: float) -> Bracket:
    if not value < bracket.high:
        return bracket
    return replace(bracket, high=max(value, bracket.low), high_source=SAMPLED)


def _raise_bottom(bracket: Bracket, value: float) -> Bracket:
    return _mirror(_lower_top(_mirror(bracket), -value))
