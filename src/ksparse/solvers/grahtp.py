"""GraHTP and FGraHTP (paper, Algorithm 1), and their special cases on least squares, HTP and IHT."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._types import Array
from ..debias import Debias, Exact, Truncate
from ..objectives.base import NotFiniteError, describe_objective
from ..objectives.columns import LinearModel
from ..objectives.losses import SquaredLoss
from ..validation import check_callable
from .halting import HaltingRules, RelativeChange, SameSupport, check_rules, find_first_reason
from .loop import Solver
from .problem import Iterate, Problem
from .steps import Constant, Lipschitz, Step, StepRule

__all__ = ["HTP", "IHT", "FGraHTP", "GraHTP"]

#: A step shorter than this fraction of the first one tried changes nothing.
SHORTEST = 1e-9


@dataclass(frozen=True)
class GraHTP(Solver):
    """Gradient Hard Thresholding Pursuit (paper, Algorithm 1).

    Repeat (S1) z = x − η∇f(x); (S2) F = the k largest entries of z; (S3) x = argmin{f(x) : supp(x) ⊆ F}.

    Parameters
    ----------
    step : float or StepRule, default=Lipschitz()
        The step size η, or how to choose it. The paper's method has a constant one.
    debias : Debias, default=Exact()
        S3. `NewtonStep` and `GradientStep` are the paper's cheaper variants.
    halting : HaltingRule or tuple of them, optional
        Default: the support did not change; without exact debiasing, the relative change of x is at most 1e-4.
    max_iter, time_limit
        Limits of iterations (default 100) and of seconds (default none).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.GraHTP(step=0.5)).selected
    array([1, 3])

    References
    ----------
    X.-T. Yuan, P. Li and T. Zhang, Gradient Hard Thresholding Pursuit, JMLR 18 (2018).
    """

    step: float | StepRule = field(default_factory=Lipschitz)
    debias: Debias = field(default_factory=Exact)
    halting: HaltingRules | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _as_rule(self.step)
        check_callable(self.debias, "debias", "such as ksparse.debias.Exact()")
        if self.halting is not None:
            check_rules(self.halting)

    def make_step_rule(self, problem: Problem) -> StepRule:
        """The step as a rule."""
        return _as_rule(self.step)

    def find_reason_to_halt(self, previous: Iterate, current: Iterate) -> str | None:
        default = SameSupport() if isinstance(self.debias, Exact) else RelativeChange()
        return find_first_reason(default if self.halting is None else self.halting, previous, current)

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        rule = self.make_step_rule(problem)
        metric = rule.compute_metric(problem, current)
        first = rule.choose_size(problem, current, previous, metric)
        step: Step | None = Step(first, metric)
        lost = False
        while step is not None and step.size > SHORTEST * first:
            z = step.take(current.point.x, current.point.gradient)  # S1
            support = problem.units.select(z, step.metric)  # S2
            trial = problem.refit(support, problem.units.clip(z), self.debias)  # S3
            unchanged = isinstance(self.debias, Exact) and trial.has_same_support(current)
            if unchanged or rule.accepts(problem, current, trial, step):
                return replace(trial, step=step.size)
            lost = not np.isfinite(trial.point.value)
            step = rule.shrink(step)
        if lost:
            raise NotFiniteError("f is not finite even after a short step")
        return replace(current, done="converged: no step lowers f")


def _as_rule(step: Any) -> StepRule:
    if isinstance(step, StepRule):
        return step
    if isinstance(step, type):
        raise TypeError(f"step is the class {step.__name__}; did you forget the parentheses?")
    if not isinstance(step, numbers.Real):
        raise TypeError(f"step must be a number or a rule such as ksparse.solvers.Backtracking(), got {step!r}")
    return Constant(float(step))


@dataclass(frozen=True)
class FGraHTP(GraHTP):
    """Fast GraHTP (paper, Algorithm 1, bottom): x = the k largest entries of x − η∇f(x), without debiasing.

    Parameters
    ----------
    step, halting, max_iter, time_limit
        See `GraHTP`; halting by default once the relative change of x is at most 1e-4.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.FGraHTP(step=0.5)).selected
    array([1, 3])
    """

    debias: Debias = field(default_factory=Truncate)
    max_iter: int = field(default=1000, kw_only=True)


@dataclass(frozen=True)
class _CompressedSensing(GraHTP):
    """A method for ½‖y − Ax‖², whose step is measured on that scale: x + μAᵀ(y − Ax)."""

    step: float | StepRule = 1.0

    def make_step_rule(self, problem: Problem) -> StepRule:
        objective = problem.objective
        if not isinstance(objective, LinearModel) or not isinstance(objective.loss, SquaredLoss):
            raise TypeError(
                f"{type(self).__name__} is a method for LeastSquares, got {describe_objective(objective)}; "
                "use GraHTP or FGraHTP, which are the same method for any smooth f"
            )
        rule = _as_rule(self.step)
        if isinstance(rule, Constant) and not rule.scaled:
            return _OnSumOfSquares(rule.value * objective.total_weight)
        return rule


@dataclass(frozen=True)
class _OnSumOfSquares(Constant):
    """A step measured on the scale of ½‖y − Ax‖²; an intercept, whose column has the norm √n, takes it on that of f."""

    def compute_metric(self, problem: Problem, current: Iterate) -> Array | None:
        objective = problem.objective
        if objective.free is None:
            return None
        assert isinstance(objective, LinearModel)
        return np.where(objective.free, objective.total_weight, 1.0)


@dataclass(frozen=True)
class HTP(_CompressedSensing):
    """Hard Thresholding Pursuit (Foucart, SIAM J. Numer. Anal. 49, 2011): GraHTP on least squares.

    Repeat F = the k largest entries of x + μAᵀ(y − Ax); x = argmin{‖y − Ax‖ : supp(x) ⊆ F}.

    Parameters
    ----------
    step : float or StepRule, default=1.0
        μ, a constant being measured on the scale of ½‖y − Ax‖², as in compressive sensing: μ < 1/‖A‖² descends.
    debias, halting, max_iter, time_limit
        See `GraHTP`.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.HTP()).selected
    array([1, 3])
    """


@dataclass(frozen=True)
class IHT(_CompressedSensing):
    """Iterative Hard Thresholding (Blumensath and Davies, ACHA 27, 2009): FGraHTP on least squares.

    Repeat x = the k largest entries of x + μAᵀ(y − Ax).

    Parameters
    ----------
    step, halting, max_iter, time_limit
        See `HTP`; halting by default once the relative change of x is at most 1e-4.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.eye(4), [1.0, -3.0, 0.0, 2.0])
    >>> ksparse.minimize(f, k=2, solver=ksparse.IHT()).selected
    array([1, 3])
    """

    debias: Debias = field(default_factory=Truncate)
    max_iter: int = field(default=1000, kw_only=True)
