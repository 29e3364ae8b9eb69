"""Models of tables from files: damaged encoders are refused, and only the columns of the model are needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import ksparse
from ksparse import SparseLinearRegression, TableEncoder
from ksparse.cli import main
from ksparse.persistence import dumps, loads

from .people import make_table


def make_model() -> tuple[Any, pd.DataFrame]:
    table = make_table(80)
    y = table["plain"].to_numpy() + 3 * (table["town"] == "Ulm") + table["gaps"].fillna(0)
    return make_pipeline(TableEncoder(), SparseLinearRegression(k=3, feature_groups="columns")).fit(table, y), table


def list_damages(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in a JSON document."""
    if isinstance(content, dict):
        return [path, *(place for key in content for place in list_damages(content[key], (*path, key)))]
    if isinstance(content, list):
        return [path, *(place for j in range(len(content)) for place in list_damages(content[j], (*path, j)))]
    return [path]


@pytest.mark.slow
def test_damaged_encoders_are_refused_or_predict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each value of an encoder is replaced; whatever is loaded predicts, or is refused in one line."""
    model, table = make_model()
    text = dumps(model)
    table.drop(columns="name").to_csv(tmp_path / "new.csv", index=False)
    document = json.loads(text)
    steps = document["model"]["Pipeline"]["steps"]
    encoder = next(place for place in list_damages(steps) if place and place[-1] == "TableEncoder")
    places = [place for place in list_damages(steps) if place[: len(encoder)] == encoder and len(place) > len(encoder)]
    file, loaded, refusals = tmp_path / "model.json", 0, []
    for number, place in enumerate(places):
        damaged = json.loads(text)
        parent = damaged["model"]["Pipeline"]["steps"]
        for key in place[:-1]:
            parent = parent[key]
        parent[place[-1]] = (None, 7, "x", True, [], {})[number % 6]
        file.write_text(json.dumps(damaged))
        try:
            again = loads(file.read_text())
        except ValueError as error:
            refusals.append(str(error))
            continue
        loaded += 1
        code = main(["predict", str(file), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv")])
        said = capsys.readouterr().err
        assert code in (0, 2), (place, again)
        assert code == 0 or said.count("\n") == 1, said
    assert loaded > 0
    assert refusals
    assert not any("\n" in said for said in refusals)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("kind", None, "are of no kind"),
        ("parts", {"tuple": ["century"]}, "parts that dates have not"),
        ("medians", {"tuple": []}, "not as many medians"),
        ("has_missing", 1, "flags that are not true or false"),
    ],
)
def test_what_is_wrong_is_said(field: str, value: Any, message: str) -> None:
    model, _ = make_model()
    document = json.loads(dumps(model))

    def find(content: Any) -> Any:
        if isinstance(content, dict):
            if "ColumnFeatures" in content and content["ColumnFeatures"]["column"] == "gaps":
                return content["ColumnFeatures"]
            content = list(content.values())
        if isinstance(content, list):
            return next((found for part in content if (found := find(part)) is not None), None)
        return None

    find(document)[field] = value
    with pytest.raises(ValueError, match=message):
        loads(json.dumps(document))


def test_plain_models_take_what_they_need_by_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))
    model = SparseLinearRegression(k=2).fit(X, X["b"] - X["d"] + 0.1 * X["a"])
    ksparse.save(model, tmp_path / "model.json")
    for place in (tmp_path / "model.json", tmp_path):
        again = ksparse.load(place)
        np.testing.assert_array_equal(again.predict(X[["d", "b"]]), model.predict(X))
        with pytest.raises(ValueError, match="X lacks 'd', which the model needs; it has 'b'"):
            again.predict(X[["b"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["d", "b"]])  # as scikit-learn wants it


def test_a_frame_that_was_changed_is_used_as_it_is() -> None:
    table = make_table(60)
    y = table["plain"].to_numpy()
    changed: dict[str, Any] = {
        "values": lambda frame: frame.__setitem__("plain", frame["plain"] ** 3),
        "rows": lambda frame: frame.__setitem__(list(frame), frame.iloc[::-1].to_numpy()),
        "columns": lambda frame: frame.__setitem__("more", 1.0),
    }
    for name, change in changed.items():
        frame = TableEncoder().fit_transform(table, y)
        change(frame)
        model = ksparse.SparseLinearRegressionCV(ks=[1, 2], cv=3)
        with pytest.warns(UserWarning, match="was changed after a TableEncoder had made it"):
            scores = model.fit(frame, y).scores_
        plain = ksparse.SparseLinearRegressionCV(ks=[1, 2], cv=3).fit(frame.to_numpy(), y)
        np.testing.assert_allclose(scores, plain.scores_, err_msg=name)


def test_columns_that_are_always_selected_may_vanish_in_a_fold() -> None:
    """A rare value of a column that no training row of some fold has."""
    rng = np.random.default_rng(0)
    flag = np.array(["no"] * 40, dtype=object)
    flag[:5] = "yes"
    table = pd.DataFrame({"flag": flag, "x": rng.normal(size=40), "town": ["a", "b", None, "c"] * 10})
    y = table["x"].to_numpy() + rng.normal(size=40)
    folds = [(np.arange(5, 40), np.arange(5)), (np.arange(30), np.arange(30, 40))]
    model = ksparse.SparseLinearRegressionCV(ks=[1, 2], cv=folds, feature_groups="columns", always_select=["flag"])
    chosen = make_pipeline(TableEncoder(), model).fit(table, y)[-1]
    assert np.isfinite(chosen.scores_).all()
    assert "flag" in set(chosen._labels[chosen.support_])
