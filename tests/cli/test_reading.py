"""Columns of files as numbers, dates and categories; and models that others have saved."""

from __future__ import annotations

import decimal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import SparseDiscriminantAnalysis, SparseLinearRegression, SparsePrecision, save
from ksparse._types import Array
from ksparse.cli.data import load_training_data
from ksparse.tables import KindOfColumn, TableEncoder

from .helpers import NAMES, accepted, good_table, numbers, refused, response


def test_lines_are_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Blank lines and line ends in quotes count."""
    text = '\n\nname,"two\nlines",x,y\n\n"a\nb",1,1,1\n  \nc,1,2,2\n\nd,1,bad,3\n'
    (tmp_path / "a.csv").write_text(text + "\nd,1,2\n")
    assert "line 13 of" in refused(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--drop", "name")


def read_numbers(path: Path, columns: list[str]) -> Array:
    """Columns of a file as the command takes them for numbers."""
    data = load_training_data(str(path), "y", [])
    return TableEncoder(keep=columns).fit_transform(data.X[columns]).to_numpy()


def test_numbers_are_read_exactly(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-300, 100, 0.4)
    (tmp_path / "a.csv").write_text("x,big,y\n" + "".join(f"{v!r},{10**25},1\n" for v in values.tolist()))
    X = read_numbers(tmp_path / "a.csv", ["x", "big"])
    np.testing.assert_array_equal(X[:, 0], values)
    assert (X[:, 1] == 1e25).all()


@pytest.mark.parametrize("cell", ["1_000", "0x10", "1e", "--1", "１"])
def test_text_that_python_would_take_for_a_number_is_text(cell: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"x,y\n1,1\n{cell},2\n3,3\n")
    encoder = TableEncoder(min_frequency=1).fit(load_training_data(str(tmp_path / "a.csv"), "y", []).X)
    assert encoder.features_["x"].kind.kind is KindOfColumn.CATEGORY
    assert cell in {encoder.features_["x"].reference, *encoder.features_["x"].categories}


def test_types_of_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    rows = 30
    good = pd.DataFrame(
        {
            "price": [decimal.Decimal(i) / 4 for i in range(rows)],
            "flag": [i % 2 == 0 for i in range(rows)],
            "small": np.arange(rows, dtype=np.uint8),
            "nullable": pd.array(list(range(rows)), dtype="Int32"),
            "y": [decimal.Decimal(i * i) for i in range(rows)],
        }
    )
    good.to_parquet(path)
    X = read_numbers(path, ["price", "flag", "small", "nullable"])
    expected = [np.arange(rows) / 4, np.arange(rows) % 2 == 0, np.arange(rows), np.arange(rows)]
    np.testing.assert_array_equal(X, np.column_stack(expected))
    np.testing.assert_array_equal(load_training_data(str(path), "y", []).target.values, np.arange(rows) ** 2)
    assert "Task: regression" in accepted(capsys, "fit", path, "--target", "y", "--k", "1")
    good.set_index(pd.Index(range(rows), name="patient")).to_parquet(path)
    data = load_training_data(str(path), "y", [])
    assert data.names[0] == "price"
    assert data.identifiers is not None
    assert list(data.identifiers) == ["patient"]
    days = pd.date_range("2020-01-30", periods=rows)
    kinds = pd.Categorical(["u", "v", "v"] * 10)
    good.assign(day=days.date, time=days, kind=kinds, site="Ulm").to_parquet(path)
    out = accepted(capsys, "fit", path, "--target", "y", "--k", "1")
    assert "Dates in parts: day, time (month, day, weekday)" in out
    assert "Text as categories: kind (2 values)" in out
    assert "site (it has the same value in all rows)" in out
    for column in ("day", "time"):
        assert f"the target '{column}' has dates" in refused(capsys, "fit", path, "--target", column)


def test_predictions_of_other_saved_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pipelines and discriminant analysis predict from all columns; a graph predicts nothing."""
    X = numbers()
    (tmp_path / "a.csv").write_text(good_table())
    frame = pd.DataFrame(X, columns=NAMES)
    pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=2)).fit(frame, response(X))
    save(pipeline, tmp_path / "p.json")
    _, *cells = accepted(capsys, "predict", tmp_path / "p.json", tmp_path / "a.csv").split()
    np.testing.assert_allclose(np.array(cells, dtype=float), pipeline.predict(frame), rtol=1e-9)
    discriminant = SparseDiscriminantAnalysis(k=3).fit(frame, response(X) > 1.4)
    save(discriminant, tmp_path / "d.json")
    header, *rows = accepted(capsys, "predict", tmp_path / "d.json", tmp_path / "a.csv").split()
    assert header == "prediction,probability_False,probability_True"
    assert [row.split(",")[0] for row in rows] == [str(label) for label in discriminant.predict(frame)]
    save(SparsePrecision(k=2).fit(frame), tmp_path / "g.json")
    assert "makes no predictions" in refused(capsys, "predict", tmp_path / "g.json", tmp_path / "a.csv")


@pytest.mark.slow
def test_help_and_import_load_no_library_that_they_do_not_use() -> None:
    """scikit-learn may import some of these libraries itself; ksparse adds none to them."""
    program = (
        "import sys, sklearn.linear_model, sklearn.model_selection, sklearn.covariance\n"
        "before = set(sys.modules)\n"
        "import ksparse\nfrom ksparse.cli import main\n"
        "try:\n    main(['fit', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pandas', 'matplotlib', 'jinja2', 'rich', 'pyarrow', 'networkx'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
