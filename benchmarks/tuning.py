"""What each constant of the default solvers does: every one halved and doubled, on a fixed set of problems.

    python benchmarks/tuning.py [--only NAME ...]

For each constant of `SwapTuning` and `StageTuning` and each variation, the table shows by how many percent f changes
(the mean over all problems, and the largest rise and fall), on how many problems it rises and falls, and the ratios of
passes over the data (the geometric mean) and of processor time. Constants below 1e-6, which are tolerances, vary by a
factor of 100. The comments in `solvers/swap/tuning.py` and `solvers/staged/stages.py` summarize what was found.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

import ksparse
from ksparse._types import Array
from ksparse.debias import Exact
from ksparse.objectives import Function, LeastSquares, LogDet, Logistic, Multinomial, Objective
from ksparse.selection import PathSolver
from ksparse.solvers import StagedSwap, SwapGraHTP, Tolerance
from ksparse.solvers.staged.stages import StageTuning
from ksparse.solvers.swap.tuning import SwapTuning
from ksparse.sparsity import Entries, Groups, Pairs

#: Smaller constants are tolerances, which vary by the second factor.
TOLERANCE, FACTOR, TOLERANCE_FACTOR = 1e-6, 2.0, 100.0


@dataclass(frozen=True)
class Constants:
    """The constants of both solvers."""

    swap: SwapTuning
    stages: StageTuning

    def make_solver(self, objective: Objective, **parameters: Any) -> SwapGraHTP:
        """The default solver for an objective with these constants."""
        if objective.unit_kind == "pairs":
            staged = type("Varied", (StagedSwap,), {"tuning": self.swap, "stages": self.stages})
            return staged(**parameters)
        return type("Varied", (SwapGraHTP,), {"tuning": self.swap})(**parameters)


@dataclass(frozen=True)
class Measurement:
    """f (several values for a path), passes and seconds of the processor."""

    values: list[float]
    passes: int
    seconds: float


Trial = Callable[[Constants], tuple[list[float], int]]


def draw_correlated(n: int, p: int, k: int, rho: float, seed: int) -> tuple[Array, Array]:
    """Autoregressive columns, and margins with a signal in every (p/k)-th of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.zeros(p)
    w[:: p // k][:k] = rng.choice([-1, 1], k) * np.linspace(0.5, 1.5, k)
    return X, X @ w + rng.standard_normal(n)


def make_logistic(n: int, p: int, k: int, rho: float, seed: int) -> Logistic:
    X, margins = draw_correlated(n, p, k, rho, seed)
    return Logistic(X, margins > 0, alpha=1e-3, fit_intercept=True)


def make_function(seed: int) -> Function:
    X, margins = draw_correlated(200, 50, 6, 0.6, seed)
    y = np.sign(margins)

    def value(w: Array) -> float:
        return float(np.mean(np.logaddexp(0, -y * (X @ w))) + 0.005 * w @ w)

    def gradient(w: Array) -> Array:
        return np.asarray(0.01 * w - X.T @ (y / (1 + np.exp(y * (X @ w)))) / len(y))

    return Function(value, gradient=gradient, shape=50)


def make_fit(objective: Objective, sparsity: Any, **parameters: Any) -> Trial:
    def run(constants: Constants) -> tuple[list[float], int]:
        solver = constants.make_solver(objective, **parameters)
        chosen = {"k": sparsity} if isinstance(sparsity, int) else {"sparsity": sparsity}
        result = ksparse.minimize(objective, solver=solver, **chosen)
        return [result.value], result.passes

    return run


def make_path(objective: Objective, sparsity: Any, ks: range) -> Trial:
    def run(constants: Constants) -> tuple[list[float], int]:
        solver = PathSolver(objective, sparsity, constants.make_solver(objective))
        solver.solve(ks)
        return [solver.results[k].value for k in ks], solver.passes

    return run


def list_problems() -> Iterator[tuple[str, Trial]]:
    """A fixed set of problems in which each constant has a part."""
    for seed in range(12):
        for rho in (0.3, 0.6, 0.9):
            X, y = draw_correlated(150, 200, 15, rho, seed)
            yield "linear", make_fit(LeastSquares(X, y, fit_intercept=True), 15)
            yield "logistic", make_fit(make_logistic(150, 200, 15, rho, seed), 15)
        yield "few units", make_fit(make_logistic(100, 40, 8, 0.8, seed), 6)
        yield "graph", make_fit(LogDet(np.cov(draw_correlated(60, 30, 5, 0.6, seed)[0], rowvar=False)), 40)
    for seed in range(4):
        yield "wide", make_fit(make_logistic(300, 1000, 40, 0.8, seed), 40)
        yield "groups", make_fit(make_logistic(150, 120, 15, 0.6, seed), Groups(5, np.arange(120) // 4))
        yield "effort 2", make_fit(make_logistic(150, 200, 15, 0.9, seed), 15, effort=2)
        yield "path", make_path(make_logistic(150, 200, 15, 0.8, seed), Entries(1), range(5, 36, 5))
        yield "no Hessian", make_fit(make_function(seed), 6)
    X, y = draw_correlated(150, 60, 8, 0.6, 0)
    yield "multinomial", make_fit(Multinomial(X, np.digitize(y, [-2, 2]), alpha=1e-3, fit_intercept=True), 6)
    yield "effort 5", make_fit(make_logistic(60, 60, 8, 0.8, 0), 5, effort=5)
    yield "large support", make_fit(make_logistic(1000, 1300, 700, 0.3, 0), 650)
    yield "large graph", make_fit(LogDet(np.cov(draw_correlated(200, 80, 10, 0.6, 0)[0], rowvar=False)), 250)
    graph = LogDet(np.cov(draw_correlated(60, 25, 5, 0.6, 0)[0], rowvar=False))
    yield "graph, effort 1", make_fit(graph, 30, effort=1)
    yield "graphs, path", make_path(graph, Pairs(1), range(5, 51, 15))


def measure_problems(cases: list[tuple[str, Trial]], constants: Constants) -> list[Measurement]:
    outcomes = []
    for _, run in cases:
        began = time.process_time()
        values, passes = run(constants)
        outcomes.append(Measurement(values, passes, time.process_time() - began))
    return outcomes


def scale(value: Any, up: bool) -> Any:
    """A constant made smaller or larger."""
    if isinstance(value, Tolerance):
        return Tolerance(scale(value.fraction, up))
    if isinstance(value, Exact):
        return replace(value, tol=scale(value.tol, up))
    if isinstance(value, tuple):
        return tuple(scale(part, up) for part in value)
    factor = TOLERANCE_FACTOR if value < TOLERANCE else FACTOR
    result = value * factor if up else value / factor
    return max(round(result), 1) if isinstance(value, int) else result


def list_variations(usual: Constants) -> Iterator[tuple[str, str, Constants]]:
    """Each constant by name, its varied value, and all constants with it."""
    for part in ("swap", "stages"):
        tuning = getattr(usual, part)
        for constant in fields(tuning):
            for up in (False, True):
                value = scale(getattr(tuning, constant.name), up)
                yield (
                    constant.name,
                    _format_constant(value),
                    replace(usual, **{part: replace(tuning, **{constant.name: value})}),
                )


def _format_constant(value: Any) -> str:
    if isinstance(value, Tolerance):
        value = value.fraction
    if isinstance(value, Exact):
        value = value.tol
    return "/".join(f"{part:g}" for part in (value if isinstance(value, tuple) else (value,)))


def format_comparison(usual: list[Measurement], varied: list[Measurement]) -> str:
    before = np.concatenate([outcome.values for outcome in usual])
    after = np.concatenate([outcome.values for outcome in varied])
    change = 100 * (after - before) / np.abs(before)
    passes = np.exp(np.mean([np.log(new.passes / old.passes) for new, old in zip(varied, usual, strict=True)]))
    seconds = sum(o.seconds for o in varied) / sum(o.seconds for o in usual)
    return (
        f"{change.mean():+8.3f} {change.max():+8.2f} {change.min():+8.2f} {(change > 1e-4).sum():4d} "
        f"{(change < -1e-4).sum():4d} {passes:7.2f} {seconds:7.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these constants")
    only = parser.parse_args().only
    warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
    cases = list(list_problems())
    usual = Constants(SwapTuning(), StageTuning())
    measure_problems(cases, usual)  # compiles what is compiled when it is first needed
    base = measure_problems(cases, usual)
    print(f"{len(cases)} problems, {sum(o.passes for o in base)} passes, {sum(o.seconds for o in base):.2f} s")
    print(f"{'constant':32s} {'value':>10s}   mean %    max %    min % rise fall  passes    time")
    for name, value, constants in list_variations(usual):
        if only is None or name in only:
            print(f"{name:32s} {value:>10s} {format_comparison(base, measure_problems(cases, constants))}", flush=True)


if __name__ == "__main__":
    main()
