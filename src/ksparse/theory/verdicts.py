"""Whether a theorem applies, with which steps, and what it says of one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .conditions import FGRAHTP_LIMIT, GRAHTP_LIMIT, ConditionC
from .eigenvalues import RestrictedEigenvalues

__all__ = ["Verdict", "find_condition", "find_smallest_rho", "judge_theorem_1", "judge_theorem_2"]

#: m_s below this fraction of M_s is zero up to rounding.
ZERO = 1e-12


@dataclass(frozen=True)
class Verdict:
    """Whether a theorem applies to a problem.

    Examples
    --------
    >>> from ksparse.theory import ConditionC, RestrictedEigenvalues, Bracket
    >>> from ksparse.theory.verdicts import judge_theorem_1
    >>> one = Bracket(1.0, 1.0, "", "")
    >>> judge_theorem_1(RestrictedEigenvalues(4, one, one)).steps
    (0.0, 1.0)
    """

    #: "yes" and "no" are proven; "unknown": the bounds of m_s and M_s leave it open.
    applies: Literal["yes", "no", "unknown"]
    #: Why.
    reason: str
    #: The open range of steps for which it holds.
    steps: tuple[float, float] | None = None
    #: μ₁ or μ₂ of Theorem 2 at the report's step, if that is within the range.
    rate: float | None = None
    #: What Theorem 2 multiplies ‖∇_k f(x̄)‖ or ‖∇_s f(x̄)‖ by at that step.
    factor: float | None = None


def find_condition(found: RestrictedEigenvalues) -> ConditionC | None:
    """Condition C from what is proven of m_s and M_s; None if they do not prove any."""
    m, M = found.smallest.low, found.largest.high
    return ConditionC.from_hessian(m, M) if m > ZERO * M and np.isfinite(M) else None


def find_smallest_rho(found: RestrictedEigenvalues) -> float:
    """No Condition C holds with a smaller ρ_s than this, which Hessians that were seen refute; −∞ without any."""
    m, M = found.smallest.high, found.largest.low
    if m <= ZERO * M:
        return np.inf
    return (M - m) / (M + m) if 0 < m <= M < np.inf else -np.inf


def judge_theorem_1(found: RestrictedEigenvalues) -> Verdict:
    """Theorem 1 needs Condition C(2k), that is, m_2k > 0 and M_2k < ∞."""
    condition = find_condition(found)
    if condition is not None:
        return Verdict("yes", f"m_{found.s} > 0 and M_{found.s} is finite", (0.0, condition.step_limit))
    if np.isinf(found.largest.low):
        return Verdict("no" if found.largest.low > 0 else "unknown", _explain_steepness(found))
    if find_smallest_rho(found) == np.inf:
        return Verdict("no", _explain_flatness(found))
    if np.isinf(found.largest.high):
        return Verdict("unknown", _explain_steepness(found))
    return Verdict("unknown", f"the bounds of m_{found.s} and M_{found.s} do not decide it")


def judge_theorem_2(found: RestrictedEigenvalues, step: float | None, fast: bool) -> Verdict:
    """Theorem 2 needs Condition C(s) with ρ_s < 1/(√2 + 1) for GraHTP, or ½ for FGraHTP, and a step in the range."""
    limit = FGRAHTP_LIMIT if fast else GRAHTP_LIMIT
    condition, least, s = find_condition(found), find_smallest_rho(found), found.s
    largest_ratio = (1 + limit) / (1 - limit)
    if condition is not None and condition.rho < limit:
        steps = condition.find_fgrahtp_steps() if fast else condition.find_grahtp_steps()
        assert steps is not None
        reason = f"M_{s}/m_{s} is at most {_ratio(condition.rho):.3g}, below {largest_ratio:.3g}"
        if step is None or not steps[0] < step < steps[1]:
            return Verdict("yes", reason, steps)
        if fast:
            return Verdict("yes", reason, steps, condition.fgrahtp_rate(step), condition.find_fgrahtp_factor(step))
        return Verdict("yes", reason, steps, condition.grahtp_rate(step), condition.find_grahtp_factor(step))
    if least == np.inf:
        return Verdict("no", _explain_flatness(found))
    if least >= limit:
        return Verdict("no", f"M_{s}/m_{s} is at least {_ratio(least):.3g}; it must be below {largest_ratio:.3g}")
    if condition is None and np.isinf(found.largest.high):
        return Verdict("unknown", _explain_steepness(found))
    return Verdict("unknown", f"the bounds of m_{s} and M_{s} do not decide whether M_{s}/m_{s} < {largest_ratio:.3g}")


def _ratio(rho: float) -> float:
    return (1 + rho) / (1 - rho)


def _explain_flatness(found: RestrictedEigenvalues) -> str:
    if found.smallest.high < -ZERO * abs(found.largest.low):
        return f"f is not convex on {found.s} units"
    return f"m_{found.s} is 0: f is flat in some direction of {found.s} units ({found.smallest.high_source})"


def _explain_steepness(found: RestrictedEigenvalues) -> str:
    return f"M_{found.s} has no bound that holds everywhere ({found.largest.high_source})"
