"""A cluster of two worker processes, started once for the tests that need one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest


def wait_for_release(client: Any) -> None:
    """Wait until a client has released all futures, which it does in a thread of its own."""
    end = time.monotonic() + 60
    while client.futures:
        assert time.monotonic() < end, "futures were left behind"
        time.sleep(0.02)


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="600MB") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster) as client:
        yield client
        wait_for_release(client)
