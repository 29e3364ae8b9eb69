"""Linear models against truth: f by plain formulas, stationarity, the best of all supports, other packages."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from .data import CALM, Choose, Problem, Recipe, draw_recipe
from .outcomes import Missed, Refused, demand, fit_clearly
from .truth import Truth

__all__ = ["check_all_features", "check_best_support", "check_solution", "draw_large", "draw_small", "draw_whole"]

#: Largest gradient on the support, as a fraction of what it may be without features.
STATIONARY = 1e-5
#: Differences of f below this fraction of what all features together can gain are rounding.
SAME_VALUE = 1e-6
#: How far f may be from that of another package, which stops early.
PEER = 1e-3


def draw_large(choose: Choose) -> Recipe:
    """Any model of any data."""
    return draw_recipe(choose, p=(5, 3, 8, 12, 20, 1, 2))


def draw_small(choose: Choose) -> Recipe:
    """A model whose supports can all be tried; not of nearly collinear features, which delay the truth's own search."""
    return draw_recipe(choose, n=(20, 30, 12, 7), storage=("dense", "fortran", "csr"))


def draw_whole(choose: Choose) -> Recipe:
    """A model with all features, which other packages fit."""
    common: dict[str, Any] = {"data": CALM[:-1], "n": (40, 30), "variant": ("plain",), "k": (8,)}
    models = ("linear", "logistic", "multinomial", "poisson")
    return draw_recipe(choose, models, alpha=(0.1, 0.01, 1.0), weighting=("none", "random", "integers"), **common)


def check_solution(recipe: Recipe) -> None:
    """The size of the support, finite numbers, probabilities, value = f(x), and stationarity on the support."""
    problem = recipe.build()
    model = fit_clearly(problem)
    truth = Truth(problem)
    w = truth.read(model)
    _check_form(problem, model)
    value, null = truth.value(w), truth.null
    room = truth.rounding(w) + find_precision(problem) * (abs(value) + abs(truth.value(null)))
    demand(abs(model.result_.value - value) <= room, f"value {model.result_.value!r}, but f(x) is {value!r}")
    demand(value <= truth.value(null) + room or _is_bound(problem), f"f = {value!r} is above that without features")
    if not model.result_.success:
        raise Refused(model.result_.message)
    _check_stationary(truth, model, w, null)


def find_precision(problem: Problem) -> float:
    """The precision of f: standardized features of single precision are rounded once more."""
    return 1e-6 if problem.parameters.get("standardize") and problem.X.dtype == np.float32 else 1e-9


def _check_form(problem: Problem, model: Any) -> None:
    selected = model.get_support(indices=True)
    labels = np.asarray(problem.parameters.get("feature_groups", np.arange(problem.X.shape[1])))
    always = problem.parameters.get("always_select", [])
    demand(len(np.unique(labels[selected])) <= problem.parameters["k"], f"more than k are selected: {selected}")
    demand(set(always) <= set(selected.tolist()), f"{always} are always selected, but not among {selected}")
    for name in ("coef_", "intercept_"):
        demand(np.isfinite(getattr(model, name)).all(), f"{name} is not finite: {getattr(model, name)}")
    outside = np.delete(np.atleast_2d(model.coef_), selected, axis=1)
    demand(not outside.any(), "features outside the support have coefficients")
    demand(not problem.parameters.get("positive") or (model.coef_ >= 0).all(), "coefficients are negative")
    if hasattr(model, "predict_proba"):
        sums = model.predict_proba(problem.X).sum(axis=1)
        demand(np.allclose(sums, 1.0, atol=1e-12), f"probabilities add up to {sums}")


def _is_bound(problem: Problem) -> bool:
    return bool(problem.parameters.get("always_select"))


def _check_stationary(truth: Truth, model: Any, w: Any, null: Any) -> None:
    gradient = truth.gradient(w)
    margins = truth.Z @ null
    slopes = np.abs(truth.slopes(margins)) + np.abs(truth.slopes(np.zeros_like(margins)))
    sizes = np.abs(truth.Z).T @ (truth.weights[:, None] * slopes)
    # Margins of features with large means lose digits, which no method can restore.
    lost = np.abs(truth.Z).T @ np.full(len(truth.Z), _lost_digits(truth, w)) / len(truth.Z)
    room = STATIONARY * (sizes + 1e-6 * sizes.max()) + lost[:, None]
    used = np.append(model.support_, truth.problem.fit_intercept)
    if truth.problem.parameters.get("positive"):
        gradient[:-1] = np.where(w[:-1] > 0, gradient[:-1], np.minimum(gradient[:-1], 0.0))
    excess = (np.abs(gradient) - room)[used]
    demand((excess <= 0).all(), f"not stationary: gradient {gradient[used].ravel()}, allowed {room[used].ravel()}")


def _lost_digits(truth: Truth, w: Any) -> float:
    sizes = truth.size @ np.abs(w[:-1]) + np.abs(w[-1])
    steep = np.exp(np.max(truth.Z @ w)) if truth.model == "poisson" else 1.0
    return float(32.0 * np.finfo(float).eps * sizes.max(initial=0.0) * steep)


def check_best_support(recipe: Recipe) -> None:
    """f is not below the lowest of all supports, nor above it; the default solver may miss it, but not with effort."""
    problem = recipe.build()
    model = fit_clearly(problem)
    if not model.result_.success:
        raise Refused(model.result_.message)
    truth = Truth(problem)
    best, support = truth.find_best()
    room = SAME_VALUE * (truth.value(np.zeros_like(truth.null)) - best) + truth.rounding(truth.read(model))
    room += 1e-12 * (1.0 + abs(best))
    value = model.result_.value
    demand(value >= best - room, f"f = {value!r} is below the lowest of all supports, {best!r} of {support}")
    if value > best + room:
        demand(problem.fit(effort=5).result_.value <= best + room, f"f = {value!r}, but {best!r} on {support}")
        raise Missed(f"f = {value!r}, but {best!r} on {support}")


def check_all_features(recipe: Recipe) -> None:
    """With all features, f is not above that of scikit-learn's models, and not far below it."""
    problem = recipe.build()
    model = fit_clearly(problem)
    truth = Truth(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = truth.weights * len(truth.weights)  # all are positive here
        peer = _build_peer(problem).fit(problem.dense, problem.y, sample_weight=weights)
    here, there = truth.value(truth.read(model)), truth.value(truth.read(peer))
    gain = truth.value(truth.null) - there
    demand(here <= there + SAME_VALUE * abs(gain) + 1e-12, f"f = {here!r} is above scikit-learn's, {there!r}")
    demand(here >= there - PEER * abs(gain) - 1e-9, f"f = {here!r} is below scikit-learn's, {there!r}")


def _build_peer(problem: Problem) -> Any:
    n, options = len(problem.y), {"fit_intercept": problem.fit_intercept}
    exact = {"tol": 1e-10, "max_iter": 20_000}
    if problem.model == "linear":
        return Ridge(alpha=n * problem.alpha, **options) if problem.alpha else LinearRegression(**options)
    if problem.model == "poisson":
        return PoissonRegressor(alpha=problem.alpha, solver="newton-cholesky", **exact, **options)
    return LogisticRegression(C=1.0 / (n * problem.alpha), **exact, **options)
