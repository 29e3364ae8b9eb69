"""Models of this package, and the same functions written in JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ksparse.objectives import (
    AutodiffFunction,
    Huber,
    LeastSquares,
    Logistic,
    Multinomial,
    Objective,
    Poisson,
    from_jax,
    from_torch,
)
from tests.problems import N, P, design, responses, signal

ALPHA = 0.01


class Model(NamedTuple):
    """An objective of the package, and its mean loss as a function of margins in JAX and in PyTorch."""

    own: Callable[..., Objective]
    target: Any
    jax_loss: Callable[[Any], Any]
    torch_loss: Callable[[Any], Any]
    outputs: int = 0


@cache
def make_model(name: str, n: int = N, p: int = P) -> Model:
    """A model on the standard data."""
    y = np.asarray(responses(name, signal(design(n=n, p=p))))
    if name == "logistic":
        signs = np.where(y == "yes", 1.0, -1.0)
        softplus = torch.nn.functional.softplus
        return Model(
            Logistic,
            y,
            lambda m: jnp.mean(jnp.logaddexp(0.0, -signs * m)),
            lambda m: softplus(-torch.tensor(signs) * m).mean(),
        )
    if name == "multinomial":
        return Model(
            Multinomial,
            y,
            lambda m: -jnp.mean(jax.nn.log_softmax(m)[np.arange(n), y]),
            lambda m: torch.nn.functional.cross_entropy(m, torch.tensor(y)),
            outputs=3,
        )
    if name == "poisson":
        return Model(
            Poisson,
            y,
            lambda m: jnp.mean(jnp.exp(m) - y * m),
            lambda m: (torch.exp(m) - torch.tensor(y) * m).mean(),
        )
    if name == "huber":
        return Model(
            lambda *args, **options: Huber(*args, delta=1.0, **options),
            y,
            lambda m: jnp.mean(jnp.where(jnp.abs(m - y) <= 1, 0.5 * (m - y) ** 2, jnp.abs(m - y) - 0.5)),
            lambda m: torch.nn.functional.huber_loss(m, torch.tensor(y)),
        )
    return Model(
        LeastSquares,
        y,
        lambda m: 0.5 * jnp.sum((m - y) ** 2) / n,
        lambda m: 0.5 * ((m - torch.tensor(y)) ** 2).sum() / n,
        outputs=2 if name == "multiresponse" else 0,
    )


MODELS = ["least squares", "logistic", "poisson", "huber", "multiresponse", "multinomial"]


@cache
def make_own(name: str, n: int = N, p: int = P, fit_intercept: bool = False) -> Objective:
    """The objective of the package."""
    model = make_model(name, n, p)
    return model.own(design(n=n, p=p), model.target, alpha=ALPHA, fit_intercept=fit_intercept)


@cache
def make_autodiff(name: str, package: str, columns: bool = False, n: int = N, p: int = P) -> AutodiffFunction:
    """The same function by automatic differentiation."""
    model, X = make_model(name, n, p), design(n=n, p=p)
    shape = (p, model.outputs) if model.outputs else p
    if package == "jax":
        return from_jax(
            lambda w, chosen=slice(None): model.jax_loss(jnp.asarray(X)[:, chosen] @ w) + 0.5 * ALPHA * jnp.sum(w**2),
            shape,
            columns=columns,
        )
    return from_torch(
        lambda w, chosen=slice(None): model.torch_loss(torch.tensor(X)[:, chosen] @ w) + 0.5 * ALPHA * (w**2).sum(),
        shape,
        columns=columns,
    )


@cache
def make_with_intercept(name: str, package: str, columns: bool = False) -> AutodiffFunction:
    """The same function of a dict of coefficients and a free intercept."""
    model, X = make_model(name), design()
    start = {"intercept": np.zeros(model.outputs or ()), "w": np.zeros((P, model.outputs) if model.outputs else P)}
    sparse = {"w": 0} if model.outputs else "w"
    if package == "jax":

        def loss(q: Any, chosen: Any = slice(None)) -> Any:
            margins = jnp.asarray(X)[:, chosen] @ q["w"] + q["intercept"]
            return model.jax_loss(margins) + 0.5 * ALPHA * jnp.sum(q["w"] ** 2)

        return from_jax(loss, start, sparse=sparse, columns=columns)

    def torch_loss(q: Any, chosen: Any = slice(None)) -> Any:
        margins = torch.tensor(X)[:, chosen] @ q["w"] + q["intercept"]
        return model.torch_loss(margins) + 0.5 * ALPHA * (q["w"] ** 2).sum()

    return from_torch(
        torch_loss, {name: torch.tensor(array) for name, array in start.items()}, sparse=sparse, columns=columns
    )
