"""What a lower bound for graphs with k edges is worth: the figures of docs/certificates.md.

    python benchmarks/graph_bound.py

For f(Ω) = ⟨S, Ω⟩ − log det Ω and any positive definite W with W_ii = S_ii, log det Ω ≤ ⟨W, Ω⟩ − p − log det W gives
f(Ω) ≥ p + log det W + ⟨S − W, Ω⟩; if |Ω_ij| ≤ M, then no Ω with k edges has less than

    p + log det W − 2M·(the k largest |S_ij − W_ij|).

W is improved by projected gradient steps on the relaxation Σ|Ω_ij| ≤ kM, |Ω_ij| ≤ M. The data are those of the paper's
Figure 4 (100 samples; edges with probability 0.1; condition number p), S is the correlation matrix, and k is the true
number of edges. Without a bound M from the user there is that of the eigenvalues, |Ω_ij| ≤ β/2.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import ksparse
from ksparse.datasets import make_precision
from ksparse.objectives import LogDet

Matrix = NDArray[np.float64]


def evaluate(S: Matrix, omega: Matrix) -> float:
    """f, or infinity."""
    sign, logarithm = np.linalg.slogdet(omega)
    positive = sign > 0 and np.linalg.eigvalsh(omega)[0] > 0
    return float(np.sum(S * omega) - logarithm) if positive else np.inf


def find_bound(S: Matrix, omega: Matrix, k: int, limit: float) -> float:
    """The bound at W = Ω⁻¹ with the diagonal of S."""
    W = np.linalg.inv(omega)
    scale = np.sqrt(np.diag(S) / np.diag(W))
    W = W * np.multiply.outer(scale, scale)
    sizes = np.sort(np.abs((S - W)[np.triu_indices(len(S), 1)]))[::-1]
    return float(len(S) + np.linalg.slogdet(W)[1] - 2.0 * limit * sizes[:k].sum())


def project(omega: Matrix, k: int, limit: float) -> Matrix:
    """The nearest matrix with |Ω_ij| ≤ M and Σ|Ω_ij| ≤ kM beside the diagonal."""
    above = np.triu_indices(len(omega), 1)
    values = omega[above]
    low, high = 0.0, float(np.abs(values).max(initial=0.0))
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_large = np.clip(np.abs(values) - middle, 0.0, limit).sum() > k * limit
        low, high = (middle, high) if is_large else (low, middle)
    small = np.clip(np.abs(values) - (high if low > 0 else 0.0), 0.0, limit) * np.sign(values)
    projected = np.diag(np.diag(omega))
    projected[above] = small
    return projected + np.triu(projected, 1).T


def tighten(S: Matrix, start: Matrix, k: int, limit: float, steps: int) -> float:
    """The best bound of projected gradient steps."""
    omega, length = project(start, k, limit), 1.0
    value, best = evaluate(S, omega), -np.inf
    for _ in range(steps):
        best = max(best, find_bound(S, omega, k, limit))
        gradient = S - np.linalg.inv(omega)
        length *= 2.0
        while length > 1e-12:
            trial = project(omega - length * gradient, k, limit)
            lower = evaluate(S, trial)
            if lower <= value - 1e-4 * np.sum(np.square(trial - omega)) / length:
                break
            length *= 0.5
        else:
            break
        omega, value = trial, lower
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 60])
    parser.add_argument("--steps", type=int, default=1500)
    arguments = parser.parse_args()
    print("  p  edges  f of k edges  no edge  all edges   M = beta/2   M = 1.5 max   M = max")
    for p in arguments.sizes:
        X, truth = make_precision(100, p, 0.1, random_state=0)
        S = np.corrcoef(X.T)
        k = int(np.count_nonzero(np.triu(truth, 1)))
        objective = LogDet(S)
        found = ksparse.minimize(objective, k)
        largest = float(np.abs(found.x[np.triu_indices(p, 1)]).max())
        full = np.linalg.inv(S)
        bounds = [
            tighten(S, start, k, limit, arguments.steps)
            for start, limit in ((full, 0.5 * objective.bounds.upper), (found.x, 1.5 * largest), (found.x, largest))
        ]
        line = "  ".join(f"{bound:11.3f}" for bound in bounds)
        print(f"{p:3d}  {k:5d}  {found.value:12.3f}  {p:7.3f}  {evaluate(S, full):9.3f}  {line}", flush=True)


if __name__ == "__main__":
    main()
