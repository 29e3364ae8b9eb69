"""What a problem of the table gave, as a line of a CSV file, and how two of them are compared."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ksparse import Result

FILE = Path(__file__).with_name("recorded.csv")
#: Values may differ by this fraction: another order of the same additions rounds differently.
TOLERANCE = 1e-9
#: The same where rounding matters more: in single precision, or where an algorithm magnifies it.
ROUGH_TOLERANCE = 1e-5
#: In `Record.fragile`, that values agree only within the latter.
DIGITS = "digits"


@dataclass(frozen=True)
class Record:
    """What a problem gave.

    Attributes
    ----------
    status : str
        Why the solver stopped, or the name of the exception.
    selected : str
        The selected units; several models are separated by bars.
    values : tuple of float
        f, or scores, of each model.
    n_iter, passes : int, optional
        Iterations, and passes over the data, of all models together.
    fragile : frozenset of str
        The fields that depend on how numbers are rounded, and are not compared; `DIGITS`, if values do a little.
    """

    status: str
    selected: str
    values: tuple[float, ...] = ()
    n_iter: int | None = None
    passes: int | None = None
    fragile: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *results: Result, passes: int | None = None) -> Record:
        """The record of the results of one problem."""
        statuses = [str(result.status) for result in results]
        return cls(
            status=" | ".join(statuses if len(set(statuses)) > 1 else statuses[:1]),
            selected=" | ".join(text_of(result.selected) for result in results),
            values=tuple(float(result.value) for result in results),
            n_iter=sum(result.n_iter for result in results),
            passes=sum(result.passes for result in results) if passes is None else passes,
        )

    def with_scores(self, label: str, scores: ArrayLike) -> Record:
        """The same for a model that was chosen by scores, which are recorded after its f."""
        numbers = tuple(np.asarray(scores, dtype=np.float64).ravel().tolist())
        return replace(self, selected=f"{label}: {self.selected}", values=self.values + numbers)


def text_of(selected: ArrayLike) -> str:
    """Names of units, with a dash between the two ends of an edge."""
    names = np.asarray(selected)
    return " ".join("-".join(map(str, name)) if names.ndim == 2 else str(name) for name in names.tolist())


def differences(now: Record, then: Record) -> dict[str, str]:
    """The fields in which a record differs from an earlier one, each with what it was and is.

    Fewer iterations or passes are no difference, nor is what is fragile in the earlier one.
    """
    found = {
        name: f"{name} was {getattr(then, name)!r}, is {getattr(now, name)!r}"
        for name in ("status", "selected")
        if getattr(now, name) != getattr(then, name)
    }
    tolerance = ROUGH_TOLERANCE if DIGITS in then.fragile else TOLERANCE
    if not same_values(now.values, then.values, tolerance):
        found["values"] = f"values were {_text(then.values)}, are {_text(now.values)}"
    for name in ("n_iter", "passes"):
        before, after = getattr(then, name), getattr(now, name)
        if before is not None and (after is None or after > before):
            found[name] = f"{name} was {before}, is {after}"
    return {name: text for name, text in found.items() if name not in then.fragile}


def same_values(first: tuple[float, ...], second: tuple[float, ...], tolerance: float) -> bool:
    """Whether values agree within a fraction of their size."""
    return len(first) == len(second) and np.allclose(first, second, rtol=tolerance, atol=1e-12, equal_nan=True)


def write(records: dict[str, Record], file: Path = FILE) -> None:
    """Write a table of records."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["name", *(field.name for field in fields(Record))])
        for name, record in records.items():
            writer.writerow([name, *map(_text, asdict(record).values())])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{number:.17g}" for number in value)
    if isinstance(value, frozenset):
        return " ".join(sorted(value))
    return "" if value is None else str(value)


def read(file: Path = FILE) -> dict[str, Record]:
    """The table in a file."""
    with file.open(newline="", encoding="utf-8") as stream:
        return {line.pop("name"): _record(line) for line in csv.DictReader(stream)}


def _record(line: dict[str, str]) -> Record:
    return Record(
        status=line["status"],
        selected=line["selected"],
        values=tuple(map(float, line["values"].split())),
        n_iter=int(line["n_iter"]) if line["n_iter"] else None,
        passes=int(line["passes"]) if line["passes"] else None,
        fragile=frozenset(line["fragile"].split()),
    )


def fragile_fields(record: Record, others: Iterable[Record]) -> frozenset[str]:
    """The fields in which some of the others differ, in either direction."""
    pairs = [pair for other in others for pair in ((record, other), (other, record))]
    found = {name for pair in pairs for name in differences(*pair)}
    if "values" in found and all(same_values(now.values, then.values, ROUGH_TOLERANCE) for now, then in pairs):
        found = found - {"values"} | {DIGITS}
    return frozenset(found)
