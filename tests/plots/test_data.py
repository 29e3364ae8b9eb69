"""The artists show the numbers of the estimator."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse
from ksparse.plots import CoefficientPathDisplay, ConvergenceDisplay, ScorePathDisplay, SelectionFrequencyDisplay
from ksparse.solvers import History
from tests.plots import fakes

# --- coefficients ---------------------------------------------------------------------------------------------------


def assert_lines_show(display: CoefficientPathDisplay, ks: Any, coef: Any) -> None:
    assert set(display.lines_) == set(np.flatnonzero((coef != 0).any(axis=0)))
    for feature, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), ks)
        shown = np.asarray(line.get_ydata())
        assert (coef[np.isnan(shown), feature] == 0).all()
        np.testing.assert_array_equal(shown[~np.isnan(shown)], coef[~np.isnan(shown), feature])
        assert not np.isnan(shown[coef[:, feature] != 0]).any()


def test_coefficients_of_a_path() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    path = ksparse.path(X, y, ks=range(1, 7))
    display = CoefficientPathDisplay.from_path(path)
    assert_lines_show(display, path.ks, path.coef)
    expected = np.argsort(-np.abs(path.coef[-1]))[:6]
    assert list(display.labels_) == expected.tolist()
    assert [label.get_text() for label in display.labels_.values()] == X.columns[expected].tolist()
    assert display.chosen_line_ is None
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("kind", [ksparse.SparseLinearRegressionCV, ksparse.SparseLinearRegressionIC])
def test_coefficients_and_choice_of_an_estimator(kind: Any) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = kind(ks=range(1, 8)).fit(X, y)
    display = CoefficientPathDisplay.from_estimator(model)
    assert_lines_show(display, model.ks_, model.coef_path_)
    assert display.chosen_line_ is not None
    assert np.asarray(display.chosen_line_.get_xdata()).tolist() == [model.k_, model.k_]
    assert {label.get_text() for label in display.labels_.values()} == set(model.get_feature_names_out())
    scores = ScorePathDisplay.from_estimator(model)
    assert scores.chosen_line_ is not None
    assert np.asarray(scores.chosen_line_.get_xdata()).tolist() == [model.k_, model.k_]


def test_each_class_has_its_coefficients() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = ksparse.SparseLogisticRegressionIC(ks=[1, 2, 3], alpha=0.01).fit(X, names[y])
    for output in range(3):
        display = CoefficientPathDisplay.from_estimator(model, output=output)
        assert_lines_show(display, model.ks_, model.coef_path_[:, output])
        assert display.ax_.get_ylabel() == f"coefficient, class {names[output]}"
    with pytest.raises(ValueError, match="output must be less than 3"):
        CoefficientPathDisplay.from_estimator(model, output=3)


def test_scales_make_coefficients_comparable() -> None:
    path = fakes.path(range(1, 6), 5)
    scales = np.array([1.0, 100.0, 1.0, 1.0, 0.01])
    display = CoefficientPathDisplay.from_path(path, standardize_by=scales)
    assert_lines_show(display, path.ks, path.coef * scales)
    assert next(iter(display.labels_)) == int(np.argmax(np.abs(path.coef[-1] * scales)))
    assert "scale" in display.ax_.get_ylabel()
    with pytest.raises(ValueError, match="standardize_by has shape"):
        CoefficientPathDisplay.from_path(path, standardize_by=scales[:3])


def test_names_of_features() -> None:
    path = fakes.path([1, 2], 2)
    labels = CoefficientPathDisplay.from_path(path).labels_
    assert {label.get_text() for label in labels.values()} == {"x0", "x1"}
    display = CoefficientPathDisplay.from_path(path, feature_names=["$a^{$", "$b$"])  # no formulas
    display.figure_.draw_without_rendering()
    assert {label.get_text() for label in display.labels_.values()} == {"$a^{$", "$b$"}
    with pytest.raises(ValueError, match=r"names must be a sequence, one for each of 2 features; got shape \(3,\)"):
        CoefficientPathDisplay.from_path(path, feature_names=["a", "b", "c"])


def test_long_names_are_shortened_and_still_differ() -> None:
    same_ends = np.array([f"the first part of it {index} and the last part of it" for index in range(8)], dtype=object)
    for names in (fakes.long_names(8), same_ends):
        labels = CoefficientPathDisplay.from_path(fakes.path(range(1, 9), 8, names=names)).labels_
        texts = [label.get_text() for label in labels.values()]
        assert len(set(texts)) == 8
        assert all(len(text) <= 24 and "…" in text for text in texts)


def test_the_last_step_of_a_pipeline_knows_the_names() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), ksparse.SparseLinearRegressionIC(ks=[1, 2])).fit(X, y)
    labels = CoefficientPathDisplay.from_estimator(pipeline).labels_
    assert {label.get_text() for label in labels.values()} <= set(X.columns)
    assert ScorePathDisplay.from_estimator(pipeline).ax_.get_ylabel() == "EBIC (smaller is better)"
    ConvergenceDisplay.from_estimator(pipeline)


# --- scores ---------------------------------------------------------------------------------------------------------


def test_scores_with_standard_errors() -> None:
    model = fakes.cross_validated(range(1, 21), k=7, rule="1se")
    display = ScorePathDisplay.from_estimator(model)
    means = model.scores_.mean(axis=1)
    errors = model.scores_.std(axis=1, ddof=1) / np.sqrt(5)
    np.testing.assert_array_equal(display.line_.get_xdata(), model.ks_)
    np.testing.assert_allclose(np.asarray(display.line_.get_ydata()), means)
    assert display.errorbar_ is not None
    bars = np.array(display.errorbar_.lines[2][0].get_segments())
    np.testing.assert_allclose(bars[:, :, 1], np.column_stack([means - errors, means + errors]))
    best = np.argmax(means)
    assert display.threshold_line_ is not None
    np.testing.assert_allclose(np.asarray(display.threshold_line_.get_ydata()), means[best] - errors[best])
    assert display.chosen_point_ is not None
    assert display.chosen_point_.get_ydata() == means[6]


def test_the_threshold_is_that_of_the_estimator() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ksparse.SparseLinearRegressionCV(ks=range(1, 9), rule="1se").fit(X, y)
    display = ScorePathDisplay.from_estimator(model)
    assert display.threshold_line_ is not None
    above = np.asarray(display.line_.get_ydata()) >= np.asarray(display.threshold_line_.get_ydata())[0]
    assert model.ks_[np.argmax(above)] == model.k_


def test_a_criterion_has_no_error_bars() -> None:
    model = fakes.by_criterion(range(1, 11), k=4)
    display = ScorePathDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.line_.get_ydata(), model.criterion_)
    assert display.errorbar_ is None
    assert display.threshold_line_ is None
    assert display.legend_ is None


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (None, "minus held-out loss"),
        ("neg_log_loss", "neg log loss"),
        (make_scorer(accuracy_score), "accuracy score"),
        (lambda *_: 0.0, "<lambda>"),
    ],
)
def test_names_of_scores(scoring: Any, name: str) -> None:
    model = fakes.cross_validated([1, 2], k=1, scoring=scoring)
    assert ScorePathDisplay.from_estimator(model).ax_.get_ylabel() == name


def test_groups_are_counted_as_groups() -> None:
    model = fakes.cross_validated([1, 2], k=1, feature_groups=[0, 0, 1])
    assert ScorePathDisplay.from_estimator(model).ax_.get_xlabel() == "number of groups k"


@pytest.mark.parametrize(("last", "scale"), [(30, "linear"), (31, "log"), (200, "log")])
def test_wide_ranges_of_k_are_logarithmic_with_plain_numbers(last: int, scale: str) -> None:
    display = ScorePathDisplay.from_estimator(fakes.cross_validated([1, 3, 10, last], k=3))
    display.figure_.draw_without_rendering()
    assert display.ax_.get_xscale() == scale
    ticks = display.ax_.get_xticks()
    assert len(ticks) >= 3
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == [f"{tick:.0f}" for tick in ticks]
    assert (ticks == np.round(ticks)).all()
    assert display.ax_.get_xticks(minor=True).size == 0


def test_k_of_zero_on_a_wide_range() -> None:
    display = ScorePathDisplay.from_estimator(fakes.cross_validated([0, 1, 10, 100], k=10))
    assert display.ax_.get_xscale() == "symlog"
    assert {0.0, 1.0, 10.0, 100.0} <= set(display.ax_.get_xticks())


# --- convergence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ["iteration", "seconds", "passes"])
def test_history_of_a_fit(x: str) -> None:
    X, y, _ = ksparse.datasets.make_logistic(200, 100, 10)
    model = ksparse.SparseLogisticRegression(k=10, alpha=1e-3).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model, x=x)
    rows = model.result_.history
    np.testing.assert_array_equal(display.line_.get_xdata(), rows[x])
    np.testing.assert_array_equal(display.line_.get_ydata(), rows["value"])
    bars = np.array(display.bars_.get_segments())
    np.testing.assert_array_equal(bars[:, 1, 0], rows[x])
    np.testing.assert_array_equal(bars[:, 1, 1], rows["support_change"])
    assert display.best_point_ is not None
    assert display.best_point_.get_ydata() == pytest.approx(model.result_.value)
    assert display.axes_[0].get_xlim() == display.axes_[1].get_xlim()
    assert display.ax_ is display.axes_[0]


def test_f_is_logarithmic_where_it_spans_a_wide_range() -> None:
    assert ConvergenceDisplay(fakes.history(30)).plot().ax_.get_yscale() == "log"
    assert ConvergenceDisplay(fakes.history(30, floor=0.1)).plot().ax_.get_yscale() == "linear"
    assert ConvergenceDisplay(fakes.history(30, floor=-0.1)).plot().ax_.get_yscale() == "linear"


def test_both_panels_have_letters_of_one_size() -> None:
    upper, lower = ConvergenceDisplay(fakes.history(3)).plot().axes_
    assert upper.yaxis.label.get_size() == lower.yaxis.label.get_size()


@pytest.mark.slow
def test_histories_of_any_length() -> None:
    for count in (0, 1, 1000):
        display = ConvergenceDisplay(fakes.history(count), value=0.5, status="max_iter").plot()
        display.figure_.draw_without_rendering()
        assert np.size(display.line_.get_xdata()) == count
    assert len(ConvergenceDisplay(History()).plot().bars_.get_segments()) == 0


def test_values_that_are_not_finite() -> None:
    result = ksparse.minimize(ksparse.objectives.LeastSquares(np.eye(3), [1.0, 2.0, 3.0]), k=1)
    rows = list(result.history)
    object.__setattr__(rows[-1], "value", np.nan)
    display = ConvergenceDisplay(History(rows), value=result.value).plot()
    display.figure_.draw_without_rendering()


def test_x_must_be_known() -> None:
    with pytest.raises(ValueError, match="x must be one of 'iteration', 'seconds', 'passes'; got 'time'"):
        ConvergenceDisplay(fakes.history(3)).plot(x="time")


# --- frequencies ----------------------------------------------------------------------------------------------------


def test_bars_are_the_largest_frequencies() -> None:
    frequencies = np.random.default_rng(0).random(60)
    model = fakes.stability(frequencies, threshold=0.7)
    display = SelectionFrequencyDisplay.from_estimator(model)
    order = np.argsort(-frequencies)[:25]
    np.testing.assert_array_equal(display.features_, order)
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], frequencies[order])
    assert display.threshold_line_ is not None
    assert np.asarray(display.threshold_line_.get_xdata()).tolist() == [0.7, 0.7]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [f"x{feature}" for feature in order]
    low, high = display.ax_.get_ylim()
    assert low > high  # the most frequent one is at the top
    colours = {
        bar.get_facecolor() for bar, feature in zip(display.bars_, order, strict=True) if model.support_[feature]
    }
    others = {bar.get_facecolor() for bar in display.bars_} - colours
    assert len(colours) == len(others) == 1


def test_features_that_were_never_selected_have_no_bar() -> None:
    model = fakes.stability([0.0, 0.5, 0.0, 1.0], feature_names_in_=np.array(["a", "$b^{$", "c", "d"], dtype=object))
    display = SelectionFrequencyDisplay.from_estimator(model)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["d", "$b^{$"]
    display.figure_.draw_without_rendering()
    assert len(SelectionFrequencyDisplay.from_estimator(model, top=1).bars_) == 1
    assert len(SelectionFrequencyDisplay.from_estimator(fakes.stability([0.0, 0.0])).bars_) == 0


def test_keywords_of_artists() -> None:
    _, ax = plt.subplots()
    model = fakes.cross_validated(range(1, 5), k=2)
    assert ScorePathDisplay.from_estimator(model, ax=ax, line_kw={"c": "k", "lw": 3}).line_.get_linewidth() == 3
    lines = CoefficientPathDisplay.from_estimator(model, line_kw={"ls": ":"}, n_labels=1)
    assert {line.get_linestyle() for line in lines.lines_.values()} == {":"}
    assert len(lines.labels_) == 1
    bars = SelectionFrequencyDisplay.from_estimator(fakes.stability([0.5, 1.0]), bar_kw={"height": 0.2}).bars_
    assert bars[0].get_height() == pytest.approx(0.2)
    assert ConvergenceDisplay(fakes.history(3)).plot(line_kw={"color": "k"}).line_.get_color() == "k"


def test_scores_of_graphs_count_edges() -> None:
    X = np.random.default_rng(0).standard_normal((60, 5))
    display = ScorePathDisplay.from_estimator(ksparse.SparsePrecisionCV(ks=[0, 2, 4], cv=3).fit(X))
    assert display.ax_.get_xlabel() == "number of edges k"
    assert display.ax_.get_ylabel() == "held-out log-likelihood"


def test_frequencies_of_edges() -> None:
    frequencies = np.array([[0.0, 0.9, 0.2], [0.9, 0.0, 0.0], [0.2, 0.0, 0.0]])
    model = fakes.Fitted().fit(frequencies_=frequencies, threshold_=0.6, support_=frequencies >= 0.6)
    display = SelectionFrequencyDisplay.from_estimator(model, feature_names=["a", "b", "c"])
    assert display.feature_names == ["a – b", "a – c"]
    assert [bar.get_width() for bar in display.bars_] == [0.9, 0.2]
    assert display.support.tolist() == [True, False]
