"""The paper's §5.1, simulation: logistic regression with k of 1000 correlated features (Figure 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from ksparse.datasets import make_logistic
from ksparse.objectives import Logistic
from ksparse.solvers import Callback, Iteration, Result, Solver

from ..base import Array, Experiment, Picture, Row, Scale, Settings, Task, TextTable
from ..claims import Claim
from ..drawing import draw_steps, draw_summaries, finish_axes
from ..frames import count_runs, select_rows
from ..methods import FEATURE_METHODS, METHOD_NAMES, Method, describe_steps, solve, value_at, warm_up
from .logistic_claims import describe_lowest, judge_over_k, judge_over_n, tabulate_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LogisticK", "LogisticN", "LogisticSettings"]


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """Settings of both experiments.

    Attributes
    ----------
    sizes : tuple of (int, int)
        Values of (n, k).
    replications : int
        Data sets for each of them. The paper does not state its number.
    steps_at : tuple of int
        Values of n or k at which all multiples of `steps` are tried too.
    steps : tuple of float
        Multiples of 1/L.
    multiple : float
        The step of GraHTP and FGraHTP otherwise, as a multiple of 1/L: the middle of `steps`, and the first step of
        the default solver.
    limit, limit_without_debiasing : int
        Iteration limits of GraHTP and GraSP, and of FGraHTP. The paper has none; with its stopping rule GraHTP stops
        much earlier, and GraSP often never.
    extras, long_limit : int
        Where steps are tried, the last x of GraSP, and of FGraHTP with this limit, are kept for this many data sets.
    p, relevant, correlation, alpha, tolerance
        As in the paper.
    """

    sizes: tuple[tuple[int, int], ...]
    replications: int
    steps_at: tuple[int, ...]
    steps: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0, 256.0)
    multiple: float = 16.0
    limit: int = 50
    limit_without_debiasing: int = 1000
    extras: int = 20
    long_limit: int = 20_000
    p: int = 1000
    relevant: int = 100
    correlation: float = 0.5
    alpha: float = 1e-4
    tolerance: float = 1e-4


class _Simulation(Experiment):
    """What both have in common; `over` is the column that varies."""

    over: ClassVar[str]
    label: ClassVar[str]

    def list_tasks(self, settings: LogisticSettings) -> list[Task]:
        return [
            Task({"n": n, "k": k, "replication": replication})
            for replication in range(settings.replications)
            for n, k in settings.sizes
        ]

    def run(self, settings: LogisticSettings, task: Task) -> list[Row]:
        n, k, seed = task.key["n"], task.key["k"], task.key["replication"]
        _compile()
        X, y, coef = make_logistic(
            n, settings.p, settings.relevant, correlation=settings.correlation, random_state=seed
        )
        objective = Logistic(X, y, alpha=settings.alpha)
        rows = []
        for method in FEATURE_METHODS:
            solver = _make_solver(settings, method, settings.multiple / objective.lipschitz())
            rows.append({"kind": "main", "method": method.name, **_fit(objective, k, solver, coef)})
        if task.key[self.over] in settings.steps_at:
            rows += _try_steps(settings, objective, k, coef, rows)
            if seed < settings.extras:
                rows += _keep_last(settings, objective, k, coef)
        return rows

    def draw_pictures(self, settings: LogisticSettings, frame: pd.DataFrame) -> list[Picture]:
        main = select_rows(frame, kind="main")

        def draw(figure: Figure) -> None:
            measures = (("error", "estimation error ‖w − w̄‖"), ("loss", "objective f"), ("seconds", "CPU seconds"))
            for ax, (measure, label) in zip(figure.subplots(1, 3), measures, strict=True):
                draw_summaries(ax, main, self.over, measure, METHOD_NAMES)
                finish_axes(ax, self.label, label, log="" if measure == "error" else "y", legend=measure == "error")

        caption = (
            f"Means and standard errors over {count_runs(main)}. The paper does not show the objective."
            f"{describe_lowest(main, self.over, METHOD_NAMES)} {describe_steps(settings.multiple)}"
        )
        title = f"{self.paper}: error, objective and CPU time over {self.label}"
        pictures = [Picture(self.name, title, caption, draw, (11.0, 3.7), opening=True)]
        steps = select_rows(frame, kind="step")
        return [*pictures, self._draw_logistic_steps(settings, steps)] if len(steps) else pictures

    def _draw_logistic_steps(self, settings: LogisticSettings, steps: pd.DataFrame) -> Picture:
        names = {"error": "estimation error", "loss": "objective f", "seconds": "CPU seconds"}
        measures = [(measure, label, "xy") for measure, label in names.items()]
        caption = (
            f"Multiples of 1/L; the other figures use {settings.multiple:g}/L (grey), the middle of the tried steps and"
            " the first step of the default solver. The paper does not state its step. Means and standard errors over"
            f" {count_runs(steps)}."
        )
        return Picture(
            f"{self.name}-steps",
            f"How GraHTP and FGraHTP depend on their constant step η, for several {self.over}",
            caption,
            lambda figure: draw_steps(figure, steps, self.over, measures, "η·L", settings.multiple),
            (11.0, 3.4),
        )

    def make_tables(self, settings: LogisticSettings, frame: pd.DataFrame) -> list[TextTable]:
        last = select_rows(frame, kind="end")
        return [tabulate_limits(select_rows(frame, kind="main"), last, self.over)] if len(last) else []


@cache
def _compile() -> None:
    """Once in a process, on data of the kind that is timed."""
    X, y, _ = make_logistic(400, 600, 5)
    warm_up(Logistic(X, y, alpha=1e-2))


def _make_solver(settings: LogisticSettings, method: Method, step: float) -> Solver:
    limit = settings.limit_without_debiasing if method.name == "FGraHTP" else settings.limit
    return method.make(step, settings.tolerance, limit)


def _fit(objective: Logistic, k: int, solver: Solver, coef: Array) -> Row:
    result, seconds = solve(objective, k, solver)
    return _measure_fit(result, result.x, result.value, coef, seconds)


def _measure_fit(result: Result, x: Array, value: float, coef: Array, seconds: float) -> Row:
    found, relevant = x != 0, coef != 0
    return {
        "error": float(np.linalg.norm(x - coef)),
        "loss": float(value),
        "recall": float((found & relevant).sum() / relevant.sum()),
        "seconds": seconds,
        "iterations": result.n_iter,
        "status": str(result.status),
    }


def _try_steps(settings: LogisticSettings, objective: Logistic, k: int, coef: Array, main: list[Row]) -> list[Row]:
    """GraHTP and FGraHTP with all steps; the fits in `main` are not repeated."""
    known = {row["method"]: row for row in main}
    rows = []
    for method in FEATURE_METHODS[:2]:
        for multiple in settings.steps:
            if multiple == settings.multiple:
                measured = known[method.name]
            else:
                solver = _make_solver(settings, method, multiple / objective.lipschitz())
                measured = _fit(objective, k, solver, coef)
            rows.append({**measured, "kind": "step", "method": method.name, "multiple": multiple})
    return rows


def _keep_last(settings: LogisticSettings, objective: Logistic, k: int, coef: Array) -> list[Row]:
    """The last x of GraSP at its limit, and of FGraHTP after many more iterations.

    A run that stops at its limit returns the x with the lowest f, here and in the other rows; the last x is what a
    method that does not compare values of f would return.
    """
    rows = []
    limits = {"GraSP": settings.limit, "FGraHTP": settings.long_limit}
    for method in FEATURE_METHODS:
        if method.name not in limits:
            continue
        last: list[Array] = []
        solver = method.make(settings.multiple / objective.lipschitz(), settings.tolerance, limits[method.name])
        result, seconds = solve(objective, k, solver, callback=_keep_in(last))
        (x,) = last
        measured = _measure_fit(result, x, value_at(objective, x), coef, seconds)
        returned = float(np.linalg.norm(result.x - coef))
        rows.append({"kind": "end", "method": method.name, **measured, "returned": returned})
    return rows


def _keep_in(last: list[Array]) -> Callback:
    """A callback that keeps the latest x only."""

    def keep(_: Iteration, x: Array) -> None:
        last[:] = [x]

    return keep


def _list_sizes_over_n(ns: Iterable[int]) -> tuple[tuple[int, int], ...]:
    return tuple((n, 100) for n in ns)


def _list_sizes_over_k(ks: Iterable[int]) -> tuple[tuple[int, int], ...]:
    return tuple((500, k) for k in ks)


class LogisticN(_Simulation):
    """Figure 1, left: k fixed, n varying."""

    name = "logistic-n"
    title = "Logistic regression, varying sample size"
    paper = "Figure 1, left"
    over = "n"
    label = "sample size n (k = 100)"
    text = (
        "p = 1000 features with correlation ½ between neighbours, 100 standard normal coefficients, λ = 1e-4, k = 100;"
        " from w = 0 until ‖w⁽ᵗ⁾ − w⁽ᵗ⁻¹⁾‖ ≤ 1e-4·‖w⁽ᵗ⁻¹⁾‖, at most 50 iterations (FGraHTP: 1000). The paper has no"
        " such limits; the claims state how many runs stopped there. Such a run returns its x with the lowest f, and"
        " the table below shows the effect of its last x and of more iterations."
    )

    def make_settings(self, scale: Scale) -> LogisticSettings:
        return {
            "quick": LogisticSettings(_list_sizes_over_n((200, 600, 1200)), 1, (600,), extras=1),
            "standard": LogisticSettings(_list_sizes_over_n(range(200, 2001, 200)), 10, (600, 1200), extras=3),
            "full": LogisticSettings(_list_sizes_over_n(range(100, 2001, 100)), 100, (500, 1000, 2000)),
        }[scale]

    def judge_claims(self, settings: LogisticSettings, frame: pd.DataFrame) -> list[Claim]:
        return judge_over_n(self.paper, frame)


class LogisticK(_Simulation):
    """Figure 1, right: n fixed, k varying."""

    name = "logistic-k"
    title = "Logistic regression, varying cardinality"
    paper = "Figure 1, right"
    over = "k"
    label = "cardinality k (n = 500)"
    text = "The same with n = 500 and several k."

    def make_settings(self, scale: Scale) -> LogisticSettings:
        return {
            "quick": LogisticSettings(_list_sizes_over_k((100, 300)), 1, ()),
            "standard": LogisticSettings(_list_sizes_over_k(range(100, 501, 100)), 10, (100, 300), extras=3),
            "full": LogisticSettings(_list_sizes_over_k(range(100, 501, 50)), 100, (100, 300, 500)),
        }[scale]

    def judge_claims(self, settings: LogisticSettings, frame: pd.DataFrame) -> list[Claim]:
        return judge_over_k(self.paper, frame)
