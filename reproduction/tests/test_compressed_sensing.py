"""Compressed sensing in a small setting: recovery gets harder with k, and GraHTP is HTP."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reproduction.experiments.compressed_sensing import (
    COEFFICIENTS,
    CompressedSensing,
    SensingSettings,
    _make_problem,
)
from reproduction.frames import select_rows, summarize, unique
from reproduction.methods import DEFAULT, METHOD_NAMES

from .helpers import changed, claim_with, results, rows_of, show_all, values_of

#: The experiment is run, which takes a few seconds.
pytestmark = pytest.mark.slow

SMALL = SensingSettings((2, 8, 16), 4, n=30, p=60, limit=100, steps_at=(8,))
ALL = (*METHOD_NAMES, "HTP", "IHT")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return results(CompressedSensing(), SMALL)


def test_rows_have_all_measures(table: pd.DataFrame) -> None:
    main = select_rows(table, kind="main")
    assert len(main) == len(ALL) * len(SMALL.ks) * len(COEFFICIENTS) * SMALL.trials
    assert all({"success", "error", "seconds", "iterations", "trial"} <= set(row) for row in rows_of(main))
    assert all(row["success"] == (row["error"] < SMALL.success) for row in rows_of(main))


def test_success_falls_with_k(table: pd.DataFrame) -> None:
    for method in ALL:
        fractions = summarize(select_rows(table, kind="main"), "k", "success", method=method)["mean"].to_numpy()
        assert fractions[0] > 0.9
        assert fractions[-1] < 0.5
        assert np.all(np.diff(fractions) <= 0)


def test_problems_are_as_described() -> None:
    A, _, coef = _make_problem(SMALL, "signs", 5, 0)
    assert A.shape == (30, 60)
    assert set(coef) == {-1.0, 0.0, 1.0}
    other = _make_problem(SMALL, "Gaussian", 5, 0).coef
    assert np.count_nonzero(other) == 5
    assert set(np.abs(other[other != 0])) != {1.0}
    # Problems differ between trials, sparsities and kinds of coefficients.
    others = (
        _make_problem(SMALL, "signs", 5, 1),
        _make_problem(SMALL, "signs", 6, 0),
        _make_problem(SMALL, "Gaussian", 5, 0),
    )
    assert not any(np.array_equal(each.X, A) for each in others)


def test_grahtp_is_htp(table: pd.DataFrame) -> None:
    words = "reduces to HTP"
    assert values_of(table, "difference").max() <= 1e-10
    claim = claim_with(words, CompressedSensing(), SMALL, table)
    assert claim.published.word == "holds"
    assert "24 of 24 problems" in claim.published.numbers
    apart = changed(table, "difference", 1.0, 1e-9)
    assert claim_with(words, CompressedSensing(), SMALL, apart).published.word == "does not hold"
    # One exception of 24 is one too many, in either of the two.
    for method in ("GraHTP", "FGraHTP"):
        once = changed(table, "difference", 1.0, 1e-9, method=method, k=8, trial=0, coefficients="signs")
        assert claim_with(words, CompressedSensing(), SMALL, once).published.word == "partly"


def _with_successes(table: pd.DataFrame, fractions: dict[str, float], **values: object) -> pd.DataFrame:
    """The table with the same success of a method in all trials, where these values are."""
    for method in ALL:
        table = changed(table, "success", 0.0, fractions.get(method, 0.0), method=method, **values)
    return table


def test_the_verdict_on_success_follows_the_numbers(table: pd.DataFrame) -> None:
    words = "weaker condition"
    for kind in COEFFICIENTS.values():
        claim = claim_with(f"succeeds): {kind}", CompressedSensing(), SMALL, _with_successes(table, {}))
        assert claim.published.word == "not measured"
    ours = {"GraHTP": 0.5, DEFAULT: 1.0}
    best = _with_successes(table, ours)
    claims = [claim for claim in CompressedSensing().judge_claims(SMALL, best) if words in claim.text]
    assert [claim.published.word for claim in claims] == ["holds", "holds"]
    assert [claim.default.word for claim in claims if claim.default is not None] == ["holds", "holds"]
    worst = _with_successes(table, {name: float(name not in ours) for name in ALL})
    claims = [claim for claim in CompressedSensing().judge_claims(SMALL, worst) if words in claim.text]
    assert [claim.published.word for claim in claims] == ["does not hold", "does not hold"]
    # A tie with GraHTP is no success.
    assert [claim.default.fraction for claim in claims if claim.default is not None] == [0.0, 0.0]


def test_ties_do_not_count_and_the_strongest_rival_decides(table: pd.DataFrame) -> None:
    # GraHTP beats FGraHTP at one k and FBS at all, GraSP beats it at one; the others are ties.
    fractions = {"GraHTP": 0.5, "FGraHTP": 0.5, "GraSP": 0.5, "FBS": 0.0}
    mixed = _with_successes(table, fractions, coefficients="signs")
    mixed = changed(mixed, "success", 0.0, 0.25, coefficients="signs", method="FGraHTP", k=2)
    mixed = changed(mixed, "success", 0.0, 1.0, coefficients="signs", method="GraSP", k=16)
    mixed = _with_successes(mixed, {"GraHTP": 1.0}, coefficients="Gaussian")
    signs = claim_with(COEFFICIENTS["signs"], CompressedSensing(), SMALL, mixed).published
    assert signs.word == "does not hold"
    expected = {"FGraHTP": "1 of the 1", "GraSP": "0 of the 1", "FBS": f"{len(SMALL.ks)} of the {len(SMALL.ks)}"}
    for name, count in expected.items():
        assert f"compared with {name}: more often at {count} k" in signs.numbers
    assert claim_with(COEFFICIENTS["Gaussian"], CompressedSensing(), SMALL, mixed).published.word == "holds"


def test_a_success_more_may_be_chance(table: pd.DataFrame) -> None:
    even = _with_successes(table, dict.fromkeys(ALL, 0.0))
    once = changed(even, "success", 0.0, 1.0, method="GraHTP", trial=0)
    judged = claim_with(COEFFICIENTS["signs"], CompressedSensing(), SMALL, once).published
    assert judged.word == "not measured"


def test_figures_and_tables(table: pd.DataFrame) -> None:
    figures = show_all(CompressedSensing(), SMALL, table)
    assert list(figures) == ["compressed-sensing", "compressed-sensing-steps"]
    legend = figures["compressed-sensing"].axes[0].get_legend()
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels == set(ALL)


def test_scales() -> None:
    sizes = [
        len(CompressedSensing().list_tasks(CompressedSensing().make_settings(scale))) for scale in ("quick", "standard")
    ]
    assert sizes[0] < sizes[1]
    assert CompressedSensing().make_settings("full").trials == 100


def test_steps_are_tried_and_matter(table: pd.DataFrame) -> None:
    steps = select_rows(table, kind="step")
    assert unique(steps, "k") == [8]
    for method, values in (("GraHTP", SMALL.pursuit_steps), ("FGraHTP", SMALL.gradient_steps)):
        assert unique(select_rows(steps, method=method), "step") == list(values)
        assert len(set(summarize(select_rows(steps, method=method), "step", "error")["mean"])) > 2
    # The step of the other rows is among them, with the same results.
    for method, step in (("GraHTP", SMALL.pursuit_step), ("FGraHTP", SMALL.gradient_step)):
        main = values_of(select_rows(table, kind="main", k=8, method=method), "error")
        np.testing.assert_array_equal(values_of(select_rows(steps, method=method, step=step), "error"), main)
    figures = show_all(CompressedSensing(), SMALL, table)
    assert list(figures) == ["compressed-sensing", "compressed-sensing-steps"]
    assert len(show_all(CompressedSensing(), SMALL, select_rows(table, kind="main"))) == 1


def test_answers_that_differ_by_more_than_rounding_are_not_the_same(table: pd.DataFrame) -> None:
    for difference, word in ((0.9e-10, "holds"), (1.1e-10, "does not hold")):
        other = changed(table, "difference", 0.0, difference)
        assert claim_with("reduces to HTP", CompressedSensing(), SMALL, other).published.word == word
