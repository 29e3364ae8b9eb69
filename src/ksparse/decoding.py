"""The values of a saved model, which may come from anywhere: classes, names and sizes are checked first."""

from __future__ import annotations

import base64
import inspect
import math
import re
import reprlib
from collections.abc import Callable, Mapping
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ._types import AnyArray
from .limits import LARGEST_RANGE, MAX_AXES, MAX_FIELDS, MAX_TYPE_NAME, PADDING_COST, PARSED_COST

#: Memory of an item of a list, with the number that it refers to.
ITEM_COST = 40


class Decoder:
    """Reads the values of one file; together they take no more memory than the limit.

    Parameters
    ----------
    known : mapping
        The classes that a file may name.
    limit : int
        Memory in bytes.
    """

    def __init__(self, known: Mapping[str, type], limit: int) -> None:
        self._known, self._limit, self._left = known, limit, limit

    def take(self, size: int) -> None:
        """Count memory before it is taken."""
        self._left -= size
        advice = "if you trust it, allow more by max_bytes, --max-memory or KSPARSE_MAX_MEMORY"
        require(self._left >= 0, f"its content takes more than {self._limit} bytes; {advice}")

    def take_text(self, text: str | bytes | bytearray) -> None:
        """Count what the text of a file takes, and what its values take when they are parsed."""
        counts = {mark: text.count(mark if isinstance(text, str) else mark.encode()) for mark in PARSED_COST}  # type: ignore[arg-type]
        self.take(2 * len(text) + sum(PARSED_COST[mark] * count for mark, count in counts.items()))

    def decode(self, node: Any) -> Any:
        """The value of a node; anything that `encode` does not write is an error. Lists are changed in place."""
        if isinstance(node, list):
            for place, part in enumerate(node):
                node[place] = self.decode(part)
            return node
        if not isinstance(node, dict):
            return node
        require(len(node) == 1, f"an object has {len(node)} keys instead of 1")
        ((name, content),) = node.items()
        if name in self._known:
            require(isinstance(content, dict), f"{name} has no named attributes")
            return _build(self._known[name], {key: self.decode(part) for key, part in content.items()})
        require(name in READERS, f"{reprlib.repr(name)} is not a class that this version can load")
        return READERS[name](content, self)

    def read_range(self, content: Any) -> range:
        """A range, which counts as a list: what it becomes is up to the class that gets it."""
        found = range(*content)
        size = (found.stop - found.start) // found.step  # len overflows
        require(size <= LARGEST_RANGE, f"a range has more than {LARGEST_RANGE} numbers")
        self.take(max(size, 0) * ITEM_COST)
        return found

    def read_array(self, dtype: Any, shape: Any, values: Any, indices: Any = None) -> AnyArray:
        """An array; with indices, the other values are zero."""
        kind = read_dtype(dtype)
        require(isinstance(shape, list) and len(shape) <= MAX_AXES, f"a shape is not a list of up to {MAX_AXES} sizes")
        require(all(type(length) is int and length >= 0 for length in shape), "a shape has a size below 0")
        size = math.prod(shape)
        self.take(size * max(kind.itemsize, 1) * (PADDING_COST if kind.kind == "U" else 1))
        if indices is not None:
            require(kind.kind in "biuf", "an array with indices is not of numbers")
            places = _read_flat(indices, np.dtype(np.int64), len(values) if isinstance(values, list) else None)
            require(bool(np.all(np.diff(places, prepend=-1, append=size) > 0)), "indices of an array do not increase")
            flat = np.zeros(size, kind)
            flat[places] = _read_flat(values, kind, len(places))
        else:
            flat = _read_flat(self.decode(values) if kind.kind == "O" else values, kind, size)
        return flat.reshape(shape)


def read_dtype(content: Any) -> np.dtype[Any]:
    """The type of an array: numbers, booleans, text, objects, or a record of plain types."""
    if not isinstance(content, list):
        return _read_plain_type(content)
    require(len(content) <= MAX_FIELDS, f"a type has more than {MAX_FIELDS} fields")
    fields = [(str(name), _read_plain_type(kind)) for name, kind in content]
    require(not any(kind.hasobject for _, kind in fields), "a type has a field of objects")
    return np.dtype(fields)


def _read_plain_type(content: Any) -> np.dtype[Any]:
    """A type by its name; NumPy would read much more than that."""
    plain = isinstance(content, str) and len(content) <= MAX_TYPE_NAME
    plain = plain and re.fullmatch(r"[<>|=]?(?:O|[biufUV]\d+)", content, flags=re.A) is not None
    require(plain, f"an array is of {reprlib.repr(content)}")
    return np.dtype(content)


def _read_flat(values: Any, dtype: np.dtype[Any], size: int | None) -> AnyArray:
    """A vector from a list or base64, if it has this size and the type can hold its values."""
    data = base64.b64decode(values, validate=True) if isinstance(values, str) else values
    require(isinstance(data, (bytes, list)), "the values of an array are neither a list nor base64")
    length = len(data) / max(dtype.itemsize, 1) if isinstance(data, bytes) else len(data)
    require(size is None or length == size, f"an array has {length:g} values instead of {size}")
    if isinstance(data, bytes):
        require(not dtype.hasobject, "an array of objects is not a list")
        return np.frombuffer(data, dtype).copy()
    flat = np.empty(len(data), dtype)
    with np.errstate(all="ignore"):  # a number that the type cannot hold is found below
        flat[:] = data
    require(flat.tolist() == data, f"an array has values that are not {dtype}")
    return flat


def _read_csr(content: Any, decoder: Decoder) -> sparse.csr_array:
    shape, *vectors = decoder.decode(content)
    require(isinstance(shape, list) and len(shape) == 2, "a sparse array is not a matrix")
    require(
        len(vectors) == 3 and all(isinstance(vector, np.ndarray) for vector in vectors), "a sparse array lacks parts"
    )
    data, indices, indptr = vectors
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)
    return matrix


def _read_sequence(content: Any, decoder: Decoder) -> list[Any]:
    require(isinstance(content, list), "a tuple or dict is not written as a list")
    return decoder.decode(content)


#: How the kinds of values that JSON lacks are read; `persistence.KINDS` has how they are written.
READERS: dict[str, Callable[[Any, Decoder], Any]] = {
    "scalar": lambda content, decoder: decoder.decode(content)[()],
    "float": lambda content, _: float(content),
    "tuple": lambda content, decoder: tuple(_read_sequence(content, decoder)),
    "range": lambda content, decoder: decoder.read_range(content),
    "dict": lambda content, decoder: dict(_read_sequence(content, decoder)),
    "dtype": lambda content, _: read_dtype(content),
    "array": lambda content, decoder: decoder.read_array(**content),
    "csr_array": _read_csr,
}


def _build(known: type, parts: dict[str, Any]) -> Any:
    """An object of a known class: an estimator gets its state, others are constructed."""
    if issubclass(known, Enum):
        require(parts.keys() == {"value"}, f"{known.__name__} has not exactly one value")
    if not issubclass(known, BaseEstimator):
        return known(**parts)
    parameters = inspect.signature(known).parameters
    missing = sorted(parameters.keys() - parts.keys())
    require(not missing, f"{known.__name__} lacks the parameter {', '.join(missing)}")
    for name in parts.keys() - parameters.keys():
        free = name.isidentifier() and not name.startswith("__") and not hasattr(known, name)
        require(free, f"{known.__name__} cannot have the attribute {reprlib.repr(name)}")
    if "classes_" in parts:
        check_classes(parts["classes_"], in_own_order=getattr(known, "has_class_order", False))
    # scikit-learn's warning shows the version of the writer.
    written = parts.get("_sklearn_version", "0")
    plain = isinstance(written, str) and re.fullmatch(r"[\w.+-]{1,40}", written, flags=re.A) is not None
    require(plain, f"{known.__name__} has no version of scikit-learn, but {reprlib.repr(written)}")
    estimator: Any = object.__new__(known)
    estimator.__setstate__(parts)
    return estimator


def check_classes(classes: Any, *, in_own_order: bool = False) -> None:
    """Raise unless labels are finite numbers, booleans or text, distinct and sorted, unless they have another order."""
    require(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes_ is not a vector")
    labels = classes.tolist()
    plain = all(type(label) in (bool, int, float, str) for label in labels)
    finite = plain and all(math.isfinite(label) for label in labels if not isinstance(label, str))
    require(finite, "classes_ has labels that are neither text, booleans nor finite numbers")
    require(len({isinstance(label, str) for label in labels}) <= 1, "classes_ has both text and numbers")
    labels = sorted(labels) if in_own_order else labels
    require(all(one < other for one, other in pairwise(labels)), "classes_ are not distinct labels in their order")


def require(condition: bool, problem: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(problem)
