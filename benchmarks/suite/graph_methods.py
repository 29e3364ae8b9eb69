"""ksparse and its peers for graphs: functions of a task that give a precision matrix of the standardized variables.

Those with a penalty are run once, at one that leaves about k edges and was searched beforehand, untimed.
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


def _ksparse(task: Task) -> Any:
    import ksparse

    return ksparse.minimize(ksparse.objectives.LogDet(task.X), k=task.k).x


def _sklearn(task: Task, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return graphical_lasso(task.X, task.penalty, **settings)[1]


def _sklearn_tuned(task: Task) -> Any:
    return _sklearn(task, **TUNED)


def _skglm(task: Task) -> Any:
    from skglm.covariance import GraphicalLasso

    return GraphicalLasso(alpha=task.penalty, tol=1e-4).fit(task.X, mode="precomputed").precision_


def _gglasso(task: Task) -> Any:
    from gglasso.solver.single_admm_solver import block_SGL

    return block_SGL(task.X, task.penalty, np.eye(len(task.X)), tol=1e-5, rtol=1e-4)["Theta"]


#: The method, and what a reader of the tables should know.
GRAPH_METHODS: dict[str, tuple[Callable[[Task], Any], str]] = {
    "ksparse graph": (_ksparse, "from correlations to Ω, with all checks"),
    "graphical lasso (scikit-learn)": (_sklearn, "its own settings; one fit at a penalty searched beforehand"),
    "graphical lasso (scikit-learn, tuned)": (
        _sklearn_tuned,
        "enet_tol=1e-8, with which it converges in a few iterations; one fit at a penalty searched beforehand",
    ),
    "graphical lasso (skglm)": (_skglm, "tol=1e-4; one fit at a penalty searched beforehand"),
    "graphical lasso (gglasso)": (_gglasso, "by connected components; one fit at a penalty searched beforehand"),
}
