"""The schedule of k for ks="auto": peaks are found up to its resolution, and no k is wasted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksparse.selection import KSchedule
from ksparse.selection.schedule import check_ks, first_best


def search(
    least: int, most: int, score: Callable[[int], float], **options: float
) -> tuple[int, dict[int, float]]:
    """The best k that is found, and all scores on the way."""
    schedule, scores = KSchedule(least, max(least, most), **options), dict[int, float]()
    for _ in range(1000):
        following = schedule.next_ks(scores)
        if not following:
            ks = sorted(scores)
            return ks[first_best([scores[k] for k in ks])], scores
        assert not set(following) & scores.keys(), "nothing is tried twice"
        assert len(set(following)) == len(following)
        scores |= {k: score(k) for k in following}
    raise AssertionError("the search does not end")


@given(st.integers(0, 50), st.integers(0, 2000), st.data())
def test_the_maximum_of_scores_with_one_peak_is_found(least: int, more: int, data: st.DataObject) -> None:
    most = least + more
    peak = data.draw(st.integers(least, most))
    rise, fall = data.draw(st.tuples(st.floats(0.01, 10), st.floats(0.01, 10)))
    power = data.draw(st.sampled_from([0.5, 1.0, 2.0]))

    def score(k: int) -> float:
        return -(abs(k - peak) ** power) * (rise if k < peak else fall)

    best, scores = search(least, most, score, resolution=0.0)
    assert best == peak
    assert least <= min(scores) <= max(scores) <= most
    coarse, scores = search(least, most, score)
    ks = sorted(scores)
    position = ks.index(coarse)
    assert ks[max(position - 1, 0)] <= peak <= ks[min(position + 1, len(ks) - 1)]
    gaps = np.diff(ks[max(position - 1, 0) : position + 2])
    assert (gaps <= max(1.0, 0.15 * coarse)).all()


@given(st.integers(0, 20), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_whatever_the_scores_the_search_ends_between_its_limits(least: int, more: int, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 4, least + more + 1).astype(float)
    best, scores = search(least, least + more, lambda k: float(table[k]))
    assert least in scores
    assert least <= min(scores) <= max(scores) <= least + more
    assert scores[best] == max(scores.values())
    assert best == min(k for k, value in scores.items() if value == scores[best])


def test_few_k_are_tried() -> None:
    for peak in (1, 10, 100, 1000, 10_000):
        _, scores = search(1, 10**6, lambda k, peak=peak: -abs(k - peak))  # type: ignore[misc]
        assert len(scores) <= 20 + 2 * np.log2(peak + 1)
        assert max(scores) <= max(50, 4 * peak)


def test_scores_that_fall_first_and_rise_later_are_followed() -> None:
    """As on data where two features help only with others: a search that stops at the first peak misses the best."""
    table = {0: 0.0, 1: -0.1, 2: -0.3, 3: -0.5, 5: -0.4, 8: 0.2, 12: 0.6, 18: 0.5}
    best, scores = search(0, 100, lambda k: table.get(k, 0.55 - abs(k - 13) / 100))
    assert best == 12
    assert {11, 13, 14, 15} & scores.keys()
    assert max(scores) == 50


def test_the_first_round_sees_up_to_fifty() -> None:
    assert KSchedule(0, 10**6).next_ks({}) == [0, 1, 2, 3, 5, 8, 12, 18, 27, 41, 50]
    assert KSchedule(2, 9).next_ks({}) == [2, 3, 5, 8, 9]
    assert KSchedule(60, 100).next_ks({}) == [60]


@pytest.mark.parametrize("best", [41, 50])
def test_a_best_k_near_the_end_asks_for_larger_ones(best: int) -> None:
    schedule = KSchedule(0, 1000)
    scores = {k: -float(abs(k - best)) for k in schedule.next_ks({})}
    following = schedule.next_ks(scores)
    assert following == ([75] if best == 41 else [75, 113])
    assert KSchedule(0, 50).next_ks(scores) == ([34, 45] if best == 41 else [45])


def test_a_best_k_that_is_infinite_below_does_not_end_the_search() -> None:
    best, _ = search(0, 30, lambda k: -np.inf if k < 10 else -float(k))
    assert best == 10


def test_scores_that_only_rise_are_followed_to_the_end() -> None:
    assert search(1, 777, float)[0] == 777
    assert search(1, 777, lambda k: 0.0)[0] == 1


def test_limits_that_leave_no_choice() -> None:
    assert search(5, 5, float)[1].keys() == {5}
    assert search(5, 3, float)[1].keys() == {5}


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([1.0], 0),
        ([0.0, 2.0, 2.0, 1.0], 1),
        ([2.0, 2.0, 2.0], 0),
        ([-5.0, -1.0 - 1e-12, -1.0], 1),
        ([-5.0, -1.0 - 1e-6, -1.0], 2),
        ([-1e-3, -1e-30, -1e-31, 0.0], 1),
    ],
)
def test_of_scores_that_differ_by_rounding_the_first_is_best(scores: list[float], best: int) -> None:
    assert first_best(scores) == best


def test_numbers_of_features() -> None:
    assert check_ks((3, np.int32(1), 3, 99), 0, 10) == [1, 3, 10]
    assert check_ks(range(2, 5), 2, 3) == [2, 3]
    assert all(type(k) is int for k in check_ks(np.arange(4), 0, 10))


@pytest.mark.parametrize(
    ("ks", "least", "error", "says"),
    [
        ([], 0, ValueError, "empty"),
        ("auto", 0, TypeError, "sequence of integers, got 'auto'"),
        (None, 0, TypeError, "sequence of integers, got None"),
        ([2.0], 0, TypeError, "got 2.0 of type float"),
        ([False], 0, TypeError, "got False of type bool"),
        ([np.True_], 0, TypeError, "bool"),
        ([-1], 0, ValueError, "at least 0, got -1; it is the number of features"),
        ([5, 1], 2, ValueError, "at least 2, got 1; 2 are always selected"),
    ],
)
def test_what_is_no_number_of_features(ks: Any, least: int, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        check_ks(ks, least, 10)


def test_a_resolution_ends_the_search_around_the_best_sooner() -> None:
    def tried(resolution: float) -> list[int]:
        schedule, scores = KSchedule(0, 1000, 1.5, resolution), dict[int, float]()
        while ks := schedule.next_ks(scores):
            scores |= {k: -abs(k - 211) for k in ks}
        return sorted(scores)

    coarse, fine = tried(0.05), tried(0.0)
    assert len(coarse) < len(fine)
    assert 211 in fine
    best = max(coarse, key=lambda k: -abs(k - 211))
    assert abs(best - 211) <= 0.05 * 211
