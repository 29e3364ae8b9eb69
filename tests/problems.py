"""The table of objectives, sparsity sets and solvers that the same checks run over, and the oracles they meet."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch

import ksparse
from ksparse._types import AnyArray, Array, Mask
from ksparse.counters import Counters
from ksparse.debias import GradientStep, NewtonStep
from ksparse.objectives import (
    Function,
    Gamma,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Objective,
    Ordinal,
    Poisson,
    Quadratic,
    Quantile,
    SquaredHinge,
    Tweedie,
    from_jax,
    from_torch,
)
from ksparse.solvers import Backtracking, BarzilaiBorwein, Lipschitz, Normalized, Solver
from ksparse.sparsity import Entries, Groups, Rows, Sparsity

N, P, CLASSES = 40, 9, 3


def design(seed: int = 0, n: int = N, p: int = P, correlation: float = 0.3) -> Array:
    """Rows of an autoregressive Gaussian, of different scales and means by column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return X * np.linspace(0.5, 2.0, p) + np.linspace(-0.5, 0.5, p)


def signal(X: Array, seed: int = 0) -> Array:
    """A linear signal in three columns."""
    rng = np.random.default_rng(seed + 1000)
    w = np.zeros(X.shape[1])
    w[rng.choice(X.shape[1], min(3, X.shape[1]), replace=False)] = rng.uniform(0.6, 1.2, min(3, X.shape[1]))
    return X @ w


def draw_survival(
    margins: Array, seed: int = 0, *, ties: bool = True, entry: bool = False, strata: bool = False
) -> AnyArray:
    """Times with hazards exp(margins), a third of them censored, and ties, entry times and strata if asked for."""
    rng = np.random.default_rng(seed)
    n = len(margins)
    times = rng.exponential(np.exp(-margins)) + 0.05
    entries = rng.uniform(0, 0.6, n) * times * (rng.random(n) < 0.7)
    if ties:
        times, entries = np.ceil(times * 5) / 5, np.floor(entries * 5) / 5
    labels = np.array(["b", "a", "c"])[np.arange(n) % 3]
    return ksparse.make_survival_target(
        times, rng.random(n) < 0.67, entry=entries if entry else None, strata=labels if strata else None
    )


def responses(kind: str, margins: Array, seed: int = 0) -> Any:
    """Responses of a kind of model for given margins."""
    rng = np.random.default_rng(seed + 2000)
    noise = rng.standard_normal(margins.size)
    if kind in ("logistic", "hinge"):
        return np.where(margins + noise > margins.mean(), "yes", "no")
    if kind in ("multinomial", "hinge of classes", "ordinal"):
        return np.digitize(margins + 0.5 * noise, np.quantile(margins, [0.35, 0.7]))
    if kind == "cox":
        return draw_survival(margins - margins.mean(), seed, ties=False)
    means = np.exp(np.clip(0.4 * margins, -3, 3))
    if kind == "poisson":
        return rng.poisson(means)
    if kind == "negative binomial":
        return rng.poisson(means * rng.gamma(2.0, 0.5, margins.size))
    if kind == "gamma":
        return means * rng.gamma(2.0, 0.5, margins.size)
    if kind == "tweedie":
        return np.array([rng.gamma(1.0, 1.0, count).sum() for count in rng.poisson(means)])
    if kind == "multiresponse":
        return np.column_stack([margins + noise, noise - margins])
    return margins + 0.5 * noise


LINEAR: dict[str, type[Any]] = {
    "least squares": LeastSquares,
    "multiresponse": LeastSquares,
    "logistic": Logistic,
    "multinomial": Multinomial,
    "poisson": Poisson,
    "huber": Huber,
    "hinge": SquaredHinge,
    "hinge of classes": SquaredHinge,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "negative binomial": NegativeBinomial,
    "quantile": Quantile,
    "ordinal": Ordinal,
}

#: Kinds with several outputs: of the iterate, a row belongs to a feature.
MATRIX = ["multiresponse", "multinomial", "hinge of classes"]
#: Kinds of which a constant in all margins changes nothing: they have no intercept.
CONSTANTS_IGNORED = ["ordinal"]
#: Kinds whose curvature has no bound.
UNBOUNDED = ["poisson", "gamma", "tweedie"]


def linear(kind: str, X: Any = None, seed: int = 0, **options: Any) -> Any:
    """A linear objective of a kind on the standard data, or on another form of the same data."""
    dense = design(seed)
    y = responses(kind, signal(dense, seed), seed)
    options.setdefault("alpha", 0.01)
    return LINEAR[kind](dense if X is None else X, y, **without_intercept(kind, options))


def without_intercept(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options without an intercept, where the kind of objective has none."""
    return {name: value for name, value in options.items() if name != "fit_intercept" or kind not in CONSTANTS_IGNORED}


def quadratic(seed: int = 0) -> Quadratic:
    X = design(seed)
    return Quadratic(X.T @ X / N + 0.05 * np.eye(P), X.T @ signal(X, seed) / N)


def function(seed: int = 0, with_hessian: bool = False) -> Function:
    """A smooth convex function that is not a linear model: log-cosh of correlated residuals."""
    X = design(seed)[:20]
    target = signal(X, seed)
    return Function(
        lambda x: float(np.mean(np.log(np.cosh(X @ x - target))) + 0.01 * x @ x),
        gradient=lambda x: X.T @ np.tanh(X @ x - target) / 20 + 0.02 * x,
        hessian=(lambda x: (X.T / np.cosh(X @ x - target) ** 2) @ X / 20 + 0.02 * np.eye(P)) if with_hessian else None,
        shape=P,
    )


@cache
def make_autodiff(package: str) -> Objective:
    """The function above, differentiated by JAX on the columns of a support, or by PyTorch on all of them."""
    X = design()[:20]
    target = signal(X)
    if package == "jax":

        def loss(x: Any, columns: Any) -> Any:
            return jnp.mean(jnp.log(jnp.cosh(jnp.asarray(X)[:, columns] @ x - target))) + 0.01 * x @ x

        return from_jax(loss, P, columns=True)
    data, response = torch.tensor(X), torch.tensor(target)
    return from_torch(lambda x: torch.log(torch.cosh(data @ x - response)).mean() + 0.01 * x @ x, P)


def autodiff(package: str) -> Objective:
    """The same with counters and curvature of its own; what has been compiled is shared."""
    objective: Any = copy.copy(make_autodiff(package))
    objective.counters, objective._shared = Counters(), type(objective._shared)()
    return objective


OBJECTIVES: dict[str, Callable[[], Objective]] = {
    **{kind: (lambda kind=kind: linear(kind)) for kind in LINEAR},  # type: ignore[misc]
    "logistic with intercept": lambda: linear("logistic", fit_intercept=True),
    "multinomial with intercept": lambda: linear("multinomial", fit_intercept=True),
    "poisson with intercept": lambda: linear("poisson", fit_intercept=True),
    "quadratic": quadratic,
    "function": function,
    "function with hessian": lambda: function(with_hessian=True),
    "jax": lambda: autodiff("jax"),
    "torch": lambda: autodiff("torch"),
}

GROUPS = ["c", "a", "b", "a", "c", "b", "d", "d", "a"]

SPARSITY: dict[str, Callable[[int], Sparsity]] = {
    "entries": lambda ndim: Entries(3),
    "always": lambda ndim: Entries(3, always=[0, 4]),
    "nonnegative": lambda ndim: Entries(3, lower=0.0),
    "box": lambda ndim: Entries(3, lower=-0.2, upper=0.4),
    "groups": lambda ndim: Groups(2, GROUPS),
    "groups with always": lambda ndim: Groups(2, GROUPS, always=["d"], upper=0.5),
    "rows": lambda ndim: Rows(3) if ndim == 2 else Entries(3),
}

SOLVERS: dict[str, Callable[[], Solver]] = {
    "default": ksparse.SwapGraHTP,
    "GraHTP": lambda: ksparse.GraHTP(step=Normalized()),
    "GraHTP scaled backtracking": lambda: ksparse.GraHTP(step=Backtracking(scaled=True)),
    "GraHTP Barzilai-Borwein": lambda: ksparse.GraHTP(step=BarzilaiBorwein()),
    "GraHTP one Newton step": lambda: ksparse.GraHTP(step=Normalized(scaled=True), debias=NewtonStep()),
    "GraHTP one gradient step": lambda: ksparse.GraHTP(step=Normalized(scaled=True), debias=GradientStep()),
    "FGraHTP": lambda: ksparse.FGraHTP(step=Normalized(scaled=True)),
    "FGraHTP backtracking": lambda: ksparse.FGraHTP(step=Backtracking(scaled=True)),
    "GraSP": ksparse.GraSP,
    "FBS": ksparse.FBS,
}

#: Methods of the paper as it states them, on data where 1/L is known.
PAPER_SOLVERS: dict[str, Callable[[], Solver]] = {
    "GraHTP": lambda: ksparse.GraHTP(step=Lipschitz()),
    "FGraHTP": lambda: ksparse.FGraHTP(step=Lipschitz()),
    "GraSP": ksparse.GraSP,
    "FBS": ksparse.FBS,
}


def supports(p: int, k: int) -> Iterator[Mask]:
    """All supports of size k."""
    for chosen in combinations(range(p), k):
        mask = np.zeros(p, dtype=bool)
        mask[list(chosen)] = True
        yield mask
