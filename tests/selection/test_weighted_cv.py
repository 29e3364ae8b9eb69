"""Cross-validation of weighted samples: the same choices and scores as with as many equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegressionCV

N = 80
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 12))
COUNTS = RNG.integers(1, 4, N)
ROWS = np.repeat(np.arange(N), COUNTS)
SIGNAL = X[:, 0] - X[:, 3] + RNG.standard_normal(N)
#: Equal rows stay together.
FOLDS = np.arange(N) % 4
SPLITS = [(np.flatnonzero(fold != FOLDS), np.flatnonzero(fold == FOLDS)) for fold in range(4)]
REPEATED = [tuple(np.flatnonzero(np.isin(ROWS, part)) for part in split) for split in SPLITS]


@pytest.mark.parametrize("unit", [1.0, 0.37])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("classifies", [False, True])
def test_a_weight_is_a_number_of_equal_rows(classifies: bool, scoring: str | None, unit: float) -> None:
    model: Any = SparseLogisticRegressionCV if classifies else SparseLinearRegressionCV
    y = (SIGNAL > 0).astype(int) if classifies else SIGNAL
    once = model(cv=SPLITS, scoring=scoring).fit(X, y, sample_weight=unit * COUNTS)
    often = model(cv=REPEATED, scoring=scoring).fit(X[ROWS], y[ROWS])
    assert_array_equal(once.ks_, often.ks_)
    assert_allclose(once.grid_scores_, often.grid_scores_, rtol=1e-6, atol=1e-9)
    assert (once.k_, once.alpha_) == (often.k_, pytest.approx(often.alpha_))
    assert_allclose(once.coef_, often.coef_, rtol=1e-6, atol=1e-9)


def test_a_scorer_gets_the_weights_of_held_out_samples() -> None:
    weights = COUNTS + 0.5
    found = SparseLinearRegressionCV(ks=[2], alphas=0.1, refit_alphas=None, cv=SPLITS, scoring="r2")
    found.fit(X, SIGNAL, weights)
    for (train, test), score in zip(SPLITS, found.grid_scores_.ravel(), strict=True):
        model = SparseLinearRegression(k=2, alpha=0.1, standardize=True).fit(X[train], SIGNAL[train], weights[train])
        expected = metrics.r2_score(SIGNAL[test], model.predict(X[test]), sample_weight=weights[test])
        assert score == pytest.approx(expected, rel=1e-6)


def test_a_score_without_weights_is_refused() -> None:
    model = SparseLinearRegressionCV(ks=[2], scoring=lambda model, X, y: model.score(X, y))
    assert model.fit(X, SIGNAL).k_ == 2
    with pytest.raises(ValueError, match=r"scoring takes no sample_weight .*would count each sample once"):
        model.fit(X, SIGNAL, COUNTS)
