"""Blocks of rows on the workers of a Dask cluster, or in the threads of Dask's own scheduler."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import getitem
from threading import Lock
from typing import Any
from uuid import uuid4

from ...counters import Counters
from .block_plan import BlockPlan
from .dask_waiting import SMALLER_CHUNKS, describe_smallest_limit, wait_for_futures
from .runner import FAN_IN, Blocks, Combine, Runner, find_known, find_missing, make_plan

__all__ = ["DaskRunner", "find_client", "find_futures", "find_own_client"]

#: Larger functions are sent to a worker once, and fetched from it by the others; smaller ones go with each task.
SENT_WITH_TASKS = 16_384

_submitting = Lock()


class DaskRunner(Runner):
    """Blocks of rows in Dask: one graph for each round trip, with a tree that adds up.

    A task computes all that is missing of a block, so that it is on one worker with what was there before. What is kept
    stays there, as futures that are released with the `Blocks`.

    Parameters
    ----------
    counters : Counters
        Where bytes are counted that leave this process and come back to it.
    client : Client, optional
        The client of the cluster; by default the one that Dask uses.
    """

    is_elsewhere = True

    def __init__(self, counters: Counters, client: Any = None) -> None:
        self.counters = counters
        #: None without a cluster.
        self.client = client = find_client() if client is None else client
        # Asked for once, since that is a round trip too.
        workers = [] if client is None else list(client.scheduler_info(n_workers=-1)["workers"].values())
        #: Of the workers, in bytes; 0 for none.
        self.memory_limits = [int(worker["memory_limit"] or 0) for worker in workers]
        #: Of all workers.
        self.n_threads = sum(int(worker["nthreads"]) for worker in workers) or _count_own_threads()

    def hold(self, parts: Sequence[Any], beside: Blocks | None = None) -> Blocks:
        # They go with the next round trip, to where the other values of their blocks are.
        in_chunks = isinstance(parts[0], list)
        sent = Blocks(list(parts), in_chunks=in_chunks)
        others = () if beside is None or in_chunks else (beside,)
        return sent.apply(_keep_first, *others, in_chunks=in_chunks)

    def reduce(
        self, function: Callable[..., Any], wanted: Sequence[Blocks], combine: Combine, name: str = "sum"
    ) -> Any:
        missing = find_missing(wanted)
        known = find_known(wanted, missing)
        kept = [blocks for blocks in missing if blocks.keep]
        plan = make_plan(known, missing, wanted, function, combine)
        graph = _TaskGraph(self.counters, self.client, self.memory_limits)
        together = graph.run(plan, known, bool(kept), name)
        parts: list[Any] = [(getitem, key, len(kept)) for key in together] if kept else list(together)
        last = graph.combine(parts, combine)
        with _explain_lost_work(self.client, self.memory_limits):
            nodes, answers = graph.compute(together if kept else [], last)
        self.counters.bytes_received += len(pickle.dumps(answers))
        for i, blocks in enumerate(kept):
            blocks.values = [KeptValue(node, i) for node in nodes]
            blocks.function, blocks.parents = None, ()  # what this process has sent is not needed any more
        return answers[0] if len(answers) == 1 else combine(answers)


@dataclass(frozen=True)
class KeptValue:
    """One of several values that a task has made of a block, and that stay on one worker together.

    Tasks of their own that take them apart might be done by another worker.
    """

    node: Any
    place: int


class _TaskGraph:
    """The tasks of one round trip; built as a dictionary, which takes a tenth of the time of `dask.delayed`."""

    def __init__(self, counters: Counters, client: Any, limits: Sequence[int]) -> None:
        self._counters, self._client, self._limits = counters, client, limits
        self._tasks: dict[str, Any] = {}
        self._token = uuid4().hex

    def run(self, plan: BlockPlan, known: Sequence[Blocks], keeps: bool, name: str) -> list[str]:
        """A task for each block, which gives its answer, or all that is kept and then the answer."""
        sent, function = self._send(plan), run_keeping_plan if keeps else run_plan
        blocks = zip(*([self._refer(value) for value in part.values or []] for part in known), strict=True)
        return [self._add(name, (function, sent, *values)) for values in blocks]

    def _refer(self, value: Any) -> Any:
        """What a task refers to a value by: its future where there is one, or the key of what makes it."""
        if isinstance(value, list):
            return [self._refer(chunk) for chunk in value]
        if isinstance(value, KeptValue):
            return (getitem, self._refer(value.node), value.place)
        if not hasattr(value, "__dask_graph__"):
            self._counters.bytes_sent += int(getattr(value, "nbytes", 0))
            return value
        futures = find_futures([value])
        if futures and futures[0].client is not self._client:
            raise ValueError(
                "some of X, y, weights and offsets are on a cluster by another client of Dask than the rest; persist "
                "all of them by the same client, or make it the default one"
            )
        if len(futures) == 1 and futures[0].key == value.key:
            return futures[0]
        if value.key not in self._tasks:
            self._tasks.update(value.__dask_graph__())
        return value.key

    def combine(self, parts: Sequence[Any], combine: Combine) -> list[str]:
        """The last level of a tree of sums below its root, which this process computes: it saves a step of latency."""
        level = list(parts)
        sent = self._send(combine) if len(level) > FAN_IN else None
        while len(level) > FAN_IN:
            starts = range(0, len(level), FAN_IN)
            level = [self._add("add", (run_function, sent, level[i : i + FAN_IN])) for i in starts]
        return [part if isinstance(part, str) else self._add("answer", part) for part in level]

    def compute(self, stored: Sequence[str], answers: Sequence[str]) -> tuple[list[Any], list[Any]]:
        """Do the work: what refers to the values that stay where they are, and the answers."""
        import dask
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        layer = f"ksparse-{self._token}"
        graph = HighLevelGraph({layer: self._tasks}, {layer: set()})
        wanted = [Delayed(key, graph, layer=layer) for key in (*stored, *answers)]
        is_default = self._client is None or self._client is find_client()
        with _allow_large_graphs(self._client):
            nodes = (
                dask.persist(*wanted, optimize_graph=False)
                if is_default
                else self._client.persist(wanted, optimize_graph=False)
            )
        kept = list(nodes[: len(stored)])
        return kept, _fetch(nodes[len(stored) :], kept, self._limits)

    def _add(self, name: str, task: tuple[Any, ...]) -> str:
        # Dask's dashboard and progress bars show the words before the token.
        key = f"ksparse-{name}-{self._token}-{len(self._tasks)}"
        self._tasks[key] = task
        return key

    def _send(self, function: Any) -> Any:
        """A function as bytes, which are made once for all tasks."""
        import cloudpickle

        sent = cloudpickle.dumps(function)
        self._counters.bytes_sent += len(sent)
        return sent if len(sent) <= SENT_WITH_TASKS else self._add("send", (bytes, sent))


def _keep_first(value: Any, *_: Any) -> Any:
    return value


def _count_own_threads() -> int:
    from dask.system import CPU_COUNT

    return int(CPU_COUNT)


@contextmanager
def _allow_large_graphs(client: Any) -> Iterator[None]:
    """No warning where y and weights of this process are sent, which happens once."""
    if client is None:
        yield  # threads of this process work now, and others need not wait for them
        return
    with _submitting, warnings.catch_warnings():  # which is not safe where several threads do it
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


@contextmanager
def _explain_lost_work(client: Any, limits: Sequence[int]) -> Iterator[None]:
    """Say what a user can do where workers died or the scheduler is gone."""
    if client is None:
        yield
        return
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MemoryError(
            "the workers that computed with a block of X died again and again; mostly, it and what is made of it do "
            f"not fit into the memory limit of a worker, {describe_smallest_limit(limits)}: {SMALLER_CHUNKS}; their "
            "logs say why they died"
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


def run_plan(sent: bytes, *known: Any) -> Any:
    """The answer for a block, by a plan that came as bytes: what a task does."""
    return pickle.loads(sent).run(known)[1]


def run_keeping_plan(sent: bytes, *known: Any) -> tuple[Any, ...]:
    """The values to keep, then the answer for a block."""
    kept, answer = pickle.loads(sent).run(known)
    return (*kept, answer)


def run_function(sent: bytes, *arguments: Any) -> Any:
    """Call a function that came as bytes: what a task that adds up does."""
    return pickle.loads(sent)(*arguments)


def _fetch(nodes: Sequence[Any], stored: Sequence[Any], limits: Sequence[int]) -> list[Any]:
    """The values of some nodes; if that is interrupted, no work is left behind."""
    import dask

    futures = find_futures(nodes)
    if not futures:
        return list(dask.compute(*nodes))
    try:
        wait_for_futures(futures, limits)
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


def find_own_client(collections: Sequence[Any]) -> Any:
    """The client that holds some collections of Dask on its workers; None where none does."""
    futures = find_futures(collections)
    return futures[0].client if futures else None
