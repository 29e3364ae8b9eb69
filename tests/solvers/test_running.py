"""Halting, limits, callbacks, history, statuses, steps and bad input."""

from __future__ import annotations

import warnings
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.objectives import Function, LeastSquares, Logistic, Quadratic
from ksparse.solvers import (
    Backtracking,
    BarzilaiBorwein,
    Constant,
    History,
    Lipschitz,
    Normalized,
    RelativeChange,
    SameSupport,
    Status,
    StepRule,
    Theory,
)
from ksparse.theory import ConditionC
from tests.problems import P, design, linear

STEPS: dict[str, StepRule] = {
    "constant": Constant(0.3),
    "constant scaled": Constant(0.5, scaled=True),
    "lipschitz": Lipschitz(),
    "lipschitz scaled": Lipschitz(scaled=True),
    "theory": Theory(ConditionC(zeta=0.2, rho=0.9)),
    "theory scaled": Theory(ConditionC(zeta=0.5, rho=0.5), scaled=True),
    "normalized": Normalized(),
    "normalized scaled": Normalized(scaled=True),
    "barzilai-borwein": BarzilaiBorwein(),
    "barzilai-borwein scaled": BarzilaiBorwein(scaled=True),
    "backtracking": Backtracking(),
    "backtracking scaled": Backtracking(scaled=True),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [ksparse.GraHTP, ksparse.FGraHTP])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ["least squares", "logistic", "multinomial"])
def test_every_step_rule_lowers_f(kind: str, step: str, method: Any) -> None:
    objective = linear(kind, fit_intercept=True)
    result = ksparse.minimize(objective, k=4, solver=method(step=STEPS[step]))
    start = objective.evaluate(np.zeros(objective.shape)).value
    assert result.value < 0.9 * start
    assert np.isfinite(result.history["step"]).all()
    assert (result.history["step"] > 0).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [ksparse.GraHTP, ksparse.FGraHTP])
@pytest.mark.parametrize("step", [name for name in STEPS if "scaled" in name and "backtracking" not in name])
def test_a_scaled_step_is_the_plain_one_after_a_change_of_variables(step: str, method: Any) -> None:
    """On least squares, whose curvature is constant: x = u/√D, with the columns of X divided by √D."""
    X = design() * 10.0 ** np.linspace(-1, 1, P)
    y = X[:, 1] - X[:, 7] + np.random.default_rng(0).standard_normal(40)
    root = np.sqrt(np.mean(X**2, axis=0))
    plain = replace(STEPS[step], scaled=False)
    seen: dict[bool, list[Any]] = {True: [], False: []}
    for scaled, rule in ((True, STEPS[step]), (False, plain)):
        objective = LeastSquares(X if scaled else X / root, y)
        solver = method(step=rule, max_iter=8)
        watch = seen[scaled]
        ksparse.minimize(objective, 3, solver=solver, callback=lambda _, x, watch=watch: watch.append(x))  # type: ignore[misc]
    assert len(seen[True]) == len(seen[False]) >= 1
    for x, u in zip(seen[True], seen[False], strict=True):
        np.testing.assert_allclose(x * root, u, atol=1e-7)


def test_constant_and_lipschitz_steps_are_what_they_say() -> None:
    objective = linear("least squares")
    largest = np.linalg.eigvalsh(objective.hessian(objective.evaluate(np.zeros(P))))[-1]
    result = ksparse.minimize(objective, k=3, solver=ksparse.GraHTP(step=Lipschitz(factor=0.5)))
    np.testing.assert_allclose(result.history["step"], 0.5 / largest, rtol=3e-3)
    result = ksparse.minimize(objective, k=3, solver=ksparse.GraHTP(step=0.25))
    np.testing.assert_array_equal(result.history["step"], 0.25)


def test_the_normalized_step_minimizes_along_the_gradient() -> None:
    objective = linear("least squares")
    result = ksparse.minimize(objective, k=P, solver=ksparse.FGraHTP(step=Normalized(), max_iter=1000))
    g = objective.evaluate(np.zeros(P)).gradient
    assert result.history[0].step == pytest.approx(g @ g / (g @ objective.hessian(objective.evaluate(g)) @ g))
    assert (np.diff(result.history["value"]) <= 1e-15).all()


def test_normalized_steps_never_raise_least_squares() -> None:
    for seed in range(10):
        objective = linear("least squares", seed=seed)
        result = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(step=Normalized()))
        assert (np.diff(result.history["value"]) <= 1e-14).all()


def test_the_barzilai_borwein_step_is_a_secant() -> None:
    objective = linear("least squares")
    seen: list[Any] = []
    solver = ksparse.FGraHTP(step=BarzilaiBorwein(), max_iter=4, halting=())
    with pytest.warns(ksparse.ConvergenceWarning):
        result = ksparse.minimize(objective, k=P, solver=solver, callback=lambda _, x: seen.append(x.copy()))
    s = seen[1] - seen[0]
    y = objective.evaluate(seen[1]).gradient - objective.evaluate(seen[0]).gradient
    assert result.history[2].step == pytest.approx(s @ s / (s @ y))


def test_backtracking_never_raises_f() -> None:
    for seed in range(10):
        for scaled in (False, True):
            for method in (ksparse.GraHTP, ksparse.FGraHTP):
                objective = linear("logistic", seed=seed)
                result = ksparse.minimize(objective, k=3, solver=method(step=Backtracking(scaled=scaled)))
                assert (np.diff(result.history["value"]) <= 1e-15).all()
                assert result.status is Status.CONVERGED


def test_poisson_has_no_lipschitz_constant() -> None:
    with pytest.raises(ValueError, match=r"has no known Lipschitz constant.*Backtracking"):
        ksparse.minimize(linear("poisson"), k=2, solver=ksparse.GraHTP())


def test_halting_rules() -> None:
    objective = linear("logistic")
    loose = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(halting=RelativeChange(1e-2)))
    tight = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(halting=RelativeChange(1e-8), max_iter=100_000))
    by_value = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(halting=RelativeChange(1e-2, of="f")))
    both = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(halting=(SameSupport(), RelativeChange(1e-8))))
    assert loose.n_iter < tight.n_iter
    assert both.n_iter <= 3
    assert "relative change of x ≤ 1e-2" in loose.message
    assert "relative change of f ≤ 1e-2" in by_value.message
    values = by_value.history["value"]
    assert abs(values[-1] - values[-2]) <= 1e-2 * values[-2]
    assert "support did not change" in both.message


def test_the_iteration_limit() -> None:
    with pytest.warns(ksparse.ConvergenceWarning, match="after 3 iterations; raise max_iter"):
        result = ksparse.minimize(linear("logistic"), k=3, solver=ksparse.FGraHTP(max_iter=3))
    assert result.status is Status.MAX_ITER
    assert result.n_iter == 3


def test_the_time_limit() -> None:
    with pytest.warns(ksparse.ConvergenceWarning, match="time limit of 0 s"):
        result = ksparse.minimize(linear("logistic"), k=3, solver=ksparse.FGraHTP(time_limit=0.0))
    assert result.status is Status.TIME_LIMIT
    assert result.n_iter == 1


def test_a_callback_watches_and_stops() -> None:
    seen: list[Any] = []

    def callback(iteration: Any, x: Any) -> bool:
        seen.append((iteration.iteration, iteration.value, x.shape))
        return iteration.iteration == 4

    result = ksparse.minimize(linear("logistic"), k=3, solver=ksparse.FGraHTP(), callback=callback)
    assert result.status is Status.STOPPED
    assert result.success
    assert [number for number, _, _ in seen] == [1, 2, 3, 4]
    assert [value for _, value, _ in seen] == result.history["value"].tolist()


def test_callbacks_see_the_users_coordinates() -> None:
    """With an intercept, solvers work on centred columns; callbacks and results do not."""
    X = design() + 100.0
    objective = linear("logistic", X, fit_intercept=True)
    values: list[float] = []
    result = ksparse.minimize(objective, k=3, callback=lambda _, x: values.append(objective.evaluate(x).value))
    np.testing.assert_allclose(values, result.history["value"], rtol=1e-9)
    assert objective.evaluate(result.x).value == pytest.approx(result.value, rel=1e-12)


def test_the_support_change_counts_units_that_enter() -> None:
    supports: list[Any] = [np.zeros(P, dtype=bool)]
    solver = ksparse.FGraHTP(step=2.0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        result = ksparse.minimize(linear("logistic"), k=3, solver=solver, callback=lambda _, x: supports.append(x != 0))
    changes = [int((after & ~before).sum()) for before, after in pairwise(supports)]
    assert result.history["support_change"].tolist() == changes
    assert changes[0] == 3


def test_history_reads_like_a_table() -> None:
    history = ksparse.minimize(linear("logistic"), k=3).history
    assert isinstance(history, History)
    assert history[0].iteration == 1
    assert isinstance(history[:1], History)
    assert len(history[:1]) == 1
    assert set(history.columns) >= {"value", "support_change", "step", "gradient_norm", "seconds", "passes"}
    assert str(history).count("\n") == len(history)
    assert repr(history) == f"<History of {len(history)} iterations>"
    with pytest.raises(KeyError, match="'loss' is not a column of the history"):
        history["loss"]


def test_the_gradient_norm_is_that_of_the_support() -> None:
    objective = linear("logistic")
    result = ksparse.minimize(objective, k=3, solver=ksparse.FGraHTP(step=0.5))
    gradient = objective.evaluate(result.x).gradient[result.support]
    assert result.history[-1].gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-10)
    exact = ksparse.minimize(objective, k=3, solver=ksparse.GraHTP(step=0.5))
    assert (exact.history["gradient_norm"] < 1e-8).all()


def test_the_result_says_what_happened() -> None:
    text = repr(ksparse.minimize(linear("logistic"), k=3))
    for word in ("converged", "message", "value", "selected", "3 units", "passes"):
        assert word in text


def test_separable_data_without_ridge() -> None:
    X = np.vstack([np.eye(3), -np.eye(3)])
    y = [1, 1, 1, 0, 0, 0]
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=1.0), ksparse.GraSP(), ksparse.FBS()):
        with pytest.warns(ksparse.ConvergenceWarning, match="no minimum.*Set alpha > 0"):
            result = ksparse.minimize(Logistic(X, y), k=3, solver=solver)
        assert result.status is Status.NO_MINIMUM
        assert np.isfinite(result.x).all()
        assert np.isfinite(result.value)


def test_singular_data_without_ridge() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 10))
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=0.3), ksparse.GraSP(), ksparse.FBS()):
        result = ksparse.minimize(LeastSquares(X, rng.standard_normal(4)), k=7, solver=solver)
        assert result.status is Status.SINGULAR
        assert "not unique" in result.message
        assert result.success
        assert result.value < 1e-20


def test_duplicate_and_constant_columns() -> None:
    X = np.column_stack([design(), design()[:, :2], np.ones(40), np.zeros(40)])
    y = design()[:, 0] * 2 + 5
    result = ksparse.minimize(LeastSquares(X, y, fit_intercept=True), k=1)
    assert result.selected.tolist() == [0]
    assert result.value < 1e-20


def nan_after(calls: int) -> Function:
    """½‖x − 1‖², which turns NaN after some evaluations."""
    count = 0

    def value(x: Any) -> float:
        nonlocal count
        count += 1
        return float(0.5 * np.sum((x - 1) ** 2)) if count <= calls else float("nan")

    return Function(value, gradient=lambda x: x - 1, shape=5)


NAN_SOLVERS = [
    ksparse.FGraHTP(step=0.01),
    ksparse.GraHTP(step=0.5),
    ksparse.GraHTP(step=Backtracking()),
    ksparse.FGraHTP(step=Backtracking()),
    ksparse.SwapGraHTP(),
    ksparse.GraSP(),
    ksparse.FBS(),
]


@pytest.mark.parametrize("solver", NAN_SOLVERS)
def test_a_function_that_turns_nan(solver: Any) -> None:
    for calls in (1, 2, 3, 5, 8, 12, 20, 40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
            result = ksparse.minimize(nan_after(calls), k=2, solver=solver)
        assert np.isfinite(result.value)
        assert np.isfinite(result.x).all()
        if result.status is Status.CONVERGED:
            assert result.value == pytest.approx(1.5, abs=1e-3)
        if calls == 1:
            assert result.status in (Status.NOT_FINITE, Status.UNFINISHED)


@pytest.mark.parametrize("options", [{"k": 2}, {"k": 9}, {"k": 2, "x0": np.ones(6)}], ids=["plain", "inactive", "x0"])
@pytest.mark.parametrize("solver", NAN_SOLVERS)
def test_a_gradient_that_turns_nan(solver: Any, options: dict[str, Any]) -> None:
    target = np.array([0.1, -2, 0.3, 1, 2, 0.5])
    for calls in (*range(12), 20, 30, 50, 80):
        count = 0

        def gradient(x: Any, calls: int = calls) -> Any:
            nonlocal count
            count += 1
            return 2 * (x - target) if count <= calls else np.full(6, np.nan)

        objective = Function(lambda x: float(np.sum((x - target) ** 2)), gradient=gradient, shape=6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
            result = ksparse.minimize(objective, solver=solver, **options)
        assert np.isfinite(result.x).all()
        assert np.isfinite(result.value)
        if calls == 0:
            assert result.status is Status.NOT_FINITE


def test_a_hessian_that_is_nan() -> None:
    bad = Function(lambda x: x @ x, gradient=lambda x: 2 * x - 1, hessian=lambda x: np.full((3, 3), np.nan), shape=3)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=0.1)):
        with pytest.warns(ksparse.ConvergenceWarning, match="Hessian has NaN"):
            assert ksparse.minimize(bad, k=1, solver=solver).status is Status.NOT_FINITE


def test_nan_midway_has_its_own_status() -> None:
    with pytest.warns(ksparse.ConvergenceWarning, match="iteration 3: f is nan.*check_objective"):
        result = ksparse.minimize(nan_after(3), k=2, solver=ksparse.FGraHTP(step=0.01))
    assert result.status is Status.NOT_FINITE
    assert result.n_iter == 2


def test_a_gradient_that_is_nan() -> None:
    bad = Function(lambda x: float(x @ x), gradient=lambda x: np.full(3, np.nan), shape=3)
    for solver in (ksparse.SwapGraHTP(), ksparse.GraHTP(step=1.0), ksparse.GraSP(), ksparse.FBS()):
        with pytest.warns(ksparse.ConvergenceWarning, match="gradient has 3 NaN or infinite entries"):
            result = ksparse.minimize(bad, k=1, solver=solver)
        assert result.status is Status.NOT_FINITE


def test_a_step_that_is_too_long_diverges_with_a_status() -> None:
    objective = Quadratic(np.eye(2), [1.0, 1.0])
    with pytest.warns(ksparse.ConvergenceWarning):
        result = ksparse.minimize(objective, k=2, solver=ksparse.FGraHTP(step=1e200, halting=()))
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.value)


def test_errors_of_the_users_function_come_through() -> None:
    def value(x: Any) -> float:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        ksparse.minimize(Function(value, gradient=lambda x: x, shape=2), k=1)


def test_solvers_and_sets_are_immutable() -> None:
    for thing in (ksparse.GraHTP(), ksparse.SwapGraHTP(), ksparse.sparsity.Entries(3), Constant(1.0)):
        with pytest.raises(FrozenInstanceError):
            thing.k = 5  # type: ignore[misc, union-attr]
