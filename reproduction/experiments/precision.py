"""The paper's §5.2, simulation: sparse precision matrices of several sizes (Figure 4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ksparse.datasets import make_precision
from ksparse.debias import Exact

from ..base import Array, Experiment, Mask, Picture, Row, Scale, Task
from ..claims import Claim
from ..drawing import draw_steps, draw_summaries, finish_axes
from ..frames import count_runs, describe_count, select_rows, split_rows
from ..graphs import (
    GRAPH_METHOD_NAMES,
    GRAPH_METHODS,
    GREEDY,
    Fit,
    GraphMethod,
    GraphSettings,
    compute_covariance,
    describe_graph_steps,
    find_edges,
    find_method,
    fit_tuned,
    log_det_loss,
)
from .precision_claims import judge_precision, select_adm_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Precision", "PrecisionSettings", "compute_covariances", "f_score", "measure_fit"]


@dataclass(frozen=True)
class PrecisionSettings(GraphSettings):
    """Settings of the experiment, beyond how matrices are fitted.

    Attributes
    ----------
    sizes : tuple of int
        Values of p.
    replications : int
        Data sets for each of them; 100 in the paper.
    steps_at, adm_at : tuple of int
        Values of p at which all multiples of `steps` are tried too, and the methods with the paper's alternating
        direction method.
    extras : int
        Replications in which they are.
    steps : tuple of float
        Multiples of 1/v², where v is the mean variance.
    adm_tolerance : float
        Residuals at which the alternating direction method stops; the paper does not state it.
    n, probability
        Samples for training, and as many for tuning k; probability of an edge.
    """

    sizes: tuple[int, ...] = (30, 60, 120, 200)
    replications: int = 100
    steps_at: tuple[int, ...] = (60, 200)
    adm_at: tuple[int, ...] = (30, 60)
    extras: int = 20
    steps: tuple[float, ...] = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
    adm_tolerance: float = 1e-6
    n: int = 100
    probability: float = 0.1


class Precision(Experiment):
    """Figure 4."""

    name = "precision"
    title = "Precision matrices"
    paper = "Figure 4"
    text = (
        "Ω̄ = B + σI, with an edge for each pair with probability 0.1 and σ such that the condition number is p; 100"
        " samples to fit Ω and 100 to choose k. All methods use the same data. The greedy methods and the default"
        " solver minimize −log det Ω + ⟨Σ, Ω⟩ within the paper's eigenvalue bounds over a grid of k, fractions of the"
        " number of pairs, until the log-det loss of the tuning sample has had no new minimum for three values; GLasso"
        " does so over penalties. GraHTP and GraSP start at Ω = αI for each k and stop once the relative change of Ω is"
        " at most 1e-4, or after 50 iterations; where supports repeat, the best Ω of the cycle is used. Matrices on a"
        " support are found by neighbourhood coordinate descent, which reaches the same minimum as the paper's"
        " alternating direction method (ADM) up to rounding, and sooner; the seconds with ADM are therefore shown too,"
        " each method with the k chosen above. CPU seconds are those of one fit at the chosen k; those of the whole"
        " choice are the column tuning_seconds of precision.csv. Errors are in Frobenius norm; for F-scores a pair is"
        " found if its entry exceeds 1e-3 in magnitude. GLasso is scikit-learn's. The eigenvalue bounds are those of"
        " §4.2 with p in place of n, which the paper writes there for the size of the matrix."
    )

    def make_settings(self, scale: Scale) -> PrecisionSettings:
        return {
            "quick": PrecisionSettings(sizes=(30, 60), replications=2, steps_at=(60,), adm_at=(30,), extras=1),
            "standard": PrecisionSettings(replications=10, extras=3),
            "full": PrecisionSettings(),
        }[scale]

    def list_tasks(self, settings: PrecisionSettings) -> list[Task]:
        return [
            Task({"p": p, "replication": replication})
            for replication in range(settings.replications)
            for p in settings.sizes
        ]

    def run(self, settings: PrecisionSettings, task: Task) -> list[Row]:
        p, seed = task.key["p"], task.key["replication"]
        X, truth = make_precision(2 * settings.n, p, settings.probability, random_state=seed)
        covariance, held_out = compute_covariances(X, settings.n)
        rows = []
        for method in GRAPH_METHODS:
            fit, seconds, tried = fit_tuned(method, settings, covariance, [(covariance, held_out)])
            measured = measure_fit(method, fit, covariance, truth)
            loss = log_det_loss(fit.omega, held_out)
            rows.append({"kind": "main", **measured, "held_out": loss, "tuning_seconds": seconds, "tried": tried})
        chosen = {row["method"]: row["parameter"] for row in rows}
        if seed < settings.extras and p in settings.steps_at:
            method = find_method("GraHTP")
            for multiple in settings.steps:
                fit = method.fit(replace(settings, multiple=multiple), covariance, chosen[method.name])
                rows.append({"kind": "step", "multiple": multiple, **measure_fit(method, fit, covariance, truth)})
        if seed < settings.extras and p in settings.adm_at:
            for method in map(find_method, GREEDY):
                debias = Exact("adm", tol=settings.adm_tolerance)
                fit = method.fit(settings, covariance, chosen[method.name], debias)
                rows.append({"kind": "adm", **measure_fit(method, fit, covariance, truth)})
        return rows

    def draw_pictures(self, settings: PrecisionSettings, frame: pd.DataFrame) -> list[Picture]:
        pictures = [_draw_sizes(settings, select_rows(frame, kind="main"))]
        if len(steps := select_rows(frame, kind="step")):
            pictures.append(_draw_graph_steps(settings, steps))
        return [*pictures, _draw_adm(settings, frame)] if len(select_rows(frame, kind="adm")) else pictures

    def judge_claims(self, settings: PrecisionSettings, frame: pd.DataFrame) -> list[Claim]:
        return judge_precision(self.paper, settings, frame)


def compute_covariances(X: Array, n: int) -> tuple[Array, Array]:
    """Covariance of the first n samples, and of the others around the mean of the first."""
    centre = X[:n].mean(axis=0)
    return compute_covariance(X[:n], centre), compute_covariance(X[n:], centre)


def measure_fit(method: GraphMethod, fit: Fit, covariance: Array, truth: Array) -> Row:
    """A fit compared with the truth."""
    found = find_edges(fit.omega)
    return {
        "method": method.name,
        "error": float(np.linalg.norm(fit.omega - truth)),
        "fscore": f_score(found, find_edges(truth)),
        "edges": int(found.sum()),
        "parameter": fit.parameter,
        "loss": log_det_loss(fit.omega, covariance),
        "seconds": fit.seconds,
        "iterations": fit.iterations,
        "status": fit.status,
    }


def f_score(found: Mask, true: Mask) -> float:
    """2·precision·recall/(precision + recall); 1 if there is nothing to find and nothing is found."""
    size = int(found.sum()) + int(true.sum())
    return 2.0 * int((found & true).sum()) / size if size else 1.0


def _draw_sizes(settings: PrecisionSettings, main: pd.DataFrame) -> Picture:
    def draw(figure: Figure) -> None:
        measures = {
            "error": "‖Ω − Ω̄‖ in Frobenius norm",
            "ratio": "‖Ω − Ω̄‖ / that of GraHTP",
            "fscore": "F-score",
            "seconds": "CPU seconds",
        }
        reference = select_rows(main, method="GraHTP")[["p", "replication", "error"]]
        relative = main.merge(reference, on=["p", "replication"], suffixes=("", "_grahtp"))
        relative["ratio"] = relative["error"] / relative["error_grahtp"]
        for ax, (measure, label) in zip(figure.subplots(1, 4), measures.items(), strict=True):
            draw_summaries(ax, relative if measure == "ratio" else main, "p", measure, GRAPH_METHOD_NAMES)
            finish_axes(ax, "p", label, log="y" if measure == "seconds" else "", legend=measure == "error")
            ax.set_xticks(settings.sizes)

    caption = (
        f"Means and standard errors over {count_runs(main)}; seconds of one fit at the chosen k. The paper does not"
        f" show errors relative to GraHTP's on the same data. {_describe_unconverged(main)}"
        f" {describe_graph_steps(settings)}"
    )
    title = "Figure 4: estimation error, F-score and CPU time over the number of variables p"
    return Picture("precision", title, caption, draw, (13.0, 3.6), opening=True)


def _describe_unconverged(main: pd.DataFrame) -> str:
    """Which methods had runs that ended with repeating supports or at the limit."""
    fractions = {method: (part["status"] != "converged").mean() for method, part in split_rows(main, "method").items()}
    parts = ", ".join(f"{method} {fraction:.0%}" for method, fraction in fractions.items() if fraction)
    return f"Runs with repeating supports, or stopped at the limit, return their best Ω: {parts}." if parts else ""


def _draw_graph_steps(settings: PrecisionSettings, steps: pd.DataFrame) -> Picture:
    best = steps.groupby(["p", "replication"])
    relative = steps.assign(
        ratio=steps["error"] / best["error"].transform("min"), gap=steps["loss"] - best["loss"].transform("min")
    )
    measures = (
        ("ratio", "‖Ω − Ω̄‖ / that of the best step", "x"),
        ("fscore", "F-score", "x"),
        ("gap", "f above its best", "x"),
    )
    caption = (
        f"Multiples of 1/v², where v is the mean variance; k as chosen with {settings.multiple:g}/v², the step of the"
        f" other figures (grey). Means and standard errors over {count_runs(steps, 'data set')} for each p. The paper"
        f" does not state its step. The multiple with the lowest f: {_describe_lowest(steps)}. With long steps supports"
        f" repeat or keep changing, and the best Ω of the run is used: {_describe_unsettled(steps)}."
    )
    return Picture(
        "precision-steps",
        "How GraHTP depends on its constant step η",
        caption,
        lambda figure: draw_steps(figure, relative, "p", measures, "η·v²", settings.multiple),
        (11.0, 3.4),
    )


def _describe_lowest(steps: pd.DataFrame) -> str:
    """On how many data sets each step has the lowest f."""
    parts = []
    for p, part in split_rows(steps, "p").items():
        lowest = part[part["loss"] <= part.groupby("replication")["loss"].transform("min")]
        wins = Counter(lowest["multiple"])
        counts = ", ".join(
            f"{multiple:g} for {describe_count(count, 'data set')}" for multiple, count in sorted(wins.items())
        )
        parts.append(f"p = {p}: {counts}")
    return "; ".join(parts)


def _describe_unsettled(steps: pd.DataFrame) -> str:
    """With which steps runs did not converge, and how many."""
    ends = {multiple: part["status"] != "converged" for multiple, part in steps.groupby("multiple")}
    parts = [f"{each.sum()} of {len(each)} with {multiple:g}/v²" for multiple, each in ends.items() if each.any()]
    return f"runs that did not converge are {', '.join(parts)}" if parts else "all runs converged"


def _draw_adm(settings: PrecisionSettings, frame: pd.DataFrame) -> Picture:
    adm, same_data = select_rows(frame, kind="adm"), select_adm_data(frame)

    def draw(figure: Figure) -> None:
        titles = {"minimized by ADM, as in the paper": adm, "as fitted here": same_data}
        for ax, (title, part) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
            draw_summaries(ax, part, "p", "seconds", GREEDY)
            draw_summaries(ax, same_data, "p", "seconds", ("GLasso",))
            finish_axes(ax, "p", "CPU seconds", log="y", title=title, legend=part is adm)
            ax.set_xticks(settings.adm_at)

    methods = [find_method(name) for name in (*GREEDY, "GLasso")]
    caption = (
        f"The alternating direction method of the paper's Appendix B stops at residuals of {settings.adm_tolerance:g};"
        " each method has the same k in both panels, though different rounding may lead to different supports. GLasso"
        f" is the same in both. Means and standard errors over {count_runs(adm, 'data set')} for each p."
        f" {describe_graph_steps(settings, methods)}"
    )
    title = "Seconds of one fit with the paper's alternating direction method and with neighbourhood coordinate descent"
    return Picture("precision-adm", title, caption, draw, (8.0, 3.4))
