"""The diagonal that is best moved from a quadratic form into the ridge.

The lower bound of the perspective relaxation is a concave function of the diagonal D that is moved, among those with
S − diag(D) positive semidefinite, and ½w_j²(1/z_j − 1) is a supergradient.

References
----------
X. Zheng, X. Sun and D. Li, *Improving the performance of MIQP solvers for quadratic programs with cardinality and
minimum threshold constraints*, INFORMS Journal on Computing 26 (2014), 690–703.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigvalsh, solve

from .._types import Array
from ..clock import read_clock
from ._gram_nodes import relax_node
from .moved_curvature import find_least_eigenvalue

__all__ = ["PerspectiveForm", "find_diagonal", "find_proved_diagonal", "prove_diagonal"]

#: Rounds, each of which relaxes the problem and takes a Newton step with a logarithmic barrier.
ROUNDS = 8
#: By how much the barrier is lowered in each round.
BARRIER_DECLINE = 0.3
#: The barrier is that of the matrix, whose diagonal is at most 1, with so much more on it: it is then definite.
REGULAR = 1e-8
#: This fraction of the mean of the supergradient is added to it, for the sake of features that no relaxation uses yet.
SPREAD = 0.02
#: What a first diagonal and a shortened step keep of what the constraints allow.
KEPT_STEP = 0.9
#: Steps are shortened by this factor until they are within the constraints, and so often at most.
SHORTENING, MAX_SHORTENINGS = 0.6, 15
#: Fractions of a diagonal that are tried, until a factorization proves one of them.
DIAGONAL_FRACTIONS = (1.0, 0.999, 0.99, 0.9)


class PerspectiveForm(NamedTuple):
    """½·constant − cᵀw + ½wᵀSw + ½Σ r_j w_j² with at most k nonzeros."""

    matrix: Array
    linear: Array
    constant: float
    ridge: Array
    k: int


def find_proved_diagonal(
    form: PerspectiveForm, start: Array, rounding: float, target: float, deadline: float
) -> tuple[Array, float] | None:
    """A diagonal with a large lower bound, and a number that λ_min of the form without it is proved not to be below.

    `rounding` bounds the spectral norm of the errors of the matrix and its factorization; for the rest see
    `find_diagonal`. None if there is no proof.
    """
    least = find_least_eigenvalue(form.matrix, rounding)
    return prove_diagonal(form.matrix, find_diagonal(form, start, least, target, deadline), rounding)


def find_diagonal(form: PerspectiveForm, start: Array, least: float, target: float, deadline: float) -> Array:
    """A diagonal with a large lower bound; that S − diag(D) is positive semidefinite is yet to be proved.

    `start` is where the first relaxation starts, `least` is λ_min(S) as far as it is known, no larger bound than
    `target` is wanted, and no round begins after the deadline.
    """
    regular = form.matrix + REGULAR * np.eye(len(form.matrix))
    best_bound, barrier, w = -np.inf, np.inf, start
    diagonal = best = _find_first(regular, least)
    for number in range(ROUNDS + 1):
        w, z, bound = _relax(form, diagonal, w, target)
        if bound > best_bound:
            best, best_bound = diagonal, bound
        if number == ROUNDS or best_bound >= target or read_clock() > deadline:
            break
        inverse = _invert(regular - np.diag(diagonal))
        if inverse is None:
            break
        slopes = 0.5 * np.square(w) * (1.0 / np.where(z > 0, z, 1.0) - 1.0)
        slopes += SPREAD * slopes.mean()
        first = float(slopes @ diagonal) / float(inverse.diagonal() @ diagonal)
        barrier = min(BARRIER_DECLINE * barrier, first)
        hessian = barrier * np.square(inverse)
        hessian.flat[:: len(diagonal) + 1] += barrier / np.square(diagonal) + 2.0 * slopes / (form.ridge + diagonal)
        right = slopes + barrier * (1.0 / diagonal - inverse.diagonal())
        try:
            step = solve(hessian, right, assume_a="pos", check_finite=False)
        except np.linalg.LinAlgError:
            break
        diagonal = _take_step(regular, diagonal, step)
    return best


def prove_diagonal(matrix: Array, diagonal: Array, rounding: float) -> tuple[Array, float] | None:
    """A diagonal near to one that was found, and a number that λ_min of the matrix without it is not below.

    `rounding` bounds the spectral norm of the errors of the matrix and its factorization. The number is a little below
    zero, so that also a singular matrix has a proof. None if there is none.
    """
    least = -4.0 * rounding
    for fraction in DIAGONAL_FRACTIONS:
        moved = fraction * diagonal - REGULAR
        shifted = matrix - np.diag(moved + least + 2.0 * rounding)
        if _is_definite(shifted):
            return moved, least
    return None


def _find_first(regular: Array, least: float) -> Array:
    """λ_min for all features, or a multiple of what each of them has beside all others, where that is more."""
    uniform = np.full(len(regular), KEPT_STEP * (least + REGULAR))
    inverse = _invert(regular)
    if inverse is None:
        return uniform
    own = 1.0 / inverse.diagonal()
    root = np.sqrt(own)
    last = len(own) - 1
    largest = eigvalsh(inverse * root * root[:, None], subset_by_index=[last, last], check_finite=False)[0]
    multiple: Array = KEPT_STEP / largest * own
    return multiple if np.median(multiple) > least else uniform


def _relax(form: PerspectiveForm, diagonal: Array, start: Array, target: float) -> tuple[Array, Array, float]:
    """The point, z and the bound of the relaxation with a diagonal that is moved."""
    count = len(diagonal)
    unlimited = np.full(count, np.inf)
    point, _, z, bound, _ = relax_node(
        form.matrix,
        form.linear,
        form.constant,
        1.0,
        diagonal,
        form.ridge + diagonal,
        -unlimited,
        unlimited,
        np.zeros(count, dtype=bool),
        form.k,
        start,
        float(np.abs(form.matrix).sum(axis=1).max()),
        target,
        False,
    )
    return point, z, bound


def _take_step(regular: Array, diagonal: Array, step: Array) -> Array:
    """The step, shortened until it is within the constraints; the same diagonal, if it never is."""
    for _ in range(MAX_SHORTENINGS):
        following: Array = diagonal + step
        if following.min() > 0 and _is_definite(regular - np.diag(following)):
            return following
        step = SHORTENING * step
    return diagonal


def _invert(matrix: Array) -> Array | None:
    """The inverse of a positive definite matrix; None if it is not."""
    try:
        factor = cho_factor(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    inverse: Array = cho_solve(factor, np.eye(len(matrix)), check_finite=False)
    return inverse


def _is_definite(matrix: Array) -> bool:
    try:
        cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True
