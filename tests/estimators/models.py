"""The linear estimators with data they fit, which the same checks run over."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ksparse import (
    SparseCoxRegression,
    SparseGammaRegression,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearSVC,
    SparseLogisticRegression,
    SparseNegativeBinomialRegression,
    SparseOrdinalRegression,
    SparsePoissonRegression,
    SparseQuantileRegression,
    SparseTweedieRegression,
)
from ksparse._types import Array
from ksparse.objectives import (
    Cox,
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Quantile,
    SquaredHinge,
    Tweedie,
)
from tests.problems import design, responses

#: pandas, which comes without types.
pd: Any = import_module("pandas")

N, P, K = 80, 8, 3
#: The features that y depends on.
TRUE = [1, 4, 6]
NAMES = np.array([f"f{j}" for j in range(P)], dtype=object)

X: Array = design(n=N, p=P)
X.flags.writeable = False
MARGINS: Array = (X - X.mean(axis=0)) @ np.isin(np.arange(P), TRUE).astype(float)

#: Estimator, objective and kind of y of each model.
MODELS: dict[str, tuple[type[Any], type[Any], str]] = {
    "linear": (SparseLinearRegression, LeastSquares, "least squares"),
    "responses": (SparseLinearRegression, LeastSquares, "multiresponse"),
    "logistic": (SparseLogisticRegression, Logistic, "logistic"),
    "multinomial": (SparseLogisticRegression, Multinomial, "multinomial"),
    "poisson": (SparsePoissonRegression, Poisson, "poisson"),
    "huber": (SparseHuberRegression, Huber, "huber"),
    "gamma": (SparseGammaRegression, Gamma, "gamma"),
    "tweedie": (SparseTweedieRegression, Tweedie, "tweedie"),
    "negative binomial": (SparseNegativeBinomialRegression, NegativeBinomial, "negative binomial"),
    "quantile": (SparseQuantileRegression, Quantile, "quantile"),
    "cox": (SparseCoxRegression, Cox, "cox"),
    "ordinal": (SparseOrdinalRegression, Ordinal, "ordinal"),
    "hinge": (SparseLinearSVC, SquaredHinge, "hinge"),
    "hinge of classes": (SparseLinearSVC, SquaredHinge, "hinge of classes"),
}
#: Values of parameters that are estimated from the data otherwise.
FIXED: dict[str, dict[str, float]] = {
    "huber": {"delta": 0.5},
    "quantile": {"bandwidth": 0.2},
    "negative binomial": {"dispersion": 0.5},
}
#: Models of which a constant changes nothing.
WITHOUT_INTERCEPT = ["cox", "ordinal"]
#: Parameters with which a weight of 2 is two equal samples, where that does not hold for the default ones.
REPEATABLE: dict[str, dict[str, Any]] = {"cox": {"ties": "breslow"}}
#: Models of residuals, classes, counts and residuals again, where one of each kind is enough.
FOUR = ["linear", "logistic", "poisson", "huber"]


def response(name: str) -> Any:
    return responses(MODELS[name][2], MARGINS)


def model(name: str, **parameters: Any) -> Any:
    """An estimator with k = 3 and alpha = 0, unless the parameters say otherwise."""
    return MODELS[name][0](**{"k": K, "alpha": 0.0, **parameters})


def fitted(name: str, data: Any = None, y: Any = None, sample_weight: Any = None, **parameters: Any) -> Any:
    """An estimator fitted to the standard data, or to another form of it."""
    data, y = X if data is None else data, response(name) if y is None else y
    return model(name, **parameters).fit(data, y, sample_weight=sample_weight)


@cache
def reference(name: str, alpha: float = 0.0) -> Any:
    """The estimator fitted to the standard data; many tests compare with it, none changes it."""
    return fitted(name, alpha=alpha)


def intercepts(estimator: Any) -> Any:
    """b; of ordered classes −θ, the log-odds of a class above each but the last where Xw = 0."""
    return -estimator.thresholds_ if hasattr(estimator, "thresholds_") else estimator.intercept_


def margins(estimator: Any, data: Any) -> Array:
    """Xw + b by the fitted attributes, with a column for each threshold of ordered classes."""
    products = np.asarray(data) @ estimator.coef_.T
    return (products[:, None] if hasattr(estimator, "thresholds_") else products) + intercepts(estimator)


def assert_same(here: Any, there: Any, rtol: float = 1e-6, scale: Any = 1.0) -> None:
    """Same support, and coefficients that are `scale` times the others."""
    np.testing.assert_array_equal(here.support_, there.support_)
    size = np.abs(there.coef_ * scale).max(initial=1e-12)
    np.testing.assert_allclose(here.coef_, there.coef_ * scale, rtol=rtol, atol=rtol * size)
