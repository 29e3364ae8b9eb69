"""The method `summary`: what it refers to, what it shows, and what it says where something is missing."""

from __future__ import annotations

import copy
import io
import pickle
import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse import (
    SparseLinearRegression,
    SparseLinearRegressionIC,
    SparseLogisticRegression,
    SparsePoissonRegression,
    summarize,
)
from ksparse.estimators import SparseLinearModel
from ksparse.inference import Summary
from tests.estimators.models import FOUR, MODELS, NAMES, N, P, X, fitted, response
from tests.objectives.joint import JointLeastSquares

pd: Any = import_module("pandas")

FRAME = pd.DataFrame(X, columns=NAMES)
#: What exp(coefficient) is called, where that is a ratio.
RATIOS = {
    "logistic": "odds_ratio",
    "cox": "hazard_ratio",
    "ordinal": "odds_ratio",
    "poisson": "rate_ratio",
    "negative binomial": "rate_ratio",
    "gamma": "mean_ratio",
    "tweedie": "mean_ratio",
}
#: Names that a terminal would obey, that break lines or tables, or that are markup.
HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "two\nlines\r",
    "[bold]markup[/bold] [/]",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202eright to left",
    "long " * 100,
    "{{ 7 * 7 }} $x$ %s &amp; \x9b0m",
]


def find_held(model: Any) -> Any:
    return getattr(model, "_samples", None)


def test_a_fitted_model_refers_to_its_samples_without_a_copy() -> None:
    data, y = np.asfortranarray(X), response("linear")
    model = SparseLinearRegression(k=2).fit(data, y)
    assert np.shares_memory(find_held(model).X, data)
    assert np.shares_memory(find_held(model).y, y)


@pytest.mark.parametrize("name", FOUR)
def test_samples_are_not_a_part_of_the_model(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    others = [clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    ksparse.save(model, tmp_path / "model.json")
    others.append(ksparse.load(tmp_path / "model.json"))
    assert find_held(model) is not None
    assert all(find_held(other) is None for other in others)
    assert "_samples" not in repr(model) + (tmp_path / "model.json").read_text()
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    assert len(buffer.getvalue()) < 30_000
    assert find_held(model) is not None


def test_without_samples_it_shows_what_is_known_and_says_what_is_missing() -> None:
    model = pickle.loads(pickle.dumps(fitted("logistic", standardize=True)))
    summary = model.summary()
    assert summary.features.columns.tolist() == [
        "unit",
        "deviation",
        "coefficient",
        "standardized",
        "odds_ratio",
        "odds_ratio_standardized",
    ]
    assert summary.units.columns.tolist() == ["n_features"]
    assert "pass them as summary(X, y)" in str(summary)
    again = model.summary(X, response("logistic"), resamples=5)
    there = fitted("logistic", standardize=True).summary(resamples=5)
    pd.testing.assert_frame_equal(again.frame, there.frame)


def test_weights_belong_to_the_samples() -> None:
    weights = np.linspace(0.5, 2.0, N)
    model = fitted("poisson", sample_weight=weights)
    here = model.summary(resamples=4)
    there = pickle.loads(pickle.dumps(model)).summary(X, response("poisson"), sample_weight=weights, resamples=4)
    pd.testing.assert_frame_equal(here.frame, there.frame)
    assert not any("other samples" in note for note in there.notes)
    assert any("other samples" in note for note in model.summary(X, response("poisson"), resamples=4).notes)


def test_a_model_of_a_path_has_a_summary() -> None:
    model = ksparse.SparseLinearRegressionCV(ks=[1, 3], cv=3).fit(X, response("linear"))
    assert len(model.at(1).summary(intervals=None).units) == 1
    for chosen in (model, SparseLinearRegressionIC(ks=[2, 3]).fit(X, response("linear"))):
        summary = chosen.summary(intervals=None)
        assert len(summary.units) == chosen.k_
        assert summary.value == pytest.approx(chosen.result_.value)


@pytest.mark.parametrize("name", MODELS)
def test_coefficients_are_those_of_the_model(name: str) -> None:
    model = fitted(name, FRAME)
    summary = model.summary(intervals=None)
    chosen = [NAMES.tolist().index(feature) for feature in summary.features.index]
    coefficients = np.atleast_2d(model.coef_)[:, chosen]
    np.testing.assert_array_equal(np.atleast_2d(summary.features["coefficient"].T), coefficients)
    np.testing.assert_allclose(
        np.atleast_2d(summary.features["standardized"].T), coefficients * X[:, chosen].std(axis=0)
    )
    ratio = RATIOS.get(name)
    assert [head for head in summary.features.columns if str(head).endswith("_ratio")] == ([ratio] if ratio else [])
    if ratio:
        np.testing.assert_allclose(summary.features[ratio], np.exp(coefficients[0]))
    fractions = summary.units["fraction"].to_numpy()
    assert (np.diff(fractions) <= 0).all()
    assert summary.frame.shape[0] == 3


def test_outputs_have_columns_of_their_own() -> None:
    summary = fitted("multinomial", FRAME).summary(resamples=2)
    classes = np.unique(response("multinomial")).tolist()
    assert summary.outputs == tuple(classes)
    frame = summary.frame
    assert frame["coefficient"].columns.tolist() == classes
    assert frame["fraction"].shape == (3,)
    assert frame["low"].shape == (3, 3)
    text = str(summary)
    assert all(f"coefficient {label}" in text for label in classes)
    assert "per standard deviation, too" in text


def test_groups_have_a_row_and_their_features() -> None:
    labels = ["colour"] * 3 + ["size"] + ["weight", "weight", "other", "other"]
    model = fitted("linear", FRAME, feature_groups=labels, always_select=["size"])
    summary = model.summary(resamples=4)
    frame = summary.frame
    assert frame.index.names == ["unit", "feature"]
    groups = summary.units.index.tolist()
    assert sorted(set(frame.index.get_level_values("unit"))) == sorted(groups)
    assert frame.loc[("size", "f3"), ["coefficient", "fraction"]].notna().all()
    for group in set(groups) - {"size"}:
        assert np.isnan(frame.loc[(group, ""), "coefficient"])
        assert frame.loc[(group, ""), "fraction"] == summary.units.loc[group, "fraction"]
        features = [name for name, label in zip(NAMES, labels, strict=True) if label == group]
        assert frame.loc[group].index.tolist() == ["", *features]
    assert f"{len(groups)} of 4 groups" in summary.title
    assert "\nf3 " in str(summary)


def test_models_without_features_and_with_all() -> None:
    none = SparseLinearRegression(k=0).fit(X, response("linear")).summary()
    assert none.frame.empty
    assert "(intercept)" in str(none)
    every = SparseLinearRegression(k=P).fit(X, response("linear")).summary(resamples=4)
    assert len(every.frame) == P
    assert "replacement" not in every.units
    grouped = SparseLinearRegression(k=0, feature_groups=[1] * P).fit(X, response("linear")).summary()
    assert grouped.frame.empty


@pytest.mark.slow
def test_the_same_call_gives_the_same_numbers() -> None:
    model = fitted("linear", k=2)
    first, second, parallel = (model.summary(resamples=6, n_jobs=jobs).frame for jobs in (None, 1, 2))
    pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(first, parallel)
    assert not first["low"].equals(model.summary(resamples=6, random_state=1).frame["low"])


def test_pipelines() -> None:
    y = response("linear")
    pipeline = make_pipeline(StandardScaler(), SparseLinearRegression(k=2)).fit(FRAME, y)
    summary = summarize(pipeline, intervals=None)
    assert set(summary.units.index) < set(NAMES)
    again = summarize(pickle.loads(pickle.dumps(pipeline)), FRAME, y, intervals=None)
    pd.testing.assert_frame_equal(summary.frame, again.frame)
    plain = make_pipeline(StandardScaler(), SparseLinearRegression(k=2)).fit(X, y)
    assert set(summarize(plain, intervals=None).units.index) < {f"x{j}" for j in range(P)}
    assert isinstance(summarize(pipeline[-1], intervals=None), Summary)
    with pytest.raises(TypeError, match="last step of the pipeline"):
        summarize(make_pipeline(SparseLinearRegression(k=2), StandardScaler()).fit(X, y))
    with pytest.raises(TypeError, match="linear model of ksparse"):
        summarize(StandardScaler().fit(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"intervals": "jackknife"}, "intervals must be one of"),
        ({"level": 95}, "between 0 and 1"),
        ({"level": 0}, "greater than 0"),
        ({"resamples": 0}, "resamples must be a positive integer"),
        ({"replacements": -1}, "replacements must be at least 0"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"X": X}, "pass both X and y"),
        ({"sample_weight": np.ones(N)}, "sample_weight and offset come with X and y"),
        ({"X": X[:, 1:], "y": response("linear")}, "8 features"),
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        fitted("linear").summary(**options)


def test_other_samples_are_said_to_be_others() -> None:
    model = fitted("linear")
    notes = model.summary(X[:50], response("linear")[:50], intervals=None).notes
    assert any("these are other samples" in note for note in notes)
    assert not any("other samples" in note for note in model.summary(intervals=None).notes)


def test_names_are_harmless() -> None:
    names = np.array(HOSTILE, dtype=object)
    labels = np.array(["<script>a", "\x1b[31mb"])[np.unique(response("logistic"), return_inverse=True)[1]]
    summaries = [
        SparseLinearRegression(k=P).fit(pd.DataFrame(X, columns=names), response("linear")).summary(intervals=None),
        SparseLogisticRegression(k=P).fit(X, labels).summary(intervals=None, feature_names=names),
        SparseLinearRegression(k=4, feature_groups=names[[0, 0, 1, 1, 3, 3, 4, 7]])
        .fit(X, response("linear"))
        .summary(intervals=None, feature_names=names),
    ]
    for summary in summaries:
        text, page = str(summary), summary._repr_html_()
        assert all(line.isprintable() for line in text.split("\n"))
        assert all(line.isprintable() for line in page.split("\n"))
        tags = set(re.findall(r"<\s*/?([a-z!]+)", page.lower()))
        assert tags <= {"p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
        assert "markup[/bold]" in text or summary.grouped


@dataclass(eq=False, repr=False)
class SparseJointRegression(SparseLinearModel):
    """A model of somebody else: a loss of all samples together, and a ratio with a name of its own."""

    ratio_name: ClassVar[str] = "price_ratio"

    fit_intercept: bool = False

    def build_objective(self, X: Any, target: Any, **options: Any) -> JointLeastSquares:
        return JointLeastSquares(X, target, **options)


def test_other_models_have_a_summary_too() -> None:
    model = SparseJointRegression(k=2).fit(X, response("linear"))
    summary = model.summary(resamples=4)
    np.testing.assert_allclose(summary.features["price_ratio"], np.exp(summary.features["coefficient"]))
    assert "price ratio" in str(summary)
    with pytest.raises(ValueError, match='use intervals="bootstrap"'):
        model.summary(intervals="naive")


def test_long_tables_keep_their_columns_in_line() -> None:
    text = str(fitted("linear", FRAME).summary(intervals=None))
    lines = text.split("\n\n")[1].splitlines()
    assert len({len(line) for line in lines[:2]}) == 1
    assert lines[-1].startswith("(intercept)")


def test_ratios_are_of_one_against_zero_or_of_a_standard_deviation() -> None:
    flags = FRAME.assign(f0=(X[:, 0] > 0).astype(float))
    model = SparsePoissonRegression(k=2, always_select=["f0", "f1"]).fit(flags, response("poisson"))
    summary = model.summary(intervals=None)
    assert dict(zip(summary.features.index, summary.binary, strict=True)) == {"f0": True, "f1": False}
    shown = summary.tabulate()["rate ratio (SD or 0/1)"]
    assert float(shown["f0"]) == pytest.approx(np.exp(model.coef_[0]), rel=1e-3)
    assert float(shown["f1"]) == pytest.approx(np.exp(model.coef_[1] * X[:, 1].std()), rel=1e-3)
    assert any(note.startswith("rate ratio (SD or 0/1): ") for note in summary.notes)
    without = pickle.loads(pickle.dumps(model)).summary().tabulate()  # it is not known what f0 is
    assert float(without.loc["f1", "rate ratio"]) == pytest.approx(np.exp(model.coef_[1]), rel=1e-3)


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_ratios_follow_the_ratios(grouped: bool) -> None:
    flags = FRAME.assign(f0=(X[:, 0] > 0).astype(float))
    groups = [0, 0, *range(1, flags.shape[1] - 1)] if grouped else None
    model = SparsePoissonRegression(k=1 if grouped else 2, feature_groups=groups)
    model.set_params(always_select=[0] if grouped else ["f0", "f1"]).fit(flags, response("poisson"))
    summary = model.summary(resamples=20)
    shown = summary.tabulate()
    assert shown.columns[:5].tolist() == [
        *("coefficient", "95 % interval", "per std. dev."),
        *("rate ratio (SD or 0/1)", "95 % interval of the ratio"),
    ]
    for name, unit in {"f0": 1.0, "f1": X[:, 1].std()}.items():
        row = shown.loc[f"  {name}" if grouped else name]
        ends = summary.features.loc[name, ["low", "high"]].to_numpy(dtype=float)
        for heading, expected in (("95 % interval", ends), ("95 % interval of the ratio", np.exp(unit * ends))):
            np.testing.assert_allclose([float(end) for end in row[heading].split(" to ")], expected, rtol=1e-3)
    assert shown.loc["(intercept)"].tolist()[1:5] == [""] * 4
    assert any(
        note.endswith("its interval is that of the coefficient, transformed in the same way") for note in summary.notes
    )


def test_a_replacement_that_lowers_the_loss_is_no_worse() -> None:
    summary = SparseLinearRegression(k=2).fit(X, response("linear")).summary(intervals=None)
    units = summary.units.assign(replacement_fraction=[-0.05, 1e-9], replacement=[7, 8], fraction=[0.5, 0.5])
    shown = replace(summary, units=units).tabulate()["closest replacement"].tolist()
    assert shown[:2] == ["7 (no worse)", "8 (+1e-07 %)"]


def test_replacements_are_named_only_where_they_come_near() -> None:
    A = np.random.default_rng(0).standard_normal((200, 4))
    frame = pd.DataFrame({"signal": A[:, 0], "other": A[:, 1], "near": A[:, 0] + 0.1 * A[:, 2], "noise": A[:, 3]})
    summary = SparseLinearRegression(k=2).fit(frame, A[:, 0] + A[:, 1]).summary(intervals=None)
    shown = summary.tabulate()["closest replacement"]
    assert shown["signal"].startswith("near (+")
    assert shown["other"] == "none"
    assert dict(zip(summary.units.index, summary.find_close(), strict=True)) == {"signal": True, "other": False}
    assert not any(" f " in note or "units" in note for note in summary.notes[1:])


def test_names_are_cut_to_a_length() -> None:
    names = [f"{'a' * 30}{number}{'b' * 30}" for number in range(P)]
    model = SparseLinearRegression(k=2).fit(pd.DataFrame(X, columns=names), response("linear"))
    summary = model.summary(intervals=None)
    assert not set(summary.tabulate().index) & set(names)
    assert set(summary.tabulate(100).index[:2]) < set(names)


def test_each_class_has_standardized_coefficients_with_intervals_in_a_second_table() -> None:
    X = np.random.default_rng(0).standard_normal((150, 4)) * np.array([1.0, 10.0, 0.1, 3.0])
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 1] / 10 + X[:, 2] * 5, [-0.5, 0.5])]
    model = ksparse.SparseLogisticRegression(k=2, alpha=0.01).fit(X, y)
    summary = model.summary(resamples=8)
    shown = summary.tabulate_outputs()
    for place, name in enumerate(model.classes_):
        order = [int(feature[1:]) for feature in shown.index]
        expected = [model.coef_[place, j] * X[:, j].std() for j in order]
        np.testing.assert_allclose(shown[f"per std. dev. {name}"].astype(float), expected, rtol=1e-3)
        for cell, j in zip(shown[f"95 % interval {name}"], order, strict=True):
            low, high = map(float, cell.split(" to "))
            row = summary.features.loc[f"x{j}"]
            np.testing.assert_allclose(
                [low, high], [row["low", name] * X[:, j].std(), row["high", name] * X[:, j].std()], rtol=1e-3
            )
    assert len(shown) == 2
    assert "per std. dev. middle" in str(summary)
    assert (
        len(ksparse.SparseLogisticRegression(k=2).fit(X, y == "low").summary(resamples=2).tabulate_outputs().columns)
        == 0
    )
