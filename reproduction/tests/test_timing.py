"""Seconds are CPU seconds of the thread that does the work."""

from __future__ import annotations

import threading
import time

from reproduction.methods import time_call


def _busy(until: threading.Event) -> None:
    while not until.is_set():
        sum(range(1000))


def test_neither_waiting_nor_other_threads_count() -> None:
    end = threading.Event()
    other = threading.Thread(target=_busy, args=(end,))
    other.start()
    try:
        _, seconds = time_call(lambda: time.sleep(0.5))
    finally:
        end.set()
        other.join()
    assert seconds < 0.1
