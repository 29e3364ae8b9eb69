"""Models in files: exact both ways, and harmless whatever a file says."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ksparse import (
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegression,
)
from ksparse.persistence import dumps, load, loads, notes, save
from ksparse.selection import SparseLinearRegressionCV, SparseLogisticRegressionIC

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 12)) * 10.0 ** rng.integers(-3, 4, size=12)
signal = X[:, 2] / X[:, 2].std() - X[:, 5] / X[:, 5].std()
noisy = signal + 0.1 * rng.standard_normal(60)

MODELS: dict[str, Any] = {
    "linear": SparseLinearRegression(k=3).fit(X, noisy),
    "no intercept": SparseLinearRegression(k=3, fit_intercept=False, positive=True).fit(X, noisy),
    "responses": SparseLinearRegression(k=3).fit(X, np.column_stack([noisy, -2 * noisy])),
    "nothing selected": SparseLinearRegression(k=0).fit(X, noisy),
    "always": SparseLinearRegression(k=3, always_select=[0, 11]).fit(X, noisy),
    "binary": SparseLogisticRegression(k=2, alpha=0.1).fit(X, noisy > 0),
    "text": SparseLogisticRegression(k=2).fit(X, np.where(noisy > 0, "yes, “ja”", "no")),
    "objects": SparseLogisticRegression(k=2).fit(X, np.where(noisy > 0, "yes", "no").astype(object)),
    "numbers": SparseLogisticRegression(k=2).fit(X, (noisy > 0).astype(np.int32) * 7),
    "floats": SparseLogisticRegression(k=2).fit(X, np.where(noisy > 0, 1.0, -1.0)),
    "multinomial": SparseLogisticRegression(k=2, alpha=0.01).fit(X, np.digitize(noisy, [-1, 1])),
    "poisson": SparsePoissonRegression(k=2).fit(X, rng.poisson(np.exp(0.5 * signal))),
    "huber": SparseHuberRegression(k=2).fit(X, noisy),
    "huber delta": SparseHuberRegression(k=2, delta=0.5).fit(X, noisy),
    "cv": SparseLinearRegressionCV(ks=[1, 2, 3]).fit(X, noisy),
    "ic": SparseLogisticRegressionIC(ks=[0, 1, 2]).fit(X, noisy > 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_with_the_same_predictions(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name], tmp_path / "model.json"
    save(model, path)
    again: Any = load(path)
    assert isinstance(model, type(again))
    assert type(again).__name__ in type(model).__name__
    for attribute in ("coef_", "intercept_", "support_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(again, attribute), getattr(model, attribute))
        assert np.shape(getattr(again, attribute)) == np.shape(getattr(model, attribute))
    assert not hasattr(again, "feature_names_in_")
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method) and not (method == "transform" and name == "nothing selected"):
            before, after = getattr(model, method)(X), getattr(again, method)(X)
            assert before.dtype == after.dtype
            assert before.tobytes() == after.tobytes() if before.dtype != object else (before == after).all()
    chosen = getattr(model, "k_", None)
    assert again.k == (model.k if chosen is None else chosen)
    assert (again.alpha, again.fit_intercept, again.positive) == (model.alpha, model.fit_intercept, model.positive)
    if name.startswith("huber"):
        assert (again.delta, again.delta_) == (model.delta, model.delta_)
    assert dumps(again) == path.read_text()


def test_names_of_features_come_back(tmp_path: Path) -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = SparseLogisticRegression(k=2).fit(frame, y)
    save(model, tmp_path / "model.json", about={"target": "species", "first_index": 1})
    again = load(tmp_path / "model.json")
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert (again.predict(frame) == model.predict(frame)).all()
    assert notes(tmp_path / "model.json") == {"target": "species", "first_index": 1}


def test_only_nonzero_coefficients_are_kept() -> None:
    content = json.loads(dumps(MODELS["linear"]))
    assert len(content["indices"]) == len(content["values"]) == 3


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="fitted estimator"):
        save("model", tmp_path / "m.json")  # type: ignore[arg-type]
    with pytest.raises(Exception, match="not fitted"):
        save(SparseLinearRegression(), tmp_path / "m.json")
    broken = copy.copy(MODELS["linear"])
    broken.intercept_ = np.nan
    with pytest.raises(ValueError, match="NaN"):
        save(broken, tmp_path / "m.json")
    with pytest.raises(ValueError, match="about"):
        save(MODELS["linear"], tmp_path / "m.json", about={"a": [1]})
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    save(MODELS["linear"], path)
    before = path.read_text()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(MODELS["binary"], path)
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def changed(name: str, **fields: Any) -> str:
    content = json.loads(dumps(MODELS[name]))
    for field, value in fields.items():
        if value is None and field != "feature_names":
            del content[field]
        else:
            content[field] = value
    return json.dumps(content)


linear = json.loads(dumps(MODELS["linear"]))
HOSTILE = {
    "": "not JSON",
    "[1, 2]": "format",
    "{}": "format",
    '{"format": "ksparse-model"': "not JSON",
    "[" * 100_000: "nested",
    '{"a": 1, "a": 2}': "twice",
    '{"format": NaN}': "NaN",
    '{"format": ' + "9" * 5000 + "}": "",
    changed("linear", format="pickle"): "format",
    changed("linear", version=2): "version '2'",
    changed("linear", version=True): "version",
    changed("linear", version="1"): "version",
    changed("linear", **{"class": "os.system"}): "class is 'os.system'",
    changed("linear", **{"class": ["SparseLinearRegression"]}): "class is",
    changed("linear", **{"class": "SparseHuberRegression"}): "lacks the field 'delta'",
    changed("linear", indices=None): "lacks the field 'indices'",
    changed("linear", solver="x"): "unknown field 'solver'",
    changed("linear", n_features=0): "n_features",
    changed("linear", n_features=-3): "n_features",
    changed("linear", n_features=12.0): "n_features",
    changed("linear", n_features=10**15): "n_features",
    changed("responses", n_features=90_000_000): "too many",
    changed("linear", feature_names=["a"]): "1 feature_names for 12",
    changed("linear", feature_names=["a"] * 12): "differ",
    changed("linear", feature_names=list(range(12))): "text",
    changed("linear", feature_names="abcdefghijkl"): "list",
    changed("linear", indices=[0, 1, 12]): "indices",
    changed("linear", indices=[-1, 1, 2]): "indices",
    changed("linear", indices=[2, 1, 3]): "increase",
    changed("linear", indices=[1, 1, 3]): "increase",
    changed("linear", indices=[1.0, 2, 3]): "indices",
    changed("linear", selected=[]): "selected lacks",
    changed("linear", selected=[0, 99]): "selected",
    changed("linear", values=[1.0]): "3 numbers",
    changed("linear", values=[1.0, "2", 3.0]): "not a number",
    changed("linear", values=[1.0, True, 3.0]): "not a number",
    changed("linear", values={"0": 1}): "list of 3",
    changed("linear", values=[1.0, 10**400, 3.0]): "finite",
    changed("linear").replace(f"{linear['values'][0]!r}", "1e999"): "finite",
    changed("linear").replace(f"{linear['values'][0]!r}", "NaN"): "NaN",
    changed("linear", intercept="0"): "not a number",
    changed("linear", intercept=[]): "coefficients",
    changed("poisson", intercept=[0.0]): "intercept must be a number",
    changed("responses", intercept=[0.0]): "1 rows",
    changed("binary", intercept=0.5): "must be a list",
    changed("binary", classes={"type": "int64", "values": [0, 1, 2]}): "3 classes need 3 rows",
    changed("binary", classes={"type": "int64", "values": [1, 0]}): "increase",
    changed("binary", classes={"type": "int64", "values": [0, "1"]}): "type int",
    changed("binary", classes={"type": "int8", "values": [0, 1000]}): "fit",
    changed("binary", classes={"type": "V999999999", "values": [0, 1]}): "unknown type",
    changed("binary", classes={"type": "object", "values": [[], {}]}): "type str",
    changed("binary", classes={"values": [0, 1]}): "lacks",
    changed("binary", classes=[0, 1]): "object",
    changed("huber", delta=-1.0): "delta",
    changed("linear", parameters={**linear["parameters"], "k": -1}): "k has",
    changed("linear", parameters={**linear["parameters"], "alpha": -1}): "alpha",
    changed("linear", parameters={**linear["parameters"], "positive": "yes"}): "positive",
    changed("linear", parameters={**linear["parameters"], "solver": "x"}): "unknown field",
    changed("linear", about={"a": {"b": 1}}): "about",
}


@pytest.mark.parametrize(("text", "message"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_hostile_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="not a model saved by ksparse, or it is damaged") as caught:
        load(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_the_unchanged_files_are_accepted() -> None:
    for name in ("linear", "responses", "binary", "huber", "poisson"):
        loads(changed(name))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(ValueError, match="not a text file"):
        load(tmp_path / "model.json")
