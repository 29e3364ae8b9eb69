"""How scores decide: rules computed by hand on small arrays, and what must not matter to them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ksparse._types import Array
from ksparse.selection import rules
from ksparse.selection.rules import Choice, choose, compare, compute_standard_errors

KS = np.array([0, 1, 2, 3, 5])


def by_k(*rows: list[float]) -> Array:
    """Scores of one combination of penalties: a row for each k."""
    return np.array(rows)[None, :, None]


def test_best_is_the_largest_mean() -> None:
    scores = by_k([1, 1], [2, 4], [4, 3], [0, 6])
    assert choose(scores, KS[:4], "best") == Choice(0, 2, 0)


def test_ties_go_to_the_smaller_k_and_the_weaker_penalties() -> None:
    assert choose(by_k([0, 0], [1, 3], [3, 1], [2, 2]), KS[:4], "best").k == 1
    assert choose(np.ones((3, 4, 2, 5)), KS[:4], "smooth") == Choice(0, 0, 0)
    assert choose(np.ones((3, 4, 2, 5)), KS[:4], "1se") == Choice(0, 0, 0)


def test_one_standard_error() -> None:
    """The best is k = 3, with folds 8 and 12: mean 10, standard error 2/√2·√2 = 2, so that 8 is enough."""
    scores = by_k([1, 1], [7.9, 7.9], [8.1, 8.1], [8, 12], [9, 9])
    assert compute_standard_errors(np.array([[8.0, 12.0]]))[0] == pytest.approx(2.0)
    assert choose(scores, KS, "1se").k == 2
    assert choose(scores, KS, "best").k == 3


def test_penalties_are_the_best_of_each_k() -> None:
    scores = np.zeros((2, 2, 3, 2))
    scores[1, 0, 2] = [1, 2]
    scores[0, 1, 1] = [3, 0]
    scores[1, 1, 0] = [2, 2]
    assert compare(scores, KS[:2], "best").choices == [Choice(1, 0, 2), Choice(1, 1, 0)]
    assert choose(scores, KS[:2], "best") == Choice(1, 1, 0)


def test_near_takes_the_weakest_penalty_and_then_the_smallest_k() -> None:
    """The best score is 10 and has the standard error 1: what is at least 9.8 is near, but not 9.7."""
    means = np.array([[0, 9.7, 9.7, 9.7], [0, 9.4, 9.7, 9.85], [0, 9.8, 10, 9.9]])
    scores = means[:, :, None, None] + np.array([-1.0, 1.0])
    assert choose(scores, KS[:4], "near") == Choice(1, 2, 0)
    assert [choice.selection for choice in compare(scores, KS[:4], "near").choices] == [1, 1, 1, 1]
    assert choose(scores, KS[:4], "best") == Choice(2, 2, 0)


def test_other_standard_errors_decide_what_is_near() -> None:
    """One fold says nothing about chance; what else is known of the scores does."""
    scores = np.array([[9.6, 9.7], [9.9, 10.0]])[:, :, None, None]
    errors = np.full((2, 2, 1), 0.6)
    assert choose(scores, KS[:2], "near") == Choice(1, 1, 0)
    assert choose(scores, KS[:2], "near", errors) == Choice(1, 0, 0)
    assert choose(scores, KS[:2], "near", 4.0 * errors) == Choice(0, 0, 0)


def choose_near_by_loops(scores: Array) -> tuple[int, int, int]:
    """What "near" chooses, written down from its description."""
    means = scores.mean(axis=-1)
    n_selection, n_k, _ = means.shape
    margin = 0.2 * error_of(scores[np.unravel_index(means.argmax(), means.shape)])
    for a in range(n_selection):
        if means[a].max() < means.max() - margin:
            continue
        for k in range(n_k):
            if means[a, k].max() >= means[a].max() - margin:
                return a, k, int(means[a, k].argmax())
    raise AssertionError("the best is near itself")


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(2, 5))
def test_near_by_loops(seed: int, n_selection: int, n_k: int, n_refit: int, n_folds: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((n_selection, n_k, n_refit, n_folds))
    assert choose(scores, KS[:n_k], "near") == choose_near_by_loops(scores)


def average_penalties(values: Array) -> Array:
    """Each value averaged with its neighbours on both axes of penalties, by loops."""
    averaged = np.zeros_like(values)
    n_selection, _, n_refit = values.shape
    for a, k, r in np.ndindex(values.shape):
        for da, dr in itertools.product((-1, 0, 1), repeat=2):
            at = min(max(a + da, 0), n_selection - 1), k, min(max(r + dr, 0), n_refit - 1)
            averaged[a, k, r] += (1 + (da == 0)) * (1 + (dr == 0)) * values[at] / 16
    return averaged


def weigh(ks: Array, k: int, j: int) -> float:
    return float(np.exp(-(((np.log(ks[k] + 1) - np.log(ks[j] + 1)) / rules.K_WIDTH) ** 2) / 2))


def error_of(folds: Array) -> float:
    return float(folds.std(ddof=1) / np.sqrt(len(folds)))


def compare_by_loops(scores: Array, ks: Array) -> tuple[Array, list[tuple[int, int, int]], float]:
    """Rates, penalties for each k and the standard error of "smooth", written down from its description."""
    means = scores.mean(axis=-1)
    n_selection, n_k, n_refit = means.shape
    best = np.unravel_index(means.argmax(), means.shape)
    near = [k for k in (best[1] - 1, best[1], best[1] + 1) if 0 <= k < n_k]
    error = float(np.sqrt(np.mean([error_of(scores[best[0], k, best[2]]) ** 2 for k in near])))
    lack = np.zeros_like(means)
    for k in range(n_k):
        a, r = np.unravel_index(means[:, k].argmax(), (n_selection, n_refit))
        lack[:, k] = np.maximum(means[:, k] - means[a, k, r], -rules.LOWEST * error_of(scores[a, k, r]))
    lack, choices = average_penalties(lack), []
    for k in range(n_k):
        weights = np.array([weigh(ks, k, j) for j in range(n_k)])
        total = np.einsum("j,ajr->ar", weights, lack) / weights.sum()
        a, r = np.unravel_index(means[:, k].argmax(), (n_selection, n_refit))
        total[means[:, k] < means[a, k, r] - rules.USELESS * error_of(scores[a, k, r])] = -np.inf
        a, r = np.unravel_index(np.argmax(total), (n_selection, n_refit))
        choices.append((int(a), k, int(r)))
    lowest = means.max() - rules.LOWEST * error
    averaged, rates = average_penalties(np.maximum(means, lowest)), np.full(n_k, -np.inf)
    for k, choice in enumerate(choices):
        if means[:, k].max() < lowest:
            continue
        total, weight = 0.0, 0.0
        for j in range(n_k):
            lower = scores[choices[j]] - scores[choice]
            if lower.mean() >= -rules.CLEAR_DIFFERENCE * error_of(lower):
                total += weigh(ks, k, j) * averaged[choice[0], j, choice[2]]
                weight += weigh(ks, k, j)
        rates[k] = total / weight
    return rates, choices, error


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(2, 5))
def test_smooth_averages_neighbours(seed: int, n_selection: int, n_k: int, n_refit: int, n_folds: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((n_selection, n_k, n_refit, n_folds))
    ks = KS[:n_k]
    rates, choices, error = compare_by_loops(scores, ks)
    found = compare(scores, ks, "smooth")
    assert found.choices == choices
    assert_allclose(found.rates, rates, rtol=1e-10, atol=1e-12)
    chosen = choose(scores, ks, "smooth").k
    limit = rates.max() - rules.MARGINS["smooth"] * error
    assert rates[chosen] >= limit - 1e-8
    assert (rates[:chosen] < limit + 1e-8).all()


def test_a_k_that_is_clearly_worse_is_never_chosen() -> None:
    """The standard error of the best is small by luck, and neighbours of a bad k are good."""
    ks = np.arange(300)
    noise = 0.01 * np.random.default_rng(0).standard_normal((300, 5))
    scores = (np.where(ks < 150, -10.0, -1.0)[:, None] + noise)[None, :, None]
    assert choose(scores, ks, "smooth").k >= 150


def test_one_exploding_score_does_not_make_all_others_equal() -> None:
    scores = by_k([-1.5, -1.5], [-1.0, -1.0], [-0.5, -0.5], [-1e12, -1e12])
    for rule in ("best", "smooth"):
        assert choose(scores, KS[:4], rule).k == 2


def test_penalties_of_a_bad_k_are_its_best_ones() -> None:
    """Scores far below the best still tell the penalties of their own k apart."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(5)
    scores = np.zeros((1, 2, 3, 5)) + noise
    scores[:, 0] -= 100.0 * np.array([3.0, 2.0, 1.0])[:, None]
    assert compare(scores, np.array([0, 40]), "smooth").choices[0] == Choice(0, 0, 2)


@pytest.mark.parametrize("size", [1e-21, 1e-3])
def test_useless_penalties_are_never_chosen(size: float) -> None:
    """Where one combination fits nearly exactly, all others are within two tiny standard errors, cut as they are."""
    rng = np.random.default_rng(1)
    scores = -0.2 - 0.02 * rng.random((3, 5, 6, 5))
    for k in range(1, 5):
        scores[0, k, 0] = -size * rng.random(5)
    for choice in compare(scores, KS, "smooth").choices[1:]:
        assert (choice.selection, choice.refit) == (0, 0)
    assert choose(scores, KS, "smooth").k > 0


def test_smooth_does_not_take_a_lucky_neighbour_of_bad_models() -> None:
    """A single k that scores best by chance, among noise, and a broad hill that scores a little less."""
    ks = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    means = np.array([0.0, 0.1, 0.2, 0.75, 0.8, 0.85, 0.8, 0.75, 0.2, 0.87])
    noise = np.random.default_rng(0).standard_normal((10, 5))
    folds = means[:, None] + noise - noise.mean(axis=1, keepdims=True)
    assert choose(folds[None, :, None], ks, "best").k == 9
    assert 3 <= choose(folds[None, :, None], ks, "smooth").k <= 7


def test_the_k_after_a_necessary_feature_does_not_suffer_from_the_one_before() -> None:
    """Scores rise steeply to k = 3 and hardly change after it: on every fold alike."""
    ks = np.array([0, 1, 2, 3, 4, 5, 7, 9])
    means = np.array([-3.0, -2.0, -1.0, -0.5, -0.5001, -0.5002, -0.5003, -0.5004])
    noise = np.random.default_rng(0).standard_normal((8, 5))
    folds = means[:, None] + 0.1 * noise[0] + 1e-3 * noise
    assert choose(folds[None, :, None], ks, "smooth").k == 3


def test_a_clearly_worse_neighbour_does_not_pull_down_the_best() -> None:
    """Rates depend on how bad a model is only up to some standard errors below the best."""
    bad, worse = (by_k([0, 0.1], [level, level], [10, 10.1], [9.9, 10.1]) for level in (-100.0, -1e9))
    assert_allclose(compare(bad, KS[:4], "smooth").rates, compare(worse, KS[:4], "smooth").rates)


RULES = pytest.mark.parametrize("rule", rules.RULES)


@RULES
@given(
    seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([1e-6, 0.5, 1e4]), shift=st.sampled_from([-5.0, 0.0, 100.0])
)
def test_units_of_scores_do_not_matter(rule: str, seed: int, factor: float, shift: float) -> None:
    scores = np.random.default_rng(seed).standard_normal((2, 5, 3, 4))
    assert choose(factor * (scores + shift), KS, rule) == choose(scores, KS, rule)


@RULES
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_folds_does_not_matter(rule: str, seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((2, 5, 3, 4))
    assert choose(scores[..., ::-1], KS, rule) == choose(scores, KS, rule)


@RULES
def test_one_fold(rule: str) -> None:
    assert compute_standard_errors(np.array([[3.0]])).tolist() == [0.0]
    for seed in range(20):
        scores = np.random.default_rng(seed).standard_normal((2, 5, 3, 1))
        assert scores[choose(scores, KS, rule)] == scores.max()


@RULES
def test_infinite_losses_are_never_chosen(rule: str) -> None:
    scores = by_k([1, 1.2], [-np.inf, 5], [2, 2.5], [2.1, -np.inf])
    assert choose(scores, KS[:4], rule).k in ((2,) if rule != "smooth" else (0, 2))
    one = np.full((2, 3, 2, 2), -np.inf)
    one[1, 1, 0] = [0.0, 1.0]
    assert choose(one, KS[:3], rule).k == 1


@RULES
def test_if_all_are_infinite_the_first_is_taken(rule: str) -> None:
    assert choose(np.full((2, 3, 2, 2), -np.inf), KS[:3], rule) == Choice(0, 0, 0)
    some = by_k([-np.inf, 1.0], [-np.inf, 2.0])
    assert choose(some, KS[:2], rule) == Choice(0, 0, 0)


def test_standard_errors() -> None:
    rows = np.array([[1.0, 2.0, 6.0], [1.0, -np.inf, 0.0], [4.0, 4.0, 4.0]])
    assert_allclose(compute_standard_errors(rows), [np.sqrt(7.0) / np.sqrt(3.0), np.inf, 0.0])
