"""Measurements as rows of CSV files, one file per case; a later row replaces an earlier one of the same fit."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "DONE",
    "FAILED",
    "TIMED_OUT",
    "Row",
    "append_row",
    "describe_machine",
    "find_machine_file",
    "format_machine",
    "get_hardware",
    "keep_best_settings",
    "read_machine",
    "read_rows",
    "write_machine",
]

#: The status of a fit, as in the files.
DONE, TIMED_OUT, FAILED = "done", "out of time", "failed"
PACKAGES = (
    "ksparse", "numpy", "scipy", "scikit-learn", "skscope", "jax", "abess", "skglm", "gglasso", "fastsparsegams",
    "scikit-survival",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One fit: what was run, its status, and its measures.

    `seconds` is the wall-clock time and `cpu_seconds` the CPU time over all threads. On one thread they differ only if
    other programs use the processor.
    """

    case: str
    variant: str
    method: str
    setting: str
    threads: int
    seed: int
    status: str
    detail: str = ""
    seconds: float = np.nan
    cpu_seconds: float = np.nan
    megabytes: float = np.nan
    features: float = np.nan
    objective: float = np.nan
    recall: float = np.nan
    test_error: float = np.nan
    f_score: float = np.nan
    frobenius: float = np.nan

    @property
    def key(self) -> tuple[Any, ...]:
        """Identifier of the fit."""
        return self.case, self.variant, self.method, self.setting, self.threads, self.seed

    @property
    def status_text(self) -> str:
        """The status as shown to readers."""
        return "timed out" if self.status == TIMED_OUT else self.status


_TYPES = {field.name: {"int": int, "float": float}.get(str(field.type), str) for field in fields(Row)}
#: Column names that differ from the names of the fields.
_COLUMNS = {"cpu_seconds": "processors"}


def append_row(folder: Path, row: Row) -> None:
    """Append a row to the file of its case immediately, so that an interrupted run loses nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.case}.csv"
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(_COLUMNS.get(name, name) for name in _TYPES)
        writer.writerow([_format_value(value) for value in asdict(row).values()])


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.9g}"
    return " ".join(str(value).split())


def read_rows(folder: Path, case: str) -> list[Row]:
    """Read the rows of a case, the last one of each fit; none if it has not been run."""
    path = folder / f"{case}.csv"
    if not path.exists():
        return []
    rows: dict[tuple[Any, ...], Row] = {}
    with path.open(newline="") as file:
        for record in csv.DictReader(file):
            row = Row(**{name: _parse_value(kind, record[_COLUMNS.get(name, name)]) for name, kind in _TYPES.items()})
            rows[row.key] = row
    return list(rows.values())


def _parse_value(kind: type, text: str) -> Any:
    return float("nan") if kind is float and not text else kind(text)


def keep_best_settings(rows: Iterable[Row]) -> list[Row]:
    """Keep the setting with the lowest objective of each method on each data set; a failure only if all failed."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = row.case, row.variant, row.method, row.threads, row.seed
        other = best.get(key)
        if other is None or _rank(row) < _rank(other):
            best[key] = row
    return list(best.values())


def _rank(row: Row) -> tuple[bool, float]:
    return row.status != DONE, np.inf if np.isnan(row.objective) else row.objective


def describe_machine() -> dict[str, Any]:
    """Return the processor, number of cores, memory and versions."""
    return {
        "processor": _read_processor(),
        "cores": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _get_version(name) for name in PACKAGES},
    }


def get_hardware(description: dict[str, Any]) -> list[Any]:
    """Return the part of a description of a machine that does not depend on software."""
    return [description.get(name) for name in ("processor", "cores", "memory")]


def _read_processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _get_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def find_machine_file(folder: Path, case: str = "") -> Path:
    """Where the machine of a case is described: a case of another machine than the others has a file of its own."""
    own = folder / f"machine_{case}.json"
    return own if case and own.exists() else folder / "machine.json"


def write_machine(folder: Path, case: str = "") -> None:
    """Write the description of this machine next to the results; of one case, if the others are of another machine."""
    folder.mkdir(parents=True, exist_ok=True)
    path, here = find_machine_file(folder, case), describe_machine()
    if case and path.exists() and get_hardware(json.loads(path.read_text())) != get_hardware(here):
        path = folder / f"machine_{case}.json"
    path.write_text(json.dumps(here, indent=2) + "\n")


def read_machine(folder: Path, case: str = "") -> dict[str, Any]:
    """Read the description that `write_machine` wrote; empty if there is none."""
    path = find_machine_file(folder, case)
    return json.loads(path.read_text()) if path.exists() else {}


def format_machine(folder: Path, case: str = "") -> str:
    """Return a sentence about the machine of the results in a folder; empty if it is unknown."""
    description = read_machine(folder, case)
    if not description:
        return ""
    packages = ", ".join(f"{name} {version}" for name, version in description["packages"].items())
    return (
        f"Measured on {description['cores']} cores of {description['processor']} with {description['memory']} of "
        f"memory and Python {description['python']}: {packages}. Ratios carry over to other machines better than "
        "seconds."
    )
