"""Values of the selected features by class, or against the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Array
from .numbers import Label, make_label, round_numbers
from .source import Source, is_usable

#: Features of a model whose values are drawn, and those of all models of a page together.
MOST_OF_A_MODEL, MOST_DRAWN = 12, 80
#: Bars of a histogram, and classes that are told apart.
BINS, MOST_CLASSES = 24, 6
#: Points of a chart of a feature against the target.
MOST_DOTS = 300


@dataclass(frozen=True)
class Distribution:
    """A feature: histograms of the classes over common bins, or points against the target.

    A feature with few values has them in `centers`, one for each bin.
    """

    name: Label
    centers: list[float | None]
    edges: list[float | None]
    densities: list[list[float | None]]  # for each class: fraction of its rows in each bin
    x: list[float | None]
    y: list[float | None]


def choose_drawn(source: Source) -> dict[int, list[int]]:
    """The features that are drawn for each k, the most important first: few enough for a page."""
    ranked = {k: source.rank_features(k)[:MOST_OF_A_MODEL] for k in source.models}
    allowed: dict[int, None] = dict.fromkeys(ranked[source.k])
    for features in ranked.values():
        for feature in features:
            if len(allowed) < MOST_DRAWN:
                allowed.setdefault(feature)
    return {k: [feature for feature in features if feature in allowed] for k, features in ranked.items()}


def draw_distributions(source: Source, features: Sequence[int]) -> dict[int, Distribution]:
    """Values of some features in all rows."""
    if not features or source.task.is_survival or source.responses:
        return {}
    rows = np.sort(np.concatenate([source.train, source.held_out]))
    if not source.task.has_classes:
        rows = np.sort(np.random.default_rng(source.seed).permutation(rows)[:MOST_DOTS])
    values, y = source.read_columns(features, rows), source.y[rows]
    columns = zip(features, values.T, strict=True)
    if source.task.has_classes:
        members = [y == label for label in source.classes[:MOST_CLASSES]]
        return {feature: _count(make_label(source.names[feature]), column, members) for feature, column in columns}
    return {feature: _scatter(make_label(source.names[feature]), column, y) for feature, column in columns}


def _count(name: Label, column: Array, members: Sequence[Any]) -> Distribution:
    """Histograms of classes; a feature with few values has a bar for each."""
    usable = is_usable(column)
    distinct = np.unique(column[usable])
    if not len(distinct):
        return Distribution(name, [], [], [], [], [])
    centers = distinct[:0]
    if 1 < len(distinct) <= BINS // 2:
        steps, centers = np.diff(distinct) / 2, distinct
        edges = np.concatenate([[distinct[0] - steps[0]], distinct[:-1] + steps, [distinct[-1] + steps[-1]]])
    else:
        edges = np.linspace(distinct[0], distinct[-1], BINS + 1) if len(distinct) > 1 else distinct[0] + [-0.5, 0.5]
    if not np.all(np.diff(edges) > 0):  # too near each other for their size
        return Distribution(name, [], [], [], [], [])
    densities = []
    for member in members:
        counts, _ = np.histogram(column[usable & member], bins=edges)
        densities.append(round_numbers(counts / max(1, member.sum()), 3))
    return Distribution(name, round_numbers(centers, 12), round_numbers(edges, 12), densities, [], [])


def _scatter(name: Label, column: Array, y: Array) -> Distribution:
    kept = is_usable(column) & is_usable(y)
    return Distribution(name, [], [], [], round_numbers(column[kept]), round_numbers(y[kept]))
