"""Reports of columns that are not numbers: all of them, with counts and lines of the file."""

from __future__ import annotations

import datetime
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
from ksparse.cli.numeric import read_numbers, read_target
from ksparse.cli.reading import open_table

from .helpers import NAMES, accepted, good_table, numbers, refused, response


def test_all_problems_are_named_with_their_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["Rome,1,,x,inf", "Oslo,2,5,1,1", "Lima,NA,6,y,2", "Bern,4,7,1,3"]
    (tmp_path / "a.csv").write_text("city,age,dose,dropped,weight,outcome\n" + "".join(f"{row},1\n" for row in rows))
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--drop", "dropped")
    assert "'city' has text in 4 rows (first 'Rome' on line 2)" in line
    assert "'age' has missing values in 1 row (first on line 4)" in line
    assert "'dose' has missing values in 1 row (first on line 2)" in line
    assert "'weight' has infinite or too large values in 1 row (first 'inf' on line 2)" in line
    assert "dropped" not in line
    assert "--drop city,age,dose,weight" in line


def test_a_column_may_have_several_problems_and_many_columns_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"c{j}" for j in range(12)]
    frame = pd.DataFrame({name: ["a", "", "1"] for name in names} | {"y": [1, 2, 3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "y")
    assert "'c0' has text in 1 row (first 'a' on line 2) and has missing values in 1 row (first on line 3)" in line
    assert "and 4 more columns" in line
    assert "'c8'" not in line


def test_lines_are_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Blank lines and line ends in quotes count."""
    text = '\n\nname,"two\nlines",x,y\n\n"a\nb",1,1,1\n  \nc,1,2,2\n\nd,1,bad,3\n'
    (tmp_path / "a.csv").write_text(text)
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--drop", "name")
    assert "'x' has text in 1 row (first 'bad' on line 11)" in line
    (tmp_path / "a.csv").write_text(text + "\nd,1,2\n")
    assert "line 13 of" in refused(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--drop", "name")


def test_numbers_are_read_exactly(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-300, 100, 0.4)
    (tmp_path / "a.csv").write_text("x,big,y\n" + "".join(f"{v!r},{10**25},1\n" for v in values.tolist()))
    table = open_table(str(tmp_path / "a.csv"))
    X = read_numbers(table, table.read(), [0, 1], advise_drop=True)
    np.testing.assert_array_equal(X[:, 0], values)
    assert (X[:, 1] == 1e25).all()


def test_text_that_python_would_take_for_a_number_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for cell in ("1_000", "0x10", "1e", "--1", "１"):
        (tmp_path / "a.csv").write_text(f"x,y\n1,1\n{cell},2\n3,3\n")
        assert "has text in 1 row" in refused(capsys, "fit", tmp_path / "a.csv", "--target", "y")


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
    table = open_table(str(path))
    X = read_numbers(table, table.read(), [0, 1, 2, 3], advise_drop=True)
    np.testing.assert_array_equal(X[:, 0], np.arange(rows) / 4)
    np.testing.assert_array_equal(X[:, 3], np.arange(rows))
    np.testing.assert_array_equal(read_target(table, table.read(), 4).astype(float), np.arange(rows) ** 2)
    assert "Task: regression" in accepted(capsys, "fit", path, "--target", "y", "--k", "1")
    good.set_index(pd.Index(range(rows), name="patient")).to_parquet(path)
    table = open_table(str(path))
    assert table.names[0] == "price"
    assert table.identifiers is not None
    assert list(table.identifiers) == ["patient"]
    bad = good.assign(day=datetime.date(2020, 1, 1), time=pd.Timestamp("2020-01-01"), kind=pd.Categorical(["u"] * rows))
    bad.to_parquet(path)
    line = refused(capsys, "fit", path, "--target", "y")
    for column in ("day", "time", "kind"):
        assert f"'{column}' has text in 30 rows" in line
    assert "only one class, '2020-01-01 00:00:00'" in refused(
        capsys, "fit", path, "--target", "day", "--drop", "time,kind"
    )


def test_predictions_of_other_saved_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pipelines and discriminant analysis predict from all columns; a graph predicts nothing."""
    X = numbers()
    (tmp_path / "a.csv").write_text(good_table())
    frame = pd.DataFrame(X, columns=NAMES)
    pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=2)).fit(frame, response(X))
    save(pipeline, tmp_path / "p.json")
    _, *cells = accepted(capsys, "predict", tmp_path / "p.json", tmp_path / "a.csv").split()
    np.testing.assert_allclose(np.array(cells, dtype=float), pipeline.predict(frame), rtol=1e-12)
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
