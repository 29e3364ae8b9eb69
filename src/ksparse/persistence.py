"""Fitted models as plain JSON: `save` and `load`.

A file holds names, numbers and text, and nothing that runs, so it is safe to load from untrusted sources: classes are
looked up in a fixed table (`list_known_classes`), and its content takes no more memory than a limit (`ksparse.limits`).

A JSON object has one key, which names its kind: ``{"tuple": [1, 2]}``, ``{"array": {...}}``, or a class with its
attributes, ``{"Status": {"value": "converged"}}``.
"""

from __future__ import annotations

import base64
import copy
import inspect
import json
import math
import os
import reprlib
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import version
from typing import Any, BinaryIO, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from sklearn import impute, model_selection, pipeline, preprocessing
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import debias, estimators, objectives, selection, solvers, tables
from ._types import AnyArray
from .decoding import Decoder, require
from .limits import CHUNK, MAX_BYTES, find_limit
from .wording import escape_control
from .writing import check_output_file, write_text

__all__ = ["MAX_BYTES", "dumps", "load", "load_notes", "load_with_notes", "loads", "register", "save"]

FORMAT = "ksparse-model"
#: What the command calls the model in the folder of a fit.
MODEL_FILE = "model.json"
VERSION = 2
#: Longer arrays are written as base64, which is shorter and faster to read than a list.
LONGEST_LIST = 1000
#: What reading a damaged or hostile file may raise.
DAMAGES = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MemoryError)

Text: TypeAlias = "str | bytes | bytearray"


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


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like
        The file, or the folder of ``ksparse fit --out``. It may come from an untrusted source: nothing in it is
        executed, and its memory is limited.
    max_bytes : int, optional
        Memory that the content of the file may take; by default 2 GiB, or what the environment variable
        ``KSPARSE_MAX_MEMORY`` says (such as 8GB). Zeros of an array count, although they take no space in the file.

    Returns
    -------
    estimator
        A fitted estimator of the class that was saved. From data frames it takes the columns that it needs by name;
        others may be absent.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, has a format that this version does not read, or takes too much memory.

    Examples
    --------
    >>> import tempfile, ksparse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ksparse.save(ksparse.SparseLinearRegression(k=1).fit([[1.0], [2.0]], [1, 2]), f"{folder}/model.json")
    ...     ksparse.load(f"{folder}/model.json").predict([[3.0]])
    array([3.])
    """
    return load_with_notes(path, max_bytes=max_bytes)[0]


def load_notes(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read the notes that were saved with a model, as `about`; `max_bytes` is that of `load`."""
    return load_with_notes(path, max_bytes=max_bytes)[1]


def load_with_notes(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> tuple[Any, dict[str, Any]]:
    """Read a model and its notes at once; `max_bytes` is that of `load`."""
    if os.path.isdir(path):
        path = os.path.join(path, MODEL_FILE)
    name, limit = os.fspath(path), find_limit(max_bytes)
    with open(path, "rb") as file:
        return _decode(lambda: _read_bytes(file, limit), name, limit)


def _read_bytes(file: BinaryIO, limit: int) -> bytearray:
    """All of a file, unless it is larger than the limit."""
    status = os.fstat(file.fileno())
    content, problem = bytearray(), f"it has more than {limit} bytes"
    require(not stat.S_ISREG(status.st_mode) or status.st_size <= limit, problem)
    while chunk := file.read(CHUNK):
        content += chunk
        require(len(content) <= limit, problem)  # what is not a regular file does not know its size
    return content


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


def loads(text: str | bytes, name: str = "the text", *, max_bytes: int | None = None) -> Any:
    """The model in the text of a file; `name` is what errors call it, and `max_bytes` is that of `load`."""
    return _decode(lambda: text, name, find_limit(max_bytes))[0]


def _decode(read: Callable[[], Text], name: str, limit: int) -> tuple[Any, dict[str, Any]]:
    """The model and the notes in a text; whatever is wrong with it is a ValueError of one line."""
    try:
        decoder = Decoder(list_known_classes(), limit)
        content = _parse(read(), decoder)
        model = decoder.decode(content["model"])
        require(isinstance(model, BaseEstimator), "its model is not an estimator")
        tables.require_selected_columns(model)
        if isinstance(model, estimators.SparseLinearModel):
            model.__dict__["picks_columns"] = True
        return model, content["about"]
    except DAMAGES as error:
        reasons = {
            json.JSONDecodeError: f"it is not JSON ({error})",
            KeyError: f"it lacks the field {error}",
            RecursionError: "it is nested too deeply",
            UnicodeDecodeError: "it is not a text file",
            MemoryError: "there is not enough memory for it",
        }
        reason = escape_control(reasons.get(type(error), str(error))[:200])
        name = escape_control(name)
        raise ValueError(f"{name} is not a model saved by ksparse, or it is damaged: {reason}") from error


def _parse(text: Text, decoder: Decoder) -> Any:
    """The content of a file whose format this version reads."""
    decoder.take_text(text)
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
        (tables, ("ColumnFeatures", "ColumnKind", "KindOfColumn", "TableEncoder", "UnusedColumn")),
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
    """A kind of value that JSON lacks: its type, and how it is written with `encode`."""

    type: Any
    write: Callable[[Any, Callable[[Any], Any]], Any]


#: The first kind that fits a value is used; `decoding.READERS` has how they are read.
KINDS = {
    "scalar": Kind(np.generic, lambda v, enc: enc(np.asarray(v))),
    "float": Kind(float, lambda v, _: repr(v)),  # only NaN and infinity
    "tuple": Kind(tuple, lambda v, enc: enc(list(v))),
    "range": Kind(range, lambda v, _: [v.start, v.stop, v.step]),
    "dict": Kind(Mapping, lambda v, enc: [enc(list(pair)) for pair in v.items()]),
    "dtype": Kind(np.dtype, lambda v, _: v.descr if v.names else v.str),
    "array": Kind(np.ndarray, lambda v, enc: _write_array(v, enc)),
    "csr_array": Kind(sparse.csr_array, lambda v, enc: [list(v.shape), enc(v.data), enc(v.indices), enc(v.indptr)]),
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
    value = copy.copy(value)  # without references to data, which are not kept
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
