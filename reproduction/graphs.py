"""Methods for precision matrices, and the choice of k by held-out samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ksparse.debias import Debias, Exact
from ksparse.objectives import LogDet
from ksparse.objectives.protocols import working_form
from ksparse.selection import PathSolver
from ksparse.solvers import FBS, GLasso, GraHTP, GraSP, Iterate, Problem, RelativeChange, Result, Solver, SwapGraHTP
from ksparse.sparsity import Pairs

from .base import Array, Mask, Settings
from .methods import DEFAULT, solve, time_call

__all__ = [
    "GRAPH_METHODS",
    "GRAPH_METHOD_NAMES",
    "GREEDY",
    "Fit",
    "GraphMethod",
    "GraphSettings",
    "TunedFit",
    "Tuning",
    "compute_covariance",
    "describe_graph_steps",
    "find_edges",
    "find_method",
    "fit_tuned",
    "log_det_loss",
    "tune",
    "warm_up_graphs",
]

#: The paper's greedy methods.
GREEDY = ("GraHTP", "GraSP", "FBS")
GRAPH_METHOD_NAMES = (*GREEDY, "GLasso", DEFAULT)
#: The paper counts entries above this as nonzero.
NONZERO = 1e-3


@dataclass(frozen=True)
class GraphSettings(Settings):
    """How precision matrices are fitted and their k chosen.

    Attributes
    ----------
    fractions : tuple of float
        The grid of k, as fractions of the number of pairs, increasing.
    penalties : tuple of float
        The grid of GLasso, as fractions of the largest covariance off the diagonal, decreasing.
    patience : int
        The search stops after this many values of the grid without a new best.
    multiple : float
        GraHTP's constant step as a multiple of 1/v², where v is the mean variance.
    tolerance : float
        GraHTP and GraSP stop once the relative change of Ω is at most this.
    limit : int
        Their iteration limit.
    accuracy : float
        Accuracy of GraHTP, GraSP and FBS in minimizing on a support.
    """

    fractions: tuple[float, ...] = (
        *(0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04),
        *(0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2),
    )
    penalties: tuple[float, ...] = tuple(float(f"{10 ** (-step / 12):.3f}") for step in range(1, 31))
    patience: int = 3
    multiple: float = 0.5
    tolerance: float = 1e-4
    limit: int = 50
    accuracy: float = 1e-6

    def ks(self, p: int) -> list[int]:
        """The grid as numbers of edges."""
        return sorted({max(round(fraction * p * (p - 1) / 2), 1) for fraction in self.fractions})


class Fit(NamedTuple):
    """A precision matrix.

    Attributes
    ----------
    parameter : float
        k, or GLasso's penalty.
    omega : ndarray of shape (p, p)
        Ω.
    seconds : float
        CPU seconds for this matrix alone.
    iterations : int
        Number of iterations.
    status : str
        How the run ended.
    """

    parameter: float
    omega: Array
    seconds: float
    iterations: int
    status: str


@dataclass(frozen=True)
class GraphMethod(ABC):
    """A method for precision matrices, started at Ω = αI for each k, with the paper's eigenvalue bounds.

    Attributes
    ----------
    name : str
        Its name in tables and figures.
    step : str
        Its step-size rule for captions.
    """

    name: str
    step: str

    @abstractmethod
    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        """The solver for a covariance."""

    def make_grid(self, settings: GraphSettings, covariance: Array) -> list[float]:
        """The values to choose from, the sparsest graph first."""
        return [float(k) for k in settings.ks(len(covariance))]

    def solve(self, settings: GraphSettings, covariance: Array, k: int, debias: Debias | None = None) -> Result:
        """The solver's result for one k, with its history."""
        solver = self.make_solver(settings, covariance, debias or Exact(tol=settings.accuracy))
        return solve(LogDet(covariance), k, solver).result

    def fit(self, settings: GraphSettings, covariance: Array, value: float, debias: Debias | None = None) -> Fit:
        """Ω for one value of the grid."""
        result, seconds = time_call(lambda: self.solve(settings, covariance, int(value), debias))
        return Fit(value, result.x, seconds, result.n_iter, str(result.status))

    def solve_path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        """Ω for each value of the grid in turn."""
        for value in grid:
            yield self.fit(settings, covariance, value)

    @property
    def path_equals_fits(self) -> bool:
        """Whether the matrices of `path`, and their seconds, are those of `fit`."""
        return True


@dataclass(frozen=True)
class _GraHTP(GraphMethod):
    """GraHTP (paper, Algorithm 2) with a constant step."""

    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        step = settings.multiple / float(covariance.diagonal().mean()) ** 2
        rule = RelativeChange(settings.tolerance)
        return GraHTP(step=step, debias=debias, halting=rule, max_iter=settings.limit)


@dataclass(frozen=True)
class _GraSP(GraphMethod):
    """GraSP with GraHTP's stopping rule."""

    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return GraSP(debias=debias, halting=RelativeChange(settings.tolerance), max_iter=settings.limit)


@dataclass(frozen=True)
class _FBS(GraphMethod):
    """FBS, which continues from one k to the next: its seconds count from the first edge."""

    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return FBS(debias=debias)

    def solve_path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        objective, solver = LogDet(covariance), FBS(debias=Exact(tol=settings.accuracy))
        current: Iterate | None = None
        total, iterations = 0.0, 0
        for value in grid:
            problem = Problem(working_form(objective), Pairs(int(value)).bind(objective.shape, objective.free))
            start = solver.prepare(problem, objective.start) if current is None else replace(current, done=None)
            (result, current), seconds = time_call(partial(solver.resume, problem, start))
            total, iterations = total + seconds, iterations + result.n_iter
            yield Fit(value, result.x, total, iterations, str(result.status))


@dataclass(frozen=True)
class _GLasso(GraphMethod):
    """GLasso at given penalties; the solver would search for the penalty that leaves k edges."""

    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return GLasso()

    def make_grid(self, settings: GraphSettings, covariance: Array) -> list[float]:
        largest = float(np.abs(covariance[np.triu_indices(len(covariance), 1)]).max())
        return [fraction * largest for fraction in settings.penalties]

    def fit(self, settings: GraphSettings, covariance: Array, value: float, debias: Debias | None = None) -> Fit:
        solver = GLasso()
        found, seconds = time_call(lambda: solver.solve_penalized(covariance, value))
        if found is None:
            return Fit(value, np.full_like(covariance, np.nan), seconds, 0, "not_finite")
        omega, iterations = found
        return Fit(value, omega, seconds, iterations, "converged" if iterations < solver.sweeps else "max_iter")


@dataclass(frozen=True)
class _Default(GraphMethod):
    """The default solver, whose paths start from neighbouring k."""

    def make_solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return SwapGraHTP()

    def solve_path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        path = PathSolver(LogDet(covariance), Pairs(1), SwapGraHTP())
        for value in grid:
            _, seconds = time_call(partial(path.solve, [int(value)]))
            result = path.results[int(value)]
            yield Fit(value, result.x, seconds, result.n_iter, str(result.status))

    @property
    def path_equals_fits(self) -> bool:
        return False


GRAPH_METHODS: tuple[GraphMethod, ...] = (
    _GraHTP("GraHTP", "constant, η = {multiple:g}/v² with v the mean variance"),
    _GraSP("GraSP", "none"),
    _FBS("FBS", "none"),
    _GLasso("GLasso", "none"),
    _Default(DEFAULT, "none: edges are swapped by the predicted change of f"),
)


def find_method(name: str) -> GraphMethod:
    """The method of that name."""
    return next(method for method in GRAPH_METHODS if method.name == name)


def describe_graph_steps(settings: GraphSettings, methods: Sequence[GraphMethod] = GRAPH_METHODS) -> str:
    """The step-size rules of the methods in a sentence."""
    rules = "; ".join(f"{method.name}: {method.step.format(multiple=settings.multiple)}" for method in methods)
    return f"Steps, which the paper does not specify: {rules}."


def compute_covariance(X: Array, centres: Array) -> Array:
    """Mean of (x − c)(x − c)ᵀ over the samples; one centre for all samples, or one for each."""
    centred = X - centres
    covariance = centred.T @ centred / len(X)
    return np.asarray(0.5 * (covariance + covariance.T))


def log_det_loss(omega: Array, covariance: Array) -> float:
    """−log det Ω + ⟨Σ, Ω⟩; infinite where Ω is not positive definite."""
    if not np.isfinite(omega).all():
        return np.inf
    sign, log_det = np.linalg.slogdet(omega)
    return float(np.sum(covariance * omega) - log_det) if sign > 0 else np.inf


def find_edges(omega: Array) -> Mask:
    """Which pairs above the diagonal are nonzero, row by row."""
    return np.asarray(np.abs(omega[np.triu_indices(len(omega), 1)]) > NONZERO)


class Tuning(NamedTuple):
    """The chosen value of the grid.

    Attributes
    ----------
    fits : tuple of Fit
        The fits with the chosen value, one for each training sample.
    loss : float
        Their mean log-det loss on the held-out samples.
    tried : int
        How many values of the grid were tried.
    """

    fits: tuple[Fit, ...]
    loss: float
    tried: int


def tune(
    method: GraphMethod, settings: GraphSettings, grid: Sequence[float], samples: Sequence[tuple[Array, Array]]
) -> Tuning:
    """Choose the value of the grid with the least mean log-det loss on held-out samples.

    Parameters
    ----------
    method : GraphMethod
        How Ω is fitted.
    settings : GraphSettings
        Its patience ends the search.
    grid : sequence of float
        The values.
    samples : sequence of (ndarray, ndarray)
        Covariances of training samples, each with that of its held-out sample.
    """
    best: Tuning | None = None
    tried = since_best = 0
    paths = [method.solve_path(settings, training, grid) for training, _ in samples]
    for fits in zip(*paths, strict=True):
        tried += 1
        losses = [log_det_loss(fit.omega, held_out) for fit, (_, held_out) in zip(fits, samples, strict=True)]
        loss = float(np.mean(losses))
        if best is None or loss < best.loss:
            best, since_best = Tuning(fits, loss, tried), 0
        else:
            since_best += 1
        if since_best >= settings.patience:
            break
    if best is None:
        raise ValueError("the grid is empty; give at least one value")
    return best._replace(tried=tried)


class TunedFit(NamedTuple):
    """The fit to the whole sample with the chosen value.

    Attributes
    ----------
    fit : Fit
        The matrix.
    seconds : float
        CPU seconds of the whole choice and the fit.
    tried : int
        How many values of the grid were tried.
    """

    fit: Fit
    seconds: float
    tried: int


def fit_tuned(
    method: GraphMethod, settings: GraphSettings, covariance: Array, samples: Sequence[tuple[Array, Array]]
) -> TunedFit:
    """Fit Ω to a covariance with the value that held-out samples choose; the parameters are those of `tune`."""
    warm_up_graphs()

    def work() -> tuple[Fit, int]:
        tuning = tune(method, settings, method.make_grid(settings, covariance), samples)
        same_sample = len(samples) == 1 and samples[0][0] is covariance
        if same_sample and method.path_equals_fits:
            return tuning.fits[0], tuning.tried
        return method.fit(settings, covariance, tuning.fits[0].parameter), tuning.tried

    (fit, tried), seconds = time_call(work)
    return TunedFit(fit, seconds, tried)


@cache
def warm_up_graphs() -> None:
    """Load and compile everything before it is timed: a small problem for each method, once in a process."""
    rng = np.random.default_rng(0)
    covariance = np.asarray(np.cov(rng.standard_normal((40, 8)) + rng.standard_normal((40, 1)), rowvar=False))
    settings = GraphSettings()
    for method in GRAPH_METHODS:
        grid = method.make_grid(replace(settings, fractions=(0.1, 0.5)), covariance)[:2]
        tune(method, settings, grid, [(covariance, covariance)])
        method.fit(settings, covariance, grid[0])
