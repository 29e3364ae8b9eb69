"""Stability selection: the features that are selected on most random halves of the samples."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import validate_data

from .._types import AnyArray, Array, IntArray, Mask
from ..estimators.linear_model import ACCEPTED, FeatureSelector
from ..inference.resampling import draw_halves
from ..threads import one_thread
from ..validation import check_positive_number, check_size
from .cross_validation import CrossValidated

__all__ = ["StabilitySelection", "expected_false_selections", "find_smallest_threshold"]

S = TypeVar("S", bound="StabilitySelection")
#: The default threshold: the fraction of the halves on which a feature must be selected.
DEFAULT_THRESHOLD = 0.75


def expected_false_selections(
    threshold: float, n_selected: float, n_features: int, n_pairs: int, assumption: str = "unimodal"
) -> float:
    """An upper bound on the expected number of falsely selected features.

    With q features selected on each half, of p, and a threshold τ of the selection frequency over B complementary
    pairs, the expected number of selected features that a random half selects no more often than by chance (q/p) is at
    most

    - q²/((2τ − 1)·p), whatever the distribution (Meinshausen and Bühlmann 2010, Theorem 1; Shah and Samworth 2013,
      Theorem 1);
    - C(τ, B)·q²/p, where simultaneous selection proportions are unimodal (Shah and Samworth, Theorem 2), with
      C = 1/(2(2τ − 1 − 1/(2B))) for τ ≤ ¾ and C = 4(1 − τ + 1/(2B))/(1 + 1/B) beyond. It holds for q/p ≤ 1/√3 and τ
      above ½ + min(θ², 1/(2B) + ¾θ²) with θ = q/p; elsewhere the first bound is given.

    Parameters
    ----------
    threshold : float
        τ, more than ½ and at most 1.
    n_selected : float
        q, the (mean) number of features selected on a half.
    n_features : int
        p.
    n_pairs : int
        B.
    assumption : {"unimodal", "none"}, default="unimodal"
        What is assumed.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from ksparse.selection import expected_false_selections
    >>> expected_false_selections(0.9, n_selected=10, n_features=1000, n_pairs=50, assumption="none")
    0.125
    >>> round(expected_false_selections(0.9, n_selected=10, n_features=1000, n_pairs=50), 3)
    0.043
    """
    _check_bound(threshold, assumption)
    by_chance = n_selected**2 / n_features
    plain = by_chance / (2.0 * threshold - 1.0)
    rate, half_step = n_selected / n_features, 0.5 / n_pairs
    least = 0.5 + min(rate**2, half_step + 0.75 * rate**2)
    if assumption == "none" or rate > 1.0 / np.sqrt(3.0) or threshold <= least:
        return plain
    if threshold <= 0.75:
        room = 2.0 * threshold - 1.0 - half_step
        return min(plain, by_chance / (2.0 * room)) if room > 0 else plain
    return min(plain, by_chance * 4.0 * (1.0 - threshold + half_step) / (1.0 + 1.0 / n_pairs))


def _check_bound(threshold: float, assumption: str) -> None:
    if assumption not in ("none", "unimodal"):
        raise ValueError(f'assumption must be "none" or "unimodal", got {assumption!r}')
    if not 0.5 < threshold <= 1.0:
        raise ValueError(f"threshold must lie between 0.5 and 1, got {threshold!r}; it is a selection frequency")


def find_smallest_threshold(
    max_false: float, n_selected: float, n_features: int, n_pairs: int, assumption: str = "unimodal"
) -> float:
    """The smallest threshold for which at most `max_false` false selections are expected.

    Parameters
    ----------
    max_false : float
        Largest expected number of false selections.
    n_selected, n_features, n_pairs, assumption
        As in `expected_false_selections`.

    Returns
    -------
    float
        The threshold, a multiple of 1/(2B).

    Examples
    --------
    >>> from ksparse.selection import find_smallest_threshold
    >>> find_smallest_threshold(0.1, n_selected=10, n_features=1000, n_pairs=50)
    0.76
    """
    fits = 2 * n_pairs
    frequencies = np.arange(n_pairs + 1, fits + 1) / fits
    bounds = [expected_false_selections(tau, n_selected, n_features, n_pairs, assumption) for tau in frequencies]
    enough = np.flatnonzero(np.array(bounds) <= max_false)
    if not enough.size:
        raise ValueError(
            f"with {n_selected:g} of {n_features} features selected on each half, at least {min(bounds):.3g} false "
            f"selections may be expected at any threshold, more than the {max_false:g} allowed; select fewer features, "
            "or raise max_false"
        )
    return float(frequencies[enough[0]])


@dataclass(eq=False, repr=False)
class StabilitySelection(FeatureSelector, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Features that are selected on most random halves of the samples, with a bound on false selections.

    The samples are split into random halves many times; a model with k features is fitted to both halves, and
    features that are selected in at least a fraction `threshold` of these fits are kept (Meinshausen and Bühlmann 2010,
    with the complementary pairs of Shah and Samworth 2013). For classifiers, the halves are stratified.

    Parameters
    ----------
    estimator : estimator
        A model that selects features, such as ``SparseLinearRegression(k=10)``; any selector of scikit-learn, or a
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
        Fraction of the fits that selected each feature.
    support_ : ndarray of bool, shape (n_features,)
        Which features are stable.
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
    """

    estimator: Any
    _: KW_ONLY
    n_pairs: int = 50
    threshold: float | None = None
    max_false: float | None = None
    assumption: str = "unimodal"
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self: S, X: Any, y: Any) -> S:
        """Fit the estimator to random halves, and keep the features that are selected most often.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.

        Returns
        -------
        self
            The fitted selector.
        """
        self._check_parameters()
        checked, y = validate_data(self, X, y, **ACCEPTED, multi_output=True, ensure_min_samples=2)
        # A data frame is passed on with its names, which parameters of the estimator may refer to.
        data = X if hasattr(self, "feature_names_in_") else checked
        self.estimator_ = _fix_choices(self.estimator, data, y)
        k, n_features = getattr(_find_selector(self.estimator_), "k", None), self.n_features_in_
        if isinstance(k, int) and getattr(_find_selector(self.estimator_), "feature_groups", None) is None:
            self._find_threshold(min(k, n_features))  # refuses before the first half what no threshold can guarantee
        generator = check_random_state(self.random_state)
        labels = y if is_classifier(self.estimator) else np.zeros(len(y))
        halves = [half for _ in range(self.n_pairs) for half in draw_halves(labels, generator)]
        with one_thread():
            tasks = (delayed(_select_features)(self.estimator_, data, y, half) for half in halves)
            masks = Parallel(n_jobs=self.n_jobs)(tasks)
        self.frequencies_: Array = np.mean(masks, axis=0)
        self.n_selected_ = float(self.frequencies_.sum())
        self.threshold_ = self._find_threshold(self.n_selected_)
        self.max_false_ = expected_false_selections(
            self.threshold_, self.n_selected_, n_features, self.n_pairs, self.assumption
        )
        self.support_ = self.frequencies_ >= self.threshold_ - 1e-12
        return self

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(_find_selector(self.estimator), "get_support"):
            raise TypeError(
                f"estimator must select features, as SparseLinearRegression(k=10) does; got {self.estimator!r}. "
                "Other models can be wrapped in sklearn.feature_selection.SelectFromModel"
            )
        check_size(self.n_pairs, "n_pairs")
        if self.threshold is not None and self.max_false is not None:
            raise ValueError("pass either threshold or max_false, not both; each determines the other")
        if self.max_false is not None:
            check_positive_number(self.max_false, "max_false")
        if self.threshold is not None:
            check_positive_number(self.threshold, "threshold")
        _check_bound(DEFAULT_THRESHOLD if self.threshold is None else self.threshold, self.assumption)

    def _find_threshold(self, n_selected: float) -> float:
        """The threshold, if this many features are selected on each half."""
        if self.max_false is None:
            return DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        return find_smallest_threshold(self.max_false, n_selected, self.n_features_in_, self.n_pairs, self.assumption)


def _select_features(estimator: Any, X: Any, y: AnyArray, half: IntArray) -> Mask:
    """The features that the estimator selects on some of the samples."""
    model = clone(estimator).fit(_safe_indexing(X, half), y[half])
    mask: Mask = _find_selector(model).get_support()
    if mask.size != X.shape[1]:
        raise ValueError(
            f"the last step of the pipeline has {mask.size} features, but X has {X.shape[1]}; only steps that keep all "
            "features, such as a StandardScaler, may come before it"
        )
    return mask


def _fix_choices(estimator: Any, X: Any, y: AnyArray) -> Any:
    """The estimator; with k and penalties fixed to its choice on all samples, if it chooses them."""
    if not isinstance(_find_selector(estimator), CrossValidated):
        return clone(estimator)
    fitted = clone(estimator).fit(X, y)
    chosen = _find_selector(fitted)
    fixed = clone(chosen.at(chosen.k_))
    return (
        Pipeline([*clone(estimator).steps[:-1], (estimator.steps[-1][0], fixed)])
        if isinstance(estimator, Pipeline)
        else fixed
    )


def _find_selector(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator
