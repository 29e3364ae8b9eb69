"""Choosing the number of edges of a precision matrix: paths, cross-validation, information criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import log_likelihood
from sklearn.model_selection import check_cv

from .._types import AnyArray, Array, IntArray
from ..estimators import SparsePrecision
from ..estimators._docs import documented
from ..estimators._parameters import keeps_parameters
from ..estimators.graphs import GraphProblem, covariance_around, location_of
from ..estimators.precision import PrecisionModel
from ..solvers import Result, Solver
from ..validation import check_nonnegative_number, check_positive_number
from .choosing import chosen_result, least_criterion
from .criteria import GRAPH_CRITERIA, graph_criterion
from .folds import check_rule, check_splits, cross_validate
from .growth import Growth, check_ks
from .pathwise import PathSolver

__all__ = ["PrecisionPath", "SparsePrecisionCV", "SparsePrecisionIC", "precision_path"]

M = TypeVar("M", bound="ChoosesEdges")

#: There may be many edges, and their scores are rough: "auto" looks at them from further away than at features.
FACTOR, RESOLUTION = 1.5, 0.05


@dataclass(frozen=True)
class PrecisionPath:
    """A precision matrix for each of many numbers of edges.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        The numbers of edges, increasing.
    precision : tuple of sparse arrays of shape (n_features, n_features)
        Ω for each of them.
    values : ndarray of shape (n_ks,)
        −log det Ω + ⟨Σ, Ω⟩ for each of them, in the units that `standardize` says.
    feature_names : ndarray of str, optional
        Names of the variables.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> X[:, 1] += X[:, 0]
    >>> path = ksparse.precision_path(X, ks=[0, 1, 2])
    >>> path
    <PrecisionPath of 3 graphs, k = 0 to 2, of 5 variables>
    >>> path.precision[1].toarray().round(1)[:2, :2]
    array([[ 2.5, -1.2],
           [-1.2,  1.1]])
    """

    ks: IntArray
    precision: tuple[sparse.csr_array, ...] = field(repr=False)
    values: Array
    feature_names: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.ks)

    def __repr__(self) -> str:
        size = self.precision[0].shape[0]
        return f"<PrecisionPath of {len(self)} graphs, k = {self.ks[0]} to {self.ks[-1]}, of {size} variables>"

    @classmethod
    def of(cls, problem: GraphProblem, solver: PathSolver, names: AnyArray | None) -> PrecisionPath:
        """The path that a solver has found."""
        ks = sorted(solver.results)
        results = [solver.results[k] for k in ks]
        matrices = tuple(sparse.csr_array(problem.precision(result)) for result in results)
        return cls(np.array(ks), matrices, np.array([result.value for result in results]), names)


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
    covariance = model._covariance_of(model._check_data(X))
    wanted = check_ks(ks, 0, len(covariance) * (len(covariance) - 1) // 2, "edges")
    problem = model._problem(covariance, wanted[-1])
    solver = PathSolver(problem.objective, problem.sparsity, model._solver())
    solver.solve(check_ks(wanted, solver.fewest, solver.most))
    solver.search()
    return PrecisionPath.of(problem, solver, model._names())


class ChoosesEdges(PrecisionModel):
    """A precision matrix whose number of edges is chosen."""

    ks: Any

    def _path_problem(self, covariance: Array) -> tuple[GraphProblem, PathSolver]:
        most = len(covariance) * (len(covariance) - 1) // 2
        problem = self._problem(covariance, most)
        return problem, PathSolver(problem.objective, problem.sparsity, self._solver())

    def _keep_path(self: M, problem: GraphProblem, solver: PathSolver, chosen: int) -> M:
        """Set the fitted attributes from a path and the chosen k."""
        result = chosen_result(solver, chosen)
        self.path_ = PrecisionPath.of(problem, solver, self._names())
        self.ks_ = self.path_.ks
        self.k_ = chosen
        self._keep_graph(problem, result)
        return self


def edge_growth(solver: PathSolver, n_samples: float, n_features: int) -> Growth:
    """Numbers of edges for "auto", from none to one for every four numbers in the data."""
    sensible = max(int(n_samples * n_features / 4), 1)
    return Growth(solver.fewest, min(sensible, solver.most), FACTOR, RESOLUTION)


class GraphFold:
    """Solutions on the training part of a split, scored by the likelihood of the held-out part.

    Parameters
    ----------
    problem : GraphProblem
        The problem on the training samples.
    solver : Solver
        The method.
    held_out : ndarray of shape (p, p)
        Covariance of the held-out samples around the training means.
    score : callable, optional
        Scores a result instead of the likelihood.
    """

    def __init__(
        self,
        problem: GraphProblem,
        solver: Solver,
        held_out: Array,
        score: Callable[[Result], float] | None = None,
    ) -> None:
        self._problem = problem
        self._solver = PathSolver(problem.objective, problem.sparsity, solver)
        self._held_out = held_out
        self._score = self._likelihood if score is None else score

    def scores(self, ks: list[int]) -> list[float]:
        """Solve for these k, and score each on the held-out samples."""
        self._solver.solve(ks)
        return [self._score(self._solver.results[k]) for k in ks]

    def _likelihood(self, result: Result) -> float:
        """Mean log-likelihood of a held-out sample."""
        return float(log_likelihood(self._held_out, self._problem.precision(result)))


@documented
class SparsePrecisionCV(ChoosesEdges):
    """A precision matrix with the number of edges chosen by the likelihood of held-out samples.

    See `SparsePrecision` for the model.

    Parameters
    ----------
    $edge_counts
    cv : int, splitter or iterable, default=5
        How to split: a number of folds or any splitter of scikit-learn.
    rule : {"best", "1se"}, default="best"
        "best" takes the k with the best mean score; "1se" the smallest k whose mean score is within one standard
        error of it.
    $graph
    assume_centered : bool, default=False
        Whether the mean of the samples is known to be zero.
    $n_jobs

    Attributes
    ----------
    $edge_path
    scores_ : ndarray of shape (n_ks, n_folds)
        Mean log-likelihood of a held-out sample for each k and fold.
    $omega
    $location
    $edges

    Examples
    --------
    >>> from ksparse import SparsePrecisionCV
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=500, p=20, probability=0.1)
    >>> model = SparsePrecisionCV(rule="1se").fit(X)
    >>> int((precision != 0).sum() - 20) // 2, model.k_
    (22, 22)
    """

    covariance = None

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        cv: Any = 5,
        rule: str = "best",
        bounds: Any = "auto",
        xi: float = 1e-2,
        standardize: bool = True,
        known_edges: Any = None,
        forbidden_edges: Any = None,
        solver: str | Solver = "auto",
        effort: int = 0,
        assume_centered: bool = False,
        n_jobs: int | None = None,
    ) -> None: ...

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> SparsePrecisionCV:
        """Choose the number of edges by cross-validation, and fit the precision matrix to all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like, optional
            Used by splitters that look at labels only.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_rule(self.rule)
        X = self._check_data(X)
        splits = check_splits(check_cv(self.cv, y).split(X, y, groups))
        problem, whole = self._path_problem(self._covariance_of(X))
        folds = [self._fold(X[train], X[test], whole.most) for train, test in splits]
        growth = edge_growth(whole, min(len(train) for train, _ in splits), X.shape[1])
        chosen, self.scores_ = cross_validate(self.ks, whole, growth, folds, rule=self.rule, n_jobs=self.n_jobs)
        return self._keep_path(problem, whole, chosen)

    def _fold(self, train: Array, test: Array, most: int) -> GraphFold:
        centre = location_of(train, self.assume_centered)
        problem = self._problem(covariance_around(train, centre), most)
        return GraphFold(problem, self._solver(), covariance_around(test, centre))


@documented
class SparsePrecisionIC(ChoosesEdges):
    """A precision matrix with the number of edges chosen by an information criterion.

    See `SparsePrecision` for the model.

    Parameters
    ----------
    $edge_counts
    criterion : {"aic", "bic", "ebic"}, default="ebic"
        What is minimized over k: see `ksparse.selection.graph_criterion`.
    gamma : float, default=0.5
        γ of the extended BIC, from 0, which is BIC, to 1.
    $graph
    covariance : {None, "precomputed"}, default=None
        With "precomputed", `fit` takes a covariance matrix instead of samples.
    n_samples : int, optional
        Of how many samples a precomputed covariance is.
    assume_centered : bool, default=False
        Whether the mean of the samples is known to be zero.

    Attributes
    ----------
    $edge_path
    $criteria
    $omega
    $location
    $edges

    References
    ----------
    R. Foygel and M. Drton, Extended Bayesian Information Criteria for Gaussian Graphical Models, NeurIPS 23 (2010).

    Examples
    --------
    >>> from ksparse import SparsePrecisionIC
    >>> from ksparse.datasets import make_precision
    >>> X, precision = make_precision(n=500, p=20, probability=0.1)
    >>> model = SparsePrecisionIC().fit(X)
    >>> int((precision != 0).sum() - 20) // 2, model.k_
    (22, 22)
    """

    @keeps_parameters
    def __init__(
        self,
        *,
        ks: Any = "auto",
        criterion: str = "ebic",
        gamma: float = 0.5,
        bounds: Any = "auto",
        xi: float = 1e-2,
        standardize: bool = True,
        known_edges: Any = None,
        forbidden_edges: Any = None,
        solver: str | Solver = "auto",
        effort: int = 0,
        covariance: str | None = None,
        n_samples: int | None = None,
        assume_centered: bool = False,
    ) -> None: ...

    def fit(self, X: Any, y: Any = None) -> SparsePrecisionIC:
        """Choose the number of edges by the criterion, and fit the precision matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; a covariance matrix, with ``covariance="precomputed"``.
        y : None
            Not used, there for pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self.criterion not in GRAPH_CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(map(repr, GRAPH_CRITERIA))}, got {self.criterion!r}")
        check_nonnegative_number(self.gamma, "gamma")
        checked = self._check_data(X)
        n_samples = self._number_of_samples(checked)
        problem, solver = self._path_problem(self._covariance_of(checked))

        chosen, self.criterion_ = least_criterion(
            self.ks,
            solver,
            edge_growth(solver, n_samples, checked.shape[1]),
            lambda result: self._value(result, n_samples),
            name=self.criterion,
        )
        return self._keep_path(problem, solver, chosen)

    def _number_of_samples(self, checked: Array) -> float:
        if not self._precomputed():
            return float(len(checked))
        if self.n_samples is None:
            raise ValueError("n_samples is missing: a precomputed covariance does not say of how many samples it is")
        return check_positive_number(self.n_samples, "n_samples")

    def _value(self, result: Result, n_samples: float) -> float:
        """The criterion of a solution."""
        return graph_criterion(
            self.criterion,
            n_samples * result.value,
            edges=len(result.selected),
            n_samples=n_samples,
            n_features=self.n_features_in_,
            gamma=self.gamma,
        )
