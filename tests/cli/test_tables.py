"""Tables with text, gaps, dates and identifiers: from ``ksparse fit FILE`` to predictions of new rows."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import StratifiedKFold, train_test_split

import ksparse
from ksparse import SparseLogisticRegression, TableEncoder
from ksparse.cli import main
from ksparse.cli.target import Target, choose_task

from .helpers import accepted, refused
from .patients import ROWS, fit, fit_ill, make_patients, read


def split(labels: Any) -> tuple[Any, Any]:
    train, test = train_test_split(np.arange(len(labels)), test_size=0.25, random_state=0, stratify=labels)
    return np.sort(train), np.sort(test)


def fit_by_hand(table: pd.DataFrame, rows: Any) -> Any:
    """The encoder and the estimator that `fit_ill` describes, of some rows."""
    X, y = table.drop(columns=["outcome", "cost", "admitted"]), table["outcome"].to_numpy()
    encoder = TableEncoder().fit(X, y).refit(X.iloc[rows], y[rows])
    estimator = SparseLogisticRegression(k=2, alpha=0.01, feature_groups="columns", standardize=True)
    return encoder, estimator.fit(encoder.transform(X.iloc[rows]), y[rows])


# --- what becomes of columns ------------------------------------------------------------------------------------------


def test_what_was_done_to_each_column_is_said(patients: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = fit(capsys, patients, "outcome", "--drop", "cost", "--k", "2", "--alpha", "0.01")
    assert "240 rows, 7 columns, target 'outcome'" in out
    assert "row (it numbers the rows from 1 to 240)" in out
    assert "patient (it is an identifier or free text: each row has a value of its own)" in out
    assert "site (it has the same value in all rows)" in out
    assert "Text as categories: smoker (3 values)" in out
    assert "Dates in parts: admitted (month, day, weekday)" in out
    gaps = int(make_patients()["pressure"].isna().sum())
    assert f"Missing numbers replaced by the median: pressure ({gaps} rows)" in out
    assert out.index("Left out:") < out.index("with 2 of 4 columns")  # before the model
    assert "if the column is left out and the others are fitted again" in out
    assert "group" not in out
    assert "with 2 of 4 columns (k = 2;" in out  # age, smoker, pressure and admitted
    assert re.search(r"^smoker +.*\n  smoker=(daily|former) ", out, flags=re.M)


def test_the_order_of_dates_is_told_and_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = [(1 + j % 12, 1 + j // 12 % 12) for j in range(ROWS)]
    table = pd.DataFrame({"seen": [f"{day:02}/{month:02}/2024" for day, month in days], "x": np.arange(ROWS) ** 2 % 7})
    table["cost"] = [float(month) for _, month in days]
    table.to_csv(tmp_path / "a.csv", index=False)
    options = ["--drop", "x", "--k", "1", "--alpha", "0"]
    out = fit(capsys, tmp_path / "a.csv", "cost", *options)
    assert "Dates: 'seen' is read as month/day/year (no cell decides the order; --dates dmy for day first)" in out
    out = fit(capsys, tmp_path / "a.csv", "cost", *options, "--dates", "dmy", "--out", tmp_path / "m")
    assert "no cell decides" not in out
    (tmp_path / "new.csv").write_text("seen\n01/07/2024\n2024-07-01\n")
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "new.csv")]) == 0
    predictions, said = capsys.readouterr()
    assert float(read(predictions)["prediction"][0]) == pytest.approx(7.0)
    assert "'2024-07-01' is not a date like the fitted ones (day/month/year, such as 31/12/2024)" in said


def test_identifiers_that_are_asked_for_are_used(patients: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = fit_ill(capsys, patients, "--include", "row")
    assert "with 2 of 4 columns" in out
    assert "it numbers the rows" not in out
    assert "Left out: patient (" in out
    out = fit_ill(capsys, patients, "--include", "row", "--always", "row")
    assert re.search(r"^row +-?\d", out, flags=re.M)
    line = refused(capsys, "fit", patients, "--target", "outcome", "--always", "row")
    assert "--always names 'row', which is not a feature" in line
    assert "it is left out (it numbers the rows from 1 to 240); --include uses such a column" in line
    line = refused(capsys, "fit", patients, "--target", "outcome", "--always", "agee")
    assert line.rstrip().endswith("did you mean 'age'?")
    assert "did you mean 'age'?" in refused(capsys, "fit", patients, "--target", "outcome", "--always", "AGE")


def test_tables_without_a_column_to_use_say_how_to_use_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_patients()[["row", "site", "outcome"]]
    table.to_csv(tmp_path / "a.csv", index=False)
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "outcome")
    assert "no column of the table can be used: row: it numbers the rows from 1 to 240; site: it has" in line
    assert line.rstrip().endswith("name those to use all the same with --include")


def test_features_of_the_same_name_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column with gaps beside one that is called as its indicator would be."""
    rng = np.random.default_rng(0)
    age = np.where(rng.random(ROWS) < 0.3, np.nan, rng.integers(20, 80, ROWS))
    table = pd.DataFrame({"age": age, "age is missing": rng.normal(size=ROWS).round(3)})
    table["cost"] = (np.where(np.isnan(age), 90.0, age) + 5 * table["age is missing"]).round(2)
    table.to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "cost", "--k", "2", "--out", tmp_path / "m")
    assert re.search(r"^  age is missing \(2\) +\d", out, flags=re.M)
    assert re.search(r"^age is missing +5\.0", out, flags=re.M)
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "a.csv"), "--keep", "cost"]) == 0
    out, said = capsys.readouterr()
    assert said == f"ksparse: 'age': the median stands for missing values in {np.isnan(age).sum()} rows\n"
    predicted = read(out)
    assert r2_score(predicted["cost"], predicted["prediction"]) > 0.99


def test_copies_of_the_target_are_left_out_and_what_gives_it_away_is_pointed_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = make_patients().drop(columns="cost")
    rng = np.random.default_rng(1)
    table["diagnosis"] = np.where(table["outcome"] == "ill", "I10", "Z00")
    table["weeks in care"] = np.where(table["outcome"] == "ill", rng.integers(10, 50, ROWS), rng.integers(0, 9, ROWS))
    table.assign(site="Ulm").to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "outcome", "--k", "1", "--alpha", "0.01")
    left_out = re.search(r"^Left out: (.*)", out, flags=re.M)
    assert left_out is not None
    assert "diagnosis (the target in other words; --include keeps it)" in left_out[1]
    assert "site (it has the same value in all rows)" in left_out[1]
    assert re.search(r"weeks in care alone predicts the target almost perfectly \(accuracy 1\.000", out)
    assert "leave it out with --drop" in out
    assert not re.search(r"^diagnosis", out, flags=re.M)
    kept = fit(capsys, tmp_path / "a.csv", "outcome", "--k", "1", "--alpha", "0.01", "--include", "diagnosis")
    assert "the target in other words" not in kept
    assert re.search(r"diagnosis alone predicts the target almost perfectly", kept)
    clean = fit(
        capsys, tmp_path / "a.csv", "outcome", "--k", "1", "--alpha", "0.01", "--drop", "weeks in care,diagnosis"
    )
    assert "almost perfectly" not in clean


def test_a_number_that_is_the_target_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = make_patients()[["age", "smoker", "cost"]].assign(price=lambda frame: frame["cost"])
    table["cents"] = 100 * table["cost"]
    table.to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "cost", "--k", "1", "--alpha", "0")
    assert "Left out: price (the target in other words; --include keeps it)" in out
    assert "cents alone predicts the target almost perfectly (R² 1.000" in out


# --- the target -------------------------------------------------------------------------------------------------------


def test_counts_and_grades_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    table["visits"] = rng.poisson(np.exp(1.0 + table["a"]))
    table["grade"] = np.clip(np.round(3 + table["b"]), 2, 4).astype(int)
    table.to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "visits", "--drop", "grade", "--k", "1", "--alpha", "0")
    assert "Task: regression" in out
    assert "The target has whole numbers from 0 on: if they are counts, use --task poisson" in out
    out = fit(capsys, tmp_path / "a.csv", "visits", "--drop", "grade", "--k", "1", "--alpha", "0", "--task", "poisson")
    assert "if they are counts" not in out
    out = fit(capsys, tmp_path / "a.csv", "grade", "--drop", "visits", "--k", "1", "--alpha", "0.01")
    assert "Task: classification (since the target has only 3 distinct integers" in out
    assert "The 3 integers from 2 to 4 are taken for classes without an order" in out
    assert "if they are grades, --task ordinal uses their order; if they are counts, --task poisson does" in out


@pytest.mark.parametrize(
    ("least", "classes", "otherwise"),
    [(1, 5, "; if they are counts, --task poisson"), (2, 4, "; if they are counts, --task poisson"), (-2, 5, "")],
)
def test_ratings_of_which_one_is_rare_are_asked_about(least: int, classes: int, otherwise: str) -> None:
    """Few integers are regressed if one is in too few rows to be a class; that is said."""
    ratings = np.arange(100.0) % (classes - 1) + least
    ratings[:2] = least + classes - 1
    task, _, reason, advice = choose_task(Target.of_column("stars", pd.Series(ratings)), "auto")
    assert task.name == "regression"
    assert reason.startswith("since the target has integers of which some are rare")
    last = least + classes - 1
    assert advice == (
        f"The {classes} integers from {least} to {last} are taken for numbers, since {last} is in 2 of 100 rows only:"
        f" if they are classes, use --task classification, or --task ordinal if these have an order{otherwise}",
    )
    common = np.arange(100.0) % classes + least
    task, _, _, advice = choose_task(Target.of_column("stars", pd.Series(common)), "auto")
    assert task.name == "classification"
    assert "if they are grades, --task ordinal uses their order" in advice[0]
    assert ("poisson" in advice[0]) == (least >= 0)
    few = Target.of_column("price", pd.Series([300, 250, 410, 270, 300, 380, 500, 450]))
    assert choose_task(few, "auto")[2:] == ("since the target has many distinct numbers; use --task to change this", ())


def read_features(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "features.csv").set_index("feature")


def test_the_positive_class_turns_the_signs(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said, tables = [], []
    for label in ("ill", "well"):
        said.append(fit_ill(capsys, patients, "--positive", label, "--out", tmp_path / label))
        tables.append(read_features(tmp_path / label))
    assert "log-odds of 'ill' versus 'well'" in said[0]
    assert "log-odds of 'well' versus 'ill'" in said[1]
    for column in ("coefficient", "standardized"):
        np.testing.assert_array_equal(tables[0][column], -tables[1][column])
    np.testing.assert_allclose(tables[0]["odds_ratio"], 1 / tables[1]["odds_ratio"], rtol=1e-6)
    np.testing.assert_array_equal(tables[0]["low"], -tables[1]["high"])
    assert tables[0].loc["smoker=daily", "coefficient"] > 0  # smoking makes ill
    models = [(tmp_path / label / "predictions.csv").read_text() for label in ("ill", "well")]
    assert models[0] == models[1]


def test_classes_may_weigh_the_same(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit_ill(capsys, patients, "--class-weight", "balanced", "--out", tmp_path / "o", "--no-refit-all")
    table = make_patients()
    rows, _ = split(table["outcome"])
    encoder, _ = fit_by_hand(table, rows)
    direct: Any = SparseLogisticRegression(
        k=2, alpha=0.01, feature_groups="columns", standardize=True, class_weight="balanced"
    ).fit(encoder.transform(table.iloc[rows]), table["outcome"].to_numpy()[rows])
    model: Any = ksparse.load(tmp_path / "o" / "model.json")
    np.testing.assert_allclose(model[-1].coef_, direct.coef_, rtol=1e-6)
    _, plain = fit_by_hand(table, rows)
    assert not np.allclose(model[-1].coef_, plain.coef_, rtol=1e-3)


def test_rows_without_a_target_are_left_out(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = make_patients()
    gaps = pd.concat([whole.iloc[:1].assign(outcome=None), whole, whole.iloc[-1:].assign(outcome="?")])
    gaps.assign(row=1).to_csv(tmp_path / "gaps.csv", index=False)
    first = fit_ill(capsys, patients, "--out", tmp_path / "a")
    second = fit_ill(capsys, tmp_path / "gaps.csv", "--out", tmp_path / "b")
    assert "2 of 242 rows have no target and are left out" in second
    assert "240 rows, " in first
    assert "240 rows, " in second
    pd.testing.assert_frame_equal(read_features(tmp_path / "a"), read_features(tmp_path / "b"))
    rows = [pd.read_csv(tmp_path / name / "predictions.csv")["row"] for name in "ab"]
    np.testing.assert_array_equal(rows[0] + 1, rows[1])  # numbers of rows in the file


# --- the model that is saved ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--no-refit-all", ""])
def test_which_rows_the_saved_model_has_seen(
    option: str, patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = fit_ill(capsys, patients, *filter(None, [option]), "--out", tmp_path / "o")
    table, labels = make_patients(), make_patients()["outcome"].to_numpy()
    train, test = split(labels)
    encoder, direct = fit_by_hand(table, train if option else np.arange(ROWS))
    model: Any = ksparse.load(tmp_path / "o" / "model.json")
    assert model[0].get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    np.testing.assert_allclose(model[-1].coef_, direct.coef_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(model[-1].intercept_, direct.intercept_, rtol=1e-6)
    encoder, judge = fit_by_hand(table, train)  # scores and predictions are those of the training rows
    probabilities = judge.predict_proba(encoder.transform(table.iloc[test]))
    accuracy = accuracy_score(labels[test], judge.predict(encoder.transform(table.iloc[test])))
    assert re.search(rf"^Accuracy +[\d.]+ +{accuracy:.3f} ", out, flags=re.M)
    assert re.search(rf"^Log loss +[\d.]+ +{log_loss(labels[test], probabilities):.3f} ", out, flags=re.M)
    found = pd.read_csv(tmp_path / "o" / "predictions.csv")
    assert found["row"].tolist() == (test + 1).tolist()
    assert found["patient"].tolist() == table["patient"].iloc[test].tolist()
    assert found["outcome"].tolist() == labels[test].tolist()
    np.testing.assert_allclose(found[["probability_ill", "probability_well"]], probabilities, rtol=1e-6)


def test_the_table_of_features_is_that_of_the_model(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit_ill(capsys, patients, "--out", tmp_path / "o")
    model: Any = ksparse.load(tmp_path / "o" / "model.json")
    table = read_features(tmp_path / "o")
    coefficients = dict(zip(model[-1].feature_names_in_.tolist(), model[-1].coef_[0].tolist(), strict=True))
    listed = table["coefficient"].dropna().drop("(intercept)")
    assert set(listed.index) == {name for name, value in coefficients.items() if value}
    np.testing.assert_allclose(listed, [coefficients[name] for name in listed.index], rtol=1e-7)
    np.testing.assert_allclose(table.loc["(intercept)", "coefficient"], model[-1].intercept_[0], rtol=1e-7)
    np.testing.assert_allclose(table["odds_ratio"][listed.index], np.exp(listed), rtol=1e-6)
    deviations = model[0].transform(make_patients()).std(ddof=0)[listed.index]
    np.testing.assert_allclose(table["standardized"][listed.index], listed * deviations, rtol=1e-6)
    assert set(table["column"].dropna()) == {"age", "smoker"}


def test_a_number_by_text_is_the_mean_of_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Least squares on the indicators of a category, against scikit-learn."""
    table = make_patients()[["smoker", "cost"]]
    table.to_csv(tmp_path / "a.csv", index=False)
    fit(capsys, tmp_path / "a.csv", "cost", "--k", "1", "--alpha", "0", "--test", "0", "--out", tmp_path / "o")
    model: Any = ksparse.load(tmp_path / "o" / "model.json")
    means = table.groupby("smoker")["cost"].mean()
    np.testing.assert_allclose(model.predict(pd.DataFrame({"smoker": means.index})), means, rtol=1e-9)


def test_nested_folds_are_those_of_a_loop_by_hand(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drop = ["--drop", "cost,admitted", "--k", "2", "--alpha", "0.01"]
    out = accepted(capsys, "fit", patients, "--target", "outcome", *drop, "--nested")
    table, y = make_patients(), make_patients()["outcome"].to_numpy()
    accuracies, losses = [], []
    for train, held_out in StratifiedKFold(5, shuffle=True, random_state=0).split(table, y):
        encoder, model = fit_by_hand(table, train)
        features = encoder.transform(table.iloc[held_out])
        accuracies.append(accuracy_score(y[held_out], model.predict(features)))
        losses.append(log_loss(y[held_out], model.predict_proba(features)))
    assert re.search(rf"^Accuracy .* {np.mean(accuracies):.3f} +[\d.]+ to [\d.]+$", out, flags=re.M)
    assert re.search(rf"^Log loss .* {np.mean(losses):.3f} +[\d.]+ to [\d.]+$", out, flags=re.M)


def test_a_model_without_skill_is_said_to_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    table.assign(y=np.where(rng.random(200) < 0.3, "yes", "no")).to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "y", "--k", "2", "--alpha", "1")
    assert re.search(
        r"^NO BETTER than always answering 'no': accuracy 0\.\d{3} against 0\.\d{3} on the test rows", out, re.M
    )
    table.assign(y=rng.normal(size=200)).to_csv(tmp_path / "b.csv", index=False)
    out = fit(capsys, tmp_path / "b.csv", "y", "--k", "2", "--alpha", "1")
    assert re.search(r"^NO(T CLEARLY)? BETTER than always answering -?[\d.e-]+, the mean: R² ", out, flags=re.M)
    table.assign(y=table["a"]).to_csv(tmp_path / "c.csv", index=False)
    assert "Better than always answering" in fit(capsys, tmp_path / "c.csv", "y", "--k", "1", "--include", "a")


# --- text of strangers ------------------------------------------------------------------------------------------------

FORMULA, MARKUP, ESCAPE = "=1+1", "<script>alert(1)</script>", "\x1b[31mred"


def test_hostile_names_and_cells_reach_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.choice([FORMULA, MARKUP, ESCAPE, "@x"], 120)
    size = rng.normal(size=120)
    labels = np.where(size + (kinds == MARKUP) + 0.3 * rng.normal(size=120) > 0, "=cmd", MARKUP)
    ids = [f"=HYPERLINK({row})" for row in range(120)]
    table = pd.DataFrame({"@id": ids, ESCAPE: kinds, f"+{MARKUP}": size, "=y": labels})
    table.to_csv(tmp_path / "a.csv", index=False)
    out = fit(capsys, tmp_path / "a.csv", "=y", "--k", "2", "--alpha", "0.01", "--out", tmp_path / "o")
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
    predicted = accepted(capsys, "predict", tmp_path / "o", tmp_path / "a.csv")
    for text in (predicted, *((tmp_path / "o" / name).read_text() for name in ("features.csv", "predictions.csv"))):
        for cell in (cell for row in csv.reader(io.StringIO(text)) for cell in row):
            assert not re.match(r"[=@\t\r]|[+-](?![\d.])", cell), cell
    assert "'@id" in predicted.splitlines()[0]
    page = (tmp_path / "o" / "report.html").read_text()
    assert MARKUP not in page
    assert "\x1b" not in page
    model: Any = ksparse.load(tmp_path / "o" / "model.json")
    assert json.loads((tmp_path / "o" / "model.json").read_text())["about"]["target"] == "=y"
    assert set(model.predict(table.iloc[:, 1:3])) == {"=cmd", MARKUP}
