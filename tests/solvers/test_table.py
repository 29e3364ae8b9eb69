"""Every objective with every sparsity set and every solver: the promises that hold for all of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.objectives import LinearObjective
from ksparse.solvers import Status
from ksparse.sparsity import Entries
from tests.problems import (
    LINEAR,
    OBJECTIVES,
    SOLVERS,
    SPARSITY,
    P,
    design,
    linear,
    responses,
    signal,
    without_intercept,
)

EXACT = ("default", "GraHTP", "GraHTP scaled backtracking", "GraHTP Barzilai-Borwein", "GraSP", "FBS")


def run(objective: Any, **options: Any) -> ksparse.Result:
    """Minimize, without minding methods that do not converge: the promises hold for them too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        return ksparse.minimize(objective, **options)


def set_for(name: str, objective: Any) -> Any:
    sparsity = SPARSITY[name](len(objective.shape))
    entries_of_a_matrix = len(objective.shape) == 2 and name in ("always", "box", "nonnegative")
    return Entries(sparsity.k, lower=sparsity.lower, upper=sparsity.upper) if entries_of_a_matrix else sparsity


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparsity", SPARSITY)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_promises(name: str, sparsity: str, solver: str) -> None:
    objective = OBJECTIVES[name]()
    chosen = set_for(sparsity, objective)
    result = run(objective, sparsity=chosen, solver=SOLVERS[solver]())
    units = chosen.bind(objective.shape, objective.free)

    assert np.isfinite(result.x).all()
    assert len(result.selected) <= chosen.k
    assert result.value == pytest.approx(objective.evaluate(result.x).value, rel=1e-9, abs=1e-12)
    assert result.value <= objective.evaluate(np.zeros(objective.shape)).value + 1e-12
    np.testing.assert_array_equal(result.support, (result.x != 0) & units.constrained)
    if units.lower is not None:
        assert (result.x >= units.lower).all()
        assert (result.x <= units.upper).all()
    assert result.n_iter == len(result.history)
    assert result.message
    assert (np.diff(result.history["seconds"]) >= 0).all()
    assert (np.diff(result.history["passes"]) >= 0).all()
    if result.status is Status.CONVERGED and solver in EXACT:
        on_support = objective.evaluate(result.x).gradient[result.support]
        inside = np.ones(on_support.shape, dtype=bool)
        if units.lower is not None and units.upper is not None:
            x = result.x[result.support]
            inside = (x > units.lower[result.support]) & (x < units.upper[result.support])
        assert np.abs(on_support[inside]).max(initial=0.0) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_same_call_gives_the_same_bytes(name: str, solver: str) -> None:
    first, second = (run(OBJECTIVES[name](), k=3, solver=SOLVERS[solver]()) for _ in range(2))
    assert first.x.tobytes() == second.x.tobytes()
    assert first.message == second.message
    for column in ("value", "support_change", "step", "gradient_norm", "passes"):
        np.testing.assert_array_equal(first.history[column], second.history[column])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", LINEAR)
def test_permuted_features_permute_the_answer(kind: str, solver: str) -> None:
    X = design()
    y = responses(kind, signal(X))
    order = np.random.default_rng(7).permutation(P)
    here = run(LINEAR[kind](X, y, alpha=0.01), k=3, solver=SOLVERS[solver]())
    there = run(LINEAR[kind](X[:, order], y, alpha=0.01), k=3, solver=SOLVERS[solver]())
    np.testing.assert_allclose(there.x, here.x[order], atol=1e-6)


@pytest.mark.parametrize("solver", ["default", "GraHTP scaled backtracking"])
@pytest.mark.parametrize("kind", LINEAR)
def test_units_of_measurement_do_not_matter(kind: str, solver: str) -> None:
    """Scaled methods see through the scale of a column."""
    X = design()
    y = responses(kind, signal(X))
    scale = 10.0 ** np.linspace(-3, 3, P)
    options = without_intercept(kind, {"fit_intercept": True})
    here = run(LINEAR[kind](X, y, **options), k=2, solver=SOLVERS[solver]())
    there = run(LINEAR[kind](X * scale, y, **options), k=2, solver=SOLVERS[solver]())
    np.testing.assert_array_equal(here.support, there.support)
    rescaled = there.x[:P] * (scale if here.x.ndim == 1 else scale[:, None])
    np.testing.assert_allclose(rescaled, here.x[:P], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_k_of_everything_and_nothing(solver: str) -> None:
    objective = linear("logistic", fit_intercept=True)
    everything = run(objective, k=1000, solver=SOLVERS[solver]())
    assert everything.support.sum() == P
    nothing = run(objective, k=0, solver=SOLVERS[solver]())
    assert nothing.support.sum() == 0
    share = np.mean(responses("logistic", signal(design())) == "yes")
    assert nothing.x[-1] == pytest.approx(np.log(share / (1 - share)), abs=1e-3)
    if everything.success:
        assert "inactive" in everything.message


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_default_solver_is_at_least_as_good_as_the_others(name: str) -> None:
    best = run(OBJECTIVES[name](), k=3).value
    for solver in SOLVERS.values():
        assert best <= run(OBJECTIVES[name](), k=3, solver=solver()).value + 1e-8


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_default_solver_never_rises(name: str) -> None:
    result = run(OBJECTIVES[name](), k=4)
    values = result.history["value"]
    assert (np.diff(values) <= 0).all()
    assert result.status is Status.CONVERGED


def test_a_warm_start_is_used() -> None:
    objective = linear("logistic")
    best = ksparse.minimize(objective, k=3)
    again = ksparse.minimize(objective, k=3, x0=best.x)
    np.testing.assert_allclose(again.x, best.x, atol=1e-8)
    assert again.history[0].support_change == 0
    assert again.n_iter <= best.n_iter


def test_a_warm_start_with_an_intercept() -> None:
    objective = linear("poisson", design() + 50.0, fit_intercept=True)
    best = ksparse.minimize(objective, k=3)
    again = ksparse.minimize(objective, k=3, x0=best.x, solver=ksparse.GraHTP(step=1e-6))
    assert again.value == pytest.approx(best.value, rel=1e-10)


def test_every_linear_objective_is_in_the_table() -> None:
    public = {getattr(ksparse.objectives, name) for name in ksparse.objectives.__all__}
    linear_models = {cls for cls in public if isinstance(cls, type) and issubclass(cls, LinearObjective)}
    # Cox has no intercept, which many of these checks add: tests/objectives/test_cox.py has its own.
    assert set(LINEAR.values()) == linear_models - {LinearObjective, ksparse.objectives.Cox}
