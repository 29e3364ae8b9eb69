"""`ksparse.path`: a model for each of many k."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from .._types import AnyArray, Array, IntArray
from ..estimators import SparseLinearModel, SparseLinearRegression
from ..solvers import Result
from .growth import check_ks
from .pathwise import PathSolver

__all__ = ["Path", "path"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class Path:
    """Models with more and more features.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    coef : ndarray of shape (n_ks, n_features)
        Coefficients for each k; (n_ks, n_outputs, n_features) for classifiers and several responses.
    intercept : ndarray of shape (n_ks,) or (n_ks, n_outputs)
        Intercepts for each k.
    results : tuple of Result
        What the solver gave back for each k.
    passes : int
        Passes over the data of the whole search, those from one k to the next included.
    feature_names : ndarray of str or None
        Names of the features, if X has any.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 9))
    >>> path = ksparse.path(X, 2 * X[:, 4] - X[:, 7], ks=[1, 2])
    >>> path
    <Path of 2 models, k = 1 to 2, of 9 features>
    >>> path.coef[1].round(6).nonzero()[0]
    array([4, 7])
    """

    ks: IntArray
    coef: Array
    intercept: Array
    results: tuple[Result, ...]
    passes: int
    feature_names: AnyArray | None = field(default=None)

    @property
    def values(self) -> Array:
        """f for each k."""
        return np.array([result.value for result in self.results])

    def __len__(self) -> int:
        return len(self.ks)

    def __repr__(self) -> str:
        return f"<Path of {len(self)} models, k = {self.ks[0]} to {self.ks[-1]}, of {self.coef.shape[-1]} features>"

    @classmethod
    def of(cls, model: SparseLinearModel, solver: PathSolver) -> Path:
        """The path that a solver has found, in the shapes of a model's coefficients."""
        ks = sorted(solver.results)
        results = tuple(solver.results[k] for k in ks)
        pairs = [model._coefficients(result) for result in results]
        return cls(
            ks=np.array(ks),
            coef=np.array([coefficients for coefficients, _ in pairs]),
            intercept=np.array([intercept for _, intercept in pairs]),
            results=results,
            passes=solver.passes,
            feature_names=getattr(model, "feature_names_in_", None),
        )


def path(
    X: Any, y: Any, ks: Iterable[int], estimator: SparseLinearModel | None = None, *, sample_weight: Any = None
) -> Path:
    """Fit a model for each k, from large to small and back, each starting from its neighbours.

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

    Returns
    -------
    Path
        Coefficients, intercepts and results for each k.

    Notes
    -----
    A further k costs one pass over X, and one more for each time that an exchange of features lowers f.

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
    X, y = model._check_data(X, y)
    wanted = check_ks(ks, 0, model.n_features_in_)
    solver = path_solver(model, X, y, sample_weight, wanted[-1])
    solver.solve(check_ks(wanted, solver.fewest, solver.most))
    solver.search()
    return Path.of(model, solver)


def path_solver(model: SparseLinearModel, X: Any, y: AnyArray, sample_weight: Any, k: int) -> PathSolver:
    """The problem of a model on checked data, for many k; k is about how many features will be selected."""
    objective = model._objective(X, y, sample_weight, k)
    return PathSolver(objective, model._sparsity(objective, k), model._solver())
