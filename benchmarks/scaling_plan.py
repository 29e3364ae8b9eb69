"""What a fit on a cluster takes, by formulas: bytes that move, memory of a worker, seconds of a round trip and a pass.

`docs/scaling.md` has a plan made of them; `tests/benchmarks/test_scaling_plan.py` compares them with counts of fits and
with a simulation of a scheduler.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

#: Parts that are added up at once, here and in `ksparse.designs.blocked.runner`.
FAN_IN = 8
#: Bytes of an answer besides its numbers: shapes and types. Measured.
ANSWER_BYTES = 220


@dataclass(frozen=True)
class Cluster:
    """Machines, and what one of them does in a second."""

    workers: int
    #: Bytes of X that a worker reads from memory, or from its disk.
    bytes_per_second: float = 10e9
    #: Bytes that a worker sends or gets.
    network: float = 1e9
    #: Seconds that the scheduler takes for a task.
    seconds_per_task: float = 2e-4
    #: Seconds from the client to a worker and back.
    latency: float = 5e-3


@dataclass(frozen=True)
class Fit:
    """Dense X in blocks of rows, which may consist of several chunks each, and a model with k features."""

    rows: float
    features: int
    k: int
    blocks: int
    itemsize: int = 8
    #: Parts that a task reads one after the other; as many as blocks, unless they are more.
    chunks: int = 0
    #: The fraction of entries that are not zero; those of sparse X have an index of four bytes each.
    density: float = 1.0

    @property
    def nbytes(self) -> float:
        """Bytes of X."""
        entry = self.itemsize if self.density == 1 else self.density * (self.itemsize + 4)
        return self.rows * self.features * entry

    def count_refit_numbers(self, with_hessian: bool = True) -> int:
        """Numbers in the answer for a trial point: f, the gradient, the change of margins, and the Hessian."""
        k = self.k
        return 1 + (k + 1) + 3 + ((k * k + k + 1) if with_hessian else 0)

    def count_gradient_numbers(self) -> int:
        """Numbers in the answer of a pass: a slope for each feature, and one for the intercept."""
        return self.features + 1

    @property
    def parts_for_client(self) -> int:
        """Answers that are left for the client."""
        level = self.blocks
        while level > FAN_IN:
            level = math.ceil(level / FAN_IN)
        return level

    @property
    def tasks(self) -> int:
        """Tasks of a round trip: one for each block, and those that add up."""
        total = level = self.blocks
        while level > FAN_IN:
            level = math.ceil(level / FAN_IN)
            total += level
        return total

    @property
    def depth(self) -> int:
        """Tasks after each other in a round trip."""
        level, depth = self.blocks, 1
        while level > FAN_IN:
            level, depth = math.ceil(level / FAN_IN), depth + 1
        return depth

    def count_received(self, numbers: int) -> float:
        """Bytes that come back to the client in a round trip whose answer has so many numbers."""
        return self.parts_for_client * (8 * numbers + ANSWER_BYTES)

    def count_moved(self, numbers: int) -> float:
        """Bytes that move between workers, at most: each part but those of the last level."""
        return (self.tasks - self.parts_for_client) * (8 * numbers + ANSWER_BYTES)

    def find_worker_memory(self, cluster: Cluster, kept_columns: int | None = None, in_memory: bool = True) -> float:
        """Bytes that a worker holds: its rows of X, the columns of supports, y and the weights."""
        columns = max(2 * self.k, self.features // 10) if kept_columns is None else kept_columns
        held = self.nbytes if in_memory else 2 * self.nbytes / max(self.chunks, self.blocks) * cluster.workers
        return (held + 8 * self.rows * (columns + 2)) / cluster.workers

    def find_round_trip_seconds(self, cluster: Cluster, numbers: int, seconds_of_block: float = 0.0) -> float:
        """Seconds of a round trip: the scheduler and the workers at the same time, then the tree of sums."""
        own = math.ceil(self.blocks / cluster.workers) * seconds_of_block
        scheduling = self.tasks * cluster.seconds_per_task
        transfer = (8 * numbers + ANSWER_BYTES) / cluster.network
        steps = (self.depth - 1) * (cluster.latency / 2 + FAN_IN * transfer)
        return max(own, scheduling) + steps + cluster.latency + self.parts_for_client * transfer

    def find_pass_seconds(self, cluster: Cluster) -> float:
        """Seconds of a gradient in all features."""
        block = self.nbytes / self.blocks / cluster.bytes_per_second
        return self.find_round_trip_seconds(cluster, self.count_gradient_numbers(), block)


def simulate_round_trip(fit: Fit, cluster: Cluster, numbers: int, seconds_of_block: float) -> float:
    """Seconds of a round trip, event by event: one scheduler that sends out ready tasks, workers with one thread each.

    A task of the tree is ready when its parts are done, and fetches them one after the other.
    """
    transfer = (8 * numbers + ANSWER_BYTES) / cluster.network
    free = [(0.0, worker) for worker in range(cluster.workers)]
    heapq.heapify(free)
    scheduler, done = cluster.latency / 2, list[float]()
    for _ in range(fit.blocks):
        scheduler += cluster.seconds_per_task
        ready, worker = heapq.heappop(free)
        end = max(scheduler, ready) + seconds_of_block
        heapq.heappush(free, (end, worker))
        done.append(end)
    while len(done) > FAN_IN:
        groups, done = [done[i : i + FAN_IN] for i in range(0, len(done), FAN_IN)], []
        for group in sorted(groups, key=max):
            scheduler = max(scheduler, max(group) + cluster.latency / 4) + cluster.seconds_per_task
            done.append(scheduler + cluster.latency / 4 + len(group) * transfer)
    return max(done) + cluster.latency / 2 + len(done) * transfer


def describe_plan(fit: Fit, cluster: Cluster, in_memory: bool = True) -> list[tuple[str, str]]:
    """The plan as rows of a table."""
    refit, gradient = fit.count_refit_numbers(), fit.count_gradient_numbers()
    pass_seconds, refit_seconds = fit.find_pass_seconds(cluster), fit.find_round_trip_seconds(cluster, refit)
    return [
        ("X", f"{fit.nbytes / 1e12:.3g} TB"),
        ("X on a machine", f"{fit.nbytes / cluster.workers / 1e9:.4g} GB"),
        ("a chunk", f"{fit.nbytes / max(fit.chunks, fit.blocks) / 1e9:.3g} GB"),
        ("blocks", str(fit.blocks)),
        ("memory of a machine", f"{fit.find_worker_memory(cluster, 2 * fit.k, in_memory) / 1e9:.3g} GB"),
        ("tasks of a round trip", str(fit.tasks)),
        ("to the client for a refit step", f"{fit.count_received(refit) / 1e6:.2g} MB"),
        ("between workers for a refit step, at most", f"{fit.count_moved(refit) / 1e6:.3g} MB"),
        ("to the client for a pass", f"{fit.count_received(gradient) / 1e6:.2g} MB"),
        ("between workers for a pass, at most", f"{fit.count_moved(gradient) / 1e9:.3g} GB"),
        ("seconds of a refit step, besides arithmetic", f"{refit_seconds:.2g}"),
        ("seconds of a pass", f"{pass_seconds:.3g}"),
    ]


#: The plan of docs/scaling.md: 10⁹ rows × 10⁵ features on 100 machines, sparse in memory, and dense on disk.
SPARSE_PLAN = Fit(1e9, 100_000, 100, 1000, itemsize=4, density=1e-3), Cluster(100)
DENSE_PLAN = Fit(1e9, 100_000, 100, 400, itemsize=4, chunks=400_000), Cluster(100, bytes_per_second=2e9)


def render_plan() -> str:
    """Both plans as a table of Markdown."""
    sparse, dense = describe_plan(*SPARSE_PLAN), describe_plan(*DENSE_PLAN, in_memory=False)
    lines = [f"| {what} | {value} | {other} |" for (what, value), (_, other) in zip(sparse, dense, strict=True)]
    return "\n".join(["| | sparse, in memory | dense, on disk |", "|---|---|---|", *lines])
