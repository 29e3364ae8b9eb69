"""Compare ksparse with skscope, abess and an L1 penalty as a user meets them.

    pip install ".[bench]" && python benchmarks/compare_packages.py

Prints the table in docs/comparison.md; every entry is measured. Each measurement runs in a separate process, so that
a crash is a result too, on one thread and after a warm-up. The simulation is that of the paper (correlation ½): 500
samples of 1000 features, 50 of them relevant; alpha = 1e-4, medians over three seeds. Objectives are those of scikit-
learn's refit on the selected features.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import multiprocessing
import queue
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import estimator_checks_generator
from suite.bisection import select_l1
from suite.evaluator import refit
from suite.worker import silence_output

ALPHA, N, P, K, SEEDS = 1e-4, 500, 1000, 50, 3
COMPARED_PACKAGES = ("ksparse", "skscope", "abess", "L1")
#: Shown where a package has no such feature.
UNSUPPORTED = "—"
#: Seconds after which a measurement is stopped.
TIME_LIMIT = 300.0


# --- the packages, as users call them -----------------------------------------------------------------


def select(package: str, X: Any, y: Any, k: int) -> Any:
    """Return the features that a package selects for a logistic regression (labels ±1, no intercept)."""
    if package == "ksparse":
        from ksparse import SparseLogisticRegression

        return SparseLogisticRegression(k, alpha=ALPHA, fit_intercept=False).fit(X, y).get_support(indices=True)
    if package == "abess":
        import abess

        return np.flatnonzero(abess.LogisticRegression(support_size=k, fit_intercept=False).fit(X, y > 0).coef_)
    if package == "skscope":
        return select_by_skscope(X, y, k)
    return select_l1(X, y, k, tol=1e-5)


def select_by_skscope(X: Any, y: Any, k: int, groups: Any = None) -> Any:
    import jax.numpy as jnp
    from skscope import ScopeSolver

    def objective(w: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -y * (X @ w))) + ALPHA / 2 * jnp.sum(w * w)

    solver = ScopeSolver(X.shape[1], k, group=groups)
    solver.solve(objective)
    return np.flatnonzero(np.asarray(solver.params))


def make_classifier(package: str, k: int) -> Any:
    """Return a scikit-learn classifier with k features; None if a package has none."""
    if package == "ksparse":
        from ksparse import SparseLogisticRegression

        return SparseLogisticRegression(k)
    if package == "abess":
        import abess

        return abess.LogisticRegression(support_size=k)
    return LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=10_000) if package == "L1" else None


# --- the measurements ---------------------------------------------------------------------------------------


def simulate(seed: int) -> tuple[Any, Any]:
    from ksparse.datasets import make_logistic

    X, y, _ = make_logistic(N, P, K, random_state=seed)
    return X, y


def measure_objective(package: str) -> str:
    values, seconds = [], []
    select(package, *simulate(SEEDS), K)
    for seed in range(SEEDS):
        X, y = simulate(seed)
        start = time.perf_counter()
        support = select(package, X, y, K)
        seconds.append(time.perf_counter() - start)
        columns = X[:, support]
        w = refit("logistic", columns, y, ALPHA)
        values.append(np.mean(np.logaddexp(0, -y * (columns @ w))) + ALPHA / 2 * w @ w)
    return f"{np.median(values):.4f} in {np.median(seconds):.2f} s"


def count_features(package: str) -> str:
    return ", ".join(str(select(package, *simulate(seed), K).size) for seed in range(SEEDS))


def compare_scales(package: str) -> str:
    """Check whether the same features are selected after every other column is multiplied by 1000."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    y = np.where(X[:, :3].sum(axis=1) + rng.logistic(size=300) > 0, 1.0, -1.0)
    scaled = X * np.where(np.arange(20) % 2, 1000.0, 1.0)
    same = np.array_equal(select(package, X, y, 3), select(package, scaled, y, 3))
    return "same features" if same else "different features"


def fit_constant_column(package: str) -> str:
    X, y = simulate(0)
    X = X[:, :50].copy()
    X[:, 7] = 3.0
    return f"works ({select(package, X, y, 5).size} features)"


def fit_three_classes(package: str) -> str:
    """Return the held-out log loss of a multiclass model with two of the four features of the iris data."""
    X, y = load_iris(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    if package == "skscope":
        return UNSUPPORTED
    if package == "abess":
        import abess

        labels = np.eye(3)[y_train]
        model = abess.MultinomialRegression(support_size=2).fit(train, labels)
        return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    if package == "ksparse":
        model = make_classifier(package, 2).fit(train, y_train)
        return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    for log_c in np.linspace(3.0, -4.0, 71):
        model = LogisticRegression(l1_ratio=1.0, solver="saga", C=np.exp(log_c), max_iter=10_000).fit(train, y_train)
        if np.any(model.coef_ != 0, axis=0).sum() == 2:
            return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    return "no penalty selects 2"


def fit_groups(package: str) -> str:
    """Check whether the relevant group is selected if the columns of groups are interleaved."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    labels = np.arange(20) % 5
    y = np.where(X[:, labels == 3].sum(axis=1) + rng.logistic(size=200) > 0, 1.0, -1.0)
    if package == "ksparse":
        from ksparse import SparseLogisticRegression

        support = SparseLogisticRegression(1, feature_groups=labels).fit(X, y).get_support(indices=True)
    elif package == "abess":
        import abess

        support = np.flatnonzero(abess.LogisticRegression(support_size=1, group=labels).fit(X, y > 0).coef_)
    elif package == "skscope":
        support = select_by_skscope(X, y, 1, groups=labels)
    else:
        return UNSUPPORTED
    return "correct" if np.array_equal(support, np.flatnonzero(labels == 3)) else "wrong features"


def list_checks(package: str) -> list[str]:
    """Return the numbers of scikit-learn's estimator checks; empty if a package has no classifier."""
    model = make_classifier(package, 3)
    return [] if model is None else [str(number) for number, _ in enumerate(estimator_checks_generator(model))]


def run_check(package: str, number: str) -> str:
    """Run one of scikit-learn's estimator checks; an exception or a crash is a failure."""
    for index, (model, check) in enumerate(estimator_checks_generator(make_classifier(package, 3))):
        if str(index) == number:
            check(model)
    return "passed"


def run_checks(package: str) -> str:
    if package == "L1":
        return "is scikit-learn"
    numbers = list_checks(package)
    if not numbers:
        return UNSUPPORTED
    outcomes = [run_in_process(run_check, package, number) for number in numbers]
    failed = sum(outcome not in ("passed", "skipped") for outcome in outcomes)
    crashed = sum(outcome == "crashes" for outcome in outcomes)
    return f"{failed} of {len(numbers)} fail" + (f", {crashed} of them crash" if crashed else "")


ROWS: dict[str, Callable[[str], str]] = {
    f"objective with {K} of {P} features": measure_objective,
    f"features selected, {K} requested": count_features,
    "some columns multiplied by 1000": compare_scales,
    "a constant column": fit_constant_column,
    "groups of non-adjacent columns": fit_groups,
    "three classes, 2 of 4 features (iris)": fit_three_classes,
    "scikit-learn's estimator checks": run_checks,
}


# --- separate processes ---------------------------------------------------------------------------------


def run_in_process(function: Callable[..., str], *arguments: str) -> str:
    """Return the result of a function that runs in a separate process, or how it failed."""
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    process = context.Process(target=_send_result, args=(results, function, arguments))
    process.start()
    start = time.monotonic()
    while time.monotonic() - start < TIME_LIMIT:
        try:
            return str(results.get(timeout=0.05))
        except queue.Empty:
            if not process.is_alive() and results.empty():
                return "crashes"
    process.kill()
    return f"not finished in {TIME_LIMIT:g} s"


def _send_result(results: Any, function: Callable[..., str], arguments: tuple[str, ...]) -> None:
    silence_output()
    try:
        results.put(function(*arguments))
    except BaseException as error:
        results.put("skipped" if type(error).__name__ == "SkipTest" else type(error).__name__)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    missing = [name for name in COMPARED_PACKAGES[1:3] if find_spec(name) is None]
    if missing:
        raise SystemExit(f'not installed: {", ".join(missing)}; install them with pip install ".[bench]"')
    print(f"| | {' | '.join(COMPARED_PACKAGES)} |")
    print("|---" * (len(COMPARED_PACKAGES) + 1) + "|")
    for row, measure in ROWS.items():
        # The checks start their own processes; JAX must not be forked after it has started.
        cells = [
            measure(package) if measure is run_checks else run_in_process(measure, package)
            for package in COMPARED_PACKAGES
        ]
        print(f"| {row} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
