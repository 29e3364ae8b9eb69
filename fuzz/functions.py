"""A user's own function: e·f + c has the minimizer of f, whatever e and c are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import ksparse
from ksparse.objectives import Function

from .data import Choose
from .outcomes import Missed, check_status, demand, refuse_clearly

__all__ = ["Multiple", "check_multiple", "draw_multiple"]

#: Exponents of e, of base 10.
MULTIPLES = (0, *(sign * power for power in range(1, 13) for sign in (1, -1)), 13, 14, 15)
#: The constant, as a multiple of the range of f.
CONSTANTS = (0.0, 1.0, -1.0, 1e3, -1e3)
#: By how much the decrease of f may differ, as a fraction.
SAME_DECREASE = 1e-5


@dataclass(frozen=True)
class Multiple:
    """A quadratic or quartic function of some variables, times a factor, plus a constant."""

    seed: int
    n: int
    p: int
    k: int
    kind: str
    exponent: int
    constant: float
    with_hessian: bool

    def build(self, factor: float, constant: float) -> Function:
        """The function, times a factor, plus a constant."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.p)) + 0.7 * rng.standard_normal((self.n, 1))
        y = X @ (rng.standard_normal(self.p) * (rng.random(self.p) < 0.5)) + 0.5 * rng.standard_normal(self.n)
        H, b = X.T @ X / self.n + 0.01 * np.eye(self.p), X.T @ y / self.n
        fourth = 0.1 if self.kind == "quartic" else 0.0

        def value(x: Any) -> float:
            return factor * float(0.5 * x @ H @ x - b @ x + fourth * np.sum(x**4)) + constant

        def gradient(x: Any) -> Any:
            return factor * (H @ x - b + 4 * fourth * x**3)

        def hessian(x: Any) -> Any:
            return factor * (H + np.diag(12 * fourth * x**2))

        return Function(value, gradient, shape=self.p, hessian=hessian if self.with_hessian else None)


def draw_multiple(choose: Choose) -> Multiple:
    """A function, a factor and a constant."""
    return Multiple(
        seed=choose(range(2**16)),
        n=choose((40, 20, 10)),
        p=choose((5, 8, 15)),
        k=choose((1, 2, 3, 5)),
        kind=choose(("quadratic", "quartic")),
        exponent=choose(MULTIPLES),
        constant=choose(CONSTANTS),
        with_hessian=choose((False, True)),
    )


def check_multiple(case: Multiple) -> None:
    """The minimizer is the same; a search of f plus a constant may end at another support, which is a miss."""
    factor = 4.0 ** round(case.exponent * np.log(10.0) / np.log(4.0))
    plain = _minimize(case.build(1.0, 0.0), case.k, 0)
    constant = case.constant * abs(plain.value)
    shifted = _minimize(case.build(factor, factor * constant), case.k, 0)
    demand(plain.success == shifted.success, f"status {plain.status}, but {shifted.status}: {shifted.message}")
    # Of a large constant, rounding leaves few digits of the decrease.
    room = SAME_DECREASE * abs(plain.value) + 1e-13 * abs(constant)
    reached = case.build(1.0, 0.0).evaluate(shifted.x).value
    if abs(reached - plain.value) <= room:
        return
    message = f"f falls to {plain.value!r}, but {factor:g}·f + c only to {reached!r}: {shifted.message}"
    # Decreases are measured against f, so a constant may lead a search to another support that no swap improves.
    demand(bool(case.constant), message)
    raise Missed(message)


def _minimize(function: Function, k: int, effort: int) -> ksparse.Result:
    with refuse_clearly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ksparse.ConvergenceWarning)
        result = ksparse.minimize(function, k, effort=effort)
    check_status(result, bool(caught))
    return result
