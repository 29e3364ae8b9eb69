"""How ksparse and skscope minimize a function in JAX, with and without the time of compiling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

import ksparse
from ksparse.objectives import from_jax
from ksparse.sparsity import Rows

from .problems_in_jax import JaxProblem

__all__ = ["SOLVERS", "Timed", "run_ksparse", "run_own", "run_skscope"]

#: Solvers of skscope, and the step sizes that are tried, as in its own benchmark; the best result counts.
SOLVERS: dict[str, tuple[float | None, ...]] = {
    "ScopeSolver": (None,),
    "OMPSolver": (None,),
    "FobaSolver": (None,),
    "GraspSolver": (None,),
    "HTPSolver": (1.0, 0.1, 0.01, 0.001, 0.0001),
    "IHTSolver": (1.0, 0.1, 0.01, 0.001, 0.0001),
}
Timed = tuple[Any, float, float]


def time_twice(run: Callable[[], Any]) -> Timed:
    """What a method selects, and the CPU seconds of a second run, when all is compiled, and of the first one."""
    seconds = []
    for _ in range(2):
        began = time.process_time()
        selected = run()
        seconds.append(time.process_time() - began)
    return selected, seconds[1], seconds[0]


def run_ksparse(problem: JaxProblem, columns: bool) -> Timed:
    """`from_jax` with the function of skscope, or with the same one of columns."""
    shape = (problem.p, problem.outputs) if problem.outputs > 1 else problem.p
    function = problem.of_columns if columns else lambda w: problem.function(w.ravel())
    objective: Any = None

    def run() -> Any:
        nonlocal objective
        if objective is None:
            objective = from_jax(function, shape, columns=columns)
        objective._shared = type(objective._shared)()  # a second run computes all again but what is compiled
        return ksparse.minimize(objective, **_limit(problem)).selected

    return time_twice(run)


def run_own(problem: JaxProblem) -> Timed:
    """The objective of ksparse that is the same model."""
    return time_twice(lambda: ksparse.minimize(problem.make_own(), **_limit(problem)).selected)


def _limit(problem: JaxProblem) -> dict[str, Any]:
    return {"sparsity": Rows(problem.k)} if problem.outputs > 1 else {"k": problem.k}


def run_skscope(problem: JaxProblem, solver: str, step_size: float | None) -> Timed:
    """A solver of skscope, which compiles the function in each call of `solve`; the second one gets it compiled."""
    import skscope

    options: dict[str, Any] = {} if step_size is None else {"step_size": step_size}
    if problem.outputs > 1:
        options["group"] = np.repeat(np.arange(problem.p), problem.outputs)

    def run() -> Any:
        made = getattr(skscope, solver)(problem.p * problem.outputs, problem.k, **options)
        made.solve(problem.function, jit=True)
        return np.unique(np.asarray(made.get_support()) // problem.outputs)

    with _keep_compiled():
        return time_twice(run)


@contextmanager
def _keep_compiled() -> Iterator[None]:
    """Within this block skscope compiles one function, once."""
    from skscope.base_solver import BaseSolver

    prepare = BaseSolver._set_objective
    made: list[Any] = []

    def reuse(*arguments: Any) -> Any:
        if not made:
            made.append(prepare(*arguments))
        return made[0]

    BaseSolver._set_objective = staticmethod(reuse)
    try:
        yield
    finally:
        BaseSolver._set_objective = staticmethod(prepare)
        jax.clear_caches()
