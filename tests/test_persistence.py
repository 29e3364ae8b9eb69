"""Models in files: exact both ways."""

from __future__ import annotations

import copy
import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import ksparse
from ksparse import SparseLinearRegression, SparseLogisticRegression
from ksparse.persistence import dumps, list_known_classes, load, load_notes, loads, save
from ksparse.tables import require_selected_columns

from .saved_cases import CASES, TABLE, X, Z, fitted, noisy

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
    model, rng = copy.copy(fitted("linear")), np.random.default_rng(0)
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
