"""Advice fits what the person was doing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from ksparse import load
from ksparse.cli import main


def table(path: Path, names: list[str], rows: object) -> str:
    np.savetxt(path, np.asarray(rows), delimiter=",", header=",".join(names), comments="", fmt="%g")
    return str(path)


def test_predict_does_not_advise_to_drop_what_the_model_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    data = table(tmp_path / "a.csv", ["a", "b", "c", "y"], np.column_stack([X, X.sum(axis=1)]))
    assert main(["fit", data, "--target", "y", "--k", "3", "--out", str(tmp_path / "out")]) == 0
    (tmp_path / "new.csv").write_text("a,b,c\n1,,3\n1,2,3\n")
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "out" / "model.json"), str(tmp_path / "new.csv")]) == 0
    predictions, message = capsys.readouterr()
    assert [row == '""' for row in predictions.splitlines()] == [False, True, False]
    assert "1 of 2 rows has no prediction (first row 1)" in message
    assert "missing" in message
    assert "'b' (1)" in message
    assert "--drop" not in message


def test_rare_whole_numbers_are_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    counts = np.minimum(rng.poisson(1.5, 80), 8)
    data = table(tmp_path / "a.csv", ["a", "b", "visits"], np.column_stack([X, counts]))
    assert main(["fit", data, "--target", "visits", "--k", "1"]) == 0
    assert "Task: regression" in capsys.readouterr().out
    ratings = table(tmp_path / "b.csv", ["a", "b", "stars"], np.column_stack([X, np.arange(80) % 3]))
    assert main(["fit", ratings, "--target", "stars", "--k", "1"]) == 0
    assert "Task: classification" in capsys.readouterr().out


def test_quotes_after_a_space_and_numbers_among_booleans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f'{0 if i % 2 else "true"}, {i % 7}.5, "{"p, x" if i % 2 else "q"}"\n' for i in range(40))
    (tmp_path / "b.csv").write_text("a, b, y\n" + rows)
    assert main(["fit", str(tmp_path / "b.csv"), "--target", "y", "--k", "1"]) == 0
    out = capsys.readouterr().out
    assert "p, x" in out
    assert "1.000" in out  # a says it all


def test_scaling_knows_nothing_of_the_test_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model and the training scores do not change with the features of held-out rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] + rng.logistic(size=80) > 0).astype(float)
    _, test = train_test_split(np.arange(80), test_size=0.25, random_state=0, stratify=y.astype(int))
    other = X.copy()
    other[test] *= 50
    models = []
    for name, features in (("a", X), ("b", other)):
        data = table(tmp_path / f"{name}.csv", ["a", "b", "c", "y"], np.column_stack([features, y]))
        assert main(["fit", data, "--target", "y", "--k", "2", "--no-refit-all", "--out", str(tmp_path / name)]) == 0
        model: Any = load(tmp_path / name / "model.json")
        models.append(model[-1])
    np.testing.assert_allclose(models[0].coef_, models[1].coef_)


def test_the_area_under_the_curve_is_that_of_the_second_class(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--k", "3"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "ROC AUC" in line)
    assert min(float(cell) for cell in line.split()[2:4]) > 0.95
