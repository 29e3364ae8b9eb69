"""Small problems of all kinds, and the minimum of f on every support of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ksparse._types import Array, Mask
from ksparse.objectives import (
    Gamma,
    Huber,
    LeastSquares,
    LinearObjective,
    Logistic,
    Multinomial,
    NegativeBinomial,
    Poisson,
    Quantile,
    SquaredHinge,
    Tweedie,
)
from ksparse.sparsity import Entries, Groups, Rows, Sparsity

KINDS: dict[str, Any] = {
    "squares": LeastSquares,
    "logistic": Logistic,
    "poisson": Poisson,
    "huber": Huber,
    "hinge": SquaredHinge,
    "quantile": Quantile,
    "gamma": Gamma,
    "negative binomial": NegativeBinomial,
    "tweedie": Tweedie,
    "multiresponse": LeastSquares,
    "multinomial": Multinomial,
}
MATRIX = ("multiresponse", "multinomial")


@dataclass(frozen=True)
class Case:
    """A problem with few features."""

    objective: LinearObjective
    sparsity: Sparsity
    #: The units of the best support, and f at its minimum on each support with k units.
    supports: Array
    values: Array

    @property
    def optimum(self) -> float:
        return float(self.values.min())


def draw_case(kind: str, seed: int, setting: str = "plain", features: int = 7) -> Case:
    """A problem whose correlation, ridge, intercept, weights, offset and scales depend on the seed."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind), len(setting)])
    n, p = int(rng.integers(8, 40)), int(rng.integers(4, features + 1))
    rho = rng.choice([0.0, 0.5, 0.9, 0.95])
    alpha = float(rng.choice([1e-6, 1e-3, 1e-2, 0.1, 1.0, 10.0]))
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    signal = X @ np.where(rng.random(p) < 0.5, rng.standard_normal(p), 0.0)
    X = X * 10.0 ** rng.integers(-1, 2, p) if rng.random() < 0.3 else X
    X = X + 3.0 * rng.standard_normal(p) if rng.random() < 0.3 else X
    options: dict[str, Any] = {"alpha": alpha, "fit_intercept": bool(rng.random() < 0.5)}
    if rng.random() < 0.4:
        options["sample_weight"] = rng.integers(0, 4, n) + np.append(np.ones(6), np.zeros(n - 6))
    y = draw_responses(kind, signal, rng)
    if rng.random() < 0.3:
        options["offset"] = 0.5 * rng.standard_normal((n, 3 if kind == "multinomial" else 2) if kind in MATRIX else n)
    objective = KINDS[kind](X, y, **options)
    sparsity = draw_sparsity(setting, p, kind in MATRIX, rng)
    return Case(objective, sparsity, *enumerate_supports(objective, sparsity))


def draw_responses(kind: str, signal: Array, rng: np.random.Generator) -> Any:
    noise = rng.choice([0.1, 1.0, 3.0]) * rng.standard_normal(signal.size)
    if kind in ("logistic", "hinge"):
        labels = signal + noise > 0
        labels[:2] = [False, True]
        return labels
    if kind == "multinomial":
        labels = np.digitize(signal + noise, [-0.5, 0.5])
        labels[:3] = [0, 1, 2]
        return labels
    if kind in ("poisson", "negative binomial"):
        return rng.poisson(np.exp(np.clip(0.3 * signal, -2, 2)))
    if kind == "tweedie":
        return np.array([rng.gamma(1.0, 1.0, count).sum() for count in rng.poisson(np.exp(np.clip(signal, -2, 1)))])
    if kind == "gamma":
        return np.exp(np.clip(0.3 * (signal + noise), -2, 2))
    if kind == "multiresponse":
        return np.column_stack([signal + noise, noise - 0.5 * signal])
    return signal + noise


def draw_sparsity(setting: str, p: int, is_matrix: bool, rng: np.random.Generator) -> Sparsity:
    k = int(rng.integers(1, max(2, p - 1)))
    if setting == "groups":
        labels = rng.integers(0, 4, p)
        return Groups(min(k, 2), labels, always=labels[:1] if rng.random() < 0.5 else ())
    bounds: dict[str, Any] = {}
    if setting == "bounds":
        bounds = {"lower": rng.choice([0.0, -0.3]), "upper": rng.choice([0.2, np.inf])}
    always = [0] if setting == "always" else ()
    return (Rows if is_matrix else Entries)(k, always=always, **bounds)


def enumerate_supports(objective: LinearObjective, sparsity: Sparsity) -> tuple[Any, Array]:
    """Masks over the units of all supports of k units, and the minimum of f on each."""
    units = sparsity.bind(objective.shape, objective.free)
    fixed, others = np.flatnonzero(units.always), np.flatnonzero(~units.always)
    masks = []
    for chosen in combinations(others, units.k - fixed.size):
        mask = units.always.copy()
        mask[list(chosen)] = True
        masks.append(mask)
    coordinates = [units.to_mask(mask) for mask in masks]
    if units.lower is not None or objective.shape[1:]:
        return np.array(masks), np.array([minimize_on(objective, one, units.lower, units.upper) for one in coordinates])
    return np.array(masks), minimize_on_all(objective, np.array(coordinates))


def minimize_on(objective: LinearObjective, support: Mask, lower: Array | None, upper: Array | None) -> float:
    """The minimum of f on a support within bounds, by L-BFGS-B from where it ended until it goes no further."""
    if not support.any():
        return objective.evaluate(np.zeros(objective.shape)).value
    sizes = np.ones(objective.shape)
    form = objective.margin_form()
    assert form is not None
    columns = form.collect()
    sizes[: columns.shape[1]] = np.sqrt((columns**2).mean(axis=0)).reshape(-1, *[1] * (sizes.ndim - 1)) + 1e-12
    scale = sizes[support]

    def evaluate(values: Array) -> tuple[float, Array]:
        x = np.zeros(objective.shape)
        x[support] = values / scale
        point = objective.evaluate(x)
        return point.value, point.gradient[support] / scale

    bounds = None
    if lower is not None and upper is not None:
        bounds = np.column_stack([lower[support] * scale, upper[support] * scale])
    options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-16, "gtol": 1e-9}
    start, lowest = np.zeros(support.sum()), np.inf
    for _ in range(20):
        found = minimize(evaluate, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        if found.fun >= lowest - 1e-13 * abs(lowest):
            break
        start, lowest = found.x, float(found.fun)
    return min(lowest, float(found.fun))


def minimize_on_all(objective: Any, supports: Any) -> Array:
    """The minimum of f on each support, by Newton's method with halved steps on all of them at once."""
    form = objective.margin_form()
    rows = form.weights > 0
    X, y, weights = form.collect()[rows], form.target[rows], form.weights[rows]
    offset = 0.0 if form.offset is None else form.offset[rows]
    ridge = np.full(X.shape[1], form.alpha)
    if form.fit_intercept:
        X, ridge = np.column_stack([X, np.ones(len(X))]), np.append(ridge, 0.0)
    # Features outside a support are there with a column of zeros.
    Z = X[None] * supports[:, None, :]
    ridges = np.where(supports, ridge, 1.0)

    def evaluate(w: Array) -> Array:
        margins = np.matmul(Z, w[..., None])[..., 0] + offset
        losses = form.loss.value(margins.ravel(), np.tile(y, len(w))).reshape(margins.shape)
        return np.asarray(losses @ weights + 0.5 * (ridges * w * w).sum(axis=1))

    w = np.zeros(supports.shape)
    if form.fit_intercept and not form.loss.of_residuals:
        w[:, -1] = form.loss.find_null_margin(weights @ y)
    value = evaluate(w)
    for _ in range(200):
        margins = np.matmul(Z, w[..., None])[..., 0] + offset
        slopes, curvatures = form.loss.slope(margins, y) * weights, form.loss.curvature(margins, y) * weights
        gradient = np.matmul(slopes[:, None, :], Z)[:, 0] + ridges * w
        hessian = np.matmul(Z.transpose(0, 2, 1), Z * curvatures[..., None])
        hessian += ridges[..., None] * np.eye(w.shape[1]) + 1e-9 * np.eye(w.shape[1])
        step = np.linalg.solve(hessian, -gradient[..., None])[..., 0]
        length = np.ones(len(w))
        for _ in range(60):
            trial = evaluate(w + length[:, None] * step)
            worse = ~(trial <= value)
            if not worse.any():
                break
            length[worse] *= 0.5
        moved = trial < value
        w[moved], lowered = (w + length[:, None] * step)[moved], (value - trial)[moved]
        value = np.minimum(trial, value)
        if not moved.any() or lowered.max() <= 1e-14 * np.abs(value).max():
            break
    return value
