"""Methods for the classes of real data. Each takes X and the positive labels, and returns coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import l1_min_c

from .elastic_net import choose_elastic_net
from .regressors import (
    BEFORE,
    OURS,
    Fitted,
    Regressor,
    fit_elastic_net,
    fit_ksparse,
    fit_ksparse_k_only,
    fit_lasso,
    fit_relaxed_lasso,
    read_coefficients,
)

__all__ = ["CLASSIFIERS", "L1", "REAL_REGRESSORS"]

L1 = "L1"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
#: Penalties of L1, and the weakest relative to the one that leaves no features.
L1_PENALTIES, L1_WEAKEST = 30, 1e3
#: liblinear penalizes the intercept; a large scaling makes that negligible.
INTERCEPT_SCALING = 100.0


def fit_ksparse_logistic(X: Any, positive: Any) -> Fitted:
    """Fit the default of ksparse."""
    from ksparse import SparseLogisticRegressionCV

    return read_coefficients(SparseLogisticRegressionCV().fit(X, positive))


def fit_ksparse_logistic_k_only(X: Any, positive: Any) -> Fitted:
    """Fit ksparse with the ridge of its former default, so that only k is chosen."""
    from ksparse import SparseLogisticRegressionCV

    model = SparseLogisticRegressionCV(alphas=1e-3, refit_alphas=None, standardize=False, rule="best")
    return read_coefficients(model.fit(X, positive))


def fit_l1_logistic(X: Any, positive: Any) -> Fitted:
    strongest = l1_min_c(X, positive, loss="log", fit_intercept=False)
    model = LogisticRegressionCV(
        Cs=strongest * np.geomspace(1.0, L1_WEAKEST, L1_PENALTIES),
        cv=FOLDS,
        l1_ratios=(1.0,),
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        scoring="neg_log_loss",
        random_state=0,
        use_legacy_attributes=False,
    )
    return read_coefficients(model.fit(X, positive))


def fit_elastic_net_logistic(X: Any, positive: Any) -> Fitted:
    return choose_elastic_net(X, positive, FOLDS)


CLASSIFIERS: dict[str, Regressor] = {
    OURS: fit_ksparse_logistic,
    BEFORE: fit_ksparse_logistic_k_only,
    L1: fit_l1_logistic,
    "elastic net": fit_elastic_net_logistic,
}
REAL_REGRESSORS: dict[str, Regressor] = {
    OURS: fit_ksparse,
    BEFORE: fit_ksparse_k_only,
    L1: fit_lasso,
    "elastic net": fit_elastic_net,
    "relaxed lasso": fit_relaxed_lasso,
}
