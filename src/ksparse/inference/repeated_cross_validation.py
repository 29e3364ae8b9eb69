"""Cross-validated scores with intervals: for data of which a single test part would be too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .._types import Array
from ..objectives.row_checks import check_row_values
from ..objectives.survival import as_survival_target
from ..validation import check_iterations, check_positive_number, check_size
from .scorers import CONCORDANCE, Scorer, find_last_step, find_scorer, score_with_weights

__all__ = ["CrossValidatedScores", "find_corrected_interval", "repeat_cross_validation"]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidatedScores:
    """Scores of an estimator on repeated folds: what `repeat_cross_validation` returns.

    Attributes
    ----------
    table : DataFrame
        For each score (row; larger is better): ``score``, the mean, with its interval from ``low`` to ``high``; the
        ``baseline``, the mean score of a constant prediction; their ``difference``, with its interval from
        ``difference_low`` to ``difference_high``; and ``is_better``, whether that is above 0.
    scores, baseline_scores : DataFrame
        The scores on each fold, a column for each score.
    level : float
        The level of the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.inference import repeat_cross_validation
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = repeat_cross_validation(SparseLinearRegression(k=4), X, y, repeats=1)
    >>> found.table.loc["r2", ["score", "baseline"]].astype(float).round(2).to_dict()
    {'score': 0.46, 'baseline': -0.0}
    >>> found.scores.shape
    (5, 2)
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    baseline_scores: pd.DataFrame
    level: float

    def __str__(self) -> str:
        lines = [f"{len(self.scores)} folds; {100 * self.level:g} % intervals"]
        for metric, row in self.table.iterrows():
            verdict = "better" if row["is_better"] else "no better"
            lines.append(
                f"{metric} {row['score']:#.3g} ({row['low']:#.3g} to {row['high']:#.3g}); {verdict} than a constant, "
                f"which has {row['baseline']:#.3g}: difference {row['difference']:#.3g} "
                f"({row['difference_low']:#.3g} to {row['difference_high']:#.3g})"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def repeat_cross_validation(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    repeats: int = 5,
    scoring: str | Sequence[str] | Mapping[str, Any] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CrossValidatedScores:
    """Scores of an estimator by repeated cross-validation, with intervals, beside those of a constant prediction.

    An estimator that chooses k by cross-validation chooses it on each training part again: its cross-validation is
    nested in this one, and the scores are honest. The folds have training rows in common, so that the variance of their
    scores says too little; the interval is that of Nadeau and Bengio (2003), with J scores, variance s² and n₂ held-out
    of n₁ training rows,

        mean ± t_{J−1}·√((1/J + n₂/n₁)·s²).

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline.
    X, y : array-like
        The samples.
    cv : int or splitter, default=5
        Number of folds, shuffled, and stratified for classifiers; a splitter is used as it is, without repeats.
    repeats : int, default=5
        How many times the folds are drawn.
    scoring : str, sequence of str or mapping, optional
        Names of scores, or scorers by their names, as `find_scorer` takes them; by default accuracy, balanced accuracy
        and the negative log loss of classifiers (with the area under the curve for two classes), the concordance index
        of survival models, R² and the negative root mean squared error of others.
    groups : array-like, optional
        Groups of the samples, for splitters such as `GroupKFold`.
    sample_weight : array-like, optional
        Weights of the samples, in fits (of the last step of a pipeline) and in scores.
    level : float, default=0.95
        The level of the intervals.
    random_state : int, default=0
        Seed of the folds.
    n_jobs : int, optional
        Number of folds that are fitted in parallel.

    Returns
    -------
    CrossValidatedScores
        The scores.

    References
    ----------
    C. Nadeau and Y. Bengio, *Inference for the generalization error*, Machine Learning 52, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.inference import repeat_cross_validation
    >>> X, y = load_diabetes(return_X_y=True)
    >>> print(repeat_cross_validation(SparseLinearRegression(k=4), X, y, scoring="r2"))
    25 folds; 95 % intervals
    r2 0.465 (0.378 to 0.552); better than a constant, which has -0.00894: difference 0.474 (0.384 to 0.564)
    """
    if check_positive_number(level, "level") >= 1.0:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
    last = find_last_step(estimator)
    classifies, is_survival = is_classifier(estimator), hasattr(last, "predict_survival_function")
    y = as_survival_target(y) if is_survival else y
    given = scoring if isinstance(scoring, Mapping) else {name: name for name in _list_scores(scoring, last, y)}
    names = list(given)
    labels = y["event"] if is_survival else y if classifies else None
    splits = _split_repeatedly(X, y, labels, cv, check_size(repeats, "repeats"), groups, random_state)
    baseline = ConstantRisk() if is_survival else DummyClassifier(strategy="prior") if classifies else DummyRegressor()
    weights = None if sample_weight is None else check_row_values(sample_weight, "sample_weight", (len(y),))
    both = []
    for each in (estimator, baseline):
        # Each by its own scorers: the baseline has its classes sorted.
        scorers = {name: find_scorer(estimator if is_survival else each, score) for name, score in given.items()}
        jobs = (delayed(_score_split)(each, X, y, weights, split, scorers) for split in splits)
        both.append(pd.DataFrame(Parallel(n_jobs=n_jobs)(jobs), columns=names))
    scores, baselines = both
    sizes = np.ones(len(y)) if weights is None else weights
    ratio = float(np.mean([sizes[test].sum() / sizes[train].sum() for train, test in splits]))
    rows = [_compare_scores(scores[name].to_numpy(), baselines[name].to_numpy(), ratio, level) for name in names]
    return CrossValidatedScores(pd.DataFrame(rows, index=pd.Index(names, name="score")), scores, baselines, level)


def _score_split(
    estimator: Any, X: Any, y: Any, weights: Array | None, split: tuple[Any, Any], scorers: Mapping[str, Scorer]
) -> list[float]:
    """Fit a copy of an estimator to a training part, and score it on the held-out part."""
    train, test = split
    fitted, options = clone(estimator), {}
    if weights is not None:
        step = f"{fitted.steps[-1][0]}__" if isinstance(fitted, Pipeline) else ""
        options = {f"{step}sample_weight": weights[train]}
    fitted.fit(_safe_indexing(X, train), _safe_indexing(y, train), **options)
    part = _safe_indexing(X, test), _safe_indexing(y, test)
    held_out = None if weights is None else weights[test]
    return [score_with_weights(scorer, fitted, *part, held_out) for scorer in scorers.values()]


def _list_scores(scoring: str | Sequence[str] | None, estimator: Any, y: Any) -> list[str]:
    if isinstance(scoring, str):
        return [scoring]
    if scoring is not None:
        return list(scoring)
    if hasattr(estimator, "predict_survival_function"):
        return [CONCORDANCE]
    if not is_classifier(estimator):
        return ["r2", "neg_root_mean_squared_error"]
    names = ["accuracy", "balanced_accuracy", "neg_log_loss"]
    return [*names, "roc_auc"] if len(np.unique(np.asarray(y))) == 2 else names


class ConstantRisk(BaseEstimator):  # type: ignore[misc]
    """A model of times until an event for which all samples have the same risk."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConstantRisk:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Array:
        """Zeros."""
        return np.zeros(np.shape(X)[0])


def _split_repeatedly(
    X: Any, y: Any, labels: Any, cv: Any, repeats: int, groups: Any, random_state: int
) -> list[tuple[Any, Any]]:
    """The splits; each part has the same fractions of the labels, if there are some."""
    if hasattr(cv, "split"):
        splits = list(cv.split(X, y if labels is None else labels, groups))
    else:
        kind = RepeatedKFold if labels is None else RepeatedStratifiedKFold
        seed = check_iterations(random_state, "random_state")
        splitter = kind(n_splits=check_size(cv, "cv"), n_repeats=repeats, random_state=seed)
        splits = list(splitter.split(X, y if labels is None else labels))
    if len(splits) < 2:
        raise ValueError("cv gives fewer than 2 splits, whose scores have no variance; use more folds or repeats")
    return splits


def _compare_scores(scores: Array, baselines: Array, ratio: float, level: float) -> dict[str, Any]:
    low, high = find_corrected_interval(scores, ratio, level)
    difference_low, difference_high = find_corrected_interval(scores - baselines, ratio, level)
    return {
        "score": scores.mean(),
        "low": low,
        "high": high,
        "baseline": baselines.mean(),
        "difference": (scores - baselines).mean(),
        "difference_low": difference_low,
        "difference_high": difference_high,
        "is_better": bool(difference_low > 0),
    }


def find_corrected_interval(scores: Array, ratio: float, level: float) -> tuple[float, float]:
    """The interval of Nadeau and Bengio for the mean of scores on folds; `ratio` is of held-out to training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference.repeated_cross_validation import find_corrected_interval
    >>> low, high = find_corrected_interval(np.array([0.8, 0.9, 0.7, 0.8]), 0.25, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.616, 0.984)
    """
    error = np.sqrt((1.0 / len(scores) + ratio) * scores.var(ddof=1))
    width = float(stats.t.ppf(0.5 + 0.5 * level, len(scores) - 1) * error)
    return float(scores.mean()) - width, float(scores.mean()) + width
