"""`save` and `load`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..estimators import (
    SparseLinearModel,
)
from .reading import loads, notes_in
from .writing import dumps, write_text

__all__ = ["load", "notes", "save"]


def save(model: SparseLinearModel, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a JSON file, at once or not at all.

    What predictions need is kept, exactly, and the parameters k, alpha, fit_intercept, positive and delta. An estimator
    that chose k by itself is saved as the plain one with that k.

    Parameters
    ----------
    model : SparseLinearModel
        A fitted estimator.
    path : path-like
        The file; an existing one is replaced.
    about : mapping, optional
        Notes to keep in the file: names with strings, numbers or booleans.

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


def load(path: str | os.PathLike[str]) -> SparseLinearModel:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    SparseLinearModel
        A fitted estimator of the class that was saved; it has no `result_`.

    Raises
    ------
    ValueError
        If the file is not a model, or a damaged one.

    Examples
    --------
    >>> import tempfile, numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 9))
    >>> model = ksparse.SparseLinearRegression(k=1).fit(X, X[:, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ksparse.save(model, f"{folder}/model.json")
    ...     again = ksparse.load(f"{folder}/model.json")
    >>> bool(np.array_equal(again.predict(X), model.predict(X)))
    True
    """
    return loads(_text_of(path), name=os.fspath(path))


def notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes that were saved with a model, as `about`."""
    return notes_in(_text_of(path), os.fspath(path))


def _text_of(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by ksparse: it is not a text file") from error
