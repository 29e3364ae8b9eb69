"""A new estimator gets cross-validation and criteria from the public hooks alone."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import KFold

import ksparse
from ksparse._types import AnyArray, Array, Matrix
from ksparse.estimators import SparseLinearModel
from ksparse.estimators.classification import MarginClassifier
from ksparse.objectives import LinearObjective, SquaredHinge
from ksparse.selection import CrossValidated, InformationCriterion


@dataclass(eq=False, repr=False, kw_only=True)
class SparseSVC(MarginClassifier, SparseLinearModel):
    """A linear support vector machine with k features."""

    alpha: float = 0.01
    power: int = 2

    def fit_target(self, y: AnyArray) -> Array:
        return np.where(self.fit_labels(y) == 1, 1.0, -1.0)

    def encode_target(self, y: AnyArray) -> Array:
        return np.where(self.encode_labels(y) == 1, 1.0, -1.0)

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        assert self.power == 2, "the only one there is"
        return SquaredHinge(X, target, **options)


@dataclass(eq=False, repr=False)
class SparseSVCCV(CrossValidated, SparseSVC):
    """The same with k by cross-validation."""


@dataclass(eq=False, repr=False)
class SparseSVCIC(InformationCriterion, SparseSVC):
    """The same with k by a criterion."""


rng = np.random.default_rng(0)
X = rng.standard_normal((150, 12))
y = np.where(X[:, 2] - 2 * X[:, 7] + 0.5 * rng.standard_normal(150) > 0, "yes", "no")


def test_parameters_are_those_of_both() -> None:
    plain, chosen = set(inspect.signature(SparseSVC).parameters), set(inspect.signature(SparseSVCCV).parameters)
    assert chosen - plain == {"ks", "cv", "scoring", "rule", "n_jobs"}
    assert plain - chosen == {"k", "warm_start"}
    assert set(inspect.signature(SparseSVCIC).parameters) - plain == {"ks", "criterion"}
    model = clone(SparseSVCCV(power=3, ks=[1, 2]))
    assert model.get_params()["power"] == 3
    assert model.alpha == 0.01


def test_cross_validation_is_a_loop_over_folds() -> None:
    model = SparseSVCCV(ks=[1, 2, 4], cv=KFold(3)).fit(X, y)
    for row, k in enumerate([1, 2, 4]):
        for fold, (train, test) in enumerate(KFold(3).split(X)):
            part = SparseSVC(k=k).fit(X[train], y[train])
            signs = np.where(y[test] == "yes", 1, -1)
            loss = np.maximum(0, 1 - signs * part.decision_function(X[test])) ** 2
            assert_allclose(model.scores_[row, fold], -loss.mean(), rtol=1e-5)
    assert {2, 7} <= set(model.get_support(indices=True))
    assert_allclose(model.coef_, SparseSVC(k=model.k_).fit(X, y).coef_, rtol=1e-5, atol=1e-8)


def test_a_criterion_counts_twice_the_loss() -> None:
    model = SparseSVCIC(ks=range(5), criterion="bic", alpha=0.0).fit(X, y)
    signs = np.where(y == "yes", 1, -1)
    for k, coef, intercept, value in zip(
        model.ks_, model.coef_path_, model.intercept_path_, model.criterion_, strict=True
    ):
        losses = np.maximum(0, 1 - signs * (X @ coef + intercept)) ** 2
        assert value == pytest.approx(2 * losses.sum() + (k + 1) * np.log(150))


def test_other_ways_of_choosing() -> None:
    path = ksparse.path(X, y, [1, 2], SparseSVC())
    assert np.flatnonzero(path.coef[1]).tolist() == [2, 7]
    stable = ksparse.StabilitySelection(SparseSVC(k=2), n_pairs=5, random_state=0).fit(X, y)
    assert stable.get_support(indices=True).tolist() == [2, 7]


def test_estimators_do_not_import_what_chooses_k() -> None:
    folder = Path(inspect.getfile(SparseLinearModel)).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level > 0:
                assert "selection" not in (node.module or ""), file


def test_registered_estimators_can_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="save takes a fitted estimator of ksparse"):
        ksparse.save(SparseSVC(k=2).fit(X, y), tmp_path / "svc.json")
    ksparse.persistence.register(SparseSVCCV)
    model = SparseSVCCV(ks=[1, 2], cv=3).fit(X, y)
    ksparse.save(model, tmp_path / "svc.json")
    loaded = ksparse.load(tmp_path / "svc.json")
    assert loaded.k_ == model.k_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    other = type("SparseLinearRegression", (ksparse.SparseLinearRegression,), {})
    with pytest.raises(ValueError, match="knows another class SparseLinearRegression"):
        ksparse.persistence.register(other)
