"""Paths, cross-validation, criteria and stability selection against what is computed by hand, one fit at a time."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, xlogy
from sklearn.model_selection import KFold, StratifiedKFold

import ksparse

from .data import CALM, Choose, Problem, Recipe, draw_recipe
from .outcomes import Missed, Refused, demand, refuse_clearly
from .truth import Truth

__all__ = [
    "Halved",
    "check_criterion",
    "check_path",
    "check_scores",
    "check_stability",
    "draw_criterion",
    "draw_halved",
    "draw_path",
    "draw_scored",
]

CV: dict[str, Any] = {
    "linear": ksparse.SparseLinearRegressionCV,
    "huber": ksparse.SparseHuberRegressionCV,
    "poisson": ksparse.SparsePoissonRegressionCV,
    "logistic": ksparse.SparseLogisticRegressionCV,
    "multinomial": ksparse.SparseLogisticRegressionCV,
}
IC: dict[str, Any] = {
    "linear": ksparse.SparseLinearRegressionIC,
    "huber": ksparse.SparseHuberRegressionIC,
    "poisson": ksparse.SparsePoissonRegressionIC,
    "logistic": ksparse.SparseLogisticRegressionIC,
}
CRITERIA = ("aic", "bic", "ebic", "gic")
#: Values of f that differ by less, as a fraction of what features can gain, are the same.
SAME_VALUE = 1e-6


def draw_path(choose: Choose) -> Recipe:
    """A model of any data with a ridge."""
    return draw_recipe(choose, alpha=(0.1, 0.01, 0.0), p=(5, 8, 12, 3), n=(30, 20, 12), storage=("dense", "csr"))


def check_path(recipe: Recipe) -> None:
    """Along a path, f never rises and is that of the coefficients; no model has more than k features.

    A model with fewer than k has no higher f than a fit alone: it would have left out features that lower f.
    """
    problem = _allow_few(recipe.build())
    fewest = len(problem.parameters.get("always_select", ()))
    # A path that begins with no features repairs some faults of one that does not.
    least = max(fewest, recipe.seed % 2)
    ks = sorted({k for k in (0, 1, 2, 3, recipe.p // 2, recipe.p) if k >= least})
    path = _quietly(lambda: ksparse.path(problem.X, problem.y, ks, problem.build_estimator(), **_weigh(problem)))
    truth = Truth(problem)
    gain = truth.value(np.zeros_like(truth.null)) - min(path.values)
    labels = np.asarray(problem.parameters.get("feature_groups", np.arange(recipe.p)))
    before = np.inf
    for k, result, *solution in zip(path.ks, path.results, path.coef, path.intercept, strict=True):
        w = truth.read(_Coefficients(*solution))
        room = 1e-6 * abs(gain) + truth.rounding(w) + 1e-9 * abs(result.value)
        demand(abs(truth.value(w) - result.value) <= room, f"k = {k}: {result.value!r}, but f = {truth.value(w)!r}")
        demand(result.value <= before + room, f"k = {k}: f = {result.value!r} is above {before!r} of a smaller k")
        used = np.unique(labels[np.atleast_2d(solution[0]).any(axis=0)])
        demand(len(used) <= k, f"k = {k}, but {len(used)} are selected")
        if len(used) < k:
            alone = _quietly(lambda k=int(k): problem.fit(k=k)).result_.value
            demand(result.value <= alone + room, f"k = {k}: f = {result.value!r} with {len(used)}, but {alone!r} alone")
        before = min(before, result.value)


def draw_scored(choose: Choose) -> Recipe:
    """A model with a unique solution, whose k is chosen by cross-validation."""
    return draw_recipe(
        choose,
        data=CALM[:-1],
        n=(30, 40, 60),
        p=(5, 8, 12),
        alpha=(0.1, 0.01, 0.001),
        weighting=("none", "random"),
        storage=("dense",),
    )


def check_scores(recipe: Recipe) -> None:
    """Scores of the folds are those of models that are fitted to each training part alone.

    A path may find another solution than a fit alone: a miss, if its score is that of a path of the training part.
    """
    problem = recipe.build()
    ks = sorted({1, 2, max(recipe.k, 1), recipe.p})
    splitter = StratifiedKFold if problem.model in ("logistic", "multinomial") else KFold
    splits = list(splitter(3, shuffle=True, random_state=recipe.seed).split(problem.dense, problem.y))
    parameters = {name: value for name, value in problem.parameters.items() if name not in ("k", "alpha")}
    parameters["standardize"] = bool(parameters.get("standardize"))
    options: dict[str, Any] = {"ks": ks, "alphas": problem.alpha, "refit_alphas": None, "cv": splits, **parameters}

    def fit(**jobs: Any) -> Any:
        return CV[problem.model](**options, **jobs).fit(problem.X, problem.y, sample_weight=problem.weights)

    model = _quietly(fit)
    demand(np.array_equal(model.scores_, _quietly(lambda: fit(n_jobs=2)).scores_), "scores depend on n_jobs")
    misses = []
    for fold, (training, held_out) in enumerate(splits):
        for k, score in zip(model.ks_.tolist(), model.scores_[:, fold], strict=True):
            alone = _quietly(lambda k=k, rows=training: _take(problem, rows).fit(k=k))
            expected = -_mean_loss(_take(problem, held_out), alone)
            if abs(score - expected) > 1e-6 * (1 + abs(expected)):
                misses.append(_compare_with_path(problem, training, held_out, ks, k, alone.result_.value, score))
    if misses:
        raise Missed("; ".join(misses))


def _compare_with_path(
    problem: Problem, training: Any, held_out: Any, ks: list[int], k: int, alone: float, score: float
) -> str:
    """Say how a path's solution differs from that of a fit alone; its score must be the one that was found."""
    part = _take(problem, training)
    path = _quietly(lambda: ksparse.path(part.X, part.y, ks, part.build_estimator(), **_weigh(part)))
    position = path.ks.tolist().index(k)
    solution = _Coefficients(path.coef[position], path.intercept[position])
    expected = -_mean_loss(_take(problem, held_out), solution)
    value = path.values[position]
    said = f"k = {k}: score {score!r}, f = {alone!r} alone and {value!r} on a path, whose score is {expected!r}"
    demand(abs(score - expected) <= 1e-6 * (1 + abs(expected)), said)
    truth = Truth(part)
    gain = abs(truth.value(np.zeros_like(truth.null)) - alone)
    demand(abs(value - alone) > 1e-9 * gain, f"{said}: other scores of the same f")
    n_used = np.count_nonzero(np.atleast_2d(solution.coef_).any(axis=0))
    demand(value < alone or n_used >= k or "feature_groups" in part.parameters, f"{said}, with {n_used} features")
    return ("better: " if value < alone else "worse: ") + said


def draw_criterion(choose: Choose) -> Recipe:
    """A model whose k is chosen by a criterion."""
    models = tuple(IC)
    return replace(draw_scored(choose), model=choose(models), variant=choose(("plain", "always", "groups")))


def check_criterion(recipe: Recipe) -> None:
    """Criteria are the deviance of each model of the path, plus the penalty of its degrees of freedom."""
    problem = recipe.build()
    criterion = CRITERIA[recipe.seed % len(CRITERIA)]
    parameters = {name: value for name, value in problem.parameters.items() if name != "k"}
    fewest = len(problem.parameters.get("always_select", ()))
    ks = range(fewest, len(np.unique(problem.parameters.get("feature_groups", np.arange(recipe.p)))) + 1)

    def fit() -> Any:
        model = IC[problem.model](ks=ks, criterion=criterion, **parameters)
        return model.fit(problem.X, problem.y, sample_weight=problem.weights)

    model = _quietly(fit)
    expected = [
        _compute_criterion(problem, criterion, _Coefficients(*solution), result, fewest)
        for result, *solution in zip(model.path_.results, model.path_.coef, model.path_.intercept, strict=True)
    ]
    room = 1e-6 * (1 + np.abs(expected))
    demand((np.abs(model.criterion_ - expected) <= room).all(), f"{criterion}: {model.criterion_}, by hand {expected}")
    best = float(np.min(expected))
    chosen = model.ks_.tolist().index(model.k_)
    demand(expected[chosen] <= best + 1e-6 * (1 + abs(best)), f"{criterion}: k = {model.k_} is not the best one")


def _compute_criterion(problem: Problem, name: str, solution: Any, result: Any, fewest: int) -> float:
    truth = Truth(problem)
    w = truth.read(solution)
    n = len(problem.y) if problem.weights is None else float(problem.weights.sum())
    loss = truth.value(w) - 0.5 * problem.alpha * float(np.sum(np.square(w[:-1])))
    deviance = n * np.log(2 * loss) if problem.model == "linear" else 2 * n * loss
    if problem.model == "huber":
        deviance *= (1.345 / problem.parameters["delta"]) ** 2
    labels = np.asarray(problem.parameters.get("feature_groups", np.arange(problem.X.shape[1])))
    used = np.flatnonzero(np.isin(labels, result.selected))
    freedom = len(used) - problem.alpha * np.trace(_invert_hessian(truth, w, used)) + problem.fit_intercept
    units = len(np.unique(labels)) - fewest
    chosen = len(result.selected) - fewest
    subsets = gammaln(units + 1) - gammaln(chosen + 1) - gammaln(units - chosen + 1)
    prices = {
        "aic": 2 * freedom,
        "bic": freedom * np.log(n),
        "ebic": freedom * np.log(n) + 2 * subsets,
        "gic": freedom * np.log(max(units, 2)) * np.log(max(np.log(n), 1.0)),
    }
    return float(deviance + prices[name])


def _invert_hessian(truth: Truth, w: Any, used: Any) -> Any:
    """The block of the features in the inverse Hessian of f on them and the intercept."""
    columns = [*used, *([-1] if truth.problem.fit_intercept else [])]
    margins = (truth.Z @ w)[:, 0]
    curvature = np.ones_like(margins)
    if truth.model == "huber":
        curvature = (np.abs(margins - truth.y) <= truth.problem.parameters["delta"]).astype(float)
    elif truth.model == "poisson":
        curvature = np.exp(margins)
    elif truth.model == "logistic":
        curvature = 0.25 / np.square(np.cosh(0.5 * margins))
    part = truth.Z[:, columns]
    hessian = part.T @ (part * (truth.weights * curvature)[:, None])
    hessian[np.arange(len(used)), np.arange(len(used))] += truth.alpha
    return np.linalg.pinv(hessian, hermitian=True)[: len(used), : len(used)]


@dataclass(frozen=True)
class Halved:
    """A problem for stability selection."""

    recipe: Recipe
    n_pairs: int


class Recorder(ksparse.SparseLinearRegression):
    """A model that remembers what it was fitted to."""

    seen: ClassVar[list[tuple[Any, Any]]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Recorder:
        """Fit the model, and remember the data and the selected features."""
        self.seen.append((X, y))
        super().fit(X, y, sample_weight, offset=offset)
        return self


def draw_halved(choose: Choose) -> Halved:
    """Samples to split many times."""
    recipe = draw_recipe(choose, ("linear",), data=CALM[:2], n=(30, 21, 12), variant=("plain",), storage=("dense",))
    return Halved(replace(recipe, weighting="none", k=choose((1, 2, 3))), choose((3, 5, 10)))


def check_stability(case: Halved) -> None:
    """Halves complement each other, and frequencies are those of fits to them."""
    problem = case.recipe.build()
    Recorder.seen.clear()
    recorder = Recorder(**problem.parameters)
    options: dict[str, Any] = {"n_pairs": case.n_pairs, "random_state": case.recipe.seed}
    with refuse_clearly(), warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", "none is selected", UserWarning)
        stable = ksparse.StabilitySelection(recorder, **options).fit(problem.X, problem.y)
        again = ksparse.StabilitySelection(problem.build_estimator(), **options).fit(problem.X, problem.y)
    said = any("none is selected" in str(warning.message) for warning in caught)
    demand(said == (not stable.support_.any()), "a warning if and only if nothing is selected")
    halves = Recorder.seen[-2 * case.n_pairs :]
    demand(np.array_equal(stable.frequencies_, again.frequencies_), "other frequencies with the same seed")
    for (_, first), (_, second) in zip(halves[::2], halves[1::2], strict=True):
        both = np.sort(np.concatenate([first, second]))
        demand(np.array_equal(both, np.sort(problem.y)), "halves do not complement each other")
    fits = [problem.build_estimator().fit(X, y).support_ for X, y in halves]
    demand(np.allclose(np.mean(fits, axis=0), stable.frequencies_), "frequencies are not those of the fits")
    demand(np.array_equal(stable.support_, stable.frequencies_ >= 0.75 - 1e-12), "the support is not by the threshold")


@dataclass(frozen=True)
class _Coefficients:
    coef_: Any
    intercept_: Any


def _allow_few(problem: Problem) -> Problem:
    """The problem, whose k does not matter; at least as many as are always selected."""
    return problem.with_parameters(k=problem.X.shape[1])


def _weigh(problem: Problem) -> dict[str, Any]:
    return {"sample_weight": problem.weights}


def _take(problem: Problem, rows: Any) -> Problem:
    weights = None if problem.weights is None else problem.weights[rows]
    return replace(problem, X=problem.X[rows], y=problem.y[rows], weights=weights)


def _mean_loss(problem: Problem, model: Any) -> float:
    """The mean loss of held-out samples above that of perfect predictions; standard deviations do not matter."""
    truth = Truth(problem.with_parameters(alpha=0.0, standardize=False))
    lowest = truth.weights @ (truth.y - xlogy(truth.y, truth.y)) if truth.model == "poisson" else 0.0
    return float(truth.value(truth.read(model)) - lowest)


def _quietly(fit: Any) -> Any:
    """What a function returns, or a refusal; also if the solver has not converged, which is another check's."""
    with refuse_clearly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ksparse.ConvergenceWarning)
        fitted = fit()
    if caught:
        raise Refused(str(caught[0].message))
    return fitted
