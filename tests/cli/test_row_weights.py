"""``--weights``, ``--exposure`` and ``--offset``: against the estimators, from the file to predictions of new rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_tweedie_score

from ksparse import SparseCoxRegression, SparseLogisticRegression, SparsePoissonRegression, load, make_survival_target
from ksparse.cli import main
from ksparse.cli.report import render_report
from ksparse.cli.scoring import ModelOfRows
from ksparse.cli.tasks import TASKS
from ksparse.inference import compare_with_baseline, repeat_cross_validation, score_interval

from .helpers import accepted, refused
from .pages import fit, read_data

N = 160
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, 4))
YEARS = RNG.uniform(0.5, 8.0, N)
COUNT = RNG.poisson(YEARS * np.exp(-0.3 + 0.6 * X[:, 0] - 0.5 * X[:, 2]))
WEIGHT = RNG.integers(1, 4, N).astype(float)
NAMES = ["a", "b", "c", "d"]


def write(folder: Path, **columns: Any) -> Path:
    frame = pd.DataFrame(X, columns=NAMES).assign(years=YEARS, weight=WEIGHT, count=COUNT)
    path = folder / "counts.csv"
    frame.assign(**columns).to_csv(path, index=False)
    return path


def make_target(task: str) -> dict[str, Any]:
    """A target that this task takes, as columns of the table, and the options that name it."""
    signal = X[:, 0] - X[:, 2] + np.random.default_rng(4).standard_normal(N)
    if task == "cox":
        return {"time": np.exp(-signal), "event": (signal > -1).astype(int)}
    if TASKS[task].has_order:
        return {"y": np.digitize(signal, [-1.0, 1.0])}
    if TASKS[task].has_classes:
        return {"y": np.where(signal > 0, "ill", "well")}
    return {"y": np.exp(0.3 * signal) if task in ("gamma", "tweedie") else COUNT}


@pytest.mark.slow
@pytest.mark.parametrize("task", list(TASKS))
def test_a_weight_is_a_number_of_equal_rows(task: str, tmp_path: Path) -> None:
    target = make_target(task)
    frame = pd.DataFrame(X, columns=NAMES).assign(w=WEIGHT.astype(int), **target)
    frame.to_csv(tmp_path / "once.csv", index=False)
    frame.loc[frame.index.repeat(frame["w"])].drop(columns="w").to_csv(tmp_path / "often.csv", index=False)
    common: dict[str, Any] = {"k": 2, "alpha": 0.01, "resamples": 0, "test": 0.0}
    common |= {"time": "time", "event": "event"} if task == "cox" else {"target": "y", "task": task}
    if task == "negative-binomial":
        common["dispersion"] = 0.5
    once = fit(data=str(tmp_path / "once.csv"), weights="w", **common)
    often = fit(data=str(tmp_path / "often.csv"), **common)
    np.testing.assert_array_equal(once.model.support_, often.model.support_)
    expected = often.model.coef_
    if task == "cox":  # equal rows are tied, which Efron's method counts for less
        model = SparseCoxRegression(k=2, alpha=0.01, standardize=True)
        expected = model.fit(X, make_survival_target(target["time"], target["event"]), WEIGHT).coef_
    np.testing.assert_allclose(once.model.coef_, expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(once.scaler.scale_, often.scaler.scale_)


def test_the_model_is_that_of_the_estimator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    options = ["--exposure", "years", "--weights", "weight", "--k", "2", "--alpha", "0.01", "--resamples", "0"]
    text = accepted(capsys, "fit", path, "--target", "count", "--task", "poisson", *options, "--out", out)
    assert "with 2 of 4 features" in text  # k never counts the columns of weights and exposures
    assert f"Weights: 'weight', 1 to 3, {WEIGHT.sum():g} in all; fits and scores are weighted, charts count" in text
    assert f"Exposure: 'years', {YEARS.min():.4g} to {YEARS.max():.4g}; what is expected is in proportion" in text
    assert "for the logarithm of the expected 'count' per unit of 'years'" in text
    model = SparsePoissonRegression(k=2, alpha=0.01, standardize=True)
    model.fit(X, COUNT, sample_weight=WEIGHT, offset=np.log(YEARS))
    saved = load(out)
    np.testing.assert_allclose(saved[-1].coef_, model.coef_, rtol=1e-6)
    np.testing.assert_allclose(saved[-1].intercept_, model.intercept_, rtol=1e-6)
    rows = list(csv.DictReader((out / "predictions.csv").read_text().splitlines()))
    places = np.array([int(row["row"]) for row in rows]) - 1
    for name, values in {"weight": WEIGHT, "years": YEARS, "count": COUNT}.items():
        np.testing.assert_allclose([float(row[name]) for row in rows], values[places], rtol=1e-7)
    train = np.setdiff1d(np.arange(N), places)
    model.fit(X[train], COUNT[train], sample_weight=WEIGHT[train], offset=np.log(YEARS[train]))
    predicted = model.predict(X[places], np.log(YEARS[places]))
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], predicted, rtol=1e-6)
    # The verdict is about the features: what exposures alone predict is what the model must beat.
    rate = WEIGHT[train] @ COUNT[train] / (WEIGHT[train] @ YEARS[train])
    ours, alone = (
        d2_tweedie_score(COUNT[places], each, power=1, sample_weight=WEIGHT[places])
        for each in (predicted, rate * YEARS[places])
    )
    assert abs(ours - d2_tweedie_score(COUNT[places], predicted, power=1)) > 1e-3  # so that weights matter here
    assert f"Better than the exposure 'years' alone: D² (deviance) {ours:.3f} against {alone:.3f}" in text


@pytest.mark.parametrize("option", ["--exposure", "--offset"])
def test_predictions_of_new_rows(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path, years=np.log(YEARS) if option == "--offset" else YEARS), tmp_path / "o"
    plain = ["--drop", "weight", "--k", "2", "--alpha", "0.01", "--resamples", "0", "--out", str(out)]
    accepted(capsys, "fit", path, "--target", "count", "--task", "poisson", option, "years", *plain)
    assert json.loads((out / "model.json").read_text())["about"][option[2:]] == "years"
    new = pd.DataFrame(X[:5], columns=NAMES).assign(years=[1.0, 2.0, np.nan, -1.0, 3.0])
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(out), str(tmp_path / "new.csv")]) == 0
    captured = capsys.readouterr()
    found = pd.to_numeric(pd.Series(captured.out.splitlines()[1:]).str.strip('"')).to_numpy()
    model = load(out)[-1]
    offset = new["years"] if option == "--offset" else np.log(new["years"].where(new["years"] > 0))
    expected = np.exp(X[:5] @ model.coef_ + model.intercept_ + offset)
    np.testing.assert_allclose(found, expected, rtol=1e-8)  # NaN where there is no exposure
    count, expected_kind = ("1", "a number") if option == "--offset" else ("2", "a positive number")
    assert f"{count} of 5 rows {'has' if count == '1' else 'have'} no prediction (first row 3)" in captured.err
    assert f"the {option[2:]} 'years' is missing, or is not {expected_kind}" in captured.err
    new.drop(columns="years").to_csv(tmp_path / "new.csv", index=False)
    assert "lacks the column 'years', which the model needs" in refused(capsys, "predict", out, tmp_path / "new.csv")


def test_offsets_of_two_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(5)
    known = 1.5 * rng.standard_normal(N)
    ill = rng.random(N) < 1 / (1 + np.exp(-known - 2 * X[:, 0]))
    path, out = write(tmp_path, state=np.where(ill, "well", "ill"), known=known), tmp_path / "o"
    options = ["--target", "state", "--offset", "known", "--drop", "years,weight,count", "--k", "1", "--alpha", "0.01"]
    text = accepted(capsys, "fit", path, *options, "--resamples", "0", "--out", out)
    model = SparseLogisticRegression(k=1, alpha=0.01, standardize=True).fit(X, ill, offset=known)
    np.testing.assert_allclose(load(out)[-1].coef_, model.coef_, rtol=1e-6)
    rows = list(csv.reader(accepted(capsys, "predict", out, path).splitlines()))[1:]
    probabilities = np.array([float(row[2]) for row in rows])
    np.testing.assert_allclose(probabilities, model.predict_proba(X, known)[:, 1], atol=1e-5)
    assert "Better than the offset 'known' alone: log loss" in text


@pytest.mark.slow
def test_nested_folds_have_the_exposures_and_weights_of_their_rows(tmp_path: Path) -> None:
    options: dict[str, Any] = {"target": "count", "task": "poisson", "alpha": 0.01, "k": 2, "nested": True}
    fitted = fit(data=str(write(tmp_path)), exposure="years", weights="weight", resamples=0, **options)

    assert fitted.scores.nested is not None
    parts = fitted.scores.nested.scores["D² (deviance)"].to_numpy()

    class WithExposure(SparsePoissonRegression):
        """Takes exposures and weights as the last columns of X."""

        def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Any:
            return super().fit(X[:, :-2], y, X[:, -1], offset=np.log(X[:, -2]))

    def score(model: Any, data: Any, y: Any) -> float:
        ours = isinstance(model, WithExposure)  # or the constant that it is compared with
        predicted = model.predict(data[:, :-2], np.log(data[:, -2])) if ours else model.predict(data)
        return score_interval("d2_poisson", y, predicted, sample_weight=data[:, -1], resamples=0).value

    estimator = WithExposure(k=2, alpha=0.01, standardize=True)
    data = np.column_stack([X, YEARS, WEIGHT])
    expected = repeat_cross_validation(estimator, data, COUNT, repeats=1, scoring={"d2": score})
    np.testing.assert_allclose(parts, expected.scores["d2"], rtol=1e-6)


@pytest.mark.slow
def test_nested_folds_have_classes_in_their_order(tmp_path: Path) -> None:
    grade = np.array(["low", "medium", "top", "upmost"])[np.digitize(3 * X[:, 0], [-2.0, 0.0, 2.0])]
    rename = {"low": "z", "medium": "a", "top": "x", "upmost": "b"}  # no sorted order
    options: dict[str, Any] = {"target": "grade", "task": "ordinal", "k": 1, "alpha": 0.01, "nested": True}
    options |= {"resamples": 0, "drop": ["years,weight,count"]}
    path = write(tmp_path, grade=grade)
    known = fit(data=str(path), categories=list(rename), **options).scores.find_nested("Mean error in classes")
    path = write(tmp_path, grade=[rename[label] for label in grade])
    fitted = fit(data=str(path), categories=list(rename.values()), **options)
    assert known is not None
    assert known[0] < 0.2
    assert fitted.scores.find_nested("Mean error in classes") == pytest.approx(known, abs=0.1)
    # What scorers of scikit-learn ask of a classifier.
    model = ModelOfRows(fitted.training, fitted.data, fitted.y, fitted.task)
    assert model.fit(np.arange(N)[:, None]).classes_.tolist() == list(rename.values())


def test_the_report_says_what_was_used(tmp_path: Path) -> None:
    options: dict[str, Any] = {"target": "count", "task": "poisson", "alpha": 0.01, "ks": (0, 1, 2), "resamples": 0}
    fitted = fit(data=str(write(tmp_path)), exposure="years", weights="weight", **options)
    data = read_data(render_report(fitted))
    details = {detail["name"]: detail["text"] for detail in data["details"]}
    assert details["Weights"].startswith("'weight', 1 to 3")
    assert details["Exposure"].startswith("'years', ")
    assert "The exposure years alone, without features, would be off by" in data["summary"]["more"][0]
    # Models of other k have weights and exposures too.
    other = SparsePoissonRegression(k=1, alpha=0.01, standardize=True).fit(X, COUNT, WEIGHT, offset=np.log(YEARS))
    np.testing.assert_allclose(fitted.find_models(1)[1].estimator.coef_, other.coef_, rtol=1e-6)
    card = data["states"][2]["cards"][3]
    assert card["label"] == "typical error of the exposure years alone"
    # The model without features is the exposure alone.
    rows, train = fitted.test, fitted.train
    rate = WEIGHT[train] @ COUNT[train] / (WEIGHT[train] @ YEARS[train])
    error = np.sqrt(np.average(np.square(COUNT[rows] - rate * YEARS[rows]), weights=WEIGHT[rows]))
    np.testing.assert_allclose(float(card["value"]), error, rtol=1e-2)
    np.testing.assert_allclose(data["states"][0]["scores"]["RMSE"], error, rtol=1e-6)


def test_rows_without_a_weight_or_an_exposure_are_left_out(tmp_path: Path) -> None:
    weight, years = WEIGHT.copy(), YEARS.copy()
    weight[[3, 5]], weight[8], years[11] = 0.0, np.nan, np.nan
    path = write(tmp_path, weight=weight, years=years)
    fitted = fit(
        data=str(path), target="count", task="poisson", exposure="years", weights="weight", k=1, alpha=0.1, resamples=0
    )
    assert fitted.row_count == N - 4
    assert "2 of 160 rows have the weight 0 in 'weight' and are left out" in fitted.notes
    assert "1 of 160 rows has no weight in 'weight' and is left out" in fitted.notes
    assert "1 of 160 rows has no value in 'years' and is left out" in fitted.notes


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"weight": -WEIGHT}, ["--weights", "weight"], "'weight' is -"),
        ({"weight": -WEIGHT}, ["--weights", "weight"], "more of 160 rows are negative or infinite; weights must be at"),
        ({"weight": 0 * WEIGHT}, ["--weights", "weight"], "no row has a target and what is needed in 'weight'"),
        ({"weight": "x"}, ["--weights", "weight"], "--weights names 'weight', which has no numbers"),
        ({}, ["--weights", "wight"], "no column 'wight', which --weights names; did you mean 'weight'?"),
        ({}, ["--weights", "weight", "--drop", "weight"], "'weight' is both --weights and --drop"),
        ({}, ["--weights", "count"], "--target and --weights must name different columns"),
        ({"years": YEARS - 1}, ["--exposure", "years", "--task", "poisson"], "exposures must be positive"),
        ({}, ["--exposure", "years", "--task", "huber"], "the task is huber; choose one of these, or give --offset"),
        (
            {"years": 150 + YEARS * 100},
            ["--offset", "years", "--task", "poisson"],
            "is multiplied by its exponential, which is too large or varies too much; did you mean --exposure years?",
        ),
        (
            {"years": 705},
            ["--offset", "years", "--task", "tweedie"],
            "'years', which is 705 to 705, but an offset is a",
        ),
        ({"years": 30 * X[:, 0]}, ["--offset", "years", "--task", "poisson"], "give the column of the logarithms"),
        ({}, ["--exposure", "years", "--task", "svm"], "but the task is svm; choose one of these\n"),
        ({}, ["--offset", "years", "--task", "svm"], "but the task is svm; leave it out"),
        (
            {"count": np.arange(N) % 3},
            ["--offset", "years"],
            "--offset is for two classes, or classes in an order, but there are 3 classes",
        ),
    ],
)
def test_messages(
    columns: Any, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, **columns)
    assert message in refused(capsys, "fit", path, "--target", "count", "--k", "1", "--alpha", "0.1", *options)


def test_weights_that_leave_nothing_to_learn_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    died = np.arange(N) % 3 == 0
    path = write(tmp_path, died=died.astype(int), weight=(~died).astype(int))
    advice = "rows without a weight above 0 in 'weight' are left out: correct the file, or choose another column"
    said = refused(capsys, "fit", path, "--time", "years", "--event", "died", "--weights", "weight")
    assert f"none of the {died.sum()} rows with an event is left; {advice}" in said
    said = refused(capsys, "fit", path, "--target", "died", "--weights", "weight")
    assert f"'died' is 0 in all {(~died).sum()} rows that are left; {advice}" in said


def test_they_need_a_table_in_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.svm").write_text("1 1:2\n0 1:3\n")
    said = refused(capsys, "fit", tmp_path / "a.svm", "--weights", "w")
    assert "--weights names a column, and svmlight files have no names of columns" in said
    path = write(tmp_path)
    for option in ("weights", "exposure", "offset"):
        said = refused(capsys, "fit", path, "--target", "count", "--out-of-core", f"--{option}", "years")
        assert f"--{option} is for data in memory" in said
    with pytest.raises(SystemExit):
        main(["fit", str(path), "--target", "count", "--exposure", "years", "--offset", "b"])
    assert "not allowed with argument --exposure" in capsys.readouterr().err


def test_new_rows_in_blocks_have_no_exposures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    plain = ["--drop", "weight", "--k", "1", "--alpha", "0.1", "--resamples", "0", "--out", str(out)]
    accepted(capsys, "fit", path, "--target", "count", "--task", "poisson", "--exposure", "years", *plain)
    (tmp_path / "more.csv").write_text(path.read_text())
    said = refused(capsys, "predict", out, str(tmp_path / "*.csv"))
    assert "depend on the exposure 'years', which is for data in memory only" in said


def test_damaged_notes_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    plain = ["--drop", "weight", "--k", "1", "--alpha", "0.1", "--resamples", "0", "--out", str(out)]
    accepted(capsys, "fit", path, "--target", "count", "--task", "poisson", "--exposure", "years", *plain)
    content = json.loads((out / "model.json").read_text())
    content["about"]["exposure"] = 3
    (out / "model.json").write_text(json.dumps(content))
    assert "has the exposure '3', expected the name of a column" in refused(capsys, "predict", out, path)


def test_a_reference_takes_the_place_of_a_constant() -> None:
    y, predicted, reference = COUNT, np.exp(0.5 * X[:, 0]), YEARS
    found = compare_with_baseline("d2_poisson", y, predicted, y_train=y, reference=reference)
    assert found.baseline == score_interval("d2_poisson", y, reference).value
    assert found.answer is None
    assert str(found).startswith("no better than the reference: d2_poisson")
    # A constant reference is the constant.
    constant = compare_with_baseline("rmse", y, predicted, y_train=y)
    same = compare_with_baseline("rmse", y, predicted, y_train=y, reference=np.full(N, y.mean()))
    np.testing.assert_allclose([same.baseline, same.low, same.high], [constant.baseline, constant.low, constant.high])
    labels, answers = np.where(y > 2, "b", "a"), np.where(YEARS > 4, "b", "a")
    hits = compare_with_baseline("accuracy", labels, labels, y_train=labels, reference=answers)
    assert hits.baseline == np.mean(labels == answers)
    with pytest.raises(ValueError, match="reference is for other scores than balanced_accuracy"):
        compare_with_baseline("balanced_accuracy", labels, labels, y_train=labels, reference=answers)
