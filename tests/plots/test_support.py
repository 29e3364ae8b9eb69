"""The heat map shows the entries of the matrix, in the order that was asked for."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.covariance import GraphicalLasso

from ksparse._types import Array
from ksparse.plots import GraphDisplay, SupportDisplay
from ksparse.plots.support import widen
from tests.plots import fakes
from tests.plots.test_layout import SIZES, assert_nothing_is_cut_off

pd: Any = import_module("pandas")  # it has no types

SMALL = fakes.precision(12, 18)
LABELS = ["b", "a", "c"] * 4
BY_GROUP = [1, 4, 7, 10, 0, 3, 6, 9, 2, 5, 8, 11]


def entries(display: SupportDisplay) -> Any:
    return display.image_.get_array()


def colours(display: SupportDisplay) -> Array:
    """The colours of all entries, as red, green and blue."""
    return np.asarray(display.image_.to_rgba(entries(display)))[..., :3]


def names_on(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


# --- what is drawn --------------------------------------------------------------------------------------------------


def test_partial_correlations_with_colours_symmetric_about_white() -> None:
    display = SupportDisplay.from_precision(SMALL)
    off = ~np.eye(12, dtype=bool)
    expected = GraphDisplay.from_precision(SMALL, layout="circle").partial_correlations
    image = entries(display)
    np.testing.assert_array_equal(image.mask, ~off)
    np.testing.assert_array_equal(image[off], expected[off])
    largest = np.abs(expected[off]).max()
    assert display.image_.get_clim() == (-largest, largest)
    shown = colours(display)
    assert (shown[off & (expected == 0)] == 1.0).all()
    red, blue = shown[..., 0], shown[..., 2]
    assert (blue > red)[off & (expected > 0)].all()
    assert (red > blue)[off & (expected < 0)].all()
    darkness = -shown.sum(axis=2)
    order = np.argsort(expected[off & (expected >= 0)])
    assert (np.diff(darkness[off & (expected >= 0)][order]) >= -1e-6).all()
    assert display.colorbar_ is not None
    assert display.colorbar_.ax.get_ylabel() == "partial correlation"
    assert display.ax_.get_xlabel() == "18 edges"


def test_the_weakest_edge_is_not_white() -> None:
    precision = np.eye(3)
    precision[[0, 1], [1, 0]] = 0.9
    precision[[1, 2], [2, 1]] = -0.009
    shown = colours(SupportDisplay.from_precision(precision))
    assert shown[1, 2].min() < 0.95
    assert shown[0, 2].min() == 1.0


def test_the_support_is_black_on_white() -> None:
    display = SupportDisplay.from_precision(SMALL, what="support")
    np.testing.assert_allclose(colours(display), np.repeat((SMALL == 0)[..., None], 3, axis=2))
    assert display.colorbar_ is None
    np.testing.assert_array_equal(
        SupportDisplay.from_matrix(SMALL, what="support").image_.get_array(), display.image_.get_array()
    )


def test_frequencies_are_drawn_from_0_to_1() -> None:
    frequencies = np.random.default_rng(0).random((5, 5))
    frequencies = (frequencies + frequencies.T) / 2
    display = SupportDisplay.from_matrix(frequencies)
    np.testing.assert_array_equal(display.image_.get_array(), frequencies)
    assert display.image_.get_clim() == (0.0, 1.0)
    order = np.argsort(frequencies.ravel())
    assert (np.diff(colours(display).sum(axis=2).ravel()[order]) <= 0).all()
    assert display.colorbar_ is not None
    assert display.colorbar_.ax.get_ylabel() == "frequency"


@pytest.mark.parametrize("what", ["partial correlation", "support"])
def test_without_edges_it_says_so(what: str) -> None:
    for n_nodes in (1, 4):
        display = SupportDisplay.from_precision(2 * np.eye(n_nodes), what=what)
        display.figure_.draw_without_rendering()
        assert display.ax_.get_xlabel() == "no edges"


def test_entries_too_small_to_be_visible_are_widened() -> None:
    values = np.zeros((7, 7))
    values[1, 2], values[3, 3], values[6, 6] = 0.5, -0.7, 0.1
    wide = widen(values, 1)
    assert (wide[2:5, 2:5] == -0.7).all()
    assert (wide[0, 1:4] == 0.5).all()
    assert np.count_nonzero(wide) == 9 + 9 + 4 - 2
    np.testing.assert_array_equal(widen(values, 0), values)
    large = np.eye(1000)
    large[[10, 900], [900, 10]] = 0.5
    figure, ax = plt.subplots(figsize=(4.0, 4.0))
    image = np.asarray(SupportDisplay.from_precision(large, what="support", ax=ax).image_.get_array())
    cells = int(image[10, 800:].sum())
    assert 1.6 <= cells * figure.axes[0].bbox.height / figure.dpi * 72 / 1000 < 3.5


def test_keywords_of_the_image() -> None:
    display = SupportDisplay.from_precision(SMALL, image_kw={"vmin": -1, "vmax": 1, "cmap": "PiYG"})
    assert display.image_.get_clim() == (-1, 1)
    assert display.image_.get_cmap().name == "PiYG"


# --- order and names ------------------------------------------------------------------------------------------------


def test_nodes_sorted_by_groups() -> None:
    display = SupportDisplay.from_precision(SMALL, what="support", groups=LABELS)
    assert display.order_.tolist() == BY_GROUP
    np.testing.assert_array_equal(display.image_.get_array(), (SMALL != 0)[np.ix_(BY_GROUP, BY_GROUP)])
    assert names_on(display.ax_.yaxis) == ["a", "b", "c"]
    np.testing.assert_allclose(display.ax_.get_yticks(), [1.5, 5.5, 9.5])
    assert display.separators_ is not None
    lines = np.array(display.separators_.get_segments())
    assert lines[:2, :, 1].tolist() == [[3.5, 3.5], [7.5, 7.5]]
    assert lines[2:, :, 0].tolist() == [[3.5, 3.5], [7.5, 7.5]]


def test_a_given_order() -> None:
    order = np.random.default_rng(0).permutation(12)
    names = [f"n{node}" for node in range(12)]
    display = SupportDisplay.from_precision(SMALL, what="support", names=names, order=order)
    np.testing.assert_array_equal(display.image_.get_array(), (SMALL != 0)[np.ix_(order, order)])
    assert names_on(display.ax_.yaxis) == names_on(display.ax_.xaxis) == [f"n{node}" for node in order]
    assert display.separators_ is None


def test_names_only_where_they_fit() -> None:
    display = SupportDisplay.from_precision(fakes.precision(200, 300))
    names = names_on(display.ax_.yaxis)
    assert 8 <= len(names) <= 12
    assert names == [f"x{place:.0f}" for place in display.ax_.get_yticks()]


def test_names_of_small_groups_are_moved_apart() -> None:
    labels = ["large"] * 94 + [f"small {number}" for number in range(6)]
    display = SupportDisplay.from_precision(fakes.precision(100, 100), groups=labels)
    display.figure_.draw_without_rendering()
    boxes = sorted((label.get_window_extent() for label in display.ax_.get_yticklabels()), key=lambda box: box.y0)
    assert len(boxes) == 7
    assert all(upper.y0 >= lower.y1 - 1.5 for lower, upper in pairwise(boxes))
    assert boxes[0].y0 >= display.ax_.bbox.y0 - 1


def test_of_too_many_groups_the_largest_are_named() -> None:
    labels = np.repeat(np.arange(150), np.where(np.arange(150) == 80, 20, 1))
    display = SupportDisplay.from_matrix(np.eye(len(labels)), groups=labels)
    names = names_on(display.ax_.yaxis)
    assert "80" in names
    assert 20 < len(names) < 100


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("groups", [None, LABELS])
def test_everything_is_inside_the_figure(size: str, groups: Any) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="compressed")
    SupportDisplay.from_precision(SMALL, names=fakes.long_names(12), groups=groups, ax=ax)
    figure.draw_without_rendering()
    assert_nothing_is_cut_off(figure)


@pytest.mark.parametrize("n_nodes", [3, 12, 100])
@pytest.mark.parametrize("what", ["partial correlation", "support"])
@pytest.mark.parametrize("name", ["x", "the name of a node"])
def test_new_figures_have_room_for_names(n_nodes: int, what: str, name: str) -> None:
    names = [f"{name}{node}" for node in range(n_nodes)]
    display = SupportDisplay.from_precision(fakes.precision(n_nodes, 3), names=names, what=what)
    display.figure_.draw_without_rendering()
    assert_nothing_is_cut_off(display.figure_)
    assert display.ax_.bbox.width == pytest.approx(display.ax_.bbox.height)
    assert display.ax_.bbox.height > 0.55 * display.figure_.bbox.height


def test_without_a_layout_engine_the_scale_takes_its_room_from_the_axes() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0))
    display = SupportDisplay.from_precision(SMALL, ax=axes[0])
    figure.draw_without_rendering()
    assert display.colorbar_ is not None
    assert display.colorbar_.ax.yaxis.label.get_window_extent().x1 < axes[1].bbox.x0


# --- where it comes from --------------------------------------------------------------------------------------------


def test_an_estimator_with_a_precision_matrix() -> None:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 4)), columns=list("abcd"))
    model = GraphicalLasso(alpha=0.1).fit(X)
    display = SupportDisplay.from_estimator(model, what="support")
    assert names_on(display.ax_.yaxis) == list("abcd")
    np.testing.assert_array_equal(display.image_.get_array(), model.precision_ != 0)
    assert names_on(SupportDisplay.from_estimator(model, names=list("wxyz")).ax_.yaxis) == list("wxyz")


@pytest.mark.parametrize(
    ("matrix", "arguments", "message"),
    [
        (np.ones((2, 3)), {}, r"matrix must be a square matrix"),
        ([[0.0, 0.5], [0.2, 0.0]], {}, r"matrix must be symmetric, but entries \(0, 1\) and \(1, 0\) differ"),
        ([[np.nan]], {}, "matrix has 1 NaN or infinite values"),
        ([[3.0]], {}, "frequency must be between 0 and 1, got values from 3 to 3; .* divide counts by"),
        ([[1.0, 2.0], [2.0, 1.0]], {"what": "partial correlation"}, "must be between -1 and 1, got .* 2; use from_pre"),
        (np.eye(2), {"what": "heat"}, "what must be one of 'partial correlation', 'support', 'frequency'; got 'heat'"),
        (np.eye(2), {"names": ["a"]}, "names must be a sequence, one for each of 2 nodes"),
        (np.eye(2), {"groups": ["a"]}, "groups must be a sequence, one for each of 2 nodes"),
        (np.eye(2), {"order": [0, 0]}, r"order must be a permutation of 0, …, 1; got \[0, 0\]"),
        (np.eye(2), {"order": "size"}, "order must be a permutation"),
    ],
)
def test_wrong_arguments(matrix: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SupportDisplay.from_matrix(matrix, **arguments)


def test_a_precision_matrix_has_no_frequencies() -> None:
    with pytest.raises(ValueError, match="a precision matrix has no frequencies; use from_matrix"):
        SupportDisplay.from_precision(SMALL, what="frequency")
