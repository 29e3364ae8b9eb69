"""Every estimator passes the whole of scikit-learn's checks, with no expected failures."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from ksparse import (
    SparseDiscriminantAnalysis,
    SparseHuberRegression,
    SparseHuberRegressionCV,
    SparseHuberRegressionIC,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparseLogisticRegressionIC,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
    SparsePoissonRegressionIC,
    SparsePrecision,
    SparsePrecisionCV,
    SparsePrecisionIC,
    StabilitySelection,
)

ESTIMATORS = [
    SparseLinearRegression(),
    SparseLinearRegression(k=2, alpha=1e-3),
    SparseLogisticRegression(),
    SparseLogisticRegression(k=2),
    SparsePoissonRegression(),
    SparseHuberRegression(),
    SparseLinearRegressionCV(cv=3),
    SparseLogisticRegressionCV(cv=3),
    SparsePoissonRegressionCV(cv=3),
    SparseHuberRegressionCV(cv=3),
    SparseLinearRegressionIC(),
    SparseLogisticRegressionIC(),
    SparsePoissonRegressionIC(),
    SparseHuberRegressionIC(),
    StabilitySelection(SparseLinearRegression(), n_pairs=3, threshold=0.6, random_state=0),
    StabilitySelection(SparseLogisticRegression(), n_pairs=3, threshold=0.6, random_state=0),
    SparsePrecision(),
    SparsePrecision(k=2, standardize=False, bounds=None),
    SparsePrecisionCV(cv=3),
    SparsePrecisionIC(),
    SparseDiscriminantAnalysis(),
    SparseDiscriminantAnalysis("cv", cv=2),
]


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)
