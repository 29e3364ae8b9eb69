"""What f, its gradient and its Hessian on a support cost with more and more features, with and without columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch

import ksparse
from ksparse.objectives import AutodiffFunction, from_jax, from_torch
from ksparse.objectives.base import compute_hessian

__all__ = ["measure_costs"]

#: Samples, numbers of features, and how often f is evaluated on the support.
SAMPLES, FEATURES, REPEATS = 200, (1000, 10_000, 100_000), 15
RIDGE = 5e-3


def measure_costs() -> str:
    """The table of docs/functions.md: milliseconds on a support of five features, and seconds of a second search."""
    lines = ["| p | JAX | JAX, columns | PyTorch, columns |", "|---|---|---|---|"]
    for p in FEATURES:
        cells = (_measure(make(p)) for make in (_make_in_jax, _make_of_columns, _make_in_torch))
        lines.append(f"| {p:,} | " + " | ".join(f"{1e3 * one:.2f} ms; {search:.2f} s" for one, search in cells) + " |")
    return "\n".join(lines)


def _draw(p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLES, p))
    return X, np.where(X[:, 7] - X[:, p // 2] + X[:, p - 5] + 0.5 * rng.logistic(size=SAMPLES) > 0, 1.0, -1.0)


def _make_in_jax(p: int) -> AutodiffFunction:
    X, y = _draw(p)
    return from_jax(lambda w: jnp.mean(jnp.logaddexp(0.0, -y * (X @ w))) + RIDGE * jnp.sum(w**2), p)


def _make_of_columns(p: int) -> AutodiffFunction:
    X, y = _draw(p)

    def loss(w: Any, columns: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -y * (jnp.asarray(X)[:, columns] @ w))) + RIDGE * jnp.sum(w**2)

    return from_jax(loss, p, columns=True)


def _make_in_torch(p: int) -> AutodiffFunction:
    X, y = map(torch.tensor, _draw(p))

    def loss(w: Any, columns: Any) -> Any:
        return torch.nn.functional.softplus(-y * (X[:, columns] @ w)).mean() + RIDGE * (w**2).sum()

    return from_torch(loss, p, columns=True)


def _measure(objective: AutodiffFunction) -> tuple[float, float]:
    p = objective.size
    restricted = objective.restrict(np.isin(np.arange(p), [3, 7, p // 3, p // 2, p - 5]))

    def differentiate() -> None:
        point = restricted.evaluate(np.full(5, 0.1))
        _ = point.gradient, compute_hessian(restricted, point)

    seconds = [_time(differentiate) for _ in range(REPEATS)]
    searches = [_time(lambda: ksparse.minimize(objective, k=3)) for _ in range(2)]
    return float(np.median(seconds)), searches[1]


def _time(run: Callable[[], Any]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began
