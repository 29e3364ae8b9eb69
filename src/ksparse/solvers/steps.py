"""Step sizes of S1, z = x − η·∇f(x), each scalar or scaled by a per-coordinate curvature D.

A scaled step is z = x − η·D⁻¹∇f(x), with entries ranked by |z_j|·√D_j: the plain method after the change of
variables u = √D·x, so that the units of a feature do not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .._types import Array, Mask
from ..objectives.base import curvature_along
from ..objectives.protocols import lipschitz_constant
from ..theory import ConditionC
from ..validation import check_positive_number
from .problem import Iterate, Problem

__all__ = ["Backtracking", "BarzilaiBorwein", "Constant", "Lipschitz", "Normalized", "Step", "StepRule", "Theory"]


class Step(NamedTuple):
    """A step size, and the metric D of a scaled step."""

    size: float
    metric: Array | None = None

    def take(self, x: Array, gradient: Array) -> Array:
        """z = x − η·D⁻¹g."""
        return x - self.size * (gradient if self.metric is None else gradient / self.metric)


@dataclass(frozen=True)
class StepRule(ABC):
    """How the step size is chosen.

    Parameters
    ----------
    scaled : bool, default=False
        Divide the gradient by the objective's per-coordinate curvature.
    """

    scaled: bool = field(default=False, kw_only=True)

    @abstractmethod
    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        """The first step size to try."""

    def compute_metric(self, problem: Problem, current: Iterate) -> Array | None:
        """Curvature at the current point, for scaled steps."""
        return current.point.curvature if self.scaled else None

    def accepts(self, problem: Problem, current: Iterate, trial: Iterate, step: Step) -> bool:
        """Whether the iterate that a step led to is good enough."""
        return True

    def shrink(self, step: Step) -> Step | None:
        """The step to try after one that was not accepted; None to give up."""
        return None


@dataclass(frozen=True)
class Constant(StepRule):
    """The same η in every iteration, as in the paper.

    Parameters
    ----------
    value : float, default=1.0
        The step size η.
    scaled : bool, default=False
        See `StepRule`.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.Constant(0.2))
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        check_positive_number(self.value, "the step size")

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        return self.value if self.scaled else self.value / problem.form.unit / problem.form.unit


@dataclass(frozen=True)
class _FixedMetric(StepRule):
    """A rule whose constant belongs to one metric: the curvature of the first point, kept for the run."""

    def compute_metric(self, problem: Problem, current: Iterate) -> Array | None:
        return problem.compute_once("metric", lambda: current.point.curvature) if self.scaled else None


@dataclass(frozen=True)
class Lipschitz(_FixedMetric):
    """η = factor / L, with L the Lipschitz constant of ∇f, computed once (some passes over the data).

    Parameters
    ----------
    factor : float, default=1.0
        Multiple of 1/L.
    scaled : bool, default=False
        L is then that of the gradient in the metric of the first point's curvature, which is kept.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.Lipschitz(0.5))
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        check_positive_number(self.factor, "factor")

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        return self.factor / problem.compute_once("lipschitz", lambda: lipschitz_constant(problem.objective, metric))


@dataclass(frozen=True)
class Theory(_FixedMetric):
    """η = fraction · ζ/(1 + ρ): with fraction < 1, Theorem 1 guarantees descent and finite convergence.

    Parameters
    ----------
    condition : ConditionC
        The constants ζ and ρ of the paper's Condition C(2k, ζ, ρ), see `ksparse.theory`.
    fraction : float, default=0.99
        Fraction of the bound.
    scaled : bool, default=False
        The condition is then that of f as a function of √D·x, with D the curvature at the first point, which is kept.

    Examples
    --------
    >>> import ksparse
    >>> condition = ksparse.theory.ConditionC.from_hessian(0.9, 1.1)
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.Theory(condition))
    """

    condition: ConditionC
    fraction: float = 0.99

    def __post_init__(self) -> None:
        if not isinstance(self.condition, ConditionC):
            raise TypeError(f"condition must be a ksparse.theory.ConditionC, got {self.condition!r}")
        check_positive_number(self.fraction, "fraction")

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        size = self.fraction * self.condition.step_limit
        return size if self.scaled else size / problem.form.unit / problem.form.unit


@dataclass(frozen=True)
class Normalized(StepRule):
    """The step that minimizes f's quadratic model along the gradient on the support.

    Blumensath and Davies, Normalized Iterative Hard Thresholding, IEEE J. Sel. Top. Signal Process. 4 (2010).
    ``η = ‖g_F‖² / g_Fᵀ∇²f g_F``. If the support changes, the step is shortened until
    ``η ≤ (1 − c)·‖d‖² / dᵀ∇²f d`` for the move d, which keeps f from rising on least squares.

    Parameters
    ----------
    c : float, default=0.01
        Safety margin, 0 < c < 1.
    kappa : float, default=2.0
        A step that is too long is divided by kappa·(1 − c); greater than 1/(1 − c).
    scaled : bool, default=False
        See `StepRule`.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.Normalized())
    """

    c: float = 0.01
    kappa: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.c < 1:
            raise ValueError(f"c must lie between 0 and 1, got {self.c!r}")
        if self.kappa * (1 - self.c) <= 1:
            raise ValueError(f"kappa must be greater than 1/(1 - c) = {1 / (1 - self.c):.4g}, got {self.kappa!r}")

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        return compute_normalized_size(problem, current, metric)

    def accepts(self, problem: Problem, current: Iterate, trial: Iterate, step: Step) -> bool:
        if trial.support is None or np.array_equal(trial.support, choose_step_support(problem, current, step.metric)):
            return True
        z = problem.units.clip(step.take(current.point.x, current.point.gradient))
        move = np.where(trial.support, z, 0.0) - current.point.x
        curvature = curvature_along(current.point, move)
        return step.size * curvature <= (1.0 - self.c) * _squared_norm(move, step.metric)

    def shrink(self, step: Step) -> Step | None:
        return step._replace(size=step.size / (self.kappa * (1.0 - self.c)))


@dataclass(frozen=True)
class BarzilaiBorwein(StepRule):
    """η = ‖s‖² / sᵀy, with s the last change of x and y that of the gradient: a secant estimate of 1/curvature.

    Barzilai and Borwein, Two-Point Step Size Gradient Methods, IMA J. Numer. Anal. 8 (1988). The first step, and steps
    where f was not convex along s, are `Normalized`'s.

    Parameters
    ----------
    scaled : bool, default=False
        See `StepRule`.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.BarzilaiBorwein())
    """

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        if previous is not None:
            moved = current.point.x - previous.point.x
            change = float(np.sum(moved * (current.point.gradient - previous.point.gradient)))
            squared = _squared_norm(moved, metric)
            # A change of x that is only rounding says nothing about curvature.
            real = squared > 1e-20 * _squared_norm(current.point.x, metric)
            if real and change > np.finfo(float).eps * squared:
                return squared / change
        return compute_normalized_size(problem, current, metric)


@dataclass(frozen=True)
class Backtracking(StepRule):
    """Start from a long step, and cut_text it until f falls after S3.

    f then never rises, so that supports cannot repeat.

    Parameters
    ----------
    initial : float, default=16.0
        First step, as a multiple of the natural one: 1 for scaled steps, `Normalized`'s for scalar ones.
    shrinkage : float, default=0.5
        Factor of a step that was not accepted.
    scaled : bool, default=False
        See `StepRule`.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.GraHTP(step=ksparse.solvers.Backtracking(scaled=True))
    """

    initial: float = 16.0
    shrinkage: float = 0.5

    def __post_init__(self) -> None:
        check_positive_number(self.initial, "initial")
        if not 0 < self.shrinkage < 1:
            raise ValueError(f"shrinkage must lie between 0 and 1, got {self.shrinkage!r}")

    def choose_size(self, problem: Problem, current: Iterate, previous: Iterate | None, metric: Array | None) -> float:
        return self.initial * (1.0 if self.scaled else compute_normalized_size(problem, current, metric))

    def accepts(self, problem: Problem, current: Iterate, trial: Iterate, step: Step) -> bool:
        return trial.point.value < current.point.value

    def shrink(self, step: Step) -> Step | None:
        return step._replace(size=step.size * self.shrinkage)


def choose_step_support(problem: Problem, current: Iterate, metric: Array | None) -> Mask:
    """The support on which a normalized step is optimal: the current one, or else the top-k of the gradient."""
    gradient = current.point.gradient
    move = gradient if metric is None else gradient / metric
    steepest = problem.units.select(move, metric)
    if current.support is None:
        return steepest
    # After exact debiasing the gradient on the support is rounding error: then the entering entries decide.
    on_support = _squared_norm(np.where(current.support, move, 0.0), metric)
    return current.support if on_support > 1e-12 * _squared_norm(np.where(steepest, move, 0.0), metric) else steepest


def compute_normalized_size(problem: Problem, current: Iterate, metric: Array | None) -> float:
    """‖d‖²_D / dᵀ∇²f d for the scaled gradient d on `choose_step_support`."""
    gradient = current.point.gradient
    move = gradient if metric is None else gradient / metric
    direction = np.where(choose_step_support(problem, current, metric), move, 0.0)
    curvature = curvature_along(current.point, direction)
    return _squared_norm(direction, metric) / curvature if curvature > 0 else 1.0


def _squared_norm(direction: Array, metric: Array | None) -> float:
    squares = np.square(direction)
    return float(np.sum(squares if metric is None else squares * metric))
