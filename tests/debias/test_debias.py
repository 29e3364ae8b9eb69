"""Minimizing on a support: all methods agree, bounds hold, and what has no minimum is called so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize, nnls

from ksparse.debias import Bounds, Exact, GradientStep, NewtonStep, Outcome, Truncate, exact
from ksparse.objectives import Function, Huber, LeastSquares, Logistic, Multinomial, Poisson, Quadratic
from tests.problems import LINEAR, OBJECTIVES, P, design, linear, responses, signal

METHODS = ["newton-cholesky", "newton-cg", "lbfgs"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_methods_agree_and_the_gradient_vanishes(name: str, method: Any) -> None:
    objective = OBJECTIVES[name]()
    support = np.ones(objective.shape, dtype=bool)
    restricted = objective.restrict(support)
    start = np.zeros(restricted.shape)
    reference = Exact(method="auto")(restricted, start)
    found = Exact(method=method)(restricted, start)
    assert found.outcome is Outcome.SOLVED
    assert found.point.value == pytest.approx(reference.point.value, rel=1e-9, abs=1e-12)
    assert np.abs(found.point.gradient).max() < (1e-5 if method == "lbfgs" else 1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", LINEAR)
def test_bounds_against_scipy(kind: str, method: Any) -> None:
    objective = linear(kind)
    restricted = objective.restrict(np.ones(objective.shape, dtype=bool))
    size = restricted.size
    bounds = Bounds(np.where(np.arange(size) % 2, -0.1, 0.0), np.full(size, 0.25))
    found = Exact(method=method)(restricted, np.zeros(size), bounds)
    peer = minimize(
        lambda x: (restricted.evaluate(x).value, restricted.evaluate(x).gradient),
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack(bounds),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    assert found.outcome is Outcome.SOLVED
    assert found.point.value <= peer.fun + 1e-10
    assert (found.point.x >= bounds.lower).all()
    assert (found.point.x <= bounds.upper).all()
    stuck = ~bounds.find_movable(found.point.x, found.point.gradient)
    assert stuck.any()
    assert np.abs(found.point.gradient[~stuck]).max(initial=0.0) < 1e-4


def test_nonnegative_least_squares() -> None:
    X, y = design(), responses("least squares", -signal(design()))
    objective = LeastSquares(X, y)
    found = Exact()(objective, np.zeros(P), Bounds(np.zeros(P), np.full(P, np.inf)))
    np.testing.assert_allclose(found.point.x, nnls(X, y)[0], atol=1e-8)
    found = Exact()(objective, np.zeros(P), Bounds(np.full(P, -0.3), np.full(P, 0.1)))
    np.testing.assert_allclose(found.point.x, lsq_linear(X, y, (-0.3, 0.1), tol=1e-14).x, atol=1e-6)


@pytest.mark.parametrize("kind", LINEAR)
def test_one_step_methods_descend(kind: str) -> None:
    objective = linear(kind)
    restricted = objective.restrict(np.ones(objective.shape, dtype=bool))
    start = np.full(restricted.shape, 0.05)
    value = restricted.evaluate(start).value
    best = Exact()(restricted, start).point.value
    newton, gradient = (step(restricted, start).point.value for step in (NewtonStep(), GradientStep()))
    assert best - 1e-12 <= newton < value
    assert best - 1e-12 <= gradient < value
    assert Truncate()(restricted, start).point.value == pytest.approx(value, rel=1e-15)


def test_one_step_methods_take_one_step_of_the_right_length() -> None:
    objective = linear("logistic", alpha=0.5)
    point = objective.evaluate(np.full(P, 0.05))
    g, H = point.gradient, objective.hessian(point)
    newton = point.x - np.linalg.solve(H, g)
    gradient = point.x - (g @ g) / (g @ H @ g) * g
    np.testing.assert_allclose(NewtonStep()(objective, point.x).point.x, newton, atol=1e-12)
    np.testing.assert_allclose(GradientStep()(objective, point.x).point.x, gradient, atol=1e-12)


def test_the_method_is_chosen_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    for name in ("minimize_compiled", "minimize_newton", "minimize_lbfgs"):
        original = getattr(exact, name)

        def watched(*arguments: Any, name: str = name, original: Any = original, **options: Any) -> Any:
            directions = options.get("solve")
            called.append(name if directions is None else directions.__name__)
            return original(*arguments, **options)

        monkeypatch.setattr(exact, name, watched)
    objective = linear("logistic")
    Exact()(objective, np.zeros(P))
    assert set(called) == {"minimize_compiled"}
    called.clear()
    Exact()(linear("logistic", alpha=0.0), np.zeros(P))
    assert set(called) == {"minimize_compiled", "minimize_newton"}  # the first has left it to the second
    called.clear()
    monkeypatch.setattr(exact, "MAX_CHOLESKY_SIZE", P - 1)
    Exact()(objective, np.zeros(P))
    assert set(called) == {"solve_by_conjugate_gradients"}
    called.clear()
    Exact()(OBJECTIVES["function"](), np.zeros(P))
    assert set(called) == {"minimize_lbfgs"}


def test_one_newton_step_is_exact_on_a_quadratic() -> None:
    objective = linear("least squares")
    step, solution = NewtonStep()(objective, np.ones(P)), Exact()(objective, np.ones(P))
    np.testing.assert_allclose(step.point.x, solution.point.x, atol=1e-10)


def test_separated_classes_have_no_minimum() -> None:
    X = np.array([[1.0, 0.2], [2.0, -1.0], [-1.0, 0.3], [-3.0, 0.1]])
    for objective in (
        Logistic(X, [1, 1, 0, 0]),
        Multinomial(X, [1, 1, 0, 0]),
        Logistic(X, [1, 1, 0, 0], offset=np.ones(4)),
    ):
        restricted = objective.restrict(np.ones(objective.shape, dtype=bool))
        found = Exact()(restricted, np.zeros(restricted.shape))
        assert found.outcome is Outcome.NO_MINIMUM
        assert np.isfinite(found.point.x).all()
    ridge = Logistic(X, [1, 1, 0, 0], alpha=1e-8)
    found = Exact()(ridge, np.zeros(2))
    assert found.outcome is Outcome.SOLVED
    assert np.abs(found.point.gradient).max() < 1e-10


def test_quasi_separated_classes_have_no_minimum() -> None:
    """Two samples on the boundary with both labels: the loss stays above zero, the minimizer is at infinity."""
    X = np.array([[0.0], [0.0], [1.0], [2.0], [-1.0]])
    found = Exact()(Logistic(X, [1, 0, 1, 1, 0]), np.zeros(1))
    assert found.outcome is Outcome.NO_MINIMUM
    assert found.point.value == pytest.approx(2 / 5 * np.log(2), rel=1e-6)


def test_counts_of_zero_have_no_minimum() -> None:
    found = Exact()(Poisson(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [0, 0, 3]), np.zeros(2))
    assert found.outcome is Outcome.NO_MINIMUM
    assert np.isfinite(found.point.x).all()


@pytest.mark.parametrize("kind", LINEAR)
def test_duplicate_columns_are_singular_not_fatal(kind: str) -> None:
    X = np.column_stack([design()[:, :3], design()[:, :3], np.zeros(40)])
    y = responses(kind, signal(design()))
    objective = LINEAR[kind](X, y)
    restricted = objective.restrict(np.ones(objective.shape, dtype=bool))
    found = Exact()(restricted, np.zeros(restricted.shape))
    once = LINEAR[kind](X[:, :3], y)
    distinct = Exact()(once.restrict(np.ones(once.shape, dtype=bool)), np.zeros(once.size))
    assert found.outcome is Outcome.SINGULAR
    assert distinct.outcome is Outcome.SOLVED
    assert found.point.value == pytest.approx(distinct.point.value, rel=1e-8)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    found = Exact()(LeastSquares(rng.standard_normal((4, 7)), rng.standard_normal(4)), np.zeros(7))
    assert found.outcome is Outcome.SINGULAR
    assert found.point.value < 1e-25


def test_quadratics_without_a_minimum() -> None:
    indefinite = Quadratic(np.diag([1.0, -1.0]), [1.0, 1.0])
    flat = Quadratic(np.diag([1.0, 0.0]), [1.0, 1.0])
    for objective in (indefinite, flat):
        assert Exact()(objective, np.zeros(2)).outcome is Outcome.NO_MINIMUM
    assert Exact()(Quadratic(np.diag([1.0, 0.0]), [1.0, 0.0]), np.zeros(2)).outcome is Outcome.SINGULAR


def test_huber_far_from_its_quadratic_part() -> None:
    """Every residual starts in the linear part, where the Hessian is zero."""
    X = design()
    y = 1e4 + signal(X)
    objective = Huber(X, y, fit_intercept=True)
    found = Exact()(objective, np.zeros(P + 1))
    assert found.outcome is Outcome.SOLVED
    np.testing.assert_allclose(X @ found.point.x[:-1] + found.point.x[-1], y, atol=1e-4)


def test_functions_without_a_bottom() -> None:
    falling = Function(lambda x: -float(np.sum(x)), gradient=lambda x: -np.ones(2), shape=2)
    assert Exact()(falling, np.zeros(2)).outcome is Outcome.NO_MINIMUM


def test_domains_are_respected() -> None:
    """−log x + x is infinite for x ≤ 0: searches step back instead of failing."""

    def value(x: Any) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.sum(x - np.log(x)))

    objective = Function(value, gradient=lambda x: 1 - 1 / x, hessian=lambda x: np.diag(x**-2.0), shape=2)
    for method in ("newton-cholesky", "lbfgs"):
        found = Exact(method=method)(objective, np.array([0.01, 30.0]))
        np.testing.assert_allclose(found.point.x, 1.0, atol=1e-4)
    assert Exact()(objective, np.array([-1.0, -1.0])).outcome is Outcome.NOT_FINITE


def test_an_empty_support() -> None:
    objective = linear("logistic").restrict(np.zeros(P, dtype=bool))
    for debias in (Exact(), NewtonStep(), GradientStep(), Truncate()):
        found = debias(objective, np.zeros(0))
        assert found.point.value == pytest.approx(np.log(2))


def test_unknown_method() -> None:
    with pytest.raises(ValueError, match="method must be one of"):
        Exact(method="sgd")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": 1.0}, "rho is a parameter of method=\"adm\", not of 'auto'"),
        ({"method": "lbfgs", "rho": 1.0}, "not of 'lbfgs'; leave one of them out"),
        ({"method": "neighbourhood", "max_iter": 5}, 'has no max_iter; leave it out, or use method="adm"'),
        ({"max_iter": 0}, r"max_iter must be at least 1; for no debiasing, use Truncate\(\)"),
        ({"tol": 0.0}, "tol must be finite and greater than 0"),
    ],
)
def test_parameters_that_would_be_ignored_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Exact(**options)
