"""Shrinkage of graphs on the paper's simulation (Figure 4), compared with the graphical lasso.

    python benchmarks/graph_shrinkage.py [--sizes 30 60 120 200] [--seeds 20 30] [--standardize]

Ω̄ has an edge for each pair with probability 0.1 and the condition number p; 100 samples to fit Ω, and 100 to tune: the
likelihood of the tuning sample chooses k and the shrinkage together, and the penalty of scikit-learn's graphical lasso.
"best" takes the largest likelihood. "near" counts likelihoods within 0.2 of a standard error as equal: it takes the
smallest shrinkage whose best likelihood is that near to the largest, and with it the fewest edges that are that near to
its best; the margin was found on seeds 20 to 39. "SparsePrecisionCV" has grids of its own, and "near" as its default;
the other methods have those of this script. For comparison, "graphical lasso, near" takes the smallest penalty in the
same way.

All methods work on the covariance, as in the paper; with --standardize, on the correlations. Frobenius errors and
F-scores are means over the seeds; a pair is found if its entry exceeds 1e-3. The last columns are the mean differences
of errors and F-scores to the graphical lasso's, with their standard errors.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ksparse
from ksparse import SparsePrecision, SparsePrecisionCV
from ksparse.datasets import make_precision
from ksparse.solvers import GLasso

Array = NDArray[np.float64]

#: With what the others are compared.
LASSO = "graphical lasso"
#: The estimator that chooses.
CHOSEN = "SparsePrecisionCV"
#: Samples to fit Ω, and as many to tune.
N = 100
#: The grids: numbers of edges as fractions of the number of pairs, shrinkages, and penalties of the graphical lasso as
#: fractions of the largest covariance, decreasing.
FRACTIONS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3)
FACTORS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
AMOUNTS = tuple(float(f"{10 ** (-step / 12):.3f}") for step in range(9, 17))
PENALTIES = tuple(10 ** (-step / 12) for step in range(1, 31))
#: Smaller penalties are not tried after this many without a new best, nor entries up to this size counted.
PATIENCE, NONZERO = 3, 1e-3
#: Likelihoods that differ by no more than this many standard errors count as equal.
INDIFFERENCE = 0.2


@dataclass(frozen=True)
class Candidate:
    """A fitted Ω: its shrinkage or penalty, its edges, the loss of each tuning sample, its error and its F-score."""

    shrinkage: float
    edges: int
    losses: Array
    error: float
    f_score: float

    @property
    def loss(self) -> float:
        return float(self.losses.mean())

    @property
    def standard_error(self) -> float:
        return float(self.losses.std(ddof=1)) / np.sqrt(len(self.losses))


@dataclass(frozen=True)
class Data:
    """Samples to fit and samples to tune, both less the mean of the first, and the true Ω."""

    fitting: Array
    tuning: Array
    truth: Array

    def judge(self, omega: Array, shrinkage: float) -> Candidate:
        """Compare Ω with the truth and with the tuning samples."""
        found, true = (np.abs(matrix[np.triu_indices(len(omega), 1)]) > NONZERO for matrix in (omega, self.truth))
        losses = np.einsum("ij,jk,ik->i", self.tuning, omega, self.tuning, optimize=True) - np.linalg.slogdet(omega)[1]
        score = 2.0 * float((found & true).sum()) / max(int(found.sum() + true.sum()), 1)
        return Candidate(shrinkage, int(found.sum()), losses, float(np.linalg.norm(omega - self.truth)), score)


def simulate(p: int, seed: int) -> Data:
    X, truth = make_precision(2 * N, p, 0.1, random_state=seed)
    X = X - X[:N].mean(axis=0)
    return Data(X[:N], X[N:], truth)


def fit_graphs(data: Data, shrinkage: float, by: str, standardize: bool) -> Iterator[Candidate]:
    """Graphs with all numbers of edges of the grid, and one shrinkage."""
    p = len(data.truth)
    model = SparsePrecision(shrinkage=shrinkage, shrink_by=by, standardize=standardize, assume_centered=True)
    ks = sorted({round(fraction * p * (p - 1) / 2) for fraction in FRACTIONS})
    path = ksparse.precision_path(data.fitting, ks, estimator=model)
    for matrix in path.precision:
        yield data.judge(matrix.toarray(), shrinkage)


def fit_chosen(data: Data, rule: str, standardize: bool) -> Candidate:
    """The graph with the number of edges and the shrinkage that `SparsePrecisionCV` chooses on one split."""
    options: dict[str, Any] = {"standardize": standardize, "assume_centered": True}
    split = np.arange(N), N + np.arange(N)
    chosen = SparsePrecisionCV(cv=[split], rule=rule, **options).fit(np.vstack([data.fitting, data.tuning]))
    model = SparsePrecision(chosen.k_, shrinkage=chosen.shrinkage_, shrink_by=chosen.shrink_by, **options)
    return data.judge(model.fit(data.fitting).precision_, chosen.shrinkage_)


def fit_lasso(data: Data, standardize: bool) -> list[Candidate]:
    """Graphical lassos with decreasing penalties."""
    covariance = data.fitting.T @ data.fitting / N
    spreads = np.sqrt(covariance.diagonal()) if standardize else np.ones(len(covariance))
    units = np.multiply.outer(spreads, spreads)
    largest = float(np.abs((covariance / units)[np.triu_indices(len(covariance), 1)]).max())
    candidates: list[Candidate] = []
    for penalty in PENALTIES:
        found = GLasso().solve_penalized(covariance / units, penalty * largest)
        if found is not None:
            candidates.append(data.judge(found[0] / units, penalty))
        losses = [candidate.loss for candidate in candidates]
        if losses and len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE:
            break
    return candidates


def choose_best(candidates: list[Candidate]) -> Candidate:
    return min(candidates, key=lambda candidate: candidate.loss)


def choose_near(candidates: list[Candidate]) -> Candidate:
    """Of what is nearly as good as the best the smallest shrinkage, and then the fewest edges; of these, the best."""
    margin = INDIFFERENCE * choose_best(candidates).standard_error

    def keep_near(some: list[Candidate]) -> list[Candidate]:
        return [candidate for candidate in some if candidate.loss <= choose_best(some).loss + margin]

    smallest = min(candidate.shrinkage for candidate in keep_near(candidates))
    same = [candidate for candidate in candidates if candidate.shrinkage == smallest]
    return min(keep_near(same), key=lambda candidate: (candidate.edges, candidate.loss))


def compare(data: Data, standardize: bool) -> dict[str, Candidate]:
    """What each method chooses on one data set."""
    plain = list(fit_graphs(data, 0.0, "factor", standardize))
    by_factor = plain + [graph for s in FACTORS for graph in fit_graphs(data, s, "factor", standardize)]
    by_amount = [graph for s in AMOUNTS for graph in fit_graphs(data, s, "amount", standardize)]
    lassos = fit_lasso(data, standardize)
    return {
        LASSO: choose_best(lassos),
        f"{LASSO}, near": choose_near(lassos),
        "no shrinkage": choose_best(plain),
        "by a factor, best": choose_best(by_factor),
        "by an amount, best": choose_best(by_amount),
        "by an amount, near": choose_near(by_amount),
        **{f"{CHOSEN}, {rule}": fit_chosen(data, rule, standardize) for rule in ("best", "near")},
    }


def print_table(p: int, runs: list[dict[str, Candidate]]) -> None:
    for name in runs[0]:
        chosen, lassos = ([(run[key].error, run[key].f_score) for run in runs] for key in (name, LASSO))
        error, score = np.mean(chosen, axis=0)
        differences = np.subtract(chosen, lassos)
        spreads = differences.std(axis=0, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.full(2, np.nan)
        (by_error, by_score), edges = differences.mean(axis=0), np.mean([run[name].edges for run in runs])
        print(
            f"{p:4d}  {name:23s} {error:8.2f} {score:8.3f} {edges:7.0f} {by_error:+10.2f} ± {spreads[0]:.2f}"
            f" {by_score:+10.3f} ± {spreads[1]:.3f}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Shrinkage of graphs, compared with the graphical lasso")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 60, 120, 200])
    parser.add_argument(
        "--seeds", type=int, nargs=2, default=[20, 30], help="the first seed, and the one after the last"
    )
    parser.add_argument("--standardize", action="store_true", help="work on the correlations")
    options = parser.parse_args(arguments)
    titles = f"{'error':>8s} {'F-score':>8s} {'edges':>7s} {'error - lasso':>17s} {'F - lasso':>18s}"
    print(f"{'p':>4s}  {'method':23s} {titles}")
    for p in options.sizes:
        print_table(p, [compare(simulate(p, seed), options.standardize) for seed in range(*options.seeds)])


if __name__ == "__main__":
    main()
