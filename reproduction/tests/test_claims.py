"""Verdicts follow the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reproduction.claims import (
    Claim,
    Verdict,
    add_limits,
    add_seconds_per_iteration,
    combine,
    format_median_ratio,
    judge,
    judge_best,
    judge_better,
    judge_comparable,
    judge_trend,
)

from .helpers import frame_of, rows_of


def table(**errors: list[float]) -> pd.DataFrame:
    return frame_of(
        {"method": method, "n": 100 * i, "error": value}
        for method, values in errors.items()
        for i, value in enumerate(values)
    )


@pytest.mark.parametrize(
    ("fraction", "word"),
    [
        (1.0, "holds"),
        (0.8, "holds"),
        (0.79, "partly"),
        (0.3, "partly"),
        (0.29, "does not hold"),
        (0.0, "does not hold"),
    ],
)
def test_words(fraction: float, word: str) -> None:
    assert Verdict(fraction, "").word == word


def test_nothing_to_judge_is_not_a_verdict() -> None:
    assert judge([], "").word == "not measured"
    assert judge_better(table(A=[1.0]), "error", "n", "A", ("B",)).word == "not measured"


def test_better_in_each_setting() -> None:
    results = table(A=[1.0, 2.0, 3.0, 4.0], B=[2.0, 3.0, 4.0, 3.9])
    better = judge_better(results, "error", "n", "A", ("B",))
    assert (better.word, better.fraction) == ("partly", 0.75)
    assert better.numbers.startswith("3 of 4")
    assert judge_better(results, "error", "n", "B", ("A",)).fraction == 0.25
    assert judge_better(results, "error", "n", "A", ("B",), slack=0.1).fraction == 1.0
    assert judge_better(results, "error", "n", "A", ("B",), sign=-1.0).fraction == 0.25


def test_clear_differences_ignore_the_margin() -> None:
    rows = [
        {"n": 1, "method": m, "replication": r, "error": e + 0.001 * r}
        for m, e in (("A", 0.8), ("B", 1))
        for r in (0, 1)
    ]
    half = judge_better(frame_of(rows), "error", "n", "A", ("B",), slack=-0.5)
    assert half.numbers.startswith("0 of 1 comparisons (1 clearly better, 0 clearly worse, ignoring the margin)")


def test_comparable_is_within_a_tenth_of_the_larger_one() -> None:
    for other, fraction in ((0.901, 1.0), (0.899, 0.0), (1.11, 1.0), (1.12, 0.0)):
        assert judge_comparable(table(A=[1.0], B=[other]), "error", "n", "A", "B").fraction == fraction


def test_comparable_means_near_each_other() -> None:
    results = table(A=[1.0, 1.0], B=[1.05, 2.0])
    assert judge_comparable(results, "error", "n", "A", "B").fraction == 0.5
    assert judge_comparable(results, "error", "n", "B", "A").fraction == 0.5


def test_trends() -> None:
    results = table(down=[4.0, 3.0, 3.5, 1.0], up=[1.0, 2.0, 3.0, 4.0])
    assert judge_trend(results, "error", "n", ("down",), -1.0).word == "holds"
    assert judge_trend(results, "error", "n", ("down",), 1.0).word == "does not hold"
    assert judge_trend(results, "error", "n", ("up", "down"), 1.0).fraction == 0.5
    assert "up 1 → 4 (τ = +1.00)" in judge_trend(results, "error", "n", ("up",), 1.0).numbers
    # It ends above where it began, but falls more often than it rises.
    back = table(there_and_back=[1.0, 9.0, 8.0, 7.0, 6.0, 2.0])
    assert judge_trend(back, "error", "n", ("there_and_back",), 1.0).word == "does not hold"
    assert judge_trend(back, "error", "n", ("there_and_back",), -1.0).word == "does not hold"
    assert "1 → 2 (τ = -0.33; 9 at n = 100)" in judge_trend(back, "error", "n", ("there_and_back",), 1.0).numbers


def test_of_joined_verdicts_the_weakest_counts() -> None:
    both = combine({"A": Verdict(1.0, "yes"), "B": Verdict(0.5, "no"), "C": Verdict(np.nan, "?")})
    assert (both.fraction, both.numbers) == (0.5, "A: yes; B: no; C: ?")
    assert combine({}).word == "not measured"


def test_a_superlative_is_not_about_pairs() -> None:
    """Second of three is not first, and neither is one of equals."""
    results = table(A=[1.0, 2.0, 3.0, 1.0], B=[2.0, 1.0, 4.0, 1.0], C=[3.0, 3.0, 5.0, 2.0])
    assert judge_better(results, "error", "n", "A", ("B", "C")).fraction == 7 / 8
    first = judge_best(results, "error", "n", "A", ("B", "C"))
    assert (first.fraction, first.word) == (0.5, "partly")
    assert first.numbers.startswith("best in 2 of 4 settings; median ratio to the best other method 0.88")
    assert judge_best(results, "error", "n", "C", ("A", "B"), sign=-1.0).fraction == 1.0
    assert judge_best(results, "error", "n", "C", ("A", "B")).fraction == 0.0


def test_clear_differences_are_those_of_pairs() -> None:
    """Differences on the same data count, though the data differ much more."""
    rng = np.random.default_rng(0)
    level, shift = 10 * rng.standard_normal(20), 0.1 + 0.05 * rng.standard_normal(20)
    both = {"A": "1 clearly better, 0 clearly worse", "B": "0 clearly better, 1 clearly worse"}
    neither = dict.fromkeys(both, "0 clearly better, 0 clearly worse")
    for difference, expected in ((shift, both), (shift - shift.mean(), neither)):
        rows = [{"method": "A", "n": 1, "replication": i, "error": level[i]} for i in range(20)]
        rows += [{"method": "B", "n": 1, "replication": i, "error": level[i] + difference[i]} for i in range(20)]
        for method, other in (("A", "B"), ("B", "A")):
            assert expected[method] in judge_better(frame_of(rows), "error", "n", method, (other,)).numbers
            assert expected[other] in judge_better(frame_of(rows), "error", "n", method, (other,), sign=-1.0).numbers
        two = frame_of(row for row in rows if row["replication"] < 2)
        assert neither["A"] in judge_better(two, "error", "n", "A", ("B",)).numbers  # chance would do it


def test_small_ratios_keep_a_digit() -> None:
    assert format_median_ratio([0.25, np.nan, 0.35, np.inf]) == "0.30"
    assert format_median_ratio([0.0034]) == "0.003"
    assert format_median_ratio([np.nan]) == "unknown"


def test_runs_that_stopped_at_a_limit_are_reported() -> None:
    rows = [{"method": "A", "status": status} for status in ("max_iter", "converged", "max_iter", "max_iter")]
    expected = add_limits(Verdict(1.0, "faster"), frame_of([*rows, {"method": "B", "status": "converged"}]), ("A", "B"))
    assert expected == Verdict(1.0, "faster; stopped at the iteration limit: A 75%")
    assert add_limits(expected, frame_of([]), ("A",)) == expected


def test_seconds_of_an_iteration() -> None:
    rows = rows_of(
        add_seconds_per_iteration(frame_of([{"seconds": 3.0, "iterations": 6}, {"seconds": 3.0, "iterations": 0}]))
    )
    assert [row["pace"] for row in rows] == [0.5, 3.0]


def test_a_reason_is_given_where_a_claim_does_not_hold() -> None:
    assert [Claim("", "", Verdict(fraction, ""), reason="so").explanation for fraction in (1.0, 0.5, 0.0, np.nan)] == [
        "",
        "so",
        "so",
        "",
    ]
