"""Means of logarithms or losses over the same data, and verdicts on differences to the best peer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .regressors import BEFORE, OURS, REGRESSORS
from .rows import RealRow, SimulationRow

__all__ = ["Comparison", "Difference", "Estimate", "compare_real", "compare_simulation"]

#: The order of methods in tables; L1 stands for the lasso where there are classes.
ORDER = (OURS, BEFORE, "L1", *(name for name in REGRESSORS if name not in (OURS, BEFORE)))


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error (NaN for a single value)."""

    mean: float
    error: float


@dataclass(frozen=True)
class Difference:
    """Ours minus a peer's, paired by data set."""

    peer: str
    mean: float
    error: float

    @property
    def is_met(self) -> bool:
        """Whether ours is not above the peer by more than one standard error."""
        return self.mean <= (0.0 if np.isnan(self.error) else self.error)

    @property
    def is_met_strictly(self) -> bool:
        """Whether ours is not above the peer."""
        return self.mean <= 0.0


class Comparison:
    """Methods on the data sets on which all of them were run.

    Parameters
    ----------
    rows : iterable of SimulationRow or RealRow
        The rows of one cell of a table.
    measure : callable
        What is averaged and compared, lower is better.
    """

    def __init__(self, rows: Iterable[SimulationRow] | Iterable[RealRow], measure: Callable[[Any], float]) -> None:
        by_method: dict[str, dict[tuple[Any, ...], Any]] = {}
        for row in rows:
            by_method.setdefault(row.method, {})[row.data] = row
        common = set.intersection(*(set(found) for found in by_method.values())) if by_method else set()
        self.rows = {
            method: {key: found[key] for key in sorted(common)} for method, found in by_method.items() if common
        }
        self.count = len(common)
        self.measure = measure
        #: The method that is compared with peers: ksparse as it is, or, if it has not been run, with only k chosen.
        self.ours = OURS if OURS in self.rows else BEFORE

    @property
    def methods(self) -> list[str]:
        """Methods in the order of the tables, ours first."""
        return sorted(self.rows, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    @property
    def peers(self) -> list[str]:
        """Methods of others that gave an answer on at least half of the data."""
        found = [name for name in self.methods if name not in (OURS, BEFORE)]
        return [name for name in found if 2 * self.count_failures(name) <= self.count]

    def count_failures(self, method: str) -> int:
        """Return the number of data sets without an answer."""
        return sum(bool(row.failure) for row in self.rows[method].values())

    def estimate(self, method: str, measure: Callable[[Any], float] | None = None) -> Estimate:
        """Return the mean of a measure over the data sets with an answer."""
        values = [(measure or self.measure)(row) for row in self.rows[method].values() if not row.failure]
        return _estimate(values)

    def subtract(self, peer: str, method: str | None = None) -> Difference:
        """Return the difference of ours, or of a method, to another one, on the data sets with answers of both."""
        pairs = [(self.rows[method or self.ours][key], row) for key, row in self.rows[peer].items()]
        done = [(ours, other) for ours, other in pairs if not (ours.failure or other.failure)]
        found = _estimate([self.measure(ours) - self.measure(other) for ours, other in done])
        return Difference(peer, found.mean, found.error)

    @property
    def best(self) -> Difference | None:
        """The difference to the peer with the lowest mean; None without peers or without ours."""
        if self.ours not in self.rows or not self.peers:
            return None
        return self.subtract(min(self.peers, key=lambda name: self.estimate(name).mean))

    def judge(self, method: str) -> Difference:
        """The difference of any method to the best of the others, by the same rule as `best`."""
        others = [name for name in (self.ours, *self.peers) if name != method]
        return self.subtract(min(others, key=lambda name: self.estimate(name).mean), method)


def _estimate(values: list[float]) -> Estimate:
    if not values:
        return Estimate(np.nan, np.nan)
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Estimate(float(np.mean(values)), float(error))


def _take_logarithm(row: SimulationRow) -> float:
    return float(np.log(row.relative_error))


def _take_loss(row: RealRow) -> float:
    return row.loss


def compare_simulation(rows: list[SimulationRow], sizes: Iterable[str], snrs: Iterable[float]) -> dict[Any, Comparison]:
    """Return the comparison of logarithms of relative test errors for each size and SNR that was run."""
    cells: dict[Any, list[SimulationRow]] = {(size, snr): [] for size in sizes for snr in snrs}
    for row in rows:
        if (row.size, row.snr) in cells:
            cells[row.size, row.snr].append(row)
    compared = {key: Comparison(found, _take_logarithm) for key, found in cells.items() if found}
    return {key: one for key, one in compared.items() if one.count}


def compare_real(rows: list[RealRow], names: Iterable[str]) -> dict[str, Comparison]:
    """Return the comparison of losses for each data set that was run."""
    compared = {name: Comparison([row for row in rows if row.name == name], _take_loss) for name in names}
    return {name: one for name, one in compared.items() if one.count}
