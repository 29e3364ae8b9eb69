"""Who reads the blocks of a fit: workers that start and end, and what is said of them."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ksparse.cli import main
from ksparse.cli.interrupts import RaiseOnSignals, Stop
from ksparse.cli.settings import Settings
from ksparse.cli.stored import engines
from ksparse.cli.stored.large_files import StoredFiles

ASK = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
posix = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked")


class Cluster:
    """In place of a cluster of Dask: its start is interrupted, and asks what its processes inherit."""

    closed: list[str]
    inherited: str

    def __init__(self, *_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        found: list[str] = []
        thread = Thread(
            target=lambda: found.append(subprocess.run([sys.executable, "-S", "-c", ASK], stdout=-1, text=True).stdout)
        )
        thread.start()
        thread.join()
        type(self).inherited, type(self).closed = found[0].strip(), []

    def close(self) -> None:
        self.closed.append("cluster")


class Client:
    """In place of a client."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def close(self) -> None:
        self.cluster.closed.append("client")


@posix
def test_an_interrupt_while_workers_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers do not get it, whenever it comes; this process gets it when it can end them."""
    monkeypatch.setattr("distributed.LocalCluster", Cluster)
    monkeypatch.setattr("distributed.Client", Client)
    settings = Settings(out_of_core=True, workers=1)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with (
        pytest.raises(Stop),
        RaiseOnSignals() as signals,
        engines.open_engine(settings, 1e9, tmp_path, signals.hold),
    ):
        pytest.fail("the interrupt was lost")
    assert Cluster.inherited == "True"
    assert Cluster.closed == ["client", "cluster"]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_logs_of_dask_are_hidden_while_it_works() -> None:
    import distributed  # noqa: F401 - it makes its handlers

    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    before = [handler.level for handler in handlers]
    with engines.hide_logs():
        assert all(handler.level > logging.CRITICAL for handler in handlers)
        assert not logging.getLogger("asyncio").isEnabledFor(logging.ERROR)
    assert [handler.level for handler in handlers] == before
    assert logging.getLogger("asyncio").isEnabledFor(logging.ERROR)


@pytest.fixture
def pages() -> Iterator[str]:
    """A server with a dashboard, and what Dask has in the place of one."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            texts = {"/status": b"<html>", "/none": b"<p>Dask needs bokeh</p>"}
            self.send_response(200 if self.path in texts else 404)
            self.end_headers()
            self.wfile.write(texts.get(self.path, b""))

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Pages) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_dashboard_is_announced_if_it_is_there(pages: str, capsys: pytest.CaptureFixture[str]) -> None:
    for link, told in (
        (f"{pages}/status", True),
        (f"{pages}/none", False),
        (f"{pages}/other", False),
        ("http://127.0.0.1:1/status", False),
        ("/proxy/8787/status", True),
        (None, False),
    ):
        engines.tell_dashboard(type("Client", (), {"dashboard_link": link}))
        assert (f"dashboard of the workers: {link}" in capsys.readouterr().err) == told


def test_the_memory_of_this_process_is_not_that_of_a_cluster() -> None:
    files = StoredFiles("a.parquet", ("a.parquet",), True, "since --scheduler asks for it", 2e9)
    assert files.describe(by_cluster=True) == "1 file is read in blocks, since --scheduler asks for it"
    assert "of memory" in files.describe()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "2"], "--workers is for --out-of-core"),
        (["--scheduler", "tcp://a:1", "--workers", "2"], "--scheduler has workers of its own"),
        (["--scheduler", "tcp://a:1", "--out-of-core"], "--scheduler has workers of its own"),
    ],
)
def test_options_that_do_not_fit_together(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fit", "a.csv", *options])
    assert said in capsys.readouterr().err
