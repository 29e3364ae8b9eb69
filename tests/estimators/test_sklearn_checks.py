"""Each base class, one that cross-validates and one with a criterion pass all of scikit-learn's checks.

The others differ from these in their docstrings only: they combine a base class that is checked here with a mixin that
is. There are no expected failures.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from ksparse import (
    SparseDiscriminantAnalysis,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparsePoissonRegression,
    SparsePrecision,
    SparsePrecisionCV,
    StabilitySelection,
)

ESTIMATORS = [
    SparseLinearRegression(),
    SparseLinearRegression(k=2, alpha=1e-3, standardize=True),
    SparseLogisticRegression(k=2),
    SparsePoissonRegression(),
    SparseHuberRegression(),
    SparseLogisticRegressionCV(cv=3),
    SparseLinearRegressionIC(),
    StabilitySelection(SparseLinearRegression(), n_pairs=3, threshold=0.6, random_state=0),
    SparsePrecision(),
    SparsePrecisionCV(cv=3),
    SparseDiscriminantAnalysis(),
]


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)
