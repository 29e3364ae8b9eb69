"""The paper's §5.2, simulation: sparse precision matrices of more and more variables (Figure 4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array, Mask
from ..datasets import make_precision
from ..debias import Exact
from ..estimators._graph_model import covariance_around
from .base import Experiment, Figures, Picture, Scale, Task
from .claims import Claim
from .drawing import curves, finish, step_curves
from .graphs import (
    GRAPH_METHODS,
    GREEDY,
    METHODS,
    Fit,
    GraphMethod,
    GraphSettings,
    best_fit,
    found_pairs,
    graph_captions,
    log_det_loss,
    method_named,
)
from .precision_claims import beside_adm, precision_claims
from .tables import Row, Table, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Precision", "PrecisionSettings", "f_score", "measured_fit", "sample_covariances"]


@dataclass(frozen=True)
class PrecisionSettings(GraphSettings):
    """All numbers of the experiment, beside how matrices are fitted.

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
        In so many of the replications.
    steps : tuple of float
        Multiples of 1/v², v being the mean variance.
    adm_tolerance : float
        Residuals at which the alternating direction method ends; the paper does not say.
    n, probability
        Samples for training, and as many for tuning k; chance of an edge.
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
        " samples to fit Ω and 100 to choose k. All methods see the same data. The greedy methods and the default"
        " solver minimize −log det Ω + ⟨Σ, Ω⟩ within the paper's eigenvalue bounds over a grid of k, shares of the"
        " number of pairs, until the log-det loss of the tuning sample has had no new minimum for three values; GLasso"
        " does so over penalties. GraHTP and GraSP begin at Ω = αI for each k and end once Ω changed by a share of"
        " 1e-4, or after 50 iterations; where supports repeat, the best Ω of the cycle counts. Matrices on a support"
        " are found by neighbourhood coordinate descent, to the same minimum as by the paper's alternating direction"
        " method (ADM) but for rounding, and sooner; so the seconds of the paper's ADM are shown too, each method with"
        " the k chosen above. Seconds are those of the processor for one fit at the chosen k; those of the whole choice"
        " are tuning_seconds in precision.csv. Errors are in Frobenius norm; for F-scores a pair is found if its entry"
        " exceeds 1e-3 in magnitude. GLasso is scikit-learn's. The eigenvalue bounds are those of §4.2 with p in the"
        " place of n, which the paper writes there for the size of the matrix."
    )

    def settings(self, scale: Scale) -> PrecisionSettings:
        return {
            "quick": PrecisionSettings(sizes=(30, 60), replications=2, steps_at=(60,), adm_at=(30,), extras=1),
            "standard": PrecisionSettings(replications=10, extras=3),
            "full": PrecisionSettings(),
        }[scale]

    def tasks(self, settings: PrecisionSettings) -> list[Task]:
        return [
            Task({"p": p, "replication": replication})
            for replication in range(settings.replications)
            for p in settings.sizes
        ]

    def run(self, settings: PrecisionSettings, task: Task) -> list[Row]:
        p, seed = task.place["p"], task.place["replication"]
        X, truth = make_precision(2 * settings.n, p, settings.probability, random_state=seed)
        covariance, held_out = sample_covariances(X, settings.n)
        rows = _main(settings, covariance, held_out, truth)
        chosen = {row["method"]: row["parameter"] for row in rows}
        if seed < settings.extras and p in settings.steps_at:
            rows += _steps(settings, covariance, truth, chosen["GraHTP"])
        if seed < settings.extras and p in settings.adm_at:
            rows += _by_adm(settings, covariance, truth, chosen)
        return rows

    def pictures(self, settings: PrecisionSettings, table: Table) -> Figures:
        main = table.where(kind="main")
        errors = {(row["p"], row["replication"]): row["error"] for row in main.where(method="GraHTP").rows}

        def draw(figure: Figure) -> None:
            axes = figure.subplots(1, 4)
            measures = (
                ("error", "‖Ω − Ω̄‖ in Frobenius norm"),
                ("ratio", "‖Ω − Ω̄‖ / that of GraHTP"),
                ("fscore", "F-score"),
                ("seconds", "CPU seconds"),
            )
            beside = Table({**row, **_beside_grahtp(row, errors)} for row in main.rows)
            for ax, (measure, name) in zip(axes, measures, strict=True):
                curves(ax, beside, "p", measure, METHODS)
                finish(ax, "p", name, log="y" if measure == "seconds" else "", legend=measure == "error")
                ax.set_xticks(settings.sizes)

        caption = (
            f"{self.paper}, with errors beside those of GraHTP on the same data, which the paper does not show: means"
            f" and standard errors over {main.repeats()}; seconds of one fit at the chosen k. {_did_not_converge(main)}"
            f" {graph_captions(settings)}"
        )
        pictures = [Picture(self.name, caption, draw, (13.0, 3.6))]
        return pictures + _step_pictures(settings, table) + _adm_pictures(settings, table)

    def claims(self, settings: PrecisionSettings, table: Table) -> list[Claim]:
        return precision_claims(self.paper, settings, table)


def sample_covariances(X: Array, n: int) -> tuple[Array, Array]:
    """Covariance of the first n samples, and that of the others around the mean of the first."""
    centre = X[:n].mean(axis=0)
    return covariance_around(X[:n], centre), covariance_around(X[n:], centre)


def _main(settings: PrecisionSettings, covariance: Array, held_out: Array, truth: Array) -> list[Row]:
    """Each method with the k that the held-out sample chooses."""
    rows = []
    for method in GRAPH_METHODS:
        fit, seconds, tried = best_fit(method, settings, covariance, [(covariance, held_out)])
        measured = measured_fit(method, fit, covariance, truth)
        loss = log_det_loss(fit.omega, held_out)
        rows.append({"kind": "main", **measured, "held_out": loss, "tuning_seconds": seconds, "tried": tried})
    return rows


def _steps(settings: PrecisionSettings, covariance: Array, truth: Array, k: float) -> list[Row]:
    """GraHTP with other steps."""
    method = method_named("GraHTP")
    rows = []
    for multiple in settings.steps:
        fit = method.fit(replace(settings, multiple=multiple), covariance, k)
        rows.append({"kind": "step", "multiple": multiple, **measured_fit(method, fit, covariance, truth)})
    return rows


def _by_adm(settings: PrecisionSettings, covariance: Array, truth: Array, chosen: dict[str, float]) -> list[Row]:
    """The greedy methods with the paper's alternating direction method."""
    debias = Exact("adm", tol=settings.adm_tolerance)
    rows = []
    for name in GREEDY:
        method = method_named(name)
        fit = method.fit(settings, covariance, chosen[name], debias)
        rows.append({"kind": "adm", **measured_fit(method, fit, covariance, truth)})
    return rows


def measured_fit(method: GraphMethod, fit: Fit, covariance: Array, truth: Array) -> Row:
    """A fit beside the truth."""
    found = found_pairs(fit.omega)
    return {
        "method": method.name,
        "error": float(np.linalg.norm(fit.omega - truth)),
        "fscore": f_score(found, found_pairs(truth)),
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


def _beside_grahtp(row: Row, errors: dict[tuple[int, int], float]) -> Row:
    """An error beside that of GraHTP on the same data, where that is known."""
    there = errors.get((row["p"], row["replication"]))
    return {"ratio": row["error"] / there} if there else {}


def _did_not_converge(main: Table) -> str:
    """Of which methods runs ended with supports that repeat, or at the limit."""
    shares = {
        method: float(np.mean([row["status"] != "converged" for row in part.rows]))
        for method, part in main.parts("method").items()
    }
    said = ", ".join(f"{method} {share:.0%}" for method, share in shares.items() if share)
    return f"Runs whose supports repeat, or that the limit ends, give their best Ω: {said}." if said else ""


def _step_pictures(settings: PrecisionSettings, table: Table) -> Figures:
    steps = table.where(kind="step")
    if not len(steps):
        return []
    beside = Table({**row, **_above_best(row, steps)} for row in steps.rows)

    measures = (
        ("ratio", "‖Ω − Ω̄‖ / that of the best step", "x"),
        ("fscore", "F-score", "x"),
        ("gap", "f above its best", "x"),
    )

    def draw(figure: Figure) -> None:
        step_curves(figure, beside, "p", measures, "η·v²", settings.multiple)

    caption = (
        "How GraHTP's answers depend on its constant step η, a multiple of 1/v², v being the mean variance; k as chosen"
        f" with {settings.multiple:g}/v², which the other figures have (grey). Means and standard errors over"
        f" {steps.repeats('data set')} for each p. The paper does not say which step it has. The multiple with the"
        f" lowest f: {_lowest(steps)}. With long steps supports repeat or keep changing, and the best Ω on the way"
        f" counts: {_unsettled(steps)}."
    )
    return [Picture("precision-steps", caption, draw, (11.0, 3.4))]


def _lowest(steps: Table) -> str:
    """On how many data sets each step has the lowest f."""
    said = []
    for p, part in steps.parts("p").items():
        wins: Counter[float] = Counter()
        for same in part.parts("replication").values():
            lowest = same.values("loss").min()
            wins.update(row["multiple"] for row in same.rows if row["loss"] <= lowest)
        counts = ", ".join(f"{multiple:g} for {counted(count, 'data set')}" for multiple, count in sorted(wins.items()))
        said.append(f"p = {p}: {counts}")
    return "; ".join(said)


def _unsettled(steps: Table) -> str:
    """With which steps runs did not converge, and how many."""
    ends = {
        multiple: [row["status"] != "converged" for row in part.rows]
        for multiple, part in sorted(steps.parts("multiple").items())
    }
    said = ", ".join(f"{sum(each)} of {len(each)} with {multiple:g}/v²" for multiple, each in ends.items() if any(each))
    return f"runs that did not converge are {said}" if said else "all runs converged"


def _above_best(row: Row, steps: Table) -> Row:
    """How far a step is behind the best one on the same data, which makes sizes of matrices comparable."""
    same = steps.where(p=row["p"], replication=row["replication"])
    return {"ratio": row["error"] / same.values("error").min(), "gap": row["loss"] - same.values("loss").min()}


def _adm_pictures(settings: PrecisionSettings, table: Table) -> Figures:
    adm = table.where(kind="adm")
    if not len(adm):
        return []
    beside = beside_adm(table)
    drawn = [method_named(name) for name in (*GREEDY, "GLasso")]

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, part, title in zip(
            axes, (adm, beside), ("debiased by ADM, as in the paper", "as fitted here"), strict=True
        ):
            curves(ax, part, "p", "seconds", GREEDY)
            curves(ax, beside, "p", "seconds", ("GLasso",))
            finish(ax, "p", "CPU seconds", log="y", title=title, legend=part is adm)
            ax.set_xticks(settings.adm_at)

    caption = (
        "Seconds of one fit with the alternating direction method of the paper's Appendix B (residuals of"
        f" {settings.adm_tolerance:g}), and with neighbourhood coordinate descent, each with the same k; where they"
        f" round otherwise, supports may part ways. GLasso is the same in both. Means and standard errors over"
        f" {adm.repeats('data set')} for each p. {graph_captions(settings, drawn)}"
    )
    return [Picture("precision-adm", caption, draw, (8.0, 3.4))]
