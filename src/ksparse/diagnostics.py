"""Checks of an objective's derivatives, with messages that say what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._types import Array, IntArray
from .objectives.base import NotFiniteError, Objective, TwiceDifferentiable, compute_hessian

__all__ = ["ObjectiveReport", "check_objective"]

#: Cube root of the machine epsilon: the step of central differences that balances rounding and truncation.
DIFFERENCE = float(np.finfo(float).eps) ** (1 / 3)


@dataclass(frozen=True)
class ObjectiveReport:
    """What `check_objective` found.

    Attributes
    ----------
    problems : list of str
        What is wrong, one sentence each; empty if all is well.
    gradient_error, hessian_error : float
        Largest difference from finite differences, relative to the largest entry; NaN where not checked.
    checked : int
        Number of coordinates that were checked.
    """

    problems: list[str] = field(default_factory=list)
    gradient_error: float = np.nan
    hessian_error: float = np.nan
    checked: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        if not self.ok:
            return "the objective has problems:\n" + "\n".join(f"- {problem}" for problem in self.problems)
        hessian = "no Hessian given" if np.isnan(self.hessian_error) else f"Hessian to {self.hessian_error:.1e}"
        return (
            f"the objective is consistent at {self.checked} coordinates: "
            f"gradient to {self.gradient_error:.1e}, {hessian}"
        )


def check_objective(
    objective: Objective, x: Any = None, *, tol: float = 1e-5, coordinates: int = 200
) -> ObjectiveReport:
    """Compare an objective's gradient and Hessian with finite differences, and say what is wrong.

    Parameters
    ----------
    objective : Objective
        The objective, such as a `Function` of your own.
    x : array-like, optional
        Where to check; by default a fixed pseudo-random point with entries of about ½, or near the objective's start
        if f is infinite there.
    tol : float, default=1e-5
        Largest difference allowed, relative to the largest entry.
    coordinates : int, default=200
        How many coordinates to check, if there are more.

    Returns
    -------
    ObjectiveReport
        ``print`` it, or look at ``report.ok`` and ``report.problems``.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.diagnostics import check_objective
    >>> from ksparse.objectives import Function
    >>> print(check_objective(Function(lambda x: np.sum(x**2), gradient=lambda x: x, shape=3)))
    the objective has problems:
    - the gradient is 0.5 times what it should be in every coordinate; multiply it by 2
    """
    given = x
    if x is None:
        x = 0.5 * np.random.default_rng(0).standard_normal(objective.shape)
    point_x = objective.check_point(x)
    try:
        value = objective.evaluate(point_x).value
        if given is None and not np.isfinite(value):  # where f has a domain, its start is within
            point_x = 1.5 * objective.start
            value = objective.evaluate(point_x).value
    except ValueError as error:
        return ObjectiveReport([str(error)])
    if not np.isfinite(value):
        return ObjectiveReport([f"f is {value} at the point of the check; pass an x inside its domain"])
    try:
        gradient = objective.evaluate(point_x).gradient
    except (ValueError, NotFiniteError) as error:
        return ObjectiveReport([str(error)])
    index = _sample_coordinates(objective.size, coordinates)
    numeric, doubt = _approximate_gradient(objective, point_x, index)
    problems, gradient_error = _compare_gradient(gradient.ravel()[index], numeric, doubt, index, tol)
    more, hessian_error = _check_hessian(objective, point_x, index, tol) if not problems else ([], np.nan)
    return ObjectiveReport(problems + more, gradient_error, hessian_error, len(index))


def _sample_coordinates(size: int, most: int) -> IntArray:
    """Up to `most` coordinates, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.intp)) if size else np.empty(0, np.intp)


def _move(x: Array, coordinate: int, by: float) -> Array:
    moved = x.copy()
    moved.flat[coordinate] += by
    return moved


def _approximate_gradient(objective: Objective, x: Array, index: IntArray) -> tuple[Array, Array]:
    """Central differences of f, and how much two step lengths disagree."""

    def differentiate(coordinate: int, step: float) -> float:
        ahead, behind = (objective.evaluate(_move(x, coordinate, sign * step)).value for sign in (1.0, -1.0))
        return (ahead - behind) / (2.0 * step)

    steps = DIFFERENCE * np.maximum(1.0, np.abs(x.ravel()[index]))
    fine = np.array([differentiate(j, step) for j, step in zip(index, steps, strict=True)])
    coarse = np.array([differentiate(j, 4.0 * step) for j, step in zip(index, steps, strict=True)])
    return fine, np.abs(fine - coarse)


def _compare_gradient(
    given: Array, numeric: Array, doubt: Array, index: IntArray, tol: float
) -> tuple[list[str], float]:
    scale = max(float(np.abs(numeric).max(initial=0.0)), float(np.abs(given).max(initial=0.0)), 1e-8)
    difference = np.abs(given - numeric)
    error = float(difference.max(initial=0.0)) / scale
    wrong = difference > tol * scale + doubt
    if not wrong.any():
        return [], error
    if wrong.all():
        factor = float(given @ numeric) / float(numeric @ numeric) if numeric.any() else np.nan
        if np.abs(given - factor * numeric).max() <= 100 * tol * scale and abs(factor) > tol:
            return [_describe_factor(factor)], error
    worst = np.argsort(-difference, kind="stable")[: min(3, int(wrong.sum()))]
    shown = "; ".join(f"coordinate {index[j]}: {given[j]:.6g}, should be {numeric[j]:.6g}" for j in worst)
    return [f"the gradient is wrong in {int(wrong.sum())} of {len(index)} coordinates checked ({shown})"], error


def _describe_factor(factor: float) -> str:
    if abs(factor + 1.0) < 1e-3:
        return "the gradient has the wrong sign in every coordinate; return the gradient of f, not of -f"
    return f"the gradient is {factor:.4g} times what it should be in every coordinate; multiply it by {1 / factor:.4g}"


def _check_hessian(objective: Objective, x: Array, index: IntArray, tol: float) -> tuple[list[str], float]:
    """Compare the Hessian with differences of the (correct) gradient."""
    if not isinstance(objective, TwiceDifferentiable):
        return [], np.nan
    if index.size < objective.size:
        # The Hessian of a few coordinates, the others being zero: all of it would not fit into memory.
        sampled = np.zeros(objective.shape, dtype=bool)
        sampled.flat[index] = True
        objective, x, index = objective.restrict(sampled), x[sampled], np.arange(index.size)
    try:
        hessian = compute_hessian(objective, objective.evaluate(x))
    except (ValueError, NotFiniteError) as error:
        return [str(error)], np.nan
    scale = max(float(np.abs(hessian).max(initial=0.0)), 1e-8)
    asymmetry = float(np.abs(hessian - hessian.T).max(initial=0.0))
    if asymmetry > tol * scale:
        return [f"the Hessian is not symmetric: it differs from its transpose by {asymmetry:.3g}"], np.nan
    columns, doubts = _approximate_hessian(objective, x, index)
    difference = np.abs(hessian[:, index] - columns)
    scale = max(scale, float(np.abs(columns).max(initial=0.0)))
    worst = float(difference.max(initial=0.0)) / scale
    if (difference <= 10 * tol * scale + doubts).all():
        return [], worst
    i, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
    return [
        f"the Hessian is wrong: entry ({i}, {index[j]}) is {hessian[i, index[j]]:.6g}, should be {columns[i, j]:.6g}"
    ], worst


def _approximate_hessian(objective: Objective, x: Array, index: IntArray) -> tuple[Array, Array]:
    """Central differences of the gradient, and how much two step lengths disagree."""

    def differentiate(coordinate: int, step: float) -> Array:
        ahead, behind = (objective.evaluate(_move(x, coordinate, sign * step)).gradient.ravel() for sign in (1.0, -1.0))
        return (ahead - behind) / (2.0 * step)

    steps = DIFFERENCE * np.maximum(1.0, np.abs(x.ravel()[index]))
    fine = np.array([differentiate(j, step) for j, step in zip(index, steps, strict=True)]).T
    coarse = np.array([differentiate(j, 4.0 * step) for j, step in zip(index, steps, strict=True)]).T
    return fine, np.abs(fine - coarse)
