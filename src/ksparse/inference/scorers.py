"""Scorers: what scores a fitted model on samples, also where scikit-learn's scorers would read it wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

from .._types import AnyArray, Array, IntArray
from .concordance import concordance_index

__all__ = ["Scorer", "find_last_step", "find_scorer", "score_concordance", "score_with_weights"]

#: A function of a fitted estimator, X, y and, for weighted samples, sample_weight; larger is better.
Scorer = Callable[..., float]
#: The score of models of times until an event by name.
CONCORDANCE = "concordance_index"


def find_scorer(estimator: Any, scoring: Any) -> Scorer:
    """The scorer that a name means for an estimator.

    It is that of scikit-learn, with two exceptions. Times until an event have ``"concordance_index"``, Harrell's.
    Ordered classes are shown to scorers sorted as text or numbers are: scikit-learn takes the columns of probabilities
    to be in this order, whatever `classes_` says, so that its own functions, such as `cross_val_score`, need this
    scorer where the order is another one.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends with it; fitted or not.
    scoring : str or callable
        The name of a scorer of scikit-learn, ``"concordance_index"``, or a function of an estimator, X and y.

    Returns
    -------
    callable
        A function of a fitted estimator, X, y and, if samples have weights, ``sample_weight``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from ksparse import SparseOrdinalRegression
    >>> from ksparse.inference import find_scorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = np.array(["low", "medium", "high"])[np.digitize(3 * X[:, 2] + rng.logistic(size=300), [-1, 1])]
    >>> model = SparseOrdinalRegression(k=1, categories=["low", "medium", "high"])
    >>> bool(cross_val_score(model, X, y, scoring=find_scorer(model, "neg_log_loss")).mean() > -0.8)
    True
    """
    if hasattr(find_last_step(estimator), "predict_survival_function"):
        return _find_survival_scorer(scoring)
    scorer: Scorer = get_scorer(scoring)
    return SortedClassesScorer(scorer) if is_classifier(estimator) else scorer


def find_last_step(estimator: Any) -> Any:
    """The estimator itself, or the last step of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def score_concordance(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The concordance index of what an estimator predicts."""
    return concordance_index(y, estimator.predict(X), sample_weight)


def score_with_weights(scorer: Scorer, estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The score of samples by their weights; an error if the scorer takes none."""
    if sample_weight is None:
        return float(scorer(estimator, X, y))
    try:
        return float(scorer(estimator, X, y, sample_weight=sample_weight))
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(
            f"scoring takes no sample_weight ({error}), and so would count each sample once, whatever its weight; "
            "give the function a parameter sample_weight, or choose another score"
        ) from error


def _find_survival_scorer(scoring: Any) -> Scorer:
    if scoring == CONCORDANCE:
        return score_concordance
    if not callable(scoring):
        raise ValueError(
            f"scoring must be {CONCORDANCE!r} for times until an event, or a function of a fitted model, X and y; "
            f"got {scoring!r}, and scikit-learn's scorers know no censoring"
        )
    scorer: Scorer = scoring
    return scorer


@dataclass(frozen=True)
class SortedClassesScorer:
    """A scorer that sees the classes of a classifier sorted."""

    scorer: Scorer

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> float:
        """The score of a fitted estimator; `options` may have the weights of the samples."""
        order = np.argsort(estimator.classes_, kind="stable")
        is_sorted = bool((order == np.arange(order.size)).all())
        return float(self.scorer(estimator if is_sorted else SortedClasses(estimator, order), X, y, **options))


class SortedClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier as it is, but with its classes, and the columns of probabilities, in another order."""

    def __init__(self, estimator: Any, order: IntArray) -> None:
        self.estimator = estimator
        self.order = order
        self.classes_ = estimator.classes_[order]

    def predict(self, X: Any) -> AnyArray:
        """Labels."""
        labels: AnyArray = self.estimator.predict(X)
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, in the order of `classes_`."""
        probabilities: Array = self.estimator.predict_proba(X)[:, self.order]
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms."""
        logarithms: Array = self.estimator.predict_log_proba(X)[:, self.order]
        return logarithms

    def __getattr__(self, name: str) -> Any:
        """All else, for functions of a user."""
        if name.startswith("__") or name == "estimator":
            raise AttributeError(name)
        return getattr(self.estimator, name)
