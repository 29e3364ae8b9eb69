"""What ksparse offers beside skscope, abess and an L1 penalty: each line is measured, none is typed in.

    pip install ".[bench]" && python benchmarks/beside_peers.py

Prints the table of the README. Each measurement runs in a process of its own, so that one that crashes is a result
too; one thread for everybody, after a warm-up. The simulation is the paper's (correlation ½): 500 samples of 1000
features, of which 50 matter; alpha = 1e-4, medians over three seeds. Objectives are computed by scikit-learn's refit on
the features that were selected.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import multiprocessing
import queue
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import estimator_checks_generator
from suite.bisection import liblinear_l1

ALPHA, N, P, K, SEEDS = 1e-4, 500, 1000, 50, 3
PACKAGES = ("ksparse", "skscope", "abess", "L1")
#: What a package does not offer.
NOTHING = "—"
#: Seconds after which a measurement is given up.
PATIENCE = 300.0


# --- the packages, as their users call them -----------------------------------------------------------------


def select(package: str, X: Any, y: Any, k: int) -> Any:
    """Indices of the features that a package selects for a logistic regression (labels ±1, no intercept)."""
    if package == "ksparse":
        from ksparse import SparseLogisticRegression

        return SparseLogisticRegression(k, alpha=ALPHA, fit_intercept=False).fit(X, y).get_support(indices=True)
    if package == "abess":
        import abess

        return np.flatnonzero(abess.LogisticRegression(support_size=k, fit_intercept=False).fit(X, y > 0).coef_)
    if package == "skscope":
        return skscope_select(X, y, k)
    return liblinear_l1(X, y, k, tol=1e-5)


def skscope_select(X: Any, y: Any, k: int, groups: Any = None) -> Any:
    import jax.numpy as jnp
    from skscope import ScopeSolver

    def objective(w: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -y * (X @ w))) + ALPHA / 2 * jnp.sum(w * w)

    solver = ScopeSolver(X.shape[1], k, group=groups)
    solver.solve(objective)
    return np.flatnonzero(np.asarray(solver.params))


def classifier(package: str, k: int) -> Any:
    """A scikit-learn classifier with k features."""
    if package == "ksparse":
        from ksparse import SparseLogisticRegression

        return SparseLogisticRegression(k)
    if package == "abess":
        import abess

        return abess.LogisticRegression(support_size=k)
    return LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=10_000) if package == "L1" else None


# --- the measurements ---------------------------------------------------------------------------------------


def simulation(seed: int) -> tuple[Any, Any]:
    from ksparse.datasets import make_logistic

    X, y, _ = make_logistic(N, P, K, random_state=seed)
    return X, y


def objective_and_seconds(package: str) -> str:
    values, seconds = [], []
    select(package, *simulation(SEEDS), K)
    for seed in range(SEEDS):
        X, y = simulation(seed)
        began = time.perf_counter()
        support = select(package, X, y, K)
        seconds.append(time.perf_counter() - began)
        columns = X[:, support]
        w = LogisticRegression(C=1 / (ALPHA * N), fit_intercept=False, tol=1e-8, max_iter=5000).fit(columns, y).coef_[0]
        values.append(np.mean(np.logaddexp(0, -y * (columns @ w))) + ALPHA / 2 * w @ w)
    return f"{np.median(values):.4f} in {np.median(seconds):.2f} s"


def features_delivered(package: str) -> str:
    return ", ".join(str(select(package, *simulation(seed), K).size) for seed in range(SEEDS))


def other_units(package: str) -> str:
    """Whether the same features are selected when every other one is given in units 1000 times smaller."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    y = np.where(X[:, :3].sum(axis=1) + rng.logistic(size=300) > 0, 1.0, -1.0)
    scaled = X * np.where(np.arange(20) % 2, 1000.0, 1.0)
    same = np.array_equal(select(package, X, y, 3), select(package, scaled, y, 3))
    return "same features" if same else "others"


def constant_column(package: str) -> str:
    X, y = simulation(0)
    X = X[:, :50].copy()
    X[:, 7] = 3.0
    return f"works ({select(package, X, y, 5).size} features)"


def three_classes(package: str) -> str:
    """Held-out log loss with two of the four features of the irises, by a package's model for three classes."""
    X, y = load_iris(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    if package == "skscope":
        return NOTHING
    if package == "abess":
        import abess

        labels = np.eye(3)[y_train]
        model = abess.MultinomialRegression(support_size=2).fit(train, labels)
        return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    if package == "ksparse":
        model = classifier(package, 2).fit(train, y_train)
        return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    for log_c in np.linspace(3.0, -4.0, 71):
        model = LogisticRegression(l1_ratio=1.0, solver="saga", C=np.exp(log_c), max_iter=10_000).fit(train, y_train)
        if np.any(model.coef_ != 0, axis=0).sum() == 2:
            return f"log loss {log_loss(y_test, model.predict_proba(test)):.3f}"
    return "no penalty leaves 2"


def groups_in_any_order(package: str) -> str:
    """Whether alternating group labels select the one group that matters."""
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
        support = skscope_select(X, y, 1, groups=labels)
    else:
        return NOTHING
    return "right" if np.array_equal(support, np.flatnonzero(labels == 3)) else "wrong features"


def check_names(package: str) -> list[str]:
    model = classifier(package, 3)
    return [] if model is None else [str(number) for number, _ in enumerate(estimator_checks_generator(model))]


def one_check(package: str, number: str) -> str:
    """One of scikit-learn's checks of estimators; an assertion or a crash is a failure."""
    for index, (model, check) in enumerate(estimator_checks_generator(classifier(package, 3))):
        if str(index) == number:
            check(model)
    return "passed"


def checks_passed(package: str) -> str:
    if package == "L1":
        return "its own"
    names = check_names(package)
    if not names:
        return NOTHING
    outcomes = [apart(one_check, package, name) for name in names]
    failed = sum(outcome not in ("passed", "skipped") for outcome in outcomes)
    crashed = sum(outcome == "crashes" for outcome in outcomes)
    return f"{failed} of {len(names)} fail" + (f", {crashed} by a crash" if crashed else "")


ROWS: dict[str, Callable[[str], str]] = {
    f"objective with {K} of {P} features": objective_and_seconds,
    f"features delivered, {K} wanted": features_delivered,
    "some columns in other units": other_units,
    "a constant column": constant_column,
    "groups in any order": groups_in_any_order,
    "three classes, 2 of 4 features (iris)": three_classes,
    "scikit-learn's estimator checks": checks_passed,
}


# --- processes of their own ---------------------------------------------------------------------------------


def apart(function: Callable[..., str], *arguments: str) -> str:
    """What a function returns in a process of its own."""
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    process = context.Process(target=_answer, args=(answers, function, arguments))
    process.start()
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        try:
            return str(answers.get(timeout=0.05))
        except queue.Empty:
            if not process.is_alive() and answers.empty():
                return "crashes"
    process.kill()
    return f"no end in {PATIENCE:g} s"


def _answer(answers: Any, function: Callable[..., str], arguments: tuple[str, ...]) -> None:
    warnings.simplefilter("ignore")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        answers.put(function(*arguments))
    except BaseException as error:
        answers.put("skipped" if type(error).__name__ == "SkipTest" else f"{type(error).__name__}")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    missing = [name for name in PACKAGES[1:3] if find_spec(name) is None]
    if missing:
        raise SystemExit(f'not installed: {", ".join(missing)}; pip install ".[bench]" brings them')
    print(f"| | {' | '.join(PACKAGES)} |")
    print("|---" * (len(PACKAGES) + 1) + "|")
    for row, measure in ROWS.items():
        # Checks make processes of their own; JAX must not be forked after it has started.
        cells = [measure(package) if measure is checks_passed else apart(measure, package) for package in PACKAGES]
        print(f"| {row} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
