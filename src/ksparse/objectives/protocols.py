"""What an objective may know beyond `Objective`: it inherits what it implements, and solvers test for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from .._types import Array, IntArray, Mask
from .base import Objective, Point, describe_objective, value_at_zero

__all__ = [
    "DetectsUnboundedness",
    "EvaluatesTogether",
    "HasCrossHessian",
    "HasGroups",
    "HasHeavyState",
    "HasLipschitzConstant",
    "HasMajorizer",
    "HasPenalty",
    "HasSwapScores",
    "HasWorkingForm",
    "NoLipschitzConstantError",
    "QuadraticModel",
    "WorkingForm",
    "evaluate_each",
    "find_labels",
    "is_unbounded_below",
    "largest_eigenvalue",
    "lipschitz_constant",
    "working_form",
]


#: Relative tolerance of Lanczos, which underestimates the largest eigenvalue by no more.
LANCZOS_TOLERANCE = 1e-3


class NoLipschitzConstantError(ValueError):
    """The gradient of the objective has no (known) global Lipschitz constant."""


class HasLipschitzConstant(ABC):
    """An objective whose gradient has a known Lipschitz constant."""

    @abstractmethod
    def lipschitz(self, metric: Array | None = None) -> float:
        """Lipschitz constant of the gradient, in the norm ‖d‖² = Σ metric_j d_j² (default: Euclidean)."""


class DetectsUnboundedness(ABC):
    """An objective that knows when a point proves that f has no minimum."""

    @abstractmethod
    def is_unbounded_below(self, point: Point) -> bool:
        """Whether this point proves that f is unbounded below, or that its infimum is not attained."""


class HasMajorizer(ABC):
    """An objective with a quadratic above it that touches it, where Newton's own may be far from it."""

    @abstractmethod
    def majorizer(self, point: Point) -> Array | None:
        """The Hessian of a quadratic that touches f at a point and is above it elsewhere; None if none is known."""


@dataclass(frozen=True)
class WorkingForm:
    """An objective in the coordinates in which solvers work, and the maps there and back."""

    #: The same function of the working coordinates.
    objective: Objective
    #: Working coordinates of a user's x, and back.
    to_working: Callable[[Array], Array] = lambda x: x
    #: Working coordinates of a user's x, and back.
    to_user: Callable[[Array], Array] = lambda x: x
    #: The representative of a user's x among points with the same support and the same f.
    canonical: Callable[[Array], Array] = lambda x: x
    #: Parameters of a loss besides a user's x, which f takes at their best values; None if there are none.
    find_nuisance: Callable[[Array], Array | None] = lambda _: None
    #: A user's coefficients are the working ones times this, and a user's step sizes the working ones times its square.
    unit: float = 1.0

    @cached_property
    def value_at_start(self) -> float:
        """f at its default start, which bounds the rounding error of f; computed once."""
        start = self.objective.start
        return self.objective.evaluate(start).value if start.any() else value_at_zero(self.objective)


class HasWorkingForm(ABC):
    """An objective that solvers should see in other coordinates, such as those of centred columns."""

    @abstractmethod
    def working_form(self) -> WorkingForm:
        """The objective for one search, with the change of variables."""


class QuadraticModel(NamedTuple):
    """f ≈ ½zᵀHz − bᵀz + const in some coordinates z of x, each unit's coordinates counted once."""

    #: Which coordinates z has.
    coordinates: Mask
    #: H.
    hessian: Array
    #: b.
    linear: Array


class HasSwapScores(ABC):
    """An objective with better scores for swaps than those from its gradient and curvature."""

    @abstractmethod
    def entering_gains(self, point: Point, slopes: Array) -> Array:
        """Expected decrease of f if a zero coordinate enters; summed over a unit, if the unit does.

        `slopes` is the gradient without the entries that bounds block.
        """

    @abstractmethod
    def leaving_costs(self, point: Point) -> Array:
        """Expected increase of f if a coordinate is set to zero; summed over a unit, if the unit is."""

    @abstractmethod
    def quadratic_model(self, point: Point, coordinates: Mask) -> QuadraticModel:
        """The quadratic model of f at a point."""


class HasCrossHessian(ABC):
    """An objective of a vector with a cheap Hessian between a support and other coordinates."""

    @abstractmethod
    def cross_hessian(
        self, point: Point, restricted: Point, inside: IntArray, columns: IntArray
    ) -> tuple[Array, Array]:
        """The Hessian between the coordinates of a support and others, and its diagonal at the others.

        `restricted` is `point` as a point of f on the support.
        """


class HasGroups(ABC):
    """An objective that may know which coordinates belong together."""

    @property
    @abstractmethod
    def labels(self) -> IntArray | None:
        """The group of each coordinate that is not free: k counts groups then. None if k counts `unit_kind`."""


class HasPenalty(ABC):
    """An objective that is a loss plus a penalty of the coefficients."""

    @abstractmethod
    def penalty_gradient(self, point: Point) -> Array:
        """The part of the gradient that is the penalty's."""


class EvaluatesTogether(ABC):
    """An objective that may evaluate several points in less time than one after the other."""

    @abstractmethod
    def evaluate_each(self, points: Sequence[Array]) -> Iterable[Point]:
        """Evaluate f at several points."""

    @abstractmethod
    def anticipate_refits(self, starts: Iterable[tuple[Mask, Array]]) -> None:
        """A hint that refits on these supports will start from these points: they may be evaluated together now."""


class HasHeavyState(ABC):
    """An objective whose points hold matrices, which are computed again where they are missing."""

    @abstractmethod
    def without_state(self, point: Point) -> Point:
        """The same point with x and f alone."""


def evaluate_each(objective: Objective, points: Sequence[Array]) -> Iterable[Point]:
    """Evaluate f at several points, each when it is asked for if nothing is gained by evaluating them together."""
    if isinstance(objective, EvaluatesTogether):
        return objective.evaluate_each(points)
    return map(objective.evaluate, points)


def lipschitz_constant(objective: Objective, metric: Array | None = None) -> float:
    """The Lipschitz constant of the gradient, or an error that says what to do without one."""
    if isinstance(objective, HasLipschitzConstant):
        return objective.lipschitz(metric)
    raise NoLipschitzConstantError(
        f"the gradient of {describe_objective(objective)} has no known Lipschitz constant; "
        "give a constant step, or use Backtracking() or BarzilaiBorwein()"
    )


def find_labels(objective: Objective) -> IntArray | None:
    """The group of each coordinate that is not free, if the objective knows; None if k counts `unit_kind`."""
    return objective.labels if isinstance(objective, HasGroups) else None


def is_unbounded_below(objective: Objective, point: Point) -> bool:
    """Whether the objective knows that this point proves it to be unbounded below."""
    return isinstance(objective, DetectsUnboundedness) and objective.is_unbounded_below(point)


def working_form(objective: Objective) -> WorkingForm:
    """The objective in its working coordinates; itself by default."""
    return objective.working_form() if isinstance(objective, HasWorkingForm) else WorkingForm(objective)


def largest_eigenvalue(operator: LinearOperator) -> float:
    """Largest eigenvalue of a positive semidefinite operator, rounded up by Lanczos' tolerance."""
    size = operator.shape[0]
    start = np.cos(np.arange(1.0, size + 1.0))  # a fixed start: the same call gives the same bytes
    if not np.any(operator @ start):
        return 1.0  # f is linear: any constant bounds its curvature
    if size <= 3:
        return float(np.linalg.eigvalsh(operator @ np.eye(size))[-1])
    top = eigsh(operator, k=1, which="LA", v0=start, tol=LANCZOS_TOLERANCE, return_eigenvectors=False)
    return float(top[0]) * (1.0 + LANCZOS_TOLERANCE)
