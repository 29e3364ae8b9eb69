"""The report: what it promises holds in simulations, and what it says is true of the problem."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.datasets import make_linear
from ksparse.objectives import (
    Function,
    LeastSquares,
    LogDet,
    Logistic,
    Multinomial,
    Objective,
    Poisson,
    Quadratic,
    from_jax,
)
from ksparse.objectives.protocols import working_form
from ksparse.solvers import FGraHTP, GraHTP, RelativeChange, Status
from ksparse.theory import TheoryReport, bracket_restricted_eigenvalues, report
from ksparse.theory.verdicts import judge_theorem_1, judge_theorem_2
from tests.problems import LINEAR, design, linear

K = 2


def make_problem(seed: int, noise: float = 0.3, **options: Any) -> tuple[LeastSquares, Array]:
    """Well-conditioned least squares, for which all theorems apply; and the true coefficients."""
    X, y, coef = make_linear(n=3000, p=10, k=K, noise=noise, random_state=seed)
    if options.get("fit_intercept"):
        X, y, coef = X + 0.5, y + 3.0, np.append(coef, 3.0 - 0.5 * coef.sum())
    return LeastSquares(X, y, **options), coef


def make_classes(seed: int) -> tuple[Objective, Array]:
    """Two classes with a ridge that makes f well conditioned."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 8))
    coef = np.where(np.arange(8) < K, 0.2, 0.0)
    return Logistic(X, rng.random(1500) < 1 / (1 + np.exp(-X @ coef)), alpha=0.5), coef


def make_responses(seed: int) -> tuple[Objective, Array]:
    """Two responses that share K features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3000, 8))
    coef = np.where(np.arange(8)[:, None] < K, rng.standard_normal((8, 2)), 0.0)
    return LeastSquares(X, X @ coef + 0.1 * rng.standard_normal((3000, 2))), coef


def make_quadratic(seed: int) -> tuple[Objective, Array]:
    rng = np.random.default_rng(seed)
    A = np.eye(10) + 0.05 * np.cov(rng.standard_normal((10, 30)))
    coef = np.where(np.arange(10) < K, rng.standard_normal(10), 0.0)
    return Quadratic(A, A @ coef), coef


PROBLEMS: dict[str, Any] = {
    "least squares": make_problem,
    "with intercept": lambda seed: make_problem(seed, fit_intercept=True),
    "without noise": lambda seed: make_problem(seed, noise=0.0),
    "with a ridge": lambda seed: make_problem(seed, alpha=0.3),
    "two responses": make_responses,
    "logistic": make_classes,
    "quadratic": make_quadratic,
}


def follow(objective: Objective, solver: Any) -> tuple[Any, list[Array], list[float]]:
    """A fit, and its iterates in the coordinates in which solvers work, with the values of f."""
    form = working_form(objective)
    iterates = [form.to_working(objective.start)]
    values = [objective.evaluate(objective.start).value]

    def keep(iteration: Any, x: Array) -> None:
        iterates.append(form.to_working(x))
        values.append(iteration.value)

    return ksparse.minimize(objective, K, solver=solver, callback=keep), iterates, values


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
def test_what_the_report_promises_holds(kind: str, seed: int) -> None:
    """Theorem 1 at the recommended step, and Theorem 2's bound of the error after every iteration."""
    objective, coef = PROBLEMS[kind](seed)
    found = report(objective, K, truth=coef)
    assert found.theorem_1.applies == "yes"
    assert found.step is not None
    runs = {
        "GraHTP": (GraHTP(step=found.step), found.theorem_2a),
        "FGraHTP": (FGraHTP(step=found.step, halting=RelativeChange(0.0), max_iter=60), found.theorem_2b),
    }
    target = working_form(objective).to_working(coef)
    for method, (solver, verdict) in runs.items():
        result, iterates, values = follow(objective, solver)
        assert np.all(np.diff(values) <= 1e-13 * max(values[0], 1.0))
        if method == "GraHTP":
            assert result.status is Status.CONVERGED
        assert verdict.applies == "yes"
        assert verdict.rate is not None
        assert verdict.rate < 1
        for t, x in enumerate(iterates):
            assert np.linalg.norm(x - target) <= found.bound_error(method, t) + 1e-12  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("thing", "advice"),
    [
        (ksparse.SparseLinearRegression(), r"got a SparseLinearRegression; .* such as ksparse.objectives.LeastSquares"),
        (lambda x: 0.0, "got a function; wrap your own function in ksparse.objectives.from_jax"),
        (LeastSquares, "got the class LeastSquares; bind a model to your data"),
    ],
)
def test_what_is_no_objective_is_refused(thing: Any, advice: str) -> None:
    for function in (ksparse.theory.report, ksparse.theory.bracket_curvature):
        with pytest.raises(TypeError, match=advice):
            function(thing, 2)


def test_the_target_with_an_intercept_is_that_of_centred_features() -> None:
    objective, coef = make_problem(0, fit_intercept=True)
    found = report(objective, K, truth=coef).target
    X, y, w = make_linear(n=3000, p=10, k=K, noise=0.3, random_state=0)
    centred = X - X.mean(axis=0)
    shift = coef[-1] + (X.mean(axis=0) + 0.5) @ w  # the mean prediction; the start predicts 0
    assert found is not None
    assert found.initial_error == pytest.approx(np.hypot(np.linalg.norm(w), shift))
    residuals = X @ w - y
    slopes = np.sort(np.abs(centred.T @ residuals / 3000))[-K:]
    assert found.gradient_k == pytest.approx(np.hypot(np.linalg.norm(slopes), residuals.mean()))


def test_the_bound_is_not_far_from_the_error() -> None:
    """A bound that is a hundred times the error would be a poor promise."""
    objective, coef = make_problem(0)
    found = report(objective, K, truth=coef)
    assert found.step is not None
    result = ksparse.minimize(objective, K, solver=GraHTP(step=found.step))
    error = np.linalg.norm(result.x - coef)
    assert error <= found.bound_error("GraHTP", 1000) < 30 * error


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_far_beyond_the_limit_f_rises() -> None:
    """The limit of Theorem 1 is not an empty statement."""
    rising = 0
    for seed in range(5):
        objective, _ = make_problem(seed)
        limit = report(objective, K).theorem_1.steps
        assert limit is not None
        _, _, values = follow(objective, FGraHTP(step=2.5 * limit[1], max_iter=20))
        rising += bool((np.diff(values) > 1e-6).any())
    assert rising == 5


def test_theorem_2a_within_bounds_of_the_eigenvalues() -> None:
    """§4.2: for a target that the bounds leave room around, Theorem 2(a) holds for the modified GraHTP."""
    rng = np.random.default_rng(0)
    omega = np.eye(5)
    omega[0, 1] = omega[1, 0] = 0.1
    omega[2, 3] = omega[3, 2] = -0.1
    X = rng.standard_normal((4000, 5)) @ np.linalg.cholesky(np.linalg.inv(omega)).T
    objective = LogDet(X.T @ X / 4000, bounds=(0.8, 1.2))
    found = report(objective, 2, truth=omega)
    verdicts = (found.theorem_1, found.theorem_2a, found.theorem_2b)
    assert [verdict.applies for verdict in verdicts] == ["unknown", "yes", "unknown"]
    assert found.step is not None
    _, iterates, _ = follow(objective, GraHTP(step=found.step))
    for t, x in enumerate(iterates):
        assert np.linalg.norm(x - omega) <= found.bound_error("GraHTP", t)
    narrow = 0.97 * np.eye(5)
    narrow[:3, :3] += 0.1 * (1 - np.eye(3))  # within the bounds, but not dominated by its diagonal
    assert np.isfinite(objective.evaluate(narrow).value)
    assert report(objective, 3, truth=narrow).theorem_2a.applies == "unknown"
    assert report(objective, 2).theorem_2a.applies == "unknown"
    wide = report(LogDet(np.eye(5)), 2)
    assert wide.theorem_2a.applies == "no"
    assert "narrower bounds" in str(wide)
    assert wide.proposition_2k is not None
    assert report(LogDet(np.eye(5), bounds=None), 2).theorem_1.applies == "no"


def test_correlated_features_are_refused_with_a_reason() -> None:
    X, y, _ = make_linear(n=200, p=10, k=2, correlation=0.9)
    found = report(LeastSquares(X, y), K)
    assert found.theorem_1.applies == "yes"
    assert found.theorem_2a.applies == found.theorem_2b.applies == "no"
    m, M = found.curvature_s.smallest.low, found.curvature_s.largest.high
    assert f"M_6/m_6 is at least {M / m:.3g}; it must be below 2.41" in found.theorem_2a.reason
    assert "below 3" in found.theorem_2b.reason
    assert "less correlated features" in str(found)
    with pytest.raises(ValueError, match="has no bound for GraHTP"):
        found.bound_error("GraHTP", 1)


def test_copies_of_a_feature_are_refused() -> None:
    X = design()[:, [0, 0, 1, 2]]
    found = report(LeastSquares(X, X[:, 0]), 1)
    assert found.theorem_1.applies == "no"
    assert "m_2 is 0" in found.theorem_1.reason
    assert found.condition_2k is None
    assert "f never rises with steps below 1/M_2" in " ".join(str(found).split())
    limit = 1 / found.curvature_2k.largest.high
    assert found.step == pytest.approx(0.99 * limit)


def test_between_bounds_there_is_no_verdict() -> None:
    """Too many supports to enumerate, and bounds on both sides of what Theorem 2 asks for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 40))
    found = report(LeastSquares(X, X[:, 0]), 2, max_supports=10)
    assert found.theorem_2a.applies == "unknown"
    assert "do not decide" in found.theorem_2a.reason
    kinds = found.to_frame()["kind"]
    assert kinds["m_6 ≥"] == kinds["m_6 ≤"] == "bound"
    exact = bracket_restricted_eigenvalues(X.T @ X / 600, 2)
    assert judge_theorem_1(exact).applies == "yes"
    assert judge_theorem_2(replace(exact, s=6), None, fast=False).steps is not None


def test_logistic_regression() -> None:
    objective, coef = make_classes(0)
    found = report(objective, K, truth=coef)
    assert found.curvature_2k.smallest.low == 0.5
    assert found.proposition_2k is not None
    assert found.condition_2k is not None
    assert found.proposition_2k.step_limit < found.condition_2k.step_limit
    assert found.gradient_bound_k is not None
    assert found.target is not None
    assert found.target.gradient_k <= found.gradient_bound_k.value
    assert found.gradient_bound_k.shrinkage == pytest.approx(0.5 * np.linalg.norm(coef))
    frame = found.to_frame()
    assert frame["kind"]["‖∇_k f(w̄)‖ ≤"] == "bound"
    assert frame["value"]["ζ of C(4), Proposition 1"] == found.proposition_2k.zeta
    X = design()
    y = X[:, 0] > 0
    plain = report(Logistic(X, y), K)
    assert plain.theorem_1.applies == "no"
    assert "there is no ridge" in plain.theorem_1.reason
    free = report(Logistic(X, y, alpha=1.0, fit_intercept=True), K)
    assert "an intercept has no ridge" in free.theorem_1.reason
    assert free.proposition_2k is None
    assert free.gradient_bound_k is None
    assert report(Logistic(X, y, sample_weight=np.arange(1.0, 41.0)), K).gradient_bound_k is None
    bound = report(objective, K, sigma=2.0).gradient_bound_k
    assert bound is not None
    assert bound.noise == pytest.approx(2 * 2.0 * np.sqrt(2 * np.log(8) / 1500))


def test_losses_without_a_bound_of_their_curvature() -> None:
    X = design()
    found = report(Poisson(X, np.arange(40.0) % 4, alpha=0.1), K)
    assert found.theorem_1.applies == "unknown"
    assert "no bound of the curvature of the loss is known" in found.theorem_1.reason
    assert found.step_source.startswith("estimate")
    assert found.to_frame()["kind"]["M_4 ≥"] == "estimate"
    assert found.to_frame()["kind"]["step η"] == "estimate"


def test_functions_are_sampled() -> None:
    f = Function(lambda x: np.sum(x**4 + x**2), gradient=lambda x: 4 * x**3 + 2 * x, shape=8)
    found = report(f, K)
    assert found.theorem_1.applies == "unknown"
    assert found.to_frame()["kind"]["m_4 ≤"] == "estimate"
    assert found.step == pytest.approx(0.99 / 2, rel=1e-6)
    assert "Hessians are sampled" in str(found)
    refuted = report(f, K, points=[[2.0, 0, 0, 0, 0, 0, 0, 0]])
    assert refuted.theorem_2a.applies == "no"  # M/m is at least 50/2
    waves = Function(lambda x: np.sum(np.cos(x)), gradient=lambda x: -np.sin(x), shape=8)
    assert "not convex" in report(waves, K).theorem_1.reason


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_every_linear_model_has_a_report(kind: str, fit_intercept: bool) -> None:
    objective = linear(kind, fit_intercept=fit_intercept)
    found = report(objective, K)
    assert ("The intercept is in every support" in str(found)) == objective.fit_intercept
    check_texts(found)


def check_texts(found: TheoryReport) -> None:
    frame = found.to_frame()
    assert frame.index.is_unique
    assert set(frame["kind"]) <= {"exact", "bound", "estimate", "choice"}
    assert not frame["value"].isna().any()
    assert all(len(line) <= 100 for line in str(found).split("\n\n")[0].splitlines())
    html = found._repr_html_()
    assert html.count("<p>") >= 5
    assert "<table" in html
    assert repr(found) == str(found)


def test_a_given_step_is_judged() -> None:
    objective, _ = make_problem(0)
    best = report(objective, K)
    short = report(objective, K, step=0.1)
    assert short.theorem_2a.applies == "yes"
    assert short.theorem_2a.rate is None
    assert "The step 0.1 is not among them" in str(short)
    assert "below Theorem 1's limit" in str(short)
    assert "not below Theorem 1's limit" in str(report(objective, K, step=3.0))
    assert best.step is not None
    given = report(objective, K, step=best.step)
    assert given.theorem_2a == best.theorem_2a
    with pytest.raises(ValueError, match="pass truth"):
        best.bound_error("GraHTP", 1)
    with pytest.raises(ValueError, match="method must be"):
        best.bound_error("GraSP", 1)  # type: ignore[arg-type]


def test_the_number_of_true_units() -> None:
    objective, coef = make_problem(0)
    assert report(objective, 3, truth=coef).k_true == 2
    assert report(objective, 3).s == 9
    assert report(objective, 3, k_true=1).s == 7
    with pytest.raises(ValueError, match="truth has 2 nonzero units, more than k_true = 1"):
        report(objective, 3, truth=coef, k_true=1)
    with pytest.raises(ValueError, match="raise k"):
        report(objective, 1, truth=coef)
    with pytest.raises(ValueError, match="k must be at least 1"):
        report(objective, 0)
    with pytest.raises(ValueError, match="truth has shape"):
        report(objective, 2, truth=coef[:3])


def test_quadratics_in_jax_are_known_exactly() -> None:
    own, coef = make_problem(0)
    X, y, _ = make_linear(n=3000, p=10, k=K, noise=0.3, random_state=0)
    found = report(from_jax(lambda w: 0.5 * jnp.mean((y - X @ w) ** 2), 10), K, truth=coef)
    expected = report(own, K, truth=coef)
    assert found.theorem_2a.applies == "yes"
    assert found.curvature_s.is_exact
    assert found.step == pytest.approx(expected.step, rel=1e-9)
    assert found.bound_error("GraHTP", 5) == pytest.approx(expected.bound_error("GraHTP", 5), rel=1e-6)


@pytest.mark.slow
def test_functions_that_count_groups() -> None:
    """Rows of a layer: the report counts what `minimize` counts."""
    X = design()
    f = from_jax(
        lambda q: jnp.mean((X @ q["w"] @ jnp.ones(2) + q["b"]) ** 2) + jnp.sum(q["w"] ** 2),
        {"w": np.zeros((9, 2)), "b": 0.0},
        sparse={"w": 0},
    )
    truth = np.zeros(19)
    truth[4:8] = 1.0
    found = report(f, 2, truth=truth)
    assert found.k_true == 2
    with pytest.raises(ValueError, match="truth has 3 nonzero units"):
        report(f, 2, truth=np.where(np.arange(19) < 6, 1.0, 0.0), k_true=2)
    features = np.column_stack([np.repeat(X, 2, axis=1), np.ones(40)])
    H = 2 * features.T @ features / 40 + np.diag([2.0] * 18 + [0.0])
    blocks = [[*(2 * np.repeat(rows, 2) + np.tile([0, 1], 4)), 18] for rows in combinations(range(9), 4)]
    eigenvalues = np.array([np.linalg.eigvalsh(H[np.ix_(block, block)]) for block in blocks])
    assert eigenvalues[:, 0].min() - 1e-9 <= found.curvature_2k.smallest.high <= np.quantile(eigenvalues[:, 0], 0.2)
    assert np.quantile(eigenvalues[:, -1], 0.8) <= found.curvature_2k.largest.low <= eigenvalues[:, -1].max() + 1e-9


def test_several_classes_count_rows() -> None:
    X = design()
    found = report(Multinomial(X, np.arange(40) % 3, alpha=0.2, fit_intercept=False), K)
    assert found.curvature_2k.smallest.low == 0.2
    assert found.theorem_1.applies == "yes"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_truth_that_is_not_finite_is_refused(value: float) -> None:
    objective = linear("least squares")
    with pytest.raises(ValueError, match="truth has 1 NaN or infinite values; pass the coefficients"):
        report(objective, K, truth=np.where(np.arange(objective.size) == 1, value, 0.0))
