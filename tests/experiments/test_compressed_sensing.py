"""Compressed sensing in a small setting: recovery gets harder with k, and GraHTP is HTP."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse.experiments import Table
from ksparse.experiments.compressed_sensing import COEFFICIENTS, METHODS, CompressedSensing, SensingSettings, _problem
from ksparse.experiments.methods import DEFAULT

from .helpers import changed, claim_with, results, show_all

SMALL = SensingSettings((2, 8, 16), 4, n=30, p=60, limit=100)
ALL = (*METHODS, "HTP", "IHT")


@pytest.fixture(scope="module")
def table() -> Table:
    return results(CompressedSensing(), SMALL)


def test_rows_have_all_measures(table: Table) -> None:
    main = table.where(kind="main")
    assert len(main) == len(ALL) * len(SMALL.ks) * len(COEFFICIENTS) * SMALL.trials
    assert all({"success", "error", "seconds", "iterations", "trial"} <= set(row) for row in main.rows)
    assert all(row["success"] == (row["error"] < SMALL.success) for row in main.rows)


def test_success_falls_with_k(table: Table) -> None:
    for method in ALL:
        shares = table.where(kind="main").series("k", "success", method=method).mean
        assert shares[0] > 0.9
        assert shares[-1] < 0.5
        assert np.all(np.diff(shares) <= 0)


def test_problems_are_as_described() -> None:
    A, coef = _problem(SMALL, "signs", 5, 0)
    assert A.shape == (30, 60)
    np.testing.assert_allclose(np.linalg.norm(A, axis=0), 1.0)
    assert sorted(np.abs(coef))[-6:] == [0, 1, 1, 1, 1, 1]
    other = _problem(SMALL, "Gaussian", 5, 0)[1]
    assert np.count_nonzero(other) == 5
    assert set(np.abs(other[other != 0])) != {1.0}
    assert not np.array_equal(_problem(SMALL, "signs", 5, 1)[0], A)


def test_grahtp_is_htp(table: Table) -> None:
    assert table.values("difference").max() <= 1e-10
    claim = claim_with("reduces to HTP", CompressedSensing(), SMALL, table)
    assert claim.faithful.word == "holds"
    apart = Table({**row, "difference": row["difference"] + 1e-9} if "difference" in row else row for row in table.rows)
    assert claim_with("reduces to HTP", CompressedSensing(), SMALL, apart).faithful.word == "does not hold"


def test_the_verdict_on_success_follows_the_numbers(table: Table) -> None:
    words = "weaker condition"
    equal = claim_with(words, CompressedSensing(), SMALL, changed(table, "success", 0.0))
    assert equal.faithful.word == "not measured"
    ours = {**dict.fromkeys(ALL, 0.0), "GraHTP": 0.5, DEFAULT: 1.0}
    best = Table({**row, "success": ours[row["method"]]} if "success" in row else row for row in table.rows)
    claim = claim_with(words, CompressedSensing(), SMALL, best)
    assert claim.ours is not None
    assert (claim.faithful.word, claim.ours.word) == ("holds", "holds")
    others = Table(
        {**row, "success": float(row["method"] not in ("GraHTP", DEFAULT))} if "success" in row else row
        for row in table.rows
    )
    flipped = claim_with(words, CompressedSensing(), SMALL, others)
    assert flipped.ours is not None
    assert flipped.faithful.word == "does not hold"
    assert flipped.ours.share == 0.25  # as bad as GraHTP, worse than the three others


def test_figures_and_tables(table: Table) -> None:
    figures = show_all(CompressedSensing(), SMALL, table)
    assert list(figures) == ["compressed-sensing"]
    legend = figures["compressed-sensing"].axes[0].get_legend()
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels == set(ALL)


def test_scales() -> None:
    sizes = [len(CompressedSensing().tasks(CompressedSensing().settings(scale))) for scale in ("quick", "standard")]
    assert sizes[0] < sizes[1]
    assert CompressedSensing().settings("full").trials == 100
