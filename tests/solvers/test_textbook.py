"""The methods on logistic regression against loops written from the papers, with refits by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import ksparse
from ksparse.objectives import Logistic
from ksparse.solvers import Constant

ALPHA, K, ITERATIONS = 0.01, 4, 8


def data(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 20)) @ (np.eye(20) + 0.25 * rng.standard_normal((20, 20)))
    return X, np.where(X[:, :6].sum(axis=1) + rng.standard_normal(60) > 0, 1.0, -1.0)


def gradient(X: Any, y: Any, w: Any) -> Any:
    return -X.T @ (y * expit(-y * (X @ w))) / len(y) + ALPHA * w


def refit(X: Any, y: Any, F: Any) -> Any:
    model = LogisticRegression(C=1 / (ALPHA * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    w = np.zeros(X.shape[1])
    w[F] = model.fit(X[:, F], y).coef_[0]
    return w


def top(z: Any, k: int) -> Any:
    return np.sort(np.argsort(-np.abs(z), kind="stable")[:k])


def grahtp(X: Any, y: Any) -> list[Any]:
    w, iterates = np.zeros(X.shape[1]), []
    for _ in range(ITERATIONS):
        w = refit(X, y, top(w - 0.4 * gradient(X, y, w), K))
        iterates.append(w)
    return iterates


def fgrahtp(X: Any, y: Any) -> list[Any]:
    w, iterates = np.zeros(X.shape[1]), []
    for _ in range(ITERATIONS):
        z = w - 0.4 * gradient(X, y, w)
        w = np.zeros_like(z)
        w[top(z, K)] = z[top(z, K)]
        iterates.append(w)
    return iterates


def grasp(X: Any, y: Any) -> list[Any]:
    w, iterates = np.zeros(X.shape[1]), []
    for _ in range(ITERATIONS):
        merged = np.union1d(np.flatnonzero(w), top(gradient(X, y, w), 2 * K))
        w = refit(X, y, top(refit(X, y, merged), K))
        iterates.append(w)
    return iterates


def fbs(X: Any, y: Any) -> list[Any]:
    F: list[int] = []
    iterates = [np.zeros(X.shape[1])]
    for _ in range(K):
        slopes = np.abs(gradient(X, y, iterates[-1]))
        slopes[F] = -1.0
        F.append(int(np.argmax(slopes)))
        iterates.append(refit(X, y, sorted(F)))
    return iterates[1:]


METHODS = {
    "GraHTP": (ksparse.GraHTP(step=Constant(0.4), halting=(), max_iter=ITERATIONS), grahtp),
    "FGraHTP": (ksparse.FGraHTP(step=0.4, halting=(), max_iter=ITERATIONS), fgrahtp),
    "GraSP": (ksparse.GraSP(max_iter=ITERATIONS), grasp),
    "FBS": (ksparse.FBS(), fbs),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", METHODS)
def test_iterates_are_those_of_the_textbook(name: str, seed: int) -> None:
    X, y = data(seed)
    solver, textbook = METHODS[name]
    values: list[float] = []
    ours: list[Any] = []

    def watch(iteration: Any, x: Any) -> None:
        ours.append(x)
        values.append(iteration.value)

    objective = Logistic(X, y, alpha=ALPHA)
    result = ksparse.minimize(objective, k=K, solver=solver, callback=watch)
    theirs = textbook(X, y)
    assert len(ours) >= 2 or result.n_iter >= 2
    for mine, reference, value in zip(ours, theirs, values, strict=False):
        np.testing.assert_allclose(mine, reference, atol=1e-6)
        assert value == pytest.approx(objective.evaluate(reference).value, rel=1e-9)
    np.testing.assert_allclose(
        result.history["value"][-1], objective.evaluate(theirs[result.n_iter - 1]).value, rtol=1e-9
    )
