"""Predictions of new rows of tables with text, gaps and identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import ksparse
from ksparse.cli import main

from .helpers import accepted, refused
from .patients import ROWS, fit, fit_ill, make_patients, read


@pytest.fixture(name="saved")
def save_patients(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    fit_ill(capsys, patients, "--out", tmp_path / "o")
    return tmp_path / "o"


def test_predictions_need_few_columns_and_begin_with_identifiers(
    saved: Path, patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model: Any = ksparse.load(saved / "model.json")
    table = make_patients()
    found = read(accepted(capsys, "predict", saved, patients))
    assert list(found) == ["row", "patient", "prediction", "probability_ill", "probability_well"]
    assert found["patient"].tolist() == table["patient"].tolist()
    few = table[["smoker", "age"]]
    probabilities = model.predict_proba(few)
    assert found["prediction"].tolist() == model.predict(few).tolist()
    np.testing.assert_allclose(found["probability_ill"], probabilities[:, 0], atol=5e-7 * (1 + 1e-9))
    few.to_csv(tmp_path / "few.csv", index=False)
    pd.testing.assert_frame_equal(read(accepted(capsys, "predict", saved, tmp_path / "few.csv")), found.iloc[:, 2:])
    kept = read(accepted(capsys, "predict", saved / "model.json", patients, "--keep", "site,age"))
    assert list(kept)[:3] == ["site", "age", "prediction"]
    assert kept["age"].tolist() == table["age"].tolist()
    assert "no column 'sites'" in refused(capsys, "predict", saved, patients, "--keep", "sites")
    few[["age"]].to_csv(tmp_path / "few.csv", index=False)
    assert "lacks the column 'smoker'" in refused(capsys, "predict", saved, tmp_path / "few.csv")
    table[["smoker", "age"]].rename(columns={"smoker": "Smoker"}).to_csv(tmp_path / "few.csv", index=False)
    line = refused(capsys, "predict", saved, tmp_path / "few.csv")
    assert line.rstrip().endswith("it has 'Smoker', and upper and lower case count: rename 'Smoker' to 'smoker'")


def test_rows_with_values_that_the_model_has_not_seen_have_no_prediction(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = "age,smoker,visit\n50,daily,a\n,never,b\n61,pipe,c\n61,,d\nold,former,e\n61,former,f\n"
    (tmp_path / "new.csv").write_text(new)
    assert main(["predict", str(saved), str(tmp_path / "new.csv"), "--keep", "visit"]) == 0
    out, problem = capsys.readouterr()
    found = read(out)
    assert found["visit"].tolist() == list("abcdef")
    assert found["prediction"].notna().tolist() == [True, False, False, False, False, True]
    assert found["probability_ill"].notna().tolist() == [True, False, False, False, False, True]
    assert problem.count("\n") == 1
    assert "4 of 6 rows have no prediction (first row 2)" in problem
    assert "'age' (2), 'smoker' (2)" in problem
    (tmp_path / "new.csv").write_text("age,smoker\n,never\n")
    assert main(["predict", str(saved), str(tmp_path / "new.csv")]) == 0
    out, problem = capsys.readouterr()
    assert out.splitlines()[0] == "prediction,probability_ill,probability_well"
    assert "1 of 1 rows has no prediction" in problem


def test_values_that_are_new_among_rare_ones_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_patients()[["smoker", "age", "cost"]]
    table.loc[[3, 70], "smoker"] = "pipe"
    table["cost"] += 200.0 * (table["smoker"] == "daily")
    table.to_csv(tmp_path / "a.csv", index=False)
    accepted(capsys, "fit", tmp_path / "a.csv", "--target", "cost", "--k", "2", "--out", tmp_path / "m")
    (tmp_path / "new.csv").write_text("age,smoker\n50,daily\n50,pipe\n50,cigar\n,cigar\n")
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "new.csv")]) == 0
    out, problem = capsys.readouterr()
    found = read(out)["prediction"]
    assert found.notna().tolist() == [True, True, True, False]
    assert found[1] == found[2]
    first, second = problem.splitlines()
    assert first == "ksparse: values that no fitted row had were taken as \"(other)\" in 'smoker' (1)"
    assert "1 of 4 rows has no prediction" in second


def test_titles_and_footnotes_have_the_same_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """k counts columns where some become several features, and features where each is one."""
    table = make_patients()[["age", "smoker", "cost"]].assign(x=np.arange(ROWS) ** 2 % 7)
    for columns, word, other in ((["age", "x", "cost"], "feature", "column"), (list(table), "column", "feature")):
        table[columns].to_csv(tmp_path / "a.csv", index=False)
        out = fit(capsys, tmp_path / "a.csv", "cost", "--k", "1")
        assert f"with 1 of {len(columns) - 1} {word}s (k = 1" in out
        assert f"if the {word} is left out" in out
        assert f"if the {other} is left out" not in out


def fit_pressure(folder: Path, capsys: pytest.CaptureFixture[str]) -> pd.DataFrame:
    """Fit a model of one column with gaps, saved in the folder o; the table that it is fitted to."""
    table = make_patients()[["pressure", "cost"]].assign(cost=lambda frame: frame["pressure"].fillna(200) * 2 + 1)
    table.to_csv(folder / "a.csv", index=False)
    fit(capsys, folder / "a.csv", "cost", "--k", "1", "--alpha", "0", "--out", folder / "o")
    return table


def test_gaps_that_the_model_knows_are_filled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = fit_pressure(tmp_path, capsys)
    (tmp_path / "new.csv").write_text("pressure\n120\nNA\n")
    assert main(["predict", str(tmp_path / "o"), str(tmp_path / "new.csv")]) == 0
    out, said = capsys.readouterr()
    assert said == "ksparse: 'pressure': the median stands for missing values in 1 row\n"
    found = read(out)["prediction"]
    missing = table["pressure"].isna()
    features = np.column_stack([table["pressure"].fillna(table["pressure"].median()), missing])
    direct = LinearRegression().fit(features, table["cost"])
    np.testing.assert_allclose(found, direct.predict([[120, 0], [table["pressure"].median(), 1]]), rtol=1e-6)
    assert r2_score(table["cost"], direct.predict(features)) > 0.999


def test_text_in_place_of_all_numbers_has_no_prediction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit_pressure(tmp_path, capsys)
    (tmp_path / "new.csv").write_text("pressure\nhigh\nNA\nlow\n")
    assert main(["predict", str(tmp_path / "o"), str(tmp_path / "new.csv")]) == 0
    out, said = capsys.readouterr()
    assert read(out)["prediction"].notna().tolist() == [False, True, False]
    median, empty, reason = said.splitlines()
    assert median == "ksparse: 'pressure': the median stands for missing values in 1 row"
    assert "2 of 3 rows have no prediction (first row 1)" in empty
    assert reason.endswith("'pressure': no row has a value that can be read; text such as 'high' is not a number")


def test_columns_that_are_called_as_those_of_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_patients().rename(columns={"patient": "prediction", "outcome": "row", "row": "number"})
    table.drop(columns="cost").to_csv(tmp_path / "a.csv", index=False)
    fit(capsys, tmp_path / "a.csv", "row", "--k", "1", "--alpha", "0.01", "--out", tmp_path / "o")
    found = pd.read_csv(tmp_path / "o" / "predictions.csv")
    rows = found["row of the file"] - 1
    assert found["row"].tolist() == table["row"].iloc[rows].tolist()
    assert found["prediction"].tolist() == table["prediction"].iloc[rows].tolist()
    assert set(found["prediction (model)"]) == {"ill", "well"}
    head = accepted(capsys, "predict", tmp_path / "o", tmp_path / "a.csv").splitlines()[0]
    assert head == "number,prediction,prediction (model),probability_ill,probability_well"
