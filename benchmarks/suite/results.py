"""Measurements as rows of CSV files, one file for each case; a later row replaces an earlier one of the same fit."""

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
    "LATE",
    "Row",
    "append",
    "best_settings",
    "hardware",
    "machine",
    "machine_line",
    "read",
    "read_machine",
    "write_machine",
]

#: What became of a fit.
DONE, LATE, FAILED = "done", "out of time", "failed"
PACKAGES = (
    "ksparse", "numpy", "scipy", "scikit-learn", "skscope", "jax", "abess", "skglm", "gglasso", "fastsparsegams",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One fit: what was run, what became of it, and what the evaluator found.

    `seconds` are those of the clock. `processors` are those that all processors were busy with it: on one thread the
    same, unless other programs were in the way.
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
    processors: float = np.nan
    megabytes: float = np.nan
    features: float = np.nan
    objective: float = np.nan
    recall: float = np.nan
    test_error: float = np.nan
    f_score: float = np.nan
    frobenius: float = np.nan

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the fit."""
        return self.case, self.variant, self.method, self.setting, self.threads, self.seed


_TYPES = {field.name: {"int": int, "float": float}.get(str(field.type), str) for field in fields(Row)}


def append(folder: Path, row: Row) -> None:
    """Add a row to the file of its case, at once, so that an interrupted run loses nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.case}.csv"
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(_TYPES)
        writer.writerow([_text(value) for value in asdict(row).values()])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.9g}"
    return " ".join(str(value).split())


def read(folder: Path, case: str) -> list[Row]:
    """The rows of a case, the last one of each fit; none if it has not been run."""
    path = folder / f"{case}.csv"
    if not path.exists():
        return []
    rows: dict[tuple[Any, ...], Row] = {}
    with path.open(newline="") as file:
        for record in csv.DictReader(file):
            row = Row(**{name: _value(kind, record[name]) for name, kind in _TYPES.items()})
            rows[row.key] = row
    return list(rows.values())


def _value(kind: type, text: str) -> Any:
    return float("nan") if kind is float and not text else kind(text)


def best_settings(rows: Iterable[Row]) -> list[Row]:
    """Of the settings of a method on one data set, the one with the lowest objective; a failure only if all failed."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = row.case, row.variant, row.method, row.threads, row.seed
        other = best.get(key)
        if other is None or _rank(row) < _rank(other):
            best[key] = row
    return list(best.values())


def _rank(row: Row) -> tuple[bool, float]:
    return row.status != DONE, np.inf if np.isnan(row.objective) else row.objective


def machine() -> dict[str, Any]:
    """Processor, cores, memory and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def hardware(described: dict[str, Any]) -> list[Any]:
    """What cannot be changed by installing something."""
    return [described.get(name) for name in ("processor", "cores", "memory")]


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def write_machine(folder: Path) -> None:
    """Record where the results come from."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(machine(), indent=2) + "\n")


def read_machine(folder: Path) -> dict[str, Any]:
    """What `write_machine` recorded; empty if nothing was run."""
    path = folder / "machine.json"
    return json.loads(path.read_text()) if path.exists() else {}


def machine_line(folder: Path) -> str:
    """Where the results of a folder come from, in a sentence; nothing if it is not known."""
    described = read_machine(folder)
    if not described:
        return ""
    packages = ", ".join(f"{name} {version}" for name, version in described["packages"].items())
    return (
        f"Measured on {described['cores']} cores of {described['processor']} with {described['memory']}, Python "
        f"{described['python']}: {packages}. Take the ratios, not the seconds."
    )
