"""Advice fits what the person was doing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
    (tmp_path / "new.csv").write_text("a,b,c\n1,,3\n")
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "out" / "model.json"), str(tmp_path / "new.csv")]) == 2
    message = capsys.readouterr().err
    assert "column 'b' is empty" in message
    assert "--drop" not in message
    (tmp_path / "train.csv").write_text("a,b,y\n1,,3\n2,3,4\n")
    assert main(["fit", str(tmp_path / "train.csv"), "--target", "y"]) == 2
    assert "--drop b" in capsys.readouterr().err


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
