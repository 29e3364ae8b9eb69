"""Logarithmic axes have plain numbers, and claims cope with zeros."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from reproduction.claims import judge_better, judge_comparable
from reproduction.drawing import draw_runs, draw_steps, finish_axes

from .helpers import frame_of


@pytest.mark.parametrize(("high", "least"), [(1.8, 2), (40.0, 4), (1e5, 5)])
def test_logarithmic_axes_have_several_plain_numbers(high: float, least: int) -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([1.0, 2.0], [1.0, high])
    finish_axes(ax, "x", "y", log="y")
    figure.draw_without_rendering()
    low, top = ax.get_ylim()
    shown = [label.get_text() for label in ax.get_yticklabels() if low <= float(label.get_position()[1]) <= top]
    assert len(shown) >= least
    assert all(float(text) > 0 for text in shown)
    assert not any(label.get_text() for label in ax.get_yticklabels(minor=True))


def test_nothing_to_take_a_ratio_of() -> None:
    table = frame_of({"method": method, "k": 1, "error": 0.0} for method in ("a", "b"))
    for judged in (judge_better(table, "error", "k", "a", ("b",)), judge_comparable(table, "error", "k", "a", "b")):
        assert judged.word == "holds"
        assert "median ratio unknown" in judged.numbers


def test_a_panel_without_results_says_so() -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([], [])
    finish_axes(ax, "n", "error", log="xy")
    figure.draw_without_rendering()
    assert [text.get_text() for text in ax.texts] == ["no results yet"]
    assert ax.get_xscale() == "linear"


def test_steps_have_a_colour_for_each_setting_and_a_line_for_each_method() -> None:
    steps = frame_of(
        {"method": method, "k": k, "multiple": multiple, "error": k * multiple, "replication": replication}
        for method in ("GraHTP", "FGraHTP")
        for k in (20, 10)
        for multiple in (1.0, 4.0)
        for replication in (0, 1)
    )
    figure = Figure(layout="constrained")
    draw_steps(figure, steps, "k", [("error", "test error", "xy"), ("error", "the same", "x")], "η·L", 4.0)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["k = 10", "k = 20", "GraHTP", "FGraHTP"]
    left, right = figure.axes
    assert left.get_yscale() == "log"
    assert right.get_yscale() == "linear"
    *curves, chosen = left.lines
    assert [np.asarray(line.get_ydata())[1] for line in curves] == [40.0, 40.0, 80.0, 80.0]
    assert [line.get_linestyle() for line in curves] == ["-", "--", "-", "--"]
    assert len({line.get_color() for line in curves}) == 2
    assert np.unique(np.asarray(chosen.get_xdata())).tolist() == [4.0]


def test_runs_over_iterations_have_a_mean_and_a_band() -> None:
    ax = Figure().subplots()
    draw_runs(ax, [np.array([4.0, 2.0]), np.array([6.0, 4.0, 1.0])], "GraHTP")
    (line,) = ax.get_lines()
    # A run that has ended stays where it is.
    assert np.asarray(line.get_ydata()).tolist() == [5.0, 3.0, 1.5]
    (band,) = ax.collections
    heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((1.0, 6.0))
    ax = Figure().subplots()
    draw_runs(ax, [np.array([4.0, 2.0])], "GraHTP", length=4, first=1)
    assert np.asarray(ax.get_lines()[0].get_xydata()).tolist() == [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]]
    assert not ax.collections
    draw_runs(ax, [], "GraSP")
    assert len(ax.get_lines()) == 1
