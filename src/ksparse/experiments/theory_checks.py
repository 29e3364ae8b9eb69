"""The paper's §3 and §4.1 measured: convergence (Theorem 1), bounds of the errors (Theorem 2), and their floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from .._types import Array
from ..datasets import make_coefficients, make_linear, make_logistic
from ..objectives import LeastSquares, Logistic, Objective
from ..solvers import FGraHTP, GraHTP, Iteration, RelativeChange, Result, Solver, SwapGraHTP
from ..theory import ConditionC, restricted_eigenvalues
from .base import Experiment, Figures, Scale, Settings, Task, TextTable
from .claims import Claim, Verdict, joined, verdict
from .methods import DEFAULT
from .proofs import Proved, all_of, always
from .tables import Row, Table
from .theory_pictures import bounds_picture, convergence_picture, floor_picture, slope, slope_words
from .timing import solved

__all__ = ["TheoryChecks", "TheorySettings"]

METHODS = ("GraHTP", "FGraHTP", DEFAULT)
#: A slope in logarithms this close to 1 is proportionality.
PROPORTIONAL = 0.2
#: Rounding by which f may rise, and an error may exceed its bound, relative to their size at the start.
ROUNDING = 1e-12


@dataclass(frozen=True)
class TheorySettings(Settings):
    """All numbers of the experiment.

    Attributes
    ----------
    replications : int
        Problems for the theorems, of each kind.
    floor_replications : int
        Problems for each point of the floor of the errors.
    multiples : tuple of float
        Steps of Theorem 1, as multiples of its limit ζ/(1 + ρ_2k).
    correlation : float
        Between neighbouring features of the problems for Theorem 1.
    p, k, n : int
        Features, sparsity (of x and of x̄) and samples of the problems whose constants are computed from all supports.
    rough : int
        Samples of the problems for Theorem 1, which may be conditioned badly.
    rough_noise : float
        Standard deviation of their noise.
    limit : int
        FGraHTP has so many iterations for Theorem 1.
    ratio, below : float
        In Theorem 2 η is the lesser of ratio·ζ and below·ζ/(1 + ρ_2k), Theorem 1's limit.
    iterations : int
        So many are followed.
    noises : tuple of float
        Standard deviations of the noise in Theorem 2; with 0, x̄ minimizes f.
    large, sparsity : int
        Features and sparsity where the floor of the errors is measured.
    floor_noises : tuple of float
        Noise levels there.
    sizes, sparsities, dimensions : tuple of int
        Numbers of samples, sparsities and numbers of features there; where one varies, the others are the middle one
        of `sizes`, `sparsity` and `large`.
    floor_tolerance, floor_limit
        FGraHTP ends there once x changed by this share, or after so many iterations.
    strength, shrinkage : float
        Of the logistic loss there: coefficients ±strength, and λ = shrinkage·√(ln p/n).
    """

    replications: int
    floor_replications: int
    multiples: tuple[float, ...]
    floor_noises: tuple[float, ...]
    sizes: tuple[int, ...]
    sparsities: tuple[int, ...]
    dimensions: tuple[int, ...]
    correlation: float = 0.8
    p: int = 14
    k: int = 3
    n: int = 2400
    rough: int = 40
    rough_noise: float = 0.5
    limit: int = 3000
    ratio: float = 0.95
    below: float = 0.99
    iterations: int = 20
    noises: tuple[float, ...] = (0.0, 0.5)
    large: int = 500
    sparsity: int = 10
    floor_tolerance: float = 1e-5
    floor_limit: int = 5000
    strength: float = 0.5
    shrinkage: float = 1e-3


class TheoryChecks(Experiment):
    """Theorems 1 and 2, and how the error floor grows."""

    name = "theory"
    title = "What the theorems say"
    paper = "§3 and §4.1 (no figure)"
    text = (
        "Theorem 1: least squares with 14 correlated features, k = 3, from random x⁽⁰⁾, with steps below and above the"
        " limit ζ/(1 + ρ_2k), whose constants are computed from all supports of size 2k. Theorem 2: least squares with"
        " n = 2400 and 14 independent features, k = k̄ = 3, s = 2k + k̄ = 9, η the lesser of 0.95ζ and 0.99 of Theorem"
        " 1's limit, constants from all supports of size s, so that the rates μ₁ and μ₂ are below 1. The floor: p = 500"
        " independent features (quick: 200; where p varies, others), k = k̄ = 10 coefficients ±1 (logistic loss: ±½ and"
        " λ = 0.001·√(ln p/n), as §4.1 demands), η = 1/L; n is so large that the support is mostly found; with fewer"
        " samples no condition holds from which the bounds would follow. A theorem holds if all runs are as it says"
        " (partly: 80 %). The paper"
        " bounds the floor from above: it grows at most like something if its slope in logarithms is at most 1.2, and"
        " is proportional to it if the slope is within 0.2 of 1. If 1.2 is within two standard errors of the slope,"
        " nothing is said."
    )

    def settings(self, scale: Scale) -> TheorySettings:
        multiples = (0.5, 0.99, 2.0, 4.0, 8.0, 16.0)
        noises = (0.01, 0.03, 0.1, 0.3)
        ks, ps = (5, 10, 20, 40), (50, 200, 800, 3200)
        return {
            "quick": TheorySettings(3, 8, (0.5, 0.99, 4.0), (0.03, 0.3), (800, 6400), (5, 40), (50, 400), large=200),
            "standard": TheorySettings(20, 20, multiples, noises, (800, 1600, 3200, 6400), ks, ps),
            "full": TheorySettings(100, 100, multiples, noises, (800, 1600, 3200, 6400, 12800), ks, ps),
        }[scale]

    def tasks(self, settings: TheorySettings) -> list[Task]:
        theorems: list[dict[str, Any]] = [{"part": "convergence"}]
        theorems += [{"part": "bounds", "noise": noise} for noise in settings.noises]
        usual = {
            "loss": "squared",
            "noise": settings.floor_noises[-1],
            "n": settings.sizes[len(settings.sizes) // 2],
            "k": settings.sparsity,
        }
        floor = [{"part": "noise", **usual, "noise": noise} for noise in settings.floor_noises]
        floor += [{"part": "sparsity", **usual, "k": k} for k in settings.sparsities]
        floor += [{"part": "dimension", **usual, "p": p} for p in settings.dimensions]
        floor += [{"part": "size", **usual, "n": n} for n in settings.sizes]
        floor += [{"part": "size", **usual, "n": n, "loss": "logistic", "noise": 0.0} for n in settings.sizes]
        counted = ((theorems, settings.replications), (floor, settings.floor_replications))
        return [
            Task({**place, "replication": each})
            for each in range(max(settings.replications, settings.floor_replications))
            for places, count in counted
            for place in places
            if each < count
        ]

    def run(self, settings: TheorySettings, task: Task) -> list[Row]:
        work = {"convergence": _converging, "bounds": _bounded}.get(task.place["part"], _at_the_floor)
        return list(work(settings, task.place))

    def pictures(self, settings: TheorySettings, table: Table) -> Figures:
        return [
            convergence_picture(table),
            bounds_picture(table, settings.noises),
            floor_picture(table, METHODS),
        ]

    def text_tables(self, settings: TheorySettings, table: Table) -> list[TextTable]:
        bounds = table.where(part="bounds", t=0)
        constants = [
            [method, f"{bounds.mean('rho', method=method):.3f}", f"{bounds.mean('rate', method=method):.3f}"]
            for method in ("GraHTP", "FGraHTP")
        ]
        slopes = [
            [words, *(slope_words(*_slope(table, method, **place)) for method in METHODS)]
            for words, (_, place) in _SLOPES.items()
        ]
        return [
            TextTable("Constants of Theorem 2, means over the problems.", ("method", "ρ_s", "rate μ"), constants),
            TextTable(
                "Slopes of the root mean square error in logarithms, with standard errors; 1 is proportionality.",
                ("against", *METHODS),
                slopes,
            ),
        ]

    def claims(self, settings: TheorySettings, table: Table) -> list[Claim]:
        return [
            Claim(
                "Theorem 1",
                "for η < ζ/(1 + ρ_2k), GraHTP converges in a finite number of iterations, and f converges for FGraHTP"
                " (f never rises)",
                all_of({method: _converges(table, method) for method in ("GraHTP", "FGraHTP")}),
                _converges(table, DEFAULT),
            ),
            Claim(
                "Theorem 2(a)",
                "‖x⁽ᵗ⁾ − x̄‖ ≤ μ₁ᵗ‖x⁽⁰⁾ − x̄‖ + (2η + ζ)/((1 − μ₁)(1 − ρ_s))·‖∇_k f(x̄)‖ for GraHTP",
                _below(table, "GraHTP"),
                _below(table, DEFAULT),
            ),
            Claim(
                "Theorem 2(b)",
                "‖x⁽ᵗ⁾ − x̄‖ ≤ μ₂ᵗ‖x⁽⁰⁾ − x̄‖ + 2η/(1 − μ₂)·‖∇_s f(x̄)‖ for FGraHTP",
                _below(table, "FGraHTP"),
            ),
            Claim(
                "§3.2",
                "if ∇f(x̄) = 0 and η is also below Theorem 1's limit, GraHTP finds x̄ in a finite number of iterations",
                _exact(table, "GraHTP", settings),
                _exact(table, DEFAULT, settings),
            ),
            *(
                Claim(
                    where,
                    f"the error floor grows at most like {words}",
                    joined({method: _at_most_like(table, method, **place) for method in METHODS[:2]}),
                    _at_most_like(table, DEFAULT, **place),
                )
                for words, (where, place) in _SLOPES.items()
            ),
        ]


#: What the paper bounds the floor of the errors by: where it does, and in which rows what varies.
_SLOPES: dict[str, tuple[str, dict[str, str]]] = {
    f"{words}, {varied} varying": (where, {"x": x, "part": part, "loss": loss})
    for where, words, x, varied, part, loss in (
        ("Theorem 2", "‖∇_k f(x̄)‖ (FGraHTP: ‖∇_s f(x̄)‖)", "gradient", "the noise", "noise", "squared"),
        ("Theorem 2", "‖∇_k f(x̄)‖ (FGraHTP: ‖∇_s f(x̄)‖)", "gradient", "n", "size", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "n", "size", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "k", "sparsity", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "p", "dimension", "squared"),
        ("§4.1", "√(k ln p/n), logistic loss", "scale", "n", "size", "logistic"),
    )
}


def _condition(objective: LeastSquares, s: int) -> ConditionC:
    """The best constants for this quadratic and supports of size s."""
    hessian = objective.hessian(objective.at(np.zeros(objective.shape)))
    return ConditionC.from_quadratic(*restricted_eigenvalues(hessian, s))


def _followed(objective: Objective, k: int, solver: Solver, start: Array) -> tuple[Result, list[Array], list[float]]:
    """A fit with all its iterates and their values, the start being the first."""
    iterates, values = [start], [objective.at(start).value]

    def note(iteration: Iteration, x: Array) -> None:
        iterates.append(x)
        values.append(iteration.value)

    return solved(objective, k, solver, x0=start, callback=note).result, iterates, values


def _converging(settings: TheorySettings, place: dict[str, Any]) -> Iterator[Row]:
    """Theorem 1: whether f ever rises, and whether the iterates end, with steps around the limit."""
    rng = np.random.default_rng([1, place["replication"]])
    coef = make_coefficients(settings.p, settings.k, random_state=rng)
    X, y, _ = make_linear(
        settings.rough, correlation=settings.correlation, noise=settings.rough_noise, random_state=rng, coef=coef
    )
    objective = LeastSquares(X, y)
    start = make_coefficients(settings.p, settings.k, random_state=rng)
    limit = _condition(objective, 2 * settings.k).step_limit
    runs: list[tuple[str, float | None, Solver]] = [(DEFAULT, None, SwapGraHTP())]
    for multiple in settings.multiples:
        runs.append(("GraHTP", multiple, GraHTP(step=multiple * limit)))
        halting = RelativeChange(ROUNDING, of="f")
        runs.append(("FGraHTP", multiple, FGraHTP(step=multiple * limit, halting=halting, max_iter=settings.limit)))
    for method, share, solver in runs:
        result, _, values = _followed(objective, settings.k, solver, start)
        yield {
            "method": method,
            **({} if share is None else {"multiple": share}),
            "monotone": float(bool(np.all(np.diff(values) <= ROUNDING * values[0]))),
            "ended": float(result.success),
            "iterations": result.n_iter,
        }


def _bounded(settings: TheorySettings, place: dict[str, Any]) -> Iterator[Row]:
    """Theorem 2: the errors of the iterates, and their bounds."""
    rng = np.random.default_rng([2, place["replication"]])
    k, zero = settings.k, np.zeros(settings.p)
    coef = make_coefficients(settings.p, k, random_state=rng)
    X, y, _ = make_linear(settings.n, noise=place["noise"], random_state=rng, coef=coef)
    objective = LeastSquares(X, y)
    condition = _condition(objective, 3 * k)
    # Exact recovery in finitely many iterations needs what Theorem 1 demands of the step too.
    step = min(settings.ratio * condition.zeta, settings.below * _condition(objective, 2 * k).step_limit)
    gradient = objective.at(coef).gradient
    times, initial = np.arange(settings.iterations + 1), float(np.linalg.norm(coef))
    # Without noise ∇f(x̄) is 0 but for rounding, which the bounds then carry.
    slow = condition.grahtp_bound(step, times, initial, _top_norm(gradient, k))
    fast = condition.fgrahtp_bound(step, times, initial, _top_norm(gradient, 3 * k))
    follow = RelativeChange(0.0)
    runs = (
        ("GraHTP", GraHTP(step=step), slow, condition.grahtp_rate(step)),
        (
            "FGraHTP",
            FGraHTP(step=step, halting=follow, max_iter=settings.iterations),
            fast,
            condition.fgrahtp_rate(step),
        ),
        (DEFAULT, SwapGraHTP(), slow, condition.grahtp_rate(step)),
    )
    for method, solver, bound, rate in runs:
        result, iterates, _ = _followed(objective, k, solver, zero)
        errors = [float(np.linalg.norm(x - coef)) for x in iterates][: times.size]
        errors += [errors[-1]] * (times.size - len(errors))
        for t in times:
            row = {"t": int(t), "error": errors[t], "bound": float(bound[t]), "rate": rate, "rho": condition.rho}
            yield {"method": method, **row, "ended": float(result.success)}


def _at_the_floor(settings: TheorySettings, place: dict[str, Any]) -> Iterator[Row]:
    """The error that is left in the end, beside ‖∇_k f(x̄)‖ and √(k ln p/n)."""
    n, k, p = place["n"], place["k"], place.get("p", settings.large)
    rng = np.random.default_rng([3, place["replication"]])
    coef = make_coefficients(p, k, "signs", rng)
    objective: Objective
    if place["loss"] == "logistic":
        coef *= settings.strength
        X, y, _ = make_logistic(n, correlation=0.0, random_state=rng, coef=coef)
        objective = Logistic(X, y, alpha=settings.shrinkage * sqrt(log(p) / n))
    else:
        X, y, _ = make_linear(n, noise=place["noise"], random_state=rng, coef=coef)
        objective = LeastSquares(X, y)
    step, halting = 1.0 / objective.lipschitz(), RelativeChange(settings.floor_tolerance)
    gradient = objective.at(coef).gradient
    solvers = (GraHTP(step=step), FGraHTP(step=step, halting=halting, max_iter=settings.floor_limit), SwapGraHTP())
    for method, solver in zip(METHODS, solvers, strict=True):
        result, seconds = solved(objective, k, solver)
        yield {
            "method": method,
            "error": float(np.linalg.norm(result.x - coef)),
            # Theorem 2's bound for FGraHTP has s = 2k + k̄ entries of it.
            "gradient": _top_norm(gradient, 3 * k if method == "FGraHTP" else k),
            "scale": sqrt(k * log(p) / n),
            "seconds": seconds,
        }


def _top_norm(gradient: Array, k: int) -> float:
    """‖∇_k f‖: of its k largest entries."""
    return float(np.linalg.norm(np.sort(np.abs(gradient))[-k:]))


def _converges(table: Table, method: str) -> Proved:
    rows = [row for row in table.where(part="convergence", method=method).rows if row.get("multiple", 0.0) < 1.0]
    truths = [row["monotone"] == 1.0 and row["ended"] == 1.0 for row in rows]
    most = max((row["iterations"] for row in rows), default=0)
    return always(truths, "runs", f"at most {most} iterations")


def _below(table: Table, method: str) -> Proved:
    """Whether the errors of a run are below their bounds at all t."""
    part = table.where(part="bounds", method=method)
    within, closest = [], 0.0
    for run in (run for each in part.parts("noise").values() for run in each.parts("replication").values()):
        errors, bounds = run.values("error"), run.values("bound")
        within.append(bool(np.all(errors <= bounds + ROUNDING * run.mean("error", t=0))))
        later = run.values("t") > 0
        closest = max(closest, float(np.max(errors[later] / bounds[later], initial=0.0)))
    return always(within, "runs below at all t", f"from t = 1 at most {closest:.2f} of the bound")


def _exact(table: Table, method: str, settings: TheorySettings) -> Proved:
    part = table.where(part="bounds", method=method, noise=0.0)
    last, ended = (part.values(name, t=settings.iterations) for name in ("error", "ended"))
    found = (last <= 1e-10) & (ended == 1.0)
    largest = last.max(initial=0.0)
    size = f"{largest:.1e}" if largest else "0, to the last bit"
    return always(found, "problems", f"largest error in the end {size}")


def _slope(table: Table, method: str, x: str, **place: str) -> tuple[float, float]:
    """The slope of the error against x in logarithms, and its standard error over the replications."""
    return slope(table.where(method=method, **place), x)


def _at_most_like(table: Table, method: str, x: str, **place: str) -> Verdict:
    """Whether the slope is at most 1; one of which too little is known says nothing, rather than yes."""
    measured, error = _slope(table, method, x, **place)
    limit = 1.0 + PROPORTIONAL
    known = abs(measured - limit) > 2.0 * error
    if not known:
        return verdict([], f"slope {slope_words(measured, error)}, too uncertain to say")
    how = "more slowly" if measured < 1.0 - PROPORTIONAL else "in proportion" if measured <= limit else "faster"
    return verdict([measured <= limit], f"slope {slope_words(measured, error)}: {how}")
