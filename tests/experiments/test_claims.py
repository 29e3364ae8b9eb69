"""Verdicts follow the numbers: turned round, they are turned round."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse.experiments import Table, Verdict
from ksparse.experiments.claims import comparable, compared, falls, joined, rises, verdict


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


def test_comparable_means_near_each_other() -> None:
    results = table(A=[1.0, 1.0], B=[1.05, 2.0])
    assert comparable(results, "error", "n", "A", "B").share == 0.5
    assert comparable(results, "error", "n", "B", "A").share == 0.5


def test_trends() -> None:
    results = table(down=[4.0, 3.0, 3.5, 1.0], up=[1.0, 2.0, 3.0, 4.0], there_and_back=[1.0, 9.0, 8.0, 2.0])
    assert falls(results, "error", "n", ("down",)).word == "holds"
    assert rises(results, "error", "n", ("down",)).word == "does not hold"
    assert rises(results, "error", "n", ("up", "down")).share == 0.5
    assert "up 1 → 4 (τ = +1.00)" in rises(results, "error", "n", ("up",)).numbers


def test_joined_verdicts_are_their_mean() -> None:
    both = joined({"A": Verdict(1.0, "yes"), "B": Verdict(0.0, "no"), "C": Verdict(np.nan, "?")})
    assert (both.share, both.numbers) == (0.5, "A: yes; B: no; C: ?")
