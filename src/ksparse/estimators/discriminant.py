"""Linear discriminant analysis with a sparse precision matrix."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import AnyArray, Array, IntArray
from ..solvers import Result, Solver
from ..validation import check_number_of_units, real_array
from ._docs import documented
from ._margins import MarginClassifier, check_labels
from ._parameters import keeps_parameters
from .graphs import GraphModel, GraphProblem, covariance_around

__all__ = ["SparseDiscriminantAnalysis"]

M = TypeVar("M", bound="SparseDiscriminantAnalysis")


@documented
class SparseDiscriminantAnalysis(MarginClassifier, GraphModel, BaseEstimator):  # type: ignore[misc]
    """Linear discriminant analysis whose precision matrix has k edges (paper, §5.2.2), of two classes or more.

    Samples of class l are taken for N(μ_l, Ω⁻¹), with Ω the `SparsePrecision` of the samples around their class means.
    A sample goes to the class with the largest δ_l(x) = xᵀΩμ_l − ½μ_lᵀΩμ_l + log π_l.

    Parameters
    ----------
    k : int or "cv", default=10
        Number of edges; "cv" chooses it by cross-validation.
    priors : array-like of shape (n_classes,), optional
        π, the probabilities of the classes in the order of `classes_`; by default their shares of the samples.
    $edge_counts
        Only with ``k="cv"``, as the three that follow.
    cv : int, splitter or iterable, default=6
        How to split: a number of stratified folds, six in the paper, or any splitter of scikit-learn.
    scoring : str or callable, optional
        Any scorer of scikit-learn, larger being better. By default the log-likelihood of the held-out samples around
        the means of their classes.
    rule : {"best", "1se"}, default="best"
        "best" takes the k with the best mean score; "1se" the smallest k whose mean score is within one standard
        error of it.
    $graph
    $n_jobs

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    means_ : ndarray of shape (n_classes, n_features)
        The class means μ.
    priors_ : ndarray of shape (n_classes,)
        The class probabilities π.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Coefficients of the margins; one row for two classes.
    intercept_ : ndarray of shape (1 or n_classes,)
        Their intercepts.
    k_ : int
        The number of edges that was asked for, or chosen.
    ks_, scores_ : ndarray
        With ``k="cv"``, the numbers of edges that were tried, and their score on each held-out fold.
    $omega
    $edges

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ksparse import SparseDiscriminantAnalysis
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SparseDiscriminantAnalysis(k="cv").fit(X, y)
    >>> model.k_, round(model.score(X, y), 3)
    (28, 1.0)
    """

    @keeps_parameters
    def __init__(
        self,
        k: int | str = 10,
        *,
        priors: Any = None,
        ks: Any = "auto",
        cv: Any = 6,
        scoring: Any = None,
        rule: str = "best",
        bounds: Any = "auto",
        xi: float = 1e-2,
        standardize: bool = True,
        known_edges: Any = None,
        forbidden_edges: Any = None,
        solver: str | Solver = "auto",
        effort: int = 0,
        n_jobs: int | None = None,
    ) -> None: ...

    def fit(self: M, X: Any, y: Any, groups: Any = None) -> M:
        """Fit the class means and their common precision matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The labels.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2)
        self.classes_ = check_labels(y)
        codes = np.searchsorted(self.classes_, y)
        if len(X) <= len(self.classes_):
            raise ValueError(
                f"{len(X)} samples of {len(self.classes_)} classes leave nothing to estimate a covariance from; "
                "there must be more samples than classes"
            )
        if isinstance(self.k, str):
            return self._fit_by_cross_validation(X, codes, groups)
        self.k_ = check_number_of_units(self.k, "edges")
        problem = self._class_problem(X, codes, self.k_)
        return self._keep(problem, self._solve(problem))

    def _class_problem(self, X: Array, codes: IntArray, k: int) -> GraphProblem:
        """Class means and priors, and the problem of the covariance around the means."""
        counts = np.bincount(codes, minlength=len(self.classes_))
        if (counts == 0).any():
            missing = self.classes_[counts == 0].tolist()[0]
            raise ValueError(f"a training part has no sample of the class {missing!r}; use fewer folds")
        sums = np.array([X[codes == code].sum(axis=0, dtype=np.float64) for code in range(len(counts))])
        self.means_ = sums / counts[:, None]
        self.priors_ = self._check_priors(counts / len(X))
        return self._problem(covariance_around(X, self.means_[codes]), k)

    def _check_priors(self, shares: Array) -> Array:
        if self.priors is None:
            return shares
        priors = real_array(self.priors, "priors")
        if priors.shape != shares.shape:
            raise ValueError(f"priors has shape {priors.shape} for {len(shares)} classes; give one for each")
        if not (priors > 0).all() or abs(float(priors.sum()) - 1.0) > 1e-8:
            raise ValueError(f"priors must be positive and add up to 1, got {priors.tolist()}")
        return priors

    def _fit_by_cross_validation(self: M, X: Array, codes: IntArray, groups: Any) -> M:
        # Choosing k builds on the estimators, of which this is one: it is imported when it is asked for.
        from ..selection.choosing import chosen_result
        from ..selection.folds import check_rule, check_splits, cross_validate
        from ..selection.graphs import GraphFold, edge_growth
        from ..selection.pathwise import PathSolver

        if self.k != "cv":
            raise ValueError(f'k must be a number of edges or "cv", got {self.k!r}')
        check_rule(self.rule)
        splits = check_splits(check_cv(self.cv, codes, classifier=True).split(X, codes, groups))
        scorer = None if self.scoring is None else get_scorer(self.scoring)
        most = X.shape[1] * (X.shape[1] - 1) // 2
        problem = self._class_problem(X, codes, most)
        whole = PathSolver(problem.objective, problem.sparsity, self._solver())
        folds = []
        for train, test in splits:
            model = self._for_fold()
            part = model._class_problem(X[train], codes[train], most)
            held_out = covariance_around(X[test], model.means_[codes[test]])
            score = None if scorer is None else model._scored_by(scorer, part, X[test], self.classes_[codes[test]])
            folds.append(GraphFold(part, self._solver(), held_out, score))
        growth = edge_growth(whole, min(len(train) for train, _ in splits), X.shape[1])
        self.k_, self.scores_ = cross_validate(self.ks, whole, growth, folds, rule=self.rule, n_jobs=self.n_jobs)
        self.ks_ = np.array(sorted(whole.results))
        return self._keep(problem, chosen_result(whole, self.k_))

    def _for_fold(self) -> SparseDiscriminantAnalysis:
        """The same model for the samples of a fold, which come without names."""
        model = type(self)(**self.get_params(deep=False))
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    def _scored_by(self, scorer: Any, problem: GraphProblem, X: Array, y: AnyArray) -> Any:
        """A function that scores a result on held-out samples."""
        self.__dict__.pop("feature_names_in_", None)
        return lambda result: float(scorer(self._keep(problem, result), X, y))

    def _keep(self: M, problem: GraphProblem, result: Result) -> M:
        """Set the fitted attributes from a result."""
        self._keep_graph(problem, result)
        coefficients = self.means_ @ self.precision_
        intercepts = -0.5 * np.sum(coefficients * self.means_, axis=1) + np.log(self.priors_)
        if len(self.classes_) == 2:
            coefficients, intercepts = np.diff(coefficients, axis=0), np.diff(intercepts)
        self.coef_, self.intercept_ = coefficients, intercepts
        return self

    def decision_function(self, X: Any) -> Array:
        """δ_l(x) for each class; for two classes, that of the second less that of the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The margins, up to xᵀΩx, which is the same for all classes.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        margins: Array = X.astype(np.float64) @ self.coef_.T + self.intercept_
        return margins[:, 0] if len(self.classes_) == 2 else margins
