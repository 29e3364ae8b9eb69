"""Nothing is cut off, nothing overlaps, on large and on small figures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from ksparse.plots import (
    CoefficientIntervalDisplay,
    CoefficientPathDisplay,
    ConvergenceDisplay,
    ScorePathDisplay,
    SelectionFrequencyDisplay,
)
from ksparse.plots._artists import EndLabels, spread
from tests.plots import fakes

WIDE = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200]
SIZES = {"normal": (7.0, 4.2), "small": (3.2, 2.4), "tall": (3.0, 6.0), "flat": (8.0, 1.8)}
NAMES = fakes.long_names(60)
EVEN = np.linspace(0.0, 1.0, 60)

PATHS: dict[str, Callable[[Any], CoefficientPathDisplay]] = {
    "two features": lambda ax: CoefficientPathDisplay.from_path(fakes.path([1, 2], 2), k=1, ax=ax),
    "long names": lambda ax: CoefficientPathDisplay.from_path(fakes.path(range(1, 41), 60, names=NAMES), k=15, ax=ax),
    "k up to 200": lambda ax: CoefficientPathDisplay.from_path(fakes.path(WIDE, 300), k=90, ax=ax),
    "from k = 0": lambda ax: CoefficientPathDisplay.from_path(fakes.path([0, *WIDE], 300), k=0, ax=ax),
    "several classes": lambda ax: CoefficientPathDisplay.from_path(fakes.path(range(1, 9), 20, 3), output=2, ax=ax),
    "one k": lambda ax: CoefficientPathDisplay.from_path(fakes.path([5], 20), k=5, ax=ax),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "negative scores": lambda ax: ScorePathDisplay.from_estimator(
        fakes.cross_validated(range(1, 21), k=9, rule="1se"), ax=ax
    ),
    "scores of one k": lambda ax: ScorePathDisplay.from_estimator(fakes.cross_validated([4], k=4), ax=ax),
    "scores up to 200": lambda ax: ScorePathDisplay.from_estimator(fakes.cross_validated(WIDE, k=200), ax=ax),
    "criterion": lambda ax: ScorePathDisplay.from_estimator(fakes.by_criterion(range(1, 101), k=9), ax=ax),
    "one iteration": lambda ax: ConvergenceDisplay(fakes.history(1), value=1.0, status="time_limit").plot(ax),
    "1000 iterations": lambda ax: ConvergenceDisplay(fakes.history(1000, rate=0.01), value=0.1).plot(ax, x="seconds"),
    "60 frequencies": lambda ax: SelectionFrequencyDisplay.from_estimator(
        fakes.stability(np.linspace(0.01, 1.0, 60), feature_names_in_=NAMES), ax=ax
    ),
    "60 intervals": lambda ax: CoefficientIntervalDisplay(
        EVEN, EVEN - 1.0, EVEN + 1.0, list(NAMES), frequencies=EVEN, label="95 % interval"
    ).plot(ax),
    "2 intervals": lambda ax: CoefficientIntervalDisplay(np.zeros(2), -np.ones(2), np.ones(2), ["a", "b"]).plot(ax),
    "2 frequencies": lambda ax: SelectionFrequencyDisplay.from_estimator(fakes.stability([0.2, 0.9]), ax=ax),
}


def label_boxes(display: CoefficientPathDisplay) -> list[Any]:
    """Boxes of the labels that are shown, without the lines that lead to them."""
    return [Text.get_window_extent(label) for label in display.labels_.values() if label.get_visible()]


def assert_labels_are_apart_and_inside(display: CoefficientPathDisplay) -> None:
    boxes = sorted(label_boxes(display), key=lambda box: box.y0)
    assert boxes
    assert all(upper.y0 >= lower.y1 - 0.01 for lower, upper in pairwise(boxes))
    frame = display.ax_.bbox
    for box in boxes:
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1 + 0.5
        assert frame.y0 - 0.5 <= box.y0 < box.y1 <= frame.y1 + 0.5


def assert_nothing_is_cut_off(figure: Any) -> None:
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    slack = 0.02  # inches; layouts of older versions of Matplotlib are off by a point
    assert box.x0 >= -slack
    assert box.y0 >= -slack
    assert box.x1 <= width + slack
    assert box.y1 <= height + slack


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", PATHS)
def test_labels_do_not_overlap(case: str, size: str) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
    display = PATHS[case](ax)
    figure.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)
    assert_nothing_is_cut_off(figure)
    if size == "normal":
        assert len(label_boxes(display)) == len(display.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", OTHERS)
def test_everything_is_inside_the_figure(case: str, size: str) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
    OTHERS[case](ax)
    figure.draw_without_rendering()
    assert_nothing_is_cut_off(figure)


@pytest.mark.parametrize("case", ["long names", "k up to 200"])
def test_labels_follow_the_figure(case: str) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0))  # no layout engine, and a neighbour
    display = PATHS[case](axes[0])
    figure.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)
    figure.set_size_inches(5.0, 2.5)
    figure.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)
    figure.set_size_inches(10.0, 8.0)
    figure.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)
    assert len(label_boxes(display)) == 12


def test_limits_set_by_others_stay() -> None:
    display = PATHS["k up to 200"](None)
    display.ax_.set_xlim(1, 50)
    display.figure_.draw_without_rendering()
    assert display.ax_.get_xlim() == (1, 50)


def test_y_still_follows_the_data() -> None:
    display = PATHS["k up to 200"](None)
    display.figure_.draw_without_rendering()
    display.ax_.plot([1, 200], [-50.0, 50.0])
    low, high = display.ax_.get_ylim()
    assert low < -50 < 50 < high
    display.figure_.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)


def test_a_drawn_figure_does_not_ask_to_be_drawn_again() -> None:
    display = PATHS["long names"](None)
    display.figure_.draw_without_rendering()
    (labels,) = (artist for artist in display.ax_.get_children() if isinstance(artist, EndLabels))
    labels.arrange()
    assert not display.figure_.stale


def test_labels_without_room_are_hidden_the_least_important_first() -> None:
    figure, ax = plt.subplots(figsize=(6.0, 1.4), layout="constrained")
    display = PATHS["long names"](ax)
    figure.draw_without_rendering()
    assert_labels_are_apart_and_inside(display)
    shown = [label.get_visible() for label in display.labels_.values()]
    assert shown == sorted(shown, reverse=True)
    assert 3 < sum(shown) < 12


def test_spread_is_the_closest_arrangement() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        wanted = rng.uniform(-1, 11, size=4)
        places = spread(wanted, gap=1.5, low=0.0, high=10.0)
        assert (np.diff(np.sort(places)) >= 1.5 - 1e-12).all()
        assert (places >= 0).all()
        assert (places <= 10).all()
        best = np.sum((places - wanted) ** 2)
        others = np.sort(rng.uniform(0, 10, size=(2000, 4)), axis=1)
        others = others[(np.diff(others, axis=1) >= 1.5).all(axis=1)]
        assert (np.sum((others - np.sort(wanted)) ** 2, axis=1) >= best - 1e-12).all()


@pytest.mark.parametrize("case", ["negative scores", "scores up to 200", "scores of one k"])
@pytest.mark.parametrize("size", ["normal", "small"])
def test_the_legend_covers_no_data(case: str, size: str) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
    display = OTHERS[case](ax)
    figure.draw_without_rendering()
    legend = display.legend_
    assert legend is not None
    bars = np.concatenate(display.errorbar_.lines[2][0].get_segments())
    assert ax.transData.transform(bars)[:, 1].min() > legend.get_window_extent().y1 - 1
    marks = [text.get_window_extent() for text in ax.texts]
    assert all(mark.y0 > ax.transData.transform(bars)[:, 1].max() - 1 for mark in marks)


@pytest.mark.slow
def test_names_of_bars_do_not_overlap() -> None:
    for size in ("normal", "small"):
        figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
        OTHERS["60 frequencies"](ax)
        figure.draw_without_rendering()
        boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
        assert len(boxes) >= 12
        assert all(upper.y0 >= lower.y1 - 1.5 for lower, upper in pairwise(boxes))
