"""Medians over seeds, and comparisons of methods on the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .results import DONE, TIMED_OUT, Row, keep_best_settings

__all__ = ["Comparison", "Ratio", "summarize"]

#: Relative tolerance within which two objectives count as equal; the evaluator's refits are not exact.
OBJECTIVE_RTOL = 1e-6


@dataclass(frozen=True)
class Ratio:
    """Time of a peer relative to ours; only a lower bound if the peer exceeded the time limit."""

    value: float
    is_bound: bool = False
    peer: str = ""

    def __str__(self) -> str:
        digits = f"{self.value:.0f}" if self.value >= 10 else f"{self.value:.1f}"
        return f"{'> ' if self.is_bound else ''}{digits}×"


class Comparison:
    """All methods on one variant with one number of threads.

    The *peers* are the methods of other packages, with which ours is compared.

    Parameters
    ----------
    rows : list of Row
        The results, one per method and seed.
    ours : str
        Our method.
    time_limit : float
        Seconds after which a fit was stopped.
    """

    def __init__(self, rows: list[Row], ours: str, time_limit: float) -> None:
        self.ours, self.time_limit = ours, time_limit
        self._rows = {(row.method, row.seed): row for row in rows}
        self.seeds = sorted({row.seed for row in rows if row.method == ours and row.status == DONE})
        self.methods = list(dict.fromkeys(row.method for row in rows))
        # Our method with other settings is listed, but is not a peer.
        self.peers = [name for name in self.methods if name != ours and not name.startswith(f"{ours}, ")]

    def format_done(self, method: str) -> str:
        """Return the number of seeds that were done, such as "2 of 5"; empty if all or none were."""
        done, total = len(self._list_done(method)), len(self._list_seeds(method))
        return f"{done} of {total}" if 0 < done < total else ""

    def find_failure(self, method: str) -> Row | None:
        """Return the first row that is not done; None if all are."""
        rows = (self._rows[method, seed] for seed in self._list_seeds(method))
        return next((row for row in rows if row.status != DONE), None)

    def median(self, method: str, measure: str) -> float:
        """Return the median of a measure over the seeds that were done; NaN unless those are the majority."""
        done = self._list_done(method) if self._is_mostly_done(method) else []
        values = [getattr(self._rows[method, seed], measure) for seed in done]
        known = [value for value in values if not np.isnan(value)]
        return float(np.median(known)) if known else np.nan

    def pair(self, measure: str, method: str, ours: str) -> Any:
        """The measure of a method minus that of one of ours on each seed that both have done; empty if few are."""
        if not (self._is_mostly_done(method) and self._is_mostly_done(ours)):
            return np.empty(0)
        seeds = sorted(set(self._list_done(method)) & set(self._list_done(ours)))
        values = [getattr(self._rows[method, s], measure) - getattr(self._rows[ours, s], measure) for s in seeds]
        return np.array(values)

    def aggregate(self, method: str, measure: str, function: Callable[[Iterable[float]], float]) -> float:
        """Apply a function, such as `min`, to the values of a measure over the seeds; NaN if there is none."""
        values = [getattr(self._rows[method, seed], measure) for seed in self._list_done(method)]
        return function(values) if values else np.nan

    def compute_ratio(self, methods: Iterable[str]) -> Ratio | None:
        """Return the time of the fastest of these methods relative to ours, a median over seeds; None if all failed."""
        ratios = [ratio for method in methods if (ratio := self._compute_ratio(method)) is not None]
        return min(ratios, key=lambda ratio: (ratio.value, ratio.is_bound)) if ratios else None

    def select_near(self, tolerance: float, methods: Sequence[str]) -> list[str]:
        """Select the methods whose median objective exceeds ours by at most this relative tolerance."""
        ours = self.median(self.ours, "objective")
        limit = ours + (tolerance + OBJECTIVE_RTOL) * abs(ours)
        return [name for name in methods if self.median(name, "objective") <= limit]

    def select_large(self, fraction: float, methods: Sequence[str]) -> list[str]:
        """Select the methods that have at least this fraction of our features on some seed, or match our objective."""
        least = fraction * self.median(self.ours, "features")
        near = self.select_near(0.0, methods)
        return [name for name in methods if name in near or self.aggregate(name, "features", max) >= least]

    def count_wins(self) -> tuple[int, str]:
        """Count the seeds on which no peer has a lower objective, and name the peer that most often has one."""
        losses = dict.fromkeys(self.peers, 0)
        won = 0
        for seed in self.seeds:
            ours = self._get_objective(self.ours, seed)
            better = [
                name for name in self.peers if self._get_objective(name, seed) < ours - OBJECTIVE_RTOL * abs(ours)
            ]
            won += bool(np.isfinite(ours)) and not better
            for name in better:
                losses[name] += 1
        return won, max(losses, key=lambda name: losses[name], default="") if any(losses.values()) else ""

    def _compute_ratio(self, method: str) -> Ratio | None:
        done = [seed for seed in self._list_done(method) if seed in self.seeds]
        if done and self._is_mostly_done(method):
            pairs = [self._rows[method, seed].seconds / self._rows[self.ours, seed].seconds for seed in done]
            return Ratio(float(np.median(pairs)), peer=method)
        timed_out = any(self._rows[method, seed].status == TIMED_OUT for seed in self._list_seeds(method))
        if not timed_out or not self.seeds:
            return None
        return Ratio(self.time_limit / self.median(self.ours, "seconds"), is_bound=True, peer=method)

    def _get_objective(self, method: str, seed: int) -> float:
        row = self._rows.get((method, seed))
        return np.inf if row is None or row.status != DONE or np.isnan(row.objective) else row.objective

    def _is_mostly_done(self, method: str) -> bool:
        """Return whether a method was done on most seeds; if not, those that were may be the easy ones."""
        return 2 * len(self._list_done(method)) > len(self._list_seeds(method))

    def _list_seeds(self, method: str) -> list[int]:
        return [seed for name, seed in self._rows if name == method]

    def _list_done(self, method: str) -> list[int]:
        return [seed for seed in self._list_seeds(method) if self._rows[method, seed].status == DONE]


def summarize(rows: list[Row], ours: Callable[[str], str], time_limit: float) -> dict[tuple[str, int], Comparison]:
    """Return a comparison for each variant and number of threads; `ours` maps a variant to our method."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in keep_best_settings(rows):
        # On one thread the CPU time is used, which other programs hardly affect.
        if row.threads == 1 and row.cpu_seconds > 0:
            row = replace(row, seconds=row.cpu_seconds)
        groups.setdefault((row.variant, row.threads), []).append(row)
    return {key: Comparison(group, ours(key[0]), time_limit) for key, group in groups.items()}
