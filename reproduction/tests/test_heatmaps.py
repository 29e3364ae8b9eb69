"""How often entries of a precision matrix are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reproduction.experiments.heatmaps import (
    Heatmaps,
    HeatmapSettings,
    _make_truth,
    _sample,
    compute_frequencies,
    encode_edges,
)
from reproduction.frames import select_rows
from reproduction.graphs import GRAPH_METHOD_NAMES
from reproduction.methods import DEFAULT

from .helpers import experiment_named, frame_of, results, rows_of, show_all

#: The experiment is run, which takes a few seconds.
pytestmark = pytest.mark.slow

TINY = HeatmapSettings(
    replications=2, p=8, n=60, probability=0.2, fractions=(0.1, 0.2, 0.3), penalties=(0.5, 0.2, 0.1, 0.05)
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return results(Heatmaps(), TINY)


def test_it_is_registered() -> None:
    assert isinstance(experiment_named("heatmaps"), Heatmaps)


def test_rows_say_what_was_found(table: pd.DataFrame) -> None:
    assert len(table) == 2 * len(GRAPH_METHOD_NAMES)
    for row in rows_of(table):
        assert len(row["found"]) == 8 * 7 // 2
        assert row["found"].count("1") == row["edges"]


def test_one_truth_for_samples_of_their_own(table: pd.DataFrame) -> None:
    assert _sample(TINY, 0).shape == (2 * 60, 8)
    assert not np.array_equal(_sample(TINY, 0), _sample(TINY, 1))
    first, second = (rows_of(select_rows(table, method=DEFAULT, replication=replication))[0] for replication in (0, 1))
    assert first["loss"] != second["loss"]


def test_text_of_a_matrix() -> None:
    omega = np.array([[2.0, 0.5, 0.0, 1e-4], [0.5, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, -0.1], [1e-4, 0.0, -0.1, 2.0]])
    assert encode_edges(omega) == "100001"


def test_frequencies_by_hand() -> None:
    rows = [{"method": "FBS", "found": found} for found in ("100", "110")] + [{"method": "GraSP", "found": "001"}]
    frequencies = compute_frequencies(frame_of(rows), "FBS", 3)
    np.testing.assert_array_equal(frequencies, [[1.0, 1.0, 0.5], [1.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    np.testing.assert_array_equal(compute_frequencies(frame_of([]), "FBS", 3), np.eye(3))


def test_many_samples_find_the_truth() -> None:
    settings = replace(TINY, n=3000, replications=1, patience=10, fractions=(0.1, 0.2, 0.25, 0.3, 0.4))
    truth = _make_truth(settings) != 0
    frequencies = compute_frequencies(results(Heatmaps(), settings), DEFAULT, 8)
    assert (frequencies[truth] == 1).all()


def test_picture(table: pd.DataFrame) -> None:
    (figure,) = show_all(Heatmaps(), TINY, table).values()
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == ["truth", *GRAPH_METHOD_NAMES]
    image = figure.axes[1 + GRAPH_METHOD_NAMES.index(DEFAULT)].images[0].get_array()
    np.testing.assert_array_equal(np.asarray(image), compute_frequencies(table, DEFAULT, 8))


@pytest.mark.parametrize(("greedy", "lasso", "word"), [(10, 20, "holds"), (20, 10, "does not hold")])
def test_the_claim_follows_the_edges(greedy: int, lasso: int, word: str) -> None:
    rows = [
        {"replication": replication, "method": name, "edges": lasso if name == "GLasso" else greedy}
        for replication in range(3)
        for name in GRAPH_METHOD_NAMES
    ]
    (claim,) = Heatmaps().judge_claims(TINY, frame_of(rows))
    assert claim.published.word == word
    assert claim.default is not None
    assert claim.default.word == word


def test_samples_do_not_depend_on_the_number_of_replications_and_have_the_covariance() -> None:
    many = replace(TINY, n=50_000, replications=7)
    np.testing.assert_array_equal(_sample(TINY, 1), _sample(replace(TINY, replications=7), 1))
    np.testing.assert_allclose(np.cov(_sample(many, 0), rowvar=False), np.linalg.inv(_make_truth(many)), atol=0.02)
