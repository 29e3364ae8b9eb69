"""What a report says, compared with scikit-learn and with arithmetic."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from ksparse._types import Array
from ksparse.cli.reporting import distributions, feature_table, gather_report, source, states
from ksparse.cli.reporting.curves import calibrate, trace_curves
from ksparse.cli.summary import tabulate_scores
from ksparse.inference import score_interval
from ksparse.inference.score_intervals import find_wilson_interval

from .pages import find_state, fit, fit_cancer, fit_diabetes, fit_iris

TRUTH = np.random.default_rng(3).random(500) < 0.4
PROBABILITY: Array = np.round(0.3 * TRUTH + 0.7 * np.random.default_rng(4).random(500), 2).astype(np.float64)


def test_curves_are_those_of_scikit_learn() -> None:
    curves = trace_curves(TRUTH, PROBABILITY)
    assert curves.auc == pytest.approx(metrics.roc_auc_score(TRUTH, PROBABILITY), rel=1e-3)
    rates = np.array([curves.false_positive_rate, curves.true_positive_rate], dtype=float)
    assert metrics.auc(*rates) == pytest.approx(curves.auc, abs=2e-3)
    for threshold in (1, 37, 50, 99):
        matrix = metrics.confusion_matrix(TRUTH, threshold / 100 <= PROBABILITY)
        assert curves.hits[threshold - 1] == matrix[1, 1]
        assert curves.alarms[threshold - 1] == matrix[0, 1]


def test_calibration_is_that_of_scikit_learn() -> None:
    probability = np.random.default_rng(5).permutation(500) / 500
    observed, predicted = calibration_curve(TRUTH, probability, n_bins=10, strategy="quantile")
    found, fraction, counts = calibrate(TRUTH, probability)
    np.testing.assert_allclose(found, predicted)
    np.testing.assert_allclose(fraction, observed)
    assert counts.tolist() == [50] * 10
    same = calibrate(TRUTH, np.full(500, 0.3))  # a model without features
    assert [part.tolist() for part in same] == [[pytest.approx(0.3)], [TRUTH.mean()], [500]]


@pytest.fixture(scope="module")
def cancer() -> dict[str, Any]:
    return gather_report(fit_cancer(), date(2026, 3, 9), resamples=0)


def test_each_model_is_scored_on_the_held_out_rows(cancer: dict[str, Any]) -> None:
    fitted = fit_cancer()
    X, y = fitted.training.encode(fitted.data.X, fitted.test), fitted.y[fitted.test]
    assert [state["k"] for state in cancer["states"]] == [0, 2, 4]
    for state in cancer["states"]:
        other = fitted.chosen.at(state["k"])  # fitted to the training rows
        prediction = other.predict(X)
        probability = other.predict_proba(X)[:, 1]
        assert state["scores"]["Accuracy"] == metrics.accuracy_score(y, prediction)
        area = metrics.roc_auc_score(y == "malignant", probability)
        assert state["scores"]["ROC AUC"] == pytest.approx(area, rel=1e-14)
        assert state["confusion"] == metrics.confusion_matrix(y, prediction).tolist()
        np.testing.assert_allclose(state["predictions"][0], probability, rtol=1e-3)
        assert [cancer["classes"][place]["text"] for place in state["predicted"]] == prediction.tolist()
    assert [cancer["classes"][place]["text"] for place in cancer["predictions"]["truth"]] == y.tolist()
    assert cancer["predictions"]["rows"] == (fitted.test + 1).tolist()


def test_the_table_has_the_coefficients(cancer: dict[str, Any]) -> None:
    fitted = fit_cancer()
    table, other = find_state(cancer, 2)["table"], fitted.find_models(2)[1].estimator  # fitted to all rows
    used = np.flatnonzero(other.coef_[0])
    scales = fitted.data.X.to_numpy(dtype=float).std(axis=0)
    order = used[np.argsort(-np.abs(other.coef_[0] * scales)[used])]
    assert [row["name"]["text"] for row in table["rows"]] == [fitted.data.names[feature] for feature in order]
    for row, feature in zip(table["rows"], order, strict=True):
        raw = other.coef_[0, feature]
        np.testing.assert_allclose(
            row["values"], [raw * scales[feature], np.exp(raw * scales[feature]), raw], rtol=1e-3
        )
    assert table["rows"][0]["bars"] == [1.0]
    assert find_state(cancer, 0)["table"]["rows"] == []
    assert table["legend"] == ["more likely “benign” as it grows", "more likely “malignant” as it grows"]
    line = next(line for line in cancer["paths"][0]["lines"] if line["name"]["text"] == fitted.data.names[order[0]])
    assert line["values"][:2] == [None, pytest.approx(table["rows"][0]["values"][0], rel=1e-3)]


def test_the_choice_shows_losses_with_honest_digits(cancer: dict[str, Any]) -> None:
    model: Any = fit_cancer().chosen
    np.testing.assert_allclose(cancer["choice"]["values"], -model.scores_.mean(axis=1), rtol=1e-4)
    assert cancer["heads"][:2] == ["Average loss", "± std. error"]
    for state in cancer["states"]:
        value, error = state["score_texts"][:2]
        assert len(error.lstrip("0.")) == 2  # two digits, and the value ends where they end
        assert len(value.partition(".")[2]) == len(error.partition(".")[2])


def test_the_summary_says_what_is_true(cancer: dict[str, Any]) -> None:
    fitted = fit_cancer()
    summary = cancer["summary"]
    accuracy = find_state(cancer, 4)["scores"]["Accuracy"]
    low, high = find_wilson_interval(accuracy, len(fitted.test), 0.95)
    assert summary["title"] == "Predicting diagnosis with 4 of 30 features"
    assert f"is predicted right in {100 * accuracy:.1f}% of 143 rows that the model has not seen" in summary["result"]
    assert f"(95% interval: {100 * low:.1f}% to {100 * high:.1f}%)" in summary["result"]
    assert "Always answering “benign” would be right in 62.9%." in summary["more"]
    assert f"With 2 features it would be {100 * find_state(cancer, 2)['scores']['Accuracy']:.1f}%." in summary["more"]
    assert (summary["verdict"], cancer["date"], cancer["heldOut"]) == ("", "9 March 2026", True)


def test_a_number(tmp_path: Path) -> None:
    fitted, data = fit_diabetes(), gather_report(fit_diabetes(), resamples=0)
    y, train = fitted.y[fitted.test], fitted.y[fitted.train]
    state = data["states"][data["chosen"]]
    prediction = fitted.chosen.predict(fitted.training.encode(fitted.data.X, fitted.test))
    assert state["scores"]["R²"] == pytest.approx(metrics.r2_score(y, prediction))
    np.testing.assert_allclose(state["predictions"][0], prediction, rtol=1e-4)
    np.testing.assert_allclose(data["predictions"]["truth"], y)
    assert state["cards"][3]["value"] == f"{np.sqrt(np.mean((y - train.mean()) ** 2)):.1f}"
    assert f"typically off by {np.sqrt(np.mean((y - prediction) ** 2)):.1f} in 111 rows" in data["summary"]["result"]
    drawn = data["distributions"][str(state["drawn"][0])]
    assert len(drawn["x"]) == len(drawn["y"]) == distributions.MOST_DOTS
    assert data["date"] == ""


def test_histograms_count_the_rows_of_each_class(cancer: dict[str, Any]) -> None:
    fitted = fit_cancer()
    feature = cancer["states"][cancer["chosen"]]["drawn"][0]
    drawn = cancer["distributions"][str(feature)]
    for name, fractions in zip(("benign", "malignant"), drawn["densities"], strict=True):
        values = fitted.data.X.to_numpy(dtype=float)[fitted.y == name, feature]
        counts, _ = np.histogram(values, bins=len(fractions), range=(drawn["edges"][0], drawn["edges"][-1]))
        np.testing.assert_allclose(fractions, counts / len(values), atol=2e-3)


def write_table(path: Path, y: list[Any], X: Any) -> Path:
    lines = [",".join([str(label), *(f"{value:.4f}" for value in row)]) for label, row in zip(y, X, strict=True)]
    path.write_text("y,a,b,c\n" + "\n".join(lines))
    return path


def test_no_skill_is_said_loudly(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(150) < 0.12, "yes", "no").tolist()
    path = write_table(tmp_path / "a.csv", labels, rng.standard_normal((150, 3)))
    summary = gather_report(fit(data=str(path), target="y", k=2, alpha=1.0), resamples=0)["summary"]
    assert summary["verdict"] == "No better than always answering “no”."
    assert any("It never answers “yes”" in line for line in summary["more"])
    path = write_table(tmp_path / "b.csv", rng.standard_normal(150).tolist(), rng.standard_normal((150, 3)))
    summary = gather_report(fit(data=str(path), target="y", k=2, alpha=1.0), resamples=0)["summary"]
    assert summary["verdict"] == "No better than always answering the mean."


def test_without_held_out_rows_and_without_features() -> None:
    data = gather_report(fit(data="diabetes", k=0, alpha=0.0, test=0.0), resamples=0)
    assert (data["heldOut"], data["rowCount"], len(data["states"]), data["choice"], data["paths"]) == (
        False, 442, 1, None, [],
    )  # fmt: skip
    assert "better on the rows it was fitted to" in data["summary"]["hint"]
    assert "Without any feature" in data["summary"]["result"]
    assert data["scores"]["heads"] == ["Score", "Training"]


@pytest.mark.parametrize("options", [{"task": "poisson"}, {"task": "huber"}, {"criterion": "bic"}])
def test_other_models_and_criteria(options: dict[str, str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    path = write_table(tmp_path / "a.csv", rng.poisson(np.exp(X[:, 0])).tolist(), X)
    ks = {} if "criterion" in options else {"ks": (0, 1)}
    data = gather_report(fit(data=str(path), target="y", **({"task": "regression"} | options), **ks), resamples=0)
    heads = [column["head"]["text"] for column in find_state(data, 1)["table"]["columns"]]
    assert ("Rate ratio (SD or 0/1)" in heads) == (options.get("task") == "poisson")
    assert data["heads"][0] == ("BIC" if "criterion" in options else "Average loss")


def test_large_fits_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_table, "MOST_LISTED", 10)
    monkeypatch.setattr(feature_table, "MOST_COEFFICIENTS", 10)
    monkeypatch.setattr(states, "MOST_CURVES", 1)
    monkeypatch.setattr(states, "MOST_PREDICTED_ROWS", 50)
    monkeypatch.setattr(source, "MOST_MODELS", 3)
    data = gather_report(fit(data="breast-cancer", ks=(1, 2, 3, 4, 5, 12), alpha=0.01), resamples=0)
    assert len(data["states"]) <= 3 + 1
    assert data["states"][data["chosen"]]["k"] == 12
    table = find_state(data, 12)["table"]
    assert (len(table["rows"]), table["hidden"]) == (10, 2)
    assert [state["curves"] is None for state in data["states"]] == [True] * (len(data["states"]) - 1) + [False]
    assert (len(data["predictions"]["rows"]), data["predictions"]["total"]) == (50, 143)


def test_units_of_several_features_are_counted_once() -> None:
    taken = source.take_source(fit_cancer())
    grouped = source.Source(**{**vars(taken), "units": ["shape" if "concave" in n else n for n in taken.names]})
    units = grouped.rank_units(4)
    selected = [taken.names[feature] for feature in grouped.rank_features(4)]
    assert len(units) == len(set(units)) < len(selected)
    places = [place for place, name in enumerate(selected) if "concave" in name]
    assert places == list(range(places[0], places[0] + len(places)))  # together in the table
    assert grouped.unit_count == len(set(grouped.units or []))
    assert feature_table.tabulate_features(grouped, 4).rows[places[0]].unit == "shape"


def test_worth_and_intervals_are_those_of_inference() -> None:
    fitted = fit(data="diabetes", k=3, alpha=0.0)
    data = gather_report(fitted, resamples=10)
    state = data["states"][0]
    X, y = fitted.data.X.to_numpy(dtype=float), fitted.y
    selected = np.flatnonzero(fitted.model.support_).tolist()

    def sum_squares(features: list[int]) -> float:
        A = np.column_stack([X[:, features], np.ones(len(y))])
        return float(np.square(y - A @ np.linalg.lstsq(A, y, rcond=None)[0]).sum())

    explained = sum_squares([]) - sum_squares(selected)
    names, far = fitted.data.names, []
    for each in state["worth"]:
        others = [feature for feature in selected if names[feature] != each["name"]["text"]]
        lost = (sum_squares(others) - sum_squares(selected)) / explained
        assert each["loss"] == pytest.approx(lost, rel=1e-3)
        if not each["substitutes"]:
            far.append(each["name"]["text"])
            continue
        best = each["substitutes"][0]
        assert best["cost"] < lost / 2
        cost = (sum_squares([*others, names.index(best["name"]["text"])]) - sum_squares(selected)) / explained
        assert best["cost"] == pytest.approx(cost, rel=1e-3)
    assert 0 < len(far) < len(state["worth"])  # some have a close replacement, others have none
    assert sorted(far) == sorted(fitted.summary.units.index[~fitted.summary.find_close()])
    summary = fitted.model.summary(resamples=10, feature_names=range(X.shape[1]))
    for row in state["table"]["rows"]:
        feature = names.index(row["name"]["text"])
        low, high = summary.features.loc[feature, ["low", "high"]] * fitted.scaler.scale_[feature]
        largest = max(abs(other["values"][0] / other["bars"][0]) for other in state["table"]["rows"])
        np.testing.assert_allclose(row["spread"], np.clip(np.array([low, high]) / largest, -1, 1), atol=2e-3)
        assert row["values"][1] == pytest.approx(high - low, rel=1e-3)
    prediction = fitted.chosen.predict(fitted.training.encode(fitted.data.X, fitted.test))
    interval = score_interval("r2", y[fitted.test], prediction)
    printed = tabulate_scores(fitted)["95 % interval"].tolist()
    assert printed[0] == f"{interval.low:.3f} to {interval.high:.3f}"
    assert state["cards"][1]["note"] == f"95% interval {interval.low:.3f} to {interval.high:.3f}"


def test_intervals_of_several_classes_are_below_their_effects(tmp_path: Path) -> None:
    fitted = fit_iris(tmp_path, resamples=12)
    table = gather_report(fitted, resamples=12)["states"][0]["table"]
    assert [column["group"] for column in table["columns"]] == ["standardized"] * 3 + ["raw"] * 3 + [""]
    found = fitted.model.summary(resamples=12, feature_names=fitted.names)
    assert len(table["rows"]) == 2
    for row in table["rows"]:
        name = row["name"]["text"]
        scale = fitted.scaler.scale_[fitted.names.index(name)]
        for place, output in enumerate(found.outputs):
            ends = found.features.loc[name, [("low", output), ("high", output)]].to_numpy(dtype=float)
            np.testing.assert_allclose(row["ends"][place], ends * scale, rtol=1e-3)
            np.testing.assert_allclose(row["ends"][3 + place], ends, rtol=1e-3)
            assert re.fullmatch(r"[+−]?[\d.]+ to [+−]?[\d.]+", row["below"][place])
        assert row["values"][6] == pytest.approx(found.units.loc[name, "frequency"])
        assert row["spread"] is None
    ((_, *texts),) = table["constants"]
    assert [text == "" for text in texts] == [False] * 6 + [True]
    without = gather_report(fitted, resamples=0)["states"][0]["table"]
    assert len(without["columns"]) == 6
    assert all(row["below"] == [] and row["ends"] == [None] * 6 for row in without["rows"])


def test_features_with_few_values_have_a_bar_for_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    flags = rng.integers(0, 2, 100)
    labels = np.where(flags + 0.3 * rng.standard_normal(100) > 0.5, "yes", "no")
    path = write_table(tmp_path / "a.csv", labels.tolist(), np.column_stack([flags, rng.standard_normal((100, 2))]))
    data = gather_report(fit(data=str(path), target="y", k=1, alpha=0.1), resamples=0)
    (drawn,) = data["distributions"].values()
    assert (drawn["name"]["text"], drawn["centers"]) == ("a", [0, 1])
    expected = [[np.mean(flags[labels == name] == value) for value in (0, 1)] for name in ("no", "yes")]
    np.testing.assert_allclose(drawn["densities"], expected, rtol=1e-2)


def test_ratios_have_intervals_and_are_of_one_against_zero_for_flags(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 120), rng.standard_normal((120, 2))])
    path = write_table(tmp_path / "a.csv", rng.poisson(np.exp(X[:, :2].sum(axis=1) / 2)).tolist(), X)
    fitted = fit(data=str(path), target="y", task="poisson", k=2, alpha=0.1)
    table = gather_report(fitted, resamples=5)["states"][0]["table"]
    heads = [column["head"]["text"] for column in table["columns"]]
    found = fitted.model.summary(resamples=5).features
    for row in table["rows"]:
        low, high, coefficient = found.loc[row["name"]["text"], ["low", "high", "coefficient"]]
        size = 1.0 if row["name"]["text"] == "a" else found.loc[row["name"]["text"], "deviation"]
        ratio, interval = (dict(zip(heads, row["texts"], strict=True))[name] for name in heads[2:4])
        assert float(ratio) == pytest.approx(np.exp(size * coefficient), rel=1e-2)
        ends = [float(end) for end in interval.split(" to ")]
        np.testing.assert_allclose(ends, np.exp(size * np.array([low, high])), rtol=1e-2)
    ((name, *texts),) = table["constants"]
    assert (name, len(texts)) == ("(intercept)", len(heads))
    assert [head for head, text in zip(heads, texts, strict=True) if text] == ["Effect per SD", "Effect per unit"]
