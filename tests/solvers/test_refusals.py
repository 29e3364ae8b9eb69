"""Wrong input of objectives, solvers and `minimize` is refused with advice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.objectives import (
    Function,
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Quadratic,
    Quantile,
    SquaredHinge,
    Tweedie,
)
from ksparse.solvers import Backtracking, Lipschitz, Normalized, RelativeChange, Theory
from tests.problems import P, linear

X3 = np.arange(12.0).reshape(4, 3)


BAD: dict[str, tuple[Any, str]] = {
    "NaN in X": (lambda: LeastSquares(np.where(X3 == 5, np.nan, X3), np.ones(4)), "X has NaN or infinite values"),
    "infinite X": (lambda: LeastSquares(np.where(X3 == 5, np.inf, X3), np.ones(4)), "X has NaN or infinite values"),
    "NaN in y": (lambda: LeastSquares(X3, [1.0, np.nan, 1.0, 1.0]), "y has 1 NaN or infinite values"),
    "text in y": (lambda: LeastSquares(X3, ["a", "b", "c", "d"]), "y must be numeric"),
    "short y": (lambda: LeastSquares(X3, np.ones(3)), "y has 3 values for 4 rows of X"),
    "matrix y": (lambda: Poisson(X3, np.ones((4, 2))), r"y has shape \(4, 2\)"),
    "matrix labels": (lambda: Logistic(X3, np.ones((4, 1))), "one label for each of the 4 rows"),
    "one class": (lambda: Logistic(X3, np.ones(4)), "needs exactly 2 classes, y has 1"),
    "three classes": (lambda: Logistic(X3, [0, 1, 2, 0]), "y has 3.*use Multinomial"),
    "one class hinge": (lambda: SquaredHinge(X3, np.ones(4)), "SquaredHinge needs exactly 2 classes, y has 1"),
    "NaN label": (lambda: Logistic(X3, [0, 1, np.nan, 0]), "NaN or infinite labels"),
    "one class multinomial": (lambda: Multinomial(X3, np.ones(4)), "at least 2 classes"),
    "negative counts": (lambda: Poisson(X3, [1, -2, 0, 0]), r"counts y >= 0; y\[1\] is -2, which is not"),
    "negative amounts": (lambda: Tweedie(X3, [1, -2, 0, -1]), r"y >= 0; y\[1\] is -2, which is not, and so is 1 more"),
    "amounts of zero": (
        lambda: Gamma(X3, [1, 2, 0, 1]),
        r"Gamma needs y > 0 \(Tweedie with a power between 1 and 2 takes zeros\); y\[2\] is 0, which is not",
    ),
    "zeros with power 2": (
        lambda: Tweedie(X3, [1, 2, 0, 1], power=2),
        r"Tweedie with power 2, which is gamma, needs y > 0 \(a power between 1 and 2 takes zeros\); y\[2\] is 0",
    ),
    "power": (lambda: Tweedie(X3, np.ones(4), power=3), r"power must be finite and from 1 .* to 2 .*got 3"),
    "quantile": (lambda: Quantile(X3, np.ones(4), quantile=90), "quantile must be finite and between 0 and 1"),
    "bandwidth": (lambda: Quantile(X3, np.ones(4), bandwidth=0), "bandwidth must be finite and greater than 0"),
    "dispersion": (lambda: NegativeBinomial(X3, np.ones(4), dispersion=-1), "dispersion must be .* from 0 to"),
    "vector X": (lambda: LeastSquares(np.ones(4), np.ones(4)), r"X has shape \(4,\); expected \(n, p\)"),
    "text X": (lambda: LeastSquares([["a"], ["b"]], np.ones(2)), "could not convert|Unable to convert"),
    "negative weights": (
        lambda: LeastSquares(X3, np.ones(4), sample_weight=[1, 1, -1, 1]),
        "sample_weight must not be negative; entry 2 is -1",
    ),
    "zero weights": (lambda: LeastSquares(X3, np.ones(4), sample_weight=np.zeros(4)), "zero for every sample"),
    "short weights": (lambda: LeastSquares(X3, np.ones(4), sample_weight=[1]), r"sample_weight has shape \(1,\)"),
    "NaN weights": (lambda: LeastSquares(X3, np.ones(4), sample_weight=[1, 1, np.nan, 1]), "sample_weight has 1 NaN"),
    "short offset": (lambda: LeastSquares(X3, np.ones(4), offset=np.ones(3)), r"offset has shape \(3,\)"),
    "negative alpha": (lambda: LeastSquares(X3, np.ones(4), alpha=-1.0), "alpha must be finite and at least 0"),
    "NaN alpha": (lambda: LeastSquares(X3, np.ones(4), alpha=np.nan), "alpha must be finite"),
    "bad delta": (lambda: Huber(X3, np.ones(4), delta=0.0), "delta must be finite and greater than 0"),
    "asymmetric A": (lambda: Quadratic([[1.0, 2.0], [0.0, 1.0]], [1.0, 1.0]), "not symmetric.*pass"),
    "oblong A": (lambda: Quadratic(np.ones((2, 3)), [1.0, 1.0]), "needs a square matrix"),
    "short b": (lambda: Quadratic(np.eye(2), [1.0]), r"b has shape \(1,\), expected \(2,\)"),
    "negative k": (lambda: ksparse.minimize(linear("logistic"), k=-1), "k must be at least 0"),
    "no k": (lambda: ksparse.minimize(linear("logistic")), "pass either k or sparsity"),
    "k twice": (lambda: ksparse.minimize(linear("logistic"), 3, sparsity=ksparse.sparsity.Entries(3)), "not both"),
    "short x0": (lambda: ksparse.minimize(linear("logistic"), 3, x0=[1.0]), r"x0 has shape \(1,\)"),
    "NaN x0": (lambda: ksparse.minimize(linear("logistic"), 3, x0=np.full(P, np.nan)), "x0 has NaN"),
    "NaN at the start": (
        lambda: ksparse.minimize(Function(lambda x: np.nan, gradient=lambda x: x, shape=2), k=1),
        "f is nan at the starting point; pass an x0",
    ),
    "wrong gradient shape": (
        lambda: ksparse.minimize(Function(lambda x: 0.0, gradient=lambda x: np.ones(3), shape=2), k=1),
        r"gradient\(x\) returned shape \(3,\) for x of shape \(2,\)",
    ),
    "wrong hessian shape": (
        lambda: ksparse.minimize(
            Function(lambda x: x @ x, gradient=lambda x: 2 * x, hessian=lambda x: np.eye(3), shape=2), k=1
        ),
        r"hessian\(x\) returned shape \(3, 3\); expected \(2, 2\)",
    ),
    "vector value": (
        lambda: ksparse.minimize(Function(lambda x: x, gradient=lambda x: x, shape=2), k=1),
        "it must return one number",
    ),
    "negative step": (lambda: ksparse.GraHTP(step=-1.0), "the step size must be finite and greater than 0"),
    "negative time": (lambda: ksparse.GraHTP(time_limit=-1.0), "time_limit must be finite and at least 0"),
    "bad halting": (lambda: RelativeChange(of="y"), "of must be 'x' or 'f'"),  # type: ignore[arg-type]
    "bad shrinkage": (lambda: Backtracking(shrinkage=1.0), "shrinkage must lie between 0 and 1"),
    "bad kappa": (lambda: Normalized(kappa=1.0), "kappa must be greater than"),
    "bad c": (lambda: Normalized(c=1.0), "c must lie between 0 and 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_advice(case: str) -> None:
    act, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        act()


BAD_TYPES: dict[str, tuple[Any, str]] = {
    "float k": (lambda: ksparse.minimize(linear("logistic"), k=2.0), "k must be an integer, got 2.0"),  # type: ignore[arg-type]
    "a function": (lambda: ksparse.minimize(lambda x: x, k=2), "wrap your own function in"),  # type: ignore[arg-type]
    "data": (lambda: ksparse.minimize(X3, k=2), r"got a ndarray; bind a model to your data"),  # type: ignore[arg-type]
    "an objective class": (lambda: ksparse.minimize(LeastSquares, k=2), "got the class LeastSquares; bind"),  # type: ignore[arg-type]
    "a set as k": (
        lambda: ksparse.minimize(linear("logistic"), ksparse.sparsity.Entries(2)),  # type: ignore[arg-type]
        r"pass a set of units as sparsity=Entries\(...\)",
    ),
    "a step class": (lambda: ksparse.GraHTP(step=Lipschitz), "step is the class Lipschitz; did you forget"),  # type: ignore[arg-type]
    "a step name": (lambda: ksparse.GraHTP(step="auto"), "step must be a number or a rule"),  # type: ignore[arg-type]
    "a solver class": (
        lambda: ksparse.minimize(linear("logistic"), k=2, solver=ksparse.GraHTP),  # type: ignore[arg-type]
        "did you forget the parentheses",
    ),
    "an integer set": (lambda: ksparse.minimize(linear("logistic"), sparsity=3), "for an integer, use k"),  # type: ignore[arg-type]
    "no callable": (lambda: Function(1.0, gradient=lambda x: x, shape=2), "value must be a function of x"),  # type: ignore[arg-type]
    "text alpha": (lambda: LeastSquares(X3, np.ones(4), alpha="1"), "alpha must be a number"),  # type: ignore[arg-type]
    "no condition": (lambda: Theory(0.5), "condition must be a ksparse.theory.ConditionC"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", BAD_TYPES)
def test_wrong_types_are_refused_with_advice(case: str) -> None:
    act, message = BAD_TYPES[case]
    with pytest.raises(TypeError, match=message):
        act()
