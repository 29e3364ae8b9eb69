"""A design of one's own, of row blocks whose row vectors nobody else can read: every model fits as on one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse._types import Array
from ksparse.designs import as_design
from ksparse.diagnostics import check_objective
from ksparse.objectives import LeastSquares
from ksparse.selection import PathSolver
from ksparse.sparsity import Entries
from tests.designs.row_blocks import RowBlocks, Rows
from tests.problems import LINEAR, N, design, linear

rng = np.random.default_rng(0)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "least squares": ("least squares", {}),
    "least squares with intercept": ("least squares", {"fit_intercept": True}),
    "several responses": ("multiresponse", {"fit_intercept": True}),
    "logistic": ("logistic", {"fit_intercept": True}),
    "logistic with zero weights": ("logistic", {"sample_weight": np.arange(N) % 3, "fit_intercept": True}),
    "multinomial": ("multinomial", {"fit_intercept": True}),
    "multinomial without ridge": ("multinomial", {"alpha": 0.0}),
    "poisson with weights and offset": (
        "poisson",
        {"sample_weight": rng.uniform(0.5, 2.0, N), "offset": 0.1 * rng.standard_normal(N), "fit_intercept": True},
    ),
    "huber": ("huber", {"fit_intercept": True}),
    "hinge": ("hinge", {}),
    "tweedie": ("tweedie", {"fit_intercept": True}),
    "negative binomial": ("negative binomial", {"fit_intercept": True}),
    "quantile": ("quantile", {"fit_intercept": True}),
}


def in_blocks(X: Array) -> RowBlocks:
    """Blocks of different sizes, one of them of a single row."""
    return RowBlocks(np.split(X, [7, 8, 25]))


@pytest.mark.parametrize("case", CASES)
def test_fits_are_those_of_the_dense_design(case: str) -> None:
    kind, options = CASES[case]
    here = ksparse.minimize(linear(kind, in_blocks(design()), **options), k=3)
    there = ksparse.minimize(linear(kind, **options), k=3)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x, there.x, rtol=0, atol=1e-10)
    assert here.status is there.status


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", [ksparse.GraHTP(), ksparse.FGraHTP(), ksparse.GraSP(), ksparse.FBS()])
def test_the_published_solvers_run_on_it(solver: Any) -> None:
    here = ksparse.minimize(linear("logistic", in_blocks(design()), fit_intercept=True), k=3, solver=solver)
    there = ksparse.minimize(linear("logistic", fit_intercept=True), k=3, solver=solver)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x, there.x, rtol=0, atol=1e-8)


def test_a_path_is_that_of_the_dense_design() -> None:
    paths = []
    for X in (in_blocks(design()), design()):
        solver = PathSolver(linear("logistic", X, fit_intercept=True), Entries(1), ksparse.SwapGraHTP())
        solver.solve([1, 3, 5])
        paths.append(solver.results)
    for k in (1, 3, 5):
        np.testing.assert_allclose(paths[0][k].x, paths[1][k].x, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", LINEAR)
def test_derivatives_are_consistent(kind: str) -> None:
    report = check_objective(linear(kind, in_blocks(design()), fit_intercept=True))
    assert report.ok, str(report)


def test_it_is_used_as_it_is() -> None:
    X = in_blocks(design())
    assert as_design(X) is X
    objective = linear("logistic", X)
    _ = objective.evaluate(objective.start).gradient
    assert objective.counters is X.counters
    assert X.counters.passes == 2  # the margins and the gradient


def test_bad_values_are_refused() -> None:
    X = design()
    X[30, 2] = np.nan
    with pytest.raises(ValueError, match="X has NaN or infinite values"):
        LeastSquares(in_blocks(X), np.ones(N))


def test_its_row_vectors_are_closed() -> None:
    """The other tests show something only if looking inside fails."""
    rows: Any = Rows([np.ones(3), np.ones(4)])
    for look in (lambda: rows.shape, lambda: np.sum(rows), lambda: np.asarray(rows), lambda: rows.astype(float)):
        with pytest.raises(AssertionError):
            look()
    for operation in (lambda: rows[0], lambda: rows + 1.0, lambda: len(rows), lambda: list(rows), lambda: rows @ rows):
        with pytest.raises((TypeError, AssertionError)):
            operation()
