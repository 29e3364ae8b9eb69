"""Blocks of rows on the workers of a Dask cluster, or in the threads of Dask's own scheduler."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from ...counters import Counters
from ...limits import describe_size
from .runner import FAN_IN, Blocks, Combine, Runner, find_missing

__all__ = ["DaskRunner", "describe_smallest_limit", "find_client", "find_futures"]

#: Larger functions are sent to a worker once, and fetched from it by the others; smaller ones go with each task.
SENT_WITH_TASKS = 16_384


class DaskRunner(Runner):
    """Blocks of rows in Dask: one graph for each round trip, with a tree that adds up.

    What is kept stays on the workers, as futures that are released with the `Blocks`.

    Parameters
    ----------
    counters : Counters
        Where bytes are counted that leave this process and come back to it.
    """

    def __init__(self, counters: Counters) -> None:
        self.counters, client = counters, find_client()
        #: Of the workers, in bytes: asked for once, since that is a round trip too.
        self.memory_limits = [] if client is None else _find_memory_limits(client)

    def hold(self, parts: Sequence[Any]) -> Blocks:
        import dask

        return Blocks([dask.delayed(part, traverse=False, pure=False) for part in parts])

    def reduce(self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine) -> Any:
        import dask

        missing = find_missing(wanted)
        graph = _TaskGraph(self.counters)
        for known in [*wanted, *(parent for blocks in missing for parent in blocks.parents)]:
            if known.values is not None:
                graph.add_known(known)
        for blocks in missing:
            assert blocks.function is not None
            graph.apply(blocks.function, blocks.parents, blocks)
        parts = graph.apply(function, wanted)
        last = graph.combine(parts, combine)
        kept = [blocks for blocks in missing if blocks.keep]
        keys = [key for blocks in kept for key in graph.find_keys(blocks)]
        with _explain_lost_work(self.memory_limits):
            with warnings.catch_warnings():
                # y and weights from this process must be sent, once.
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                nodes = dask.persist(*graph.make_nodes([*keys, *last]), optimize_graph=False)
            stored = nodes[: len(keys)]
            answers = _fetch(nodes[len(keys) :], stored)
        self.counters.bytes_received += len(pickle.dumps(answers))
        for i, blocks in enumerate(kept):
            blocks.values = list(stored[i * len(parts) : (i + 1) * len(parts)])
        return answers[0] if len(answers) == 1 else combine(answers)


class _TaskGraph:
    """The tasks of one round trip; built as a dictionary, which takes a tenth of the time of `dask.delayed`."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._tasks: dict[str, Any] = {}
        self._keys: dict[int, list[Any]] = {}
        self._name = f"ksparse-{uuid4().hex}"

    def find_keys(self, blocks: Blocks) -> list[Any]:
        """The keys of the values of some blocks."""
        return self._keys[id(blocks)]

    def add_known(self, blocks: Blocks) -> None:
        """Take the values of blocks from where they are, or from what makes them."""
        if id(blocks) in self._keys:
            return
        self._keys[id(blocks)] = [self._find_reference(node) for node in blocks.values or []]

    def _find_reference(self, node: Any) -> Any:
        """What a task refers to the value of a node by: its future where there is one, or the key of what makes it."""
        futures = find_futures([node])
        if len(futures) == 1 and futures[0].key == node.key:
            return futures[0]
        if node.key not in self._tasks:
            self._tasks.update(node.__dask_graph__())
        return node.key

    def apply(
        self, function: Callable[..., Any], arguments: Sequence[Blocks], result: Blocks | None = None
    ) -> list[Any]:
        """A task for each block."""
        sent = self._send(function)
        rows = zip(*(self._keys[id(blocks)] for blocks in arguments), strict=True)
        keys = [self._add((run_function, sent, *row)) for row in rows]
        if result is not None:
            self._keys[id(result)] = keys
        return keys

    def combine(self, parts: Sequence[Any], combine: Combine) -> list[Any]:
        """The last level of a tree of sums below its root, which this process computes: it saves a step of latency."""
        level = list(parts)
        sent = self._send(combine) if len(level) > FAN_IN else None
        while len(level) > FAN_IN:
            level = [self._add((run_function, sent, level[i : i + FAN_IN])) for i in range(0, len(level), FAN_IN)]
        return level

    def make_nodes(self, keys: Sequence[Any]) -> list[Any]:
        """The tasks with these keys, for Dask."""
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        graph = HighLevelGraph({self._name: self._tasks}, {self._name: set()})
        return [Delayed(key, graph, layer=self._name) for key in keys]

    def _add(self, task: tuple[Any, ...]) -> str:
        key = f"{self._name}-{len(self._tasks)}"
        self._tasks[key] = task
        return key

    def _send(self, function: Callable[..., Any]) -> Any:
        """A function as bytes, which are made once for all tasks."""
        import cloudpickle

        sent = cloudpickle.dumps(function)
        self._counters.bytes_sent += len(sent)
        return sent if len(sent) <= SENT_WITH_TASKS else self._add((bytes, sent))


@contextmanager
def _explain_lost_work(limits: Sequence[int]) -> Iterator[None]:
    """Say what a user can do where workers died or the scheduler is gone."""
    client = find_client()
    if client is None:
        yield
        return
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MemoryError(
            "the workers that computed with a block of X died again and again; mostly, it and what is made of it do "
            f"not fit into the memory limit of a worker, {describe_smallest_limit(limits)}: use smaller chunks, "
            "as X.rechunk({0: 10_000}) makes them, or larger workers; their logs say why they died"
        ) from error
    except Exception as error:
        if client.status == "running":
            raise
        raise ConnectionError(
            "the connection to the scheduler of Dask was lost, and with it what the workers held; start the scheduler "
            "again, and repeat the fit"
        ) from error


def find_client() -> Any:
    """The client of a cluster that Dask uses by default; None without one."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


def _find_memory_limits(client: Any) -> list[int]:
    """The memory limits of the workers of a cluster in bytes; 0 for none."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return [int(worker["memory_limit"] or 0) for worker in workers]


def describe_smallest_limit(limits: Sequence[int]) -> str:
    """The smallest memory limit in words."""
    return describe_size(min(limits)) if limits and min(limits) else "which is not set"


def run_function(sent: bytes, *arguments: Any) -> Any:
    """Call a function that came as bytes: what a task does."""
    return pickle.loads(sent)(*arguments)


def _fetch(nodes: Sequence[Any], stored: Sequence[Any]) -> list[Any]:
    """The values of some nodes; if that is interrupted, no work is left behind."""
    import dask

    futures = find_futures(nodes)
    if not futures:
        return list(dask.compute(*nodes))
    try:
        return list(futures[0].client.gather(futures))
    except BaseException:
        futures[0].client.cancel([*futures, *find_futures(stored)])
        raise


def find_futures(nodes: Sequence[Any]) -> list[Any]:
    """The futures in some collections of Dask; none where Dask runs in this process."""
    try:
        from distributed import futures_of
    except ImportError:
        return []
    return list(futures_of(list(nodes)))
