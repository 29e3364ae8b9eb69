"""What must not change an answer: units, the order of rows and columns, storage, copies, and numbers of processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .data import CALM, EXPONENTS, Choose, Problem, Recipe, Scales, draw_recipe, draw_scales
from .outcomes import Failed, Missed, Refused, demand, fit_clearly
from .truth import EPSILON, Truth

__all__ = ["CHANGES", "Changed", "Rescaled", "check_changed", "check_rescaled", "draw_changed", "draw_rescaled"]

#: Values of f that differ by less, as a fraction of what features can gain, are the same.
SAME_VALUE = 1e-6
#: How much linear predictors of unique solutions may differ, as a fraction of their spread.
SAME_MARGINS = 1e-3
#: Models whose target has no unit.
LABELS = ("logistic", "multinomial")


@dataclass(frozen=True)
class Rescaled:
    """A problem and other units."""

    recipe: Recipe
    scales: Scales

    def build(self) -> Problem:
        """The problem in the other units."""
        return self.recipe.build().rescale(self.scales)


def draw_rescaled(choose: Choose, exponents: Sequence[int] = EXPONENTS) -> Rescaled:
    """Any model in any units; counts can only be rescaled with an intercept, which takes the factor."""
    recipe = draw_recipe(choose, storage=("dense", "csr"), p=(5, 8, 3, 12), weighting=("none", "random", "zeros"))
    scales = draw_scales(choose, exponents)
    if recipe.model == "poisson" and not recipe.fit_intercept:
        scales = replace(scales, target=1.0)
    if recipe.model == "poisson" and recipe.alpha == 0.0:
        recipe = replace(recipe, alpha=0.01)  # some counts of zero have no minimum without a ridge
    return Rescaled(recipe, scales)


def check_rescaled(case: Rescaled) -> None:
    """The solution in other units is the same one, unless the units are refused."""
    plain, scaled = case.recipe.build(), case.build()
    if plain.model == "poisson" and not plain.y[slice(None) if plain.weights is None else plain.weights > 0].any():
        raise Refused("counts that are all zero have no units")
    here = fit_clearly(plain)
    there = fit_clearly(scaled)
    other = f"status {here.result_.status}, but {there.result_.status} in other units: {there.result_.message}"
    same = here.result_.success == there.result_.success
    # Without a ridge there may be no minimum, which rounding may hide.
    demand(same or plain.alpha == 0, other)
    _compare(plain, here, restore(scaled, there, case.scales), f"in the units {case.scales}")
    if not same:
        raise Missed(other)


def restore(problem: Problem, model: Any, scales: Scales) -> Any:
    """The coefficients of a model of rescaled data, in the units of the data before."""
    d = 1.0 if problem.model in LABELS or problem.model == "poisson" else scales.target
    shift = np.log(scales.target) if problem.model == "poisson" else 0.0
    # One factor after the other: their product may overflow.
    coefficients = np.atleast_2d(model.coef_) * scales.features / d
    intercept = np.atleast_1d(model.intercept_) / d - shift * problem.fit_intercept
    return coefficients, intercept


@dataclass(frozen=True)
class Changed:
    """A problem and a change that must not matter."""

    recipe: Recipe
    change: str


def draw_changed(choose: Choose) -> Changed:
    """A problem with a unique solution, and a change."""
    recipe = draw_recipe(
        choose,
        data=CALM,
        n=(30, 20, 12),
        p=(5, 8, 12),
        alpha=(0.1, 0.01, 1.0),
        storage=("dense",),
        weighting=("none", "random", "integers", "zeros"),
    )
    change = choose(tuple(CHANGES))
    if change == "copies":
        recipe = replace(recipe, weighting="integers")
    if change == "column units":
        recipe = replace(recipe, variant="standardize", data=choose(CALM[:3]))
    if change == "float32":
        recipe = replace(recipe, data="normal")
    return Changed(recipe, change)


def check_changed(case: Changed) -> None:
    """The solution is the same one after the change; rounding may make a search miss it, but not one with effort."""
    problem = case.recipe.build()
    try:
        _compare_changed(case, problem)
    except Failed as failure:
        _compare_changed(case, problem.with_parameters(effort=5))
        raise Missed(str(failure)) from failure


def _compare_changed(case: Changed, problem: Problem) -> None:
    changed, undo = CHANGES[case.change](problem, np.random.default_rng([case.recipe.seed, 1]))
    here, there = fit_clearly(problem), fit_clearly(changed)
    coefficients = undo(np.atleast_2d(there.coef_))
    _compare(problem, here, (coefficients, np.atleast_1d(there.intercept_)), f"after the change: {case.change}")


Undo = Callable[[Any], Any]
Change = Callable[[Problem, np.random.Generator], tuple[Problem, Undo]]


def _keep(coefficients: Any) -> Any:
    return coefficients


def _permute_rows(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Undo]:
    order = rng.permutation(len(problem.y))
    weights = None if problem.weights is None else problem.weights[order]
    return replace(problem, X=problem.X[order], y=problem.y[order], weights=weights), _keep


def _permute_columns(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Undo]:
    order = rng.permutation(problem.X.shape[1])
    parameters = dict(problem.parameters)
    if "feature_groups" in parameters:
        parameters["feature_groups"] = parameters["feature_groups"][order]
    if "always_select" in parameters:
        parameters["always_select"] = [int(np.flatnonzero(order == j)[0]) for j in parameters["always_select"]]
    return replace(problem, X=problem.X[:, order], parameters=parameters), lambda w: w[:, np.argsort(order)]


def _copy_rows(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Undo]:
    rows = np.repeat(np.arange(len(problem.y)), problem.weights.astype(int))
    return replace(problem, X=problem.X[rows], y=problem.y[rows], weights=None), _keep


def _leave_out(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Undo]:
    """Rows without a weight, with nonsense in them, are left out or are not."""
    n = len(problem.y)
    extra = np.vstack([problem.X, 1e3 * rng.standard_normal((2, problem.X.shape[1]))])
    weights = np.ones(n) if problem.weights is None else problem.weights
    y = np.concatenate([problem.y, problem.y[:2]])
    return replace(problem, X=extra, y=y, weights=np.concatenate([weights, [0.0, 0.0]])), _keep


def _rescale_columns(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Undo]:
    units = 2.0 ** rng.integers(-60, 60, problem.X.shape[1])
    return replace(problem, X=problem.X * units), lambda w: w * units


def _store_as(form: Callable[[Any], Any]) -> Change:
    return lambda problem, rng: (replace(problem, X=form(problem.X)), _keep)


CHANGES: dict[str, Change] = {
    "rows": _permute_rows,
    "columns": _permute_columns,
    "copies": _copy_rows,
    "rows without a weight": _leave_out,
    "column units": _rescale_columns,
    "fortran": _store_as(np.asfortranarray),
    "csr": _store_as(sparse.csr_array),
    "csc": _store_as(sparse.csc_array),
    "coo matrix": _store_as(sparse.coo_matrix),
    "read-only": _store_as(lambda X: np.frombuffer(np.ascontiguousarray(X).tobytes()).reshape(X.shape)),
    "reversed": _store_as(lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]),
    "lists": _store_as(lambda X: X.tolist()),
    "float32": _store_as(lambda X: X.astype(np.float32)),
}


def _compare(problem: Problem, here: Any, there: tuple[Any, Any], what: str) -> None:
    """Demand that coefficients and intercepts are those of a model: the same f, and the same predictor if unique."""
    truth = Truth(problem)
    w, other = truth.read(here), truth.read(_Coefficients(*there))
    demand(np.isfinite(other).all(), f"coefficients {what} are not finite: {other.ravel()}")
    value, changed = truth.value(w), truth.value(other)
    gain = abs(truth.value(np.zeros_like(w)) - value)
    precision = 1e-5 if "float32" in what else SAME_VALUE
    room = precision * gain + truth.rounding(w) + truth.rounding(other) + 8.0 * EPSILON * abs(value)
    demand(abs(value - changed) <= room, f"f = {value!r}, but {changed!r} {what}")
    if not here.result_.success:
        raise Refused(here.result_.message)
    margins = truth.margins(w)
    spread = np.ptp(margins) + np.abs(margins).max()
    difference = np.abs(margins - truth.margins(other)).max()
    same = np.array_equal(w[:-1] != 0, other[:-1] != 0)
    demand(not same or problem.alpha == 0 or difference <= SAME_MARGINS * spread + 1e-9, f"other predictors {what}")


@dataclass(frozen=True)
class _Coefficients:
    coef_: Any
    intercept_: Any
