"""One proof by another package, in the environment of that package: a JSON line with what it found.

    python peers.py METHOD PROBLEM.npz SECONDS

The clocks that packages look at are replaced by CPU time, so that limits are in CPU seconds. The functions of a
package are compiled by a small problem before.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: Proofs of less than so many CPU seconds are repeated.
SHORT, REPEATS = 0.2, 5


def run_okridge(problem: dict[str, Any], limit: float) -> dict[str, Any]:
    """Σ(y − xᵀw)² + λ₂‖w‖², with k nonzeros; its values lack Σy²."""
    from okridge.tree import BNBTree

    X, y, k = problem["X"], problem["y"], int(problem["k"])
    n = len(y)
    began = time.process_time()
    tree = BNBTree(X, y, lambda2=n * float(problem["alpha"]))
    value, x, _, lower, _ = tree.solve(k, gap_tol=1e-4, time_limit=limit)
    seconds = time.process_time() - began
    constant = float(y @ y)
    return describe((value + constant) / (2 * n), (lower + constant) / (2 * n), x, seconds)


def run_l0bnb(problem: dict[str, Any], limit: float) -> dict[str, Any]:
    """½‖y − Xw‖² + λ₀‖w‖₀ + λ₂‖w‖², with |w| ≤ M."""
    vars(np)["Inf"] = np.inf  # a name that NumPy 2 no longer has
    from l0bnb import BNBTree

    X, y, n = problem["X"], problem["y"], len(problem["y"])
    l0, box = float(problem["l0"]) * n, float(problem["box"])
    began = time.process_time()
    found = BNBTree(X, y).solve(
        l0, 0.5 * n * float(problem["alpha"]), box, gap_tol=1e-4, warm_start=problem["start"], time_limit=limit
    )
    seconds = time.process_time() - began
    count = l0 * np.count_nonzero(found.beta)
    lower = found.cost * (1.0 - found.gap)
    return describe((found.cost - count) / n, (lower - count) / n, found.beta, seconds)


def run_el0ps(problem: dict[str, Any], limit: float) -> dict[str, Any]:
    """Σ loss + λ₀‖w‖₀ + λ₂‖w‖², with |w| ≤ M if that is given."""
    from el0ps.compilation import compiled_clone
    from el0ps.datafit import Leastsquares, Logistic
    from el0ps.penalty import BigmL2norm, L2norm
    from el0ps.solver import BnbSolver

    X, y, n = np.asfortranarray(problem["X"]), problem["y"], len(problem["y"])
    ridge, l0, box = 0.5 * n * float(problem["alpha"]), float(problem["l0"]) * n, float(problem["box"])
    datafit = compiled_clone(Logistic(y) if str(problem["loss"]) == "logistic" else Leastsquares(y))
    penalty = compiled_clone(BigmL2norm(box, ridge) if np.isfinite(box) else L2norm(ridge))
    solver, bounds = BnbSolver(relative_gap=1e-4, time_limit=limit), []
    package = solver.package_results

    def note(wrapped: Any, results: Any) -> Any:
        bounds.append(results.bound)
        return package(wrapped, results)

    solver.package_results = note
    began = time.process_time()
    found = solver.solve(datafit, penalty, X, l0, x_init=problem["start"].copy())
    seconds = time.process_time() - began
    count = l0 * np.count_nonzero(found.x)
    return describe((found.objective_value - count) / n, (bounds[0] - count) / n, found.x, seconds)


def describe(value: float, lower: float, x: Any, seconds: float) -> dict[str, Any]:
    """What is kept of a proof, in units of f."""
    support = np.flatnonzero(np.asarray(x)).tolist()
    return {"value": float(value), "lower_bound": float(lower), "support": support, "seconds": seconds}


RUNNERS: dict[str, Callable[[dict[str, Any], float], dict[str, Any]]] = {
    "okridge": run_okridge,
    "l0bnb": run_l0bnb,
    "el0ps": run_el0ps,
}


def repeat_short(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a proof gives; the median time of several ones, if it takes little."""
    found = run()
    if found["seconds"] < SHORT:
        found["seconds"] = statistics.median([found["seconds"], *(run()["seconds"] for _ in range(REPEATS - 1))])
    return found


def make_small(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem of the same kind with few features."""
    X = np.random.default_rng(0).standard_normal((60, 8))
    y = X[:, 0] - X[:, 1]
    y = np.sign(y) if str(problem["loss"]) == "logistic" else y
    start = np.where(np.arange(8) < 2, 0.5, 0.0)
    return {**problem, "X": X, "y": y, "k": 2, "start": start, "l0": 0.01, "alpha": 0.1}


if __name__ == "__main__":
    time.time = time.perf_counter = time.process_time
    method, path, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with np.load(path) as arrays:
        problem = dict(arrays)
    RUNNERS[method](make_small(problem), 10.0)
    print("\n" + json.dumps(repeat_short(lambda: RUNNERS[method](problem, limit))))
