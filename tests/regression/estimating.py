"""Estimators of linear models, their paths, and the choice of k."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

import ksparse

from .records import Record, text_of
from .solving import (
    Problem,
    data,
    fit,
)

MODELS: dict[str, tuple[str, Callable[..., Any]]] = {
    "linear": ("linear", ksparse.SparseLinearRegression),
    "several responses": ("multiresponse", ksparse.SparseLinearRegression),
    "logistic": ("logistic", ksparse.SparseLogisticRegression),
    "multinomial": ("multinomial", ksparse.SparseLogisticRegression),
    "poisson": ("poisson", ksparse.SparsePoissonRegression),
    "huber": ("linear", ksparse.SparseHuberRegression),
}
#: Parameters of estimators, by what they are for.
PARAMETERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no intercept": {"fit_intercept": False, "alpha": 0.1},
    "groups": {"feature_groups": np.repeat(np.arange(5), 4), "alpha": 1e-3},
    "always": {"always_select": [1, 3]},
    "positive": {"positive": True},
    **{solver: {"solver": solver, "alpha": 1e-3} for solver in ("grahtp", "fgrahtp", "grasp", "fbs")},
    "effort 2": {"effort": 2},
}

#: Cross-validation of k alone: one ridge, data as they are, the k with the best mean.
ONE_RIDGE: dict[str, Any] = {"refit_alphas": None, "standardize": False, "rule": "best"}

#: Those whose features have several coefficients, and which take longer.
SEVERAL_OUTPUTS = ("several responses", "multinomial")


def estimators() -> dict[str, Problem]:
    """Estimators with their parameters, and paths of them."""
    table: dict[str, Problem] = {}
    for name, (kind, model) in MODELS.items():
        for what, parameters in PARAMETERS.items():
            table[f"estimator: {name}, {what}"] = partial(fit, model(4, **parameters), kind)
            table[f"path: {name}, {what}"] = partial(fit_path, model(**parameters), kind)
        table[f"estimator: {name}, weights"] = partial(fit, model(4), kind, weighted=True)
        table[f"estimator: {name}, refitted"] = partial(fit, model(4, alpha=0.3, refit_alpha=1e-3), kind)
        table[f"estimator: {name}, float32"] = partial(fit, model(4), kind, convert=np.float32)
    balanced = ksparse.SparseLogisticRegression(4, class_weight="balanced")
    table["estimator: logistic, balanced classes"] = partial(fit, balanced, "logistic")
    table["estimator: huber, delta"] = partial(fit, ksparse.SparseHuberRegression(4, delta=0.5), "linear")
    ridged = ksparse.SparseLogisticRegression(alpha=1e-3)
    table["path: logistic, larger"] = partial(fit_path, ridged, "logistic", n=200, p=150, ks=(1, 3, 10, 20, 40))
    return table


def fit_path(model: Any, kind: str, n: int = 80, p: int = 20, ks: tuple[int, ...] = (2, 3, 5)) -> Record:
    path = ksparse.path(*data(kind, n, p), ks=ks, estimator=model)
    return Record.of(*path.results, passes=path.passes)


def choosing() -> dict[str, Problem]:
    """The number of features chosen by cross-validation and by criteria, and stability selection."""
    table: dict[str, Problem] = {}
    for name, (kind, _) in MODELS.items():
        suffix = {"several responses": "linear", "multinomial": "logistic"}.get(name, name).capitalize()
        validated = getattr(ksparse, f"Sparse{suffix}RegressionCV")
        by_criterion = getattr(ksparse, f"Sparse{suffix}RegressionIC")
        classes = name in ("logistic", "multinomial")
        alpha = 1e-3 if classes else 0.0
        one: dict[str, Any] = {"cv": StratifiedKFold(3) if classes else KFold(3), "alphas": alpha, **ONE_RIDGE}
        settings: dict[str, dict[str, Any]] = {
            "few": {**one, "ks": [1, 2, 3]},
            "two ridges": {"cv": 3, "ks": [0, 2, 4], "alphas": [0.1, 1.0], "refit_alphas": [1e-3, 0.1]},
        }
        if name not in SEVERAL_OUTPUTS:
            settings |= {
                "auto": one,
                "1se": {**one, "rule": "1se", "ks": range(1, 8)},
                "groups": {**one, "ks": [1, 2, 3], "feature_groups": np.repeat(np.arange(5), 4), "alphas": 1e-3},
                "scoring": {**one, "ks": [1, 3, 5], "scoring": "roc_auc" if kind == "logistic" else "r2"},
                "all auto": {"cv": 3},
            }
        for what, parameters in settings.items():
            model = validated(**parameters)
            table[f"cv: {name}, {what}"] = partial(fit, model, kind)
            table[f"cv: {name}, {what}, weights"] = partial(fit, model, kind, weighted=True)
        for criterion in ("bic",) if name in SEVERAL_OUTPUTS else ("aic", "bic", "ebic"):
            table[f"ic: {name}, {criterion}"] = partial(fit, by_criterion(criterion=criterion), kind)
        refitted = by_criterion(criterion="bic", alpha=0.3, refit_alpha=1e-3)
        table[f"ic: {name}, bic, refitted"] = partial(fit, refitted, kind)
    for name in ("linear", "logistic"):
        kind, model = MODELS[name]
        table[f"stability: {name}"] = partial(fit_halves, kind, model(4))
        chosen = getattr(ksparse, f"{model.__name__}CV")(ks=[4], cv=3)
        table[f"stability: {name}, chosen ridges"] = partial(fit_halves, kind, chosen)
    return table


def fit_halves(kind: str, model: Any) -> Record:
    X, y = data(kind, 80, 20)
    stable = ksparse.StabilitySelection(model, n_pairs=10, random_state=0).fit(X, y)
    chosen = text_of(stable.get_support(indices=True))
    return Record("fitted", chosen, (float(stable.threshold_), *stable.frequencies_.tolist()))
