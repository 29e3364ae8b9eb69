"""y, weights and offsets as arrays or series of Dask: brought to the blocks of X, without passing this process."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import AnyArray
from .blocked_design import BlockedDesign
from .dask_inputs import DaskCollection, collect_if_dask, count_rows, join_lists
from .dask_runner import DaskRunner, find_futures
from .declared_chunks import DeclaredChunk, check_array_chunks, check_chunk, declare_chunks
from .row_values import RowValues
from .runner import Blocks

__all__ = ["open_row_values"]


def open_row_values(values: Any, X: Any, name: str = "y") -> Any:
    """A vector, or a matrix, of Dask, with an entry for each row of X: it stays on the workers if X is there too.

    Otherwise it comes into memory. Anything else is left as it is.
    """
    if not issubclass(type(values), DaskCollection):
        return values
    if not isinstance(X, BlockedDesign) or not isinstance(X.rows.runner, DaskRunner) or X.rows.order is not None:
        return collect_if_dask(values)
    if hasattr(values, "to_dask_array"):
        parts, sizes, dtype = values.to_delayed(), _count_partitions(values, X), _find_type(values)
        outputs = () if values.ndim == 1 else (len(values.columns),)
    else:
        if values.ndim not in (1, 2):
            raise ValueError(f"{name} has shape {values.shape}; expected an entry for each row of X")
        if np.isnan(values.shape[0]):
            raise ValueError(f"the sizes of the chunks of {name} are not known; call {name}.compute_chunk_sizes()")
        values = values if values.ndim == 1 else values.rechunk({1: -1})
        sizes, dtype, outputs = list(values.chunks[0]), values.dtype, values.shape[1:]
        parts = None
    if sum(sizes) != X.shape[0]:
        raise ValueError(f"{name} has {sum(sizes)} values for {X.shape[0]} rows of X; give one for each row")
    return RowValues(X, _bring_to_rows(values, parts, sizes, dtype, outputs, X, name), outputs, dtype)


def _count_partitions(values: Any, X: BlockedDesign) -> list[int]:
    sizes: list[int] = X.rows.runner.reduce(count_rows, [Blocks(values.to_delayed())], join_lists, "count")
    X.counters.round_trips += 1
    return sizes


def _find_type(values: Any) -> Any:
    """The type of the entries as NumPy has them; objects for those that it does not know, such as categories."""
    types = list(values.dtypes) if values.ndim == 2 else [values.dtype]
    known = [dtype if isinstance(dtype, np.dtype) else np.dtype(object) for dtype in types]
    return np.result_type(*known)


def _bring_to_rows(
    values: Any,
    parts: list[Any] | None,
    sizes: list[int],
    dtype: Any,
    outputs: tuple[int, ...],
    X: BlockedDesign,
    name: str,
) -> Blocks:
    """The entries of each block of X, in chunks as those of X."""
    import dask
    import dask.array as da

    wanted = [size for block in X.rows.chunks for size in block]
    if parts is None or sizes != wanted:
        if parts is not None:
            convert = dask.delayed(_as_array, pure=True)
            shapes = [(size, *outputs) for size in sizes]
            pieces = zip(parts, shapes, strict=True)
            values = da.concatenate([da.from_delayed(convert(part), shape, dtype) for part, shape in pieces])
        values = (values if parts is not None else check_array_chunks(values, name)).rechunk({0: tuple(wanted)})
        parts = values.to_delayed(optimize_graph=not find_futures([values])).ravel().tolist()
    declared = declare_chunks(name, X.rows.chunks, outputs)
    return Blocks(X.rows.group(parts), in_chunks=True).apply(_convert_chunk, declared)


def _convert_chunk(part: Any, declared: DeclaredChunk) -> AnyArray:
    values: AnyArray = check_chunk(_as_array(part), declared)
    return values


def _as_array(part: Any) -> AnyArray:
    return np.asarray(part)
