"""Methods for graphs: functions that map a task to a precision matrix of the standardized variables.

Penalized methods are run once, at a penalty with about k edges that is found beforehand and not timed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from .bisection import TUNED
from .tasks import Task

__all__ = ["GRAPH_METHODS"]


def _run_ksparse_graph(task: Task) -> Any:
    import ksparse

    return ksparse.minimize(ksparse.objectives.LogDet(task.X), k=task.k).x


def _run_sklearn(task: Task, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return graphical_lasso(task.X, task.penalty, **settings)[1]


def _run_sklearn_tuned(task: Task) -> Any:
    return _run_sklearn(task, **TUNED)


def _run_skglm_glasso(task: Task) -> Any:
    from skglm.covariance import GraphicalLasso

    return GraphicalLasso(alpha=task.penalty, tol=1e-4).fit(task.X, mode="precomputed").precision_


def _run_gglasso(task: Task) -> Any:
    from gglasso.solver.single_admm_solver import block_SGL

    return block_SGL(task.X, task.penalty, np.eye(len(task.X)), tol=1e-5, rtol=1e-4)["Theta"]


_ONE_FIT = "one fit at a penalty found beforehand"

#: The methods by name, each with a note for readers of the tables.
GRAPH_METHODS: dict[str, tuple[Callable[[Task], Any], str]] = {
    "ksparse graph": (_run_ksparse_graph, "from the correlation matrix to Ω, including all checks"),
    "graphical lasso (scikit-learn)": (_run_sklearn, f"default settings; {_ONE_FIT}"),
    "graphical lasso (scikit-learn, tuned)": (
        _run_sklearn_tuned,
        f"enet_tol=1e-8, with which it converges in a few iterations; {_ONE_FIT}",
    ),
    "graphical lasso (skglm)": (_run_skglm_glasso, f"tol=1e-4; {_ONE_FIT}"),
    "graphical lasso (gglasso)": (_run_gglasso, f"solved by connected components; {_ONE_FIT}"),
}
