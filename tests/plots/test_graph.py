"""The picture of a graph shows its edges, at the same places for the same seed, with nothing cut off."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.text import Text
from sklearn.covariance import GraphicalLasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse._types import Array
from ksparse.plots import GraphDisplay
from ksparse.plots._artists import GraphFrame
from ksparse.plots._palette import GROUP_COLOURS
from ksparse.plots._style import NEGATIVE, POSITIVE
from tests.plots import fakes
from tests.plots.test_layout import SIZES, assert_nothing_is_cut_off

pd: Any = import_module("pandas")  # it has no types

SMALL = fakes.precision(12, 18)


def texts_of(legend: Legend | None) -> list[str]:
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def widths_of(display: GraphDisplay) -> Array:
    return np.asarray(display.edges_.get_linewidth(), dtype=np.float64)


def pixels_of_nodes(display: GraphDisplay) -> Array:
    shown = ~np.isnan(display.positions_[:, 0])
    return np.asarray(display.ax_.transData.transform(display.positions_[shown]))


def partial_by_regression(precision: Array, one: int, other: int) -> float:
    """Partial correlation as the correlation of what is left of both after regression on all others."""
    covariance = np.linalg.inv(precision)
    pair = np.array([one, other])
    rest = np.setdiff1d(np.arange(len(precision)), pair)
    weights: Array = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[np.ix_(rest, pair)])
    left = covariance[np.ix_(pair, pair)] - covariance[np.ix_(pair, rest)] @ weights
    return float(left[0, 1] / np.sqrt(left[0, 0] * left[1, 1]))


# --- what is drawn --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["spring", "circle"])
def test_edges_are_the_upper_triangle(layout: str) -> None:
    display = GraphDisplay.from_precision(SMALL, layout=layout)
    pairs = np.argwhere(np.triu(SMALL, 1))
    np.testing.assert_array_equal(np.array(display.edges_.get_segments()), display.positions_[pairs])
    np.testing.assert_array_equal(display.nodes_.get_offsets(), display.positions_)
    partial = np.array([partial_by_regression(SMALL, *pair) for pair in pairs])
    np.testing.assert_allclose(display.partial_correlations[tuple(pairs.T)], partial)
    widths = widths_of(display)
    np.testing.assert_allclose(widths / widths.max(), np.abs(partial) / np.abs(partial).max())
    colours = [to_hex(colour) for colour in np.asarray(display.edges_.get_colors())]
    assert colours == [POSITIVE if value > 0 else NEGATIVE for value in partial]


def test_the_weakest_edges_are_hairlines() -> None:
    precision = np.eye(3)
    precision[[0, 1], [1, 0]] = 0.5
    precision[[1, 2], [2, 1]] = 1e-6
    widths = widths_of(GraphDisplay.from_precision(precision))
    assert widths.tolist() == [4.0, 0.25]


def test_the_legend_shows_signs_and_the_scale_of_widths() -> None:
    precision = np.eye(3)
    precision[[0, 1], [1, 0]] = -0.5
    precision[[1, 2], [2, 1]] = 0.25
    display = GraphDisplay.from_precision(precision)
    assert texts_of(display.sign_legend_) == ["positive partial correlation, up to 0.5", "negative, down to −0.25"]
    assert display.sign_legend_ is not None
    lines = display.sign_legend_.get_lines()
    assert [to_hex(line.get_color()) for line in lines] == [POSITIVE, NEGATIVE]
    assert [line.get_linewidth() for line in lines] == widths_of(display).tolist()
    precision[[1, 2], [2, 1]] = 1e-6
    weak = GraphDisplay.from_precision(precision).sign_legend_
    assert weak is not None
    assert [line.get_linewidth() for line in weak.get_lines()] == [4.0, 0.8]
    one_sign = GraphDisplay.from_precision(np.abs(precision))
    assert texts_of(one_sign.sign_legend_) == ["negative partial correlation, down to −0.5"]


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [3, 25])
def test_groups_have_colours_and_a_legend(n_groups: int) -> None:
    labels = np.arange(50) % n_groups
    display = GraphDisplay.from_precision(fakes.precision(50, 60), groups=labels, isolated=True)
    assert texts_of(display.group_legend_) == [str(label) for label in range(n_groups)]
    colours = [to_hex(colour) for colour in np.asarray(display.nodes_.get_facecolor())]
    assert display.group_legend_ is not None
    handles = [to_hex(line.get_color()) for line in display.group_legend_.get_lines()]
    assert len(set(handles)) == n_groups
    assert colours == [handles[label] for label in labels]
    assert GraphDisplay.from_precision(SMALL).group_legend_ is None


def test_isolated_nodes_are_hidden_and_counted() -> None:
    precision = np.eye(6)
    precision[[1, 4], [4, 1]] = 0.5
    labels = ["a", "b", "c", "d", "b", "a"]
    display = GraphDisplay.from_precision(precision, groups=labels)
    assert np.flatnonzero(~np.isnan(display.positions_[:, 0])).tolist() == [1, 4]
    assert np.shape(display.nodes_.get_offsets()) == (2, 2)
    assert display.ax_.get_xlabel() == "4 nodes without edges not shown"
    assert list(display.labels_) == [1, 4]
    assert texts_of(display.group_legend_) == ["b"]
    assert GraphDisplay.from_precision(precision, isolated=True).ax_.get_xlabel() == ""
    precision[0, 2] = precision[2, 0] = precision[3, 1] = precision[1, 3] = 0.1
    one = GraphDisplay.from_precision(precision, groups=None)
    assert one.ax_.get_xlabel() == "1 node without edges not shown"


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("n_nodes", [1, 5])
def test_without_edges_all_nodes_are_drawn(isolated: bool, n_nodes: int) -> None:
    display = GraphDisplay.from_precision(np.eye(n_nodes), isolated=isolated)
    display.figure_.draw_without_rendering()
    assert np.shape(display.nodes_.get_offsets()) == (n_nodes, 2)
    assert len(display.edges_.get_segments()) == 0
    assert display.ax_.get_xlabel() == "no edges"
    assert display.sign_legend_ is None


def test_names_are_those_of_the_nodes_with_most_edges() -> None:
    star = np.eye(80)
    star[7, [1, 2, 3]] = star[[1, 2, 3], 7] = star[2, 3] = star[3, 2] = 0.1
    assert list(GraphDisplay.from_precision(star).labels_) == [7, 2, 3, 1]
    hubs = GraphDisplay.from_precision(star, isolated=True).labels_
    assert len(hubs) == 25
    assert next(iter(hubs)) == 7
    display = GraphDisplay.from_precision(star, names=[f"n{node}$^" for node in range(80)], n_labels=3)
    assert [(node, label.get_text()) for node, label in display.labels_.items()] == [
        (7, "n7$^"),
        (2, "n2$^"),
        (3, "n3$^"),
    ]
    display.figure_.draw_without_rendering()


def test_communities_have_colours() -> None:
    precision, labels = fakes.clusters([8, 6, 4, 2])
    precision[17, 18] = precision[18, 17] = 0.0
    display = GraphDisplay.from_precision(precision)
    assert display.communities is not None
    codes = {label: set(display.communities[np.array(labels) == label].tolist()) for label in sorted(set(labels))}
    assert all(len(found) == 1 for found in codes.values())
    assert [*map(min, codes.values())] == [0, 1, 2, 3]
    colours = [to_hex(colour) for colour in np.asarray(display.nodes_.get_facecolor())]
    expected = [GROUP_COLOURS[code if code < 3 else -1] for code in display.communities.tolist()]
    assert colours == expected  # the pair has none of its own
    assert display.group_legend_ is None
    assert display.ax_.get_xlabel() == "colours: the 3 largest of 4 communities"
    again = GraphDisplay.from_precision(precision).communities
    np.testing.assert_array_equal(again, display.communities)
    plain = GraphDisplay.from_precision(precision, groups=None)
    assert plain.communities is None
    assert len({to_hex(colour) for colour in np.asarray(plain.nodes_.get_facecolor())}) == 1


def test_without_networkx_there_are_no_communities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert GraphDisplay.from_precision(SMALL, layout="circle").communities is None


def test_keywords_of_artists() -> None:
    display = GraphDisplay.from_precision(SMALL, edge_kw={"lw": 3, "colors": "k"}, node_kw={"s": 99, "c": "r"})
    assert set(widths_of(display)) == {3.0}
    assert display.nodes_.get_sizes().tolist() == [99.0]
    assert to_hex(np.asarray(display.nodes_.get_facecolor())[0]) == "#ff0000"


# --- where it comes from --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_estimator_with_a_precision_matrix() -> None:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 4)), columns=list("abcd"))
    X["b"] += X["a"]
    model = GraphicalLasso(alpha=0.2).fit(X)
    display = GraphDisplay.from_estimator(model)
    assert display.names == list("abcd")
    assert len(display.edges_.get_segments()) == np.count_nonzero(np.triu(model.precision_, 1)) > 0
    np.testing.assert_array_equal(
        display.partial_correlations, GraphDisplay.from_precision(model.precision_).partial_correlations
    )
    in_pipeline = make_pipeline(StandardScaler(), GraphicalLasso(alpha=0.2)).fit(X)
    assert GraphDisplay.from_estimator(in_pipeline).names == list("abcd")
    assert GraphDisplay.from_estimator(model, names=list("wxyz"), groups=[0, 0, 1, 1]).names == list("wxyz")


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        (np.ones((2, 3)), r"precision must be a square matrix, one row and column for each node; got shape \(2, 3\)"),
        (np.ones(4), r"got shape \(4,\)"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
        (
            [[1.0, 0.5], [0.2, 1.0]],
            r"precision must be symmetric, but entries \(0, 1\) and \(1, 0\) differ; pass \(precision",
        ),
        ([[1.0, np.nan], [np.nan, 1.0]], "precision has 2 NaN or infinite values"),
        ([["a"]], "precision must be numeric"),
        ([[1.0, 0.0], [0.0, 0.0]], "precision must be positive definite; pass the inverse of a covariance matrix"),
        ([[1.0, 2.0], [2.0, 1.0]], "precision must be positive definite; pass the inverse of a covariance matrix"),
    ],
)
def test_matrices_that_are_no_precision(precision: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphDisplay.from_precision(precision)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"names": ["a"]}, ValueError, r"names must be a sequence, one for each of 12 nodes; got shape \(1,\)"),
        ({"groups": [0, 1]}, ValueError, r"groups must be a sequence, one for each of 12 nodes; got shape \(2,\)"),
        ({"groups": "a"}, ValueError, r"groups must be a sequence, one for each of 12 nodes; got shape \(\)"),
        ({"names": 3}, ValueError, "names must be a sequence"),
        ({"layout": "grid"}, ValueError, "layout must be 'spring', 'circle' or an array of positions; got 'grid'"),
        ({"layout": np.zeros((3, 2))}, ValueError, r"layout has shape \(3, 2\), expected \(12, 2\)"),
        ({"isolated": "no"}, TypeError, "isolated must be True or False"),
        ({"n_labels": -1}, ValueError, "n_labels must be at least 0"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        GraphDisplay.from_precision(SMALL, **arguments)


# --- layout ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_nodes", [12, 90])
def test_the_same_seed_gives_the_same_picture(n_nodes: int) -> None:
    precision = fakes.precision(n_nodes, 2 * n_nodes)
    first, again, other = (GraphDisplay.from_precision(precision, seed=seed).positions_ for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert np.array_equal(first, other) == (n_nodes == 12)  # small components have one layout


def test_given_positions_and_a_circle() -> None:
    places = np.random.default_rng(0).random((12, 2))
    np.testing.assert_array_equal(GraphDisplay.from_precision(SMALL, layout=places).positions_, places)
    labels = np.arange(12) % 3
    positions = GraphDisplay.from_precision(SMALL, layout="circle", groups=labels).positions_
    np.testing.assert_allclose(np.hypot(*positions.T), 1.0)
    clockwise = np.argsort(np.arctan2(positions[:, 0], positions[:, 1]) % (2 * np.pi))
    assert (np.diff(labels[clockwise]) >= 0).all()


def test_components_do_not_overlap_and_stay_together() -> None:
    precision = np.kron(np.eye(9), fakes.clusters([8])[0])
    precision = np.pad(precision, (0, 40))
    np.fill_diagonal(precision, 2.0)
    positions = GraphDisplay.from_precision(precision, isolated=True).positions_
    boxes = [positions[8 * part : 8 * part + 8] for part in range(9)] + [positions[[node]] for node in range(72, 112)]
    for one, other in combinations(boxes, 2):
        distances = np.hypot(*(one[:, None] - other).transpose(2, 0, 1))
        assert distances.min() >= 0.99
    assert np.prod(np.ptp(positions, axis=0)) < 6 * len(positions)


def test_dense_clusters_do_not_shrink_to_a_point() -> None:
    precision, labels = fakes.clusters([40, 40, 40, 5])
    positions = GraphDisplay.from_precision(precision, groups=labels).positions_
    distances = np.hypot(*(positions[:, None] - positions).transpose(2, 0, 1)) + 1e9 * np.eye(125)
    even = np.sqrt(np.prod(np.ptp(positions, axis=0)) / 125)
    assert distances.min() > 0.35 * even
    same = np.array(labels)[:, None] == np.array(labels)
    assert np.mean(same[np.arange(125), distances.argmin(axis=1)]) > 0.95


def test_without_networkx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="needs networkx; install it with: pip install networkx"):
        GraphDisplay.from_precision(SMALL)
    GraphDisplay.from_precision(SMALL, layout="circle")


# --- nothing is cut off ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["spring", "circle"])
@pytest.mark.parametrize("size", SIZES)
def test_nodes_names_and_legends_are_apart(size: str, layout: str) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
    names = fakes.long_names(12)
    display = GraphDisplay.from_precision(SMALL, names=names, groups=list("abc") * 4, layout=layout, ax=ax)
    figure.draw_without_rendering()
    assert_nothing_is_cut_off(figure)
    boxes = [Text.get_window_extent(label) for label in display.labels_.values() if label.get_visible()]
    assert len(boxes) >= (2 if size == "flat" else 4)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for box in boxes:
        assert ax.bbox.x0 - 4 <= box.x0 < box.x1 <= ax.bbox.x1 + 4  # widths of text differ a little
        assert ax.bbox.y0 - 4 <= box.y0 < box.y1 <= ax.bbox.y1 + 4
    for legend in (display.sign_legend_, display.group_legend_):
        assert legend is not None
        place = legend.get_window_extent()
        assert not any(place.contains(x, y) for x, y in pixels_of_nodes(display))
        if size == "normal":
            assert not any(place.overlaps(box) for box in boxes)


@pytest.mark.parametrize("size", ["normal", "tall"])
def test_legends_cover_no_nodes(size: str) -> None:
    figure, ax = plt.subplots(figsize=SIZES[size], layout="constrained")
    frame = ax.bbox.width / ax.bbox.height
    places = np.stack(np.meshgrid(np.linspace(0, frame, 20), np.linspace(0, 1, 20)), axis=-1).reshape(-1, 2)
    display = GraphDisplay.from_precision(fakes.precision(400, 90), groups=[0, 1] * 200, layout=places, ax=ax)
    figure.draw_without_rendering()
    for legend in (display.sign_legend_, display.group_legend_):
        assert legend is not None
        assert not any(legend.get_window_extent().contains(x, y) for x, y in pixels_of_nodes(display))


def test_short_names_of_a_small_graph_are_all_shown() -> None:
    display = GraphDisplay.from_precision(fakes.precision(30, 35), isolated=True)
    display.figure_.draw_without_rendering()
    assert all(label.get_visible() for label in display.labels_.values())
    assert len(display.labels_) == 30


def test_the_picture_follows_the_figure_and_keeps_a_circle_round() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0))  # no layout engine, and a neighbour
    display = GraphDisplay.from_precision(SMALL, layout="circle", ax=axes[0])
    for size in ((9.0, 4.0), (5.0, 5.0), (12.0, 3.0)):
        figure.set_size_inches(*size)
        figure.draw_without_rendering()
        width, height = np.ptp(pixels_of_nodes(display), axis=0)
        assert width == pytest.approx(height, rel=1e-3)
        assert (pixels_of_nodes(display) > display.ax_.bbox.min).all()
        assert (pixels_of_nodes(display) < display.ax_.bbox.max).all()


def test_limits_set_by_others_stay() -> None:
    display = GraphDisplay.from_precision(SMALL)
    display.ax_.set_xlim(0, 0.5)
    display.figure_.draw_without_rendering()
    assert display.ax_.get_xlim() == (0, 0.5)


def test_a_drawn_figure_does_not_ask_to_be_drawn_again() -> None:
    display = GraphDisplay.from_precision(SMALL, names=fakes.long_names(12))
    display.figure_.draw_without_rendering()
    (frame,) = (artist for artist in display.ax_.get_children() if isinstance(artist, GraphFrame))
    frame.arrange()
    assert not display.figure_.stale
