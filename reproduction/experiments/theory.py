"""The paper's §3 and §4.1 measured: convergence (Theorem 1), error bounds (Theorem 2), and the error floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd

from ksparse.datasets import make_coefficients, make_linear, make_logistic
from ksparse.objectives import LeastSquares, Logistic, Objective
from ksparse.solvers import FGraHTP, GraHTP, Iteration, RelativeChange, Result, Solver, SwapGraHTP
from ksparse.theory import ConditionC, restricted_eigenvalues

from ..base import Array, Experiment, Picture, Row, Scale, Settings, Task, TextTable
from ..claims import Claim, Verdict, combine, judge, judge_theorem
from ..frames import mean, select_rows
from ..methods import DEFAULT, gradient_at, solve, value_at
from .theory_figures import draw_bounds, draw_convergence, draw_floor, fit_slope, format_slope

__all__ = ["TheoryChecks", "TheorySettings"]

THEORY_METHODS = ("GraHTP", "FGraHTP", DEFAULT)
#: A slope in logarithms this close to 1 is proportionality.
PROPORTIONAL = 0.2
#: Rounding by which f may rise and an error may exceed its bound, relative to their values at the start.
ROUNDING = 1e-12


@dataclass(frozen=True)
class TheorySettings(Settings):
    """Settings of the experiment.

    Attributes
    ----------
    replications : int
        Problems for each theorem.
    floor_replications : int
        Problems for each point of the error floor.
    multiples : tuple of float
        Steps of Theorem 1, as multiples of its limit ζ/(1 + ρ_2k).
    correlation : float
        Correlation between neighbouring features of the problems for Theorem 1.
    p, k, n : int
        Features, sparsity (of x and of x̄) and samples of the problems whose constants are computed from all supports.
    rough : int
        Samples of the problems for Theorem 1, which may be badly conditioned.
    rough_noise : float
        Standard deviation of their noise.
    limit : int
        Iteration limit of FGraHTP for Theorem 1.
    ratio, below : float
        In Theorem 2 η is the smaller of ratio·ζ and below·ζ/(1 + ρ_2k), Theorem 1's limit.
    iterations : int
        Number of iterations that are followed.
    noises : tuple of float
        Standard deviations of the noise in Theorem 2; with 0, x̄ minimizes f.
    large, sparsity : int
        Features and sparsity where the error floor is measured.
    floor_noises : tuple of float
        Noise levels there.
    sizes, sparsities, dimensions : tuple of int
        Numbers of samples, sparsities and numbers of features there; where one varies, the others are the middle one
        of `sizes`, `sparsity` and `large`.
    floor_tolerance, floor_limit
        FGraHTP stops there once the relative change of x is at most this, or at this limit.
    strength, shrinkage : float
        For the logistic loss there: coefficients ±strength, and λ = shrinkage·√(ln p/n).
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
    """Theorems 1 and 2, and the growth of the error floor."""

    name = "theory"
    title = "The theorems"
    paper = "§3 and §4.1 (no figure)"
    text = (
        "Theorem 1: least squares with 14 correlated features, k = 3, from random x⁽⁰⁾, with steps below and above the"
        " limit ζ/(1 + ρ_2k), whose constants are computed from all supports of size 2k. Theorem 2: least squares with"
        " n = 2400 and 14 independent features, k = k̄ = 3, s = 2k + k̄ = 9, η the smaller of 0.95ζ and 0.99 of Theorem"
        " 1's limit, constants from all supports of size s, so that the rates μ₁ and μ₂ are below 1. The error floor:"
        " p = 500 independent features (quick: 200; where p varies, others), k = k̄ = 10 coefficients ±1 (logistic"
        " loss: ±½ and λ = 0.001·√(ln p/n), as §4.1 requires), η = 1/L; n is large enough that the support is mostly"
        " found; with fewer samples the bounds' conditions do not hold. A theorem holds if all runs agree with it"
        " (partly: 80 %). The paper bounds the floor from above: it grows at most like something if its slope in"
        " logarithms is at most 1.2, and is proportional to it if the slope is within 0.2 of 1. If 1.2 is within two"
        " standard errors of the slope, there is no verdict."
    )

    def make_settings(self, scale: Scale) -> TheorySettings:
        multiples = (0.5, 0.99, 2.0, 4.0, 8.0, 16.0)
        noises = (0.01, 0.03, 0.1, 0.3)
        ks, ps = (5, 10, 20, 40), (50, 200, 800, 3200)
        return {
            "quick": TheorySettings(3, 8, (0.5, 0.99, 4.0), (0.03, 0.3), (800, 6400), (5, 40), (50, 400), large=200),
            "standard": TheorySettings(20, 20, multiples, noises, (800, 1600, 3200, 6400), ks, ps),
            "full": TheorySettings(100, 100, multiples, noises, (800, 1600, 3200, 6400, 12800), ks, ps),
        }[scale]

    def list_tasks(self, settings: TheorySettings) -> list[Task]:
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
        repeated = ((theorems, settings.replications), (floor, settings.floor_replications))
        return [
            Task({**key, "replication": replication})
            for replication in range(max(settings.replications, settings.floor_replications))
            for keys, count in repeated
            for key in keys
            if replication < count
        ]

    def run(self, settings: TheorySettings, task: Task) -> list[Row]:
        work = {"convergence": _check_convergence, "bounds": _check_bounds}.get(task.key["part"], _measure_floor)
        return list(work(settings, task.key))

    def draw_pictures(self, settings: TheorySettings, frame: pd.DataFrame) -> list[Picture]:
        return [
            draw_convergence(frame),
            draw_bounds(frame, settings.noises),
            draw_floor(frame, THEORY_METHODS),
        ]

    def make_tables(self, settings: TheorySettings, frame: pd.DataFrame) -> list[TextTable]:
        bounds = select_rows(frame, part="bounds", t=0)
        constants = [
            [method, *(f"{mean(bounds, name, method=method):.3f}" for name in ("rho", "rate"))]
            for method in ("GraHTP", "FGraHTP")
        ]
        slopes = [
            [words, *(format_slope(*_fit_slope(frame, method, **key)) for method in THEORY_METHODS)]
            for words, (_, key) in _BOUNDS.items()
        ]
        caption = "Root mean square error, with standard errors of the slopes; 1 is proportionality."
        return [
            TextTable("Constants of Theorem 2", "Means over the problems.", ("method", "ρ_s", "rate μ"), constants),
            TextTable("Slopes of the error floor in logarithms", caption, ("against", *THEORY_METHODS), slopes),
        ]

    def judge_claims(self, settings: TheorySettings, frame: pd.DataFrame) -> list[Claim]:
        return [
            Claim(
                "Theorem 1",
                "for η < ζ/(1 + ρ_2k), GraHTP converges in a finite number of iterations, and f converges for FGraHTP"
                " (f never rises)",
                combine({method: _judge_convergence(frame, method) for method in ("GraHTP", "FGraHTP")}),
                _judge_convergence(frame, DEFAULT),
            ),
            Claim(
                "Theorem 2(a)",
                "‖x⁽ᵗ⁾ − x̄‖ ≤ μ₁ᵗ‖x⁽⁰⁾ − x̄‖ + (2η + ζ)/((1 − μ₁)(1 − ρ_s))·‖∇_k f(x̄)‖ for GraHTP",
                _judge_bounds(frame, "GraHTP"),
                _judge_bounds(frame, DEFAULT),
            ),
            Claim(
                "Theorem 2(b)",
                "‖x⁽ᵗ⁾ − x̄‖ ≤ μ₂ᵗ‖x⁽⁰⁾ − x̄‖ + 2η/(1 − μ₂)·‖∇_s f(x̄)‖ for FGraHTP",
                _judge_bounds(frame, "FGraHTP"),
            ),
            Claim(
                "§3.2",
                "if ∇f(x̄) = 0 and η is also below Theorem 1's limit, GraHTP finds x̄ in a finite number of iterations",
                _judge_exact(frame, "GraHTP", settings),
                _judge_exact(frame, DEFAULT, settings),
            ),
            *(
                Claim(
                    source,
                    f"the error floor grows at most like {words}",
                    combine({method: _judge_growth(frame, method, **key) for method in THEORY_METHODS[:2]}),
                    _judge_growth(frame, DEFAULT, **key),
                )
                for words, (source, key) in _BOUNDS.items()
            ),
        ]


#: The paper's bounds of the error floor: where they are, and the rows in which they are tested.
_BOUNDS: dict[str, tuple[str, dict[str, str]]] = {
    f"{words}, {varied} varying": (source, {"x": x, "part": part, "loss": loss})
    for source, words, x, varied, part, loss in (
        ("Theorem 2", "‖∇_k f(x̄)‖ (FGraHTP: ‖∇_s f(x̄)‖)", "gradient", "the noise", "noise", "squared"),
        ("Theorem 2", "‖∇_k f(x̄)‖ (FGraHTP: ‖∇_s f(x̄)‖)", "gradient", "n", "size", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "n", "size", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "k", "sparsity", "squared"),
        ("Theorem 2, §4.1", "√(k ln p/n)", "scale", "p", "dimension", "squared"),
        ("§4.1", "√(k ln p/n), logistic loss", "scale", "n", "size", "logistic"),
    )
}


def _find_condition(X: Array, s: int) -> ConditionC:
    """The best constants for least squares with this X and supports of size s."""
    return ConditionC.from_hessian(*restricted_eigenvalues(X.T @ X / len(X), s))


def _follow(objective: Objective, k: int, solver: Solver, start: Array) -> tuple[Result, list[Array], list[float]]:
    """A fit with all its iterates and their values, including the start."""
    iterates, values = [start], [value_at(objective, start)]

    def keep(iteration: Iteration, x: Array) -> None:
        iterates.append(x)
        values.append(iteration.value)

    return solve(objective, k, solver, x0=start, callback=keep).result, iterates, values


def _check_convergence(settings: TheorySettings, key: dict[str, Any]) -> Iterator[Row]:
    """Theorem 1: whether f ever rises and whether runs converge, with steps around the limit."""
    rng = np.random.default_rng([1, key["replication"]])
    coef = make_coefficients(settings.p, settings.k, random_state=rng)
    X, y, _ = make_linear(
        settings.rough, correlation=settings.correlation, noise=settings.rough_noise, random_state=rng, coef=coef
    )
    objective = LeastSquares(X, y)
    start = make_coefficients(settings.p, settings.k, random_state=rng)
    limit = _find_condition(X, 2 * settings.k).step_limit
    runs: list[tuple[str, float | None, Solver]] = [(DEFAULT, None, SwapGraHTP())]
    for multiple in settings.multiples:
        runs.append(("GraHTP", multiple, GraHTP(step=multiple * limit)))
        halting = RelativeChange(ROUNDING, of="f")
        runs.append(("FGraHTP", multiple, FGraHTP(step=multiple * limit, halting=halting, max_iter=settings.limit)))
    for method, tried, solver in runs:
        result, _, values = _follow(objective, settings.k, solver, start)
        yield {
            "method": method,
            **({} if tried is None else {"multiple": tried}),
            "monotone": float(bool(np.all(np.diff(values) <= ROUNDING * values[0]))),
            "ended": float(result.success),
            "iterations": result.n_iter,
        }


def _check_bounds(settings: TheorySettings, key: dict[str, Any]) -> Iterator[Row]:
    """Theorem 2: the errors of the iterates, and their bounds."""
    rng = np.random.default_rng([2, key["replication"]])
    k = settings.k
    coef = make_coefficients(settings.p, k, random_state=rng)
    X, y, _ = make_linear(settings.n, noise=key["noise"], random_state=rng, coef=coef)
    objective = LeastSquares(X, y)
    condition = _find_condition(X, 3 * k)
    # Exact recovery in finitely many iterations also needs Theorem 1's condition on the step.
    step = min(settings.ratio * condition.zeta, settings.below * _find_condition(X, 2 * k).step_limit)
    gradient = gradient_at(objective, coef)
    times, initial = np.arange(settings.iterations + 1), float(np.linalg.norm(coef))
    # Without noise ∇f(x̄) is 0 except for rounding, which the bounds then include.
    slow = condition.grahtp_bound(step, times, initial, _norm_of_largest(gradient, k))
    fast = condition.fgrahtp_bound(step, times, initial, _norm_of_largest(gradient, 3 * k))
    slow_rate, fast_rate = condition.grahtp_rate(step), condition.fgrahtp_rate(step)
    fgrahtp = FGraHTP(step=step, halting=RelativeChange(0.0), max_iter=settings.iterations)
    runs: tuple[tuple[str, Solver, Array, float], ...] = (
        ("GraHTP", GraHTP(step=step), slow, slow_rate),
        ("FGraHTP", fgrahtp, fast, fast_rate),
        (DEFAULT, SwapGraHTP(), slow, slow_rate),
    )
    for method, solver, bound, rate in runs:
        result, iterates, _ = _follow(objective, k, solver, np.zeros(settings.p))
        errors = [float(np.linalg.norm(x - coef)) for x in iterates][: times.size]
        errors += [errors[-1]] * (times.size - len(errors))
        for t in times:
            row = {"t": int(t), "error": errors[t], "bound": float(bound[t]), "rate": rate, "rho": condition.rho}
            yield {"method": method, **row, "ended": float(result.success)}


def _measure_floor(settings: TheorySettings, key: dict[str, Any]) -> Iterator[Row]:
    """The final error, beside ‖∇_k f(x̄)‖ and √(k ln p/n)."""
    n, k, p = key["n"], key["k"], key.get("p", settings.large)
    rng = np.random.default_rng([3, key["replication"]])
    coef = make_coefficients(p, k, "signs", rng)
    objective: Objective
    if key["loss"] == "logistic":
        coef *= settings.strength
        X, y, _ = make_logistic(n, correlation=0.0, random_state=rng, coef=coef)
        objective = Logistic(X, y, alpha=settings.shrinkage * sqrt(log(p) / n))
    else:
        X, y, _ = make_linear(n, noise=key["noise"], random_state=rng, coef=coef)
        objective = LeastSquares(X, y)
    step, halting = 1.0 / objective.lipschitz(), RelativeChange(settings.floor_tolerance)
    gradient = gradient_at(objective, coef)
    solvers = (GraHTP(step=step), FGraHTP(step=step, halting=halting, max_iter=settings.floor_limit), SwapGraHTP())
    for method, solver in zip(THEORY_METHODS, solvers, strict=True):
        result, seconds = solve(objective, k, solver)
        yield {
            "method": method,
            "error": float(np.linalg.norm(result.x - coef)),
            # Theorem 2's bound for FGraHTP has s = 2k + k̄ entries.
            "gradient": _norm_of_largest(gradient, 3 * k if method == "FGraHTP" else k),
            "scale": sqrt(k * log(p) / n),
            "seconds": seconds,
        }


def _norm_of_largest(gradient: Array, k: int) -> float:
    """‖∇_k f‖: norm of the k largest entries."""
    return float(np.linalg.norm(np.sort(np.abs(gradient))[-k:]))


def _judge_convergence(frame: pd.DataFrame, method: str) -> Verdict:
    rows = select_rows(frame, part="convergence", method=method)
    if not len(rows):
        return judge_theorem([], "runs", "no iterations")
    rows = rows[~(rows["multiple"] >= 1.0)]  # the default solver has none
    truths = (rows["monotone"] == 1.0) & (rows["ended"] == 1.0)
    most = int(rows["iterations"].max()) if len(rows) else 0
    return judge_theorem(truths, "runs", f"at most {most} iterations")


def _judge_bounds(frame: pd.DataFrame, method: str) -> Verdict:
    """Whether the errors of a run are below their bounds at all t."""
    rows = select_rows(frame, part="bounds", method=method)
    within, closest = [], 0.0
    for _, run in rows.groupby(["noise", "replication"]) if len(rows) else ():
        start = float(run.loc[run["t"] == 0, "error"].iloc[0])
        within.append(bool((run["error"] <= run["bound"] + ROUNDING * start).all()))
        later = run[run["t"] > 0]
        closest = max(closest, float((later["error"] / later["bound"]).max()))
    return judge_theorem(within, "runs below at all t", f"from t = 1 at most {closest:.2f} of the bound")


def _judge_exact(frame: pd.DataFrame, method: str, settings: TheorySettings) -> Verdict:
    rows = select_rows(frame, part="bounds", method=method, noise=0.0, t=settings.iterations)
    if not len(rows):
        return judge_theorem([], "problems", "no errors")
    largest = rows["error"].max()
    size = f"{largest:.1e}" if largest else "exactly 0"
    return judge_theorem((rows["error"] <= 1e-10) & (rows["ended"] == 1.0), "problems", f"largest final error {size}")


def _fit_slope(frame: pd.DataFrame, method: str, x: str, **key: str) -> tuple[float, float]:
    """The slope of the error against x in logarithms, and its standard error over the replications."""
    return fit_slope(select_rows(frame, method=method, **key), x)


def _judge_growth(frame: pd.DataFrame, method: str, x: str, **key: str) -> Verdict:
    """Whether the slope is at most 1, with a tolerance; no verdict if it is too uncertain."""
    slope, error = _fit_slope(frame, method, x, **key)
    limit = 1.0 + PROPORTIONAL
    if not abs(slope - limit) > 2.0 * error:
        return judge([], f"slope {format_slope(slope, error)}, too uncertain for a verdict")
    growth = "more slowly" if slope < 1.0 - PROPORTIONAL else "in proportion" if slope <= limit else "faster"
    return judge([slope <= limit], f"slope {format_slope(slope, error)}: {growth}")
