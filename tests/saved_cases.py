"""Fitted models of all kinds, for the tests of files of models."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ksparse import (
    FBS,
    HTP,
    GraHTP,
    SparseCoxRegression,
    SparseCoxRegressionCV,
    SparseCoxRegressionIC,
    SparseDiscriminantAnalysis,
    SparseDiscriminantAnalysisCV,
    SparseGammaRegression,
    SparseGammaRegressionCV,
    SparseGammaRegressionIC,
    SparseHuberRegression,
    SparseHuberRegressionCV,
    SparseHuberRegressionIC,
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLinearRegressionIC,
    SparseLinearSVC,
    SparseLinearSVCCV,
    SparseLinearSVCIC,
    SparseLogisticRegression,
    SparseLogisticRegressionCV,
    SparseLogisticRegressionIC,
    SparseNegativeBinomialRegression,
    SparseNegativeBinomialRegressionCV,
    SparseNegativeBinomialRegressionIC,
    SparseOrdinalRegression,
    SparseOrdinalRegressionCV,
    SparseOrdinalRegressionIC,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
    SparsePoissonRegressionIC,
    SparsePrecision,
    SparsePrecisionCV,
    SparsePrecisionIC,
    SparseQuantileRegression,
    SparseQuantileRegressionCV,
    SparseQuantileRegressionIC,
    SparseTweedieRegression,
    SparseTweedieRegressionCV,
    SparseTweedieRegressionIC,
    StabilitySelection,
    SwapGraHTP,
    TableEncoder,
    make_survival_target,
)
from ksparse.debias import NewtonStep
from ksparse.solvers import Constant, RelativeChange

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 12)) * 10.0 ** rng.integers(-3, 4, size=12)
signal = X[:, 2] / X[:, 2].std() - X[:, 5] / X[:, 5].std()
noisy = signal + 0.1 * rng.standard_normal(60)
Z = X / X.std(axis=0)
labels = np.digitize(noisy, [-1, 1])
counts = rng.poisson(np.exp(0.5 * signal))
amounts = np.exp(noisy)
survival = make_survival_target(amounts, signal > -1)
stratified = make_survival_target(amounts, signal > -1, entry=0.3 * amounts, strata=np.where(labels > 0, "b", "ä"))
holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)

TABLE = pd.DataFrame(
    {
        "name": [f"n{j}" for j in range(60)],
        "x": holes[:, 2],
        "town": rng.choice(["a", "b", "c"], 60),
        "when": pd.date_range("2020-01-01", periods=60, freq="7D").astype(str),
        "z": Z[:, 5],
    }
)

#: Estimators, and what they are fitted to.
CASES: dict[str, tuple[Any, ...]] = {
    "linear": (SparseLinearRegression(k=3), X, noisy),
    "no intercept": (SparseLinearRegression(k=3, fit_intercept=False, positive=True), X, noisy),
    "responses": (SparseLinearRegression(k=3), X, np.column_stack([noisy, -2 * noisy])),
    "nothing selected": (SparseLinearRegression(k=0), X, noisy),
    "always": (SparseLinearRegression(k=3, always_select=[0, 11]), X, noisy),
    "float32": (SparseLinearRegression(k=3), X.astype(np.float32), noisy),
    "binary": (SparseLogisticRegression(k=2, alpha=0.1), X, noisy > 0),
    "class weights": (SparseLogisticRegression(k=2, class_weight={0: 1.0, 1: 2.5}), X, (noisy > 0).astype(int)),
    "text": (SparseLogisticRegression(k=2), X, np.where(noisy > 0, "yes, “ja”", "no")),
    "objects": (SparseLogisticRegression(k=2), X, np.where(noisy > 0, "yes", "no").astype(object)),
    "numbers": (SparseLogisticRegression(k=2), X, (noisy > 0).astype(np.int32) * 7),
    "floats": (SparseLogisticRegression(k=2), X, np.where(noisy > 0, 1.0, -1.0)),
    "multinomial": (SparseLogisticRegression(k=2, alpha=0.01), X, labels),
    "poisson": (SparsePoissonRegression(k=2), X, counts),
    "huber": (SparseHuberRegression(k=2), X, noisy),
    "huber delta": (SparseHuberRegression(k=2, delta=0.5), X, noisy),
    "numpy parameters": (SparseLinearRegression(k=np.int64(3), alpha=np.float64(0.5)), X, noisy),
    "SwapGraHTP": (SparseLinearRegression(k=3, solver=SwapGraHTP(max_iter=50)), X, noisy),
    "GraHTP": (
        SparseLinearRegression(
            k=3, solver=GraHTP(step=Constant(0.1), halting=RelativeChange(1e-3), debias=NewtonStep())
        ),
        Z,
        noisy,
    ),
    "HTP": (SparseLinearRegression(k=3, solver=HTP(max_iter=7)), Z, noisy),
    "FBS": (SparseLinearRegression(k=3, solver=FBS()), Z, noisy),
    "linear CV": (SparseLinearRegressionCV(ks=range(1, 4), cv=KFold(3, shuffle=True, random_state=0)), X, noisy),
    "logistic CV": (SparseLogisticRegressionCV(ks=[1, 2], cv=ShuffleSplit(3, random_state=0)), Z, labels),
    "poisson CV": (SparsePoissonRegressionCV(ks=np.array([1, 2]), cv=TimeSeriesSplit(3)), Z, counts),
    "huber CV": (SparseHuberRegressionCV(ks=(1, 2), cv=[(np.arange(30), np.arange(30, 60))], rule="1se"), X, noisy),
    "groups CV": (SparseLinearRegressionCV(ks=[1, 2], cv=GroupKFold(3)), X, noisy, np.arange(60) % 6),
    "cox": (SparseCoxRegression(k=2, ties="breslow"), Z, survival),
    "cox strata": (SparseCoxRegression(k=2), Z, stratified),
    "cox CV": (SparseCoxRegressionCV(ks=[1, 2], cv=3), Z, stratified),
    "cox IC": (SparseCoxRegressionIC(ks=[1, 2]), Z, survival),
    "ordinal": (SparseOrdinalRegression(k=2, categories=["a", "c", "b"]), Z, np.array(["a", "b", "c"])[labels]),
    "ordinal CV": (SparseOrdinalRegressionCV(ks=[1, 2], cv=3), Z, labels),
    "ordinal IC": (SparseOrdinalRegressionIC(ks=[1, 2]), Z, labels),
    "gamma": (SparseGammaRegression(k=2), Z, amounts),
    "gamma CV": (SparseGammaRegressionCV(ks=[1, 2], cv=3), Z, amounts),
    "gamma IC": (SparseGammaRegressionIC(ks=[1, 2]), Z, amounts),
    "tweedie": (SparseTweedieRegression(k=2, power=1.2), Z, counts * amounts),
    "tweedie CV": (SparseTweedieRegressionCV(ks=[1, 2], cv=3), Z, counts * amounts),
    "tweedie IC": (SparseTweedieRegressionIC(ks=[1, 2]), Z, counts * amounts),
    "negative binomial": (SparseNegativeBinomialRegression(k=2), Z, counts),
    "negative binomial CV": (SparseNegativeBinomialRegressionCV(ks=[1, 2], cv=3, dispersion=0.5), Z, counts),
    "negative binomial IC": (SparseNegativeBinomialRegressionIC(ks=[1, 2]), Z, counts),
    "quantile": (SparseQuantileRegression(k=2, quantile=0.7), Z, noisy),
    "quantile CV": (SparseQuantileRegressionCV(ks=[1, 2], cv=3), Z, noisy),
    "quantile IC": (SparseQuantileRegressionIC(ks=[1, 2], bandwidth=0.1), Z, noisy),
    "hinge": (SparseLinearSVC(k=2), Z, noisy > 0),
    "hinge of classes": (SparseLinearSVC(k=2), Z, labels),
    "hinge CV": (SparseLinearSVCCV(ks=[1, 2], cv=3), Z, labels),
    "hinge IC": (SparseLinearSVCIC(ks=[1, 2]), Z, noisy > 0),
    "linear IC": (SparseLinearRegressionIC(ks=[1, 2, 3]), X, noisy),
    "logistic IC": (SparseLogisticRegressionIC(ks=[0, 1, 2]), X, noisy > 0),
    "poisson IC": (SparsePoissonRegressionIC(ks=[0, 1, 2]), Z, counts),
    "huber IC": (SparseHuberRegressionIC(ks=[1, 2]), X, noisy),
    "precision": (SparsePrecision(k=5), Z),
    "bounds": (SparsePrecision(k=5, bounds=(0.1, 10.0), known_edges=[(0, 1)]), Z),
    "shrinkage": (SparsePrecision(k=5, shrinkage=0.1, shrink_by="amount"), Z),
    "precision CV": (SparsePrecisionCV(ks=[2, 4], cv=3), Z),
    "precision IC": (SparsePrecisionIC(ks=[2, 4]), Z),
    "discriminant": (SparseDiscriminantAnalysis(k=4), Z, labels),
    "discriminant, shrunken": (SparseDiscriminantAnalysis(k=4, shrinkage=0.2), Z, labels),
    "discriminant, chosen": (SparseDiscriminantAnalysisCV(ks=[2, 4]), Z, labels),
    "stability": (StabilitySelection(SparseLinearRegression(k=2), n_pairs=5, random_state=0), X, noisy),
    "stability of a pipeline": (
        StabilitySelection(make_pipeline(StandardScaler(), SparseLogisticRegression(k=2)), n_pairs=5, random_state=0),
        X,
        noisy > 0,
    ),
    "pipeline": (make_pipeline(StandardScaler(), SparseLogisticRegressionCV(ks=[1, 2], cv=3)), X, noisy > 0),
    "scalers": (make_pipeline(MinMaxScaler(), RobustScaler(), MaxAbsScaler(), SparsePoissonRegression(k=2)), X, counts),
    "encoder": (TableEncoder(), TABLE, noisy),
    "table": (
        make_pipeline(TableEncoder(), SparseLinearRegression(k=2, feature_groups="columns")).set_params(
            tableencoder__min_frequency=2
        ),
        TABLE,
        noisy,
    ),
    "imputer": (make_pipeline(SimpleImputer(add_indicator=True), SparseHuberRegression(k=2)), holes, noisy),
    "passthrough": (Pipeline([("scale", "passthrough"), ("model", SparsePrecision(k=3))]), Z),
}


@cache
def fitted(name: str) -> Any:
    """The estimator of a case, fitted."""
    estimator, *data = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if name == "groups CV":
            return estimator.fit(data[0], data[1], groups=data[2])
        return estimator.fit(*data)
