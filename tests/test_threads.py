"""Solvers leave the caller's thread settings as they were."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import ksparse
from ksparse import threads
from tests.problems import linear


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_threads_are_restored_after_success_and_failure() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        ksparse.minimize(linear("logistic"), k=3)
        assert blas_threads() == before
        with pytest.raises(ValueError, match="k must be"):
            ksparse.minimize(linear("logistic"), k=-3)
        assert blas_threads() == before


def test_small_work_has_one_thread_and_large_passes_the_callers() -> None:
    with threadpool_limits(2, user_api="blas"):
        allowed = blas_threads()
        with threads.one_thread():
            assert blas_threads() == {1}
            with threads.caller_threads(threads.LARGE - 1):
                assert blas_threads() == {1}
            with threads.caller_threads(threads.LARGE):
                assert blas_threads() == allowed
            assert blas_threads() == {1}
        assert blas_threads() == allowed


def test_a_large_problem_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = ksparse.minimize(linear("logistic"), k=3)
    monkeypatch.setattr(threads, "LARGE", 1)
    result = ksparse.minimize(linear("logistic"), k=3)
    np.testing.assert_allclose(result.x, reference.x, atol=1e-10)


def test_overlapping_work_leaves_the_threads_as_they_were() -> None:
    """Who comes second finds one thread, and must not leave it so when he goes last."""
    inside, first_has_left = Event(), Event()

    def outlasting() -> None:
        with threads.one_thread():
            inside.set()
            assert first_has_left.wait(10)

    before = blas_threads()
    other = Thread(target=outlasting)
    with threads.one_thread():
        other.start()
        assert inside.wait(10)
        assert blas_threads() == {1}
    first_has_left.set()
    other.join()
    assert blas_threads() == before
