"""The paper's §5.1, real data: texts of rcv1.binary (Figures 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._types import Array, Matrix
from ..datasets import has_original_rcv1, load_rcv1, missing_rcv1
from ..objectives import Logistic
from ..solvers import Result, Solver
from .base import Experiment, Figures, Picture, Scale, Settings, Task, TextTable
from .claims import Claim
from .drawing import curves, finish, run_curve, step_curves
from .methods import DEFAULT, FAITHFUL, FEATURE_METHODS, step_caption, warm_up
from .rcv1_claims import EARLY, rcv1_claims
from .tables import Row, Table
from .timing import solved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Rcv1", "Rcv1Settings"]

METHODS = (*FAITHFUL, DEFAULT)
#: A method has settled once its loss is at most this share above that of the x which it gives.
NEAR = 0.01
#: Documents of the fits that are not timed.
WARM = 200


@dataclass(frozen=True)
class Rcv1Settings(Settings):
    """All numbers of the experiment.

    Attributes
    ----------
    ks : tuple of int
        Values of k.
    shown : tuple of int
        Those of them for which Figure 2 shows the loss over the iterations.
    original : bool
        Whether the files that the paper had are at hand.
    replications : int
        Splits into training and test documents; the original files have one.
    documents : int or None
        Take only so many documents of each part.
    steps_at : tuple of int
        Values of k at which all multiples of `steps` are tried too.
    steps : tuple of float
        Multiples of 1/L.
    multiple : float
        The multiple of 1/L that GraHTP and FGraHTP take otherwise.
    alpha, tolerance, limit
        λ, the tolerance of the stopping rule and the limit of iterations, as in the paper.
    """

    ks: tuple[int, ...]
    shown: tuple[int, ...]
    original: bool
    replications: int
    documents: int | None = None
    steps_at: tuple[int, ...] = ()
    steps: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0, 256.0)
    multiple: float = 16.0
    alpha: float = 1e-5
    tolerance: float = 1e-4
    limit: int = 50


class _Texts(NamedTuple):
    """The objective of the training documents, how many they are, and the test documents."""

    objective: Logistic
    train: int
    X_test: Matrix
    y_test: Array


class Rcv1(Experiment):
    """Figures 2 and 3: loss over iterations, and test error and time over k."""

    name = "rcv1"
    title = "Sparse texts: rcv1.binary"
    paper = "Figures 2 and 3"
    text = (
        "p = 47,236 terms, λ = 1e-5; from w = 0 until ‖w⁽ᵗ⁾ − w⁽ᵗ⁻¹⁾‖ ≤ 1e-4·‖w⁽ᵗ⁻¹⁾‖ or for 50"
        " iterations. FBS adds one term in each iteration and so takes k of them, whatever the limit. A run"
        " that the limit ends gives its x with the lowest f."
    )

    def remark(self, settings: Rcv1Settings) -> str:
        few = "" if settings.documents is None else f" Of each part only {settings.documents:,} documents are used."
        if settings.original:
            return (
                "Data: LIBSVM's rcv1.binary, the training file and the first 20,000 documents of the test file (the"
                f" paper does not say which 20,000).{few}"
            )
        return (
            "Data: not those of the paper. 23,727 other documents of RCV1 stand in, with the same terms and the same"
            " rule for labels, shuffled and split in the paper's ratio into 11,935 for training and 11,792 for testing;"
            " the paper has 20,242 for training, so that errors and times differ. Splits of the same documents are not"
            f" independent: standard errors are those of the splits alone.{few}"
        )

    def unavailable(self) -> str | None:
        return missing_rcv1()

    def settings(self, scale: Scale) -> Rcv1Settings:
        original = has_original_rcv1()
        shown = (200, 400, 800, 1000)
        return {
            "quick": Rcv1Settings((100, 200), (100, 200), original, 1, documents=1500),
            "standard": Rcv1Settings(shown, shown, original, 1, steps_at=(200, 1000)),
            "full": Rcv1Settings(
                tuple(range(100, 1001, 100)), shown, original, 1 if original else 5, steps_at=(200, 1000)
            ),
        }[scale]

    def tasks(self, settings: Rcv1Settings) -> list[Task]:
        # The longest ones first, so that none is left alone at the end.
        return [
            Task({"k": k, "replication": replication})
            for replication in range(settings.replications)
            for k in sorted(settings.ks, reverse=True)
        ]

    def run(self, settings: Rcv1Settings, task: Task) -> list[Row]:
        k = task.place["k"]
        texts = _texts(settings, task.place["replication"])
        lipschitz = texts.objective.lipschitz()
        rows: list[Row] = []
        for method in FEATURE_METHODS:
            solver = method.make(settings.multiple / lipschitz, settings.tolerance, settings.limit)
            measured, result = _measured(texts, k, solver)
            rows.append({"kind": "main", "method": method.name, **measured})
            rows += _trace(method.name, texts.objective, result, settings.limit)
        if k in settings.steps_at:
            rows += _steps(settings, texts, k, lipschitz)
        return rows

    def pictures(self, settings: Rcv1Settings, table: Table) -> Figures:
        return [
            self._convergence(settings, table),
            self._accuracy(settings, table),
            *self._step_pictures(settings, table),
        ]

    def _convergence(self, settings: Rcv1Settings, table: Table) -> Picture:
        traces = table.where(kind="trace")

        def draw(figure: Figure) -> None:
            axes = figure.subplots(1, len(settings.shown))
            for number, (ax, k) in enumerate(zip(np.atleast_1d(axes), settings.shown, strict=True)):
                _lines(ax, traces.where(k=k))
                finish(
                    ax,
                    "iteration t",
                    "ℓ2-regularized logistic loss" if number == 0 else "",
                    log="y",
                    title=f"k = {k}",
                    legend=number == 0,
                )

        caption = (
            f"Figure 2: the objective after each of the first {settings.limit} iterations, means with bands of standard"
            f" errors over {table.repeats('split')}; a method that stopped keeps its last value. FBS then has"
            f" {settings.limit} terms, and goes on to k. {step_caption(settings.multiple)}"
        )
        return Picture(f"{self.name}-convergence", caption, draw, (2.0 + 2.6 * len(settings.shown), 3.6))

    def _accuracy(self, settings: Rcv1Settings, table: Table) -> Picture:
        main = table.where(kind="main")
        measures = (("error", "test classification error"), ("seconds", "CPU seconds"), ("loss", "objective f"))

        def draw(figure: Figure) -> None:
            axes = figure.subplots(1, 3)
            for ax, (measure, name) in zip(axes, measures, strict=True):
                curves(ax, main, "k", measure, METHODS)
                finish(ax, "cardinality k", name, log="" if measure == "error" else "y", legend=measure == "error")

        caption = (
            "Figure 3, with the objective on the right, which the paper does not show: means and standard errors over"
            f" {table.repeats('split')}. {step_caption(settings.multiple)}"
        )
        return Picture(f"{self.name}-error-time", caption, draw, (11.0, 3.7))

    def _step_pictures(self, settings: Rcv1Settings, table: Table) -> Figures:
        steps = table.where(kind="step")
        if not len(steps):
            return []

        measures = (("error", "test classification error", "xy"), ("loss", "objective f", "xy"))

        def draw(figure: Figure) -> None:
            step_curves(figure, steps, "k", measures, "η·L", settings.multiple)

        caption = (
            f"How the answers of GraHTP and FGraHTP after at most {settings.limit} iterations depend on their constant"
            " step η, a multiple of 1/L. The paper does not say which one it has; the other figures have"
            f" {settings.multiple:g}/L (grey). Means and standard errors over {steps.repeats('split')}."
        )
        return [Picture(f"{self.name}-steps", caption, draw, (9.0, 3.4))]

    def text_tables(self, settings: Rcv1Settings, table: Table) -> list[TextTable]:
        main = table.where(kind="main")
        measures = (("error", 4), ("loss", 4), ("early", 4), ("settled", 1), ("iterations", 1), ("seconds", 2))
        rows = []
        for k in sorted(main.distinct("k")):
            for method, part in main.where(k=k).parts("method").items():
                rows.append([k, method, *(part.with_error(name, digits) for name, digits in measures)])
        sizes = " and ".join(
            f"{int(main.mean(name)):,} for {what}"
            for name, what in (("train", "training"), ("test", "testing"))
            if rows
        )
        caption = (
            f"Means with standard errors over {table.repeats('split')}; documents: {sizes or 'none'}. Settled: the"
            f" first iteration whose loss is at most {100 * NEAR:g} % above that of the x which the run gives."
        )
        heads = ("k", "method", "test error", "loss", f"loss at t = {EARLY}", "settled", "iterations", "CPU seconds")
        return [TextTable(caption, heads, rows)]

    def claims(self, settings: Rcv1Settings, table: Table) -> list[Claim]:
        return rcv1_claims(table, settings.shown)


def _texts(settings: Rcv1Settings, seed: int) -> _Texts:
    """The paper's loss log(1 + exp(−2v wᵀu)) is that of `Logistic` for x = 2u."""
    data = load_rcv1(random_state=seed)
    some = slice(settings.documents)
    objective = Logistic(2.0 * data.X_train[some], data.y_train[some], alpha=settings.alpha)
    warm_up(Logistic(2.0 * data.X_train[:WARM], data.y_train[:WARM], alpha=settings.alpha))
    return _Texts(objective, len(data.y_train[some]), data.X_test[some], data.y_test[some])


def _measured(texts: _Texts, k: int, solver: Solver) -> tuple[Row, Result]:
    """A fit: its errors on the test documents, its objective, how soon it got there, and its seconds."""
    result, seconds = solved(texts.objective, k, solver)
    predicted = np.where(texts.X_test @ result.x > 0, 1.0, -1.0)
    # A run that diverges ends with a point before its history.
    values = np.append(result.history["value"], result.value)
    row = {
        "error": float(np.mean(predicted != texts.y_test)),
        "seconds": seconds,
        "loss": float(result.value),
        "early": float(values[:EARLY][-1]),
        "settled": int(np.argmax(values <= (1.0 + NEAR) * result.value)) + 1,
        "iterations": result.n_iter,
        "status": str(result.status),
        "train": texts.train,
        "test": len(texts.y_test),
    }
    return row, result


def _trace(method: str, objective: Logistic, result: Result, limit: int) -> list[Row]:
    """The objective at the start and after each iteration within the limit."""
    values = [objective.at(np.zeros(objective.shape)).value, *result.history["value"][:limit]]
    return [{"kind": "trace", "method": method, "iteration": t, "value": float(f)} for t, f in enumerate(values)]


def _steps(settings: Rcv1Settings, texts: _Texts, k: int, lipschitz: float) -> list[Row]:
    """GraHTP and FGraHTP with other steps."""
    rows = []
    for method in FEATURE_METHODS[:2]:
        for multiple in settings.steps:
            solver = method.make(multiple / lipschitz, settings.tolerance, settings.limit)
            rows.append({"kind": "step", "method": method.name, "multiple": multiple, **_measured(texts, k, solver)[0]})
    return rows


def _lines(ax: Axes, traces: Table) -> None:
    """Mean objective over iterations; a method that has stopped keeps its last value."""
    longest = int(traces.values("iteration").max(initial=0)) + 1
    for method in METHODS:
        runs = [run.values("value") for run in traces.where(method=method).parts("replication").values()]
        run_curve(ax, runs, method, longest, markevery=5)
