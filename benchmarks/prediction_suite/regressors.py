"""Methods of the simulation. Each takes X and y, chooses its parameters by 5 folds, and returns coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_selection import RFECV, SelectKBest, f_regression
from sklearn.linear_model import ElasticNetCV, LassoCV, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

from .nonconvex import choose_nonconvex
from .relaxed_lasso import choose_relaxed_lasso

__all__ = ["BEFORE", "OURS", "REGRESSORS", "Fitted", "Regressor"]

#: Coefficients and intercept.
Fitted = tuple[Any, float]
Regressor = Callable[[Any, Any], Fitted]

#: ksparse as it is, and with only k chosen; a run leaves out the latter unless it is named.
OURS, BEFORE = "ksparse", "ksparse (k only)"
FOLDS = KFold(5, shuffle=True, random_state=0)
L1_RATIOS = (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
#: Penalties of the elastic net for each ratio, and the smallest relative to the largest with more samples than features
#: and with fewer (as in R's glmnet): half as many as LassoCV, because the small ones take most of the time.
ELASTIC_PENALTIES, ELASTIC_SMALLEST = 50, (1e-3, 1e-2)
RIDGES = np.logspace(-3, 3, 13)
FEATURE_COUNTS = (1, 2, 3, 5, 7, 10, 20, 50, 100, 200, 500, 1000)
#: Fraction of all features that a step of RFECV eliminates.
RFE_STEP = 0.02
#: Ridges of fastsparsegams; its own default is a single one.
FASTSPARSE_RIDGES = 5


def fit_ksparse(X: Any, y: Any) -> Fitted:
    """Fit the default of ksparse."""
    from ksparse import SparseLinearRegressionCV

    return read_coefficients(SparseLinearRegressionCV().fit(X, y))


def fit_ksparse_k_only(X: Any, y: Any) -> Fitted:
    """Fit ksparse with the ridge of its former default, so that only k is chosen."""
    from ksparse import SparseLinearRegressionCV

    model = SparseLinearRegressionCV(alphas=0.0, refit_alphas=None, standardize=False, rule="best")
    return read_coefficients(model.fit(X, y))


def read_coefficients(model: Any) -> Fitted:
    """Return the coefficients and the intercept of a fitted estimator with one output."""
    return np.ravel(model.coef_), float(np.squeeze(model.intercept_))


def fit_lasso(X: Any, y: Any) -> Fitted:
    model = LassoCV(cv=FOLDS).fit(X, y)
    return model.coef_, model.intercept_


def fit_elastic_net(X: Any, y: Any) -> Fitted:
    smallest = ELASTIC_SMALLEST[int(X.shape[1] > X.shape[0])]
    model = ElasticNetCV(l1_ratio=L1_RATIOS, alphas=ELASTIC_PENALTIES, eps=smallest, cv=FOLDS).fit(X, y)
    return model.coef_, model.intercept_


def fit_relaxed_lasso(X: Any, y: Any) -> Fitted:
    return choose_relaxed_lasso(X, y, FOLDS)


def fit_nonconvex(name: str, X: Any, y: Any) -> Fitted:
    return choose_nonconvex(name, X, y, FOLDS)


def fit_abess(X: Any, y: Any) -> Fitted:
    """Fit abess, which takes the same folds as numbers of the samples."""
    from abess import LinearRegression

    folds = np.zeros(len(y), dtype=int)
    for number, (_, test) in enumerate(FOLDS.split(X), 1):
        folds[test] = number
    model = LinearRegression(path_type="seq", cv=5, thread=1).fit(X, y, cv_fold_id=folds)
    return model.coef_, float(model.intercept_)


def fit_fastsparse(X: Any, y: Any) -> Fitted:
    """Fit L0L2 by coordinate descent; the folds are its own."""
    import fastsparsegams

    path = fastsparsegams.cvfit(
        np.asfortranarray(X), y, penalty="L0L2", num_folds=5, seed=1, num_gamma=FASTSPARSE_RIDGES
    )
    errors = [np.asarray(means).ravel() for means in path.cv_means]
    ridge = int(np.argmin([one.min() for one in errors]))
    best = int(np.argmin(errors[ridge]))
    coefs = path.coeff(path.lambda_0[ridge][best], path.gamma[ridge]).toarray().ravel()
    return coefs[1:], float(coefs[0])


def fit_univariate(X: Any, y: Any) -> Fitted:
    """Select by F-tests, then fit a ridge regression."""
    p = X.shape[1]
    counts = sorted({min(count, p) for count in FEATURE_COUNTS})
    steps = Pipeline([("select", SelectKBest(f_regression)), ("ridge", RidgeCV(alphas=RIDGES))])
    search = GridSearchCV(steps, {"select__k": counts}, scoring="neg_mean_squared_error", cv=FOLDS)
    best = search.fit(X, y).best_estimator_
    return _spread(best["ridge"], best["select"].get_support(), p)


def fit_elimination(X: Any, y: Any) -> Fitted:
    """Eliminate features recursively by the coefficients of a ridge regression."""
    search = RFECV(Ridge(), step=RFE_STEP, cv=FOLDS, scoring="neg_mean_squared_error").fit(X, y)
    return _spread(search.estimator_, search.support_, X.shape[1])


def _spread(model: Any, support: Any, p: int) -> Fitted:
    coef = np.zeros(p)
    coef[support] = model.coef_
    return coef, float(model.intercept_)


REGRESSORS: dict[str, Regressor] = {
    OURS: fit_ksparse,
    BEFORE: fit_ksparse_k_only,
    "lasso": fit_lasso,
    "elastic net": fit_elastic_net,
    "relaxed lasso": fit_relaxed_lasso,
    "MCP": partial(fit_nonconvex, "MCP"),
    "SCAD": partial(fit_nonconvex, "SCAD"),
    "abess": fit_abess,
    "fastsparsegams": fit_fastsparse,
    "F-test + ridge": fit_univariate,
    "RFECV": fit_elimination,
}
