"""`save` and `load`: a model as a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .schema import Decoder, encode, known_classes, require, shorten

__all__ = ["dumps", "load", "load_notes", "loads", "save", "write_text"]

FORMAT = "ksparse-model"
VERSION = 2


def save(model: Any, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a JSON file, completely or not at all.

    All parameters and fitted attributes are kept, exactly.

    Parameters
    ----------
    model : estimator
        A fitted estimator of ksparse, or a `Pipeline` of one with scalers or a `SimpleImputer` of scikit-learn.
    path : path-like
        The file; an existing one is replaced.
    about : mapping, optional
        Notes to keep in the file: names with strings, numbers or booleans.

    Raises
    ------
    TypeError
        If the model, or one of its parameters, is not plain data: a function, a random generator, an iterator.

    See Also
    --------
    load : the way back.

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
    >>> import tempfile, numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 9))
    >>> model = ksparse.SparsePrecision(k=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ksparse.save(model, f"{folder}/model.json")
    ...     again = ksparse.load(f"{folder}/model.json")
    >>> bool(np.array_equal(again.precision_, model.precision_))
    True
    """
    return loads(_read_text(path), name=os.fspath(path))


def load_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the notes that were saved with a model, as `about`."""
    return dict(_content(_read_text(path))["about"])


def dumps(model: Any, *, about: Mapping[str, Any] | None = None) -> str:
    """The text of the file that `save` writes."""
    name = type(model).__name__
    if not isinstance(model, BaseEstimator) or known_classes().get(name) is not type(model):
        raise TypeError(f"save takes a fitted estimator of ksparse, or a Pipeline of one with scalers; got {model!r}")
    check_is_fitted(model)
    header = {"format": FORMAT, "version": VERSION, "ksparse_version": version("ksparse"), "about": dict(about or {})}
    text = json.dumps(header | {"model": encode(model, name)}, indent=1, ensure_ascii=False)
    loads(text)  # what cannot be read again must not be written
    return text + "\n"


def loads(text: str, name: str = "the text") -> Any:
    """The model in the text of a file; `name` is what errors call it."""
    try:
        model = Decoder().decode(_content(text)["model"])
        require(isinstance(model, BaseEstimator), "its model is not an estimator")
        return model
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        reasons = {RecursionError: "it is nested too deeply", KeyError: f"it lacks the field {error}"}
        reason = reasons.get(type(error), str(error))[:200]
        raise ValueError(f"{name} is not a model saved by ksparse, or it is damaged: {reason}") from error


def _content(text: str) -> Any:
    """The content of a file whose format this version reads."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error})") from error
    require(isinstance(content, dict) and content.get("format") == FORMAT, f'it lacks "format": "{FORMAT}"')
    number, writer = content["version"], shorten(content["ksparse_version"])
    advice = "fit and save the model again" if number == 1 else f"install ksparse {writer} or newer"
    known = type(number) is int and number == VERSION
    require(known, f"its format has version {shorten(number)}, and this ksparse reads version {VERSION}; {advice}")
    about = content["about"]
    plain = isinstance(about, dict) and all(type(v) in (str, int, float, bool, type(None)) for v in about.values())
    require(plain, "about must hold strings, numbers and booleans")
    return content


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file completely or not at all: a reader sees the old content or the new one."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.umask(mask := os.umask(0))
        os.chmod(name, 0o666 & ~mask)  # as `open` would; temporary files are for their owner only
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _read_text(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by ksparse: it is not a text file") from error
