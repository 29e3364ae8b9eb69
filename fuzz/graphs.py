"""Precision matrices against truth: stationarity, the best of all graphs; discriminants by closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import ksparse

from .data import Choose
from .outcomes import Missed, Refused, check_status, demand, refuse_clearly

__all__ = ["Graph", "check_discriminant", "check_graph", "draw_discriminant", "draw_graph", "fit_graph"]

#: Largest entry of Ω⁻¹ − Σ on the graph, for correlations.
STATIONARY = 1e-5
SAME_VALUE = 1e-7
#: Largest difference of probabilities.
SAME_PROBABILITY = 1e-6


@dataclass(frozen=True)
class Graph:
    """Samples of some variables, and a number of edges."""

    seed: int
    n: int
    p: int
    k: int
    data: str = "chain"
    shrinkage: float = 0.0
    classes: int = 1
    exponent: int = 0

    def draw_samples(self) -> tuple[Any, Any]:
        """Samples, and labels that shift their means."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.p))
        if self.data == "chain":
            X = np.cumsum(X, axis=1)
        elif self.data == "factor":
            X += 2.0 * rng.standard_normal((self.n, 1))
        elif self.data == "collinear":
            X[:, -1] = X[:, 0] + 10.0 ** rng.uniform(-4, -1) * X[:, -1]
        elif self.data == "integers":
            X = rng.integers(-2, 3, X.shape).astype(float)
        elif self.data == "means":
            X += 10.0 ** rng.integers(2, 9, self.p)
        y = np.arange(self.n) % self.classes
        X += rng.standard_normal((self.classes, self.p))[y]
        return X * 2.0 ** (self.exponent * rng.integers(-1, 2, self.p)), y


def draw_graph(choose: Choose) -> Graph:
    """A graph, small enough to try all others with as many edges."""
    p = choose((3, 4, 2, 5, 8))
    return Graph(
        seed=choose(range(2**16)),
        n=choose((30, 100, 12)),
        p=p,
        k=choose(range(p * (p - 1) // 2 + 2)),
        data=choose(("chain", "factor", "integers", "means", "collinear")),
        shrinkage=choose((0.0, 0.1, 0.5)),
        exponent=choose((0, 1, 10, 40, 150)),
    )


def check_graph(case: Graph) -> None:
    """Ω·Σ = I, value = f(Ω), at most k edges, stationarity, and no better graph."""
    X, _ = case.draw_samples()
    model = _fit(ksparse.SparsePrecision(k=case.k, shrinkage=case.shrinkage), X)
    covariance = np.cov(X.T, bias=True).reshape(case.p, case.p)
    spreads = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(spreads, spreads)
    target = (1.0 - case.shrinkage) * correlations + case.shrinkage * np.eye(case.p)
    omega = model.precision_ * np.outer(spreads, spreads)
    edges = np.argwhere(np.triu(omega, 1))
    room = np.finfo(float).eps * np.linalg.cond(target) * 100 + 1e-9
    demand(len(edges) <= case.k and len(model.edges_) == len(edges), f"{len(edges)} edges, but k = {case.k}")
    demand(np.array_equal(model.precision_, model.precision_.T), "Ω is not symmetric")
    product = omega @ (model.covariance_ / np.outer(spreads, spreads))
    demand(np.abs(product - np.eye(case.p)).max() <= room, "Ω·Σ is not the identity")
    value = compute_value(omega, target)
    demand(abs(model.result_.value - value) <= room * (1 + abs(value)), f"{model.result_.value!r}, but f is {value!r}")
    if not model.result_.success or "bound" in model.result_.message:
        raise Refused(model.result_.message)
    inverse = np.linalg.inv(omega)
    on_graph = (omega != 0) | np.eye(case.p, dtype=bool)
    error = np.abs(np.where(on_graph, inverse - target, 0.0)).max()
    demand(
        error <= STATIONARY + 1e-11 * np.linalg.cond(target) + room,
        f"Ω⁻¹ differs from the covariance by {error:g} on the graph",
    )
    if case.p <= 4:
        _check_best(case, X, target, value)


def _check_best(case: Graph, X: Any, target: Any, value: float) -> None:
    pairs = list(combinations(range(case.p), 2))
    graphs = list(combinations(pairs, min(case.k, len(pairs))))
    best = min(compute_value(fit_graph(target, graph), target) for graph in graphs)
    room = SAME_VALUE * (1 + abs(best)) * max(1.0, np.linalg.cond(target) * 1e-6)
    demand(value >= best - room, f"f = {value!r} is below the lowest of all graphs, {best!r}")
    if value > best + room:
        harder = _fit(ksparse.SparsePrecision(k=case.k, shrinkage=case.shrinkage, effort=5), X)
        demand(harder.result_.value <= best + room, f"f = {value!r}, but {best!r} of another graph")
        raise Missed(f"f = {value!r}, but {best!r} of another graph")


def compute_value(omega: Any, covariance: Any) -> float:
    """−log det Ω + ⟨Σ, Ω⟩."""
    sign, logarithm = np.linalg.slogdet(omega)
    return float(np.sum(covariance * omega) - logarithm) if sign > 0 else np.inf


def fit_graph(covariance: Any, edges: Any, sweeps: int = 20_000) -> Any:
    """Ω with these edges whose inverse is the covariance on them: regressions of each variable on its neighbours.

    T. Hastie, R. Tibshirani, J. Friedman, *The Elements of Statistical Learning*, 2009, Algorithm 17.1.
    """
    p = len(covariance)
    neighbours = [[j for j in range(p) if (min(i, j), max(i, j)) in set(edges)] for i in range(p)]
    W = covariance.copy()
    for _ in range(sweeps):
        before = W.copy()
        for i, near in enumerate(neighbours):
            others = [j for j in range(p) if j != i]
            slopes = np.linalg.solve(W[np.ix_(near, near)], covariance[near, i]) if near else np.zeros(0)
            W[others, i] = W[i, others] = W[np.ix_(others, near)] @ slopes
        if np.abs(W - before).max() < 1e-15:
            break
    omega = np.zeros((p, p))
    for i, near in enumerate(neighbours):
        slopes = np.linalg.solve(W[np.ix_(near, near)], covariance[near, i]) if near else np.zeros(0)
        omega[i, i] = 1.0 / (covariance[i, i] - covariance[i, near] @ slopes)
        omega[near, i] = -slopes * omega[i, i]
    return 0.5 * (omega + omega.T)


def draw_discriminant(choose: Choose) -> Graph:
    """Samples of several classes, for a graph with all edges."""
    p = choose((2, 3, 5, 8))
    data = choose(("chain", "factor", "means", "collinear"))
    sizes: dict[str, Any] = {"n": choose((40, 100, 25)), "p": p, "k": p * (p - 1) // 2}
    return Graph(seed=choose(range(2**16)), data=data, classes=choose((2, 3, 4)), **sizes)


def check_discriminant(case: Graph) -> None:
    """With all edges, the probabilities are those of the closed form, and near those of scikit-learn."""
    X, y = case.draw_samples()
    model = _fit(ksparse.SparseDiscriminantAnalysis(k=case.k), X, y)
    if not model.result_.success or "bound" in model.result_.message:
        raise Refused(model.result_.message)
    truth, condition = _compute_probabilities(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearDiscriminantAnalysis(solver="svd", tol=1e-10).fit(X, y).predict_proba(X)
    # Large means leave fewer digits of the differences, but no worse than in proportion to the means.
    lost = float((np.abs(X).max(axis=0) / X.std(axis=0)).max())
    room = SAME_PROBABILITY + 1e-14 * condition + 1e-12 * lost
    for name, expected in (("the closed form", truth), ("scikit-learn", peer)):
        difference = np.abs(model.predict_proba(X) - expected).max()
        demand(difference <= room, f"probabilities differ by {difference:g} from {name}; condition {condition:g}")
    sums = model.predict_proba(X).sum(axis=1)
    demand(np.allclose(sums, 1.0, atol=1e-12), f"probabilities add up to {sums}")


def _compute_probabilities(X: Any, y: Any) -> tuple[Any, float]:
    """Probabilities of the classes by Bayes' formula, and the condition number of the correlations in the classes."""
    Z = X - X.mean(axis=0)
    means = np.array([Z[y == label].mean(axis=0) for label in np.unique(y)])
    centred = Z - means[y]
    spreads = np.sqrt(np.mean(np.square(centred), axis=0))
    correlations = (centred / spreads).T @ (centred / spreads) / len(X)
    slopes = np.linalg.solve(correlations, (means / spreads).T)
    margins = (Z / spreads) @ slopes - 0.5 * np.sum((means / spreads).T * slopes, axis=0)
    return softmax(margins + np.log(np.bincount(y) / len(y)), axis=1), float(np.linalg.cond(correlations))


def _fit(model: Any, *data: Any) -> Any:
    with refuse_clearly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ksparse.ConvergenceWarning)
        model.fit(*data)
    check_status(model.result_, bool(caught))
    return model
