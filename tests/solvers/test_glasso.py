"""The graphical lasso as a rival: scikit-learn's answers, with a penalty that leaves k edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.covariance import graphical_lasso

import ksparse
from ksparse.objectives import LeastSquares, LogDet
from ksparse.solvers import GLasso, Status
from ksparse.sparsity import Pairs
from tests.precision import covariance, value_at


@pytest.mark.parametrize("k", [1, 3, 6, 10])
def test_the_answer_is_that_of_scikit_learn(k: int) -> None:
    sigma = covariance(8, 60)
    result = ksparse.minimize(LogDet(sigma), k, solver=GLasso())
    edges = int(result.support.sum()) // 2
    assert 0 < edges <= k
    assert result.status is Status.CONVERGED
    unit = sigma.diagonal().mean()
    peer = graphical_lasso(sigma / unit, result.history[-1].step / unit, enet_tol=1e-8)[1] / unit
    if edges == k:
        np.testing.assert_allclose(result.x, 0.5 * (peer + peer.T), rtol=1e-10, atol=1e-12)
        assert result.message == f"converged: {k} edges are left"
    np.testing.assert_array_equal(result.x, result.x.T)
    assert result.value == pytest.approx(value_at(sigma, result.x), rel=1e-10)
    # The penalty shrinks: the default solver is better with as many edges.
    assert ksparse.minimize(LogDet(sigma), k).value < result.value


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_the_unit_of_the_data_does_not_matter(scale: float) -> None:
    """scikit-learn's own answers do depend on it: its tolerances are absolute."""
    sigma = covariance(8, 60)
    plain, scaled = (ksparse.minimize(LogDet(c * sigma, bounds=None), 5, solver=GLasso()) for c in (1.0, scale))
    assert plain.selected.tolist() == scaled.selected.tolist()
    assert len(plain.selected) == 5
    np.testing.assert_allclose(scale * scaled.x, plain.x, rtol=1e-6, atol=1e-9)


def test_nothing_to_find() -> None:
    diagonal = ksparse.minimize(LogDet(np.diag([1.0, 2.0, 4.0])), 2, solver=GLasso())
    assert diagonal.message == "converged: there are no covariances"
    np.testing.assert_allclose(diagonal.x, np.diag([1.0, 0.5, 0.25]))
    none = ksparse.minimize(LogDet(covariance(4, 20)), 0, solver=GLasso())
    assert none.message == "converged: k = 0 selects nothing"
    assert not none.support.any()


def test_constant_and_equal_variables() -> None:
    sigma = covariance(5, 30)
    sigma[1] = sigma[:, 1] = 0.0
    with pytest.raises(ValueError, match="cannot fit constant variables; leave them out"):
        ksparse.minimize(LogDet(sigma, (0.01, 100.0)), 3, solver=GLasso())
    ones = ksparse.minimize(LogDet(np.ones((4, 4))), 2, solver=GLasso())
    assert int(ones.support.sum()) <= 4
    assert np.isfinite(ones.value)


@pytest.mark.parametrize(
    ("sparsity", "error", "message"),
    [
        (Pairs(2, always=[(0, 1)]), ValueError, "does not support known or forbidden edges"),
        (Pairs(2, never=[(0, 1)]), ValueError, "does not support known or forbidden edges"),
        (Pairs(2, lower=0.0), ValueError, "set bounds of its eigenvalues instead"),
    ],
)
def test_what_it_cannot_do(sparsity: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        ksparse.minimize(LogDet(covariance(4, 20)), sparsity=sparsity, solver=GLasso())


def test_other_objectives_and_options_are_refused() -> None:
    with pytest.raises(TypeError, match="GLasso is a method for LogDet, got LeastSquares"):
        ksparse.minimize(LeastSquares(np.eye(3), np.ones(3)), 1, solver=GLasso())
    with pytest.raises(ValueError, match="tol must be finite and greater than 0"):
        GLasso(tol=0.0)
    with pytest.raises(ValueError, match="sweeps must be"):
        GLasso(sweeps=0)


def test_the_same_call_gives_the_same_bytes() -> None:
    first, again = (ksparse.minimize(LogDet(covariance(8, 20)), 6, solver=GLasso()).x.tobytes() for _ in range(2))
    assert first == again
