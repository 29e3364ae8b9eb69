"""Run methods on data sets, one after another, and record the results of each data set immediately."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from .classifiers import CLASSIFIERS, REAL_REGRESSORS
from .real_data import REGRESSION, Split, load_data, split_data
from .regressors import REGRESSORS
from .rows import RealRow, SimulationRow, append_rows, read_rows
from .scoring import score_classification, score_coefficients, score_regression, score_support
from .simulation import Setting, Simulated, list_settings, simulate
from .timing import Isolated, Outcome, time_call

__all__ = ["REPLICATIONS", "run_real", "run_simulation"]

#: Replications of each setting, such that all methods take less than an hour on one core.
REPLICATIONS = {"low": 10, "medium": 4, "high-5": 4, "high-10": 4}


#: Methods that crash now and then: fastsparsegams 0.2.0 has segmentation faults with 50 samples.
ISOLATED = ("fastsparsegams",)
_isolated = Isolated()


def time_regressor(method: str, X: Any, y: Any) -> Outcome:
    """Fit a method of the simulation, in another process if it may crash."""
    call = _isolated.time_call if method in ISOLATED else time_call
    return call(REGRESSORS[method], X, y)


def measure_fit(method: str, setting: Setting, replication: int, data: Simulated) -> SimulationRow:
    """Fit a method to data, and score it."""
    key = setting.size, setting.beta_type, setting.correlation, setting.snr, replication, method
    fitted, seconds, failure = time_regressor(method, data.X, data.y)
    if fitted is None:
        return SimulationRow(*key, seconds=seconds, failure=failure)
    coef, intercept = fitted
    error = score_coefficients(coef, intercept, data.beta, data.covariance, data.noise_variance)
    features, recall, f_score = score_support(coef, data.support)
    return SimulationRow(*key, error, features, recall, f_score, seconds)


def list_data(sizes: tuple[str, ...], replications: dict[str, int]) -> Iterator[tuple[Setting, int]]:
    """Yield all settings once, then all again, so that a part of a run has all settings."""
    for replication in range(max(replications[size] for size in sizes)):
        for setting in list_settings(sizes):
            if replication < replications[setting.size]:
                yield setting, replication


def run_simulation(
    methods: tuple[str, ...],
    sizes: tuple[str, ...],
    replications: dict[str, int],
    output: Path,
    again: bool,
    most: int | None = None,
) -> None:
    """Run the methods on all simulated data for which the output has no row yet, or on all if `again`.

    `most` limits the number of data sets.
    """
    done = set() if again else {row.key for row in read_rows(output, SimulationRow)}
    warm = {method: time_regressor(method, *_make_small())[2] for method in methods}
    for method, failure in warm.items():
        if failure:
            print(f"{method}: {failure}", flush=True)
    start, data_sets = time.perf_counter(), list(list_data(sizes, replications))[:most]
    for number, (setting, replication) in enumerate(data_sets, 1):
        key = setting.size, setting.beta_type, setting.correlation, setting.snr, replication
        missing = [method for method in methods if (*key, method) not in done]
        if missing:
            data = simulate(setting, replication)
            append_rows(output, [measure_fit(method, setting, replication, data) for method in missing])
        if number % 20 == 0 or number == len(data_sets):
            print(f"simulation: {number} of {len(data_sets)}, {time.perf_counter() - start:.0f} s", flush=True)


def _make_small() -> tuple[Any, Any]:
    """Return small data for a warm-up, which compiles what is compiled."""
    data = simulate(list_settings()[0], 10_000)
    return data.X, data.y


def measure_split(method: str, name: str, number: int, data: Split) -> RealRow:
    """Fit a method to the training part of a split, and score its predictions of the test part."""
    methods = REAL_REGRESSORS if name in REGRESSION else CLASSIFIERS
    fitted, seconds, failure = time_call(methods[method], data.X, data.y)
    if fitted is None:
        return RealRow(name, number, method, seconds=seconds, failure=failure)
    coef, intercept = fitted
    margins = data.X_test @ coef + intercept
    features = int(np.count_nonzero(coef))
    if name in REGRESSION:
        loss = score_regression(margins, data.y_test, float(np.mean(data.y)))
        return RealRow(name, number, method, loss, features=features, seconds=seconds)
    scores = score_classification(expit(margins), data.y_test)
    return RealRow(name, number, method, scores.loss, scores.auc, scores.accuracy, features, seconds)


def run_real(methods: tuple[str, ...], splits: dict[str, int], output: Path, again: bool) -> None:
    """Run the methods on all splits for which the output has no row yet, or on all if `again`."""
    done = set() if again else {row.key for row in read_rows(output, RealRow)}
    loaded = {name: load_data(name) for name in splits}
    _warm_up(methods, *loaded[min(splits, key=lambda name: loaded[name][0].shape[1])])
    start = time.perf_counter()
    for number in range(max(splits.values())):
        for name in (name for name, count in splits.items() if number < count):
            known = REAL_REGRESSORS if name in REGRESSION else CLASSIFIERS
            missing = [method for method in methods if method in known and (name, number, method) not in done]
            if missing:
                data = split_data(name, *loaded[name], number)
                append_rows(output, [measure_split(method, name, number, data) for method in missing])
        print(f"real data: split {number + 1}, {time.perf_counter() - start:.0f} s", flush=True)


def _warm_up(methods: tuple[str, ...], X: Any, y: Any) -> None:
    """Fit all methods to a few features, which compiles what is compiled."""
    columns = X[:, :20].toarray() if sparse.issparse(X) else np.asarray(X[:, :20], dtype=float)
    classes = y if y.dtype == bool else y > np.median(y)
    for method in methods:
        if method in CLASSIFIERS:
            time_call(CLASSIFIERS[method], columns, classes)
