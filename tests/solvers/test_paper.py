"""What the paper proves: reduction to HTP and IHT, Theorem 1, Theorem 2, periodicity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.designs import DenseDesign
from ksparse.objectives import LeastSquares, Logistic, Quadratic
from ksparse.solvers import Constant, Status, Theory
from ksparse.theory import ConditionC, logistic_condition, restricted_eigenvalues


def top(z: Any, k: int) -> Any:
    """Indices of the k largest entries, written independently of the package."""
    return np.sort(np.argsort(-np.abs(z), kind="stable")[:k])


def textbook_htp(A: Any, y: Any, k: int, step: float, iterations: int) -> list[Any]:
    x, iterates = np.zeros(A.shape[1]), []
    for _ in range(iterations):
        F = top(x + step * A.T @ (y - A @ x), k)
        x = np.zeros(A.shape[1])
        x[F] = np.linalg.lstsq(A[:, F], y, rcond=None)[0]
        iterates.append(x)
    return iterates


def textbook_iht(A: Any, y: Any, k: int, step: float, iterations: int) -> list[Any]:
    x, iterates = np.zeros(A.shape[1]), []
    for _ in range(iterations):
        z = x + step * A.T @ (y - A @ x)
        x = np.zeros(A.shape[1])
        x[top(z, k)] = z[top(z, k)]
        iterates.append(x)
    return iterates


def iterates_of(solver: Any, objective: Any, k: int) -> list[Any]:
    seen: list[Any] = []
    ksparse.minimize(objective, k, solver=solver, callback=lambda _, x: seen.append(x.copy()))
    return seen


def sensing(seed: int, n: int = 60, p: int = 100, k: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, p)) / np.sqrt(n)
    x = np.zeros(p)
    x[rng.choice(p, k, replace=False)] = rng.standard_normal(k)
    return A, A @ x + 0.01 * rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(5))
def test_grahtp_on_least_squares_is_htp(seed: int) -> None:
    A, y = sensing(seed)
    step = 0.7
    objective = LeastSquares(A, y)
    ours = iterates_of(ksparse.GraHTP(step=step * 60, max_iter=30), objective, 6)
    named = iterates_of(ksparse.HTP(step=step, max_iter=30), objective, 6)
    theirs = textbook_htp(A, y, 6, step, len(ours))
    assert len(ours) >= 2
    for a, b, c in zip(ours, named, theirs, strict=True):
        np.testing.assert_allclose(a, c, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(5))
def test_fgrahtp_on_least_squares_is_iht(seed: int) -> None:
    A, y = sensing(seed)
    step = 0.4
    objective = LeastSquares(A, y)
    ours = iterates_of(ksparse.FGraHTP(step=step * 60, max_iter=40), objective, 6)
    named = iterates_of(ksparse.IHT(step=step, max_iter=40), objective, 6)
    theirs = textbook_iht(A, y, 6, step, len(ours))
    assert len(ours) >= 10
    for a, b, c in zip(ours, named, theirs, strict=True):
        np.testing.assert_allclose(a, c, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("solver", [ksparse.HTP(), ksparse.IHT()])
def test_htp_and_iht_are_for_least_squares(solver: Any) -> None:
    with pytest.raises(TypeError, match="is a method for LeastSquares, got Logistic; use GraHTP or FGraHTP"):
        ksparse.minimize(Logistic(np.eye(2), [0, 1]), k=1, solver=solver)


def random_quadratic(seed: int, p: int = 9, spread: float = 0.6) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = np.linalg.qr(rng.standard_normal((40, p)))[0] + spread * rng.standard_normal((40, p)) / np.sqrt(40)
    return X.T @ X, X.T @ X @ np.where(np.arange(p) < 2, rng.standard_normal(p), 0.1 * rng.standard_normal(p))


@pytest.mark.parametrize("seed", range(20))
def test_theorem_1_on_quadratics(seed: int) -> None:
    """With η < ζ/(1 + ρ_2k), the constants being computed, f never rises and the support becomes constant."""
    A, b = random_quadratic(seed, spread=2.0)
    k = 3
    condition = ConditionC.from_hessian(*restricted_eigenvalues(A, 2 * k))
    for fraction in (0.99, 0.5):
        result = ksparse.minimize(Quadratic(A, b), k, solver=ksparse.GraHTP(step=Theory(condition, fraction)))
        values = result.history["value"]
        assert result.status is Status.CONVERGED
        assert result.history[-1].support_change == 0
        assert (np.diff(values) <= 1e-14 * np.abs(values[1:])).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(10))
def test_theorem_1_on_logistic_regression(seed: int) -> None:
    """Lemma 1(b), with m = alpha and M from the largest Hessian block; and Proposition 1, which is cruder."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 8))
    y = X[:, 0] + 0.5 * rng.standard_normal(30) > 0
    alpha, k = 0.5, 2
    objective = Logistic(X, y, alpha=alpha)
    largest = restricted_eigenvalues(X.T @ X / 30, 2 * k)[1]
    sharp = ConditionC.from_convexity(alpha, largest / 4 + alpha)
    crude = logistic_condition(X, alpha, 2 * k)
    assert crude.step_limit < sharp.step_limit
    for condition in (sharp, crude):
        result = ksparse.minimize(objective, k, solver=ksparse.GraHTP(step=Theory(condition), max_iter=1000))
        values = result.history["value"]
        assert result.status is Status.CONVERGED
        assert (np.diff(values) <= 1e-14).all()
        # With these short steps its end is thousands of iterations away, and says nothing more.
        fast = ksparse.minimize(objective, k, solver=ksparse.FGraHTP(step=Theory(condition), max_iter=1000))
        assert (np.diff(fast.history["value"]) <= 1e-14).all()


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(10))
def test_theorem_2_bounds_the_error(seed: int, noise: float) -> None:
    """Along the iterations, ‖x⁽ᵗ⁾ − x̄‖ stays below the geometric bound with computed constants."""
    rng = np.random.default_rng(seed)
    p, k = 8, 2
    X = np.linalg.qr(rng.standard_normal((60, p)))[0] + 0.1 * rng.standard_normal((60, p)) / np.sqrt(60)
    truth = np.where(np.arange(p) < k, rng.standard_normal(p), 0.0)
    A, b = X.T @ X, X.T @ (X @ truth + noise * rng.standard_normal(60))
    condition = ConditionC.from_hessian(*restricted_eigenvalues(A, 3 * k))
    assert condition.rho < 1 / (1 + np.sqrt(2))
    step = 0.97 * condition.zeta
    gradient = np.sort(np.abs(A @ truth - b))[::-1]
    start = np.zeros(p)
    start[-k:] = 3.0
    grahtp = iterates_of_from(start, ksparse.GraHTP(step=step, max_iter=20), Quadratic(A, b), k)
    fast = iterates_of_from(start, ksparse.FGraHTP(step=step, max_iter=20), Quadratic(A, b), k)
    initial = float(np.linalg.norm(start - truth))
    for t, x in enumerate(grahtp, start=1):
        bound = condition.grahtp_bound(step, t, initial, float(np.linalg.norm(gradient[:k])))
        assert np.linalg.norm(x - truth) <= bound + 1e-12
    for t, x in enumerate(fast, start=1):
        bound = condition.fgrahtp_bound(step, t, initial, float(np.linalg.norm(gradient[: 3 * k])))
        assert np.linalg.norm(x - truth) <= bound + 1e-12
    if noise == 0.0:
        np.testing.assert_allclose(grahtp[-1], truth, atol=1e-12)


def iterates_of_from(start: Any, solver: Any, objective: Any, k: int) -> list[Any]:
    seen: list[Any] = []
    ksparse.minimize(objective, k, x0=start, solver=solver, callback=lambda _, x: seen.append(x.copy()))
    return seen


def cycling() -> tuple[Quadratic, float]:
    """Two strongly correlated variables and too long a step: each support leads to the other."""
    A = np.array([[1.0, 0.9], [0.9, 1.0]])
    return Quadratic(A, [1.0, 1.0 + 1e-3]), 30.0


def test_periodic_supports_are_reported() -> None:
    objective, step = cycling()
    with pytest.warns(ksparse.ConvergenceWarning, match="repeat with period 2"):
        result = ksparse.minimize(objective, k=1, solver=ksparse.GraHTP(step=step))
    assert result.status is Status.PERIODIC
    assert not result.success
    values = result.history["value"]
    assert result.value == values.min()
    assert len(np.unique(values.round(12))) == 2
    assert result.n_iter <= 4
    smaller = ksparse.minimize(objective, k=1, solver=ksparse.GraHTP(step=0.5))
    assert smaller.status is Status.CONVERGED


def test_periodic_iterates_without_debiasing() -> None:
    """x ← x − 2x flips the sign of x for ever."""
    objective = Quadratic(np.eye(1), [0.0])
    with pytest.warns(ksparse.ConvergenceWarning, match="period 2"):
        result = ksparse.minimize(objective, k=1, x0=[1.0], solver=ksparse.FGraHTP(step=Constant(2.0)))
    assert result.status is Status.PERIODIC


@pytest.mark.parametrize("name", ["GraHTP", "FGraHTP", "HTP"])
def test_an_iteration_costs_one_pass(name: str) -> None:
    A, y = sensing(0)
    objective = LeastSquares(A, y)
    solver = {"GraHTP": ksparse.GraHTP(30.0), "FGraHTP": ksparse.FGraHTP(20.0), "HTP": ksparse.HTP(0.5)}[name]
    result = ksparse.minimize(objective, 6, solver=solver)
    np.testing.assert_array_equal(result.history["passes"], np.arange(1, result.n_iter + 1))
    assert result.passes == result.n_iter == objective.counters.passes


def test_passes_of_the_other_methods() -> None:
    A, y = sensing(0)
    for solver, extra in ((ksparse.GraSP(), 0), (ksparse.FBS(), 0), (ksparse.SwapGraHTP(), 1)):
        objective = LeastSquares(A, y)
        result = ksparse.minimize(objective, 6, solver=solver)
        assert result.passes == result.n_iter + extra, type(solver).__name__


def test_passes_are_products_with_all_of_x(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count is not taken on trust: every product with the full matrix is seen."""
    products: list[int] = []
    original = DenseDesign.rmatvec

    def watched(self: DenseDesign, rows: Any, columns: Any = None) -> Any:
        products.append(self.shape[1] if columns is None else len(columns))
        return original(self, rows, columns)

    monkeypatch.setattr(DenseDesign, "rmatvec", watched)
    A, y = sensing(0)
    result = ksparse.minimize(LeastSquares(A, y), 6, solver=ksparse.GraHTP(30.0))
    assert products.count(A.shape[1]) == result.n_iter == result.passes
    assert all(columns <= 6 for columns in products if columns != A.shape[1])
