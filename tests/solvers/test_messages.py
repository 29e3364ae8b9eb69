"""What is said agrees with what happened, and helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import ksparse
from ksparse import (
    FGraHTP,
    GraSP,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
    StabilitySelection,
    Status,
)
from ksparse.objectives import LeastSquares
from ksparse.solvers.result import OPENINGS
from ksparse.solvers.steps import Constant

_rng = np.random.default_rng(0)
X = _rng.standard_normal((40, 10))
Y = X[:, :3].sum(axis=1) + _rng.standard_normal(40)


def test_each_status_has_its_own_opening() -> None:
    assert set(OPENINGS) == set(Status)
    for status, opening in OPENINGS.items():
        assert status.opening == opening
        assert not any(other is not status and text.startswith(opening) for other, text in OPENINGS.items())


def test_a_message_that_contradicts_its_status_cannot_be_made() -> None:
    result = ksparse.minimize(LeastSquares(X, Y), k=2)
    with pytest.raises(ValueError, match=r"status converged begins with 'converged: '; got 'f has no minimum"):
        replace(result, message="f has no minimum on the selected support")
    with pytest.raises(ValueError, match="begins with"):
        replace(result, status=Status.NO_MINIMUM)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_grasp_says_that_it_ended_above_an_earlier_point() -> None:
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((20, 12)) + rng.standard_normal((20, 1))
        objective = LeastSquares(data, data @ rng.standard_normal(12) + rng.standard_normal(20))
        best = ksparse.minimize(objective, k=3, effort=5)
        result = ksparse.minimize(objective, k=3, solver=GraSP(), x0=best.x)
        worse = result.success and result.value > best.value * (1 + 1e-6)
        assert worse == ("An earlier point had a lower f" in result.message)
        said += worse
    assert said > 0


def test_only_methods_with_a_step_advise_another_one() -> None:
    steep = FGraHTP(step=Constant(30.0))
    with pytest.warns(ConvergenceWarning):
        result = ksparse.minimize(LeastSquares(X, Y), k=2, solver=steep)
    assert result.status is not Status.PERIODIC or "the default solver" in result.message


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"threshold": 0.3}, ValueError, "threshold must lie between 0.5 and 1"),
        ({"threshold": "a"}, TypeError, "threshold must be a number"),
        ({"assumption": "some"}, ValueError, 'assumption must be "none" or "unimodal"'),
        ({"max_false": -1.0}, ValueError, "max_false must be finite and greater than 0"),
    ],
)
def test_stability_selection_checks_its_parameters_first(
    parameters: dict[str, Any], error: type[Exception], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparseLinearRegression, "fit", pytest.fail)
    monkeypatch.setattr(SparseLinearRegression, "fit_samples", pytest.fail)
    with pytest.raises(error, match=match):
        StabilitySelection(SparseLinearRegression(k=2), **parameters).fit(X, Y)


def test_numbers_beyond_all_floats() -> None:
    with pytest.raises(ValueError, match=r"alpha must be finite and at least 0, got a number beyond 1\.8e"):
        SparseLinearRegression(k=2, alpha=10**400).fit(X, Y)
    with pytest.raises(ValueError, match="y has a number beyond"):
        LeastSquares(X, np.array([10**400] * 40, dtype=object))


@pytest.mark.parametrize("kind", ["S3", object])
def test_labels_of_bytes(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"labels of bytes; decode them to text first"):
        SparseLogisticRegression(k=2).fit(X, np.where(Y > 0, b"yes", b"no").astype(kind))


def test_counts_that_are_all_zero() -> None:
    with pytest.warns(ConvergenceWarning, match="The counts are zero") as caught:
        SparsePoissonRegression(k=2, alpha=0.0).fit(X, np.zeros(40))
    assert "classes" not in str(caught[0].message)
