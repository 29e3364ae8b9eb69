"""Logarithmic axes have plain numbers, and claims cope with zeros."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from ksparse.experiments import Table
from ksparse.experiments.claims import comparable, compared
from ksparse.experiments.drawing import finish


@pytest.mark.parametrize(("high", "least"), [(1.8, 2), (40.0, 4), (1e5, 5)])
def test_logarithmic_axes_have_several_plain_numbers(high: float, least: int) -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([1.0, 2.0], [1.0, high])
    finish(ax, "x", "y", log="y")
    figure.draw_without_rendering()
    low, top = ax.get_ylim()
    shown = [label.get_text() for label in ax.get_yticklabels() if low <= float(label.get_position()[1]) <= top]
    assert len(shown) >= least
    assert all(float(text) > 0 for text in shown)
    assert not any(label.get_text() for label in ax.get_yticklabels(minor=True))


def test_nothing_to_take_a_ratio_of() -> None:
    table = Table({"method": method, "k": 1, "error": 0.0} for method in ("a", "b"))
    for judged in (compared(table, "error", "k", "a", ("b",)), comparable(table, "error", "k", "a", "b")):
        assert judged.word == "holds"
        assert "median ratio nan" in judged.numbers


def test_a_panel_without_results_says_so() -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([], [])
    finish(ax, "n", "error", log="xy")
    figure.draw_without_rendering()
    assert [text.get_text() for text in ax.texts] == ["no results yet"]
    assert ax.get_xscale() == "linear"
