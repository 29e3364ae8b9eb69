"""The evaluator, compared with closed forms and with direct minimization."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from suite.evaluator import compute_graph_objective, evaluate, refit
from suite.tasks import Instance, Task


def make_task(kind: str, alpha: float, seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8))
    margins = X[:, 1] - 2 * X[:, 4] + rng.standard_normal(60)
    return Task(kind, X, margins if kind == "linear" else np.where(margins > 0, 1.0, -1.0), 2, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_linear_objective_equals_the_closed_form(alpha: float) -> None:
    task = make_task("linear", alpha)
    columns = task.X[:, [1, 4]]
    w = np.linalg.solve(columns.T @ columns / 60 + alpha * np.eye(2), columns.T @ task.y / 60)
    value = 0.5 * np.mean((task.y - columns @ w) ** 2) + 0.5 * alpha * w @ w
    np.testing.assert_allclose(evaluate(Instance(task), [4, 1])["objective"], value, rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_logistic_objective_is_the_minimum(form: type) -> None:
    task = make_task("logistic", 0.01)
    columns = task.X[:, [0, 1, 4]]

    def f(w: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0, -task.y * (columns @ w))) + 0.005 * w @ w)

    found = minimize(f, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    given = Task(task.kind, form(task.X), task.y, 3, task.alpha)
    np.testing.assert_allclose(evaluate(Instance(given), [0, 1, 4])["objective"], found.fun, rtol=1e-9)


def test_true_support_has_the_lowest_objective() -> None:
    task = make_task("logistic", 1e-3)
    values = {pair: evaluate(Instance(task), pair)["objective"] for pair in combinations(range(8), 2)}
    assert min(values, key=lambda pair: values[pair]) == (1, 4)


def test_empty_selection_is_the_model_without_features() -> None:
    measures = evaluate(Instance(make_task("logistic", 1e-3), truth=np.array([1])), np.arange(0))
    assert measures["objective"] == pytest.approx(np.log(2))
    assert (measures["features"], measures["recall"]) == (0, 0)


def test_recall_and_test_error() -> None:
    task = make_task("linear", 0.0)
    fresh = np.random.default_rng(1).standard_normal((500, 8))
    linear = Instance(task, np.array([1, 4, 6]), fresh, fresh[:, 1] - 2 * fresh[:, 4])
    measures = evaluate(linear, [1, 4])
    assert measures["recall"] == pytest.approx(2 / 3)
    w = refit("linear", task.X[:, [1, 4]], task.y, 0.0)
    residuals = linear.y_test - fresh[:, [1, 4]] @ w
    assert measures["test_error"] == pytest.approx(np.mean(residuals**2) / np.var(linear.y_test))
    flipped = Instance(make_task("logistic", 1e-3), None, fresh[:, :8], -np.sign(fresh[:, 1] - 2 * fresh[:, 4]))
    assert evaluate(flipped, [1, 4])["test_error"] > 0.8  # test labels are flipped


def make_correlations(p: int = 5, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((40, p))
    X[:, 1:] += 0.8 * X[:, :-1]
    return np.asarray(np.corrcoef(X, rowvar=False))


def test_graph_objective_equals_closed_forms() -> None:
    S = make_correlations()
    complete, empty = np.ones((5, 5), dtype=bool), np.eye(5, dtype=bool)
    assert compute_graph_objective(S, complete) == pytest.approx(np.linalg.slogdet(S)[1] + 5)
    assert compute_graph_objective(S, empty) == pytest.approx(5.0)
    # On a chain, det W is the product over edges of 1 − correlation².
    chain = np.abs(np.subtract.outer(range(5), range(5))) <= 1
    assert compute_graph_objective(S, chain) == pytest.approx(5 + np.log(1 - np.diag(S, 1) ** 2).sum())


def test_graph_objective_of_a_cycle_is_the_minimum() -> None:
    S = make_correlations(4)
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    support = np.eye(4, dtype=bool)
    for i, j in pairs:
        support[i, j] = support[j, i] = True

    def f(x: np.ndarray) -> float:
        omega = np.diag(x[:4])
        for value, (i, j) in zip(x[4:], pairs, strict=True):
            omega[i, j] = omega[j, i] = value
        sign, log_det = np.linalg.slogdet(omega)
        return float(np.sum(S * omega) - log_det) if np.linalg.eigvalsh(omega)[0] > 0 and sign > 0 else 1e3

    found = minimize(
        f,
        np.r_[np.ones(4), np.zeros(4)],
        method="Nelder-Mead",
        options={"maxiter": 20000, "maxfev": 20000, "xatol": 1e-9, "fatol": 1e-12},
    )
    assert compute_graph_objective(S, support) == pytest.approx(found.fun, abs=1e-7)


def test_measures_of_a_graph() -> None:
    truth = np.eye(4)
    truth[0, 1] = truth[1, 0] = 0.4
    truth[2, 3] = truth[3, 2] = 0.4
    scale = np.full((4, 4), 4.0)
    found = truth * 4.0
    found[2, 3] = found[3, 2] = 0.0
    found[0, 2] = found[2, 0] = 0.4
    measures = evaluate(Instance(Task("graph", make_correlations(4), None, 2), truth, scale=scale), found)
    assert measures["features"] == 2
    assert measures["recall"] == measures["f_score"] == 0.5
    assert measures["frobenius"] == pytest.approx(np.sqrt(2 * (0.4**2 + 0.1**2)) / np.linalg.norm(truth))


def test_graph_objective_without_a_minimum_is_nan() -> None:
    S = np.ones((3, 3))  # three copies of one variable
    assert np.isnan(compute_graph_objective(S, np.ones((3, 3), dtype=bool)))
