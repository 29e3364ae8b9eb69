"""A cluster of two worker processes, started once for the tests that need one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest


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
        for _ in range(500):  # the client releases them in a thread of its own
            if not client.futures:
                break
            time.sleep(0.02)
        assert not client.futures, "futures were left behind"
