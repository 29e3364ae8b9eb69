"""Fits run BLAS on one thread, leave the caller's setting as it was, and do neither if they are asked not to."""

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


def test_small_work_has_one_thread_and_large_passes_those_of_the_caller() -> None:
    with threadpool_limits(2, user_api="blas"):
        allowed = blas_threads()
        with threads.one_thread():
            assert blas_threads() == {1}
            with threads.use_caller_threads(threads.MIN_THREADED_SIZE - 1):
                assert blas_threads() == {1}
            with threads.use_caller_threads(threads.MIN_THREADED_SIZE):
                assert blas_threads() == allowed
            assert blas_threads() == {1}
        assert blas_threads() == allowed


def test_a_large_problem_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = ksparse.minimize(linear("logistic"), k=3)
    monkeypatch.setattr(threads, "MIN_THREADED_SIZE", 1)
    result = ksparse.minimize(linear("logistic"), k=3)
    np.testing.assert_allclose(result.x, reference.x, atol=1e-10)


def test_overlapping_work_leaves_the_threads_as_they_were() -> None:
    """The fit that begins second finds one thread, and must not restore that number when it ends last."""
    inside, first_has_left = Event(), Event()

    def run_longer() -> None:
        with threads.one_thread():
            inside.set()
            assert first_has_left.wait(60)

    before = blas_threads()
    other = Thread(target=run_longer)
    with threads.one_thread():
        other.start()
        assert inside.wait(60)
        assert blas_threads() == {1}
    first_has_left.set()
    other.join()
    assert blas_threads() == before


# --- a way out ----------------------------------------------------------------------------------------------------


def threads_during_a_fit() -> list[set[int]]:
    """BLAS threads as another Python thread sees them while a fit runs."""
    seen: list[set[int]] = []

    def watch(*_: object) -> None:
        other = Thread(target=lambda: seen.append(blas_threads()))
        other.start()
        other.join()

    ksparse.minimize(linear("logistic"), k=3, callback=watch)
    assert seen
    return seen


@pytest.mark.parametrize("way", ["context", "environment"])
def test_a_program_may_keep_its_threads(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with threadpool_limits(2, user_api="blas"):
        allowed = blas_threads()
        if allowed == {1}:
            pytest.skip("BLAS has one thread here")
        assert all(seen == {1} for seen in threads_during_a_fit())
        if way == "environment":
            monkeypatch.setenv("KSPARSE_THREADS", "keep")
            assert all(seen == allowed for seen in threads_during_a_fit())
        else:
            with threads.keep_threads():
                assert all(seen == allowed for seen in threads_during_a_fit())
        monkeypatch.delenv("KSPARSE_THREADS", raising=False)
        assert all(seen == {1} for seen in threads_during_a_fit())
        assert blas_threads() == allowed


def test_keeping_threads_holds_for_the_thread_that_asks() -> None:
    inside, done = Event(), Event()

    def keep() -> None:
        with threads.keep_threads():
            inside.set()
            assert done.wait(60)

    other = Thread(target=keep)
    other.start()
    assert inside.wait(60)
    with threads.one_thread():
        assert blas_threads() == {1}
    done.set()
    other.join()


def test_keeping_threads_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = ksparse.minimize(linear("logistic"), k=3)
    with threads.keep_threads():
        monkeypatch.setattr(threads, "MIN_THREADED_SIZE", 1)
        result = ksparse.minimize(linear("logistic"), k=3)
    np.testing.assert_allclose(result.x, reference.x, atol=1e-10)


def test_other_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSPARSE_THREADS", "4")
    with pytest.raises(ValueError, match=r"KSPARSE_THREADS must be \"keep\" or unset, got '4'.*threadpool_limits"):
        ksparse.minimize(linear("logistic"), k=3)
