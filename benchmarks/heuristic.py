"""How often `minimize` misses the best subset, and what it costs: small problems whose optimum is proved.

    python benchmarks/heuristic.py [--seeds 0 40] [--efforts 0 2] [--losses squares logistic]

Four designs with as much noise as signal, or twice as much, and mostly strong correlations; the columns are a Toeplitz
design ρ^|i−j|, in which k equal coefficients are spread evenly; alpha = .001. --seeds are the first one and how many.
The truth is `solve_exact` to a gap of 1e-9; where a proof takes more than a minute, the lowest f that is known. Counts
and CPU seconds (one thread, the faster of two runs) are medians over problems.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ksparse
from ksparse._types import Array
from ksparse.objectives import Huber, LeastSquares, Logistic, Objective, Poisson

ALPHA = 1e-3
#: n, p, k, ρ, and the variance of the signal over that of the noise.
DESIGNS = [(100, 40, 6, 0.9, 0.5), (100, 40, 6, 0.7, 0.5), (60, 30, 6, 0.95, 1.0), (200, 60, 8, 0.9, 1.0)]
#: A value that is higher by this fraction is another solution.
SAME_VALUE = 1e-7


def draw(design: tuple[int, int, int, float, float], loss: str, seed: int) -> Objective:
    """f of one problem."""
    n, p, k, rho, snr = design
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    signal = X[:, np.linspace(0, p - 1, k).astype(int)].sum(axis=1)
    return MAKERS[loss](X, signal, snr, rng)


def make_squares(X: Array, signal: Array, snr: float, rng: np.random.Generator) -> Objective:
    return LeastSquares(X, signal + np.sqrt(signal.var() / snr) * rng.standard_normal(len(X)), alpha=ALPHA)


def make_huber(X: Array, signal: Array, snr: float, rng: np.random.Generator) -> Objective:
    y = signal + np.sqrt(signal.var() / snr) * rng.standard_normal(len(X))
    return Huber(X, y / y.std(), alpha=ALPHA)


def make_logistic(X: Array, signal: Array, snr: float, rng: np.random.Generator) -> Objective:
    return Logistic(X, rng.random(len(X)) < 1.0 / (1.0 + np.exp(-2.0 * signal / signal.std())), alpha=ALPHA)


def make_poisson(X: Array, signal: Array, snr: float, rng: np.random.Generator) -> Objective:
    return Poisson(X, rng.poisson(np.exp(signal / signal.std())), alpha=ALPHA)


MAKERS: dict[str, Callable[[Array, Array, float, np.random.Generator], Objective]] = {
    "squares": make_squares,
    "huber": make_huber,
    "logistic": make_logistic,
    "poisson": make_poisson,
}


@dataclass(frozen=True)
class Fit:
    """One fit: f, CPU seconds, refits and passes over the data."""

    value: float
    seconds: float
    refits: int
    passes: int


def fit(design: Any, loss: str, seed: int, effort: int) -> Fit:
    """Fit one problem twice, from the beginning."""
    fits = []
    for _ in range(2):
        objective = draw(design, loss, seed)
        began = time.process_time()
        value = ksparse.minimize(objective, design[2], effort=effort).value
        seconds, counters = time.process_time() - began, objective.counters
        fits.append(Fit(value, seconds, counters.restrictions, counters.passes))
    return min(fits, key=lambda found: found.seconds)


def measure(designs: list[Any], loss: str, seeds: range, efforts: list[int]) -> None:
    """Print a line for each level of effort."""
    problems = [(design, seed) for design in designs for seed in seeds]
    proofs = [
        ksparse.solve_exact(draw(design, loss, seed), design[2], gap=1e-9, time_limit=60.0) for design, seed in problems
    ]
    fits = {effort: [fit(design, loss, seed, effort) for design, seed in problems] for effort in efforts}
    lowest = np.min([[proof.value for proof in proofs], *([f.value for f in fits[e]] for e in efforts)], axis=0)
    unproved = sum(proof.gap > SAME_VALUE for proof in proofs)
    for effort in efforts:
        misses = [found.value > low + SAME_VALUE * abs(low) for found, low in zip(fits[effort], lowest, strict=True)]
        of_designs = " + ".join(str(sum(part)) for part in np.array_split(misses, len(designs)))
        seconds, refits, passes = (
            float(np.median([getattr(found, name) for found in fits[effort]]))
            for name in ("seconds", "refits", "passes")
        )
        print(
            f"{loss:8s} effort {effort}: {sum(misses)} of {len(problems)} missed ({of_designs}; {unproved} unproved), "
            f"{1000 * seconds:.2f} ms, {refits:.0f} refits, {passes:.0f} passes",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 40], metavar=("FIRST", "COUNT"))
    parser.add_argument("--efforts", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--losses", nargs="+", choices=list(MAKERS), default=["squares"])
    arguments = parser.parse_args()
    first, count = arguments.seeds
    for loss in arguments.losses:
        measure(DESIGNS, loss, range(first, first + count), arguments.efforts)


if __name__ == "__main__":
    main()
