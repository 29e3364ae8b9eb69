"""The paper's §5.1, real data: texts of rcv1.binary (Figures 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ksparse.objectives import Logistic
from ksparse.solvers import Result, Solver

from ..base import Array, Experiment, Picture, Row, Scale, Settings, Task, TextTable
from ..claims import Claim
from ..data import find_missing_rcv1, has_original_rcv1, load_rcv1
from ..drawing import draw_runs, draw_steps, draw_summaries, finish_axes
from ..frames import count_runs, format_mean, mean, select_rows, split_rows, unique
from ..methods import FEATURE_METHODS, METHOD_NAMES, describe_steps, solve, value_at, warm_up
from .rcv1_claims import EARLY, judge_rcv1, tabulate_unpublished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Rcv1", "Rcv1Settings"]

#: A run has settled once its loss is at most this fraction above that of the x it returns.
NEAR = 0.01
#: Documents of the untimed fits.
WARM_UP_SIZE = 200


@dataclass(frozen=True)
class Rcv1Settings(Settings):
    """Settings of the experiment.

    Attributes
    ----------
    ks : tuple of int
        Values of k.
    shown : tuple of int
        The k for which Figure 2 shows the loss over the iterations.
    original : bool
        Whether the files of the paper are available.
    replications : int
        Splits into training and test documents; the original files have one.
    documents : int or None
        Use only the first documents of each part.
    steps_at : tuple of int
        Values of k at which all multiples of `steps` are tried too.
    steps : tuple of float
        Multiples of 1/L.
    multiple : float
        The step of GraHTP and FGraHTP otherwise, as a multiple of 1/L.
    alpha, tolerance, limit
        λ, the tolerance of the stopping rule and the iteration limit, as in the paper.
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
    """The objective of the training documents, their number, and the test documents."""

    objective: Logistic
    train: int
    X_test: Any
    y_test: Array


class Rcv1(Experiment):
    """Figures 2 and 3: loss over iterations; test error and time over k."""

    name = "rcv1"
    title = "Sparse texts: rcv1.binary"
    paper = "Figures 2 and 3"
    text = (
        "p = 47,236 terms, λ = 1e-5; from w = 0 until ‖w⁽ᵗ⁾ − w⁽ᵗ⁻¹⁾‖ ≤ 1e-4·‖w⁽ᵗ⁻¹⁾‖ or for 50"
        " iterations. FBS adds one term in each iteration and so takes k iterations, regardless of the limit. A run"
        " that stops at the limit returns its x with the lowest f."
    )

    def describe_data(self, settings: Rcv1Settings) -> str:
        few = "" if settings.documents is None else f" Only {settings.documents:,} documents of each part are used."
        if settings.original:
            return (
                "Data: LIBSVM's rcv1.binary, the training file and the first 20,000 documents of the test file (the"
                f" paper does not state which 20,000).{few}"
            )
        return (
            "Data: not those of the paper, but 23,727 other documents of RCV1 with the same terms and the same rule for"
            " labels, shuffled and split in the paper's ratio into 11,935 for training and 11,792 for testing. The"
            " paper has 20,242 for training, so errors and times differ. Splits of the same documents are not"
            f" independent: standard errors cover the variation between splits only.{few}"
        )

    def find_missing_data(self) -> str | None:
        return find_missing_rcv1()

    def make_settings(self, scale: Scale) -> Rcv1Settings:
        original = has_original_rcv1()
        shown = (200, 400, 800, 1000)
        return {
            "quick": Rcv1Settings((100, 200), (100, 200), original, 1, documents=1500),
            "standard": Rcv1Settings(shown, shown, original, 1, steps_at=(200, 1000)),
            "full": Rcv1Settings(
                tuple(range(100, 1001, 100)), shown, original, 1 if original else 5, steps_at=(200, 1000)
            ),
        }[scale]

    def list_tasks(self, settings: Rcv1Settings) -> list[Task]:
        # The longest ones first, so that no process runs alone at the end.
        return [
            Task({"k": k, "replication": replication})
            for replication in range(settings.replications)
            for k in sorted(settings.ks, reverse=True)
        ]

    def run(self, settings: Rcv1Settings, task: Task) -> list[Row]:
        k = task.key["k"]
        texts = _load_texts(settings, task.key["replication"])
        lipschitz = texts.objective.lipschitz()
        rows: list[Row] = []
        for method in FEATURE_METHODS:
            solver = method.make(settings.multiple / lipschitz, settings.tolerance, settings.limit)
            measured, result = _fit_texts(texts, k, solver)
            rows.append({"kind": "main", "method": method.name, **measured})
            rows += _trace_texts(method.name, texts.objective, result, settings.limit)
        if k in settings.steps_at:
            for method in FEATURE_METHODS[:2]:
                for multiple in settings.steps:
                    measured, _ = _fit_texts(
                        texts, k, method.make(multiple / lipschitz, settings.tolerance, settings.limit)
                    )
                    rows.append({"kind": "step", "method": method.name, "multiple": multiple, **measured})
        return rows

    def draw_pictures(self, settings: Rcv1Settings, frame: pd.DataFrame) -> list[Picture]:
        pictures = [_draw_text_convergence(settings, frame), _draw_accuracy(settings, frame)]
        steps = select_rows(frame, kind="step")
        return [*pictures, _draw_text_steps(settings, steps)] if len(steps) else pictures

    def make_tables(self, settings: Rcv1Settings, frame: pd.DataFrame) -> list[TextTable]:
        main = select_rows(frame, kind="main")
        return [*tabulate_unpublished(main), _tabulate_all(main)] if len(main) else []

    def judge_claims(self, settings: Rcv1Settings, frame: pd.DataFrame) -> list[Claim]:
        return judge_rcv1(frame, settings.shown)


def _load_texts(settings: Rcv1Settings, seed: int) -> _Texts:
    """The paper's loss log(1 + exp(−2v wᵀu)) is that of `Logistic` for x = 2u."""
    data = load_rcv1(random_state=seed)
    some = slice(settings.documents)
    objective = Logistic(2.0 * data.X_train[some], data.y_train[some], alpha=settings.alpha)
    warm_up(Logistic(2.0 * data.X_train[:WARM_UP_SIZE], data.y_train[:WARM_UP_SIZE], alpha=settings.alpha))
    return _Texts(objective, len(data.y_train[some]), data.X_test[some], data.y_test[some])


def _fit_texts(texts: _Texts, k: int, solver: Solver) -> tuple[Row, Result]:
    """A fit: its errors on the test documents, its objective, how soon it settled, and its seconds."""
    result, seconds = solve(texts.objective, k, solver)
    predicted = np.where(texts.X_test @ result.x > 0, 1.0, -1.0)
    # A run that diverges returns a point before its history.
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


def _trace_texts(method: str, objective: Logistic, result: Result, limit: int) -> list[Row]:
    """The objective at the start and after each iteration up to the limit."""
    values = [value_at(objective, np.zeros(objective.shape)), *result.history["value"][:limit]]
    return [{"kind": "trace", "method": method, "iteration": t, "value": float(f)} for t, f in enumerate(values)]


def _draw_text_convergence(settings: Rcv1Settings, frame: pd.DataFrame) -> Picture:
    traces = select_rows(frame, kind="trace")

    def draw(figure: Figure) -> None:
        axes = np.atleast_1d(figure.subplots(1, len(settings.shown)))
        for ax, k in zip(axes, settings.shown, strict=True):
            here = select_rows(traces, k=k)
            longest = int(here["iteration"].max()) + 1 if len(here) else 0
            for method in METHOD_NAMES:
                runs = split_rows(select_rows(here, method=method), "replication").values()
                draw_runs(ax, [run["value"].to_numpy() for run in runs], method, longest, markevery=5)
            first = k == settings.shown[0]
            label = "ℓ2-regularized logistic loss" if first else ""
            finish_axes(ax, "iteration t", label, log="y", title=f"k = {k}", legend=first)

    caption = (
        f"Means with bands of standard errors over {count_runs(frame, 'split')}; a method that stopped keeps its last"
        f" value. FBS has {settings.limit} terms at the right end, and continues to k."
        f" {describe_steps(settings.multiple)}"
    )
    title = f"Figure 2: objective after each of the first {settings.limit} iterations on rcv1.binary"
    size = (2.0 + 2.6 * len(settings.shown), 3.6)
    return Picture("rcv1-convergence", title, caption, draw, size, opening=True)


def _draw_accuracy(settings: Rcv1Settings, frame: pd.DataFrame) -> Picture:
    main = select_rows(frame, kind="main")

    def draw(figure: Figure) -> None:
        measures = (("error", "test classification error"), ("seconds", "CPU seconds"), ("loss", "objective f"))
        for ax, (measure, label) in zip(figure.subplots(1, 3), measures, strict=True):
            draw_summaries(ax, main, "k", measure, METHOD_NAMES)
            finish_axes(ax, "cardinality k", label, log="" if measure == "error" else "y", legend=measure == "error")

    caption = (
        f"Means and standard errors over {count_runs(frame, 'split')}. The paper does not show the objective."
        f" {describe_steps(settings.multiple)}"
    )
    title = "Figure 3: test error, CPU time and objective over cardinality k on rcv1.binary"
    return Picture("rcv1-error-time", title, caption, draw, (11.0, 3.7), opening=True)


def _draw_text_steps(settings: Rcv1Settings, steps: pd.DataFrame) -> Picture:
    measures = (("error", "test classification error", "xy"), ("loss", "objective f", "xy"))
    caption = (
        f"Results after at most {settings.limit} iterations; multiples of 1/L. The paper does not state its step; the"
        f" other figures use {settings.multiple:g}/L (grey). Means and standard errors over"
        f" {count_runs(steps, 'split')}."
    )
    return Picture(
        "rcv1-steps",
        "How GraHTP and FGraHTP depend on their constant step η, for several k",
        caption,
        lambda figure: draw_steps(figure, steps, "k", measures, "η·L", settings.multiple),
        (9.0, 3.4),
    )


def _tabulate_all(main: pd.DataFrame) -> TextTable:
    measures = (("error", 4), ("loss", 4), ("early", 4), ("settled", 1), ("iterations", 1), ("seconds", 2))
    rows = [
        [k, method, *(format_mean(part, name, digits) for name, digits in measures)]
        for k in sorted(unique(main, "k"))
        for method, part in split_rows(select_rows(main, k=k), "method").items()
    ]
    train, test = (int(mean(main, name)) for name in ("train", "test"))
    caption = (
        f"Means with standard errors over {count_runs(main, 'split')}; {train:,} documents for training and"
        f" {test:,} for testing. Settled: the first iteration whose loss is at most {100 * NEAR:g} % above that of the"
        " returned x."
    )
    header = ("k", "method", "test error", "loss", f"loss at t = {EARLY}", "settled", "iterations", "CPU seconds")
    return TextTable("All results on rcv1.binary", caption, header, rows)
