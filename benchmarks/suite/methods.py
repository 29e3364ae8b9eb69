"""Methods of ksparse and of other packages, each with its best settings.

A method prepares a task (untimed) and returns a function without arguments (timed), which returns the indices of the
selected features. A method with a grid of settings is run with each of them, and the best result counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .bisection import select_by_bisection, select_l1
from .families import FAMILIES
from .family_methods import choose_coxnet, choose_ridge, make_family_estimator, prepare_coxnet, prepare_family_abess
from .graph_methods import GRAPH_METHODS
from .tasks import Task

__all__ = ["METHODS", "OURS", "Method", "Run"]

#: The timed part of a method.
Run = Callable[[], Any]
OURS = "ksparse"
#: Step sizes of skscope's HTP and IHT, as multiples of 1/L, where L is the Lipschitz constant of the gradient.
STEP_SIZES = (4.0, 16.0, 64.0)
#: Tolerance of skglm's estimators, relative to the largest penalty.
SKGLM_TOLERANCE = 1e-4
#: The smallest penalty of Coxnet as a fraction of the largest: with its default, paths end far beyond k.
COXNET_RATIOS = (0.3, 0.1, 0.03)
#: Ridges of fastsparsegams, which scales the features: with the ridge of f it selects far too few of them.
RIDGES = (1e-3, 1e-5)


@dataclass(frozen=True)
class Method:
    """A way to use a package.

    Attributes
    ----------
    prepare : callable
        ``prepare(task, threads, setting)`` returns the function to time.
    settings : tuple of float
        The grid of settings; ``(None,)`` if there is nothing to choose.
    note : str
        Note for readers of the tables.
    """

    prepare: Callable[[Task, int, Any], Run]
    settings: tuple[Any, ...] = (None,)
    note: str = ""


def _skip_preparation(select: Callable[[Task], Any]) -> Callable[[Task, int, Any], Run]:
    """Return the `prepare` of a method that needs no preparation."""
    return partial(_bind_task, select)


def _bind_task(select: Callable[[Task], Any], task: Task, threads: int, setting: None) -> Run:
    return partial(select, task)


# --- ksparse ------------------------------------------------------------------------------------------------


def _make_estimator(task: Task) -> Any:
    if task.kind in FAMILIES:
        return make_family_estimator(task)
    import ksparse

    model = ksparse.SparseLinearRegression if task.kind == "linear" else ksparse.SparseLogisticRegression
    return model(task.k, alpha=task.alpha, fit_intercept=False)


def _run_ksparse(task: Task) -> Any:
    return _make_estimator(task).fit(task.X, task.y).get_support(indices=True)


def _run_ksparse_effort(task: Task) -> Any:
    return _make_estimator(task).set_params(effort=1).fit(task.X, task.y).get_support(indices=True)


def _run_ksparse_path(task: Task) -> Any:
    import ksparse

    return np.flatnonzero(ksparse.path(task.X, task.y, task.ks, _make_estimator(task)).coef[-1].ravel())


# --- skscope ------------------------------------------------------------------------------------------------


def _prepare_skscope(name: str, compiled: bool, task: Task, threads: int, multiple: float | None) -> Run:
    """Prepare a solver of skscope on the objective in JAX, compiled before the run or in it."""
    import jax
    import jax.numpy as jnp
    import skscope

    features, labels = jnp.array(task.X), jnp.array(task.y)

    def loss(w: Any) -> Any:
        margins = features @ w
        losses = jnp.logaddexp(0, -labels * margins) if task.kind == "logistic" else 0.5 * (labels - margins) ** 2
        return jnp.mean(losses) + task.alpha / 2 * jnp.sum(w**2)

    value, gradient = jax.jit(loss), jax.jit(jax.grad(loss))
    options = {} if multiple is None else {"step_size": multiple / _compute_lipschitz(task)}
    if compiled:
        for function in (value, gradient):
            function(np.zeros(task.X.shape[1]))

    def run() -> Any:
        solver = getattr(skscope, name)(task.X.shape[1], task.k, **options)
        if compiled:
            solution = solver.solve(lambda w: value(w), gradient=lambda w: gradient(w))
        else:
            solution = solver.solve(loss, jit=True)
        return np.flatnonzero(np.asarray(solution))

    return run


def _compute_lipschitz(task: Task) -> float:
    largest = float(sparse.linalg.svds(task.X, k=1, return_singular_vectors=False, random_state=0)[0])
    return largest**2 / len(task.y) * (0.25 if task.kind == "logistic" else 1.0) + task.alpha


def _list_skscope() -> dict[str, Method]:
    methods = {}
    for label, name in (
        ("Scope", "ScopeSolver"),
        ("OMP", "OMPSolver"),
        ("FoBa", "FobaSolver"),
        ("GraSP", "GraspSolver"),
    ):
        methods[f"skscope {label}"] = Method(partial(_prepare_skscope, name, True))
        methods[f"skscope {label}, compiling"] = Method(
            partial(_prepare_skscope, name, False),
            note="the time includes compiling the objective, as for skscope's users",
        )
    for label, name in (("HTP", "HTPSolver"), ("IHT", "IHTSolver")):
        note = f"the best of the step sizes {', '.join(f'{step:g}/L' for step in STEP_SIZES)}; the time is for this one"
        methods[f"skscope {label}"] = Method(partial(_prepare_skscope, name, True), STEP_SIZES, note)
    return methods


# --- abess --------------------------------------------------------------------------------------------------


def _prepare_abess(search: int, task: Task, threads: int, setting: None) -> Run:
    """Prepare abess with the ridge of f, which abess adds to the sum of the losses of a logistic model."""
    if task.kind in FAMILIES:
        return prepare_family_abess(search, task, threads)
    import abess

    sizes = task.ks or task.k
    options: dict[str, Any] = {
        "support_size": sizes,
        "fit_intercept": False,
        "thread": threads,
        "important_search": search,
    }
    # Of several sizes abess selects one by a criterion; the loss is lowest at the largest size.
    options |= {"ic_type": "loss"} if task.ks else {}
    if task.kind == "linear":
        return lambda: np.flatnonzero(abess.LinearRegression(alpha=task.alpha, **options).fit(task.X, task.y).coef_)
    ridge = 0.5 * len(task.y) * task.alpha
    return lambda: np.flatnonzero(abess.LogisticRegression(alpha=ridge, **options).fit(task.X, task.y > 0).coef_)


# --- L1 and other penalties ---------------------------------------------------------------------------------


def _run_skglm(make: Callable[..., Any], task: Task) -> Any:
    """Select k features by bisecting the penalty of an estimator of skglm; each fit starts from the previous one."""
    largest = np.abs(task.X.T @ task.y).max() / len(task.y) * (1.0 if task.kind == "linear" else 0.5)
    # The tolerance applies to the gradient, which has the unit of the penalty.
    model = make(fit_intercept=False, warm_start=True, tol=SKGLM_TOLERANCE * largest)
    X = task.X.tocsc() if sparse.issparse(task.X) else np.asfortranarray(task.X)

    def select(log_strength: float) -> Any:
        model.set_params(alpha=float(np.exp(-log_strength)))
        return np.flatnonzero(model.fit(X, task.y).coef_)

    return select_by_bisection(select, -float(np.log(largest)), task.k)


def _run_skglm_l1(task: Task) -> Any:
    import skglm

    return _run_skglm(skglm.Lasso if task.kind == "linear" else skglm.SparseLogisticRegression, task)


def _run_skglm_mcp(task: Task) -> Any:
    import skglm

    return _run_skglm(skglm.MCPRegression, task)


def _run_sklearn_l1(task: Task) -> Any:
    return select_l1(task.X, task.y, task.k, tol=1e-4)


def _run_sklearn_lars(task: Task) -> Any:
    """Follow the lasso path by LARS until it has k features."""
    from sklearn.linear_model import lars_path

    # A feature may leave the path again, so more than k steps may be needed.
    _, _, coefs = lars_path(task.X, task.y, method="lasso", max_iter=2 * task.k, copy_X=True)
    sizes = np.count_nonzero(coefs, axis=0)
    return np.flatnonzero(coefs[:, np.flatnonzero(sizes <= task.k)[np.argmax(sizes[sizes <= task.k])]])


def _run_sklearn_omp(task: Task) -> Any:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    model = OrthogonalMatchingPursuit(n_nonzero_coefs=task.k, fit_intercept=False, precompute=False)
    return np.flatnonzero(model.fit(task.X, task.y).coef_)


def _prepare_fastsparse(algorithm: str, task: Task, threads: int, ridge: float | None) -> Run:
    """Prepare the path of fastsparsegams; its largest model with at most k features is selected."""
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


_SKIPS_K = "the path often skips k; the largest model with at most k features is used"
_RIDGES_NOTE = f"the better of the ridges {' and '.join(f'{ridge:g}' for ridge in RIDGES)}; {_SKIPS_K}"
_BISECTED = "penalty bisected to k features, which are refitted"

METHODS: dict[str, Method] = {
    OURS: Method(_skip_preparation(_run_ksparse)),
    "ksparse, effort 1": Method(
        _skip_preparation(_run_ksparse_effort),
        note="more time for a lower objective; targets apply to the default, effort 0",
    ),
    "ksparse, ridge by CV": Method(
        _skip_preparation(choose_ridge),
        note="SparseCoxRegressionCV with ks=[k], which chooses the ridges by the partial likelihood of five folds of"
        " the training rows; its own coefficients",
    ),
    "ksparse path": Method(_skip_preparation(_run_ksparse_path)),
    **_list_skscope(),
    "abess": Method(partial(_prepare_abess, 128)),
    "abess, wide search": Method(
        partial(_prepare_abess, 0), note="important_search=0: every feature is a candidate in each swap"
    ),
    "L1 (liblinear)": Method(_skip_preparation(_run_sklearn_l1), note=_BISECTED),
    "L1 (skglm)": Method(_skip_preparation(_run_skglm_l1), note=_BISECTED),
    "L1 (LARS)": Method(
        _skip_preparation(_run_sklearn_lars), note="scikit-learn's lasso path up to k features, which are refitted"
    ),
    "MCP (skglm)": Method(_skip_preparation(_run_skglm_mcp), note=_BISECTED),
    "OMP (scikit-learn)": Method(_skip_preparation(_run_sklearn_omp)),
    "fastsparsegams L0": Method(partial(_prepare_fastsparse, "CD"), note=_SKIPS_K),
    "fastsparsegams L0, swaps": Method(partial(_prepare_fastsparse, "CDPSI"), note=_SKIPS_K),
    "fastsparsegams": Method(partial(_prepare_fastsparse, "CD"), RIDGES, _RIDGES_NOTE),
    "fastsparsegams, swaps": Method(partial(_prepare_fastsparse, "CDPSI"), RIDGES, _RIDGES_NOTE),
    "Coxnet": Method(
        partial(prepare_coxnet, True),
        COXNET_RATIOS,
        "scikit-survival's path of the lasso with 100 penalties down to the best of"
        f" {', '.join(f'{ratio:g}' for ratio in COXNET_RATIOS)} times the largest; the last model with at most k"
        " features, which are refitted",
    ),
    "Coxnet, not refitted": Method(
        partial(prepare_coxnet, False), COXNET_RATIOS, "the same with its own coefficients, which are shrunken"
    ),
    "Coxnet, default path": Method(
        partial(prepare_coxnet, True),
        note="the same with scikit-survival's default path, for those who do not know at which penalty k features are",
    ),
    "Coxnet, penalty by CV": Method(
        _skip_preparation(choose_coxnet),
        note="the model with the highest concordance index in five folds of the training rows, of those of the path"
        " with at most k features; its own coefficients",
    ),
    **{name: Method(_skip_preparation(select), note=note) for name, (select, note) in GRAPH_METHODS.items()},
}
