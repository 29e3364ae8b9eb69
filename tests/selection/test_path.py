"""A model for each k: against brute force, refits of scikit-learn, and what the forms of data have in common."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge

import ksparse
from ksparse import SparseHuberRegression, SparseLinearRegression, SparseLogisticRegression, SparsePoissonRegression
from ksparse._types import Array
from ksparse.debias import Exact
from ksparse.objectives import Logistic
from tests.problems import design, responses, signal, supports

pd: Any = import_module("pandas")

X = design(n=60)
y = responses("squares", signal(X))
labels = responses("logistic", signal(X))
three = responses("multinomial", signal(X))


def problem(kind: str, seed: int) -> tuple[Array, Array]:
    """5 to 10 correlated features (7 at most for labels), any of which may matter."""
    rng = np.random.default_rng([seed, kind == "logistic"])
    n, p = int(rng.integers(20, 50)), int(rng.integers(5, 8 if kind == "logistic" else 11))
    common = rng.choice([0.0, 1.0, 3.0]) * rng.standard_normal((n, 1))
    data = rng.standard_normal((n, p)) + common
    margins = data @ rng.standard_normal(p) + rng.standard_normal(n)
    return data, margins - margins.mean() if kind == "squares" else np.sign(margins - np.median(margins) + 1e-9)


def estimator(kind: str) -> Any:
    return SparseLinearRegression() if kind == "squares" else SparseLogisticRegression(alpha=1e-2)


@cache
def brute_force(kind: str, seed: int) -> Array:
    """The lowest f for each k from 0 to p."""
    data, target = problem(kind, seed)
    p = data.shape[1]
    best = np.full(p + 1, np.inf)
    centred = data - data.mean(axis=0)
    objective = Logistic(data, target, alpha=1e-2, fit_intercept=True) if kind == "logistic" else None
    for k in range(p + 1):
        for mask in supports(p, k):
            if objective is None:
                chosen = centred[:, mask]
                value = 0.5 * np.mean((target - chosen @ np.linalg.lstsq(chosen, target, rcond=None)[0]) ** 2)
            else:
                value = Exact()(objective.restrict(np.append(mask, True)), np.zeros(k + 1)).point.value
            best[k] = min(best[k], value)
    return best


@pytest.mark.parametrize("kind", ["squares", pytest.param("logistic", marks=pytest.mark.slow)])
def test_every_k_against_brute_force(kind: str) -> None:
    optimal: list[bool] = []
    for seed in range(30):
        best = brute_force(kind, seed)
        values = ksparse.path(*problem(kind, seed), range(best.size), estimator(kind)).values
        assert (values >= best * (1 - 1e-9) - 1e-12).all()
        optimal.extend(values <= best * (1 + 1e-7) + 1e-12)
    assert np.mean(optimal) >= 0.95


@pytest.mark.parametrize("seed", [7, 31, *range(100, 104)])
def test_f_never_rises_with_k(seed: int) -> None:
    """In the first two, a support that the way down finds is better than one with more features."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 80)), int(rng.integers(15, 90))
    rho = rng.choice([0, 0.5, 0.9])
    data = rng.standard_normal((n, p))
    for j in range(1, p):
        data[:, j] = rho * data[:, j - 1] + np.sqrt(1 - rho**2) * data[:, j]
    target = data @ (rng.standard_normal(p) * (rng.random(p) < 0.3)) + rng.standard_normal(n)
    values = ksparse.path(data, target, range(min(p, n // 2))).values
    assert (np.diff(values) <= 1e-6 * values[:-1]).all()


def test_coefficients_are_those_of_scikit_learn_on_the_support() -> None:
    n = len(y)
    path = ksparse.path(X, y, range(1, 6), SparseLinearRegression(alpha=0.3))
    for coef, intercept in zip(path.coef, path.intercept, strict=True):
        refit = Ridge(alpha=0.3 * n).fit(X[:, coef != 0], y)
        np.testing.assert_allclose(coef[coef != 0], refit.coef_, rtol=1e-6)
        assert intercept == pytest.approx(refit.intercept_, rel=1e-6)
    path = ksparse.path(X, labels, range(1, 6), SparseLogisticRegression(alpha=0.1))
    for coef, intercept in zip(path.coef[:, 0], path.intercept, strict=True):
        refit = LogisticRegression(C=10 / n, tol=1e-10, solver="newton-cholesky").fit(X[:, coef != 0], labels)
        np.testing.assert_allclose(coef[coef != 0], refit.coef_[0], rtol=1e-6)
        np.testing.assert_allclose(intercept, refit.intercept_, rtol=1e-5)


# --- what users may pass ----------------------------------------------------------------------------------------


def test_ks_are_sorted_and_none_is_larger_than_the_number_of_features() -> None:
    path = ksparse.path(X, y, [4, 1, 100, 1, 2, np.int64(4)])
    assert path.ks.tolist() == [1, 2, 4, 9]
    assert len(path) == 4
    assert repr(path) == "<SparsityPath of 4 models, k = 1 to 9, of 9 features>"
    assert [(coef != 0).sum() for coef in path.coef] == [1, 2, 4, 9]
    np.testing.assert_allclose(path.coef[-1], LinearRegression().fit(X, y).coef_, rtol=1e-8)
    np.testing.assert_array_equal(ksparse.path(X, y, iter([2, 1])).coef, path.coef[:2])


def test_k_zero_is_the_mean() -> None:
    path = ksparse.path(X, y, [0])
    assert not path.coef.any()
    assert path.intercept[0] == pytest.approx(y.mean())
    assert path.values[0] == pytest.approx(0.5 * y.var())


@pytest.mark.parametrize(
    ("ks", "error", "says"),
    [
        ([], ValueError, "empty"),
        (3, TypeError, "sequence of integers"),
        ("auto", TypeError, "sequence of integers"),
        ([1.0], TypeError, "got 1.0 of type float"),
        ([True], TypeError, "got True"),
        ([-1], ValueError, "at least 0, got -1"),
    ],
)
def test_bad_ks(ks: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        ksparse.path(X, y, ks)


@pytest.mark.parametrize("wrong", [SparseLinearRegression, Lasso(), "linear"])
def test_bad_estimators(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"such as ksparse\.SparseLogisticRegression\(\)"):
        ksparse.path(X, y, [1], wrong)


def test_the_estimator_is_not_touched() -> None:
    model = SparseHuberRegression(k=3)
    before = dict(vars(model))
    ksparse.path(X, y, [1, 2], model)
    assert vars(model) == before


def test_groups_enter_as_a_whole() -> None:
    groups = ["c", "a", "b", "a", "c", "b", "d", "d", "a"]
    path = ksparse.path(X, y, range(9), SparseLinearRegression(feature_groups=groups))
    assert path.ks.tolist() == [0, 1, 2, 3, 4]
    for k, coef in zip(path.ks, path.coef, strict=True):
        chosen = set(np.array(groups)[coef != 0])
        assert len(chosen) == k
        assert (coef != 0).tolist() == [group in chosen for group in groups]
        best = np.inf
        for mask in supports(4, int(k)):
            columns = (X - X.mean(axis=0))[:, mask[np.searchsorted(list("abcd"), groups)]]
            centred = y - y.mean()
            best = min(best, 0.5 * np.mean((centred - columns @ np.linalg.lstsq(columns, centred, rcond=None)[0]) ** 2))
        assert path.values[k] == pytest.approx(best)


def test_always_selected_features_are_in_every_model() -> None:
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    path = ksparse.path(frame, y, [2, 3, 4], SparseLinearRegression(always_select=["h", "b"]))
    assert path.feature_names is not None
    for k, coef in zip(path.ks, path.coef, strict=True):
        assert {"b", "h"} <= set(path.feature_names[coef != 0])
        assert (coef != 0).sum() == k
    with pytest.raises(ValueError, match="at least 2, got 1; 2 are always selected"):
        ksparse.path(frame, y, [1], SparseLinearRegression(always_select=["h", "b"]))


def test_nonnegative_coefficients_against_brute_force() -> None:
    target = X @ np.linspace(-1, 1, 9)
    path = ksparse.path(X, target, range(1, 6), SparseLinearRegression(positive=True, fit_intercept=False))
    assert (path.coef >= 0).all()
    best = [min(nnls(X[:, mask], target)[1] ** 2 / 120 for mask in supports(9, k)) for k in range(1, 6)]
    np.testing.assert_allclose(path.values, best, rtol=1e-7)


def test_nonnegative_paths_are_the_best_of_brute_force() -> None:
    """Features that the bounds hold at zero leave first: a path had models without any feature."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        data, target = rng.standard_normal((20, 8)), rng.standard_normal(20)
        path = ksparse.path(data, target, [1, 2, 4, 8], SparseLinearRegression(positive=True, fit_intercept=False))
        best = [min(nnls(data[:, mask], target)[1] ** 2 / 40 for mask in supports(8, k)) for k in (1, 2, 4)]
        np.testing.assert_allclose(path.values[:3], best, rtol=1e-3)
        assert path.values[0] == pytest.approx(best[0])


def test_a_feature_that_bounds_hold_at_zero_is_replaced() -> None:
    # One sample: each of two features explains it, and the others would have to be negative.
    data = np.array([[0.36, 1.65, -0.24, -0.82]])
    for ks in ([1, 2, 4], [1, 4], [2]):
        path = ksparse.path(data, [2.0], ks, SparseHuberRegression(positive=True, fit_intercept=False, delta=1.0))
        np.testing.assert_allclose(path.values, 0.0, atol=1e-20)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray, np.float32])
def test_the_form_of_the_data_does_not_matter(form: Any) -> None:
    tolerance = 1e-5 if form is np.float32 else 1e-8
    for target, model in [(y, SparseLinearRegression()), (labels, SparseLogisticRegression(alpha=0.01))]:
        dense, other = ksparse.path(X, target, range(5), model), ksparse.path(form(X), target, range(5), model)
        np.testing.assert_allclose(other.coef, dense.coef, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(other.intercept, dense.intercept, rtol=tolerance, atol=tolerance)


def test_weights_count_samples() -> None:
    weights = np.arange(60) % 4
    weighted = ksparse.path(X, y, range(6), sample_weight=weights)
    repeated = ksparse.path(X.repeat(weights, axis=0), y.repeat(weights), range(6))
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(weighted.values, repeated.values)


def test_several_classes_and_responses_have_an_axis_in_the_middle() -> None:
    path = ksparse.path(X, three, [1, 3], SparseLogisticRegression(alpha=0.05))
    assert path.coef.shape == (2, 3, 9)
    assert path.intercept.shape == (2, 3)
    chosen = (path.coef[1] != 0).any(axis=0)
    refit = LogisticRegression(C=20 / 60, tol=1e-10, solver="newton-cg", max_iter=1000).fit(X[:, chosen], three)
    np.testing.assert_allclose(path.coef[1][:, chosen], refit.coef_, rtol=1e-4, atol=1e-6)
    several = np.column_stack([y, X[:, 3] - y])
    path = ksparse.path(X, several, [2, 9])
    assert path.coef.shape == (2, 2, 9)
    assert path.intercept.shape == (2, 2)
    np.testing.assert_allclose(path.coef[1], LinearRegression().fit(X, several).coef_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["grahtp", "fgrahtp", "grasp", "fbs", ksparse.SwapGraHTP(restarts=0)])
def test_other_solvers_find_a_strong_signal_too(solver: Any) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((100, 30))
    path = ksparse.path(data, data[:, [3, 8, 20]] @ [4, 2, 1], range(4), SparseLinearRegression(solver=solver))
    assert [np.flatnonzero(coef).tolist() for coef in path.coef] == [[], [3], [3, 8], [3, 8, 20]]


@pytest.mark.parametrize("model", [SparsePoissonRegression(), SparseHuberRegression(delta=0.5)])
def test_each_model_of_a_path_is_that_of_the_estimator(model: Any) -> None:
    counts = responses("poisson", signal(X))
    path = ksparse.path(X, counts, [1, 2, 3], model)
    for k, coef, intercept in zip(path.ks, path.coef, path.intercept, strict=True):
        single = model.set_params(k=int(k)).fit(X, counts)
        np.testing.assert_allclose(coef, single.coef_, rtol=1e-5, atol=1e-7)
        assert intercept == pytest.approx(single.intercept_, rel=1e-5)
