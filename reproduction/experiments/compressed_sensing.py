"""Compressed sensing, which the paper omits because GraHTP and FGraHTP are HTP and IHT there (§2, §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from ksparse.datasets import LinearModelData, make_compressed_sensing
from ksparse.objectives import LeastSquares, Objective, Quadratic
from ksparse.solvers import FBS, HTP, IHT, FGraHTP, GraHTP, GraSP, RelativeChange, Solver, SwapGraHTP

from ..base import Array, Experiment, Picture, Row, Scale, Settings, Task, TextTable
from ..claims import Claim, Verdict, combine, find_clear_difference, judge, judge_theorem
from ..drawing import draw_line, draw_summaries, finish_axes, get_style
from ..frames import select_rows, split_rows, summarize, unique
from ..methods import DEFAULT, METHOD_NAMES, TimedResult, solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CompressedSensing", "SensingSettings"]

#: Each method of the paper, and the method it reduces to.
REDUCTIONS = {"GraHTP": "HTP", "FGraHTP": "IHT"}
#: Solutions that differ by no more are equal up to rounding.
MAX_DIFFERENCE = 1e-10
COEFFICIENTS = {"Gaussian": "standard normal coefficients", "signs": "coefficients ±1"}


@dataclass(frozen=True)
class SensingSettings(Settings):
    """Settings of the experiment.

    Attributes
    ----------
    ks : tuple of int
        Numbers of nonzero coefficients.
    trials : int
        Problems for each of them and each kind of coefficients.
    n, p : int
        Shape of A.
    success : float
        A relative error ‖x − x̄‖/‖x̄‖ below this is a success.
    pursuit_step : float
        μ of HTP and GraHTP, for ½‖y − Ax‖².
    gradient_step : float
        μ of IHT and FGraHTP, which need a shorter one.
    steps_at : tuple of int
        Numbers of nonzero coefficients at which all of the following steps are tried too.
    pursuit_steps, gradient_steps : tuple of float
        Other values of μ, of HTP and GraHTP, and of IHT and FGraHTP.
    tolerance, limit
        IHT and FGraHTP stop once ‖x⁽ᵗ⁾ − x⁽ᵗ⁻¹⁾‖ ≤ tolerance·‖x⁽ᵗ⁻¹⁾‖, or at this iteration limit. The others stop
        once the support does not change.
    """

    ks: tuple[int, ...]
    trials: int
    n: int = 100
    p: int = 256
    success: float = 1e-4
    pursuit_step: float = 1.0
    gradient_step: float = 0.5
    steps_at: tuple[int, ...] = (20, 30)
    pursuit_steps: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
    gradient_steps: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    tolerance: float = 1e-7
    limit: int = 500


class _Contender(NamedTuple):
    """A method and the function that it minimizes."""

    name: str
    objective: Objective
    solver: Solver


class CompressedSensing(Experiment):
    """How often k-sparse coefficients are recovered from n measurements."""

    name = "compressed-sensing"
    title = "Compressed sensing"
    paper = "§2 and §5 (no figure)"
    text = (
        "y = Ax̄ without noise; A is Gaussian with columns of length 1, n = 100 and p = 256, and x̄ has k nonzero"
        " entries, Gaussian or ±1. A success is ‖x − x̄‖ < 1e-4·‖x̄‖. HTP and IHT are given the data A and y; GraHTP"
        " and FGraHTP are given the function ½xᵀAᵀAx − yᵀAx, which is ½‖y − Ax‖² up to a constant, and the same step."
        " (HTP and IHT are tested against the formulas of their own papers.) GraSP is CoSaMP here with a projection at"
        " the end of each iteration, and FBS is orthogonal matching pursuit. That methods are identical holds if they"
        " are so in all problems (partly: 80 %); which one succeeds more often is judged where they differ."
    )

    def make_settings(self, scale: Scale) -> SensingSettings:
        return {
            "quick": SensingSettings(
                (10, 25, 40), 3, steps_at=(25,), pursuit_steps=(0.5, 1.0, 2.0), gradient_steps=(0.25, 0.5, 1.0)
            ),
            "standard": SensingSettings(tuple(range(4, 49, 4)), 20, steps_at=(20, 32)),
            "full": SensingSettings(tuple(range(2, 49, 2)), 100),
        }[scale]

    def list_tasks(self, settings: SensingSettings) -> list[Task]:
        return [Task({"coefficients": name, "k": k}) for k in settings.ks for name in COEFFICIENTS]

    def run(self, settings: SensingSettings, task: Task) -> list[Row]:
        rows: list[Row] = []
        for trial in range(settings.trials):
            problem = _make_problem(settings, task.key["coefficients"], task.key["k"], trial)
            rows += [{"trial": trial, **row} for row in _run_trial(settings, problem, task.key["k"])]
            if task.key["k"] in settings.steps_at:
                rows += [{"trial": trial, **row} for row in _recover_by_steps(settings, problem, task.key["k"])]
        return rows

    def draw_pictures(self, settings: SensingSettings, frame: pd.DataFrame) -> list[Picture]:
        main = select_rows(frame, kind="main")

        def draw_panel(ax: Axes, part: pd.DataFrame) -> None:
            for special in REDUCTIONS.values():
                means = summarize(part, "k", "success", method=special)["mean"]
                ax.plot(means.index, means, color=get_style(special)["color"], linewidth=6, alpha=0.25, label=special)
            draw_summaries(ax, part, "k", "success", METHOD_NAMES)
            ax.locator_params(axis="x", integer=True)

        caption = (
            f"{settings.p} coefficients, {settings.n} measurements; a success is a relative error below"
            f" {settings.success:g}; standard errors over {settings.trials} problems. HTP and IHT are the pale bands,"
            " which coincide with the lines of GraHTP and FGraHTP. Steps for ½‖y − Ax‖²: HTP and GraHTP:"
            f" {settings.pursuit_step:g}; IHT and FGraHTP: {settings.gradient_step:g}; GraSP and FBS: none; {DEFAULT}:"
            " per coordinate, then swaps."
        )
        title = "How often k coefficients are recovered exactly"
        pictures = [
            Picture(self.name, title, caption, lambda figure: _draw_panels(figure, main, "sparsity k", "", draw_panel))
        ]
        steps = select_rows(frame, kind="step")
        return [*pictures, _draw_recovery_steps(settings, steps)] if len(steps) else pictures

    def make_tables(self, settings: SensingSettings, frame: pd.DataFrame) -> list[TextTable]:
        rows = []
        for method, special in REDUCTIONS.items():
            for name, words in COEFFICIENTS.items():
                differences = _compute_differences(frame, method, coefficients=name)
                rows.append([method, special, words, differences.size, f"{differences.max(initial=0.0):.1e}"])
        header = ("method", "is", "problems with", "problems", "largest difference of x")
        caption = "GraHTP and FGraHTP minimize a quadratic function; HTP and IHT are given A and y."
        return [TextTable("GraHTP is HTP and FGraHTP is IHT on ½‖y − Ax‖²", caption, header, rows)]

    def judge_claims(self, settings: SensingSettings, frame: pd.DataFrame) -> list[Claim]:
        main = select_rows(frame, kind="main")
        if len(main):
            main = main.assign(replication=main["trial"])
        others = ("FGraHTP", "GraSP", "FBS")
        return [
            Claim(
                "§2 and §5",
                "on ½‖y − Ax‖², GraHTP reduces to HTP and FGraHTP to IHT",
                combine({f"{name} and {special}": _judge_equal(frame, name) for name, special in REDUCTIONS.items()}),
            ),
            *(
                Claim(
                    "§3.2",
                    "HTP requires a weaker condition than earlier methods of compressed sensing (measured only by how"
                    f" often each one succeeds): {words}",
                    _judge_success(select_rows(main, coefficients=name), "GraHTP", others),
                    _judge_success(select_rows(main, coefficients=name), DEFAULT, ("GraHTP", *others)),
                    "The condition is sufficient, not necessary: where it fails, GraSP, which chooses among 3k"
                    " coefficients at a time, succeeds more often at some k.",
                )
                for name, words in COEFFICIENTS.items()
            ),
        ]


def _make_problem(settings: SensingSettings, coefficients: str, k: int, trial: int) -> LinearModelData:
    seed = [trial, k, list(COEFFICIENTS).index(coefficients)]
    return make_compressed_sensing(settings.n, settings.p, k, "signs" if coefficients == "signs" else "normal", seed)


def _list_contenders(settings: SensingSettings, A: Array, y: Array) -> Iterator[_Contender]:
    squares, function = LeastSquares(A, y), Quadratic(A.T @ A, A.T @ y)
    halting = RelativeChange(settings.tolerance)
    yield _Contender("HTP", squares, HTP(step=settings.pursuit_step))
    yield _Contender("GraHTP", function, GraHTP(step=settings.pursuit_step))
    yield _Contender("IHT", squares, IHT(step=settings.gradient_step, halting=halting, max_iter=settings.limit))
    yield _Contender("FGraHTP", function, _make_fgrahtp(settings, settings.gradient_step))
    yield _Contender("GraSP", squares, GraSP())
    yield _Contender("FBS", squares, FBS())
    yield _Contender(DEFAULT, squares, SwapGraHTP())


def _make_fgrahtp(settings: SensingSettings, step: float) -> FGraHTP:
    return FGraHTP(step=step, halting=RelativeChange(settings.tolerance), max_iter=settings.limit)


def _run_trial(settings: SensingSettings, problem: LinearModelData, k: int) -> Iterator[Row]:
    """All methods, and how far GraHTP and FGraHTP are from what they reduce to."""
    found: dict[str, Array] = {}
    for name, objective, solver in _list_contenders(settings, problem.X, problem.y):
        timed = solve(objective, k, solver)
        found[name] = timed.result.x
        yield {"kind": "main", "method": name, **_measure_recovery(settings, problem, timed)}
    for method, special in REDUCTIONS.items():
        difference = float(np.abs(found[method] - found[special]).max())
        yield {"kind": "reduction", "method": method, "difference": difference}


def _recover_by_steps(settings: SensingSettings, problem: LinearModelData, k: int) -> Iterator[Row]:
    """GraHTP and FGraHTP with other steps."""
    function = Quadratic(problem.X.T @ problem.X, problem.X.T @ problem.y)
    solvers: list[tuple[str, float, Solver]] = [("GraHTP", step, GraHTP(step=step)) for step in settings.pursuit_steps]
    solvers += [("FGraHTP", step, _make_fgrahtp(settings, step)) for step in settings.gradient_steps]
    for method, step, solver in solvers:
        timed = solve(function, k, solver)
        measured = {**_measure_recovery(settings, problem, timed), "status": str(timed.result.status)}
        yield {"kind": "step", "method": method, "step": step, **measured}


def _measure_recovery(settings: SensingSettings, problem: LinearModelData, timed: TimedResult) -> Row:
    error = float(np.linalg.norm(timed.result.x - problem.coef) / np.linalg.norm(problem.coef))
    return {
        "success": float(error < settings.success),
        "error": error,
        "seconds": timed.seconds,
        "iterations": timed.result.n_iter,
    }


def _draw_panels(figure: Figure, frame: pd.DataFrame, x: str, log: str, draw_panel: Callable[..., None]) -> None:
    """A panel for each kind of coefficients."""
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (name, words) in zip(axes, COEFFICIENTS.items(), strict=True):
        draw_panel(ax, select_rows(frame, coefficients=name))
        first = ax is axes[0]
        finish_axes(ax, x, "fraction of successes" if first else "", log=log, title=words, legend=first)
        ax.set_ylim(-0.03, 1.03)


def _draw_recovery_steps(settings: SensingSettings, steps: pd.DataFrame) -> Picture:
    def draw_panel(ax: Axes, part: pd.DataFrame) -> None:
        for k, line in zip(sorted(unique(steps, "k")), ("-", "--", ":"), strict=False):
            for method, special in REDUCTIONS.items():
                style = {**get_style(method), "linestyle": line, "label": f"{special}, k = {k}"}
                draw_line(ax, summarize(part, "step", "success", k=k, method=method), **style)

    stopped = select_rows(steps, method="FGraHTP", step=settings.gradient_step)["status"] == "max_iter"
    caption = (
        f"The other figure has μ = {settings.pursuit_step:g} and {settings.gradient_step:g}. With the latter"
        f" {stopped.mean():.0%} of these runs of IHT stop at the limit of {settings.limit} iterations."
    )
    return Picture(
        "compressed-sensing-steps",
        "How often HTP (GraHTP) and IHT (FGraHTP) succeed, over their constant step μ for ½‖y − Ax‖²",
        caption,
        lambda figure: _draw_panels(figure, steps, "step μ", "x", draw_panel),
    )


def _compute_differences(frame: pd.DataFrame, method: str, **values: str) -> Array:
    rows = select_rows(frame, kind="reduction", method=method, **values)
    return rows["difference"].to_numpy(dtype=float) if len(rows) else np.empty(0)


def _judge_equal(frame: pd.DataFrame, method: str) -> Verdict:
    differences = _compute_differences(frame, method)
    return judge_theorem(
        differences <= MAX_DIFFERENCE, "problems", f"largest difference {differences.max(initial=0.0):.1e}"
    )


def _judge_success(frame: pd.DataFrame, method: str, others: tuple[str, ...]) -> Verdict:
    """Whether a method succeeds more often than each of the others; the strongest of them decides."""
    return combine({f"compared with {other}": _judge_more_often(frame, method, other) for other in others})


def _judge_more_often(frame: pd.DataFrame, method: str, other: str) -> Verdict:
    """Whether a method succeeds more often than another one at the k at which they clearly differ."""
    found = [
        difference == "better"
        for part in split_rows(frame, "k").values()
        for difference in find_clear_difference(part, "success", method, other, -1.0)
        if difference != "neither"
    ]
    return judge(found, f"more often at {sum(found)} of the {len(found)} k at which they clearly differ")
