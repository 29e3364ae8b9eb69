"""A fitted model as text, and text as a file that is written at once or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import AnyArray
from ..estimators import (
    SparseHuberRegression,
    SparseLinearModel,
    SparseLogisticRegression,
)
from .format import CLASSES, FORMAT, LABELS, VERSION
from .reading import parsed

__all__ = ["dumps", "write_text"]


def dumps(model: SparseLinearModel, *, about: Mapping[str, Any] | None = None) -> str:
    """The text of the file that `save` writes."""
    kind = _base_class(model)
    check_is_fitted(model)
    coefficients = np.atleast_2d(model.coef_)
    indices = np.flatnonzero((coefficients != 0).any(axis=0))
    names = getattr(model, "feature_names_in_", None)
    values = coefficients[:, indices]
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "ksparse_version": version("ksparse"),
        "class": kind.__name__,
        "parameters": _parameters(model, kind),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "selected": np.flatnonzero(model.support_).tolist(),
        "indices": indices.tolist(),
        "values": (values if np.ndim(model.coef_) == 2 else values[0]).tolist(),
        "intercept": np.asarray(model.intercept_).tolist(),
        "about": dict(about or {}),
    }
    if kind is SparseLogisticRegression:
        content["classes"] = _labels(model.classes_)
    if kind is SparseHuberRegression:
        content["delta"] = float(model.delta_)
    try:
        text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise ValueError(f"the model has NaN or infinite numbers, and was not saved ({error})") from error
    parsed(text)  # what cannot be read again must not be written
    return text + "\n"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file at once or not at all: a reader sees the old content or the new one."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _give_usual_permissions(name)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _give_usual_permissions(name: str) -> None:
    """Those of a file that `open` makes; temporary files are for their owner only."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


def _base_class(model: Any) -> type[SparseLinearModel]:
    """The plain estimator whose coefficients these are."""
    for kind in type(model).__mro__:
        if CLASSES.get(kind.__name__) is kind:
            return CLASSES[kind.__name__]
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"save takes a fitted estimator of ksparse, got {model!r}")
    raise TypeError(f"save takes {', '.join(CLASSES)} or one that chooses k for it; got a {type(model).__name__}")


def _parameters(model: SparseLinearModel, kind: type[SparseLinearModel]) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "k": int(model.k_ if hasattr(model, "k_") else model.k),
        "alpha": float(model.alpha),
        "fit_intercept": bool(model.fit_intercept),
        "positive": bool(model.positive),
    }
    if kind is SparseHuberRegression:
        parameters["delta"] = model.delta if isinstance(model.delta, str) else float(model.delta)
    return parameters


def _labels(classes: AnyArray) -> dict[str, Any]:
    values = classes.tolist()
    for label, types in LABELS.items():
        if all(type(value) is label for value in values):
            kind = classes.dtype.name if classes.dtype.kind not in "UT" else "str"
            if kind in types:
                return {"type": kind, "values": values}
    raise TypeError(f"labels are saved if they are text, numbers or booleans; got {classes!r}")
