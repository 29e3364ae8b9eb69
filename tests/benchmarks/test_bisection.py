"""Bisection finds k features, or the largest smaller selection."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import graphical_lasso
from suite.bisection import TUNED, count_edges, find_lasso_penalty, select_by_bisection, select_l1

from ksparse.datasets import make_logistic, make_precision


@pytest.mark.parametrize("k", [1, 7, 40])
def test_bisection_finds_a_size_that_occurs(k: int) -> None:
    strengths = []

    def select(strength: float) -> np.ndarray:
        strengths.append(strength)
        return np.arange(int(10 * max(strength + 2.0, 0.0)))

    assert select_by_bisection(select, -2.0, k).size == k
    assert len(strengths) < 20


def test_bisection_returns_the_next_smaller_size_if_k_does_not_occur() -> None:
    assert select_by_bisection(lambda strength: np.arange(3 if strength < 0.7 else 9), -1.0, 5).size == 3
    assert select_by_bisection(lambda strength: np.arange(4), 0.0, 5).size == 4  # never more than 4
    assert select_by_bisection(lambda strength: np.arange(9), 0.0, 5).size == 0  # never fewer than 9


def test_l1_selects_k_features() -> None:
    pytest.importorskip("sklearn", minversion="1.8", reason="l1_ratio=1.0 was an L2 penalty before")
    X, y, coef = make_logistic(n=300, p=40, k=4)
    support = select_l1(X, y, 6)
    assert support.size == 6
    largest = np.argsort(-np.abs(coef))[:2]
    assert np.isin(largest, support).all()


def test_lasso_penalty_gives_about_k_edges() -> None:
    X, precision = make_precision(n=200, p=30, degree=3.0)
    correlations, k = np.corrcoef(X, rowvar=False), count_edges(precision)
    found = graphical_lasso(correlations, find_lasso_penalty(correlations, k), **TUNED)[1]
    assert abs(count_edges(found) - k) <= 0.05 * k + 1
