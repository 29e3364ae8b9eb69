"""Neighbourhood coordinate descent: closed forms, conditions of a minimum, components, and supports without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse._types import Array
from ksparse.debias import Exact, Outcome
from ksparse.objectives import LogDet
from tests.precision import covariance, random_support, refitted, support_of, value_at


def of_cliques(sigma: Array, cliques: Any, separators: Any) -> Array:
    """The maximum likelihood of a decomposable graph: inverses of cliques less those of separators."""
    omega = np.zeros_like(sigma)
    for nodes, sign in [(c, 1.0) for c in cliques] + [(s, -1.0) for s in separators if s]:
        omega[np.ix_(nodes, nodes)] += sign * np.linalg.inv(sigma[np.ix_(nodes, nodes)])
    return omega


CHORDAL: dict[str, tuple[int, Any, Any]] = {
    "chain": (6, [[i, i + 1] for i in range(5)], [[i] for i in range(1, 5)]),
    "star": (5, [[0, i] for i in range(1, 5)], [[0]] * 3),
    "two triangles": (4, [[0, 1, 2], [1, 2, 3]], [[1, 2]]),
    "strip": (7, [[i, i + 1, i + 2] for i in range(5)], [[i, i + 1] for i in range(1, 5)]),
    "apart": (5, [[0, 3], [1, 2, 4]], []),
    "single nodes": (4, [[0], [1], [2], [3]], []),
    "complete": (5, [[0, 1, 2, 3, 4]], []),
}


@pytest.mark.parametrize("n", [50, 8])
@pytest.mark.parametrize("name", CHORDAL)
def test_chordal_graphs_have_a_closed_form(name: str, n: int) -> None:
    p, cliques, separators = CHORDAL[name]
    sigma = covariance(p, n, scaled=True)
    support = support_of(p, [(i, j) for clique in cliques for i in clique for j in clique])
    solution, omega = refitted(LogDet(sigma, bounds=None), support)
    expected = of_cliques(sigma, cliques, separators)
    assert solution.outcome is Outcome.SOLVED
    np.testing.assert_allclose(omega, expected, atol=1e-8 * np.abs(expected).max())
    assert solution.point.value == pytest.approx(value_at(sigma, expected), abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("p", "n", "density"), [(8, 30, 0.4), (12, 40, 0.3), (20, 12, 0.08)])
def test_covariances_are_matched_on_the_support(p: int, n: int, density: float, seed: int) -> None:
    """(Σ − W)_F = 0 where no bound binds, n > p and n < p."""
    sigma, support = covariance(p, n, seed, scaled=True), random_support(p, density, seed)
    solution, omega = refitted(LogDet(sigma, bounds=None), support)
    assert solution.outcome is Outcome.SOLVED
    size = np.sqrt(np.multiply.outer(sigma.diagonal(), sigma.diagonal()))
    assert np.abs((sigma - np.linalg.inv(omega)) / size)[support].max() < 1e-8
    assert (omega[~support] == 0).all()
    np.testing.assert_array_equal(omega, omega.T)
    # The inverse that the next gradient is made of is that of Ω.
    np.testing.assert_allclose(solution.point.state.matrix, np.linalg.inv(omega), rtol=1e-9, atol=1e-9)
    assert solution.point.value == pytest.approx(value_at(sigma, omega), rel=1e-12)


@pytest.mark.parametrize("bounds", [None, "paper", (0.8, 2.0)])
def test_components_are_problems_of_their_own(bounds: Any) -> None:
    sigma = covariance(9, 20)
    one, two = [0, 4, 5, 7], [1, 2, 8]  # 3 and 6 are alone
    edges = [(0, 4), (4, 5), (5, 7), (0, 7), (1, 2), (2, 8)]
    objective = LogDet(sigma, bounds)
    _, omega = refitted(objective, support_of(9, edges))
    for nodes in (one, two, [3], [6]):
        part = LogDet(sigma[np.ix_(nodes, nodes)], objective.bounds)
        inner = [(nodes.index(i), nodes.index(j)) for i, j in edges if i in nodes]
        _, expected = refitted(part, support_of(len(nodes), inner))
        np.testing.assert_allclose(omega[np.ix_(nodes, nodes)], expected, atol=1e-10)
    # Together, without being split, they give the same.
    found, _ = refitted(objective, support_of(9, edges), "adm")
    assert found.point.value == pytest.approx(objective.evaluate(omega).value, abs=1e-6)


def test_permuting_and_rescaling_variables() -> None:
    sigma, support = covariance(8, 20), random_support(8, 0.35)
    _, omega = refitted(LogDet(sigma, bounds=None), support)
    order = np.random.default_rng(0).permutation(8)
    across = np.ix_(order, order)
    _, permuted = refitted(LogDet(sigma[across], bounds=None), support[across])
    np.testing.assert_allclose(permuted, omega[across], atol=1e-9)
    units = np.geomspace(1e-4, 1e4, 8)
    _, rescaled = refitted(LogDet(sigma * np.multiply.outer(units, units), bounds=None), support)
    np.testing.assert_allclose(rescaled * np.multiply.outer(units, units), omega, atol=1e-9)


def test_a_constant_variable_has_the_largest_precision_and_no_edges() -> None:
    sigma = covariance(4, 20)
    sigma[1] = sigma[:, 1] = 0.0
    support = np.ones((4, 4), dtype=bool)
    for method in ("neighbourhood", "adm"):
        solution, omega = refitted(LogDet(sigma, bounds=(0.01, 50.0)), support, method)
        assert solution.outcome is Outcome.SOLVED
        assert omega[1, 1] == pytest.approx(50.0, rel=1e-6)
        np.testing.assert_allclose(omega[1, [0, 2, 3]], 0.0, atol=1e-5)
        rest = np.ix_([0, 2, 3], [0, 2, 3])
        np.testing.assert_allclose(omega[rest], np.linalg.inv(sigma[rest]), atol=1e-5)
    solution, _ = refitted(LogDet(sigma, bounds=None), support)
    assert solution.outcome is Outcome.NO_MINIMUM


@pytest.mark.parametrize("bounds", [None, (0.0, np.inf), (0.1, np.inf)])
@pytest.mark.parametrize("seed", range(4))
def test_supports_without_a_minimum_are_called_so(bounds: Any, seed: int) -> None:
    """More variables in a clique than samples: nothing keeps Ω from growing."""
    sigma = covariance(7, 3, seed)
    support = support_of(7, [(i, j) for i in range(5) for j in range(i)] + [(5, 6)])
    objective = LogDet(sigma, bounds)
    solution, omega = refitted(objective, support)
    assert solution.outcome is Outcome.NO_MINIMUM
    assert np.isfinite(omega).all()
    values = np.linalg.eigvalsh(omega)
    assert values[0] >= objective.bounds.lower - 1e-14 * values[-1]  # as well as it can be told
    _, chain = refitted(objective, support_of(7, [(5, 6)]))
    assert solution.point.value < value_at(sigma, chain) - 5
    tree = support_of(7, [(i, i + 1) for i in range(6)])
    solution, _ = refitted(objective, tree)
    assert solution.outcome is Outcome.SOLVED


@pytest.mark.parametrize("correlation", [0.99, 0.9999, 0.999999])
def test_nearly_singular_correlations(correlation: float) -> None:
    p = 6
    sigma = correlation ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    for support in (np.ones((p, p), dtype=bool), random_support(p, 0.5, 1)):
        solution, omega = refitted(LogDet(sigma, bounds=None), support)
        assert solution.outcome is Outcome.SOLVED
        assert np.abs((sigma - np.linalg.inv(omega))[support]).max() < 1e-7


def test_a_long_cycle_takes_many_sweeps() -> None:
    p = 30
    sigma = 0.95 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    support = support_of(p, [(i, (i + 1) % p) for i in range(p)])
    solution, omega = refitted(LogDet(sigma, bounds=None), support)
    assert solution.outcome is Outcome.SOLVED
    assert np.abs((sigma - np.linalg.inv(omega))[support]).max() < 1e-8


def test_the_start_does_not_matter() -> None:
    sigma, support = covariance(6, 20), random_support(6, 0.5)
    for bounds in ("paper", (0.9, 2.0)):
        restricted = LogDet(sigma, bounds).restrict(support)
        starts = (np.zeros(restricted.size), np.ones(restricted.size), -np.full(restricted.size, 7.0))
        values = [Exact()(restricted, start).point.value for start in starts]
        np.testing.assert_allclose(values, values[0], atol=1e-7)
