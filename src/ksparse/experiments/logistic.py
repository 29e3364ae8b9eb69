"""The paper's §5.1, simulation: logistic regression with k of 1000 correlated features (Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets import make_logistic
from ..objectives import Logistic
from ..solvers import Solver
from ..typing import Array
from .base import Experiment, Figures, Picture, Scale, Settings, Task
from .claims import (
    Claim,
    Verdict,
    at_limits,
    comparable,
    compared,
    falls,
    joined,
    leads,
    per_iteration,
    rises,
    verdict,
)
from .drawing import curves, finish, step_curves
from .methods import DEFAULT, FAITHFUL, FEATURE_METHODS, Method, step_caption, warm_up
from .tables import Row, Table
from .timing import solved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LogisticK", "LogisticN", "LogisticSettings"]

METHODS = (*FAITHFUL, DEFAULT)
#: A k that the paper calls small.
SMALL_K = 200
BOTH = ("GraHTP", "FGraHTP")
STEPS_DECIDE = (
    "With a constant step GraHTP soon meets a support that the step does not change; which one, and so its error,"
    " depends on the step, which the paper does not give: see the row on the best step, and the figure of steps."
)


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
            f" over {main.repeats()}. {step_caption(settings.multiple)}"
        )
        return [Picture(self.name, caption, draw, (11.0, 3.7)), *self._step_pictures(settings, table)]

    def _step_pictures(self, settings: LogisticSettings, table: Table) -> Figures:
        steps = table.where(kind="step")
        if not len(steps):
            return []

        measures = (
            ("error", "estimation error", "x"),
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

    def best_step(self, table: Table) -> list[Claim]:
        """Whether both are superior to GraSP and FBS with the best of the steps tried; nothing if none were."""
        main, steps = table.where(kind="main"), table.where(kind="step")
        places = sorted(steps.distinct(self.over))
        if not places:
            return []
        judged = Claim(
            self.paper,
            f"both are superior to GraSP and FBS: the same at {self.over} = {', '.join(map(str, places))}, with the"
            " best step of those tried for each of them",
            joined({name: self._at_best(steps.where(method=name), main, places) for name in BOTH}),
            reason="Where they are not, none of the steps tried would do.",
        )
        return [judged]

    def _at_best(self, steps: Table, main: Table, places: list[int]) -> Verdict:
        truths, said = [], []
        for place in places:
            here = {self.over: place}
            error, step = min((steps.mean("error", multiple=each, **here), each) for each in steps.distinct("multiple"))
            rivals = {name: main.mean("error", method=name, **here) for name in ("GraSP", "FBS")}
            truths += [error <= its for its in rivals.values()]
            others = ", ".join(f"{name} {its:.3g}" for name, its in rivals.items())
            said.append(f"{self.over} = {place}: {error:.3g} with {step:g}/L ({others})")
        return verdict(truths, f"{sum(truths)} of {len(truths)} comparisons; {'; '.join(said)}")

    def times(self, main: Table) -> list[Claim]:
        """What the paper says of Figure 1(b), both panels together."""
        quick = {name: compared(main, "seconds", self.over, name, ("GraSP",), slack=0.1) for name in BOTH}
        pace = per_iteration(main)
        return [
            Claim(
                self.paper,
                "in most cases FBS is the fastest one",
                at_limits(leads(main, "seconds", self.over, "FBS", ("GraHTP", "FGraHTP", "GraSP")), main, FAITHFUL),
                leads(main, "seconds", self.over, "FBS", (DEFAULT,)),
                "GraHTP ends after a few iterations here, in each of which Newton's method minimizes on its support;"
                " FBS needs k of them, on supports that grow.",
            ),
            Claim(
                self.paper,
                "GraHTP and FGraHTP are superior or comparable to GraSP in time",
                at_limits(joined(quick), main, FAITHFUL),
                compared(main, "seconds", self.over, DEFAULT, ("GraSP",), slack=0.1),
                "Where k is so large that GraSP's supports settle, it ends after few iterations, and FGraHTP does not.",
            ),
            Claim(
                self.paper,
                "an iteration of GraHTP is cheaper than one of GraSP, and one of FGraHTP cheaper still (§3.2, and §5)",
                joined(
                    {
                        "GraHTP and GraSP": compared(pace, "pace", self.over, "GraHTP", ("GraSP",)),
                        "FGraHTP and GraHTP": compared(pace, "pace", self.over, "FGraHTP", ("GraHTP",)),
                    }
                ),
            ),
        ]


def _less_sensitive(main: Table, method: str, others: tuple[str, ...]) -> Verdict:
    """Whether the mean errors of a method vary less with k than those of others."""
    spans = {}
    for name in (method, *others):
        means = main.series("k", "error", method=name).mean
        if means.size > 1:
            spans[name] = float(np.ptp(means) / means.mean())
    truths = [spans[method] <= spans[other] for other in others if {method, other} <= spans.keys()]
    said = ", ".join(f"{name} {span:.0%}" for name, span in spans.items())
    return verdict(truths, f"errors span, of their mean: {said}")


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
    found, relevant = result.x != 0, coef != 0
    return {
        "error": float(np.linalg.norm(result.x - coef)),
        "loss": float(result.value),
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
        " 1000): limits that the paper does not have; the claims on time say how many runs ended there."
    )

    def settings(self, scale: Scale) -> LogisticSettings:
        return {
            "quick": LogisticSettings(_with_n((200, 600, 1200)), 1, (600,)),
            "standard": LogisticSettings(_with_n(range(200, 2001, 200)), 10, (600, 1200)),
            "full": LogisticSettings(_with_n(range(100, 2001, 100)), 100, (500, 1000, 2000)),
        }[scale]

    def claims(self, settings: LogisticSettings, table: Table) -> list[Claim]:
        main = table.where(kind="main")
        superior = {name: compared(main, "error", "n", name, ("GraSP", "FBS")) for name in BOTH}
        return [
            Claim(
                self.paper,
                "k fixed: the estimation errors of all algorithms tend to decrease as n increases",
                falls(main, "error", "n", FAITHFUL),
                falls(main, "error", "n", (DEFAULT,)),
            ),
            Claim(
                self.paper,
                "k fixed: GraHTP and FGraHTP are comparable",
                comparable(main, "error", "n", *BOTH),
                comparable(main, "error", "n", DEFAULT, "FGraHTP"),
                "GraHTP ends after a few iterations with the minimum on its support, where coefficients are too large;"
                " those of FGraHTP, which does not minimize there, are smaller.",
            ),
            Claim(
                self.paper,
                "k fixed: both are superior to GraSP and FBS",
                joined(superior),
                compared(main, "error", "n", DEFAULT, ("GraSP", "FBS")),
                STEPS_DECIDE,
            ),
            *self.best_step(table),
            *self.times(main),
        ]


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
            "standard": LogisticSettings(_with_k(range(100, 501, 100)), 10, (100, 300)),
            "full": LogisticSettings(_with_k(range(100, 501, 50)), 100, (100, 300, 500)),
        }[scale]

    def claims(self, settings: LogisticSettings, table: Table) -> list[Claim]:
        main = table.where(kind="main")
        small = Table(row for row in main.rows if row["k"] < SMALL_K)
        early = Table(row for row in main.rows if row["k"] <= SMALL_K)
        superior = {name: compared(small, "error", "k", name, ("GraSP", "FBS")) for name in BOTH}
        return [
            Claim(
                self.paper,
                "n fixed: the errors of all but FBS tend to increase with k",
                rises(main, "error", "k", ("GraHTP", "FGraHTP", "GraSP")),
                rises(main, "error", "k", (DEFAULT,)),
                "At k = 100 GraHTP ends after a few iterations on a support on which f is least with coefficients that"
                " are too large.",
            ),
            Claim(
                self.paper,
                "FBS is relatively insensitive to k (its errors span a lesser share of their mean than those of others"
                " do)",
                _less_sensitive(main, "FBS", ("GraHTP", "FGraHTP", "GraSP")),
                _less_sensitive(main, "FBS", (DEFAULT,)),
                "All but GraHTP's errors change little with k here.",
            ),
            Claim(
                self.paper,
                f"GraHTP and FGraHTP are comparable and superior to GraSP and FBS at small k < {SMALL_K}",
                joined({"comparable": comparable(small, "error", "k", *BOTH), **superior}),
                compared(small, "error", "k", DEFAULT, ("GraSP", "FBS")),
                STEPS_DECIDE,
            ),
            *self.best_step(table),
            *self.times(main),
            Claim(
                self.paper,
                "when k is small, GraHTP is even faster than FGraHTP",
                at_limits(compared(early, "seconds", "k", "GraHTP", ("FGraHTP",)), early, BOTH),
                compared(early, "seconds", "k", DEFAULT, ("FGraHTP",)),
            ),
            Claim(
                self.paper,
                "when k is small, GraHTP tends to need fewer iterations than FGraHTP",
                at_limits(compared(early, "iterations", "k", "GraHTP", ("FGraHTP",)), early, BOTH),
                compared(early, "iterations", "k", DEFAULT, ("FGraHTP",)),
            ),
        ]
