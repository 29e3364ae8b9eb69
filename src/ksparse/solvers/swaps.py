"""The default solver: GraHTP with per-coordinate steps and backtracking, refined by exchanging units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from .._types import Array, Mask
from ..debias import Exact, Outcome
from ..debias.exact import TrialRefit
from ..objectives import LogDet
from ..objectives.base import NotFiniteError, has_hessian, is_quadratic
from ..sparsity.base import top_mask
from ..validation import check_iterations
from .additive import AdditiveModel, additive_model, max_model_size
from .base import Iterate, Problem, Solver
from .effort import Search, check_effort
from .exchange import Forecast
from .merging import LOOSE, Merging, exchanged, expected_gains, grown
from .models import attempts, exchange_model, is_strongly_convex, support_after
from .restarts import other_starts
from .steps import Step
from .twins import first_of_twins

__all__ = ["SwapGraHTP"]

#: First step of a pursuit iteration, in units of the inverse curvature, and the shortest one that is tried.
LONGEST_STEP, SHORTEST_STEP = 16.0, 0.25
#: A pursuit iteration that lowers f by a smaller share hands over to exchanges.
PURSUIT_GAIN = 0.1
#: An exchange must lower f by this share to count.
LEAST_GAIN = 1e-9
#: A promise so many times larger than that is no rounding error.
CLEAR = 1e6
#: A refit that leaves less than this share of f was not nearly done before.
MOST = 0.5
#: Rounding of f, as a share of its value at zero.
ROUNDING = 1e-15
#: While the support moves, refits are cut short, and given up once they cannot win.
FIRST = Exact(tol=1e-3, max_iter=5)
PURSUIT, EXCHANGE = Exact(tol=1e-3, max_iter=2), Exact(tol=1e-3, max_iter=6)
#: Length of the first chain of exchanges from a support that is nearly final.
WARM = 2
#: With no more units than this, a restart costs next to nothing.
SMALL = 64
#: Candidates to enter.
FEW, MANY = 30, 200
#: Coordinates of the widest model that is made before a support is called final.
WIDEST = 400
#: More coordinates than this are first exchanged many at a time by what each costs or gains alone, until that lowers f
#: by a smaller share; a chain is then so many times shorter, and begins with no fewer exchanges.
LARGE, SKETCH_GAIN, SHORTER, SHORT = 600, 0.05, 4, 16


@dataclass(frozen=True)
class SwapGraHTP(Solver):
    """GraHTP with scaled steps and backtracking, then exchanges of units until none lowers f.

    First z = x − η·D⁻¹∇f(x) with the curvatures D, for η = 16, 8, …: the first support whose refit lowers f is taken.
    When that gains less than a tenth of f, a quadratic model of f on the support and the best candidates ranks all
    pairs of a leaving and an entering unit; chains of exchanges, then single ones, are tried on f itself and kept only
    if f falls. One iteration costs one pass over the data, a few more if it takes a wider look, and those of a
    restart count where they happen. f never rises. A support of more than 600 coordinates first exchanges many at a
    time by what each costs or gains alone. The edges of a graph are grown in stages instead, and exchanged many at a
    time: the q most promising enter, the q that cost least after a refit leave, and q is halved unless f falls.

    Parameters
    ----------
    exchanges : int, optional
        How many single exchanges are tried on f, against the model's advice, before the solver calls a support final;
        by default 8 if there are at most 64 units, and 1 otherwise. 0 turns all exchanges off.
    candidates : int, optional
        How many units outside the support the model looks at; by default as many as k, within 30 and 200.
    restarts : int, optional
        How often to begin again: the last time from all units, of which those that cost least go, before it from the
        best units outside a final support; by default three times if there are at most 64 units, where it costs next to
        nothing, and never otherwise.
    effort : int, default=0
        How much more time to spend on a lower f, from 0 to 5. From 1 on, exchanges begin again 3, 9, 27, 81 or 243
        times from the best support with a tenth or a fifth of its units replaced at random, which takes about 3, 6, 15,
        40 or 120 times as long, and less on small problems. 5 ends only when no single exchange lowers f: each is
        tried on f if there are at most 1000, otherwise those that a quadratic model advises, which looks at all units
        and is exact for least squares. Draws are the same in each run, and f is never higher than with less effort.
    max_iter : int, default=500
        Limit of iterations.
    time_limit : float, optional
        Limit in seconds.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> f = ksparse.objectives.LeastSquares(X, X[:, 3] - 2 * X[:, 7])
    >>> ksparse.minimize(f, k=2, solver=ksparse.SwapGraHTP()).selected
    array([3, 7])
    """

    exchanges: int | None = None
    candidates: int | None = None
    restarts: int | None = None
    effort: int = field(default=0, kw_only=True)
    max_iter: int = field(default=500, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("exchanges", "candidates", "restarts"):
            if getattr(self, name) is not None:
                check_iterations(getattr(self, name), name)
        check_effort(self.effort, self.exchanges)

    def prepare(self, problem: Problem, x: Array) -> Iterate:
        units = problem.units
        start = Iterate(problem.objective.evaluate(x))
        chosen = units.units_in(x != 0) | units.always
        if np.isfinite(start.point.value) and (chosen.any() or not units.constrained.all()):
            start = problem.refit(units.mask(chosen), x, LOOSE)
        # A start with fewer than k units is no solution yet: anything may enter.
        return start if chosen.sum() == units.k else replace(start, support=None)

    @staticmethod
    def brief(iterate: Iterate) -> Iterate:
        """An iterate from which the search goes on without restarts, and only to what the model believes in."""
        return replace(iterate, memory=_Memory(True, brief=True), done=None)

    @staticmethod
    def continued(iterate: Iterate) -> Iterate:
        """The same for an iterate that is nearly a solution: exchanges go on from it at once, a few at a time."""
        return replace(iterate, memory=_Memory(False, length=WARM, brief=True, sketching=False), done=None)

    @staticmethod
    def growing(iterate: Iterate, size: int) -> Iterate:
        """The same for a solution with fewer units, from which a graph grows in stages."""
        return replace(iterate, memory=_Memory(True, brief=True, merging=Merging.grown_to(size)), done=None)

    def update(self, problem: Problem, current: Iterate, previous: Iterate | None) -> Iterate:
        units = problem.units
        if units.inactive or units.k == 0:
            chosen = np.full(units.count, units.inactive)
            reason = "f was minimized over all units" if units.inactive else "k = 0 selects nothing"
            return replace(problem.refit(units.mask(chosen), current.point.x), done=f"converged: {reason}")
        if current.support is not None and current.outcome is Outcome.NO_MINIMUM:
            return replace(current, done="f falls for ever on a support")
        if current.turn:
            return self._search(problem).round(current)
        following = self._descend(problem, current)
        if following.done is None or following.support is None or _brief(following):
            return following
        final = self._restarted(problem, following)
        return final if final.done is None or self.effort == 0 else self._search(problem).begin(final)

    def _search(self, problem: Problem) -> Search:
        """The search that goes on from a final support."""

        def descend(start: Iterate, thorough: bool) -> Iterate:
            memory = _Memory(False, length=WARM, brief=not thorough, sketching=False)
            return self._descended(problem, replace(start, memory=memory))

        return Search(self.effort, problem, descend, partial(_lower, problem))

    def _descend(self, problem: Problem, current: Iterate) -> Iterate:
        """A pursuit step that lowers f, or else exchanges that do; done if there are none."""
        merges = isinstance(problem.objective, LogDet)
        if merges or current.memory is None or current.memory.pursuing:
            following = self._merge(problem, current) if merges else self._pursue(problem, current)
            if following is not None:
                return following
        if current.support is not None and self.exchanges != 0:
            if merges and int(current.support.sum()) > max_model_size(problem.objective):
                return replace(current, done="converged: no exchange of the most promising units lowers f")
            return self._exchange(problem, current)
        promised = 2.0 * expected_gains(problem, current).max(initial=0.0)
        if current.support is None and promised > CLEAR * _least_gain(problem, current):
            # Units may still enter and f has a slope in them: a refit that does not follow it is not to be trusted.
            return replace(current, done="no step lowers f", outcome=Outcome.UNFINISHED)
        return replace(current, done="converged: no step lowers f")

    def _restarted(self, problem: Problem, best: Iterate) -> Iterate:
        """A better support than a final one, found from the best units outside it; or the final one."""
        for start in other_starts(problem, best, self._number_of_restarts(problem)):
            if problem.out_of_time:
                return replace(best, done=None)
            other = self._descended(problem, problem.refit(start, np.zeros_like(best.point.x), LOOSE))
            if _lower(problem, other, best):
                return replace(other, done=None)
        return best

    def _descended(self, problem: Problem, start: Iterate) -> Iterate:
        """Where descending from a start ends."""
        current = replace(start, done=None)
        for _ in range(self.max_iter):
            if current.done is not None or not np.isfinite(current.point.value) or problem.out_of_time:
                break
            current = self._descend(problem, current)
        return current

    def _number_of_restarts(self, problem: Problem) -> int:
        if self.restarts is None:
            return 3 if problem.units.count <= SMALL else 0
        return self.restarts

    def finish(self, problem: Problem, iterate: Iterate) -> Iterate:
        units = problem.units
        support = iterate.support
        if support is None and iterate.outcome is Outcome.UNFINISHED:
            return iterate
        if support is None:
            support = units.mask(units.units_in(iterate.point.x != 0) | units.always)
        final = iterate if iterate.exact else problem.refit(support, iterate.point.x)
        if final.outcome is Outcome.SINGULAR:
            # Of many minimizers, the one that is found from zero does not depend on how the search went.
            again = problem.refit(support, np.zeros_like(iterate.point.x))
            final = again if again.outcome is Outcome.SINGULAR and not _lower(problem, final, again) else final
        if _solved(final) or iterate.outcome is Outcome.NO_MINIMUM:
            return first_of_twins(problem, iterate, final) if _solved(final) else iterate
        best = final if final.point.value <= iterate.point.value else iterate
        return replace(best, outcome=Outcome.UNFINISHED)

    # --- pursuit: scaled GraHTP steps -------------------------------------------------------------------------

    def _pursue(self, problem: Problem, current: Iterate) -> Iterate | None:
        """The longest step whose support gives a lower f; None if there is none."""
        gradient = current.point.gradient
        metric = problem.objective.curvature(current.point)
        size = LONGEST_STEP if current.memory is None else current.memory.step
        grow, tried, lost = 2.0, current.support, None
        while size >= SHORTEST_STEP:
            z = Step(size, metric).take(current.point.x, gradient)
            support = problem.units.select(z, metric)
            if tried is None or not np.array_equal(support, tried):
                trial = self._trial(problem, current, support, FIRST if current.support is None else PURSUIT)
                if _lower(problem, trial, current):
                    gained = current.point.value - trial.point.value
                    pursuing = current.support is None or gained > PURSUIT_GAIN * abs(current.point.value)
                    step = min(LONGEST_STEP, grow * size)
                    return replace(trial, step=size, memory=_Memory(pursuing, step, brief=_brief(current)))
                lost = lost is not False and not np.isfinite(trial.point.value)
                tried, grow = support, 1.0
            size *= 0.5
        if lost:
            raise NotFiniteError("f is not finite wherever a step leads")
        return None

    @staticmethod
    def _trial(
        problem: Problem, current: Iterate, support: Mask, debias: Exact, forecast: Forecast | None = None
    ) -> Iterate:
        """A brief refit on another support, given up once it cannot win."""
        target = current.point.value if current.support is not None else np.inf
        if forecast is None:
            return problem.refit(
                support, current.point.x, TrialRefit(tol=debias.tol, max_iter=debias.max_iter, target=target)
            )
        return problem.refit(
            support,
            forecast.x,
            TrialRefit(tol=debias.tol, max_iter=debias.max_iter, target=target, hessian=forecast.hessian),
        )

    # --- merging: for objectives whose units are exchanged many at a time --------------------------------------

    def _merge(self, problem: Problem, current: Iterate) -> Iterate | None:
        """More units, or an exchange that lowers f; None when there are k units and no exchange does."""
        units = problem.units
        memory = current.memory or _Memory(True)
        stage: Merging | None = memory.merging
        if current.support is None:
            chosen = units.units_in(current.point.x != 0) | units.always
            current = replace(current, support=units.mask(chosen))
            stage = Merging.from_nothing(units.k, int(chosen.sum()), memory.brief)
            return replace(grown(problem, current, stage.size), memory=replace(memory, merging=stage))
        if stage is None:
            stage = Merging.at(units.k, memory.brief)
        gains = expected_gains(problem, current)
        while not stage.over(units.k) and self.exchanges != 0:
            if problem.out_of_time:
                return replace(current, memory=replace(memory, merging=stage))
            trial = exchanged(problem, current, gains, stage.q)
            lower = trial is not None and _lower(problem, trial, current)
            stage = stage.after(lower)
            if trial is not None and lower:
                return replace(trial, memory=replace(memory, merging=stage))
        following = stage.following(units.k)
        if following is None:
            return None
        return replace(grown(problem, current, following.size), memory=replace(memory, merging=following))

    # --- exchanges --------------------------------------------------------------------------------------------

    def _exchange(self, problem: Problem, current: Iterate) -> Iterate:
        """The best chain of exchanges that lowers f, or a single one; done if there is none."""
        assert current.support is not None
        memory = current.memory or _Memory(False)
        outside = problem.units.count - problem.units.k
        inside = problem.units.units_in(current.support)
        gains = np.where(inside, -np.inf, expected_gains(problem, current))
        level = min(self._number_of_candidates(problem), outside)
        if memory.sketching and int(current.support.sum()) > LARGE:
            sketched = self._sketch(problem, current, memory)
            if sketched.support is not current.support:
                return sketched
            memory = sketched.memory
        while True:
            model = exchange_model(problem, current, top_mask(gains, level))
            if model.singular and not is_strongly_convex(problem.objective):
                completed = problem.refit(current.support, current.point.x)
                if completed.point.value < MOST * current.point.value - _least_gain(problem, current):
                    # The support fits exactly, or nearly: what to exchange would be a matter of rounding.
                    return replace(completed, memory=replace(memory, pursuing=False))
            wider = level if memory.brief else self._wider(problem, level, outside)
            # Single exchanges that the model does not believe in are tried only in the end.
            singles = wider == level and not memory.brief
            pairs = model.best_pairs(self._number_of_singles(problem)) if singles else []
            chain = model.chain(memory.length, _least_gain(problem, current))
            for attempt in attempts(chain, pairs):
                support = support_after(problem, current, attempt)
                forecast = model.forecast(support, attempt) if chain[: len(attempt)] == attempt else None
                trial = self._trial(problem, current, support, EXCHANGE, forecast)
                if _lower(problem, trial, current):
                    longer = max(4, 2 * len(attempt))
                    return replace(trial, memory=replace(memory, pursuing=False, length=longer))
            if wider == level:
                break
            level = wider
        which = "two units" if level == outside else f"a unit with one of the {level} most promising others"
        proven = is_quadratic(problem.objective) and problem.units.lower is None
        belief = "" if proven else ", as far as its quadratic model tells"
        if isinstance(model, AdditiveModel):
            belief = ", as far as gains and costs of single units tell"
        return replace(current, done=f"converged: no exchange of {which} lowers f{belief}", memory=memory)

    def _sketch(self, problem: Problem, current: Iterate, memory: _Memory) -> Iterate:
        """An eighth of a support exchanged at once, or twice as much as last time; the same iterate if f rises."""
        length = max(memory.length, problem.units.k // 8)
        chain = additive_model(problem, current).chain(length, _least_gain(problem, current))
        if not chain:
            return replace(current, memory=replace(memory, sketching=False))
        trial = self._trial(problem, current, support_after(problem, current, chain), EXCHANGE)
        lower = _lower(problem, trial, current)
        gained = current.point.value - trial.point.value
        goes_on = gained > SKETCH_GAIN * abs(current.point.value)
        length = 2 * len(chain) if goes_on else max(len(chain) // SHORTER, SHORT)
        following = replace(memory, pursuing=False, length=length, sketching=goes_on)
        return replace(trial if lower else current, memory=following)

    def _wider(self, problem: Problem, level: int, outside: int) -> int:
        """How many candidates to look at when none of the best `level` may enter; the same number to end."""
        units = problem.units
        looked_further = level > self._number_of_candidates(problem)
        if self.candidates is not None or looked_further or not has_hessian(problem.objective):
            return level
        within_reach = min(outside, WIDEST // int(units.sizes.max(initial=1)) - units.k)
        worthwhile = within_reach == outside or within_reach >= 2 * level
        return max(level, within_reach) if worthwhile else level

    def _number_of_singles(self, problem: Problem) -> int:
        if self.exchanges is None:
            return 8 if problem.units.count <= SMALL else 1
        return self.exchanges

    def _number_of_candidates(self, problem: Problem) -> int:
        units = problem.units
        if self.candidates is not None:
            return self.candidates
        width = int(units.sizes.max(initial=1))
        most = MANY if has_hessian(problem.objective) else FEW
        return max(min(max(units.k, FEW), most // width), 5)


@dataclass(frozen=True)
class _Memory:
    """Whether the pursuit goes on; the step and the length of a chain to try next.

    A brief run takes the model's word that no exchange lowers f. Large supports are sketched before they are modelled.
    """

    pursuing: bool
    step: float = LONGEST_STEP
    length: int = SHORT
    brief: bool = False
    merging: Merging | None = None
    sketching: bool = True


def _brief(iterate: Iterate) -> bool:
    return iterate.memory is not None and iterate.memory.brief


def _solved(iterate: Iterate) -> bool:
    return iterate.outcome not in (Outcome.UNFINISHED, Outcome.NOT_FINITE)


def _least_gain(problem: Problem, current: Iterate) -> float:
    """How much f must fall to count: more than rounding, of f itself or of what it began with."""
    start = problem.form.value_at_start
    return LEAST_GAIN * abs(current.point.value) + (ROUNDING * abs(start) if np.isfinite(start) else 0.0)


def _lower(problem: Problem, trial: Iterate, current: Iterate) -> bool:
    """Whether f has fallen by more than rounding."""
    return trial.point.value < current.point.value - _least_gain(problem, current)
