"""Paths of X on disk: the files that patterns and folders mean, and arrays that are opened by their path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["find_files", "find_partition_names", "list_matches", "name_damaged_file", "open_array_file"]

HDF5_ENDINGS = (".h5", ".hdf5", ".hdf")
ENDINGS_OF_ARRAYS = (".npy", ".npz", *HDF5_ENDINGS, ".zarr")
TEXT_ENDINGS = (".csv", ".tsv", ".txt")


def find_files(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """The files of a path, a pattern, a folder of Parquet files, or several of these, part.2 before part.10."""
    patterns = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files: list[str] = []
    for pattern in (os.fspath(part) for part in patterns):
        found = [pattern] if os.path.exists(pattern) else list_matches(pattern)
        if not found:
            raise FileNotFoundError(f"no file matches {pattern!r}")
        for path in found:
            files += _list_folder(path) if os.path.isdir(path) else [path]
    for path in files:
        if Path(path).suffix.lower() in TEXT_ENDINGS:
            raise ValueError(
                f"{path!r} is text, which open_blocks does not read; use the command ksparse fit, which does, or read "
                "it by dask.dataframe.read_csv, or by pandas if it fits into memory"
            )
    return files


def find_partition_names(files: Sequence[str], folder: str | None = None) -> list[str]:
    """Columns that are in the names of folders only: `town` in town=Ulm/part.parquet, unless all are of one town.

    Below a `folder`, they are columns even so.
    """
    paths = files if folder is None else ["", *(os.path.relpath(file, folder) for file in files)]
    found = [dict(part.split("=", 1) for part in Path(path).parent.parts if "=" in part) for path in paths]
    names = dict.fromkeys(name for values in found for name in values)
    return [name for name in names if len({values.get(name) for values in found}) > 1]


def list_matches(pattern: str) -> list[str]:
    """The paths that match a pattern, part.2 before part.10."""
    return sorted(glob(pattern), key=_make_sort_key)


def _list_folder(folder: str) -> list[str]:
    """The Parquet files of a folder and its folders, without those that other programs leave beside them."""
    inside = [path for path in Path(folder).rglob("*") if path.suffix in (".parquet", ".parq", ".pq")]
    files = [
        str(path)
        for path in inside
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]
    if not files:
        raise FileNotFoundError(f"the folder {folder!r} has no Parquet files (*.parquet)")
    return sorted(files, key=_make_sort_key)


def _make_sort_key(path: str) -> tuple[list[tuple[int, str]], str]:
    """Numbers in names by their value, as Dask writes and reads them; part.02 and part.2 always in the same order."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path)], path


def open_array_file(path: str) -> Any:
    """The array in a file of NumPy, HDF5 or Zarr, not read yet; None if the path means none of these."""
    ending = Path(path).suffix.lower()
    if ending in ENDINGS_OF_ARRAYS and "://" not in path and not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path!r}; check the path")
    if ending == ".npy":
        with _name_array_file(path, "NumPy"):
            return np.lib.format.open_memmap(path, mode="r")  # unlike np.load, it does not ask for pickle
    if ending == ".npz":
        raise ValueError(f"{path!r} is compressed or has several arrays; save X by np.save, and pass that file")
    if ending in HDF5_ENDINGS:
        h5py = _import("h5py", path)
        with _name_array_file(path, "HDF5"):
            file = h5py.File(path, "r")
        return _pick_array(file, path)
    if ending == ".zarr":
        zarr = _import("zarr", path)
        with _name_array_file(path, "Zarr"):
            group = zarr.open(path, mode="r")
        return _pick_array(group, path)
    return None


@contextmanager
def _name_array_file(path: str, kind: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError, KeyError) as error:
        raise ValueError(f"{path!r} cannot be read as an array of {kind}: {error}; write it again") from error


def _import(module: str, path: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{path!r} needs {module}, which is not installed; pip install {module}") from error


def _pick_array(opened: Any, path: str) -> Any:
    """The only array of shape (n, p) in a file or group."""
    if hasattr(opened, "shape"):
        return opened
    found = {f"{name}": item for name, item in opened.items() if len(getattr(item, "shape", ())) == 2}
    if len(found) != 1:
        raise ValueError(
            f"{path!r} has {len(found)} arrays of shape (n, p) at its top{': ' if found else ''}"
            f"{', '.join(found)}; open it and pass the one that is X, such as file['X']"
        )
    return found.popitem()[1]


@contextmanager
def name_damaged_file(path: str) -> Iterator[None]:
    """Say which Parquet file cannot be read."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:  # names it
        raise
    except (ArrowException, OSError) as error:
        raise ValueError(f"{path!r} cannot be read as Parquet: {error}; write it again, or leave it out") from error
