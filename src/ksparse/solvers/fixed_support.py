"""A solver that selects nothing: it minimizes f on the support where it starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .._types import Array
from ..debias import Debias, Exact
from ..validation import check_callable
from .loop import Solver
from .problem import Iterate, Problem

__all__ = ["FixedSupport"]


@dataclass(frozen=True)
class FixedSupport(Solver):
    """Minimize f on the support of x0: one debiasing (S3), no selection.

    It refits a solution with another objective of the same coordinates: with another ridge, other sample weights, or
    other samples.

    Parameters
    ----------
    debias : Debias, default=Exact()
        How f is minimized on the support.
    max_iter, time_limit
        Of no effect.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import LeastSquares
    >>> X, y = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> result = ksparse.minimize(LeastSquares(X, y, alpha=1.0), k=1)
    >>> refitted = ksparse.minimize(LeastSquares(X, y), k=1, solver=ksparse.FixedSupport(), x0=result.x)
    >>> result.x.round(3), refitted.x
    (array([0.   , 0.857, 0.   ]), array([0. , 1.5, 0. ]))
    """

    debias: Debias = field(default_factory=Exact)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_callable(self.debias, "debias", "such as ksparse.debias.Exact()")

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        units = problem.units
        support = units.to_mask(units.find_units(x != 0) | units.always)
        return replace(problem.refit(support, x, self.debias), done="converged: f is minimal on the support of x0")

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        return current
