"""Bisections end at k, or at the next fewer that there is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import graphical_lasso
from suite.bisection import TUNED, bisected, edges_of, lasso_penalty, liblinear_l1

from ksparse.datasets import make_logistic, make_precision


@pytest.mark.parametrize("k", [1, 7, 40])
def test_a_number_that_occurs_is_hit(k: int) -> None:
    tried = []

    def features(strength: float) -> np.ndarray:
        tried.append(strength)
        return np.arange(int(10 * max(strength + 2.0, 0.0)))

    assert bisected(features, -2.0, k).size == k
    assert len(tried) < 20


def test_a_number_that_does_not_occur_is_missed_from_below() -> None:
    assert bisected(lambda strength: np.arange(3 if strength < 0.7 else 9), -1.0, 5).size == 3
    assert bisected(lambda strength: np.arange(4), 0.0, 5).size == 4  # there are no more
    assert bisected(lambda strength: np.arange(9), 0.0, 5).size == 0  # there are never fewer


def test_an_l1_penalty_leaves_k_features() -> None:
    X, y, coef = make_logistic(n=300, p=40, k=4)
    support = liblinear_l1(X, y, 6)
    assert support.size == 6
    largest = np.argsort(-np.abs(coef))[:2]
    assert np.isin(largest, support).all()


def test_a_penalty_leaves_about_k_edges() -> None:
    X, precision = make_precision(n=200, p=30, degree=3.0)
    correlations, k = np.corrcoef(X, rowvar=False), edges_of(precision)
    found = graphical_lasso(correlations, lasso_penalty(correlations, k), **TUNED)[1]
    assert abs(edges_of(found) - k) <= 0.05 * k + 1
