"""The data of survival and generalized linear models: simulated, and survival tables."""

from __future__ import annotations

import os
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from .tasks import Instance, Task

__all__ = ["TABLES", "simulate_family", "simulate_inverse_gamma", "split_survival"]

#: Number of test samples in simulations, and the fraction of the rows of a table that is held out.
N_TEST, TEST_FRACTION = 1000, 0.3
#: Standard deviation of the margins; the classes in order are far apart.
SPREAD = {"cox": 1.5, "poisson": 1.5, "gamma": 1.5, "ordinal": 3.0}
#: Number of classes, and of classes in order.
CLASSES, LEVELS = 3, 4
#: Features with a larger correlation are the same.
SAME = 1.0 - 1e-9


class SurvivalTable(NamedTuple):
    """Where a table is and what its columns are: a file of the data folder, or a data set of scikit-survival."""

    time: str
    event: str
    #: The value of the event column where the event came.
    value: Any
    left_out: tuple[str, ...] = ()
    is_packaged: bool = False


#: The chapter of flchain is a cause of death: it tells that the event came.
TABLES: dict[str, SurvivalTable] = {
    "veteran": SurvivalTable("time", "status", 1, ("rownames",)),
    "rossi": SurvivalTable("week", "arrest", 1),
    "pbc": SurvivalTable("time", "status", 2, ("rownames", "id")),
    "gbsg2": SurvivalTable("time", "cens", 1),
    "whas500": SurvivalTable("lenfol", "fstat", True, is_packaged=True),
    "aids": SurvivalTable("time", "censor", True, is_packaged=True),
    "flchain": SurvivalTable("futime", "death", True, ("chapter",), is_packaged=True),
    "breast_cancer": SurvivalTable("t.tdm", "e.tdm", True, is_packaged=True),
}


def simulate_family(kind: str, n: int, p: int, k: int, correlation: float, seed: int) -> Instance:
    """Draw features with correlations ρ^|i−j|, and k coefficients of random place, size and sign.

    Absolute values are uniform on [0.3, 1], times a constant with which the margins have the standard deviation SPREAD;
    on [0.5, 1.5] for each of several classes. A third of the times until an event are censored, the classes in order
    have equal parts of the samples, and a gamma response has the shape 2.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    support = np.sort(rng.choice(p, k, replace=False))
    if kind == "multinomial":
        weights = rng.uniform(0.5, 1.5, (k, CLASSES)) * rng.choice([-1.0, 1.0], (k, CLASSES))
        margins = X[:, support] @ weights
        y = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1).astype(float)
    else:
        margins = X[:, support] @ (rng.uniform(0.3, 1.0, k) * rng.choice([-1.0, 1.0], k))
        y = _draw(kind, margins * (SPREAD[kind] / margins.std()), rng)
    return Instance(Task(kind, np.ascontiguousarray(X[:n]), y[:n], k), support, X[n:], y[n:])


def simulate_inverse_gamma(n: int, p: int, k: int, seed: int) -> Instance:
    """Draw from abess's model of gamma data, where the mean is −1/η, with its generator's coefficients and shifts."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + N_TEST, p)) / 16
    unit = 5.0 * np.sqrt(2.0 * np.log(p) / n)
    support = np.sort(rng.choice(p, k, replace=False))
    eta = X[:, support] @ (rng.uniform(unit, 100 * unit, k) * rng.choice([-1.0, 1.0], k))
    means = 1.0 / (abs(eta.max()) + 10.0 - eta)
    shape = 50.0
    y = rng.gamma(shape, means / shape)
    return Instance(Task("gamma", np.ascontiguousarray(X[:n]), y[:n], k), support, X[n:], y[n:])


def _draw(kind: str, margins: Any, rng: np.random.Generator) -> Any:
    if kind == "poisson":
        return rng.poisson(np.exp(margins)).astype(float)
    if kind == "gamma":
        return np.exp(margins) * rng.gamma(2.0, 0.5, margins.size)
    if kind == "ordinal":
        latent = margins + rng.logistic(size=margins.size)
        return np.digitize(latent, np.quantile(latent, np.arange(1, LEVELS) / LEVELS)).astype(float)
    time = rng.exponential(np.exp(-margins))
    # Censoring times have the distribution of the times until the event, of which they cut off more or less.
    censored = rng.permutation(time) * rng.uniform(0.5, 10.0, margins.size)
    return np.column_stack([np.minimum(time, censored), time <= censored])


def split_survival(name: str, k: int, products: bool, seed: int) -> Instance:
    """Split a survival table; features are standardized on the training part.

    Categories are columns of zeros and ones, missing numbers the median. With `products`, the squares of the columns
    and the products of any two are features too.
    """
    X, y = _load_table(name)
    train, test = train_test_split(
        np.arange(len(y)), test_size=TEST_FRACTION, random_state=seed, stratify=y[:, 1].astype(int)
    )
    X = _standardize(X, train)
    if products:
        first, second = np.triu_indices(X.shape[1])
        X = _standardize(np.column_stack([X, X[:, first] * X[:, second]]), train)
    return Instance(Task("cox", np.ascontiguousarray(X[train]), y[train], k), None, X[test], y[test])


def _standardize(X: Any, train: Any) -> Any:
    """Features with mean 0 and variance 1 in the training part, without constants and without copies of others."""
    deviations = X[train].std(axis=0)
    X = X[:, deviations > 1e-9]
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    same = np.abs(np.triu(X[train].T @ X[train] / len(train), 1)) > SAME
    return X[:, ~same.any(axis=0)]


@lru_cache(maxsize=1)
def _load_table(name: str) -> tuple[Any, Any]:
    """Features as numbers, and times with events."""
    import pandas as pd

    table = TABLES[name]
    if table.is_packaged:
        from sksurv import datasets

        frame, y = getattr(datasets, f"load_{name}")()
        frame = frame.assign(**{table.time: y[table.time], table.event: y[table.event]})
    else:
        frame = pd.read_csv(Path(os.environ["KSPARSE_DATA"], "tables", f"{name}.csv"))
    frame = frame[frame[table.time] > 0].reset_index(drop=True)
    event = frame[table.event] == table.value
    features = frame.drop(columns=[table.time, table.event, *table.left_out])
    if features.isna().any(axis=None):
        numbers = features.select_dtypes("number").columns
        features[numbers] = features[numbers].fillna(features[numbers].median())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of future versions of pandas
        encoded = pd.get_dummies(features, drop_first=True).to_numpy(dtype=np.float64)
    return encoded, np.column_stack([frame[table.time].to_numpy(dtype=np.float64), event.to_numpy(dtype=np.float64)])
