"""Compressed sensing, which the paper left out because GraHTP and FGraHTP are HTP and IHT there (§2, §5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._types import Array
from ..datasets import LinearModelData, make_compressed_sensing
from ..datasets.simulations import Values
from ..objectives import LeastSquares, Objective, Quadratic
from ..solvers import FBS, HTP, IHT, FGraHTP, GraHTP, GraSP, RelativeChange, Result, Solver, SwapGraHTP
from .base import Experiment, Figures, Picture, Scale, Settings, Task, TextTable
from .claims import Claim, Verdict, clearly, joined, verdict
from .drawing import curves, finish, style_of
from .methods import DEFAULT
from .proofs import Proved, all_of, always
from .tables import Row, Table
from .timing import solved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CompressedSensing", "SensingSettings"]

METHODS = ("GraHTP", "FGraHTP", "GraSP", "FBS", DEFAULT)
#: Each method of the paper, and what it is here.
SAME = (("GraHTP", "HTP"), ("FGraHTP", "IHT"))
#: Answers that differ by no more are the same up to rounding.
ROUNDING = 1e-10
COEFFICIENTS = {"Gaussian": "standard normal coefficients", "signs": "coefficients ±1"}


@dataclass(frozen=True)
class SensingSettings(Settings):
    """All numbers of the experiment.

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
        μ of HTP and GraHTP, counted on ½‖y − Ax‖².
    gradient_step : float
        μ of IHT and FGraHTP, which need a shorter one.
    steps_at : tuple of int
        Numbers of nonzero coefficients at which all of the following steps are tried too.
    pursuit_steps, gradient_steps : tuple of float
        Other values of μ, of HTP and GraHTP, and of IHT and FGraHTP.
    tolerance, limit
        Of the rule by which IHT and FGraHTP stop, ‖x⁽ᵗ⁾ − x⁽ᵗ⁻¹⁾‖ ≤ tolerance·‖x⁽ᵗ⁻¹⁾‖, and their limit of iterations.
        The others stop once the support stays as it was.
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
    """A method, and the function that it minimizes."""

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
        " the end of each iteration, and FBS is orthogonal matching pursuit. That methods are the same holds if it is"
        " so in all problems (partly: 80 %); which succeeds more often is judged where they differ."
    )

    def settings(self, scale: Scale) -> SensingSettings:
        return {
            "quick": SensingSettings(
                (10, 25, 40), 3, steps_at=(25,), pursuit_steps=(0.5, 1.0, 2.0), gradient_steps=(0.25, 0.5, 1.0)
            ),
            "standard": SensingSettings(tuple(range(4, 49, 4)), 20, steps_at=(20, 32)),
            "full": SensingSettings(tuple(range(2, 49, 2)), 100),
        }[scale]

    def tasks(self, settings: SensingSettings) -> list[Task]:
        return [Task({"coefficients": name, "k": k}) for k in settings.ks for name in COEFFICIENTS]

    def run(self, settings: SensingSettings, task: Task) -> list[Row]:
        rows: list[Row] = []
        for trial in range(settings.trials):
            problem = _problem(settings, task.place["coefficients"], task.place["k"], trial)
            rows += [{"trial": trial, **row} for row in _trial(settings, problem, task.place["k"])]
            if task.place["k"] in settings.steps_at:
                rows += [{"trial": trial, **row} for row in _steps(settings, problem, task.place["k"])]
        return rows

    def pictures(self, settings: SensingSettings, table: Table) -> Figures:
        main = table.where(kind="main")

        def draw(figure: Figure) -> None:
            axes = figure.subplots(1, 2, sharey=True)
            for ax, (name, words) in zip(axes, COEFFICIENTS.items(), strict=True):
                part = main.where(coefficients=name)
                _bands(ax, part)
                curves(ax, part, "k", "success", METHODS)
                first = name == "Gaussian"
                finish(ax, "sparsity k", "share of successes" if first else "", title=words, legend=first)
                ax.set_ylim(-0.03, 1.03)
                ax.xaxis.get_major_locator().set_params(integer=True)

        caption = (
            f"How often k of {settings.p} coefficients are found from {settings.n} measurements (relative error below"
            f" {settings.success:g}), with standard errors over {settings.trials} problems. HTP and IHT are the pale"
            " bands; GraHTP and FGraHTP lie on them. Steps, counted on ½‖y − Ax‖²: HTP and GraHTP:"
            f" {settings.pursuit_step:g}; IHT and FGraHTP: {settings.gradient_step:g}; GraSP and FBS: none; {DEFAULT}:"
            " per coordinate, then exchanges."
        )
        return [Picture(self.name, caption, draw, (9.0, 3.6)), *_step_pictures(settings, table)]

    def text_tables(self, settings: SensingSettings, table: Table) -> list[TextTable]:
        rows = []
        for method, special in SAME:
            for name in COEFFICIENTS:
                differences = table.values("difference", kind="reduction", method=method, coefficients=name)
                largest = f"{differences.max(initial=0.0):.1e}"
                rows.append([method, special, COEFFICIENTS[name], differences.size, largest])
        heads = ("method", "is", "problems with", "problems", "largest difference of x")
        return [TextTable("GraHTP is HTP and FGraHTP is IHT on ½‖y − Ax‖²: how far their answers differ.", heads, rows)]

    def claims(self, settings: SensingSettings, table: Table) -> list[Claim]:
        main = Table({**row, "replication": row["trial"]} for row in table.where(kind="main").rows)
        others = ("FGraHTP", "GraSP", "FBS")
        return [
            Claim(
                "§2 and §5",
                "on ½‖y − Ax‖², GraHTP reduces to HTP and FGraHTP to IHT",
                all_of({f"{method} and {special}": _agree(table, method) for method, special in SAME}),
            ),
            *(
                Claim(
                    "§3.2",
                    "HTP requires a weaker condition than earlier methods of compressed sensing (seen here only by how"
                    f" often each one succeeds): {words}",
                    _succeeds(main.where(coefficients=name), "GraHTP", others),
                    _succeeds(main.where(coefficients=name), DEFAULT, ("GraHTP", *others)),
                    "The condition is sufficient, not necessary: where it fails, GraSP, which chooses among 3k"
                    " coefficients at a time, succeeds more often at some k.",
                )
                for name, words in COEFFICIENTS.items()
            ),
        ]


def _problem(settings: SensingSettings, coefficients: str, k: int, trial: int) -> LinearModelData:
    values: Values = "signs" if coefficients == "signs" else "normal"
    seed = [trial, k, list(COEFFICIENTS).index(coefficients)]
    return make_compressed_sensing(settings.n, settings.p, k, values, seed)


def _contenders(settings: SensingSettings, A: Array, y: Array) -> Iterator[_Contender]:
    squares, function = LeastSquares(A, y), Quadratic(A.T @ A, A.T @ y)
    halting = RelativeChange(settings.tolerance)
    yield _Contender("HTP", squares, HTP(step=settings.pursuit_step))
    yield _Contender("GraHTP", function, GraHTP(step=settings.pursuit_step))
    yield _Contender("IHT", squares, IHT(step=settings.gradient_step, halting=halting, max_iter=settings.limit))
    yield _Contender("FGraHTP", function, _fgrahtp(settings, settings.gradient_step))
    yield _Contender("GraSP", squares, GraSP())
    yield _Contender("FBS", squares, FBS())
    yield _Contender(DEFAULT, squares, SwapGraHTP())


def _fgrahtp(settings: SensingSettings, step: float) -> FGraHTP:
    return FGraHTP(step=step, halting=RelativeChange(settings.tolerance), max_iter=settings.limit)


def _trial(settings: SensingSettings, problem: LinearModelData, k: int) -> Iterator[Row]:
    """What each method finds, and how far GraHTP and FGraHTP are from what they are here."""
    found: dict[str, Array] = {}
    for name, objective, solver in _contenders(settings, problem.X, problem.y):
        result, seconds = solved(objective, k, solver)
        found[name] = result.x
        yield {"kind": "main", "method": name, **_measured(settings, problem, result, seconds)}
    for method, special in SAME:
        difference = float(np.abs(found[method] - found[special]).max())
        yield {"kind": "reduction", "method": method, "difference": difference}


def _steps(settings: SensingSettings, problem: LinearModelData, k: int) -> Iterator[Row]:
    """GraHTP and FGraHTP with other steps."""
    function = Quadratic(problem.X.T @ problem.X, problem.X.T @ problem.y)
    solvers: list[tuple[str, float, Solver]] = [("GraHTP", step, GraHTP(step=step)) for step in settings.pursuit_steps]
    solvers += [("FGraHTP", step, _fgrahtp(settings, step)) for step in settings.gradient_steps]
    for method, step, solver in solvers:
        result, seconds = solved(function, k, solver)
        measured = _measured(settings, problem, result, seconds)
        yield {"kind": "step", "method": method, "step": step, **measured, "status": str(result.status)}


def _measured(settings: SensingSettings, problem: LinearModelData, result: Result, seconds: float) -> Row:
    error = float(np.linalg.norm(result.x - problem.coef) / np.linalg.norm(problem.coef))
    return {
        "success": float(error < settings.success),
        "error": error,
        "seconds": seconds,
        "iterations": result.n_iter,
    }


def _step_pictures(settings: SensingSettings, table: Table) -> Figures:
    steps = table.where(kind="step")
    if not len(steps):
        return []

    def draw(figure: Figure) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for ax, (name, words) in zip(axes, COEFFICIENTS.items(), strict=True):
            for k, line in zip(sorted(steps.distinct("k")), ("-", "--", ":"), strict=False):
                for method, special in SAME:
                    part = steps.where(coefficients=name, k=k, method=method)
                    series = part.series("step", "success")
                    look = {**style_of(method), "linestyle": line, "label": f"{special}, k = {k}", "elinewidth": 0.8}
                    ax.errorbar(series.x, series.mean, yerr=np.nan_to_num(series.error), **look)
            first = name == "Gaussian"
            finish(ax, "step μ", "share of successes" if first else "", log="x", title=words, legend=first)
            ax.set_ylim(-0.03, 1.03)

    ended = steps.where(method="FGraHTP", step=settings.gradient_step)
    share = np.mean([row["status"] == "max_iter" for row in ended.rows]) if len(ended) else np.nan
    caption = (
        "How often HTP (GraHTP) and IHT (FGraHTP) succeed depends on their constant step μ, counted on ½‖y − Ax‖²; the"
        f" other figure has {settings.pursuit_step:g} and {settings.gradient_step:g}. With the latter {share:.0%} of"
        f" these runs of IHT end at the limit of {settings.limit} iterations."
    )
    return [Picture("compressed-sensing-steps", caption, draw, (9.0, 3.6))]


def _bands(ax: Axes, table: Table) -> None:
    """HTP and IHT, under the lines of GraHTP and FGraHTP."""
    for _, special in SAME:
        series = table.series("k", "success", method=special)
        ax.plot(series.x, series.mean, color=style_of(special)["color"], linewidth=6, alpha=0.25, label=special)


def _agree(table: Table, method: str) -> Proved:
    differences = table.values("difference", kind="reduction", method=method)
    return always(differences <= ROUNDING, "problems", f"largest difference {differences.max(initial=0.0):.1e}")


def _succeeds(table: Table, method: str, others: tuple[str, ...]) -> Verdict:
    """Whether a method succeeds more often than each of the others; the strongest of them decides."""
    return joined({f"against {other}": _more_often(table, method, other) for other in others})


def _more_often(table: Table, method: str, other: str) -> Verdict:
    """Whether a method succeeds more often than another one, at those k at which they clearly differ."""
    found = [
        said
        for part in table.parts("k").values()
        for said in clearly(part, "success", method, other, -1.0)
        if said != "neither"
    ]
    truths = [said == "for" for said in found]
    return verdict(truths, f"more often at {sum(truths)} of the {len(truths)} k at which they clearly differ")
