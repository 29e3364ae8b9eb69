"""ksparse and its peers for regressions, each in its best settings.

A method is a function of a task that prepares what its users would have prepared (untimed), and gives back a function
without arguments (timed) that returns the indices of the selected features. One that has a grid of settings is run with
each of them, and judged by the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .bisection import bisected, liblinear_l1
from .graph_methods import GRAPH_METHODS
from .tasks import Task

__all__ = ["METHODS", "OURS", "Method", "Run"]

#: The timed part: selects.
Run = Callable[[], Any]
OURS = "ksparse"
#: Steps of skscope's HTP and IHT, as multiples of 1/L, where L is the Lipschitz constant of the gradient.
STEPS = (4.0, 16.0, 64.0)
#: Tolerance of skglm's estimators, as a share of the largest penalty.
ACCURACY = 1e-4
#: Ridges of fastsparsegams, which scales the features: with that of the objective it selects far too little.
RIDGES = (1e-3, 1e-5)


@dataclass(frozen=True)
class Method:
    """How a package is used.

    Attributes
    ----------
    prepare : callable
        ``prepare(task, threads, setting)`` gives the function that is timed.
    settings : tuple of float
        The grid; one entry, None, if there is nothing to choose.
    note : str
        What a reader of the tables should know.
    """

    prepare: Callable[[Task, int, Any], Run]
    settings: tuple[Any, ...] = (None,)
    note: str = ""


def _simple(select: Callable[[Task], Any]) -> Callable[[Task, int, Any], Run]:
    """A method that prepares nothing."""
    return partial(_bound, select)


def _bound(select: Callable[[Task], Any], task: Task, threads: int, setting: None) -> Run:
    return partial(select, task)


# --- ksparse ------------------------------------------------------------------------------------------------


def _estimator(task: Task) -> Any:
    import ksparse

    model = ksparse.SparseLinearRegression if task.kind == "linear" else ksparse.SparseLogisticRegression
    return model(task.k, alpha=task.alpha, fit_intercept=False)


def _ksparse(task: Task) -> Any:
    return _estimator(task).fit(task.X, task.y).get_support(indices=True)


def _ksparse_with_effort(task: Task) -> Any:
    return _estimator(task).set_params(effort=1).fit(task.X, task.y).get_support(indices=True)


def _ksparse_path(task: Task) -> Any:
    import ksparse

    return np.flatnonzero(ksparse.path(task.X, task.y, task.ks, _estimator(task)).coef[-1].ravel())


# --- skscope ------------------------------------------------------------------------------------------------


def _skscope(name: str, compiled: bool, task: Task, threads: int, multiple: float | None) -> Run:
    """A solver of skscope on the objective in JAX, compiled by it in each run, or before."""
    import jax
    import jax.numpy as jnp
    import skscope

    features, labels = jnp.array(task.X), jnp.array(task.y)

    def loss(w: Any) -> Any:
        margins = features @ w
        losses = jnp.logaddexp(0, -labels * margins) if task.kind == "logistic" else 0.5 * (labels - margins) ** 2
        return jnp.mean(losses) + task.alpha / 2 * jnp.sum(w**2)

    value, slope = jax.jit(loss), jax.jit(jax.grad(loss))
    options = {} if multiple is None else {"step_size": multiple / _lipschitz(task)}
    if compiled:
        for function in (value, slope):
            function(np.zeros(task.X.shape[1]))

    def run() -> Any:
        solver = getattr(skscope, name)(task.X.shape[1], task.k, **options)
        if compiled:
            solution = solver.solve(lambda w: value(w), gradient=lambda w: slope(w))
        else:
            solution = solver.solve(loss, jit=True)
        return np.flatnonzero(np.asarray(solution))

    return run


def _lipschitz(task: Task) -> float:
    largest = float(sparse.linalg.svds(task.X, k=1, return_singular_vectors=False, random_state=0)[0])
    return largest**2 / len(task.y) * (0.25 if task.kind == "logistic" else 1.0) + task.alpha


def _skscope_methods() -> dict[str, Method]:
    methods = {}
    for label, name in (
        ("Scope", "ScopeSolver"),
        ("OMP", "OMPSolver"),
        ("FoBa", "FobaSolver"),
        ("GraSP", "GraspSolver"),
    ):
        methods[f"skscope {label}"] = Method(partial(_skscope, name, True))
        methods[f"skscope {label}, compiling"] = Method(
            partial(_skscope, name, False), note="the objective is compiled in each run, as skscope's users do"
        )
    for label, name in (("HTP", "HTPSolver"), ("IHT", "IHTSolver")):
        note = (
            f"the best of the steps {', '.join(f'{step:g}/L' for step in STEPS)}; the time is that of this step alone"
        )
        methods[f"skscope {label}"] = Method(partial(_skscope, name, True), STEPS, note)
    return methods


# --- abess --------------------------------------------------------------------------------------------------


def _abess(search: int, task: Task, threads: int, setting: None) -> Run:
    """abess with the ridge of f, which it adds to the sum of the losses of a logistic model."""
    import abess

    sizes = task.ks or task.k
    options: dict[str, Any] = {
        "support_size": sizes,
        "fit_intercept": False,
        "thread": threads,
        "important_search": search,
    }
    # With many sizes it takes one by a criterion; the loss itself is lowest at the last.
    options |= {"ic_type": "loss"} if task.ks else {}
    if task.kind == "linear":
        return lambda: np.flatnonzero(abess.LinearRegression(alpha=task.alpha, **options).fit(task.X, task.y).coef_)
    ridge = 0.5 * len(task.y) * task.alpha
    return lambda: np.flatnonzero(abess.LogisticRegression(alpha=ridge, **options).fit(task.X, task.y > 0).coef_)


# --- L1 and other penalties ---------------------------------------------------------------------------------


def _skglm(make: Callable[..., Any], task: Task) -> Any:
    """A penalized estimator of skglm, bisected to k features; each fit starts from the one before."""
    largest = np.abs(task.X.T @ task.y).max() / len(task.y) * (1.0 if task.kind == "linear" else 0.5)
    # Its tolerance is one of the gradient, whose unit is that of the penalty.
    model = make(fit_intercept=False, warm_start=True, tol=ACCURACY * largest)
    X = task.X.tocsc() if sparse.issparse(task.X) else np.asfortranarray(task.X)

    def features(log_strength: float) -> Any:
        model.set_params(alpha=float(np.exp(-log_strength)))
        return np.flatnonzero(model.fit(X, task.y).coef_)

    return bisected(features, -float(np.log(largest)), task.k)


def _skglm_l1(task: Task) -> Any:
    import skglm

    return _skglm(skglm.Lasso if task.kind == "linear" else skglm.SparseLogisticRegression, task)


def _skglm_mcp(task: Task) -> Any:
    import skglm

    return _skglm(skglm.MCPRegression, task)


def _sklearn_l1(task: Task) -> Any:
    return liblinear_l1(task.X, task.y, task.k, tol=1e-4)


def _sklearn_lars(task: Task) -> Any:
    """The lasso path by least angles, until k features are in."""
    from sklearn.linear_model import lars_path

    # A feature may leave the path again, so that more than k steps can be needed.
    _, _, coefs = lars_path(task.X, task.y, method="lasso", max_iter=2 * task.k, copy_X=True)
    sizes = np.count_nonzero(coefs, axis=0)
    return np.flatnonzero(coefs[:, np.flatnonzero(sizes <= task.k)[np.argmax(sizes[sizes <= task.k])]])


def _sklearn_omp(task: Task) -> Any:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    model = OrthogonalMatchingPursuit(n_nonzero_coefs=task.k, fit_intercept=False, precompute=False)
    return np.flatnonzero(model.fit(task.X, task.y).coef_)


def _fastsparse(algorithm: str, task: Task, threads: int, ridge: float | None) -> Run:
    """The path of fastsparsegams with at most k features; its end is the model with the most."""
    import fastsparsegams

    loss = "SquaredError" if task.kind == "linear" else "Logistic"
    penalty: dict[str, Any] = {"penalty": "L0"}
    if ridge is not None:
        penalty = {"penalty": "L0L2", "num_gamma": 1, "gamma_min": ridge, "gamma_max": ridge}

    def run() -> Any:
        X = np.asfortranarray(task.X)
        path = fastsparsegams.fit(
            X, task.y, loss=loss, algorithm=algorithm, max_support_size=task.k, intercept=False, **penalty
        )
        sizes = np.array(path.support_size[0])
        best = np.flatnonzero(sizes <= task.k)[np.argmax(sizes[sizes <= task.k])]
        return np.unique(path.coeffs[0][:, best].nonzero()[0])

    return run


_MISSES = "its path often misses k, and the next fewer features are taken"
_RIDGES_NOTE = f"the better of the ridges {' and '.join(f'{ridge:g}' for ridge in RIDGES)}; {_MISSES}"
_BISECTED = "bisected to k features, which are refitted"

METHODS: dict[str, Method] = {
    OURS: Method(_simple(_ksparse)),
    "ksparse, effort 1": Method(
        _simple(_ksparse_with_effort), note="more time for a lower objective; the verdicts are those of the default"
    ),
    "ksparse path": Method(_simple(_ksparse_path)),
    **_skscope_methods(),
    "abess": Method(partial(_abess, 128)),
    "abess, wide search": Method(
        partial(_abess, 0), note="important_search=0: every feature may enter in each exchange"
    ),
    "L1 (liblinear)": Method(_simple(_sklearn_l1), note=_BISECTED),
    "L1 (skglm)": Method(_simple(_skglm_l1), note=_BISECTED),
    "L1 (LARS)": Method(_simple(_sklearn_lars), note="scikit-learn's path until k features are in, which are refitted"),
    "MCP (skglm)": Method(_simple(_skglm_mcp), note=_BISECTED),
    "OMP (scikit-learn)": Method(_simple(_sklearn_omp)),
    "fastsparsegams L0": Method(partial(_fastsparse, "CD"), note=_MISSES),
    "fastsparsegams L0, swaps": Method(partial(_fastsparse, "CDPSI"), note=_MISSES),
    "fastsparsegams": Method(partial(_fastsparse, "CD"), RIDGES, _RIDGES_NOTE),
    "fastsparsegams, swaps": Method(partial(_fastsparse, "CDPSI"), RIDGES, _RIDGES_NOTE),
    **{name: Method(_simple(select), note=note) for name, (select, note) in GRAPH_METHODS.items()},
}
