"""Verdicts on what is proved, where one exception is one too many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .claims import Verdict

__all__ = ["Proved", "all_of", "always"]

#: With so large a share of the runs a theorem that is not seen in all of them is seen partly.
MOST = 0.8


@dataclass(frozen=True)
class Proved(Verdict):
    """Whether a theorem, or an identity, is seen in all runs."""

    @property
    def word(self) -> str:
        """How it is called: it holds without exception or not at all, "partly" being a hint to look closer."""
        if np.isnan(self.share):
            return "not measured"
        if self.share == 1.0:
            return "holds"
        return "partly" if self.share >= MOST else "does not hold"


def always(truths: Iterable[bool], runs: str, numbers: str) -> Proved:
    """A verdict from what is so in each run: how many of how many runs, as they are called, and other numbers."""
    known = [bool(truth) for truth in truths]
    share = float(np.mean(known)) if known else np.nan
    return Proved(share, f"{sum(known)} of {len(known)} {runs}; {numbers}")


def all_of(verdicts: dict[str, Proved]) -> Proved:
    """A verdict on several things that are proved at once: as good as the worst, and measured if all are."""
    numbers = "; ".join(f"{name}: {each.numbers}" for name, each in verdicts.items())
    return Proved(float(np.min([each.share for each in verdicts.values()])), numbers)
