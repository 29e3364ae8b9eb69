"""Fitted models as plain JSON: `save` and `load`.

A file holds names, numbers and text, and nothing that runs, so it is safe to load from untrusted sources: classes are
looked up in a fixed table (`list_known_classes`), and a file cannot ask for more memory than `MAX_BYTES`.

A JSON object has one key, which names its kind: ``{"tuple": [1, 2]}``, ``{"array": {...}}``, or a class with its
attributes, ``{"Status": {"value": "converged"}}``.
"""

from __future__ import annotations

import base64
import inspect
import json
import math
import os
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn import impute, model_selection, pipeline, preprocessing
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import debias, estimators, objectives, selection, solvers
from ._types import AnyArray
from .writing import check_output_file, write_text

__all__ = ["dumps", "load", "load_notes", "loads", "register", "save"]

FORMAT = "ksparse-model"
VERSION = 2
#: Memory that the arrays of one file may take together. Arrays with many zeros take much less in the file.
MAX_BYTES = 2**31
#: Longer arrays are written as base64, which is shorter and faster to read than a list.
LONGEST_LIST = 1000


def save(model: Any, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a JSON file, completely or not at all.

    All parameters and fitted attributes are kept, exactly.

    Parameters
    ----------
    model : estimator
        A fitted estimator of ksparse, or a `Pipeline` of one with scalers or a `SimpleImputer` of scikit-learn.
    path : path-like
        The file. An existing one is replaced, and keeps its mode and owner; a link is followed. A pipe or a device is
        written into.
    about : mapping, optional
        Notes to keep in the file: names with strings, numbers or booleans.

    Raises
    ------
    TypeError
        If the model, or one of its parameters, is not plain data: a function, a random generator, an iterator.
    OSError
        If the file cannot be written; what was there is left as it was.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.persistence import load, save
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> model = SparseLinearRegression(k=2).fit(X, X[:, 3] - 2 * X[:, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.json")
    ...     again = load(Path(folder) / "model.json")
    >>> again.get_support(indices=True), bool(np.all(again.predict(X) == model.predict(X)))
    (array([3, 7]), True)
    """
    check_output_file(path)  # before the work
    write_text(path, dumps(model, about=about))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like
        The file. It may come from an untrusted source: nothing in it is executed.

    Returns
    -------
    estimator
        A fitted estimator of the class that was saved.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or has a format that this version does not read.

    Examples
    --------
    >>> import tempfile, ksparse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ksparse.save(ksparse.SparseLinearRegression(k=1).fit([[1.0], [2.0]], [1, 2]), f"{folder}/model.json")
    ...     ksparse.load(f"{folder}/model.json").predict([[3.0]])
    array([3.])
    """
    return loads(Path(path).read_bytes(), name=os.fspath(path))


def load_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the notes that were saved with a model, as `about`."""
    return dict(_parse(Path(path).read_bytes())["about"])


def dumps(model: Any, *, about: Mapping[str, Any] | None = None) -> str:
    """The text of the file that `save` writes."""
    name = type(model).__name__
    if not isinstance(model, BaseEstimator) or list_known_classes().get(name) is not type(model):
        raise TypeError(f"save takes a fitted estimator of ksparse, or a Pipeline of one with scalers; got {model!r}")
    check_is_fitted(model)
    header = {"format": FORMAT, "version": VERSION, "ksparse_version": version("ksparse"), "about": dict(about or {})}
    text = json.dumps(header | {"model": encode(model, name)}, indent=1, ensure_ascii=False)
    loads(text)  # what cannot be read again must not be written
    return text + "\n"


def loads(text: str | bytes, name: str = "the text") -> Any:
    """The model in the text of a file; `name` is what errors call it."""
    try:
        model = Decoder().decode(_parse(text)["model"])
        require(isinstance(model, BaseEstimator), "its model is not an estimator")
        return model
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        reasons = {
            json.JSONDecodeError: f"it is not JSON ({error})",
            KeyError: f"it lacks the field {error}",
            RecursionError: "it is nested too deeply",
            UnicodeDecodeError: "it is not a text file",
        }
        reason = reasons.get(type(error), str(error))[:200]
        raise ValueError(f"{name} is not a model saved by ksparse, or it is damaged: {reason}") from error


def _parse(text: str | bytes) -> Any:
    """The content of a file whose format this version reads."""
    content = json.loads(text)
    require(isinstance(content, dict) and content.get("format") == FORMAT, f'it lacks "format": "{FORMAT}"')
    number, writer = content["version"], reprlib.repr(content["ksparse_version"])
    advice = "fit and save the model again" if number == 1 else f"install ksparse {writer} or newer"
    known = type(number) is int and number == VERSION
    require(known, f"its format has version {reprlib.repr(number)}, and this ksparse reads version {VERSION}; {advice}")
    about = content["about"]
    plain = isinstance(about, dict) and all(type(v) in (str, int, float, bool, type(None)) for v in about.values())
    require(plain, "about must hold strings, numbers and booleans")
    return content


E = TypeVar("E", bound=type)


@cache
def list_known_classes() -> dict[str, type]:
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
    # On Python 3.10, isinstance(value, type) would hold for an alias such as Callable[...] too.
    known = {name: value for name, value in found.items() if issubclass(type(value), type) and _is_data(value)}
    return known | _registered


_registered: dict[str, type] = {}


def register(cls: E) -> E:
    """Make an estimator of your own known to `save` and `load`, as a class decorator.

    Examples
    --------
    >>> import ksparse
    >>> @ksparse.persistence.register
    ... class MyRegression(ksparse.SparseLinearRegression):
    ...     "Least squares by another name."
    >>> "MyRegression" in ksparse.persistence.list_known_classes()
    True
    """
    name = cls.__name__
    if name in list_known_classes() and name not in _registered:
        raise ValueError(f"ksparse knows another class {name} already; choose another name")
    _registered[name] = cls
    list_known_classes.cache_clear()
    return cls


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
    if list_known_classes().get(name) is type(value):
        return {name: {key: encode(part, f"{where}.{key}") for key, part in _split_into_parts(value).items()}}
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


def _split_into_parts(value: Any) -> dict[str, Any]:
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
        known = list_known_classes().get(name)
        require(known is not None or name in KINDS, f"{reprlib.repr(name)} is not a class that this version can load")
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
        require(free, f"{known.__name__} cannot have the attribute {reprlib.repr(name)}")
    estimator: Any = object.__new__(known)
    estimator.__setstate__(parts)
    return estimator


def require(condition: bool, problem: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(problem)
