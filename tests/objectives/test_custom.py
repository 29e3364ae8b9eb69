"""An objective of one's own, with the three methods that the contributing guide asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.diagnostics import check_objective
from ksparse.objectives import Objective, Point
from ksparse.objectives.base import compute_hessian, compute_hessian_operator, value_at_zero
from ksparse.solvers import Normalized
from tests.problems import SOLVERS, supports

A = np.array([[3.0, 1.0, 0.5, 0.0], [1.0, 2.0, 0.3, 0.2], [0.5, 0.3, 1.0, 0.1], [0.0, 0.2, 0.1, 4.0]])
TARGET = np.array([1.0, -2.0, 0.5, 0.3])


class LogCosh(Objective):
    """Σ log cosh(A(x − t)) on some coordinates of x: no Hessian, no curvature, no Lipschitz constant."""

    def __init__(self, columns: Any = slice(None)) -> None:
        super().__init__()
        self.matrix = A[:, columns]
        self.shape = (self.matrix.shape[1],)

    def evaluate(self, x: Any) -> Point:
        residual = self.matrix @ x - A @ TARGET
        return Point(self, x, float(np.sum(np.log(np.cosh(residual)))), residual)

    def gradient(self, point: Point) -> Any:
        self.counters.passes += 1
        return self.matrix.T @ np.tanh(point.state)

    def restrict(self, support: Any) -> LogCosh:
        return LogCosh(np.flatnonzero(support))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_takes_it(solver: str) -> None:
    objective = LogCosh()
    result = ksparse.minimize(objective, k=2, solver=SOLVERS[solver]())
    assert np.isfinite(result.x).all()
    assert len(result.selected) <= 2
    assert result.value < value_at_zero(objective)
    assert result.passes >= 1


def test_the_default_solver_finds_the_best_subset() -> None:
    values = [ksparse.debias.Exact()(LogCosh().restrict(mask), np.zeros(2)).point.value for mask in supports(4, 2)]
    assert ksparse.minimize(LogCosh(), k=2).value == pytest.approx(min(values), rel=1e-8)


def test_its_derivatives_are_checked() -> None:
    assert check_objective(LogCosh()).ok
    point = LogCosh().evaluate(0.1 * np.ones(4))
    exact = (A.T / np.cosh(point.state) ** 2) @ A
    np.testing.assert_allclose(compute_hessian(LogCosh(), point), exact, atol=1e-7)
    np.testing.assert_allclose(compute_hessian_operator(LogCosh(), point) @ TARGET, exact @ TARGET, atol=1e-7)


def test_steps_that_need_a_constant_say_so() -> None:
    with pytest.raises(ValueError, match=r"no known Lipschitz constant.*Backtracking"):
        ksparse.minimize(LogCosh(), k=2, solver=ksparse.GraHTP())
    named = ksparse.minimize(LogCosh(), k=2, solver=ksparse.GraHTP(step=Normalized()))
    assert named.value < value_at_zero(LogCosh())
