"""Linear models that choose their number of features."""

from __future__ import annotations

from dataclasses import dataclass

from ..estimators import (
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ..estimators._docs import document
from .criterion_search import InformationCriterion
from .cross_validation import CrossValidated

__all__ = [
    "SparseHuberRegressionCV",
    "SparseHuberRegressionIC",
    "SparseLinearRegressionCV",
    "SparseLinearRegressionIC",
    "SparseLogisticRegressionCV",
    "SparseLogisticRegressionIC",
    "SparsePoissonRegressionCV",
    "SparsePoissonRegressionIC",
]


@document
@dataclass(eq=False, repr=False)
class SparseLinearRegressionCV(CrossValidated, SparseLinearRegression):
    """Least squares with the number of features chosen by cross-validation.

    See `SparseLinearRegression` for the model.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegressionCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegressionCV().fit(X, y)
    >>> model.ks_, model.k_
    (array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10]), 6)
    >>> model.get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's1', 's2', 's5'], dtype=object)
    """


@document
@dataclass(eq=False, repr=False)
class SparseLogisticRegressionCV(CrossValidated, SparseLogisticRegression):
    """Logistic regression with the number of features chosen by cross-validation.

    See `SparseLogisticRegression` for the model.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ksparse import SparseLogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLogisticRegressionCV(ks=range(1, 11), rule="1se", standardize=True).fit(X, y)
    >>> model.k_, model.get_support(indices=True)
    (3, array([21, 23, 27]))
    """


@document
@dataclass(eq=False, repr=False)
class SparsePoissonRegressionCV(CrossValidated, SparsePoissonRegression):
    """Poisson regression with the number of features chosen by cross-validation.

    See `SparsePoissonRegression` for the model.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]))
    >>> model = SparsePoissonRegressionCV(rule="1se").fit(X, y)
    >>> model.k_, model.get_support(indices=True)
    (2, array([4, 9]))
    """


@document
@dataclass(eq=False, repr=False)
class SparseHuberRegressionCV(CrossValidated, SparseHuberRegression):
    """Robust regression with the number of features chosen by cross-validation.

    See `SparseHuberRegression` for the model. Held-out samples are scored by Huber's loss too.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseHuberRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + 0.1 * rng.standard_normal(100)
    >>> y[::10] += 500
    >>> model = SparseHuberRegressionCV(ks=range(1, 6)).fit(X, y)
    >>> model.k_, model.get_support(indices=True)
    (2, array([ 2, 11]))
    """


@document
@dataclass(eq=False, repr=False)
class SparseLinearRegressionIC(InformationCriterion, SparseLinearRegression):
    """Least squares with the number of features chosen by an information criterion.

    See `SparseLinearRegression` for the model. The variance is taken as unknown: the deviance is n·log of the mean
    squared residual.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegressionIC
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SparseLinearRegressionIC(criterion="bic").fit(X, y).get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's3', 's5'], dtype=object)
    """


@document
@dataclass(eq=False, repr=False)
class SparseLogisticRegressionIC(InformationCriterion, SparseLogisticRegression):
    """Logistic regression with the number of features chosen by an information criterion.

    See `SparseLogisticRegression` for the model.

    $fields

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ksparse import SparseLogisticRegressionIC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseLogisticRegressionIC(standardize=True).fit(X, y)
    >>> model.ks_, model.k_
    (array([ 1,  2,  3,  4,  5,  6,  7,  9, 12, 15]), 5)
    """


@document
@dataclass(eq=False, repr=False)
class SparsePoissonRegressionIC(InformationCriterion, SparsePoissonRegression):
    """Poisson regression with the number of features chosen by an information criterion.

    See `SparsePoissonRegression` for the model.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegressionIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 4] - 0.5 * X[:, 9]))
    >>> SparsePoissonRegressionIC().fit(X, y).get_support(indices=True)
    array([4, 9])
    """


@document
@dataclass(eq=False, repr=False)
class SparseHuberRegressionIC(InformationCriterion, SparseHuberRegression):
    """Robust regression with the number of features chosen by an information criterion.

    See `SparseHuberRegression` for the model. The deviance is that of residuals divided by their spread, delta/1.345.

    $fields

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseHuberRegressionIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + 0.1 * rng.standard_normal(100)
    >>> y[::10] += 500
    >>> SparseHuberRegressionIC().fit(X, y).get_support(indices=True)
    array([ 2, 11])
    """
