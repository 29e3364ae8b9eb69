"""The comparison on functions in JAX: problems are what they say, and its tables are rendered from the results."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from function_suite.problems_in_jax import MAKERS, JaxProblem
from function_suite.solvers_in_jax import run_ksparse, run_own
from functions import OWN_METHODS, RESULTS, TRUTH, render, summarize
from numpy.testing import assert_allclose, assert_array_equal

from ksparse.objectives import from_jax

#: Smaller sizes of each model: n, p and k.
SMALL = {"linear": (60, 12, 3), "logistic": (200, 12, 3), "multitask": (60, 8, 2), "trend filtering": (40, 40, 3)}
SMALL |= {"Ising": (200, 15, 3), "nonlinear": (40, 8, 2), "random walk, README": (40, 40, 3)}


def make_small(name: str) -> JaxProblem:
    """A small problem of a model."""
    return MAKERS[name][0](*SMALL[name], np.random.default_rng(0))


@pytest.mark.parametrize("name", SMALL)
def test_functions_of_columns_and_the_evaluator_agree_with_the_function(name: str) -> None:
    problem = make_small(name)
    rng, shape = np.random.default_rng(1), (problem.p, problem.outputs) if problem.outputs > 1 else problem.p
    whole = from_jax(lambda w: problem.function(w.ravel()), shape)
    part = from_jax(problem.of_columns, shape, columns=True)
    units = np.sort(rng.choice(problem.p, problem.k, replace=False))
    x = np.zeros(shape)
    x[units] = 0.1 * rng.standard_normal(x[units].shape)
    assert part.evaluate(x).value == pytest.approx(whole.evaluate(x).value, rel=1e-12)
    lowest = problem.refit(units)
    assert lowest <= whole.evaluate(x).value
    found = np.asarray(whole.restrict(x != 0).evaluate(x[x != 0]).gradient)
    assert np.abs(found).max() > 0
    for _ in range(30):  # Newton's method of NumPy on the function itself
        point = whole.evaluate(x)
        hessian = whole.hessian(point)[np.ix_((x != 0).ravel(), (x != 0).ravel())]
        x[x != 0] -= np.linalg.solve(hessian, point.gradient[x != 0])
    assert whole.evaluate(x).value == pytest.approx(lowest, rel=1e-8)


@pytest.mark.parametrize("name", ["linear", "logistic", "Ising"])
def test_all_forms_of_ksparse_find_the_best_support(name: str) -> None:
    problem = make_small(name)
    best = min(combinations(range(problem.p), problem.k), key=lambda units: problem.refit(list(units)))
    for selected, *seconds in (run_ksparse(problem, False), run_ksparse(problem, True), run_own(problem)):
        assert_array_equal(selected, best)
        assert min(seconds) > 0


def test_the_tables_are_rendered_from_the_results() -> None:
    page = (Path(__file__).parents[2] / "docs" / "functions.md").read_text()
    tables = render(pd.read_csv(RESULTS)).split("\n\n")
    assert len(tables) == 2
    assert all(table in page for table in tables)


def test_the_tables_have_medians_over_data_sets() -> None:
    rows = [
        {"problem": "linear", "n": 9, "p": 4, "k": 2, "seed": seed, "method": method, "objective": f, "recall": recall}
        | {"seconds": 0.25, "compile_seconds": 1.0}
        for method, values in {"from_jax": (1.0, 2.0, 4.0), "Scope": (1.1, 3.0, 4.0)}.items()
        for seed, (f, recall) in enumerate(zip(values, (1.0, 0.5, np.nan), strict=True))
    ]
    truth = {"method": TRUTH, "recall": 1.0, "seconds": np.nan, "compile_seconds": np.nan}
    rows += [{**rows[seed], **truth, "objective": f} for seed, f in enumerate((0.5, 2.2, 4.8))]
    medians = summarize(pd.DataFrame(rows)).set_index("method")
    assert_allclose(medians["excess"], [0.0, 0.1, 0.1])
    text = render(pd.DataFrame(rows))
    assert "| linear | 9, 4, 2 | 0 %, 0.75 | 10 %, 0.75 | 10 % |" in text
    assert "| linear | 9, 4, 2 | 0.250 + 1.00 | 0.250 + 1.00 |" in text
    assert set(OWN_METHODS) == {"from_jax", "from_jax, columns", "own objective"}
