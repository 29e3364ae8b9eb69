"""Run methods on data sets, one after another, and record the results of each data set immediately."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .regressors import REGRESSORS
from .rows import SimulationRow, append_rows, read_rows
from .scoring import score_coefficients, score_support
from .simulation import Setting, Simulated, list_settings, simulate

__all__ = ["REPLICATIONS", "run_simulation", "time_call"]

#: Replications of each setting, such that all methods take less than an hour on one core.
REPLICATIONS = {"low": 10, "medium": 4, "high-5": 4, "high-10": 4}


def time_call(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float, str]:
    """Return the result, the CPU seconds and an empty string, or None and the reason of a failure."""
    start = time.process_time()
    try:
        result = function(*arguments)
    except Exception as error:  # a peer may fail in any way, and this is a result
        return None, time.process_time() - start, f"{type(error).__name__}: {error}"[:100]
    return result, time.process_time() - start, ""


def measure_fit(method: str, setting: Setting, replication: int, data: Simulated) -> SimulationRow:
    """Fit a method to data, and score it."""
    key = setting.size, setting.beta_type, setting.correlation, setting.snr, replication, method
    fitted, seconds, failure = time_call(REGRESSORS[method], data.X, data.y)
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
) -> None:
    """Run the methods on all data sets for which the output has no row yet, or on all if `again`."""
    done = set() if again else {(*row.data, row.method) for row in read_rows(output, SimulationRow)}
    warm = {method: time_call(REGRESSORS[method], *_make_small())[2] for method in methods}
    for method, failure in warm.items():
        if failure:
            print(f"{method}: {failure}", flush=True)
    start, data_sets = time.perf_counter(), list(list_data(sizes, replications))
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
