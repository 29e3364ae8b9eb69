"""When one value of f is lower than another: the one definition, for solvers and paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .problem import Problem

__all__ = ["Tolerance"]

#: Rounding error of f, as a fraction of its value at the start.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Tolerance:
    """Values of f differ if they do so by more than a fraction of f and by more than rounding.

    Rounding is relative to f at the start of the search: where f falls to a tiny fraction of that, its last digits
    are noise.

    Parameters
    ----------
    fraction : float
        The fraction of f.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives.protocols import working_form
    >>> from ksparse.solvers import Problem, Tolerance
    >>> f = ksparse.objectives.LeastSquares(np.eye(3), [1.0, 2.0, 3.0])
    >>> problem = Problem(working_form(f), ksparse.sparsity.Entries(1).bind((3,)))
    >>> Tolerance(1e-6).is_lower(problem, 0.9, than=1.0), Tolerance(1e-6).is_lower(problem, 1.0 - 1e-8, than=1.0)
    (True, False)
    """

    fraction: float

    def least_decrease(self, problem: Problem, value: float) -> float:
        """By how much f must fall below `value` to be lower."""
        start = problem.form.value_at_start
        return self.fraction * abs(value) + (ROUNDING * abs(start) if np.isfinite(start) else 0.0)

    def is_lower(self, problem: Problem, value: float, *, than: float) -> bool:
        """Whether f is lower by more than the tolerance."""
        return value < than - self.least_decrease(problem, than)

    def are_equal(self, problem: Problem, value: float, other: float) -> bool:
        """Whether two values differ by no more than the tolerance."""
        return abs(value - other) <= self.least_decrease(problem, other)
