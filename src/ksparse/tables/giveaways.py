"""Columns that predict the target almost perfectly alone, and so may not be known for new rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.feature_selection import f_classif, f_regression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from .._types import AnyArray, Array

__all__ = ["Giveaway", "find_giveaways"]

#: A column gives the target away if it alone avoids this fraction of the errors on held-out rows that a constant makes:
#: of wrong classes, or of squared errors. With 0.85, the weeks until an arrest are found among its predictors; with 0.9
#: they would not be.
LARGE_FRACTION = {"classes": 0.85, "numbers": 0.95}
#: With fewer rows, or fewer of a class, a column may be as good by chance.
LEAST_TESTED_ROWS, LEAST_OF_A_CLASS = 40, 10
#: Columns that are examined: those most correlated with the target.
MOST_EXAMINED = 20
COLUMN_FOLDS = 5


@dataclass(frozen=True)
class Giveaway:
    """A column, and its score on held-out rows: accuracy for classes, R² for numbers.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from ksparse.tables import find_giveaways
    >>> grams = pd.DataFrame({"grams": np.arange(100.0)})
    >>> find_giveaways(grams, grams.columns.to_numpy(), np.arange(100.0) / 1000, has_classes=False)
    [Giveaway(column='grams', score=1.0)]
    """

    column: str
    score: float


def find_giveaways(features: pd.DataFrame, columns: AnyArray, y: AnyArray, *, has_classes: bool) -> list[Giveaway]:
    """The columns that predict y almost perfectly alone, by a decision tree on held-out rows, or by a straight line.

    Parameters
    ----------
    features : DataFrame
        The features of the columns.
    columns : ndarray of str
        The column of each feature.
    y : ndarray of shape (n_samples,)
        The target: labels or numbers.
    has_classes : bool
        Whether it is labels.

    Returns
    -------
    list of Giveaway
        The best first.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from ksparse.tables import find_giveaways
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.normal(size=100), "days in hospital": rng.normal(size=100)})
    >>> admitted = X["days in hospital"].to_numpy() > 0
    >>> [found.column for found in find_giveaways(X, X.columns.to_numpy(), admitted, has_classes=True)]
    ['days in hospital']
    """
    if len(y) < LEAST_TESTED_ROWS or (has_classes and np.unique(y, return_counts=True)[1].min() < LEAST_OF_A_CLASS):
        return []
    values = features.to_numpy()
    correlated = _find_correlated(values, columns, y, has_classes)
    scores = {column: _score(values[:, columns == column], y, has_classes) for column in correlated}
    baseline = np.unique(y, return_counts=True)[1].max() / len(y) if has_classes else 0.0
    enough = 1.0 - (1.0 - LARGE_FRACTION["classes" if has_classes else "numbers"]) * (1.0 - baseline)
    found = [Giveaway(column, score) for column, score in scores.items() if score >= enough]
    return sorted(found, key=lambda giveaway: -giveaway.score)


def _find_correlated(values: Array, columns: AnyArray, y: AnyArray, has_classes: bool) -> list[str]:
    """The columns whose features are most correlated with the target."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of constant features
        statistics, _ = (f_classif if has_classes else f_regression)(values, y)
    order = np.argsort(-np.nan_to_num(statistics, nan=-1.0, posinf=np.inf), kind="stable")
    return list(dict.fromkeys(columns[order].tolist()))[:MOST_EXAMINED]


def _score(values: Array, y: AnyArray, has_classes: bool) -> float:
    if has_classes:
        tree = DecisionTreeClassifier(max_leaf_nodes=2 * len(np.unique(y)), random_state=0)
        folds = StratifiedKFold(COLUMN_FOLDS, shuffle=True, random_state=0)
        return float(accuracy_score(y, cross_val_predict(tree, values, y, cv=folds)))
    line = float(np.corrcoef(values[:, 0], y)[0, 1] ** 2) if values.shape[1] == 1 and np.ptp(values) > 0 else 0.0
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    folds = KFold(COLUMN_FOLDS, shuffle=True, random_state=0)
    return max(line, float(r2_score(y, cross_val_predict(tree, values, y, cv=folds))))
