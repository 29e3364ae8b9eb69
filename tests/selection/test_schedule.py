"""The schedule of k for ks="auto": peaks are found up to its resolution, and no k is wasted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksparse.selection import KSchedule
from ksparse.selection.schedule import check_ks, find_first_best


def search(least: int, most: int, score: Callable[[int], float], **options: float) -> tuple[int, dict[int, float]]:
    """The best k that is found, and all scores on the way."""
    schedule, scores = KSchedule(least, max(least, most), **options), dict[int, float]()
    for _ in range(1000):
        following = schedule.propose_ks(scores)
        if not following:
            ks = sorted(scores)
            return ks[find_first_best([scores[k] for k in ks])], scores
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
    assert (gaps <= np.ceil(max(1.0, 0.15 * max(coarse, peak) + 1))).all()


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
        assert max(scores) <= max(75, 4 * peak)


@pytest.mark.parametrize("best", [8, 12, 20, 30])
def test_scores_that_fall_first_and_rise_later_are_followed(best: int) -> None:
    """As on data where features help only with others: a search that stops at the first peak misses the best."""

    def score(k: int) -> float:
        return -0.1 * k if k < 5 else 1.0 - abs(k - best) / 30

    found, scores = search(0, 200, score, resolution=0.0)
    assert scores[0] > scores[1] > scores[3]
    assert found == best


def test_the_first_round_is_geometric() -> None:
    ks = KSchedule(0, 10**6).propose_ks({})
    assert ks[:6] == [0, 1, 2, 3, 5, 8]
    assert 50 <= ks[-1] <= 75
    assert max(np.divide(ks[3:], ks[2:-1])) <= 2
    assert KSchedule(2, 9).propose_ks({}) == [2, 3, 5, 8]
    assert KSchedule(60, 100).propose_ks({}) == [60]


@pytest.mark.parametrize("behind", [0, 1, 2])
def test_larger_k_follow_until_two_of_them_are_worse(behind: int) -> None:
    schedule = KSchedule(0, 1000)
    first = schedule.propose_ks({})
    best = first[-1 - behind]
    following = schedule.propose_ks({k: -abs(k - best) for k in first})
    if behind == 2:
        assert max(following) < first[-1]
    else:
        assert min(following) > first[-1]
        assert len(following) == 2 - behind


def test_scores_of_minus_infinity_do_not_end_the_search() -> None:
    assert search(0, 40, lambda k: -np.inf if k < 10 else -float(k), resolution=0.0)[0] == 10


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
    assert find_first_best(scores) == best


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
        while ks := schedule.propose_ks(scores):
            scores |= {k: -abs(k - 211) for k in ks}
        return sorted(scores)

    coarse, fine = tried(0.05), tried(0.0)
    assert len(coarse) < len(fine)
    assert 211 in fine
    best = max(coarse, key=lambda k: -abs(k - 211))
    assert abs(best - 211) <= 0.05 * 211
