"""``ksparse predict``: what the model itself says of raw data."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ksparse import SparseLinearRegression
from ksparse.persistence import load, save

from .helpers import NAMES, accepted, class_table, good_table, numbers, refused, response, table


def load_model(path: Path) -> Any:
    """The model that was saved, which takes the columns of the table in their order as an array too."""
    model: Any = load(path)
    assert model.feature_names_in_.tolist() == NAMES
    return model


def read(text: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text))
    return header, rows


def write(path: Path, columns: dict[str, list[Any]]) -> None:
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]))


@pytest.fixture
def classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "a.csv").write_text(class_table())
    accepted(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--k", "2", "--out", tmp_path / "o")
    return tmp_path / "o" / "model.json"


@pytest.mark.parametrize("task", ["regression", "huber", "poisson"])
def test_numbers(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = good_table() if task != "poisson" else table(numbers(), [str(i % 13) for i in range(60)])
    (tmp_path / "a.csv").write_text(text)
    start: list[str | Path] = ["fit", tmp_path / "a.csv", "--target", "outcome", "--task", task]
    accepted(capsys, *start, "--k", "2", "--out", tmp_path / "o")
    model = load_model(tmp_path / "o" / "model.json")
    header, rows = read(accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / "a.csv"))
    assert header == ["prediction"]
    np.testing.assert_allclose([float(row[0]) for row in rows], model.predict(numbers()), rtol=1e-9)


def test_classes_have_probabilities(classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(classes)
    header, rows = read(accepted(capsys, "predict", classes, tmp_path / "a.csv"))
    assert header == ["prediction", "probability_ill", "probability_well"]
    assert [row[0] for row in rows] == model.predict(numbers()).tolist()
    probabilities = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_allclose(probabilities, model.predict_proba(numbers()), rtol=0.0, atol=5e-7 * (1 + 1e-9))


def test_only_the_selected_columns_are_needed(
    classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = accepted(capsys, "predict", classes, tmp_path / "a.csv")
    model: Any = load(classes)
    used = model[0].needed_columns_
    assert len(used) == 2
    columns = {name: numbers()[:, NAMES.index(name)].tolist() for name in reversed(used)}
    write(tmp_path / "b.csv", {"name": ["someone"] * 60, **columns})
    assert accepted(capsys, "predict", classes, tmp_path / "b.csv") == whole
    assert accepted(capsys, "predict", classes, tmp_path / "b.csv", "--out", tmp_path / "p.csv") == ""
    assert (tmp_path / "p.csv").read_text() == whole
    del columns[used[0]]
    write(tmp_path / "b.csv", columns)
    line = refused(capsys, "predict", classes, tmp_path / "b.csv", "--out", tmp_path / "q.csv")
    assert f"lacks the column '{used[0]}'" in line
    assert not (tmp_path / "q.csv").exists()


def test_a_model_without_names_takes_columns_by_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = numbers()
    model = SparseLinearRegression(k=2).fit(X, np.column_stack([response(X), -response(X)]))
    save(model, tmp_path / "m.json")
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header="a,b,c,d,e", comments="", fmt="%.17g")
    header, rows = read(accepted(capsys, "predict", tmp_path / "m.json", tmp_path / "a.csv"))
    assert header == ["prediction_1", "prediction_2"]
    np.testing.assert_allclose(np.array(rows, dtype=float), model.predict(X), rtol=1e-9)
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    assert "needs its 5 features" in refused(capsys, "predict", tmp_path / "m.json", tmp_path / "b.csv")


def test_a_model_without_features(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text(good_table())
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--k", "0", "--out", tmp_path / "o")
    assert "with 0 of 5 features" in out
    _, rows = read(accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / "a.csv"))
    assert len(rows) == 60
    assert len({row[0] for row in rows}) == 1


def test_bad_models_and_data(classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "a.csv"
    assert "No such file or directory" in refused(capsys, "predict", tmp_path / "none.json", data)
    assert "model.json': No such file or directory" in refused(capsys, "predict", tmp_path, data)
    (tmp_path / "d.json").mkdir()
    assert "No such file or directory" in refused(capsys, "predict", tmp_path / "d.json", data)
    assert "not a model saved by ksparse" in refused(capsys, "predict", data, data)
    (tmp_path / "m.json").write_bytes(b"\x80\x04junk")
    assert "not a model saved by ksparse" in refused(capsys, "predict", tmp_path / "m.json", data)
    assert "there is no file" in refused(capsys, "predict", classes, tmp_path / "none.csv")
    (tmp_path / "s.svm").write_text("1 1:2\n")
    assert "named features" in refused(capsys, "predict", classes, tmp_path / "s.svm")
    (tmp_path / "m.json").write_text(classes.read_text().replace('"about": {', '"about": {\n  "first_index": 7,'))
    assert "first_index" in refused(capsys, "predict", tmp_path / "m.json", data)


def test_a_place_that_cannot_be_written_to(classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, "predict", classes, tmp_path / "a.csv", "--out", tmp_path / "no" / "p.csv")
    assert "cannot write" in line
