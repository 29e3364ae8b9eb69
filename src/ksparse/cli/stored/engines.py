"""What reads the blocks of a fit: this process, worker processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

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

__all__ = ["EncodeFrame", "Engine", "open_engine"]

NEEDS_DASK = '--scheduler needs Dask; install it with: pip install "dask[array,dataframe]" distributed'
#: Seconds to wait for a scheduler.
CONNECTION_SECONDS = 10
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

        frame = dd.read_parquet(list(paths), columns=list(columns))
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
            _tell_dashboard(client)
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
    # An interrupt while processes start would leave some behind.
    with hold(), dask.config.set({"temporary-directory": str(folder)}):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=int(memory),
            dashboard_address=":0",
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
            preload=[worker_setup.__name__],
        )
        client = Client(cluster)
    try:
        _tell_dashboard(client)
        processes = f"{count} worker process{'es' * (count > 1)} with {describe_size(int(memory))}"
        yield OnWorkers(
            f"The blocks are read by {processes}{' each' * (count > 1)}", memory, reads_temporary_files=True
        )
    finally:
        with hold():
            client.close()
            cluster.close()


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(NEEDS_DASK) from error
    try:
        client = Client(address, timeout=CONNECTION_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no scheduler answers at {quote(address)} within {CONNECTION_SECONDS} seconds; check the address, and "
            "whether it runs"
        ) from error
    with client:
        yield client


def _tell_dashboard(client: Any) -> None:
    """Say where the work of the workers can be seen; it is for the time of the fit only."""
    if client.dashboard_link:
        write_error(f"ksparse: dashboard of the workers: {escape_control(client.dashboard_link)}\n")
