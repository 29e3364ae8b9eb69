"""Methods for precision matrices, and the choice of k by held-out samples: the same for all experiments with graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from .._types import Array, Mask
from ..debias import Debias, Exact
from ..objectives import LogDet
from ..selection import PathSolver
from ..solvers import FBS, GLasso, GraHTP, GraSP, Iterate, Problem, RelativeChange, Result, Solver, SwapGraHTP
from ..sparsity import Pairs
from .base import Settings
from .methods import DEFAULT
from .timing import solved, timed

__all__ = [
    "GRAPH_METHODS",
    "GREEDY",
    "METHODS",
    "Chosen",
    "Fit",
    "GraphMethod",
    "GraphSettings",
    "Tuning",
    "best_fit",
    "compile_all",
    "found_pairs",
    "graph_captions",
    "log_det_loss",
    "method_named",
    "tuned",
]

#: The paper's greedy methods.
GREEDY = ("GraHTP", "GraSP", "FBS")
METHODS = (*GREEDY, "GLasso", DEFAULT)
#: The paper takes values over it for nonzero.
NONZERO = 1e-3


@dataclass(frozen=True)
class GraphSettings(Settings):
    """How precision matrices are fitted, and their k chosen.

    Attributes
    ----------
    shares : tuple of float
        The grid of k, as shares of the number of pairs, increasing.
    penalties : tuple of float
        That of GLasso, as shares of the largest covariance off the diagonal, decreasing.
    patience : int
        So many values of the grid without a new best end it.
    multiple : float
        GraHTP's constant step is this multiple of 1/v², v being the mean variance.
    tolerance : float
        GraHTP and GraSP end once Ω changed by this share.
    limit : int
        Their limit of iterations.
    accuracy : float
        Of GraHTP, GraSP and FBS in minimizing on a support.
    """

    shares: tuple[float, ...] = (0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2)
    penalties: tuple[float, ...] = tuple(float(f"{10 ** (-step / 12):.3f}") for step in range(1, 31))
    patience: int = 3
    multiple: float = 0.5
    tolerance: float = 1e-4
    limit: int = 50
    accuracy: float = 1e-6

    def ks(self, p: int) -> list[int]:
        """The numbers of edges of the grid."""
        return sorted({max(round(share * p * (p - 1) / 2), 1) for share in self.shares})


class Fit(NamedTuple):
    """A precision matrix.

    Attributes
    ----------
    parameter : float
        k, or GLasso's penalty.
    omega : ndarray of shape (p, p)
        Ω.
    seconds : float
        Of the processor, for this matrix alone.
    iterations : int
        How many it took.
    status : str
        How it ended.
    """

    parameter: float
    omega: Array
    seconds: float
    iterations: int
    status: str


@dataclass(frozen=True)
class GraphMethod(ABC):
    """A method for precision matrices, from Ω = αI for each k, with the paper's eigenvalue bounds.

    Attributes
    ----------
    name : str
        What tables and figures call it.
    step : str
        Its step-size rule, for captions.
    """

    name: str
    step: str

    @abstractmethod
    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        """The solver for a covariance."""

    def grid(self, settings: GraphSettings, covariance: Array) -> list[float]:
        """The values to choose from, from the sparsest graph on."""
        return [float(k) for k in settings.ks(len(covariance))]

    def solve(self, settings: GraphSettings, covariance: Array, k: int, debias: Debias | None = None) -> Result:
        """The solver's result for one k, with its history."""
        solver = self.solver(settings, covariance, debias or Exact(tol=settings.accuracy))
        return solved(LogDet(covariance), k, solver).result

    def fit(self, settings: GraphSettings, covariance: Array, value: float, debias: Debias | None = None) -> Fit:
        """Ω for one value of the grid."""
        result, seconds = timed(lambda: self.solve(settings, covariance, int(value), debias))
        return Fit(value, result.x, seconds, result.n_iter, str(result.status))

    def path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        """Ω for one value of the grid after the other."""
        for value in grid:
            yield self.fit(settings, covariance, value)

    @property
    def fits_alone(self) -> bool:
        """Whether the matrices of `path`, and their seconds, are those of `fit`."""
        return True


@dataclass(frozen=True)
class _Faithful(GraphMethod):
    """GraHTP (paper, Algorithm 2) with a constant step."""

    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        step = settings.multiple / float(covariance.diagonal().mean()) ** 2
        rule = RelativeChange(settings.tolerance)
        return GraHTP(step=step, debias=debias, halting=rule, max_iter=settings.limit)


@dataclass(frozen=True)
class _Pursuit(GraphMethod):
    """GraSP, which ends like GraHTP."""

    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return GraSP(debias=debias, halting=RelativeChange(settings.tolerance), max_iter=settings.limit)


@dataclass(frozen=True)
class _Forward(GraphMethod):
    """FBS, which goes on from one k to the next: its seconds are those since the first edge."""

    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return FBS(debias=debias)

    def path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        objective, solver = LogDet(covariance), FBS(debias=Exact(tol=settings.accuracy))
        current: Iterate | None = None
        total, iterations = 0.0, 0
        for value in grid:
            problem = Problem(objective, Pairs(int(value)).bind(objective.shape, objective.free))
            begin = solver.prepare(problem, objective.start) if current is None else replace(current, done=None)
            (result, current), seconds = timed(partial(solver.resume, problem, begin))
            total, iterations = total + seconds, iterations + result.n_iter
            yield Fit(value, result.x, total, iterations, str(result.status))


@dataclass(frozen=True)
class _Lasso(GraphMethod):
    """GLasso, by penalties; the solver would search for the one that leaves k edges."""

    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return GLasso()

    def grid(self, settings: GraphSettings, covariance: Array) -> list[float]:
        largest = float(np.abs(covariance[np.triu_indices(len(covariance), 1)]).max())
        return [share * largest for share in settings.penalties]

    def fit(self, settings: GraphSettings, covariance: Array, value: float, debias: Debias | None = None) -> Fit:
        solver = GLasso()
        found, seconds = timed(lambda: solver.penalized(covariance, value))
        if found is None:
            return Fit(value, np.full_like(covariance, np.nan), seconds, 0, "not_finite")
        omega, iterations = found
        return Fit(value, omega, seconds, iterations, "converged" if iterations < solver.sweeps else "max_iter")


@dataclass(frozen=True)
class _Default(GraphMethod):
    """The default solver, whose paths start from neighbours."""

    def solver(self, settings: GraphSettings, covariance: Array, debias: Debias) -> Solver:
        return SwapGraHTP()

    def path(self, settings: GraphSettings, covariance: Array, grid: Sequence[float]) -> Iterator[Fit]:
        path = PathSolver(LogDet(covariance), Pairs(1), SwapGraHTP())
        for value in grid:
            _, seconds = timed(partial(path.solve, [int(value)]))
            result = path.results[int(value)]
            yield Fit(value, result.x, seconds, result.n_iter, str(result.status))

    @property
    def fits_alone(self) -> bool:
        return False


GRAPH_METHODS: tuple[GraphMethod, ...] = (
    _Faithful("GraHTP", "constant, η = {multiple:g}/v² with v the mean variance"),
    _Pursuit("GraSP", "none"),
    _Forward("FBS", "none"),
    _Lasso("GLasso", "none"),
    _Default(DEFAULT, "none: edges are exchanged by what f would change by"),
)


def method_named(name: str) -> GraphMethod:
    """The method of a name."""
    return next(method for method in GRAPH_METHODS if method.name == name)


def graph_captions(settings: GraphSettings, methods: Sequence[GraphMethod] = GRAPH_METHODS) -> str:
    """The step-size rules of the methods, in a sentence."""
    rules = "; ".join(f"{method.name}: {method.step.format(multiple=settings.multiple)}" for method in methods)
    return f"Steps, of which the paper says nothing: {rules}."


def log_det_loss(omega: Array, covariance: Array) -> float:
    """−log det Ω + ⟨Σ, Ω⟩; infinite where Ω is not positive definite."""
    if not np.isfinite(omega).all():
        return np.inf
    sign, log_det = np.linalg.slogdet(omega)
    return float(np.sum(covariance * omega) - log_det) if sign > 0 else np.inf


def found_pairs(omega: Array) -> Mask:
    """Which pairs above the diagonal are nonzero, in the order of rows."""
    return np.asarray(np.abs(omega[np.triu_indices(len(omega), 1)]) > NONZERO)


class Tuning(NamedTuple):
    """A value of the grid, and what it was chosen by.

    Attributes
    ----------
    fits : tuple of Fit
        Those of the chosen value, one for each training sample.
    loss : float
        Their mean log-det loss on the held-out samples.
    tried : int
        How many values of the grid were looked at.
    """

    fits: tuple[Fit, ...]
    loss: float
    tried: int


def tuned(
    method: GraphMethod, settings: GraphSettings, grid: Sequence[float], samples: Sequence[tuple[Array, Array]]
) -> Tuning:
    """Choose the value of the grid with the least mean log-det loss on held-out samples.

    Parameters
    ----------
    method : GraphMethod
        How Ω is fitted.
    settings : GraphSettings
        Whose patience ends the search.
    grid : sequence of float
        The values.
    samples : sequence of (ndarray, ndarray)
        Covariances of training samples, each with that of its held-out sample.
    """
    best: Tuning | None = None
    since = tried = 0
    paths = [method.path(settings, training, grid) for training, _ in samples]
    for fits in zip(*paths, strict=True):
        tried += 1
        losses = [log_det_loss(fit.omega, held_out) for fit, (_, held_out) in zip(fits, samples, strict=True)]
        loss = float(np.mean(losses))
        if best is None or loss < best.loss:
            best, since = Tuning(fits, loss, tried), 0
        else:
            since += 1
        if since >= settings.patience:
            break
    if best is None:
        raise ValueError("the grid is empty; give at least one value")
    return best._replace(tried=tried)


class Chosen(NamedTuple):
    """The matrix with the chosen value, fitted to the whole sample.

    Attributes
    ----------
    fit : Fit
        The matrix.
    seconds : float
        Of the processor, for the whole choice and the fit.
    tried : int
        How many values of the grid were looked at.
    """

    fit: Fit
    seconds: float
    tried: int


def best_fit(
    method: GraphMethod, settings: GraphSettings, covariance: Array, samples: Sequence[tuple[Array, Array]]
) -> Chosen:
    """Fit Ω to a covariance, with the value that held-out samples choose; the parameters are those of `tuned`."""
    compile_all()

    def work() -> tuple[Fit, int]:
        tuning = tuned(method, settings, method.grid(settings, covariance), samples)
        same = len(samples) == 1 and samples[0][0] is covariance
        if same and method.fits_alone:
            return tuning.fits[0], tuning.tried
        return method.fit(settings, covariance, tuning.fits[0].parameter), tuning.tried

    (fit, tried), seconds = timed(work)
    return Chosen(fit, seconds, tried)


@cache
def compile_all() -> None:
    """Let everything be compiled or loaded before it is timed: a small problem for each method."""
    rng = np.random.default_rng(0)
    covariance = np.asarray(np.cov(rng.standard_normal((40, 8)) + rng.standard_normal((40, 1)), rowvar=False))
    settings = GraphSettings()
    for method in GRAPH_METHODS:
        grid = method.grid(replace(settings, shares=(0.1, 0.5)), covariance)[:2]
        tuned(method, settings, grid, [(covariance, covariance)])
        method.fit(settings, covariance, grid[0])
