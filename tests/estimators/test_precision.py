"""SparsePrecision: the answer is the maximum-likelihood matrix with k edges, in the units of the data."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import FBS, GraHTP, GraSP, SparsePrecision, minimize
from ksparse._types import Array
from ksparse.debias import Exact
from ksparse.objectives import LogDet, eigenvalue_bounds

pd: Any = import_module("pandas")

P = 6


def chain(n: int = 400, seed: int = 0) -> Array:
    """Samples of a chain: each variable depends on the one before it."""
    X = np.random.default_rng(seed).standard_normal((n, P))
    for j in range(1, P):
        X[:, j] += 0.8 * X[:, j - 1]
    return X


def pairs(model: SparsePrecision) -> set[tuple[int, int]]:
    """Indices of the edges, which `edges_` has only where there are no names."""
    return {(int(i), int(j)) for i, j in np.argwhere(np.triu(model.precision_, 1))}


CHAIN = {(j, j + 1) for j in range(P - 1)}


def test_the_chain_is_found() -> None:
    assert pairs(SparsePrecision(k=P - 1).fit(chain())) == CHAIN


def test_a_tree_has_its_closed_form() -> None:
    """Ω of a tree: the inverses of the covariances of its edges, less those of the nodes between them."""
    X = chain()
    S = np.cov(X, rowvar=False, bias=True)
    truth = np.zeros((P, P))
    for j in range(P - 1):
        edge = slice(j, j + 2)
        truth[edge, edge] += np.linalg.inv(S[edge, edge])
        if j > 0:
            truth[j, j] -= 1.0 / S[j, j]
    model = SparsePrecision(k=P - 1).fit(X)
    assert_allclose(model.precision_, truth, atol=1e-8)
    assert_allclose(model.covariance_ @ model.precision_, np.eye(P), atol=1e-8)
    assert_allclose(model.location_, X.mean(axis=0))


def test_the_model_matches_the_covariances_of_its_edges() -> None:
    X = chain(n=50)
    S = np.cov(X, rowvar=False, bias=True)
    model = SparsePrecision(k=7, bounds=None).fit(X)
    on_support = model.precision_ != 0
    assert_allclose(model.covariance_[on_support], S[on_support], atol=1e-8)


def test_all_pairs_give_the_inverse() -> None:
    X = chain()
    for k in (P * (P - 1) // 2, 1000):
        model = SparsePrecision(k=k).fit(X)
        assert_allclose(model.precision_, np.linalg.inv(np.cov(X, rowvar=False, bias=True)), rtol=1e-6, atol=1e-8)
        assert len(model.edges_) == P * (P - 1) // 2


def test_no_edges_give_a_diagonal() -> None:
    X = chain()
    model = SparsePrecision(k=0).fit(X)
    assert_allclose(model.precision_, np.diag(1.0 / X.var(axis=0)), atol=1e-10)
    assert len(model.edges_) == 0


def test_partial_correlations_are_those_of_the_residuals() -> None:
    """With all pairs: the correlation of what two variables have beyond the others, with its sign."""
    X = chain()
    model = SparsePrecision(k=1000).fit(X)
    strengths = np.abs(model.edges_["partial_correlation"])
    assert (np.diff(strengths) <= 0).all()
    for i, j, strength in model.edges_.tolist():
        others = np.delete(X, [i, j], axis=1)
        design = np.column_stack([others, np.ones(len(X))])
        residuals = X[:, [i, j]] - design @ np.linalg.lstsq(design, X[:, [i, j]], rcond=None)[0]
        assert strength == pytest.approx(np.corrcoef(residuals.T)[0, 1], abs=1e-8)


def test_units_do_not_matter() -> None:
    X = chain(n=30)
    scale = 10.0 ** np.arange(-6, 6, 2)
    here, there = SparsePrecision(k=4).fit(X), SparsePrecision(k=4).fit(X * scale + 100 * scale)
    assert pairs(here) == pairs(there)
    assert_allclose(there.precision_ * np.multiply.outer(scale, scale), here.precision_, rtol=1e-5, atol=1e-7)
    assert_allclose(there.edges_["partial_correlation"], here.edges_["partial_correlation"], rtol=1e-6)


def test_without_standardizing_the_bounds_are_the_papers() -> None:
    X = chain(n=30)
    S = np.cov(X, rowvar=False, bias=True)
    model = SparsePrecision(k=4, bounds="paper", standardize=False, xi=0.1).fit(X)
    assert_allclose(model.bounds_, eigenvalue_bounds(S, 0.1))
    assert_allclose(model.precision_, minimize(LogDet(S, model.bounds_), k=4).x, atol=1e-8)


def test_bounds_hold() -> None:
    X = chain(n=30)
    model = SparsePrecision(k=8, standardize=False, bounds=(0.5, 1.2)).fit(X)
    eigenvalues = np.linalg.eigvalsh(model.precision_)
    assert eigenvalues[0] >= 0.5 * (1 - 1e-9)
    assert eigenvalues[-1] <= 1.2 * (1 + 1e-9)
    assert tuple(model.bounds_) == (0.5, 1.2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_covariance_may_be_given(dtype: type[Any]) -> None:
    X = chain()
    S = np.cov(X, rowvar=False, bias=True).astype(dtype)
    given = SparsePrecision(k=5, covariance="precomputed").fit(S)
    assert_allclose(given.precision_, SparsePrecision(k=5).fit(X).precision_, rtol=1e-4, atol=1e-4)
    assert_allclose(given.location_, 0.0)


def test_single_precision_is_computed_in_double() -> None:
    X = chain().astype(np.float32)
    single, double = SparsePrecision(k=5).fit(X), SparsePrecision(k=5).fit(X.astype(np.float64))
    assert single.precision_.dtype == np.float64
    assert_allclose(single.precision_, double.precision_, rtol=1e-6, atol=1e-8)


def test_fewer_samples_than_variables() -> None:
    X = np.random.default_rng(0).standard_normal((8, 30))
    for k in (10, 60, 435):
        model = SparsePrecision(k=k).fit(X)
        eigenvalues = np.linalg.eigvalsh(model.precision_ * np.multiply.outer(X.std(axis=0), X.std(axis=0)))
        assert len(model.edges_) <= k
        assert eigenvalues[0] >= model.bounds_.lower * (1 - 1e-8)
        assert eigenvalues[-1] <= model.bounds_.upper * (1 + 1e-8)


def test_the_mean_may_be_known() -> None:
    X = chain() + 5.0
    model = SparsePrecision(k=5, assume_centered=True).fit(X)
    assert_allclose(model.location_, 0.0)
    on_support = model.precision_ != 0
    assert_allclose(model.covariance_[on_support], (X.T @ X / len(X))[on_support], rtol=1e-6)


def test_known_and_forbidden_edges() -> None:
    X = chain()
    model = SparsePrecision(k=5, known_edges=[(0, 5)], forbidden_edges=[(1, 0)]).fit(X)
    assert (0, 5) in pairs(model)
    assert (0, 1) not in pairs(model)
    assert len(pairs(model)) == 5
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = SparsePrecision(k=5, known_edges=[("f", "a")], forbidden_edges=[("a", "b")]).fit(frame)
    assert pairs(named) == pairs(model)
    mask = np.zeros((P, P), dtype=bool)
    mask[0, 1] = True
    assert (0, 1) not in pairs(SparsePrecision(k=5, forbidden_edges=mask).fit(X))


def test_scikit_learns_measures() -> None:
    X, held_out = chain(), chain(seed=1)
    full, plain = SparsePrecision(k=1000).fit(X), EmpiricalCovariance().fit(X)
    assert full.score(held_out) == pytest.approx(plain.score(held_out), rel=1e-6)
    assert_allclose(full.mahalanobis(held_out), plain.mahalanobis(held_out), rtol=1e-6)
    assert full.error_norm(plain.covariance_) == pytest.approx(0.0, abs=1e-10)
    sparse = SparsePrecision(k=5).fit(X)
    assert sparse.score(held_out) > plain.score(held_out)
    assert_allclose(sparse.get_precision(), sparse.precision_)


def test_it_fits_into_scikit_learn() -> None:
    X = chain()
    assert cross_val_score(SparsePrecision(k=5), X, cv=3).shape == (3,)
    search = GridSearchCV(SparsePrecision(), {"k": [0, 5, 15]}, cv=3).fit(X)
    assert search.best_params_["k"] == 5
    model = make_pipeline(StandardScaler(), SparsePrecision(k=5)).fit(X)
    assert pairs(model[-1]) == CHAIN
    again = pickle.loads(pickle.dumps(model[-1]))
    assert_allclose(again.precision_, model[-1].precision_)
    assert clone(SparsePrecision(k=3, xi=0.1)).get_params()["xi"] == 0.1


def test_the_graph_for_networkx() -> None:
    frame = pd.DataFrame(chain(), columns=list("abcdef"))
    model = SparsePrecision(k=3).fit(frame)
    graph = model.to_networkx()
    assert list(graph.nodes) == list("abcdef")
    assert graph.number_of_edges() == 3
    i, j, strength = model.edges_[0].tolist()
    edge = graph.edges[i, j]
    assert edge["partial_correlation"] == strength
    assert edge["weight"] == abs(strength)
    assert list(SparsePrecision(k=1).fit(chain()).to_networkx().nodes) == list(range(P))


def test_edges_make_a_table() -> None:
    table = pd.DataFrame(SparsePrecision(k=2).fit(chain()).edges_)
    assert list(table.columns) == ["i", "j", "partial_correlation"]
    assert len(table) == 2


@pytest.mark.parametrize(
    "solver",
    ["grahtp", "grasp", "fbs", GraHTP(step=0.1), GraHTP(step=0.1, debias=Exact("adm")), GraSP(), FBS()],
    ids=str,
)
def test_every_solver_finds_the_chain(solver: Any) -> None:
    assert pairs(SparsePrecision(k=P - 1, solver=solver).fit(chain())) == CHAIN


def test_the_graphical_lasso_shrinks() -> None:
    X = chain()
    lasso, ours = SparsePrecision(k=P - 1, solver="glasso").fit(X), SparsePrecision(k=P - 1).fit(X)
    assert len(lasso.edges_) <= P - 1
    assert ours.result_.value < lasso.result_.value


# --- bad input --------------------------------------------------------------------------------------------------


def test_a_constant_column_is_said_and_has_no_edges() -> None:
    X = chain()
    X[:, 2] = 0.1
    with pytest.warns(UserWarning, match=r"1 variables are constant, such as \[2\]"):
        model = SparsePrecision(k=4).fit(X)
    assert not {2} & {node for edge in pairs(model) for node in edge}
    assert model.precision_[2, 2] == pytest.approx(model.bounds_.upper)


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        (
            {"covariance": "precomputed"},
            np.array([[1.0, 2.0], [2.0, 1.0]]),
            "its smallest eigenvalue is -1",
        ),
        ({"covariance": "precomputed"}, np.array([[1.0, 0.5], [0.1, 1.0]]), "not symmetric"),
        ({"covariance": "precomputed"}, np.ones((3, 2)), "must be square"),
        ({"covariance": "given"}, chain(), '"precomputed"'),
        ({}, chain()[:1], "1 sample"),
        ({"k": -1}, chain(), "at least 0"),
        ({"bounds": (2.0, 1.0)}, chain(), "alpha <= beta"),
        ({"bounds": (1.0, 1.0, 1.0)}, chain(), "pair"),
        ({"bounds": "narrow"}, chain(), "paper"),
        ({"xi": 0.0}, chain(), "xi must be"),
        ({"solver": "lasso"}, chain(), "'glasso'"),
        ({"known_edges": [(0, 1)], "k": 0}, chain(), "known_edges has 1 edges, but k = 0"),
        ({"known_edges": [(0, 1)], "forbidden_edges": [(1, 0)]}, chain(), "in both known_edges and forbidden_edges"),
        ({"known_edges": [(0, 9)]}, chain(), r"known_edges names the pair \(0, 9\)"),
        ({"known_edges": [("a", "b")]}, chain(), "X has no names"),
        ({"forbidden_edges": [("a", "z")]}, pd.DataFrame(chain(), columns=list("abcdef")), "'z'"),
        ({"solver": "glasso", "known_edges": [(0, 1)]}, chain(), "known or forbidden"),
    ],
)
def test_bad_input_is_named(parameters: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SparsePrecision(**parameters).fit(X)


def test_bad_types_are_named() -> None:
    for name, value, message in (("k", 2.5, "k must be an integer"), ("standardize", "yes", "must be True or False")):
        with pytest.raises(TypeError, match=message):
            SparsePrecision().set_params(**{name: value}).fit(chain())


@pytest.mark.slow
def test_bounds_that_bind_are_said() -> None:
    """Nearly equal variables: the paper's largest eigenvalue is smaller than the data's."""
    X = chain()
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    free, paper = SparsePrecision(k=15).fit(X), SparsePrecision(k=15, bounds="paper").fit(X)
    assert tuple(free.bounds_) == (0.0, np.inf)
    assert "binds" not in free.result_.message
    assert "a bound of the eigenvalues binds" in paper.result_.message
    assert free.score(X) > paper.score(X)
    assert tuple(SparsePrecision(k=15).fit(X[:4]).bounds_) == tuple(SparsePrecision(bounds="paper").fit(X[:4]).bounds_)


def test_the_mean_of_single_precision_is_double() -> None:
    X = (chain() + 1e4).astype(np.float32)
    assert_allclose(SparsePrecision(k=1).fit(X).location_, X.astype(np.float64).mean(axis=0), rtol=1e-12)
