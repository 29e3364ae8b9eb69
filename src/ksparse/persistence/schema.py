"""Python values as JSON and back: numbers, text, arrays, and objects of the classes in `known_classes`.

A JSON object has one key, which names its kind: ``{"tuple": [1, 2]}``, ``{"array": {...}}``, or a class with its
attributes, ``{"Status": {"value": "converged"}}``.
"""

from __future__ import annotations

import base64
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import impute, model_selection, pipeline, preprocessing
from sklearn.base import BaseEstimator

from .. import debias, estimators, objectives, selection, solvers
from .._types import AnyArray

__all__ = ["MAX_BYTES", "Decoder", "encode", "known_classes", "require", "shorten"]

#: Memory that the arrays of one file may take together. Arrays with many zeros take much less in the file.
MAX_BYTES = 2**31
#: Longer arrays are written as base64, which is shorter and faster to read than a list.
LONGEST_LIST = 1000


@cache
def known_classes() -> dict[str, type]:
    """Classes whose objects can be saved, by name: those that ksparse exports, and some of scikit-learn."""
    names: list[tuple[Any, Any]] = [(module, module.__all__) for module in (estimators, selection, solvers, debias)]
    names += [
        (objectives, ("EigenvalueBounds",)),
        (impute, ("MissingIndicator", "SimpleImputer")),
        (model_selection, ("GroupKFold", "KFold", "LeaveOneOut", "ShuffleSplit", "StratifiedKFold", "TimeSeriesSplit")),
        (pipeline, ("Pipeline",)),
        (preprocessing, ("MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler")),
    ]
    found = {name: getattr(module, name) for module, exported in names for name in exported}
    return {name: value for name, value in found.items() if isinstance(value, type) and _is_data(value)}


def _is_data(known: type) -> bool:
    """Whether the objects of a class are data: not solvers of paths, for example, which hold the samples."""
    ours = is_dataclass(known) or issubclass(known, (BaseEstimator, Enum, tuple, solvers.History))
    return ours or known.__module__.startswith("sklearn.")


@dataclass(frozen=True)
class Kind:
    """A kind of value that JSON lacks: its type, how it is written with `encode`, and read with a `Decoder`."""

    type: Any
    write: Callable[[Any, Callable[[Any], Any]], Any]
    read: Callable[[Any, Decoder], Any]


#: The first kind that fits a value is used.
KINDS = {
    "scalar": Kind(np.generic, lambda v, enc: enc(np.asarray(v)), lambda c, dec: dec.decode(c)[()]),
    "float": Kind(float, lambda v, _: repr(v), lambda c, _: float(c)),  # only NaN and infinity
    "tuple": Kind(tuple, lambda v, enc: enc(list(v)), lambda c, dec: tuple(dec.decode(c))),
    "range": Kind(range, lambda v, _: [v.start, v.stop, v.step], lambda c, _: range(*c)),
    "dict": Kind(Mapping, lambda v, enc: [enc(list(pair)) for pair in v.items()], lambda c, dec: dict(dec.decode(c))),
    "dtype": Kind(np.dtype, lambda v, _: v.descr if v.names else v.str, lambda c, _: _read_dtype(c)),
    "array": Kind(np.ndarray, lambda v, enc: _write_array(v, enc), lambda c, dec: dec.read_array(**c)),
    "csr_array": Kind(
        sparse.csr_array,
        lambda v, enc: [list(v.shape), enc(v.data), enc(v.indices), enc(v.indptr)],
        lambda c, dec: _read_csr(*dec.decode(c)),
    ),
}


def encode(value: Any, where: str) -> Any:
    """A value as JSON; `where` is what errors call it."""
    name = type(value).__name__
    if known_classes().get(name) is type(value):
        return {name: {key: encode(part, f"{where}.{key}") for key, part in _parts(value).items()}}
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [encode(part, where) for part in value]
    for name, kind in KINDS.items():
        if isinstance(value, kind.type):
            return {name: kind.write(value, lambda part: encode(part, where))}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which a file of plain data cannot hold; replace it before saving"
        " (set_params), or save the model with pickle or joblib"
    )


def _parts(value: Any) -> dict[str, Any]:
    """What an object is made from: the state of an estimator; otherwise arguments that are not the default."""
    if isinstance(value, BaseEstimator):
        return dict(value.__getstate__())
    if isinstance(value, Enum):
        return {"value": value.value}
    if isinstance(value, solvers.History):
        return {"iterations": list(value)}
    arguments = inspect.signature(type(value)).parameters.values()
    pairs = [(argument.name, getattr(value, argument.name), argument.default) for argument in arguments]
    return {name: part for name, part, default in pairs if type(part) is not type(default) or part != default}


def _write_array(array: AnyArray, enc: Callable[[Any], Any]) -> dict[str, Any]:
    """Type, shape and values of an array; only its nonzero values, with their indices, if that is shorter."""
    dtype, flat = array.dtype, array.ravel()
    content = {"dtype": KINDS["dtype"].write(dtype, enc), "shape": list(array.shape)}
    if dtype.kind in "OU":
        return content | {"values": enc(flat.tolist())}
    if dtype.hasobject or dtype.kind not in "biufV":
        raise TypeError(f"an array of {dtype} cannot be saved; expected numbers, booleans or text")
    if dtype.kind in "biuf":
        kept = np.flatnonzero((flat != 0) | np.signbit(flat))  # -0.0 keeps its sign
        if 2 * len(kept) < len(flat):
            return content | {"values": _write_flat(flat[kept]), "indices": _write_flat(kept)}
    return content | {"values": _write_flat(flat)}


def _write_flat(flat: AnyArray) -> Any:
    """A few finite numbers as a list that people can read; otherwise base64."""
    if len(flat) <= LONGEST_LIST and flat.dtype.kind in "biuf" and flat.dtype.itemsize <= 8 and np.isfinite(flat).all():
        return flat.tolist()
    return base64.b64encode(flat.tobytes()).decode("ascii")


class Decoder:
    """Reads the values of one file, which may come from anywhere: classes, names and sizes are checked first."""

    def __init__(self) -> None:
        self._bytes_left = MAX_BYTES

    def decode(self, node: Any) -> Any:
        """The value of a node; anything that `encode` does not write is an error."""
        if isinstance(node, list):
            return [self.decode(part) for part in node]
        if not isinstance(node, dict):
            return node
        require(len(node) == 1, f"an object has {len(node)} keys instead of 1")
        ((name, content),) = node.items()
        known = known_classes().get(name)
        require(known is not None or name in KINDS, f"{shorten(name)} is not a class that this version can load")
        if known is None:
            return KINDS[name].read(content, self)
        return _build(known, {key: self.decode(part) for key, part in content.items()})

    def read_array(self, dtype: Any, shape: Any, values: Any, indices: Any = None) -> AnyArray:
        """An array as `encode` writes it; its memory is counted before it is taken."""
        kind = _read_dtype(dtype)
        require(all(type(length) is int and length >= 0 for length in shape), "a shape has a size below 0")
        size = math.prod(shape)
        self._bytes_left -= size * max(kind.itemsize, 1)
        require(self._bytes_left >= 0, f"its arrays take more than {MAX_BYTES} bytes")
        if indices is not None:
            places = _read_flat(indices, np.dtype(np.int64), len(values) if isinstance(values, list) else None)
            require(bool(np.all(np.diff(places, prepend=-1, append=size) > 0)), "indices of an array do not increase")
            flat = np.zeros(size, kind)
            flat[places] = _read_flat(values, kind, len(places))
        else:
            flat = _read_flat(self.decode(values) if kind.kind == "O" else values, kind, size)
        return flat.reshape(shape)


def _read_flat(values: Any, dtype: Any, size: int | None) -> AnyArray:
    """A vector from a list or base64, if it has this size and the type can hold its values."""
    data = base64.b64decode(values, validate=True) if isinstance(values, str) else values
    length = len(data) / dtype.itemsize if isinstance(data, bytes) else len(data)
    require(size is None or length == size, f"an array has {length:g} values instead of {size}")
    if isinstance(data, bytes):
        require(not dtype.hasobject, "an array of objects is not a list")
        return np.frombuffer(data, dtype).copy()
    flat = np.empty(len(data), dtype)
    flat[:] = data
    require(flat.tolist() == data, f"an array has values that are not {dtype}")
    return flat


def _read_dtype(content: Any) -> Any:
    dtype = np.dtype([(str(name), str(kind)) for name, kind in content] if isinstance(content, list) else str(content))
    require(dtype.kind in "OU" or (dtype.kind in "biufV" and not dtype.hasobject), f"an array is of {dtype}")
    return dtype


def _read_csr(shape: Any, data: Any, indices: Any, indptr: Any) -> sparse.csr_array:
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)
    return matrix


def _build(known: type, parts: dict[str, Any]) -> Any:
    """An object of a known class: an estimator gets its state, others are constructed."""
    if not issubclass(known, BaseEstimator):
        return known(**parts)
    parameters = inspect.signature(known).parameters
    missing = sorted(parameters.keys() - parts.keys())
    require(not missing, f"{known.__name__} lacks the parameter {', '.join(missing)}")
    for name in parts.keys() - parameters.keys():
        free = name.isidentifier() and not name.startswith("__") and not hasattr(known, name)
        require(free, f"{known.__name__} cannot have the attribute {shorten(name)}")
    estimator: Any = object.__new__(known)
    estimator.__setstate__(parts)
    return estimator


def require(condition: bool, problem: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def shorten(value: Any) -> str:
    """Something from a file in quotes, cut if it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")
