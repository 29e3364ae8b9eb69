"""`ksparse.path` and `ksparse.precision_path`: a model for each of many k."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from ..estimators import PrecisionPath, SparseLinearModel, SparseLinearRegression, SparsePrecision, SparsityPath
from .penalties import PenaltyGrid, PenaltyPaths
from .schedule import check_ks

__all__ = ["path", "precision_path"]


def path(
    X: Any,
    y: Any,
    ks: Iterable[int],
    estimator: SparseLinearModel | None = None,
    *,
    sample_weight: Any = None,
    offset: Any = None,
) -> SparsityPath:
    """Fit a model for each k, from large to small and back, each starting from its neighbours.

    A further k costs one pass over X, and one more for each swap of features that lowers f.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The response or the labels.
    ks : sequence of int
        Numbers of features. More than there are count as all of them.
    estimator : SparseLinearModel, optional
        The model, whose own k does not matter; by default ``SparseLinearRegression()``.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.
    offset : array-like of shape (n_samples,), optional
        Known part of the margins, such as the logarithm of an exposure.

    Returns
    -------
    SparsityPath
        Coefficients, intercepts and results for each k.

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = ksparse.path(X, y, ks=[1, 2, 3])
    >>> for k, coef in zip(path.ks, path.coef):
    ...     print(k, list(path.feature_names[coef != 0]))
    1 ['bmi']
    2 ['bmi', 's5']
    3 ['bmi', 'bp', 's5']
    """
    if estimator is not None and not isinstance(estimator, SparseLinearModel):
        raise TypeError(f"estimator must be an estimator such as ksparse.SparseLogisticRegression(), got {estimator!r}")
    model = SparseLinearRegression() if estimator is None else clone(estimator)
    return _fit_path(model, ks, X, y, sample_weight, offset)


def precision_path(X: Any, ks: Iterable[int], estimator: SparsePrecision | None = None) -> PrecisionPath:
    """Fit a precision matrix for each number of edges, from few to many and back, each starting from its neighbours.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples; a covariance matrix, if the estimator says so.
    ks : sequence of int
        Numbers of edges. More than there are pairs count as all of them.
    estimator : SparsePrecision, optional
        The model, whose own k does not matter.

    Returns
    -------
    PrecisionPath
        The precision matrices and their objectives.

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_iris
    >>> path = ksparse.precision_path(load_iris().data, ks=range(7))
    >>> path.values.round(2)
    array([ 4.  ,  1.38, -0.05, -0.25, -0.66, -0.69, -0.81])
    """
    if estimator is not None and not isinstance(estimator, SparsePrecision):
        raise TypeError(f"estimator must be a ksparse.SparsePrecision, got {estimator!r}")
    model = SparsePrecision() if estimator is None else clone(estimator)
    return _fit_path(model, ks, X)


def _fit_path(model: SparseLinearModel | SparsePrecision, ks: Iterable[int], *data: Any) -> Any:
    """Fit a model, which changes, to the data for all k."""
    samples = model.check_samples(*data)
    wanted = check_ks(ks, 0, model.n_features_in_**2, model.unit_name)
    model.k = wanted[-1]
    paths = PenaltyPaths(model, model.prepare(samples), PenaltyGrid(refit=(model.get_refit_penalty(),)))
    solver = paths.solvers[0]
    solver.solve(check_ks(wanted, solver.fewest, solver.most, model.unit_name))
    solver.search()
    results = {k: paths.refit(0, k, paths.grid.refit)[0] for k in solver.results}
    return model.build_path(results, solver.passes)
