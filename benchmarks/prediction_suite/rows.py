"""Measurements as rows of two CSV files; a later row replaces an earlier one of the same fit."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

__all__ = ["RealRow", "Row", "SimulationRow", "append_rows", "read_rows", "rewrite_rows"]


@dataclass(frozen=True)
class SimulationRow:
    """One fit to simulated data; `failure` is the reason if there is no answer. Seconds are CPU time on one thread."""

    size: str
    beta_type: int
    correlation: float
    snr: float
    replication: int
    method: str
    relative_error: float = np.nan
    features: float = np.nan
    recall: float = np.nan
    f_score: float = np.nan
    seconds: float = np.nan
    failure: str = ""

    @property
    def data(self) -> tuple[Any, ...]:
        """Identifier of the data."""
        return self.size, self.beta_type, self.correlation, self.snr, self.replication

    @property
    def key(self) -> tuple[Any, ...]:
        """Identifier of the fit."""
        return *self.data, self.method


@dataclass(frozen=True)
class RealRow:
    """One fit to a split of real data; `loss` is the log loss, or for regression 1 − R²."""

    name: str
    split: int
    method: str
    loss: float = np.nan
    auc: float = np.nan
    accuracy: float = np.nan
    features: float = np.nan
    seconds: float = np.nan
    failure: str = ""

    @property
    def data(self) -> tuple[Any, ...]:
        """Identifier of the data."""
        return self.name, self.split

    @property
    def key(self) -> tuple[Any, ...]:
        """Identifier of the fit."""
        return *self.data, self.method


Row = SimulationRow | RealRow
R = TypeVar("R", SimulationRow, RealRow)
FILES: dict[type[Row], str] = {SimulationRow: "prediction_simulation.csv", RealRow: "prediction_real.csv"}


def append_rows(folder: Path, rows: Iterable[Row]) -> None:
    """Append the rows of one data set at once, so that an interrupted run loses only the data set at hand."""
    listed = list(rows)
    if not listed:
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILES[type(listed[0])]
    lines = "" if path.exists() else ",".join(field.name for field in fields(listed[0])) + "\n"
    lines += "".join(",".join(_format_value(value) for value in asdict(row).values()) + "\n" for row in listed)
    with path.open("a") as file:
        file.write(lines)


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.5g}"
    return " ".join(str(value).replace(",", ";").split())


def read_rows(folder: Path, kind: type[R]) -> list[R]:
    """Read the rows of a file, the last one of each fit; none if it does not exist."""
    path = folder / FILES[kind]
    if not path.exists():
        return []
    types = {field.name: {"int": int, "float": float}.get(str(field.type), str) for field in fields(kind)}
    rows: dict[tuple[Any, ...], R] = {}
    with path.open(newline="") as file:
        for record in csv.DictReader(file):
            row = kind(**{name: _parse_value(convert, record[name]) for name, convert in types.items()})
            rows[row.key] = row
    return list(rows.values())


def _parse_value(convert: Any, text: str) -> Any:
    return float("nan") if convert is float and not text else convert(text)


def rewrite_rows(folder: Path, kind: type[R]) -> None:
    """Sort a file, and drop rows that were replaced."""
    rows = read_rows(folder, kind)
    if rows:
        (folder / FILES[kind]).unlink()
        append_rows(folder, sorted(rows, key=lambda row: (row.data, row.method)))
