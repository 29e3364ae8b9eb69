"""From variables and options to a graph, with all that is shown of it: no printing, no files."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from .._types import Array, IntArray
from ..estimators import SparsePrecision
from ..estimators.edges import compute_partial_correlations
from ..plots._communities import find_communities
from ..selection import SparsePrecisionCV, StabilitySelection, precision_path
from .errors import InputError, quote_path
from .graph_data import GraphData
from .graph_settings import GraphSettings
from .settings import FOLDS

#: Numbers of edges that the page shows, about evenly spaced on a logarithmic scale.
MOST_STEPS = 24
#: With a chosen k, the page goes on to this many times as many edges, if more were tried.
BEYOND_CHOICE = 2
#: Above this fraction of all pairs, a chosen graph is nearly complete.
NEARLY_ALL = 0.5


@dataclass(frozen=True)
class FittedGraph:
    """A fitted graph, and what is reported about it."""

    data: GraphData
    settings: GraphSettings
    model: SparsePrecision
    stability: StabilitySelection | None
    communities: IntArray | None  # of each variable; None without networkx
    seconds: float
    notes: tuple[str, ...]

    @property
    def chose_k(self) -> bool:
        """Whether k was chosen among several."""
        return len(getattr(self.model, "ks_", ())) > 1

    @cached_property
    def partial(self) -> Array:
        """The matrix of partial correlations."""
        return self.model.partial_correlation_

    @cached_property
    def edges(self) -> IntArray:
        """Indices of the variables of each edge, the strongest edge first."""
        return sort_edges(self.partial)

    @property
    def degrees(self) -> IntArray:
        """Number of edges of each variable."""
        return np.bincount(self.edges.ravel(), minlength=len(self.data.names))

    def get_group(self, variable: int) -> str:
        """The name of a variable's group or community; empty if it has none."""
        if self.data.groups is not None:
            return self.data.groups[variable]
        if self.communities is None or self.communities[variable] < 0:
            return ""
        return f"community {self.communities[variable] + 1}"


def sort_edges(partial: Array) -> IntArray:
    """Indices of the two ends of each edge, the largest partial correlation first."""
    pairs = np.argwhere(np.triu(partial, 1))
    order = np.argsort(-np.abs(partial[tuple(pairs.T)]), kind="stable")
    return pairs[order]


def fit_graph(data: GraphData, settings: GraphSettings) -> FittedGraph:
    """Choose k and the shrinkage where they are not given, fit, and find what is stable."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the solver's message is shown
            model = _make_estimator(data, settings).fit(data.frame)
            stability = None if settings.stability is None else _count_frequencies(model, data, settings)
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot find a graph in {quote_path(data.source)}: {error}") from error
    seconds = time.perf_counter() - began
    edges = sort_edges(model.partial_correlation_)
    communities, notes = None, list(data.notes)
    try:
        strengths = model.partial_correlation_[tuple(edges.T)]
        communities = find_communities(edges, strengths, len(data.names), seed=settings.seed)
    except ImportError:
        notes.append(
            "networkx is not installed: with it, there are communities and a better layout (pip install networkx)"
        )
    return FittedGraph(data, settings, model, stability, communities, seconds, (*notes, *_warn_of_choice(model)))


def _make_estimator(data: GraphData, settings: GraphSettings) -> Any:
    """The estimator: with a fixed k and shrinkage if both are given, otherwise one that chooses."""
    variables = len(data.names)
    common: dict[str, Any] = {"transformation": settings.transform, "effort": settings.effort}
    choose_k = settings.choose_k or settings.ks is not None
    k = min(variables, variables * (variables - 1) // 2) if settings.k is None else settings.k
    if not choose_k and not settings.choose_shrinkage:
        return SparsePrecision(k=k, shrinkage=settings.shrinkage or 0.0, shrink_by="amount", **common)
    if len(data.frame) < 2 * FOLDS:
        raise InputError(
            f"{quote_path(data.source)} has {len(data.frame)} rows, too few for {FOLDS}-fold cross-validation; give --k"
            " and --shrinkage, or use more rows"
        )
    ks: Any = settings.ks or ("auto" if choose_k else [k])
    shrinkages: Any = "auto" if settings.shrinkage is None else settings.shrinkage
    folds = KFold(FOLDS, shuffle=True, random_state=settings.seed)
    return SparsePrecisionCV(ks=ks, shrinkages=shrinkages, cv=folds, n_jobs=settings.jobs, **common)


def fix_choice(model: SparsePrecision) -> SparsePrecision:
    """The same model with its k and shrinkage as parameters, not fitted."""
    return clone(model.at(model.k_)) if isinstance(model, SparsePrecisionCV) else clone(model)


def _count_frequencies(model: SparsePrecision, data: GraphData, settings: GraphSettings) -> StabilitySelection:
    """How often each pair is an edge of the graph with the same k on halves of the rows."""
    halves = StabilitySelection(
        fix_choice(model), n_pairs=settings.stability or 1, random_state=settings.seed, n_jobs=settings.jobs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no edge is stable: frequencies are shown
        return halves.fit(data.frame)


def _warn_of_choice(model: SparsePrecision) -> list[str]:
    """What a user should know of a chosen k."""
    if not isinstance(model, SparsePrecisionCV) or len(model.ks_) < 2:
        return []
    pairs = model.n_features_in_ * (model.n_features_in_ - 1) // 2
    if model.k_ > NEARLY_ALL * pairs:
        return [
            f"k = {model.k_} is most of the {pairs} pairs: with many rows, nearly every edge describes other rows a"
            " little better. Choose the number that you can read, such as --k 10, 20 or 40, or use --stability"
        ]
    return []


def build_path(fitted: FittedGraph) -> dict[int, Array]:
    """Partial correlations of graphs with increasing numbers of edges, with the fitted one among them."""
    model, k = fitted.model, len(fitted.edges)
    if k == 0:
        return {0: fitted.partial}
    if isinstance(model, SparsePrecisionCV) and fitted.chose_k:
        tried = [place for place, tried_k in enumerate(model.ks_.tolist()) if 0 < tried_k <= BEYOND_CHOICE * k]
        matrices = {int(model.ks_[place]): model.path_.precision[place] for place in tried}
    else:
        ks = sorted({round(step) for step in np.geomspace(1, k, MOST_STEPS).tolist()})
        path = _solve_path(fix_choice(model), fitted.data.frame, ks)
        matrices = dict(zip(path.ks.tolist(), path.precision, strict=True))
    graphs = {step: compute_partial_correlations(_to_dense(matrix)) for step, matrix in matrices.items()}
    graphs[k] = fitted.partial
    return dict(sorted(graphs.items()))


def _solve_path(model: SparsePrecision, frame: pd.DataFrame, ks: list[int]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return precision_path(frame, ks, model)


def _to_dense(matrix: sparse.csr_array) -> Array:
    return np.asarray(matrix.toarray(), dtype=np.float64)
