"""Stability selection: the features or edges that are selected on most random halves of the samples."""

from __future__ import annotations

import copy
import logging
import warnings
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import AnyArray, Array, IntArray, Mask
from ..estimators import GraphModel, SparseEstimator, SparseLinearModel
from ..estimators.edges import list_named_pairs
from ..estimators.linear_model import ACCEPTED, FeatureSelector
from ..estimators.margins import check_offset
from ..estimators.variables import check_variables
from ..inference.resampling import draw_halves
from ..inference.scorers import find_last_step
from ..objectives.linear import normalize_weights
from ..threads import one_thread
from ..validation import check_positive_number, check_size, refuse_date_columns
from .cross_validation import CrossValidated
from .false_selections import check_threshold, expected_false_selections, find_smallest_threshold

__all__ = ["StabilitySelection"]

log = logging.getLogger(__name__)

S = TypeVar("S", bound="StabilitySelection")
#: The default threshold: the fraction of the halves on which a feature must be selected.
DEFAULT_THRESHOLD = 0.75


@dataclass(eq=False, repr=False)
class StabilitySelection(FeatureSelector, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Features or edges that are selected on most random halves of the samples, with a bound on false selections.

    The samples are split into random halves many times; a model with k features is fitted to both halves, and
    features that are selected in at least a fraction `threshold` of these fits are kept (Meinshausen and Bühlmann 2010,
    with the complementary pairs of Shah and Samworth 2013). For classifiers, the halves are stratified.

    With a graph, such as ``SparsePrecision(k=10)``, edges take the place of features, and the p(p − 1)/2 pairs of
    variables that of p.

    Parameters
    ----------
    estimator : estimator
        A model that selects features, such as ``SparseLinearRegression(k=10)``, or edges, such as
        ``SparsePrecision(k=10)``; any selector of scikit-learn, or a
        pipeline that ends with one and keeps the features before it (a `StandardScaler`). One that chooses k and
        ridges by cross-validation, such as ``SparseLinearRegressionCV(ks=[10])``, chooses them once, on all samples;
        the halves are fitted with what it has chosen.
    n_pairs : int, default=50
        Number of splits; there are twice as many fits.
    threshold : float, optional
        Fraction of the fits that must select a feature, more than ½. By default 0.75, or what `max_false` needs.
    max_false : float, optional
        Largest expected number of falsely selected features; the threshold is the smallest one that guarantees it.
    assumption : {"unimodal", "none"}, default="unimodal"
        What the bound assumes: see `expected_false_selections`.
    random_state : int, RandomState or None, default=None
        Seed of the splits.
    n_jobs : int, optional
        Number of fits in parallel, as in joblib.

    Attributes
    ----------
    estimator_ : estimator
        What was fitted to the halves, with the k and the ridges that were chosen.
    frequencies_ : ndarray of shape (n_features,)
        Fraction of the fits that selected each feature. For graphs a symmetric matrix, with zeros on the diagonal.
    support_ : ndarray of bool, shape (n_features,)
        Which features are stable. For graphs a symmetric matrix.
    edges_ : structured array with the fields ``i``, ``j`` and ``frequency``
        For graphs, the stable edges, the most frequent first: i and j are names of variables if X has names.
    threshold_ : float
        The threshold that was used.
    n_selected_ : float
        Mean number of features selected by a fit.
    max_false_ : float
        Upper bound on the expected number of falsely selected features.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    References
    ----------
    N. Meinshausen and P. Bühlmann, *Stability selection*, JRSS B 72, 2010. R. D. Shah and R. J. Samworth, *Variable
    selection with error control: another look at stability selection*, JRSS B 75, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseLinearRegression, StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 100))
    >>> y = X[:, 3] - X[:, 40] + X[:, 77] + rng.standard_normal(200)
    >>> stable = StabilitySelection(SparseLinearRegression(k=8), max_false=1, random_state=0).fit(X, y)
    >>> stable.get_support(indices=True)
    array([ 3, 40, 77])
    >>> stable.threshold_, round(stable.max_false_, 2)
    (0.67, 0.97)

    Edges of a graph:

    >>> from ksparse import SparsePrecision
    >>> X[:, 1] += X[:, 0]
    >>> StabilitySelection(SparsePrecision(k=2), n_pairs=10, random_state=0).fit(X[:, :10]).edges_.tolist()
    [(0, 1, 1.0)]
    """

    estimator: Any
    _: KW_ONLY
    n_pairs: int = 50
    threshold: float | None = None
    max_false: float | None = None
    assumption: str = "unimodal"
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self: S, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> S:
        """Fit the estimator to random halves, and keep the features or edges that are selected most often.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features; the variables of a graph.
        y : array-like of shape (n_samples,)
            The response or the labels; a graph needs none.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in each fit; which samples are in a half does not depend on them.
        offset : array-like of shape (n_samples,), optional
            Known part of the margins of a linear model, such as the logarithm of an exposure.

        Returns
        -------
        self
            The fitted selector.
        """
        self._check_parameters()
        data, y = self._check_data(X, y)
        options = _check_options(self.estimator, data.shape[0], {"sample_weight": sample_weight, "offset": offset})
        self.estimator_ = _fix_choices(self.estimator, data, y, options)
        selector, n_units = find_last_step(self.estimator_), self._count_units()
        k = getattr(selector, "k", None)
        if isinstance(k, int) and getattr(selector, "feature_groups", None) is None:
            self._find_threshold(min(k, n_units))  # refuses before the first half what no threshold can guarantee
        frequencies = self._count_selections(data, y, options) / (2 * self.n_pairs)
        self.n_selected_ = float(frequencies.sum())
        self.threshold_ = self._find_threshold(self.n_selected_)
        self.max_false_ = expected_false_selections(
            self.threshold_, self.n_selected_, n_units, self.n_pairs, self.assumption
        )
        self.frequencies_: Array = _to_matrix(frequencies, self.n_features_in_) if self._has_edges() else frequencies
        self.support_ = self.frequencies_ >= self.threshold_ - 1e-12
        if not self.support_.any():
            warnings.warn(
                f"none is selected on a fraction of {self.threshold_:g} of the halves; the largest fraction is "
                f"{self.frequencies_.max():g}: lower the threshold, or select fewer on each half",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _check_data(self, X: Any, y: Any) -> tuple[Any, AnyArray | None]:
        """The data as the estimator gets them: a data frame with its names, which parameters may refer to."""
        selector = find_last_step(self.estimator)
        refuse_date_columns(X)
        if isinstance(selector, SparseLinearModel):
            checked = validate_data(self, X, **ACCEPTED, ensure_min_samples=2)
            _, y = copy.copy(selector).check_data(checked, y)  # what y must be is for the model to say
        elif not self._has_edges():
            checked, y = validate_data(self, X, y, **ACCEPTED, multi_output=True, ensure_min_samples=2)
        elif y is None:
            checked = check_variables(self, X)
        else:
            checked, y = check_variables(self, X, y)
        return (X if hasattr(self, "feature_names_in_") else checked), y

    def _has_edges(self) -> bool:
        return isinstance(find_last_step(self.estimator), GraphModel)

    def _stratify(self, y: AnyArray) -> AnyArray | None:
        """The labels of which both halves have the same fractions, if there are some."""
        selector = find_last_step(self.estimator)
        if isinstance(selector, SparseEstimator):
            return selector.stratify(y)
        return y if is_classifier(self.estimator) else None

    def _count_units(self) -> int:
        """Number of features, or of pairs of variables."""
        p = self.n_features_in_
        return p * (p - 1) // 2 if self._has_edges() else p

    def _count_selections(self, X: Any, y: AnyArray | None, options: dict[str, Array]) -> Array:
        """How many of the fits to halves select each feature or pair."""
        generator = check_random_state(self.random_state)
        labels = None if y is None else self._stratify(y)
        labels = np.zeros(X.shape[0]) if labels is None else labels
        halves = [half for _ in range(self.n_pairs) for half in draw_halves(labels, generator)]
        counts = np.zeros(self._count_units())
        with one_thread():
            tasks = (delayed(_select_units)(self.estimator_, X, y, options, half) for half in halves)
            for done, mask in enumerate(Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks), start=1):
                counts += mask
                log.info("%d of %d random halves", done, len(halves))
        return counts

    @property
    def edges_(self) -> AnyArray:
        """The stable edges with their frequencies, the most frequent first."""
        check_is_fitted(self)
        if not self._has_edges():
            raise AttributeError("only graphs have edges_; for features, see support_ and get_support()")
        names = getattr(self, "feature_names_in_", None)
        edges = list_named_pairs(np.triu(self.support_, 1), names, {"frequency": self.frequencies_})
        return edges[np.argsort(-edges["frequency"], kind="stable")]

    def _get_support_mask(self) -> Mask:
        if self._has_edges():
            raise TypeError("a graph selects edges, not features; see edges_, support_ and frequencies_")
        return super()._get_support_mask()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._has_edges():
            tags.input_tags.sparse = False
            tags.target_tags.required = is_classifier(self.estimator)
        return tags

    def _check_parameters(self) -> None:
        selector = find_last_step(self.estimator)
        if isinstance(self.estimator, type) or not (self._has_edges() or hasattr(selector, "get_support")):
            raise TypeError(
                "estimator must select features, as SparseLinearRegression(k=10) does, or edges, as "
                f"SparsePrecision(k=10) does; got {self.estimator!r}. "
                "Other models can be wrapped in sklearn.feature_selection.SelectFromModel"
            )
        if self._has_edges() and getattr(selector, "covariance", None) is not None:
            raise ValueError('halves are of samples; leave out covariance="precomputed", and pass the samples')
        check_size(self.n_pairs, "n_pairs")
        if self.threshold is not None and self.max_false is not None:
            raise ValueError("pass either threshold or max_false, not both; each determines the other")
        if self.max_false is not None:
            check_positive_number(self.max_false, "max_false")
        if self.threshold is not None:
            check_positive_number(self.threshold, "threshold")
        check_threshold(DEFAULT_THRESHOLD if self.threshold is None else self.threshold, self.assumption)

    def _find_threshold(self, n_selected: float) -> float:
        """The threshold, if this many features are selected on each half."""
        if self.max_false is None:
            return DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        return find_smallest_threshold(self.max_false, n_selected, self._count_units(), self.n_pairs, self.assumption)


def _check_options(estimator: Any, n: int, given: dict[str, Any]) -> dict[str, Array]:
    """Weights and offsets, those that are given; an error if the estimator takes none."""
    selector = find_last_step(estimator)
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in signature(selector.fit).parameters:
            raise TypeError(
                f"{type(selector).__name__} takes no {name} in fit; leave it out, or pass another estimator"
            )
    if "sample_weight" in options:
        normalize_weights(options["sample_weight"], n)  # checks them
        options["sample_weight"] = np.asarray(options["sample_weight"], dtype=np.float64)
    if "offset" in options:
        options["offset"] = check_offset(options["offset"], n)
    return options


def _fit_last_step(estimator: Any, X: Any, y: AnyArray | None, options: dict[str, Any]) -> Any:
    """Fit an estimator, of which the last step gets the options."""
    if isinstance(estimator, Pipeline):
        options = {f"{estimator.steps[-1][0]}__{name}": value for name, value in options.items()}
    return estimator.fit(X, y, **options)


def _select_units(estimator: Any, X: Any, y: AnyArray | None, options: dict[str, Array], half: IntArray) -> Mask:
    """The features, or the pairs of variables above the diagonal, that the estimator selects on some of the samples."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*are constant, such as", UserWarning)  # on a half of the samples
        parts = {name: values[half] for name, values in options.items()}
        model = _fit_last_step(clone(estimator), _safe_indexing(X, half), None if y is None else y[half], parts)
    selector = find_last_step(model)
    if (count := selector.n_features_in_) != X.shape[1]:
        raise ValueError(
            f"the last step of the pipeline has {count} features, but X has {X.shape[1]}; only steps that keep all "
            "features, such as a StandardScaler, may come before it"
        )
    selected: Mask = (
        selector.precision_[np.triu_indices(count, 1)] != 0
        if isinstance(selector, GraphModel)
        else selector.get_support()
    )
    return selected


def _to_matrix(values: Array, size: int) -> Array:
    """The symmetric matrix with these values above its diagonal, which is zero."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size, 1)] = values
    return matrix + matrix.T


def _fix_choices(estimator: Any, X: Any, y: AnyArray | None, options: dict[str, Array]) -> Any:
    """The estimator; with k and penalties fixed to its choice on all samples, if it chooses them."""
    if not isinstance(find_last_step(estimator), CrossValidated):
        return clone(estimator)
    fitted = _fit_last_step(clone(estimator), X, y, options)
    chosen = find_last_step(fitted)
    fixed = clone(chosen.at(chosen.k_))
    return (
        Pipeline([*clone(estimator).steps[:-1], (estimator.steps[-1][0], fixed)])
        if isinstance(estimator, Pipeline)
        else fixed
    )
