"""The paper's logistic simulation, ksparse beside skscope, in one run on one thread.

    pip install ".[bench]" && python benchmarks/paper_logistic.py

p = 1000 features, k = 100, correlation ½, alpha = 1e-4, n = 500, 1000, 2000, seeds 0 to 4. Each solver runs once to
warm up before it is timed. skscope's solvers (float32, as JAX has it) run as their users run them, on a function that
is compiled in each run, and on one that was compiled before. The objective of a support is computed by an evaluator of
its own: a refit by scikit-learn, and the formula.
"""

from __future__ import annotations

import os

# One thread for everybody, set before any of them loads.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import ksparse
from ksparse.datasets import make_logistic

ALPHA, P, K = 1e-4, 1000, 100
PEERS = ("ScopeSolver", "OMPSolver", "FobaSolver", "GraspSolver", "HTPSolver")
OURS = "ksparse"


@dataclass(frozen=True)
class Run:
    """One solver on one data set; `compiled` is its time on an objective that was compiled before."""

    solver: str
    n: int
    seed: int
    objective: float
    seconds: float
    compiled: float


def evaluate(X: Any, y: Any, support: Any) -> float:
    """f at the best coefficients on a support, independently of all solvers."""
    columns = X[:, support]
    model = LogisticRegression(
        C=1 / (ALPHA * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-8, max_iter=1000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = model.fit(columns, y).coef_[0]
    return float(np.mean(np.logaddexp(0, -y * (columns @ w))) + ALPHA / 2 * w @ w)


def our_support(X: Any, y: Any) -> list[Callable[[], Any]]:
    """The default solver, with the construction of its objective."""
    return [lambda: ksparse.minimize(ksparse.objectives.Logistic(X, y, alpha=ALPHA), k=K).support]


def peer_support(name: str, X: Any, y: Any) -> list[Callable[[], Any]]:
    """A solver of skscope on the same objective, in two ways: skscope compiles it in each run, or it comes compiled."""
    import jax
    import jax.numpy as jnp
    import skscope

    features, labels = jnp.array(X), jnp.array(y)

    def loss(w: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0, -labels * (features @ w))) + ALPHA / 2 * jnp.sum(w**2)

    value, slope = jax.jit(loss), jax.jit(jax.grad(loss))

    def compiled_inside() -> Any:
        return np.asarray(getattr(skscope, name)(P, K).solve(loss, jit=True)) != 0

    def compiled_before() -> Any:
        solver = getattr(skscope, name)(P, K)
        return np.asarray(solver.solve(lambda w: value(w), gradient=lambda w: slope(w))) != 0

    return [compiled_inside, compiled_before]


def time_of(name: str, run: Callable[[], Any]) -> tuple[Any, float]:
    """Support and seconds after a warm-up: the median of three runs if they are quick. A failure is shown."""
    try:
        run()
        times: list[float] = []
        while len(times) < 3 and sum(times) < 1.0:
            began = time.perf_counter()
            support = run()
            times.append(time.perf_counter() - began)
        return support, float(np.median(times))
    except Exception as error:  # a peer may fail in any way
        print(f"  {name} failed: {error}")
        return None, np.nan


def measure(name: str, ways: list[Callable[[], Any]], X: Any, y: Any, n: int, seed: int) -> Run:
    """Run a solver in its two ways (ksparse has only one); a solver that fails has an infinite objective."""
    support, seconds = time_of(name, ways[0])
    compiled = time_of(name, ways[1])[1] if len(ways) > 1 else seconds
    objective = np.inf if support is None else evaluate(X, y, support)
    print(
        f"  n={n:5d} seed={seed} {name:12s} objective {objective:.6f}  {seconds:8.3f} s"
        + (f"  {compiled:8.3f} s compiled before" if len(ways) > 1 else ""),
        flush=True,
    )
    return Run(name, n, seed, objective, seconds, compiled)


def summarize(runs: list[Run], n: int, seeds: list[int]) -> None:
    """One table for each n, and whether the targets are met."""
    here = {(run.solver, run.seed): run for run in runs if run.n == n}
    print(f"\nn = {n}: medians over {len(seeds)} seeds")
    print(f"  {'solver':12s} {'objective':>10s} {'seconds':>9s} {'compiled':>9s} {'ksparse is at most it':>22s}")
    for name in (OURS, *PEERS):
        mine = [here[name, seed] for seed in seeds]
        wins = sum(here[OURS, seed].objective <= run.objective for seed, run in zip(seeds, mine, strict=True))
        medians = [np.median([getattr(run, column) for run in mine]) for column in ("objective", "seconds", "compiled")]
        print(f"  {name:12s} {medians[0]:10.6f} {medians[1]:9.3f} {medians[2]:9.3f} {wins:16d} of {len(seeds)}")
    best = all(
        sum(here[OURS, seed].objective <= here[name, seed].objective for seed in seeds) >= 0.8 * len(seeds)
        for name in PEERS
    )
    print(f"  objective at most every peer's in at least 4 of 5 seeds: {'yes' if best else 'NO'}")
    for column, what in (("seconds", "as a user runs it"), ("compiled", "compiled before")):
        ratios = [ratio for seed in seeds if (ratio := advantage(here, seed, column)) is not None]
        if not ratios:
            print("  no peer comes within 10 % of the objective")
            return
        shown = ", ".join(f"{ratio:.1f}" for ratio in ratios) + f" (median {np.median(ratios):.1f})"
        verdict = "yes" if np.median(ratios) > 10 else "NO"
        print(f"  times faster than the fastest peer within 10 % of the objective, {what}: {shown}")
        print(f"  less than a tenth of its time: {verdict}")


def advantage(here: dict[tuple[str, int], Run], seed: int, column: str) -> float | None:
    """How many times faster than the fastest peer that comes within 10 % of our objective; None if none does."""
    ours = here[OURS, seed]
    near = [getattr(here[name, seed], column) for name in PEERS if here[name, seed].objective <= 1.1 * ours.objective]
    return min(near) / ours.seconds if near else None


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description="ksparse beside skscope on the paper's logistic simulation")
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    arguments = parser.parse_args()
    runs: list[Run] = []
    for n in arguments.samples:
        for seed in arguments.seeds:
            X, y, _ = make_logistic(n, P, K, random_state=seed)
            runs.append(measure(OURS, our_support(X, y), X, y, n, seed))
            runs.extend(measure(name, peer_support(name, X, y), X, y, n, seed) for name in PEERS)
    for n in arguments.samples:
        summarize(runs, n, arguments.seeds)


if __name__ == "__main__":
    main()
