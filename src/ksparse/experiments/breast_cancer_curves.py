"""The paper's Figure 6: how the log-det loss falls on the breast cancer data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..objectives import LogDet
from .base import Picture
from .claims import Claim, Verdict, verdict
from .drawing import finish, run_curve
from .graphs import GRAPH_METHODS, GREEDY, GraphSettings, compile_all, graph_captions, method_named
from .methods import DEFAULT
from .tables import Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DESCENDING", "curve_claim", "curve_k", "curve_picture", "curve_rows", "faster"]

#: "Much faster": with at most this share of the iterations.
MUCH_FASTER = 0.5
#: A curve has converged when it is above its lowest value by at most this share of the whole descent.
CONVERGED = 0.01
#: Methods whose objective is the paper's.
DESCENDING = (*GREEDY, DEFAULT)


def curve_k(settings: GraphSettings, share: float, covariance: Array) -> int:
    """The k of the curves, a share of all pairs."""
    (k,) = replace(settings, shares=(share,)).ks(len(covariance))
    return k


def curve_rows(settings: GraphSettings, share: float, covariance: Array) -> list[Row]:
    """The objective at Ω = αI and after each iteration, with the same k, a share of all pairs, for all methods."""
    compile_all()
    objective = LogDet(covariance)
    begin = objective.at(objective.start).value
    k = curve_k(settings, share, covariance)
    rows = []
    for name in DESCENDING:
        values = [begin, *method_named(name).solve(settings, covariance, k).history["value"].tolist()]
        rows += [
            {"kind": "curve", "method": name, "k": k, "iteration": iteration, "loss": value}
            for iteration, value in enumerate(values)
        ]
    return rows


def curve_picture(settings: GraphSettings, curves: Table) -> Picture:
    """Figure 6; at least one curve must be there."""

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        for method in DESCENDING:
            runs = [run.values("loss") for run in curves.where(method=method).parts("replication").values()]
            # The start, which is the same for all and far above, would leave no room for the rest.
            run_curve(ax, runs, method, first=1, markersize=3.0)
        finish(ax, "iteration (of FBS: edge)", "log-det loss on the training set", log="x", legend=True)

    greedy = tuple(method for method in GRAPH_METHODS if method.name in DESCENDING)
    caption = (
        f"Figure 6: the log-det loss after each iteration, with k = {curves.distinct('k')[0]} for all methods: means"
        f" with bands of standard errors over {curves.repeats()}, in which a run that has ended stays where it is. All"
        f" begin at Ω = αI, with a mean loss of {curves.mean('loss', iteration=0):.0f}. An iteration of FBS adds an"
        " edge; those of the default solver also grow its graph at first. GraHTP and GraSP may rise: neither looks at f"
        " when it chooses edges."
        f" {graph_captions(settings, greedy)}"
    )
    return Picture("breast-cancer-curves", caption, draw, (7.0, 4.0))


def curve_claim(curves: Table) -> Claim:
    """What the paper says of Figure 6."""
    return Claim(
        "Figure 6",
        f"GraHTP converges much faster than GraSP and FBS (to within {CONVERGED:.0%} of its whole descent, in"
        f" at most {MUCH_FASTER:.0%} of the iterations that they need to get as low)",
        faster(curves, "GraHTP"),
        faster(curves, DEFAULT),
        "GraSP, whose first iteration looks at 3k edges, is that low after it on many data sets; it then rises.",
    )


def faster(curves: Table, method: str) -> Verdict:
    """Whether a method gets to where it ends in few of the iterations that GraSP and FBS need to get as low."""
    truths: list[bool] = []
    needed: dict[str, list[float]] = {name: [] for name in (method, "GraSP", "FBS")}
    lowest: dict[str, list[float]] = {name: [] for name in needed}
    for replication in curves.distinct("replication"):
        values = {name: curves.where(replication=replication, method=name).values("loss") for name in needed}
        own = values[method]
        target = own.min() + CONVERGED * (own[0] - own.min())
        counts = {name: _iterations_needed(curve, target) for name, curve in values.items()}
        if own[-1] > target:
            counts[method] = np.inf  # it has been there, and is not any more
        for name in needed:
            needed[name].append(counts[name])
            lowest[name].append(float(values[name].min()))
        settles = np.isfinite(counts[method])
        truths += [settles and counts[method] <= MUCH_FASTER * counts[name] for name in ("GraSP", "FBS")]
    medians = {name: float(np.median(counts)) for name, counts in needed.items() if counts}
    said = ", ".join(f"{name} {count:g}" if np.isfinite(count) else f"{name} never" for name, count in medians.items())
    ends = ", ".join(f"{name} {np.median(values):.2f}" for name, values in lowest.items() if values)
    numbers = (
        f"{sum(truths)} of {len(truths)} comparisons; median iterations: {said}; median of the lowest loss: {ends}"
    )
    return verdict(truths, numbers)


def _iterations_needed(values: Array, target: float) -> float:
    """After how many iterations a curve first is as low as the target; infinite if it never is."""
    reached = np.flatnonzero(values <= target)
    return float(reached[0]) if reached.size else np.inf
