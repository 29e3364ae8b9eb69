"""Medians over seeds, and how methods compare on the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .results import DONE, LATE, Row, best_settings

__all__ = ["Comparison", "Ratio", "summarize"]

#: Objectives that differ by this share are the same: the evaluator's refits are not exact either.
SAME = 1e-6


@dataclass(frozen=True)
class Ratio:
    """How many times longer a peer takes than we do; only a lower bound if it has run out of time."""

    value: float
    bound: bool = False
    peer: str = ""

    def __str__(self) -> str:
        digits = f"{self.value:.0f}" if self.value >= 10 else f"{self.value:.1f}"
        return f"{'> ' if self.bound else ''}{digits}×"


class Comparison:
    """All methods on one variant with one number of threads.

    Parameters
    ----------
    rows : list of Row
        Its results, one for each method and seed.
    ours : str
        The method that the others are compared with.
    patience : float
        Seconds after which a fit was given up.
    """

    def __init__(self, rows: list[Row], ours: str, patience: float) -> None:
        self.ours, self.patience = ours, patience
        self._rows = {(row.method, row.seed): row for row in rows}
        self.seeds = sorted({row.seed for row in rows if row.method == ours and row.status == DONE})
        self.methods = list(dict.fromkeys(row.method for row in rows))
        # The same method with other settings is shown, but is no rival.
        self.peers = [name for name in self.methods if name != ours and not name.startswith(f"{ours}, ")]

    def share_done(self, method: str) -> str:
        """For how many seeds it was done, such as "2 of 5"; nothing if for all or for none."""
        done, every = len(self._done(method)), len(self._all_seeds(method))
        return f"{done} of {every}" if 0 < done < every else ""

    def outcome(self, method: str) -> Row | None:
        """A row that says what went wrong: the first that is not done; None if all are."""
        rows = (self._rows[method, seed] for seed in self._all_seeds(method))
        return next((row for row in rows if row.status != DONE), None)

    def median(self, method: str, measure: str) -> float:
        """Median of a measure over the seeds for which the method was done; NaN unless those are most of them."""
        done = self._done(method) if self._counts(method) else []
        values = [getattr(self._rows[method, seed], measure) for seed in done]
        known = [value for value in values if not np.isnan(value)]
        return float(np.median(known)) if known else np.nan

    def extreme(self, method: str, measure: str, worst: Callable[[Iterable[float]], float]) -> float:
        """The smallest or largest value of a measure over the seeds; NaN if there is none."""
        values = [getattr(self._rows[method, seed], measure) for seed in self._done(method)]
        return worst(values) if values else np.nan

    def ratio(self, methods: Iterable[str]) -> Ratio | None:
        """Time of the fastest of these methods over ours: the median over seeds. None if all of them failed."""
        ratios = [ratio for method in methods if (ratio := self._ratio(method)) is not None]
        return min(ratios, key=lambda ratio: (ratio.value, ratio.bound)) if ratios else None

    def near(self, share: float, methods: Sequence[str]) -> list[str]:
        """Those whose median objective exceeds ours by at most this share."""
        ours = self.median(self.ours, "objective")
        limit = ours + (share + SAME) * abs(ours)
        return [name for name in methods if self.median(name, "objective") <= limit]

    def reaching(self, share: float, methods: Sequence[str]) -> list[str]:
        """Those that find at least this share of our features for some seed, or have our objective with fewer."""
        least = share * self.median(self.ours, "features")
        near = self.near(0.0, methods)
        return [name for name in methods if name in near or self.extreme(name, "features", max) >= least]

    def wins(self) -> tuple[int, str]:
        """Seeds in which no peer has a lower objective, and the peer that has one most often."""
        losses = dict.fromkeys(self.peers, 0)
        won = 0
        for seed in self.seeds:
            ours = self._objective(self.ours, seed)
            better = [name for name in self.peers if self._objective(name, seed) < ours - SAME * abs(ours)]
            won += bool(np.isfinite(ours)) and not better
            for name in better:
                losses[name] += 1
        return won, max(losses, key=lambda name: losses[name], default="") if any(losses.values()) else ""

    def _ratio(self, method: str) -> Ratio | None:
        done = [seed for seed in self._done(method) if seed in self.seeds]
        if done and self._counts(method):
            pairs = [self._rows[method, seed].seconds / self._rows[self.ours, seed].seconds for seed in done]
            return Ratio(float(np.median(pairs)), peer=method)
        late = any(self._rows[method, seed].status == LATE for seed in self._all_seeds(method))
        if not late or not self.seeds:
            return None
        return Ratio(self.patience / self.median(self.ours, "seconds"), bound=True, peer=method)

    def _objective(self, method: str, seed: int) -> float:
        row = self._rows.get((method, seed))
        return np.inf if row is None or row.status != DONE or np.isnan(row.objective) else row.objective

    def _counts(self, method: str) -> bool:
        """Whether a method was done for most seeds: those that it can do may be the easy ones."""
        return 2 * len(self._done(method)) > len(self._all_seeds(method))

    def _all_seeds(self, method: str) -> list[int]:
        return [seed for name, seed in self._rows if name == method]

    def _done(self, method: str) -> list[int]:
        return [seed for seed in self._all_seeds(method) if self._rows[method, seed].status == DONE]


def summarize(rows: list[Row], ours: Callable[[str], str], patience: float) -> dict[tuple[str, int], Comparison]:
    """A comparison for each variant and number of threads; `ours` names our method of a variant."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in best_settings(rows):
        # With one thread, what other programs do meanwhile does not count.
        alone = row.threads == 1 and row.processors > 0
        groups.setdefault((row.variant, row.threads), []).append(replace(row, seconds=row.processors) if alone else row)
    return {key: Comparison(group, ours(key[0]), patience) for key, group in groups.items()}
