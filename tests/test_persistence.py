"""Models in files: exact both ways, and harmless whatever a file says."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, InconsistentVersionWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

import ksparse
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
from ksparse.persistence import MAX_BYTES, dumps, list_known_classes, load, load_notes, loads, save
from ksparse.solvers import Constant, RelativeChange
from ksparse.tables import require_selected_columns

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


METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "get_support")


def assert_same(after: Any, before: Any, where: str = "model") -> None:
    """Equal types and values, bit by bit, all the way down."""
    assert type(after) is type(before), where
    if isinstance(before, (np.ndarray, np.generic)):
        assert (after.dtype, after.shape) == (before.dtype, before.shape), where
        same = after.tolist() == before.tolist() if before.dtype.hasobject else after.tobytes() == before.tobytes()
        assert same, where
    elif sparse.issparse(before):
        assert_same(after.toarray(), before.toarray(), where)
    elif isinstance(before, (list, tuple)):
        assert len(after) == len(before), where
        for place, (one, other) in enumerate(zip(after, before, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(before, dict):
        assert list(after) == list(before), where
        for name, value in before.items():
            assert_same(after[name], value, f"{where}[{name!r}]")
    elif isinstance(before, BaseEstimator):
        assert_same(after.__getstate__(), before.__getstate__(), where)  # without references to the samples of the fit
    elif dataclasses.is_dataclass(before):
        assert_same(vars(after), vars(copy.copy(before)), where)  # without references to data
    else:
        assert repr(after) == repr(before), where


@pytest.mark.parametrize("name", CASES)
def test_a_model_comes_back_with_all_that_it_had(name: str, tmp_path: Path) -> None:
    model, path = fitted(name), tmp_path / "model.json"
    if name == "table":
        require_selected_columns(model)  # as `load` does
    save(model, path)
    again = load(path)
    assert_same(again, model)
    assert dumps(again) == path.read_text()
    data = (
        TABLE
        if name in ("encoder", "table")
        else Z
        if name in ("passthrough", "discriminant") or "precision" in name
        else X
    )
    for method in METHODS:
        if hasattr(model, method) and not (method == "transform" and name == "nothing selected"):
            arguments = () if method == "get_support" else (data,)
            assert_same(getattr(again, method)(*arguments), getattr(model, method)(*arguments), method)
    if hasattr(model, "score") and "precision" in name:
        assert again.score(Z) == model.score(Z)
    elif hasattr(model, "predict"):
        truth = CASES[name][2] if name == "no intercept" or "cox" in name else model.predict(data)
        assert again.score(data, truth) == model.score(data, truth)


def test_every_estimator_is_in_the_table() -> None:
    public = {value for value in vars(ksparse).values() if isinstance(value, type) and issubclass(value, BaseEstimator)}
    assert len(public) >= 16
    assert public == {type(estimator) for estimator, *_ in CASES.values() if not isinstance(estimator, Pipeline)}
    assert public <= set(list_known_classes().values())


def test_a_loaded_model_can_be_cloned_and_fitted_again() -> None:
    model = fitted("linear CV")
    again = clone(loads(dumps(model))).fit(X, noisy)
    assert_same(again.coef_, model.coef_)
    assert_same(again.scores_, model.scores_)


def test_names_of_features_come_back(tmp_path: Path) -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    for model in (SparseLogisticRegression(k=2), make_pipeline(StandardScaler(), SparseLogisticRegression(k=2))):
        model.fit(frame, y)
        save(model, tmp_path / "model.json", about={"target": "species", "first_index": 1})
        again = load(tmp_path / "model.json")
        assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
        assert (again.predict(frame) == model.predict(frame)).all()
        assert load_notes(tmp_path / "model.json") == {"target": "species", "first_index": 1}


def test_zeros_are_not_written() -> None:
    wide = np.random.default_rng(0).standard_normal((40, 20_000))
    model = SparseLinearRegression(k=3).fit(wide, wide[:, 7])
    text = dumps(model)
    assert len(text) < 10_000
    assert_same(loads(text).coef_, model.coef_)


def test_signed_zeros_long_arrays_and_nan_are_exact() -> None:
    model = copy.copy(fitted("linear"))
    for values in (
        np.array([-0.0, 0.0, 0.0, 0.0, 5e-324]),
        np.array([np.nan, np.inf, -np.inf, 1.0]),
        rng.standard_normal((50, 60)),
        np.asfortranarray(rng.standard_normal((5, 3))),
        rng.standard_normal(2000).astype(np.float16),
        np.array([2**64 - 1], dtype=np.uint64),
        np.zeros((0, 3)),
        np.array(["a", "", "ccc"], dtype="<U9"),
        np.array(1.5, dtype=">f8"),
    ):
        model.coef_ = values
        assert_same(loads(dumps(model)).coef_, values)


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    for wrong in ("model", SparseLinearRegression, PolynomialFeatures().fit(X)):
        with pytest.raises(TypeError, match="fitted estimator of ksparse"):
            save(wrong, path)
    with pytest.raises(NotFittedError):
        save(SparseLinearRegression(), path)
    with pytest.raises(ValueError, match="about"):
        save(fitted("linear"), path, about={"a": [1]})
    model = copy.copy(fitted("linear CV"))
    for name, value in (
        ("scoring", lambda *_: 1.0),
        ("cv", iter([])),
        ("always_select", {1, 2}),
    ):
        with pytest.raises(TypeError, match=rf"^SparseLinearRegressionCV\.{name} is a .*set_params"):
            save(copy.copy(model).set_params(**{name: value}), path)
    random = copy.copy(fitted("stability")).set_params(random_state=np.random.RandomState(0))
    with pytest.raises(TypeError, match=r"^StabilitySelection\.random_state is a RandomState"):
        save(random, path)
    steps = make_pipeline(PolynomialFeatures(), SparseLinearRegression(k=2)).fit(X, noisy)
    with pytest.raises(TypeError, match=r"^Pipeline\.steps is a PolynomialFeatures"):
        save(steps, path)
    model.coef_ = np.array(["2020-01-01"], dtype="datetime64[D]")
    with pytest.raises(TypeError, match=r"array of datetime64\[D\]"):
        save(model, path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    save(fitted("linear"), path)
    before = path.read_text()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(fitted("binary"), path)
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


# --- files from elsewhere -------------------------------------------------------------------------------------------


def changed(**fields: Any) -> str:
    """The file of a model with other fields at the top."""
    return json.dumps(json.loads(dumps(fitted("linear"))) | fields)


def with_attribute(name: str, value: Any) -> str:
    """The file of a model with another attribute or parameter."""
    content = json.loads(dumps(fitted("linear")))
    content["model"]["SparseLinearRegression"][name] = value
    return json.dumps(content)


def with_array(**fields: Any) -> str:
    return with_attribute("coef_", {"array": {"dtype": "<f8", "shape": [3], "values": [1.0, 2.0, 3.0]} | fields})


def without(name: str) -> str:
    content = json.loads(dumps(fitted("linear")))
    del content["model"]["SparseLinearRegression"][name]
    return json.dumps(content)


HOSTILE = {
    "": "not JSON",
    "[1, 2]": "format",
    "{}": "format",
    '{"format": "ksparse-model"': "not JSON",
    '{"format": "ksparse-model"}': "lacks the field 'version'",
    "[" * 100_000: "nested",
    '{"format": ' + "9" * 5000 + "}": "",
    changed(format="pickle"): "format",
    changed(version=1): "version 1, and this ksparse reads version 2; fit and save the model again",
    changed(version=3): "install ksparse '0.1.0' or newer",
    changed(version=True): "version",
    changed(version="2"): "version",
    changed(about={"a": {"b": 1}}): "about",
    changed(model=3): "not an estimator",
    changed(model={"os.system": {}}): "'os.system' is not a class",
    changed(model={"Status": {"value": "converged"}}): "not an estimator",
    changed(model={"Solver": {}}): "",
    changed(model={"SparseLinearRegression": {}}): "lacks the parameter",
    changed(model={"SparseLinearRegression": [1]}): "",
    changed(model={"SparseLinearRegression": {}, "Pipeline": {}}): "2 keys",
    changed(model=[{"SparseLinearRegression": {}}]): "lacks the parameter",
    without("k"): "lacks the parameter k",
    with_attribute("__class__", 1): "cannot have the attribute '__class__'",
    with_attribute("predict", 1): "cannot have the attribute 'predict'",
    with_attribute("a b", 1): "cannot have the attribute 'a b'",
    with_attribute("solver", {"eval": "1"}): "'eval' is not a class",
    with_attribute("solver", {"GraHTP": {"run": 1}}): "run",
    with_attribute("solver", {"Decoder": {}}): "not a class",
    with_attribute("result_", {"Status": {"value": "nonsense"}}): "nonsense",
    with_attribute("intercept_", {"float": "one"}): "one",
    with_attribute("intercept_", {"range": [1, 2, 3, 4]}): "",
    with_attribute("intercept_", {"dict": [[[1], 2]]}): "unhashable",
    with_array(dtype="O", values="AAAA"): "",
    with_array(dtype="|O", values=[{"eval": 1}] * 3): "not a class",
    with_array(dtype="<M8[s]"): "<M8[s]",
    with_array(dtype="nonsense"): "nonsense",
    with_array(dtype=[["a", "O"]]): "",
    with_array(shape=[4]): "3 values instead of 4",
    with_array(shape=[-3]): "below 0",
    with_array(shape=[3.0]): "below 0",
    with_array(shape=[10**15]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[10**15], indices=[0, 1, 2]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[3], dtype="<U400000000", values=["a", "b", "c"]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[3], dtype="<U1", values=["a", "bb", "c"]): "not <U1",
    with_array(values="AAAA"): "0.375 values instead of 3",
    with_array(values="####"): "",
    with_array(values=[1.0, "x", 3.0]): "",
    with_array(values=[1.0, None, 3.0]): "",
    with_array(values={"a": 1}): "",
    with_array(dtype="|i1", values=[1, 2, 1000]): "",
    with_array(dtype="<i8", values=[1, 2, 2.5]): "not int64",
    with_array(indices=[0, 1, 3]): "increase",
    with_array(indices=[-1, 1, 2]): "increase",
    with_array(indices=[1, 1, 2]): "increase",
    with_array(indices=[0, 1]): "values instead of",
    with_array(surprise=1): "surprise",
    with_attribute("coef_", {"csr_array": [[2, 2], 1, 2, 3]}): "",
}


@pytest.mark.filterwarnings("ignore:NumPy will stop allowing conversion of out-of-bound")  # NumPy 1
@pytest.mark.parametrize(("text", "message"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_hostile_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a model saved by ksparse, or it is damaged") as caught:
        load(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_memory_is_counted_over_all_arrays() -> None:
    half = {"array": {"dtype": "<f8", "shape": [MAX_BYTES // 16], "values": [], "indices": []}}
    content = json.loads(changed())
    content["model"]["SparseLinearRegression"] |= {"coef_": half}
    loads(json.dumps(content))
    content["model"]["SparseLinearRegression"] |= {"a_": half, "b_": half}
    with pytest.raises(ValueError, match="bytes"):
        loads(json.dumps(content))


def test_indices_of_sparse_arrays_are_checked() -> None:
    content = dumps(fitted("precision CV"))
    node = json.loads(content)["model"]["SparsePrecisionCV"]["path_"]["PrecisionPath"]["precision"]["tuple"][0]
    node["csr_array"][2]["array"]["values"][0] = 10**6
    damaged = json.loads(content)
    damaged["model"]["SparsePrecisionCV"]["path_"]["PrecisionPath"]["precision"]["tuple"][0] = node
    with pytest.raises(ValueError, match="damaged"):
        loads(json.dumps(damaged))


def test_other_versions_of_scikit_learn_give_its_warning() -> None:
    text = dumps(fitted("pipeline"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(text)
    content = json.loads(text)
    content["model"]["Pipeline"]["_sklearn_version"] = "1.0"
    with pytest.warns(InconsistentVersionWarning, match=r"version 1\.0"):
        loads(json.dumps(content))


def test_the_unchanged_files_are_accepted() -> None:
    loads(changed())
    loads(with_array())
    loads(with_attribute("extra_", {"float": "nan"}))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(ValueError, match="not a text file"):
        load(tmp_path / "model.json")
