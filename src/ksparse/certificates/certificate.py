"""How far a solution is from the best possible: a lower bound of f, with what it proves about the support."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from .._types import AnyArray, Array
from ..clock import read_clock
from ..objectives.protocols import WorkingForm
from ..signal_guard import guard_signals
from ..sparsity import Units
from ..threads import one_thread
from ..validation import check_iterations, check_time_limit
from .bounding import BoundedProblem, Relaxed
from .duals import LevelSetDual, QuadraticDual
from .incumbents import settle_value
from .linearization import StepLimits
from .relaxation import Fixings
from .screening import screen

__all__ = ["Certificate", "ProofStage", "certify", "format_gap"]

#: A gap below this is rounding: the solution is a best one.
OPTIMAL_GAP = 1e-6
#: A gap above this says nearly nothing.
VACUOUS_GAP = 0.9
#: Rounding of f, as a fraction of the numbers that it is computed from.
UPPER_ROUNDING = 4e-15
#: The default limit of steps: more of them rarely help.
USUAL_STEPS = 100
#: Curvature on the set of all solutions that are not worse is looked for if the bound would rise by so many times what
#: it lacks, were it a linear function of the ridge.
LEAST_ROOT_GAIN = 0.05
#: Names of units that are shown.
SHOWN = 12


@dataclass(frozen=True, eq=False)
class ProofStage:
    """One relaxation of a certificate, and what follows from it; `ksparse.certificates.verify` computes it again."""

    #: The dual point: slopes of the samples, with a point and curvature on the set of all solutions that are not worse
    #: where that helps; for least squares a point and curvature.
    dual: Array | QuadraticDual | LevelSetDual
    #: What was known of the units before.
    before: Fixings
    #: What is known of them afterwards, for all solutions that are not worse.
    after: Fixings
    #: The lower bound of the relaxation, rounded down.
    bound: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof of how far a solution is from the best one with at most k units.

    Every x with at most k units, and within the bounds if there are any, has f(x) ≥ `lower_bound`. The bound is the
    value of a dual point of the perspective relaxation, lowered by a bound of its rounding errors; any dual point gives
    a valid one, so that it does not depend on how well the relaxation was solved.

    Attributes
    ----------
    value : float
        f at the solution.
    lower_bound : float
        No solution has a lower f.
    least : float
        No margins whatever give a lower mean loss.
    gap : float
        (value − lower_bound)/(value − least), with the least value that the loss has at any margins (0 for least
        squares and for classification): between 0 and 1.
    optimal : bool
        Whether the gap is below 1e-6, which is rounding.
    vacuous : bool
        Whether the gap is above 0.9: the bound then says nearly nothing, mostly for want of a ridge.
    must_contain, cannot_contain : ndarray
        Names of the units that every solution with an f not above `value` has, and of those that none has.
    k : int
        Number of units.
    has_bounds : bool
        Whether the proof is for coefficients within the bounds of the sparsity set.
    steps : int
        Steps that improved the bound; each costs a pass over the data, or a product with the Gram matrix.
    seconds : float
        Time that it took.
    stages : tuple of ProofStage
        What the proof consists of.
    ended_by : {"", "time", "steps"}
        The limit at which the work on the bound ended, if there was one.

    References
    ----------
    A. Atamtürk and A. Gómez, *Safe screening rules for ℓ0-regression from perspective relaxations*, ICML 2020.

    B. Liu, X.-T. Yuan, L. Wang, Q. Liu and D. Metaxas, *Dual iterative hard thresholding*, ICML 2017.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = X[:, 3] - X[:, 17] + rng.standard_normal(200)
    >>> result = ksparse.minimize(ksparse.objectives.LeastSquares(X, y, alpha=1e-3), k=2)
    >>> certificate = result.certificate()
    >>> certificate.optimal, certificate.must_contain
    (True, array([ 3, 17]))
    """

    value: float
    lower_bound: float
    least: float
    must_contain: AnyArray
    cannot_contain: AnyArray
    k: int
    has_bounds: bool
    steps: int
    seconds: float
    stages: tuple[ProofStage, ...] = field(repr=False)
    ended_by: Literal["", "time", "steps"] = ""

    @property
    def gap(self) -> float:
        """The relative gap, between 0 and 1."""
        difference, size = self.value - self.lower_bound, self.value - self.least
        return min(difference / size, 1.0) if size > 0 else 0.0

    @property
    def optimal(self) -> bool:
        """Whether the solution is proved to be a best one, up to rounding."""
        return self.gap <= OPTIMAL_GAP

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nearly nothing."""
        return self.gap > VACUOUS_GAP

    def __str__(self) -> str:
        among = " within the bounds" if self.has_bounds else ""
        lines = [
            f"{self._describe_verdict()}: f = {self.value:.8g}, and no x{among} with at most k = {self.k} units has "
            f"less than {self.lower_bound:.8g} (gap {format_gap(self.gap)})"
        ]
        if len(self.must_contain) and not self.optimal:
            lines.append(f"each solution that is as good or better has {_list_names(self.must_contain)}")
        if len(self.cannot_contain):
            count = len(self.cannot_contain)
            lines.append(
                f"{count} unit{'s' * (count != 1)} can be left out of the search: no solution that is as good or better"
                f" has {'any of them' if count != 1 else 'it'}"
            )
        if self.vacuous and self.ended_by:
            lines.append(f"it ended at the limit of {self.ended_by}; a higher limit may give a better bound")
        if self.vacuous and (not self.ended_by or (self.ended_by == "steps" and self.steps >= USUAL_STEPS)):
            lines.append(
                "the bound grows with alpha, with fewer correlated features, and with more samples; bounds of "
                "the coefficients give one too, for models within them"
            )
        return "\n".join(lines)

    def _describe_verdict(self) -> str:
        if self.optimal:
            return "Proved to be optimal"
        return "Vacuous" if self.vacuous else "Not proved to be optimal"


def certify(
    form: WorkingForm,
    units: Units,
    x: Array,
    value: float,
    steps: int = USUAL_STEPS,
    time_limit: float | None = None,
    effort: int = 0,
) -> Certificate:
    """The certificate of a solution.

    Parameters
    ----------
    form : WorkingForm
        f, in the coordinates in which solvers work.
    units : Units
        The sparsity set, with bounds in these coordinates.
    x : ndarray
        The solution, in these coordinates.
    value : float
        f(x).
    steps : int, default=100
        Limit of the steps that improve the bound, after each screening.
    time_limit : float, optional
        Limit in seconds, tested after each step; None or infinity for no limit.
    effort : {0, 1}, default=0
        With 1, further curvature is looked for whatever it costs; see `Result.certificate`.

    Returns
    -------
    Certificate
        The lower bound, and what it proves.
    """
    if effort not in (0, 1) or isinstance(effort, bool):
        raise ValueError(f"effort must be 0 or 1; got {effort!r}")
    began = read_clock()
    limits = StepLimits(max(check_iterations(steps, "steps"), 1), began + check_time_limit(time_limit))
    with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        problem = BoundedProblem.of(form, units)
        value = settle_value(value, problem.least_value, form.value_at_start)
        upper = value + UPPER_ROUNDING * (abs(value) + abs(form.value_at_start))
        start = x.reshape(-1)[: problem.scale.size] * problem.scale
        root = _RootProof(problem, value, upper, limits, effort)
        root.run(start)
    fixings, stages = root.fixings, root.stages
    is_late = bool(stages) and read_clock() > limits.deadline
    is_cut = bool(stages) and root.steps >= limits.steps
    return Certificate(
        value=value,
        lower_bound=min(max(root.lower, problem.least_value), value),
        least=problem.least_value,
        must_contain=units.names[fixings.inside],
        cannot_contain=units.names[fixings.outside],
        k=units.k,
        has_bounds=problem.has_box,
        steps=root.steps,
        seconds=read_clock() - began,
        stages=tuple(_convert_to_user(stage, form.unit) for stage in stages),
        ended_by="time" if is_late else ("steps" if is_cut else ""),
    )


class _RootProof:
    """Bounds of relaxations with fewer and fewer open units, until no more of them are fixed.

    Where screening has ended, further curvature is looked for; if the bound with it fixes units, all begins again.
    """

    def __init__(self, problem: BoundedProblem, value: float, upper: float, limits: StepLimits, effort: int) -> None:
        self.problem, self.value, self.upper, self.limits, self.effort = problem, value, upper, limits, effort
        self.fixings, self.lower = problem.perspective.fixings, -np.inf
        self.stages: list[ProofStage] = []
        self.steps = 0

    def run(self, start: Array) -> None:
        """Bound f from a start in scaled coordinates."""
        while True:
            relaxed = self.problem.relax(self.fixings, start, self.value, self.limits)
            if relaxed is None:
                return
            is_fewer = self._take(relaxed)
            is_closed = self.lower >= self.value or not self.fixings.open.any()
            if is_closed or read_clock() > self.limits.deadline:
                return
            if not is_fewer:
                further = self._relax_further(relaxed)
                if further is None or not self._take(further) or self.lower >= self.value:
                    return

    def _take(self, relaxed: Relaxed) -> bool:
        """Keep a stage; whether screening by it leaves fewer open units."""
        tightened, perspective, chosen, _ = relaxed
        if not np.isfinite(tightened.bound):  # no slopes that were found are all within their domain
            return False
        found = screen(perspective, tightened.linearization.base, tightened.scores, self.upper)
        before = self.fixings
        self.fixings = before.include(chosen[found.inside]).exclude(chosen[found.outside])
        self.problem = self.problem.compact(self.fixings)
        self.stages.append(ProofStage(tightened.linearization.dual, before, self.fixings, tightened.bound))
        self.steps += tightened.steps
        self.lower = max(self.lower, tightened.bound)
        return bool(self.fixings.open.sum() < before.open.sum())

    def _relax_further(self, relaxed: Relaxed) -> Relaxed | None:
        """A better bound by the best diagonal, or by curvature on the set of all solutions that are not worse."""
        problem = self.problem
        is_closed = self.value - self.lower <= OPTIMAL_GAP * (self.value - problem.least_value)
        is_cut = relaxed.tightened.steps >= self.limits.steps
        if is_closed or is_cut or (self.effort == 0 and not problem.is_further_cheap(self.fixings)):
            return None
        if problem.uses_gram:
            return problem.move_diagonal(relaxed, self.fixings, self.value, self.limits)
        return problem.relax_further(relaxed, self.upper, self.value, self.limits, LEAST_ROOT_GAIN)


def _convert_to_user(stage: ProofStage, unit: float) -> ProofStage:
    """A stage whose dual point is in the user's coordinates, which are the working ones times a unit."""
    dual: Any = stage.dual
    return stage if isinstance(dual, np.ndarray) else replace(stage, dual=dual.rescale(unit))


def format_gap(gap: float) -> str:
    """A gap in percent, with two digits."""
    percent = 100 * gap
    return f"{percent:.2g} %" if percent < 99.5 else f"{percent:.3g} %"


def _list_names(names: AnyArray) -> str:
    shown = ", ".join(map(str, names[:SHOWN].tolist()))
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
