"""The open nodes of branch and bound for least squares, in arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import AnyArray, Array, IntArray, Mask
from ..compiling import jit_compile

__all__ = [
    "BORN",
    "MISSED",
    "MOST",
    "NODES",
    "OPEN",
    "STEP_COUNT",
    "UNUSED",
    "Pool",
    "enlarge_pool",
    "find_newest",
    "make_pool",
    "push",
    "take",
]

#: Positions in `Pool.counters`; MOST is the largest number of nodes that there may be room for.
OPEN, UNUSED, NODES, STEP_COUNT, BORN, MISSED, MOST = range(7)


class Pool(NamedTuple):
    """The open nodes, in arrays with a row for each."""

    #: 1 for selected features, −1 for those that are left out, 0 for open ones.
    status: AnyArray
    #: Where the relaxation ended.
    warm: AnyArray
    bound: Array
    #: λ_min of the form of the open features, and how many they were when it was computed.
    least: Array
    size: IntArray
    #: The feature to divide by, or −1 for a node that is still to be bounded, and the number of the node.
    branch: IntArray
    born: IntArray
    #: Heap of the rows by their bound, and rows that are not used.
    heap: IntArray
    unused: IntArray
    counters: IntArray
    #: The lowest f that was found, rounded up; the lowest bound of a closed part.
    values: Array
    #: The support of the lowest f.
    best: AnyArray
    #: Features whose rows of the matrix are needed.
    wanted: Mask


def make_pool(features: int, capacity: int, most: int, upper: float) -> Pool:
    """A pool without nodes."""
    bound, least = (np.zeros(capacity) for _ in range(2))
    size, branch, born, heap = (np.zeros(capacity, dtype=np.int64) for _ in range(4))
    return Pool(
        status=np.zeros((capacity, features), dtype=np.int8),
        warm=np.zeros((capacity, features), dtype=np.float32),
        bound=bound,
        least=least,
        size=size,
        branch=branch,
        born=born,
        heap=heap,
        unused=np.arange(capacity)[::-1].copy(),
        counters=np.array([0, capacity, 0, 0, 0, 0, most], dtype=np.int64),
        values=np.array([upper, np.inf]),
        best=np.full(features, -1, dtype=np.int8),
        wanted=np.zeros(features, dtype=np.bool_),
    )


def enlarge_pool(pool: Pool) -> Pool:
    """The same nodes with twice the room, or as much as there may be."""
    capacity = pool.bound.size
    added = int(min(capacity, pool.counters[MOST] - capacity))
    names = ("status", "warm", "bound", "least", "size", "branch", "born", "heap")
    grown = {name: _extend(getattr(pool, name), added) for name in names}
    left = pool.counters[UNUSED]
    unused = np.concatenate([np.arange(capacity, capacity + added)[::-1], pool.unused[:left], pool.unused[left:]])
    pool.counters[UNUSED] += added
    return pool._replace(unused=unused, **grown)


def _extend(rows: AnyArray, added: int) -> AnyArray:
    return np.concatenate([rows, np.zeros((added, *rows.shape[1:]), dtype=rows.dtype)])


@jit_compile
def push(pool: Pool, node: int) -> None:
    """Put a row into the heap."""
    position = pool.counters[OPEN]
    pool.counters[OPEN] += 1
    while position > 0:
        parent = (position - 1) // 2
        if pool.bound[pool.heap[parent]] <= pool.bound[node]:
            break
        pool.heap[position] = pool.heap[parent]
        position = parent
    pool.heap[position] = node


@jit_compile
def take(pool: Pool, position: int) -> int:
    """Take the row at a position out of the heap."""
    node = pool.heap[position]
    pool.counters[OPEN] -= 1
    count = pool.counters[OPEN]
    if position == count:
        return node
    last = pool.heap[count]
    while position > 0 and pool.bound[pool.heap[(position - 1) // 2]] > pool.bound[last]:
        pool.heap[position] = pool.heap[(position - 1) // 2]
        position = (position - 1) // 2
    while True:
        child = 2 * position + 1
        if child >= count:
            break
        if child + 1 < count and pool.bound[pool.heap[child + 1]] < pool.bound[pool.heap[child]]:
            child += 1
        if pool.bound[pool.heap[child]] >= pool.bound[last]:
            break
        pool.heap[position] = pool.heap[child]
        position = child
    pool.heap[position] = last
    return node


@jit_compile
def find_newest(pool: Pool) -> int:
    """The position of the node that was made last."""
    newest = 0
    for position in range(pool.counters[OPEN]):
        if pool.born[pool.heap[position]] > pool.born[pool.heap[newest]]:
            newest = position
    return newest
