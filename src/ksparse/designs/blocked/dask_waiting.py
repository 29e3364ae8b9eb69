"""Waiting for what workers compute: those that are paused give freed memory back, and a standstill is an error."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ...limits import describe_size

__all__ = ["SMALLER_CHUNKS", "describe_smallest_limit", "wait_for_futures"]

#: Seconds after which the workers are looked at, and after which a standstill is an error.
CHECK_SECONDS, STANDSTILL_SECONDS = 2.0, 60.0
#: What a user can do where memory is short.
SMALLER_CHUNKS = "use smaller chunks, as X.rechunk({0: 10_000}) makes them, or larger workers"


def wait_for_futures(futures: Sequence[Any], limits: Sequence[int]) -> None:
    """Return when all futures are finished, or one of them has failed.

    Parameters
    ----------
    futures : sequence of Future
        The futures, of one client.
    limits : sequence of int
        The memory limits of the workers when the fit began.
    """
    from distributed import as_completed

    client, waiting, last = futures[0].client, set(futures), time.monotonic()
    while waiting:
        try:
            # To gather what is not there yet prints errors of its own, if that is interrupted.
            for future in as_completed(list(waiting), loop=client.loop, timeout=CHECK_SECONDS):
                if future.status != "finished":
                    return
                waiting.discard(future)
                last = time.monotonic()
        except TimeoutError:
            standstill = _find_standstill(client, limits)
            last = last if standstill else time.monotonic()
            if time.monotonic() - last > STANDSTILL_SECONDS:
                raise MemoryError(
                    f"nothing was computed for {STANDSTILL_SECONDS:g} seconds: {standstill}, mostly because a block "
                    "of X and what is made of it do not fit into the memory limit of a worker, "
                    f"{describe_smallest_limit(limits)}: {SMALLER_CHUNKS}"
                ) from None


def _find_standstill(client: Any, limits: Sequence[int]) -> str:
    """Why no worker computes, in words; empty if one does."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:  # where there were none, they may be about to start
        return "all workers are gone" if limits else ""
    paused = [address for address, worker in workers.items() if worker["status"] == "paused"]
    if not paused or any(worker["metrics"]["task_counts"].get("executing") for worker in workers.values()):
        return ""
    client.run(give_memory_back, workers=paused, on_error="ignore")
    return f"{len(paused)} of {len(workers)} workers are paused"


def give_memory_back() -> None:
    """Return freed memory to the system, where the C library can: Dask counts it as used, and pauses a worker."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def describe_smallest_limit(limits: Sequence[int]) -> str:
    """The smallest memory limit in words."""
    return describe_size(min(limits), base=1000) if limits and min(limits) else "which is not set"
