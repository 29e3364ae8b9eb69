"""Each base class, one that cross-validates and one with a criterion pass all of scikit-learn's checks.

The others differ from these in their docstrings only: they combine a base class that is checked here with a mixin that
is. The only expected failures are those of targets that an estimator does not take.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksparse import (
    SparseDiscriminantAnalysis,
    SparseDiscriminantAnalysisCV,
    SparseGammaRegression,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearRegressionIC,
    SparseLinearSVC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparseNegativeBinomialRegression,
    SparseOrdinalRegression,
    SparsePoissonRegression,
    SparsePrecision,
    SparsePrecisionCV,
    SparseQuantileRegression,
    SparseTweedieRegression,
    StabilitySelection,
)

BASE_CLASSES = [
    SparseLinearRegression(),
    SparseLogisticRegression(k=2),
    SparsePrecision(),
    SparseDiscriminantAnalysis(),
]
#: Those that choose k take one feature at least: without any, scikit-learn's `transform` warns.
SIMILAR = [
    SparseLinearRegression(k=2, alpha=1e-3, standardize=True),
    SparsePoissonRegression(),
    SparseHuberRegression(),
    SparseTweedieRegression(),
    SparseNegativeBinomialRegression(),
    SparseQuantileRegression(alpha=0.01),  # without a ridge, many sets of ten features fit ten samples exactly
    SparseLinearSVC(k=2),
    SparseLogisticRegressionCV(ks=[1, 2], alphas=[0.01, 0.1], cv=2),
    SparseLinearRegressionIC(ks=range(1, 6)),
    SparsePrecision(shrinkage=0.1, shrink_by="amount"),
    SparseDiscriminantAnalysis(shrinkage=0.1),
    SparsePrecisionCV(ks=[0, 2], shrinkages=[0.0, 0.2], cv=2),
    SparseDiscriminantAnalysisCV(ks=[0, 2], shrinkages=[0.0, 0.2], cv=2),
    StabilitySelection(SparseLinearRegression(), n_pairs=3, threshold=0.6, random_state=0),
]


#: Checks of weights that stability selection does not pass.
HALVES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "random halves are of rows, also of those without weight",
)


@pytest.mark.slow
@parametrize_with_checks(BASE_CLASSES)  # type: ignore[untyped-decorator]
def test_base_classes(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    SIMILAR,
    expected_failed_checks=lambda estimator: HALVES if isinstance(estimator, StabilitySelection) else {},
)
def test_what_is_made_of_the_same_parts(estimator: Any, check: Any) -> None:
    check(estimator)


#: Checks with targets that an estimator does not take, whatever its tags say.
OTHER_TARGETS = {
    "SparseGammaRegression": dict.fromkeys(
        ["check_transformer_data_not_an_array", "check_transformer_general", "check_transformer_preserve_dtypes"],
        "gamma distributions have no zeros",
    ),
    "SparseOrdinalRegression": {
        "check_classifiers_classes": "text labels need their order",
        "check_classifiers_train": "clusters that are not in a row are no ordered classes",
    },
}


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [SparseGammaRegression(), SparseOrdinalRegression(k=2)],
    expected_failed_checks=lambda estimator: OTHER_TARGETS[type(estimator).__name__],
)
def test_what_takes_special_targets(estimator: Any, check: Any) -> None:
    check(estimator)
