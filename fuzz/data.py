"""Data sets of many kinds, ordinary and degenerate, for each linear model; and scales of X, y and weights.

A case is drawn by a function `choose`, which picks one of several options: random numbers do so here, Hypothesis does
so in the tests, and finds the simplest case that fails since the first options are the simplest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

import ksparse

__all__ = ["CALM", "ESTIMATORS", "KINDS", "Choose", "Problem", "Recipe", "Scales", "draw_recipe", "draw_scales"]

T = TypeVar("T")
Choose = Callable[[Sequence[Any]], Any]

ESTIMATORS: dict[str, Any] = {
    "linear": ksparse.SparseLinearRegression,
    "huber": ksparse.SparseHuberRegression,
    "poisson": ksparse.SparsePoissonRegression,
    "logistic": ksparse.SparseLogisticRegression,
    "multinomial": ksparse.SparseLogisticRegression,
}
#: Kinds of X and y without ties, where the solution is unique.
CALM = ("normal", "correlated", "outliers", "integers", "sparse", "huge_means")
KINDS = (*CALM, "constant", "equal_columns", "equal_rows", "collinear", "zero_y", "constant_y", "separated", "exact")
#: Kinds of data whose features are not constant, also in parts of the rows.
VARYING = ("normal", "correlated", "outliers", "collinear", "zero_y", "constant_y", "separated", "exact")
WEIGHTINGS = ("none", "random", "zeros", "integers", "one")
STORAGES = ("dense", "fortran", "float32", "csr", "csc", "strided")
VARIANTS = ("plain", "positive", "groups", "always", "standardize")
SIZES = (20, 30, 12, 7, 4, 3, 2, 1)
WIDTHS = (5, 4, 6, 3, 2, 1)
#: Exponents of scales: ten to the power of these.
EXPONENTS = (0, -1, 1, -3, 3, -6, 6, -9, 9, -12, 12, -15, 15, -20, 20, -30, 30, -50, 50, -75, 75, -100, 100)


@dataclass(frozen=True)
class Recipe:
    """What a data set and a model are made from."""

    model: str
    data: str = "normal"
    n: int = 20
    p: int = 5
    k: int = 2
    seed: int = 0
    alpha: float = 0.0
    fit_intercept: bool = True
    weighting: str = "none"
    storage: str = "dense"
    variant: str = "plain"

    def build(self) -> Problem:
        """The data and the parameters of the model."""
        rng = np.random.default_rng(self.seed)
        signals = _draw_features(rng, self.data, self.n, self.p)
        y = _draw_target(rng, self, signals)
        # Without an intercept a large mean would stand for it; in single precision it would leave no digits.
        ordinary = self.fit_intercept and self.storage != "float32"
        means = 10.0 ** rng.integers(3, 8, self.p) if ordinary else 10.0
        X = signals + means if self.data == "huge_means" else signals
        return Problem(
            self.model, _store(X, self.storage), y, _draw_weights(rng, self.weighting, self.n), self._parameters(rng)
        )

    def _parameters(self, rng: np.random.Generator) -> dict[str, Any]:
        parameters: dict[str, Any] = {"k": self.k, "alpha": self.alpha, "fit_intercept": self.fit_intercept}
        if self.model == "huber":
            parameters["delta"] = float(rng.choice([0.2, 1.0, 5.0]))
        if self.variant in ("positive", "standardize"):
            parameters[self.variant] = True
        if self.variant == "groups":
            parameters["feature_groups"] = rng.integers(0, 3, self.p)
        if self.variant == "always" and self.k > 0:
            parameters["always_select"] = [int(rng.integers(self.p))]
        return parameters


@dataclass(frozen=True)
class Scales:
    """Units of the features, the target and the weights."""

    features: float = 1.0
    target: float = 1.0
    weights: float = 1.0


@dataclass(frozen=True)
class Problem:
    """Data and the parameters of a model."""

    model: str
    X: Any
    y: Any
    weights: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def build_estimator(self, **changes: Any) -> Any:
        """The estimator, not fitted."""
        return ESTIMATORS[self.model](**{**self.parameters, **changes})

    def fit(self, **changes: Any) -> Any:
        """The fitted estimator, with some of its parameters changed."""
        return self.build_estimator(**changes).fit(self.X, self.y, sample_weight=self.weights)

    def with_parameters(self, **changes: Any) -> Problem:
        """The same data with other parameters."""
        return replace(self, parameters={**self.parameters, **changes})

    @property
    def dense(self) -> Any:
        """X as a dense matrix of doubles."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return np.asarray(X, dtype=np.float64)

    @property
    def alpha(self) -> float:
        """The ridge penalty."""
        return float(self.parameters["alpha"])

    @property
    def fit_intercept(self) -> bool:
        """Whether there is an intercept."""
        return bool(self.parameters["fit_intercept"])

    def rescale(self, scales: Scales) -> Problem:
        """The same problem in other units: its solution is that of this one, in the other units."""
        c, d = scales.features, scales.target
        ridge = self.alpha if self.parameters.get("standardize") else self.alpha * c * c
        changes = {"alpha": ridge * d if self.model == "poisson" else ridge}
        if self.model == "huber":
            changes["delta"] = self.parameters["delta"] * d
        weights = None if self.weights is None else self.weights * scales.weights
        y = self.y if self.model in ("logistic", "multinomial") else self.y * d
        return replace(self, X=self.X * c, y=y, weights=weights).with_parameters(**changes)


def draw_recipe(choose: Choose, models: Sequence[str] = tuple(ESTIMATORS), **options: Sequence[Any]) -> Recipe:
    """A recipe with the options that are given, and any others."""
    fields: dict[str, Sequence[Any]] = {
        "data": KINDS,
        "n": SIZES,
        "p": WIDTHS,
        "alpha": (0.1, 0.001, 1.0, 0.0),
        "fit_intercept": (True, False),
        "weighting": WEIGHTINGS,
        "storage": STORAGES,
        "variant": VARIANTS,
        "seed": range(2**16),
    }
    chosen = {name: choose(values) for name, values in {**fields, **options}.items()}
    ks = chosen.pop("k", None)
    recipe = Recipe(model=choose(models), k=choose(range(chosen["p"] + 2)) if ks is None else ks, **chosen)
    # A constant feature has no standard deviation to be divided by.
    varying = recipe.data in VARYING and recipe.n >= 7 and recipe.weighting not in ("zeros", "one")
    # Single precision does not hold the difference of collinear features after they are divided.
    exact = recipe.storage != "float32" or recipe.data != "collinear"
    return replace(recipe, variant="plain") if recipe.variant == "standardize" and not (varying and exact) else recipe


def draw_scales(choose: Choose, exponents: Sequence[int] = EXPONENTS) -> Scales:
    """Powers of four near powers of ten: scaling by them is exact, so that the same numbers follow in other units."""
    return Scales(*(4.0 ** round(choose(exponents) * np.log(10.0) / np.log(4.0)) for _ in range(3)))


def _draw_features(rng: np.random.Generator, kind: str, n: int, p: int) -> Any:
    X = rng.standard_normal((n, p))
    if kind == "correlated":
        X += rng.standard_normal((n, 1))
    elif kind == "outliers":
        X = rng.standard_t(2, (n, p))
    elif kind == "integers":
        X = rng.integers(-3, 4, (n, p)).astype(float)
    elif kind == "sparse":
        X *= rng.random((n, p)) < 0.3
    elif kind == "constant":
        X[:, rng.integers(p)] = rng.choice([0.0, 1.0, 1e6, 0.1])
    elif kind == "equal_columns":
        X[:, rng.integers(p)] = X[:, 0]
    elif kind == "equal_rows":
        X = X[rng.integers(0, n, n)]
    elif kind == "collinear":
        X[:, -1] = X[:, :-1].sum(axis=1)
    return X


def _draw_target(rng: np.random.Generator, recipe: Recipe, X: Any) -> Any:
    coefficients = rng.standard_normal(recipe.p) * (rng.random(recipe.p) < 0.7)
    noise = 0.0 if recipe.data in ("separated", "exact") else 0.5
    errors = rng.standard_t(2, recipe.n) if recipe.data == "outliers" else rng.standard_normal(recipe.n)
    margins = X @ coefficients + noise * errors + rng.choice([0.0, 1.0, -3.0])
    if recipe.data in ("zero_y", "constant_y"):
        margins = np.full(recipe.n, 0.0 if recipe.data == "zero_y" else 2.0)
    if recipe.model == "poisson":
        expected = np.exp(np.clip(0.5 * margins, -20.0, 3.0))
        counts = 0.0 * expected if recipe.data == "zero_y" else rng.poisson(expected)
        return np.asarray(np.full(recipe.n, 2.0) if recipe.data == "constant_y" else counts, dtype=np.float64)
    if recipe.model == "logistic":
        return np.where(margins > np.median(margins), 1, -1)
    if recipe.model == "multinomial":
        return np.searchsorted(np.quantile(margins, [1 / 3, 2 / 3]), margins)
    return np.round(margins) if recipe.data == "integers" else margins


def _draw_weights(rng: np.random.Generator, kind: str, n: int) -> Any:
    if kind == "none":
        return None
    weights = rng.uniform(0.5, 2.0, n)
    if kind == "integers":
        weights = rng.integers(1, 4, n).astype(float)
    elif kind == "zeros":
        weights *= rng.random(n) < 0.7
    elif kind == "one":
        weights = np.zeros(n)
    weights[rng.integers(n)] += kind in ("zeros", "one")  # one of them is positive
    return weights


def _store(X: Any, storage: str) -> Any:
    if storage == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    forms: dict[str, Callable[[Any], Any]] = {
        "fortran": np.asfortranarray,
        "float32": lambda array: array.astype(np.float32),
        "csr": sparse.csr_array,
        "csc": sparse.csc_array,
    }
    return forms[storage](X) if storage in forms else X
