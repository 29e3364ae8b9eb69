"""Data and functions that break naive code: constant columns, huge scales, domains, aliasing, no minimum."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ksparse
from ksparse.debias import Exact
from ksparse.objectives import Function, Huber, LeastSquares, Logistic, Multinomial, Poisson, Quadratic
from ksparse.objectives.base import compute_hessian
from ksparse.solvers import Backtracking, Constant, Normalized, Status
from ksparse.sparsity import Entries


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def quietly(objective: Any, **options: Any) -> ksparse.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        return ksparse.minimize(objective, **options)


@pytest.mark.parametrize("level", [0.1, 3.3, 1e5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_constant_column_is_not_amplified(level: float, dtype: Any, as_sparse: bool) -> None:
    X = normal(37, 4).astype(dtype)
    X[:, 1] = level
    y = X[:, 0].astype(float) + 5
    objective = LeastSquares(sparse.csc_array(X) if as_sparse else X, y, fit_intercept=True)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=Backtracking(scaled=True)), ksparse.FBS()):
        result = quietly(objective, k=4, solver=solver)
        assert np.abs(result.x).max() < 10
        assert result.value < 1e-9
        assert objective.evaluate(result.x).value == pytest.approx(result.value, abs=1e-9)
    counts = np.random.default_rng(1).poisson(np.exp(X[:, 0]))
    assert quietly(Poisson(X, counts, fit_intercept=True), k=4).status in (Status.SINGULAR, Status.CONVERGED)


@pytest.mark.parametrize("method", ["auto", "newton-cg", "lbfgs"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_start_on_huber_s_linear_part(method: Any, scaled: bool) -> None:
    """With no curvature to see, a normalized step can be enormous; debiasing must not start from there."""
    X, y = normal(5, 4, seed=5), 3 * np.random.default_rng(6).standard_t(1, 5)
    objective = Huber(X, y, delta=0.1, alpha=0.1, fit_intercept=True)
    result = quietly(objective, k=2, solver=ksparse.GraHTP(step=Normalized(scaled=scaled), debias=Exact(method)))
    assert result.value < objective.evaluate(np.zeros(5)).value
    assert result.value <= 1.5 * ksparse.minimize(objective, k=2).value + 1e-9


def test_a_gradient_that_reuses_its_array() -> None:
    A, b, buffer = np.diag(np.arange(1.0, 7.0)), np.arange(6.0), np.empty(6)

    def gradient(x: Any) -> Any:
        buffer[:] = A @ x - b
        return buffer

    reused = Function(lambda x: 0.5 * x @ A @ x - b @ x, gradient=gradient, shape=6)
    fresh = Function(lambda x: 0.5 * x @ A @ x - b @ x, gradient=lambda x: A @ x - b, shape=6)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=Backtracking()), ksparse.FGraHTP(step=Backtracking())):
        assert quietly(reused, k=3, solver=solver).x.tobytes() == quietly(fresh, k=3, solver=solver).x.tobytes()


def test_samples_without_weight_do_not_count() -> None:
    X = normal(60, 4)
    y = np.random.default_rng(0).poisson(np.exp(0.5 * X[:, 0]))
    weights = np.ones(60)
    weights[0], X[0] = 0.0, 1e4
    with_it = ksparse.minimize(Poisson(X, y, sample_weight=weights), k=2)
    without = ksparse.minimize(Poisson(X[1:], y[1:]), k=2)
    assert with_it.status is Status.CONVERGED
    np.testing.assert_allclose(with_it.x, without.x, atol=1e-8)
    assert with_it.value == pytest.approx(without.value, rel=1e-12)


def test_classes_without_weight_are_refused() -> None:
    X = normal(6, 2)
    for make, y in ((Logistic, [0, 0, 0, 1, 1, 1]), (Multinomial, [0, 0, 1, 2, 2, 2])):
        with pytest.raises(ValueError, match=r"no sample of class \[.*\] has a positive sample_weight"):
            make(X, y, sample_weight=[1, 1, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("diagonal", "linear", "k"),
    [([-1.0, 1, 2, 3], [1.0] * 4, 1), ([0.0] * 4, [1.0] * 4, 1), ([1.0, -5, 2, 3], [1, 0.001, 1, 1], 2)],
)
@pytest.mark.parametrize("solver", [ksparse.SwapGraHTP(), ksparse.FBS(), ksparse.GraSP()])
def test_quadratics_without_a_bottom(diagonal: Any, linear: Any, k: int, solver: Any) -> None:
    result = quietly(Quadratic(np.diag(diagonal), linear), k=k, solver=solver)
    if k == 2 and isinstance(solver, ksparse.FBS):
        assert result.selected.tolist() == [0, 2]  # forward selection never looks at the falling coordinate
        return
    assert result.status is Status.NO_MINIMUM
    assert np.isfinite(result.x).all()
    assert result.value < -1e3


def test_a_linear_function_has_no_bottom() -> None:
    falling = Function(lambda x: float(-x.sum()), gradient=lambda x: -np.ones(4), shape=4)
    assert quietly(falling, k=2).status is Status.NO_MINIMUM


def test_a_callback_cannot_change_the_run() -> None:
    X = normal(50, 20)
    objective = LeastSquares(X, X @ np.ones(20))

    def vandal(iteration: Any, x: Any) -> None:
        x[:] = 1e3

    solver = ksparse.FGraHTP(step=0.1)
    watched, alone = quietly(objective, k=5, solver=solver, callback=vandal), quietly(objective, k=5, solver=solver)
    assert watched.x.tobytes() == alone.x.tobytes()


def test_always_as_a_mask() -> None:
    objective = LeastSquares(np.eye(4), [5.0, 4.0, 3.0, 2.0])
    result = ksparse.minimize(objective, sparsity=Entries(3, always=[False, False, False, True]))
    assert result.selected.tolist() == [0, 1, 3]
    bounded = ksparse.minimize(LeastSquares(np.eye(3), [-1.0, 2.0, 3.0]), sparsity=Entries(2, always=[0], lower=0.0))
    assert bounded.selected.tolist() == [0, 2]
    assert bounded.x.tolist() == [0.0, 0.0, 3.0]
    assert ksparse.minimize(objective, sparsity=Entries(2, always=3)).selected.tolist() == [0, 3]
    with pytest.raises(ValueError, match="always is a mask of 2 values for 4 units"):
        ksparse.minimize(objective, sparsity=Entries(3, always=[True, False]))


def test_a_gradient_that_turns_nan_has_its_status() -> None:
    target, calls = np.array([0.1, -2, 0.3, 1, 2, 0.5]), 0

    def gradient(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return 2 * (x - target) if calls < 4 else np.full(6, np.nan)

    with pytest.warns(ksparse.ConvergenceWarning, match="NaN or infinite entries"):
        result = ksparse.minimize(Function(lambda x: np.sum((x - target) ** 2), gradient=gradient, shape=6), k=2)
    assert result.status is Status.NOT_FINITE


@pytest.mark.parametrize("solver", [ksparse.SwapGraHTP(), ksparse.GraHTP(), ksparse.FGraHTP(), ksparse.GraSP()])
def test_nothing_to_learn_from(solver: Any) -> None:
    for objective in (
        LeastSquares(np.zeros((5, 8)), np.ones(5)),
        LeastSquares(np.zeros((5, 0)), np.ones(5)),
        Quadratic(np.zeros((3, 3)), np.zeros(3)),
        LeastSquares(np.ones((1, 1)), [2.0]),
    ):
        result = quietly(objective, k=1, solver=solver)
        assert np.isfinite(result.x).all()


def test_sparse_data_with_repeated_entries() -> None:
    rows = np.array([0, 1000, 1001, 1003])
    X = sparse.csr_array((np.ones(1003), np.r_[np.zeros(1000, int), [1, 1, 2]], rows), shape=(3, 3))
    pattern = X.data.copy()
    objective, dense = (LeastSquares(form, [1.0, 2.0, 3.0]) for form in (X, X.toarray()))
    at_zero = np.zeros(3)
    np.testing.assert_allclose(
        objective.curvature(objective.evaluate(at_zero)), dense.curvature(dense.evaluate(at_zero))
    )
    solver = ksparse.FGraHTP(step=Constant(1.0, scaled=True))
    assert quietly(objective, k=1, solver=solver).value == pytest.approx(quietly(dense, k=1, solver=solver).value)
    np.testing.assert_array_equal(X.data, pattern)


@pytest.mark.parametrize("seed", range(30))
def test_perfect_fits_converge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 20))
    w = np.where(np.arange(20) < 4, rng.standard_normal(20), 0.0)
    result = ksparse.minimize(LeastSquares(X, X @ w), k=6)
    assert result.status in (Status.CONVERGED, Status.SINGULAR)
    assert result.value < 1e-25


@pytest.mark.parametrize("method", ["auto", "newton-cg", "lbfgs"])
def test_every_method_sees_that_a_minimizer_is_not_unique(method: Any) -> None:
    X = normal(30, 4)
    X[:, 3] = X[:, 0]
    for objective in (LeastSquares(X, X[:, 1]), Logistic(X, normal(30, seed=1) > 0), Huber(X, X[:, 1])):
        result = quietly(objective, k=4, solver=ksparse.GraHTP(step=0.1, debias=Exact(method)))
        assert result.status is Status.SINGULAR


def test_a_large_singular_support() -> None:
    X = normal(60, 520)
    result = ksparse.minimize(LeastSquares(X, normal(60, seed=1)), k=510, solver=ksparse.GraHTP(step=0.05))
    assert result.status is Status.SINGULAR


def test_offsets_do_not_separate() -> None:
    X = normal(50, 3)
    y = normal(50, seed=1) > 0
    objective = Logistic(X, y, offset=20.0 * (2.0 * y - 1.0))
    assert quietly(objective, k=2).status is not Status.NO_MINIMUM


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e6, 1e-6])
def test_quasi_separation_in_any_units(scale: float) -> None:
    X = scale * np.array([[0.0], [0.0], [1.0], [2.0], [-1.0]])
    assert quietly(Logistic(X, [1, 0, 1, 1, 0]), k=1).status is Status.NO_MINIMUM


def test_intercepts_are_fitted_exactly() -> None:
    objective = Poisson(np.zeros((50, 5)), np.arange(50) * 100.0, fit_intercept=True)
    result = ksparse.minimize(objective, k=2)
    assert result.x[-1] == pytest.approx(np.log(np.mean(np.arange(50) * 100.0)), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("solver", [ksparse.SwapGraHTP(), ksparse.GraHTP(step=Normalized()), ksparse.GraSP()])
def test_functions_of_any_scale(scale: float, solver: Any) -> None:
    target = np.array([0.1, -2, 0.3, 1, 2, 0.5])
    objective = Function(
        lambda x: scale * np.sum((x - target) ** 2), gradient=lambda x: 2 * scale * (x - target), shape=6
    )
    result = quietly(objective, k=2, solver=solver)
    np.testing.assert_allclose(result.x, np.where(np.abs(target) == 2, target, 0.0), atol=1e-5)


def test_float32_data_with_large_means() -> None:
    X = (1e4 + normal(100, 10)).astype(np.float32)
    y = X[:, 0].astype(float) - X[:, 1] + 0.1 * normal(100, seed=1)
    objective = LeastSquares(X, y, fit_intercept=True)
    exact = LeastSquares(X.astype(np.float64), y, fit_intercept=True)
    result = ksparse.minimize(objective, k=10)
    assert objective.evaluate(result.x).value == pytest.approx(result.value, rel=1e-6)
    assert result.value == pytest.approx(ksparse.minimize(exact, k=10).value, rel=1e-6)


def test_restarts_respect_the_time_limit() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 60))
    objective = LeastSquares(X, X @ rng.standard_normal(60))
    began = time.perf_counter()
    quietly(objective, k=20, solver=ksparse.SwapGraHTP(restarts=10_000, time_limit=0.2))
    assert time.perf_counter() - began < 20


def test_a_start_that_is_too_wide_is_truncated_before_centring() -> None:
    X = 1000 + normal(40, 4)
    y = np.random.default_rng(0).poisson(3, 40)
    objective = Poisson(X, y, fit_intercept=True)
    result = ksparse.minimize(objective, k=1, x0=[0.0, 0.0, 1e-3, 1.1e-3, -1.0])
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_are_exact_copies(seed: int) -> None:
    """Duplicate features in a small multinomial problem: the model of swaps is singular."""
    X = normal(5, 6, seed=seed)
    X[:, 5] = X[:, 0]
    result = quietly(Multinomial(X, [0, 1, 2, 0, 1]), k=3)
    assert np.isfinite(result.value)


MISTAKES: dict[str, tuple[Any, type[Exception], str]] = {
    "iterations": (lambda: ksparse.GraHTP(max_iter=1.5), TypeError, "max_iter must be an integer"),  # type: ignore[arg-type]
    "negative iterations": (lambda: ksparse.GraHTP(max_iter=-1), ValueError, "max_iter must be at least 0"),
    "debias": (lambda: ksparse.GraHTP(debias="exact"), TypeError, "debias must be callable"),  # type: ignore[arg-type]
    "debias class": (lambda: ksparse.GraHTP(debias=Exact), TypeError, "forget the parentheses"),  # type: ignore[arg-type]
    "halting class": (
        lambda: ksparse.GraHTP(halting=ksparse.solvers.SameSupport),  # type: ignore[arg-type]
        TypeError,
        "forget the parentheses",
    ),
    "callback": (
        lambda: quietly(Quadratic(np.eye(2), [1, 1]), k=1, callback=3),
        TypeError,
        "callback must be callable",
    ),
    "lower": (lambda: Entries(1, lower="a").bind((2,)), ValueError, "lower must be numeric"),
    "labels": (lambda: Logistic(np.eye(3), ["a", None, "a"]), ValueError, "y has labels of different types"),
    "groups": (
        lambda: ksparse.sparsity.Groups(1, [None, "a", "b"]).bind((3,)),  # type: ignore[arg-type]
        ValueError,
        "labels are of different types",
    ),
    "tolerance": (lambda: Exact(tol=-1.0), ValueError, "tol must be finite and greater than 0"),
    "newton limit": (lambda: Exact(max_iter=0), ValueError, "max_iter must be at least 1"),
    "intercept": (lambda: Logistic(np.eye(2), [0, 1], fit_intercept="no"), TypeError, "fit_intercept must be True or"),  # type: ignore[arg-type]
    "complex y": (lambda: LeastSquares(np.eye(2), [1j, 1]), ValueError, "y has complex values"),
    "huge weights": (
        lambda: LeastSquares(np.eye(2), [1, 1], sample_weight=[1e308, 1e308]),
        ValueError,
        "sum of sample_weight overflows",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_explained(case: str) -> None:
    act, kind, message = MISTAKES[case]
    with pytest.raises(kind, match=message):
        act()


def test_a_sparse_hessian_is_welcome() -> None:
    A = sparse.diags_array([1.0, 2.0, 3.0])
    objective = Function(lambda x: 0.5 * x @ (A @ x) - x.sum(), lambda x: A @ x - 1, hessian=lambda x: A, shape=3)
    np.testing.assert_allclose(ksparse.minimize(objective, k=2).x, [1.0, 0.5, 0.0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_multinomial_without_ridge_against_brute_force(seed: int) -> None:
    """The softmax's invariance makes every block of the model of swaps singular; swaps must work all the same."""
    from tests.problems import supports

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8))
    for j in range(1, 8):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    scores = X[:, [1, 3, 5]] + rng.gumbel(size=(60, 3))
    objective = Multinomial(X, scores.argmax(axis=1))
    masks = (np.repeat(rows[:, None], 3, axis=1) for rows in supports(8, 3))
    best = min(Exact()(objective.restrict(mask), np.zeros(9)).point.value for mask in masks)
    assert quietly(objective, k=3).value == pytest.approx(best, rel=1e-6)


def test_a_wrong_sign_is_not_convergence() -> None:
    target = np.arange(1.0, 8.0)
    wrong = Function(lambda x: np.sum((x - target) ** 2), gradient=lambda x: -2 * (x - target), shape=7)
    with pytest.warns(ksparse.ConvergenceWarning, match="check_objective"):
        assert ksparse.minimize(wrong, k=2).status is Status.UNFINISHED


def test_a_minimum_of_zero_is_recognized() -> None:
    target = np.array([0.0, 3.0, 0.0, -4.0])
    objective = Function(lambda x: np.sum(np.cosh(x - target) - 1), gradient=lambda x: np.sinh(x - target), shape=4)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=0.01)):
        result = ksparse.minimize(objective, k=2, solver=solver)
        assert result.status is Status.CONVERGED
        np.testing.assert_allclose(result.x, target, atol=1e-4)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_no_single_swap_improves_a_final_support(rho: float) -> None:
    """On correlated least squares, every swap of two features is evaluated exactly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 150))
    for j in range(1, 150):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    y = X[:, ::15].sum(axis=1) + 1.5 * rng.standard_normal(100)
    result = ksparse.minimize(LeastSquares(X, y), k=10)
    assert "no single swap" in result.message
    for leaving in result.selected:
        kept = [j for j in result.selected if j != leaving]
        Q = np.linalg.qr(X[:, kept])[0]
        residual, others = y - Q @ (Q.T @ y), X - Q @ (Q.T @ X)
        norms = np.maximum(np.sum(others**2, axis=0), 1e-12)
        values = (residual @ residual - (others.T @ residual) ** 2 / norms) / 200
        assert np.delete(values, result.selected).min() >= result.value * (1 - 1e-9)


def test_one_gradient_evaluation_for_each_iteration_of_a_function() -> None:
    target = np.arange(1.0, 8.0)
    calls = 0

    def gradient(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x - target

    objective = Function(lambda x: 0.5 * np.sum((x - target) ** 2), gradient=gradient, shape=7)
    result = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(step=0.3))
    assert calls == result.passes
    # Each new point is evaluated once: for the restricted gradient norm, and again for nothing.
    np.testing.assert_array_equal(result.history["passes"], np.arange(2, result.n_iter + 2))


def test_cached_hessians_are_not_shared() -> None:
    X = 5.0 + normal(20, 3)
    objective = LeastSquares(X, normal(20, seed=1), fit_intercept=True)
    x = np.zeros(4)
    before = objective.hessian(objective.evaluate(x))
    working = objective.working_form().objective
    centred = compute_hessian(working, working.evaluate(x))
    np.testing.assert_allclose(centred[:3, :3], np.cov(X.T, bias=True), atol=1e-12)
    before[:] = 0.0
    assert objective.hessian(objective.evaluate(x)).any()
