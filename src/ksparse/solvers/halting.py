"""When to stop. The iteration limit, the time limit and the callback belong to every solver; these are the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..validation import check_callable, check_nonnegative_number
from .problem import Iterate

__all__ = ["HaltingRule", "HaltingRules", "RelativeChange", "SameSupport", "check_rules", "find_first_reason"]


#: Compares an iterate with the one before it (previous, current): a sentence that says what has converged, or None.
HaltingRule = Callable[[Iterate, Iterate], str | None]
HaltingRules = HaltingRule | tuple[HaltingRule, ...]


def check_rules(rules: HaltingRules) -> None:
    """Refuse what is not a rule."""
    for rule in rules if isinstance(rules, tuple) else (rules,):
        check_callable(rule, "halting", "such as ksparse.solvers.SameSupport()")


def find_first_reason(rules: HaltingRules, previous: Iterate, current: Iterate) -> str | None:
    """What the first rule that is met says."""
    reasons = (rule(previous, current) for rule in (rules if isinstance(rules, tuple) else (rules,)))
    return next((reason for reason in reasons if reason is not None), None)


@dataclass(frozen=True)
class SameSupport:
    """F⁽ᵗ⁾ = F⁽ᵗ⁻¹⁾: GraHTP's natural criterion, after which nothing changes any more (paper, §2).

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> f = ksparse.objectives.LeastSquares(np.diag([1.0, 2.0, 3.0]), [1.0, 3.0, 2.0])
    >>> ksparse.minimize(f, k=1, solver=ksparse.GraHTP(halting=ksparse.solvers.SameSupport())).message
    'converged: the support did not change'
    """

    def __call__(self, previous: Iterate, current: Iterate) -> str | None:
        return "converged: the support did not change" if current.has_same_support(previous) else None


@dataclass(frozen=True)
class RelativeChange:
    """‖x⁽ᵗ⁾ − x⁽ᵗ⁻¹⁾‖ ≤ tol·‖x⁽ᵗ⁻¹⁾‖ (paper, §5, with tol = 1e-4), or the same for f.

    Parameters
    ----------
    tol : float, default=1e-4
        The tolerance.
    of : {"x", "f"}, default="x"
        What is compared.

    Examples
    --------
    >>> import ksparse
    >>> solver = ksparse.FGraHTP(halting=ksparse.solvers.RelativeChange(1e-6))
    """

    tol: float = 1e-4
    of: Literal["x", "f"] = "x"

    def __post_init__(self) -> None:
        check_nonnegative_number(self.tol, "tol")
        if self.of not in ("x", "f"):
            raise ValueError(f"of must be 'x' or 'f', got {self.of!r}")

    def __call__(self, previous: Iterate, current: Iterate) -> str | None:
        if self.of == "f":
            change, scale = abs(current.value - previous.value), abs(previous.value)
        else:
            before, after = previous.point.x, current.point.x
            change, scale = float(np.linalg.norm(after - before)), float(np.linalg.norm(before))
        if previous.support is None or change > self.tol * scale:
            return None
        tol = np.format_float_scientific(self.tol, trim="-", exp_digits=1)
        return f"converged: relative change of {self.of} ≤ {tol}"
