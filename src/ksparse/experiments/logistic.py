"""The paper's §5.1, simulation: logistic regression with k of 1000 correlated features (Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..datasets import make_logistic
from ..objectives import Logistic
from ..solvers import Callback, Iteration, Result, Solver
from .base import Experiment, Figures, Picture, Scale, Settings, Task, TextTable
from .claims import Claim
from .drawing import curves, finish, step_curves
from .logistic_claims import claims_with_k, claims_with_n, ends_table, lower_is_not_nearer
from .methods import DEFAULT, FAITHFUL, FEATURE_METHODS, Method, step_caption, warm_up
from .tables import Row, Table
from .timing import solved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LogisticK", "LogisticN", "LogisticSettings"]

METHODS = (*FAITHFUL, DEFAULT)


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """All numbers of the two experiments.

    Attributes
    ----------
    places : tuple of (int, int)
        Values of (n, k).
    replications : int
        Data sets for each of them. The paper does not say how many it had.
    steps_at : tuple of int
        Values of n or k at which all multiples of `steps` are tried too.
    steps : tuple of float
        Multiples of 1/L.
    multiple : float
        The multiple of 1/L that GraHTP and FGraHTP take otherwise: the middle of `steps`, and what the default solver
        begins with.
    limit, limit_without_debiasing : int
        Iterations of GraHTP and GraSP, and of FGraHTP. The paper has no limits; with its stopping rule GraHTP ends
        much earlier, and GraSP often never.
    extras, long_limit : int
        Where steps are tried, so many data sets also have GraSP's last x and FGraHTP's after this limit.
    p, relevant, correlation, alpha, tolerance
        As in the paper.
    """

    places: tuple[tuple[int, int], ...]
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


def _with_n(sizes: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(n), 100) for n in sizes)


def _with_k(ks: Any) -> tuple[tuple[int, int], ...]:
    return tuple((500, int(k)) for k in ks)


class _Simulation(Experiment):
    """What both have in common; `over` is the name of what varies."""

    over: str

    def tasks(self, settings: LogisticSettings) -> list[Task]:
        return [
            Task({"n": n, "k": k, "replication": replication})
            for replication in range(settings.replications)
            for n, k in settings.places
        ]

    def run(self, settings: LogisticSettings, task: Task) -> list[Row]:
        n, k, seed = task.place["n"], task.place["k"], task.place["replication"]
        _compile()
        X, y, coef = make_logistic(
            n, settings.p, settings.relevant, correlation=settings.correlation, random_state=seed
        )
        objective = Logistic(X, y, alpha=settings.alpha)
        lipschitz = objective.lipschitz()
        rows = []
        for method in FEATURE_METHODS:
            solver = _solver(settings, method, settings.multiple / lipschitz)
            rows.append({"kind": "main", "method": method.name, **_measured(objective, k, solver, coef)})
        if task.place[self.over] in settings.steps_at:
            rows += self._steps(settings, objective, k, coef, rows)
            if seed < settings.extras:
                rows += _ends(settings, objective, k, coef)
        return rows

    @staticmethod
    def _steps(settings: LogisticSettings, objective: Logistic, k: int, coef: Array, main: list[Row]) -> list[Row]:
        """GraHTP and FGraHTP with all steps; what `main` has of them is not run again."""
        known = {row["method"]: row for row in main}
        lipschitz = objective.lipschitz()
        rows = []
        for method in FEATURE_METHODS[:2]:
            for multiple in settings.steps:
                solver = _solver(settings, method, multiple / lipschitz)
                again = multiple == settings.multiple
                measured = known[method.name] if again else _measured(objective, k, solver, coef)
                rows.append({**measured, "kind": "step", "method": method.name, "multiple": multiple})
        return rows

    def pictures(self, settings: LogisticSettings, table: Table) -> Figures:
        main = table.where(kind="main")
        what = {"n": "sample size n (k = 100)", "k": "cardinality k (n = 500)"}[self.over]

        def draw(figure: Figure) -> None:
            axes = figure.subplots(1, 3)
            measures = (("error", "estimation error ‖w − w̄‖"), ("loss", "objective f"), ("seconds", "CPU seconds"))
            for ax, (measure, name) in zip(axes, measures, strict=True):
                curves(ax, main, self.over, measure, METHODS)
                finish(ax, what, name, log="" if measure == "error" else "y", legend=measure == "error")

        caption = (
            f"{self.paper}, with the objective in the middle, which the paper does not show: means and standard errors"
            f" over {main.repeats()}.{lower_is_not_nearer(main, self.over, METHODS)} {step_caption(settings.multiple)}"
        )
        return [Picture(self.name, caption, draw, (11.0, 3.7)), *self._step_pictures(settings, table)]

    def text_tables(self, settings: LogisticSettings, table: Table) -> list[TextTable]:
        ends = table.where(kind="end")
        return [ends_table(table.where(kind="main"), ends, self.over)] if len(ends) else []

    def _step_pictures(self, settings: LogisticSettings, table: Table) -> Figures:
        steps = table.where(kind="step")
        if not len(steps):
            return []

        measures = (
            ("error", "estimation error", "xy"),
            ("loss", "objective f", "xy"),
            ("seconds", "CPU seconds", "xy"),
        )

        def draw(figure: Figure) -> None:
            step_curves(figure, steps, self.over, measures, "η·L", settings.multiple)

        caption = (
            "How the answers of GraHTP and FGraHTP depend on their constant step η, a multiple of 1/L. The paper does"
            f" not say which one it has; the other figures have {settings.multiple:g}/L (grey), the middle of those"
            f" tried and the one that the default solver begins with. Means and standard errors over {steps.repeats()}."
        )
        return [Picture(f"{self.name}-steps", caption, draw, (11.0, 3.4))]


@cache
def _compile() -> None:
    """Once in a process, on data of the kind that is timed."""
    X, y, _ = make_logistic(400, 600, 5)
    warm_up(Logistic(X, y, alpha=1e-2))


def _solver(settings: LogisticSettings, method: Method, step: float) -> Solver:
    limit = settings.limit_without_debiasing if method.name == "FGraHTP" else settings.limit
    return method.make(step, settings.tolerance, limit)


def _measured(objective: Logistic, k: int, solver: Solver, coef: Array) -> Row:
    """A fit: how far from the truth, its objective, and the seconds of the processor that it took."""
    result, seconds = solved(objective, k, solver)
    return _row(result, result.x, result.value, coef, seconds)


def _ends(settings: LogisticSettings, objective: Logistic, k: int, coef: Array) -> list[Row]:
    """The last x of GraSP at its limit, and of FGraHTP after many more iterations.

    A run that a limit ends gives its x with the lowest f, here and in the other rows; the last one is what a method
    that does not look at f would give.
    """
    rows = []
    limits = {"GraSP": settings.limit, "FGraHTP": settings.long_limit}
    for method in FEATURE_METHODS:
        if method.name not in limits:
            continue
        last: list[Array] = []
        solver = method.make(settings.multiple / objective.lipschitz(), settings.tolerance, limits[method.name])
        result, seconds = solved(objective, k, solver, callback=_keep_in(last))
        (x,) = last
        rows.append(
            {
                "kind": "end",
                "method": method.name,
                **_row(result, x, objective.at(x).value, coef, seconds),
                "returned": float(np.linalg.norm(result.x - coef)),
            }
        )
    return rows


def _keep_in(last: list[Array]) -> Callback:
    """What keeps the latest x, and no other."""

    def note(_: Iteration, x: Array) -> None:
        last[:] = [x]

    return note


def _row(result: Result, x: Array, value: float, coef: Array, seconds: float) -> Row:
    found, relevant = x != 0, coef != 0
    return {
        "error": float(np.linalg.norm(x - coef)),
        "loss": float(value),
        "recall": float((found & relevant).sum() / relevant.sum()),
        "seconds": seconds,
        "iterations": result.n_iter,
        "status": str(result.status),
    }


class LogisticN(_Simulation):
    """Figure 1, left: k fixed, n varying."""

    name = "logistic-n"
    title = "Logistic regression, sample size varying"
    paper = "Figure 1, left"
    over = "n"
    text = (
        "p = 1000 features with correlation ½ between neighbours, 100 standard normal coefficients, λ = 1e-4, k = 100;"
        " from w = 0 until ‖w⁽ᵗ⁾ − w⁽ᵗ⁻¹⁾‖ ≤ 1e-4·‖w⁽ᵗ⁻¹⁾‖, at most 50 iterations (FGraHTP:"
        " 1000): limits that the paper does not have. Claims say how many runs ended there; such a run gives its x"
        " with the lowest f, and the table below says what its last x, or more iterations, would change."
    )

    def settings(self, scale: Scale) -> LogisticSettings:
        return {
            "quick": LogisticSettings(_with_n((200, 600, 1200)), 1, (600,), extras=1),
            "standard": LogisticSettings(_with_n(range(200, 2001, 200)), 10, (600, 1200), extras=3),
            "full": LogisticSettings(_with_n(range(100, 2001, 100)), 100, (500, 1000, 2000)),
        }[scale]

    def claims(self, settings: LogisticSettings, table: Table) -> list[Claim]:
        return claims_with_n(self.paper, table)


class LogisticK(_Simulation):
    """Figure 1, right: n fixed, k varying."""

    name = "logistic-k"
    title = "Logistic regression, cardinality varying"
    paper = "Figure 1, right"
    over = "k"
    text = "The same with n = 500 and several k."

    def settings(self, scale: Scale) -> LogisticSettings:
        return {
            "quick": LogisticSettings(_with_k((100, 300)), 1, ()),
            "standard": LogisticSettings(_with_k(range(100, 501, 100)), 10, (100, 300), extras=3),
            "full": LogisticSettings(_with_k(range(100, 501, 50)), 100, (100, 300, 500)),
        }[scale]

    def claims(self, settings: LogisticSettings, table: Table) -> list[Claim]:
        return claims_with_k(self.paper, table)
