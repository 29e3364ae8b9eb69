"""What reads the blocks of a fit: this process, worker processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import gc
import logging
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pandas as pd

from ...designs import as_design
from ...designs.blocked.disk_inputs import BLOCK_FRACTION, open_blocks
from ...limits import describe_size
from ...tables import TableEncoder
from ...tables.unknown import ignore_unknown
from ...writing import Hold
from ..errors import InputError, escape_control, quote
from ..files.cells import convert_values, hide_missing
from ..settings import Settings
from ..streams import write_error
from . import worker_setup
from .feature_file import FeatureFile

__all__ = ["EncodeFrame", "Engine", "block_interrupts", "hide_logs", "open_engine", "tell_dashboard"]

NEEDS_DASK = '--scheduler needs Dask; install it with: pip install "dask[array,dataframe]" distributed'
#: Seconds to wait for a scheduler.
CONNECTION_SECONDS = 10
#: Seconds to wait for its dashboard, and how the page begins that is in the place of one.
DASHBOARD_SECONDS, NO_DASHBOARD = 2, b"<p>Dask needs"
#: A worker process takes about 200 MB before it has any data, and ends where its limit is reached.
LEAST_WORKER_MEMORY = 700 * 2**20
#: More workers than this wait for the scheduler.
MOST_WORKERS = 8
#: A block is no more than this fraction of the memory of a worker, nor than so many bytes.
WORKER_BLOCK_FRACTION, LARGEST_WORKER_BLOCK = 1 / 16, 2**26
#: A part of a Parquet file, which is read at once, fits into the memory of a worker so many times.
LEAST_PARTS = 8


class Engine(ABC):
    """Makes designs in blocks of features on disk."""

    #: What it is, in words.
    description: str
    #: Bytes of the largest part of a Parquet file that it can read at once.
    largest_part: float
    #: Whether it reads files of this machine's temporary folder.
    reads_temporary_files = True

    @abstractmethod
    def open_features(self, features: FeatureFile) -> Any:
        """A design of features in a file."""

    @abstractmethod
    def open_files(self, paths: Sequence[str], columns: Sequence[str], encode: EncodeFrame | None) -> Any:
        """A design of columns of Parquet files; of what `encode` makes of them, if they are not all numbers."""


class InProcess(Engine):
    """Blocks that this process reads one after the other."""

    def __init__(self, limit: float, why: str = "") -> None:
        self.limit, self.description = limit, f"The blocks are read by this process{why}"
        self.largest_part = BLOCK_FRACTION * limit

    def open_features(self, features: FeatureFile) -> Any:
        return open_blocks(features, memory_limit=self.limit)

    def open_files(self, paths: Sequence[str], columns: Sequence[str], encode: EncodeFrame | None) -> Any:
        return open_blocks(list(paths), columns=columns, memory_limit=self.limit)


class OnWorkers(Engine):
    """Blocks that the workers of a Dask cluster read."""

    def __init__(self, description: str, worker_memory: float, *, reads_temporary_files: bool) -> None:
        self.description, self.worker_memory = description, worker_memory
        self.reads_temporary_files, self.largest_part = reads_temporary_files, worker_memory / LEAST_PARTS

    def open_features(self, features: FeatureFile) -> Any:
        import dask.array as da

        row = features.shape[1] * features.dtype.itemsize
        step = max(int(min(WORKER_BLOCK_FRACTION * self.worker_memory, LARGEST_WORKER_BLOCK) / max(row, 1)), 1)
        return as_design(da.from_array(features, chunks=(step, -1), asarray=False, lock=False, name=False))

    def open_files(self, paths: Sequence[str], columns: Sequence[str], encode: EncodeFrame | None) -> Any:
        import dask.dataframe as dd

        # One by one: of a list, Dask takes part.2 before part.10, but rows must stand beside their targets.
        frame = dd.concat([dd.read_parquet(path, columns=list(columns)) for path in paths])
        return as_design(frame if encode is None else frame.map_partitions(encode, meta=encode.make_empty()))


class EncodeFrame:
    """What a worker makes of a part of a table: features.

    Parameters
    ----------
    encoder : TableEncoder
        A fitted encoder.
    text : sequence of str
        Columns that are text as a whole, though a part of them may look like numbers.
    na : tuple of str
        Cells that the user calls missing.
    """

    def __init__(self, encoder: TableEncoder, text: Sequence[str], na: tuple[str, ...]) -> None:
        self.encoder, self.text, self.na = encoder, set(text), na

    def make_empty(self) -> pd.DataFrame:
        """The features of no row."""
        return pd.DataFrame({name: pd.Series(dtype=float) for name in self.encoder.get_feature_names_out()})

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not len(frame):
            return self.make_empty()
        cells = {
            name: frame[name].astype(object) if name in self.text else convert_values(frame[name]) for name in frame
        }
        part = pd.DataFrame({name: hide_missing(column, self.na) for name, column in cells.items()})
        with ignore_unknown():
            return pd.DataFrame(self.encoder.transform(part).to_numpy(), columns=self.make_empty().columns)


@contextmanager
def open_engine(settings: Settings, limit: float, folder: Path, hold: Hold) -> Iterator[Engine]:
    """What reads the blocks; workers that it started end with the context, also if it is interrupted."""
    with ExitStack() as stack:
        if settings.scheduler is not None:
            client = stack.enter_context(_connect(settings.scheduler))
            tell_dashboard(client)
            description = f"The blocks are read by the workers of {escape_control(settings.scheduler)}"
            yield OnWorkers(description, LARGEST_WORKER_BLOCK / WORKER_BLOCK_FRACTION, reads_temporary_files=False)
            return
        count, why = _choose_workers(settings, limit)
        if not count:
            yield InProcess(limit, why)
            return
        yield stack.enter_context(_start_workers(count, limit, folder, hold))


def _choose_workers(settings: Settings, limit: float) -> tuple[int, str]:
    """How many worker processes to start, and why none."""
    if not settings.out_of_core or settings.workers == 0:
        return 0, ""
    try:
        import distributed  # noqa: F401
    except ImportError:
        return 0, ', since worker processes need Dask: pip install "dask[array,dataframe]" distributed'
    most = int(limit / LEAST_WORKER_MEMORY)
    if settings.workers is not None:
        if settings.workers > most:
            raise InputError(
                f"--workers {settings.workers} need {describe_size(settings.workers * LEAST_WORKER_MEMORY)} of memory,"
                f" more than {describe_size(int(limit))}; use fewer, or allow more by --max-memory"
            )
        return settings.workers, ""
    if not most:
        return 0, f", since worker processes need {describe_size(LEAST_WORKER_MEMORY)} or more"
    return min(os.cpu_count() or 1, most, MOST_WORKERS), ""


@contextmanager
def _start_workers(count: int, limit: float, folder: Path, hold: Hold) -> Iterator[Engine]:
    import dask
    from distributed import Client, LocalCluster

    memory = limit / count
    with hide_logs(), ExitStack() as stack:
        # An interrupt while processes start would leave some behind: it waits until there is what closes them.
        with hold(), block_interrupts(), dask.config.set({"temporary-directory": str(folder)}):
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                memory_limit=int(memory),
                dashboard_address=":0",
                local_directory=str(folder),
                silence_logs=logging.CRITICAL,
                preload=[worker_setup.__name__],
            )
            stack.callback(_close, cluster, hold)
            client = Client(cluster)
            stack.callback(_close, client, hold)
        tell_dashboard(client)
        processes = f"{count} worker process{'es' * (count > 1)} with {describe_size(int(memory))}"
        yield OnWorkers(
            f"The blocks are read by {processes}{' each' * (count > 1)}", memory, reads_temporary_files=True
        )


def _close(part: Any, hold: Hold) -> None:
    with hold():
        part.close()


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Let threads and processes that start in this context never get Ctrl-C, which a terminal sends to all processes.

    A worker may get it before its first line runs, so that it must inherit this. The command ends its workers itself,
    and gets Ctrl-C in its main thread nevertheless. Windows cannot do this; `worker_setup` must suffice there.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # at its start, it would unblock signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def hide_logs() -> Iterator[None]:
    """Hide what Dask, once imported, says of lost connections and work that ends early: the command says it itself."""
    # One handler has the messages of Dask and Tornado; those of tasks that nobody waits for are of asyncio.
    parts: list[Any] = [*logging.getLogger("distributed").handlers, logging.getLogger("asyncio")]
    levels = [part.level for part in parts]
    for part in parts:
        part.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()  # tasks that ended early say so when they are collected
        for part, level in zip(parts, levels, strict=True):
            part.setLevel(level)


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(NEEDS_DASK) from error
    with hide_logs():
        try:
            client = Client(address, timeout=CONNECTION_SECONDS)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no scheduler answers at {quote(address)} within {CONNECTION_SECONDS} seconds; check the address, and "
                "whether it runs"
            ) from error
        with client:
            yield client


def tell_dashboard(client: Any) -> None:
    """Say where the work of the workers can be seen, if it can; it is for the time of the fit only."""
    link = client.dashboard_link
    if link and _has_dashboard(link):
        write_error(f"ksparse: dashboard of the workers: {escape_control(link)}\n")


def _has_dashboard(link: str) -> bool:
    """Whether there is more at an address than what Dask shows without Bokeh: how to install it."""
    try:
        with urlopen(link, timeout=DASHBOARD_SECONDS) as page:
            return NO_DASHBOARD not in page.read()
    except (OSError, HTTPException):
        return False
    except ValueError:  # a setting of Dask makes it the end of an address
        return True
