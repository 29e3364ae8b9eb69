"""Precision matrices: solvers, estimators, paths, the choice of the number of edges, and discriminant analysis."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import ksparse
from ksparse.debias import Exact
from ksparse.objectives import LogDet
from ksparse.solvers import Backtracking, GLasso, Solver
from ksparse.sparsity import Pairs

from .. import precision, problems
from .records import Record, text_of
from .solving import (
    Problem,
    fit,
    solve,
    with_choice,
)

GRAPH_SOLVERS: dict[str, Solver] = {
    "default": ksparse.SwapGraHTP(),
    "GraHTP": ksparse.GraHTP(step=Backtracking(scaled=True)),
    "GraHTP plain step": ksparse.GraHTP(),
    "GraHTP neighbourhood": ksparse.GraHTP(step=Backtracking(scaled=True), debias=Exact("neighbourhood")),
    "GraHTP adm": ksparse.GraHTP(step=Backtracking(scaled=True), debias=Exact("adm")),
    "GraSP": ksparse.GraSP(),
    "FBS": ksparse.FBS(),
    "GLasso": GLasso(),
}
EDGES = {"edges": Pairs(8), "known and forbidden": Pairs(8, always=[(0, 5)], never=[(0, 1), (2, 3)])}
#: p, n, and whether variables have different scales.
COVARIANCES = {"n = 60": (10, 60, False), "scaled": (10, 30, True), "n < p": (10, 7, False)}
EIGENVALUES: dict[str, Any] = {"no bounds": None, "paper's bounds": "paper", "tight bounds": (0.3, 3.0)}


def graphs() -> dict[str, Problem]:
    """Precision matrices."""
    table: dict[str, Problem] = {
        f"graph: {size}, {bounds}, {edges}, {solver}": partial(
            solve,
            partial(log_det, *COVARIANCES[size], EIGENVALUES[bounds]),
            sparsity=EDGES[edges],
            solver=GRAPH_SOLVERS[solver],
        )
        for size in COVARIANCES
        for bounds in EIGENVALUES
        for edges in EDGES
        for solver in GRAPH_SOLVERS
        if solver in ("default", "GraHTP") or (edges == "edges" and (size, bounds) != ("n < p", "no bounds"))
    }
    for p, n, k in ((30, 100, 40), (30, 20, 29), (60, 200, 59)):
        for bounds in ("auto", "paper"):
            for effort in range(3):
                name = f"graph: p = {p}, n = {n}, k = {k}, {bounds}, effort {effort}"
                table[name] = partial(solve, partial(log_det, p, n, False, bounds), k, effort=effort)
    return table


def log_det(p: int, n: int, scaled: bool, bounds: Any) -> LogDet:
    return LogDet(precision.covariance(p, n, scaled=scaled), bounds)


def graph_estimators() -> dict[str, Problem]:
    """Estimators of graphs, their paths, and the choice of their number of edges."""
    table: dict[str, Problem] = {}
    parameters: dict[str, dict[str, Any]] = {
        "plain": {},
        "as given": {"standardize": False},
        "paper's bounds": {"bounds": "paper"},
        "known edges": {"known_edges": [(0, 7)], "forbidden_edges": [(0, 1)]},
        **{solver: {"solver": solver} for solver in ("grahtp", "grasp", "fbs", "glasso")},
        "effort 2": {"effort": 2},
    }
    for what, chosen in parameters.items():
        model = ksparse.SparsePrecision(7, **chosen)
        for n in (60, 6):
            table[f"graph estimator: n = {n}, {what}"] = partial(fit_graph, model, n)
            table[f"graph path: n = {n}, {what}"] = partial(fit_graph_path, model, n)
    for rule in ("best", "1se", "smooth"):
        table[f"graph cv: {rule}"] = partial(
            fit_graph, ksparse.SparsePrecisionCV(shrinkages=0.0, cv=KFold(3), rule=rule)
        )
        table[f"discriminant cv: {rule}"] = partial(
            fit,
            ksparse.SparseDiscriminantAnalysisCV(shrinkages=0.0, cv=StratifiedKFold(3), rule=rule),
            "multinomial",
            p=8,
        )
    by_accuracy = ksparse.SparseDiscriminantAnalysisCV(
        shrinkages=0.0, cv=StratifiedKFold(3), scoring="accuracy", rule="best"
    )
    table["discriminant cv: accuracy"] = partial(fit, by_accuracy, "multinomial", p=8)
    for criterion in ("aic", "bic", "ebic"):
        table[f"graph ic: {criterion}"] = partial(fit_graph, ksparse.SparsePrecisionIC(criterion=criterion))
    for k in (0, 5, 20):
        discriminant = ksparse.SparseDiscriminantAnalysis(k)
        table[f"discriminant: two classes, k = {k}"] = partial(fit, discriminant, "logistic", p=8)
        table[f"discriminant: three classes, k = {k}"] = partial(fit, discriminant, "multinomial", p=8)
    return table


def fit_graph(model: Any, n: int = 60) -> Record:
    """The record of an estimator of a precision matrix."""
    return with_choice(clone(model).fit(problems.design(1, n, 8, 0.7)))


def fit_graph_path(model: ksparse.SparsePrecision, n: int) -> Record:
    path = ksparse.precision_path(problems.design(1, n, 8, 0.7), (2, 4, 8, 12), model)
    edges = [np.argwhere(np.triu(matrix.toarray(), 1)) for matrix in path.precision]
    return Record("fitted", " | ".join(map(text_of, edges)), tuple(path.values.tolist()))
