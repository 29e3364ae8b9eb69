"""Choosing the number of edges: paths, held-out likelihood, information criteria."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, cross_val_score

from ksparse import (
    ConvergenceWarning,
    PrecisionPath,
    SparseDiscriminantAnalysisCV,
    SparseLinearRegression,
    SparsePrecision,
    SparsePrecisionCV,
    SparsePrecisionIC,
    SwapGraHTP,
    precision_path,
)
from ksparse._types import Array
from ksparse.selection import PathSolver, graph_criterion


def ring(n: int = 300, p: int = 10, seed: int = 3) -> Array:
    """Samples of a ring, each variable a neighbour of two: p edges."""
    precision = 2.2 * np.eye(p)
    for j in range(p):
        precision[j, (j + 1) % p] = precision[(j + 1) % p, j] = -0.9
    noise = np.random.default_rng(seed).standard_normal((n, p))
    return np.asarray(np.linalg.solve(np.linalg.cholesky(precision).T, noise.T).T)


def test_a_path_is_what_fits_give() -> None:
    X = ring()
    path = precision_path(X, ks=[12, 0, 5, 10, 5])
    assert isinstance(path, PrecisionPath)
    assert_array_equal(path.ks, [0, 5, 10, 12])
    assert len(path) == 4
    assert (np.diff(path.values) <= 1e-9).all()
    for k, precision, value in zip(path.ks, path.precision, path.values, strict=True):
        model = SparsePrecision(k=int(k)).fit(X)
        assert (precision.nnz - 10) // 2 <= k
        assert value <= model.result_.value + 1e-6
    assert_allclose(path.precision[2].toarray(), SparsePrecision(k=10).fit(X).precision_, rtol=1e-6, atol=1e-8)


def test_a_path_takes_the_parameters_of_the_estimator() -> None:
    X = ring()
    path = precision_path(X, [3], SparsePrecision(known_edges=[(0, 5)]))
    assert path.precision[0].toarray()[0, 5] != 0
    S = np.cov(X, rowvar=False, bias=True)
    given = precision_path(S, [3], SparsePrecision(covariance="precomputed"))
    assert_allclose(given.values, precision_path(X, [3]).values, rtol=1e-8)
    with pytest.raises(TypeError, match=r"a ksparse\.SparsePrecision"):
        precision_path(X, [3], SparseLinearRegression())


def test_scores_are_those_of_scikit_learn() -> None:
    X = ring(n=100)
    model = SparsePrecisionCV(ks=[0, 10, 45], shrinkages=0.0, cv=3).fit(X)
    splitter = KFold(3, shuffle=True, random_state=0)
    for row, k in enumerate([0, 10, 45]):
        assert_allclose(model.scores_[row], cross_val_score(SparsePrecision(k=k), X, cv=splitter), rtol=1e-5)
    assert model.k_ == 10
    assert_allclose(model.precision_, SparsePrecision(k=10).fit(X).precision_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", ["best", "1se"])
@pytest.mark.slow
def test_the_ring_is_found_by_cross_validation(rule: str) -> None:
    model = SparsePrecisionCV(rule=rule).fit(ring())
    ring_edges = {(j, j + 1) for j in range(9)} | {(0, 9)}
    found = set(zip(model.edges_["i"].tolist(), model.edges_["j"].tolist(), strict=True))
    assert ring_edges <= found
    assert model.k_ == len(model.edges_) <= (min(k for k in model.ks_ if k >= 10) if rule == "1se" else 20)
    assert model.k_ in model.ks_


@pytest.mark.parametrize("criterion", ["bic", "ebic"])
def test_the_ring_is_found_by_criteria(criterion: str) -> None:
    X = ring()
    coarse = SparsePrecisionIC(criterion=criterion).fit(X)
    assert coarse.k_ == min(k for k in coarse.ks_ if k >= 10)
    model = SparsePrecisionIC(criterion=criterion, ks=range(16)).fit(X)
    assert model.k_ == 10
    position = list(model.ks_).index(10)
    S = np.cov(X, rowvar=False, bias=True)
    scale = np.sqrt(np.diag(S))
    omega = model.precision_ * np.multiply.outer(scale, scale)
    deviance = len(X) * (-np.linalg.slogdet(omega)[1] + np.sum(omega * S / np.multiply.outer(scale, scale)))
    penalty = 10 * np.log(len(X)) + (4 * 10 * 0.5 * np.log(10) if criterion == "ebic" else 0.0)
    assert model.criterion_[position] == pytest.approx(deviance + penalty)


def test_aic_takes_more_edges_than_ebic() -> None:
    X = ring(n=60)
    assert SparsePrecisionIC(criterion="aic").fit(X).k_ >= SparsePrecisionIC(gamma=1.0).fit(X).k_


def test_independent_variables_have_no_edges() -> None:
    X = np.random.default_rng(0).standard_normal((200, 8))
    assert SparsePrecisionIC().fit(X).k_ == 0
    assert SparsePrecisionCV(rule="1se").fit(X).k_ == 0


def test_a_given_covariance_needs_its_number_of_samples() -> None:
    S = np.cov(ring(), rowvar=False, bias=True)
    assert SparsePrecisionIC(covariance="precomputed", n_samples=300, ks=range(16)).fit(S).k_ == 10
    with pytest.raises(ValueError, match="n_samples is missing"):
        SparsePrecisionIC(covariance="precomputed").fit(S)


def test_folds_side_by_side_give_the_same() -> None:
    X = ring(n=80)
    alone, together = (SparsePrecisionCV(ks=[0, 5, 10], cv=3, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert_array_equal(alone.scores_, together.scores_)
    assert_array_equal(alone.precision_, together.precision_)


@pytest.mark.slow
def test_known_edges_are_in_every_graph() -> None:
    model = SparsePrecisionCV(known_edges=[(0, 5)], cv=3).fit(ring(n=80))
    assert model.ks_[0] == 1
    assert all(precision.toarray()[0, 5] != 0 for precision in model.path_.precision)


def test_bad_parameters_are_named() -> None:
    X = ring(n=30)
    for model, message in (
        (SparsePrecisionCV(rule="2se"), "rule must be"),
        (SparsePrecisionCV(cv=[]), "no splits"),
        (SparsePrecisionCV(ks="all"), 'ks must be "auto"'),
        (SparsePrecisionCV(ks=[]), "ks is empty"),
        (SparsePrecisionIC(criterion="gic"), "'ebic'"),
        (SparsePrecisionIC(gamma=-1.0), "gamma must be"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X)
    with pytest.raises(ValueError, match="criterion must be one of"):
        graph_criterion("gic", 1.0, edges=1, n_samples=10, n_features=3)


@pytest.mark.parametrize("kind", ["precision", "discriminant"])
def test_the_chosen_graph_is_refined(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refined = []

    def record(solver: PathSolver, k: int) -> None:
        refined.append(k)

    monkeypatch.setattr(PathSolver, "refine", record)
    X = ring(n=60)
    if kind == "precision":
        chosen = SparsePrecisionCV(ks=[2, 5], cv=3).fit(X).k_
    else:
        chosen = SparseDiscriminantAnalysisCV(ks=[2, 5], cv=3).fit(X, np.arange(60) % 2).k_
    assert refined == [chosen]


def test_a_chosen_graph_that_has_not_converged_is_said() -> None:
    X = ring(n=60)
    slow = SwapGraHTP(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="for the chosen k = 9"):
        SparsePrecisionCV(ks=[9], cv=3, solver=slow).fit(X)
    with pytest.warns(ConvergenceWarning, match="for the chosen k = 9"):
        SparseDiscriminantAnalysisCV(ks=[9], cv=3, solver=slow).fit(X, np.arange(60) % 2)
