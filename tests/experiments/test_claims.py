"""Verdicts follow the numbers: turned round, they are turned round."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse.experiments import Claim, Table, Verdict
from ksparse.experiments.claims import (
    at_limits,
    comparable,
    compared,
    falls,
    joined,
    leads,
    median_ratio,
    per_iteration,
    rises,
    verdict,
)


def table(**errors: list[float]) -> Table:
    return Table(
        {"method": method, "n": 100 * i, "error": value}
        for method, values in errors.items()
        for i, value in enumerate(values)
    )


@pytest.mark.parametrize(
    ("share", "word"),
    [
        (1.0, "holds"),
        (0.8, "holds"),
        (0.79, "partly"),
        (0.3, "partly"),
        (0.29, "does not hold"),
        (0.0, "does not hold"),
    ],
)
def test_words(share: float, word: str) -> None:
    assert Verdict(share, "").word == word


def test_nothing_to_judge_is_not_a_verdict() -> None:
    assert verdict([], "").word == "not measured"
    assert compared(table(A=[1.0]), "error", "n", "A", ("B",)).word == "not measured"


def test_better_in_each_setting() -> None:
    results = table(A=[1.0, 2.0, 3.0, 4.0], B=[2.0, 3.0, 4.0, 3.9])
    better = compared(results, "error", "n", "A", ("B",))
    assert (better.word, better.share) == ("partly", 0.75)
    assert better.numbers.startswith("3 of 4")
    assert compared(results, "error", "n", "B", ("A",)).share == 0.25
    assert compared(results, "error", "n", "A", ("B",), slack=0.1).share == 1.0
    assert compared(results, "error", "n", "A", ("B",), sign=-1.0).share == 0.25


def test_a_margin_is_left_aside_where_differences_are_called_clear() -> None:
    rows = [
        {"n": 1, "method": m, "replication": r, "error": e + 0.001 * r}
        for m, e in (("A", 0.8), ("B", 1))
        for r in (0, 1)
    ]
    half = compared(Table(rows), "error", "n", "A", ("B",), slack=-0.5)
    assert half.numbers.startswith("0 of 1 comparisons (1 clearly for it, 0 clearly against; the margin left aside)")


def test_comparable_is_within_a_tenth_of_the_larger_one() -> None:
    for other, share in ((0.901, 1.0), (0.899, 0.0), (1.11, 1.0), (1.12, 0.0)):
        assert comparable(table(A=[1.0], B=[other]), "error", "n", "A", "B").share == share


def test_comparable_means_near_each_other() -> None:
    results = table(A=[1.0, 1.0], B=[1.05, 2.0])
    assert comparable(results, "error", "n", "A", "B").share == 0.5
    assert comparable(results, "error", "n", "B", "A").share == 0.5


def test_trends() -> None:
    results = table(down=[4.0, 3.0, 3.5, 1.0], up=[1.0, 2.0, 3.0, 4.0])
    assert falls(results, "error", "n", ("down",)).word == "holds"
    assert rises(results, "error", "n", ("down",)).word == "does not hold"
    assert rises(results, "error", "n", ("up", "down")).share == 0.5
    assert "up 1 → 4 (τ = +1.00)" in rises(results, "error", "n", ("up",)).numbers
    # It ends above where it began, but falls more often than it rises.
    back = table(there_and_back=[1.0, 9.0, 8.0, 7.0, 6.0, 2.0])
    assert rises(back, "error", "n", ("there_and_back",)).word == "does not hold"
    assert falls(back, "error", "n", ("there_and_back",)).word == "does not hold"
    assert "1 → 2 (τ = -0.33; 9 at n = 100)" in rises(back, "error", "n", ("there_and_back",)).numbers


def test_of_joined_verdicts_the_weakest_counts() -> None:
    both = joined({"A": Verdict(1.0, "yes"), "B": Verdict(0.5, "no"), "C": Verdict(np.nan, "?")})
    assert (both.share, both.numbers) == (0.5, "A: yes; B: no; C: ?")
    assert joined({}).word == "not measured"


def test_a_superlative_is_not_about_pairs() -> None:
    """Second of three is not first, and neither is one of equals."""
    results = table(A=[1.0, 2.0, 3.0, 1.0], B=[2.0, 1.0, 4.0, 1.0], C=[3.0, 3.0, 5.0, 2.0])
    assert compared(results, "error", "n", "A", ("B", "C")).share == 7 / 8
    first = leads(results, "error", "n", "A", ("B", "C"))
    assert (first.share, first.word) == (0.5, "partly")
    assert first.numbers.startswith("first in 2 of 4 settings; median ratio to the best other 0.88")
    assert leads(results, "error", "n", "C", ("A", "B"), sign=-1.0).share == 1.0
    assert leads(results, "error", "n", "C", ("A", "B")).share == 0.0


def test_clear_differences_are_those_of_pairs() -> None:
    """Differences on the same data count, though the data differ much more."""
    rng = np.random.default_rng(0)
    level, shift = 10 * rng.standard_normal(20), 0.1 + 0.05 * rng.standard_normal(20)
    both = {"A": "1 clearly for it, 0 clearly against", "B": "0 clearly for it, 1 clearly against"}
    neither = dict.fromkeys(both, "0 clearly for it, 0 clearly against")
    for difference, said in ((shift, both), (shift - shift.mean(), neither)):
        rows = [{"method": "A", "n": 1, "replication": i, "error": level[i]} for i in range(20)]
        rows += [{"method": "B", "n": 1, "replication": i, "error": level[i] + difference[i]} for i in range(20)]
        for method, other in (("A", "B"), ("B", "A")):
            assert said[method] in compared(Table(rows), "error", "n", method, (other,)).numbers
            assert said[other] in compared(Table(rows), "error", "n", method, (other,), sign=-1.0).numbers
        two = Table(row for row in rows if row["replication"] < 2)
        assert neither["A"] in compared(two, "error", "n", "A", ("B",)).numbers  # chance would do it


def test_small_ratios_keep_a_digit() -> None:
    assert median_ratio([0.25, np.nan, 0.35, np.inf]) == "0.30"
    assert median_ratio([0.0034]) == "0.003"
    assert median_ratio([np.nan]) == "unknown"


def test_runs_that_a_limit_has_ended_are_said() -> None:
    rows = [{"method": "A", "status": status} for status in ("max_iter", "converged", "max_iter", "max_iter")]
    said = at_limits(Verdict(1.0, "faster"), Table([*rows, {"method": "B", "status": "converged"}]), ("A", "B"))
    assert said == Verdict(1.0, "faster; runs that the limit of iterations ended: A 75%")
    assert at_limits(said, Table([]), ("A",)) == said


def test_seconds_of_an_iteration() -> None:
    rows = per_iteration(Table([{"seconds": 3.0, "iterations": 6}, {"seconds": 3.0, "iterations": 0}])).rows
    assert [row["pace"] for row in rows] == [0.5, 3.0]


def test_a_reason_is_given_where_a_claim_does_not_hold() -> None:
    assert [Claim("", "", Verdict(share, ""), reason="so").why for share in (1.0, 0.5, 0.0, np.nan)] == [
        "",
        "so",
        "so",
        "",
    ]
