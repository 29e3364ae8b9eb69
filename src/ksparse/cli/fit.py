"""``ksparse fit``: a model with k features on a built-in data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ..objectives import LeastSquares, LinearObjective, Logistic
from ..optimize import minimize
from ..solvers import Result
from ..typing import AnyArray, Array

__all__ = ["DATA", "fit"]


class Task(NamedTuple):
    """A built-in data set and the model that suits it."""

    load: Callable[[], Any]
    objective: type[LinearObjective]
    model: str
    response: str
    score_name: str
    score: Callable[[AnyArray, Array], float]


def _accuracy(y: AnyArray, margins: Array) -> float:
    return float(accuracy_score(y, margins > 0))


def _r2(y: AnyArray, margins: Array) -> float:
    return float(r2_score(y, margins))


DATA = {
    "breast-cancer": Task(load_breast_cancer, Logistic, "logistic regression", "benign tumours", "accuracy", _accuracy),
    "diabetes": Task(load_diabetes, LeastSquares, "least squares", "disease progression", "R2", _r2),
}


def fit(name: str, k: int, alpha: float, test: float, seed: int) -> str:
    """Fit on a built-in data set, and give the report that the command prints.

    Features are standardized on the training part, so that coefficients can be compared.
    """
    if not 0 < test < 1:
        raise ValueError(f"--test must lie between 0 and 1, got {test}; it is the share held out for testing")
    task, bunch = DATA[name], DATA[name].load()
    X, X_test, y, y_test = train_test_split(bunch.data, bunch.target, test_size=test, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report ends with the message
        result = minimize(task.objective(X, y, alpha=alpha, fit_intercept=True), k)
    seconds = time.perf_counter() - began
    scores = [task.score(part_y, part @ result.x[:-1] + result.x[-1]) for part, part_y in ((X, y), (X_test, y_test))]
    lines = [
        f"{name}: {len(y)} training and {len(y_test)} test samples, {X.shape[1]} features",
        f"{task.model} of {task.response}, k = {k}; features standardized",
        "",
        *_table(result, [str(feature) for feature in bunch.feature_names]),
        "",
        f"{task.score_name}: {scores[0]:.3f} on training data, {scores[1]:.3f} on test data",
        f"{result.message} ({result.n_iter} iterations, {seconds:.3f} s)",
    ]
    return "\n".join(lines)


def _table(result: Result, names: list[str]) -> list[str]:
    """The selected features, largest coefficient first."""
    order = sorted(result.selected, key=lambda feature: -abs(result.x[feature]))
    width = max([len("(intercept)"), *(len(names[feature]) for feature in order)])
    rows = [f"  {names[feature]:{width}s}  {result.x[feature]:+12.4f}" for feature in order]
    header = f"  {'feature':{width}s}  {'coefficient':>12s}"
    return [header, "  " + "-" * (len(header) - 2), *rows, f"  {'(intercept)':{width}s}  {result.x[-1]:+12.4f}"]
