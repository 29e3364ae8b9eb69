"""What ksparse is to reach in each case, and whether it does: computed from the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .summaries import Comparison, Ratio

__all__ = ["TARGETS", "Target", "Verdict"]

#: The share of the seeds in which no peer may be better: 4 of 5.
MOST = 0.8


@dataclass(frozen=True)
class Verdict:
    """What was measured on one variant, and whether that is enough; None if a peer was given up too early to tell."""

    measured: str
    met: bool | None

    def __str__(self) -> str:
        return f"**{self.measured}**" if self.met is False else self.measured


@dataclass(frozen=True)
class Target:
    """A target of a case.

    Attributes
    ----------
    text : str
        What is to be reached.
    judge : callable
        The verdict on a comparison; None where nothing can be said.
    applies : str
        Only variants whose names begin with this.
    but : tuple of str
        Not variants whose names contain one of these.
    among_all : bool
        Whether it is met only if all peers are measured.
    """

    text: str
    judge: Callable[[Comparison], Verdict | None]
    applies: str = ""
    but: tuple[str, ...] = ()
    among_all: bool = False

    def concerns(self, variant: str) -> bool:
        """Whether a variant is judged."""
        return variant.startswith(self.applies) and not any(part in variant for part in self.but)


def _peers(comparison: Comparison, beginning: str) -> list[str]:
    return [name for name in comparison.peers if name.startswith(beginning)]


def _wins(comparison: Comparison) -> Verdict | None:
    if not comparison.peers:
        return None
    won, rival = comparison.wins()
    beaten = f" ({rival})" if rival else ""
    return Verdict(f"{won} of {len(comparison.seeds)}{beaten}", won >= MOST * len(comparison.seeds))


def _times(ratio: Ratio | None, least: float, otherwise: str) -> Verdict:
    if ratio is None:
        return Verdict(otherwise, True)
    if ratio.value >= least:
        return Verdict(str(ratio), True)
    return Verdict(f"{ratio}, given up", None) if ratio.bound else Verdict(f"{ratio} ({ratio.peer})", False)


def _faster_than(beginning: str, least: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _peers(comparison, beginning)
        return _times(comparison.ratio(peers), least, "it fails") if peers else None

    return judge


def _faster_than_reaching(beginning: str, share: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _peers(comparison, beginning)
        done = [name for name in peers if np.isfinite(comparison.median(name, "objective"))]
        if not peers:
            return None
        if not done:
            return _times(comparison.ratio(peers), 1.0, "it fails")
        reaching = comparison.reaching(share, done)
        if not reaching:
            return Verdict(f"none has {100 * share:g} % of k", None)
        return _times(comparison.ratio(reaching), 1.0, "it fails")

    return judge


def _faster_than_near(beginning: str, share: float, least: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _peers(comparison, beginning)
        if not peers:
            return None
        near = comparison.near(share, peers)
        return _times(comparison.ratio(near), least, f"none within {100 * share:g} %")

    return judge


def _recall(comparison: Comparison) -> Verdict:
    lowest = comparison.extreme(comparison.ours, "recall", min)
    return Verdict(f"{lowest:.3g}", lowest == 1.0)


def _no_worse(
    measure: str, beginning: str, sign: float = 1.0, digits: str = ".4g"
) -> Callable[[Comparison], Verdict | None]:
    """Our median of a measure beside the best of these peers; lower is better, unless the sign is negative."""

    def judge(comparison: Comparison) -> Verdict | None:
        values = [comparison.median(name, measure) for name in _peers(comparison, beginning)]
        known = [sign * value for value in values if not np.isnan(value)]
        if not known:
            return None
        ours, best = comparison.median(comparison.ours, measure), sign * min(known)
        return Verdict(f"{ours:{digits}} beside {best:{digits}}", sign * ours <= sign * best + 1e-6 * abs(best))

    return judge


def _within(method: str, most: float) -> Callable[[Comparison], Verdict | None]:
    """The share of a method's time that ours is."""

    def judge(comparison: Comparison) -> Verdict | None:
        ratio = comparison.ratio([method] if method in comparison.methods else [])
        if ratio is None:
            return None
        share = 1.0 / ratio.value
        if ratio.bound:
            return Verdict(f"< {share:.2f}", True if share <= most else None)
        return Verdict(f"{share:.2f}", share <= most)

    return judge


_LASSO = "graphical lasso (scikit-learn"

TARGETS: dict[str, tuple[Target, ...]] = {
    "paper_logistic": (
        Target("objective at most every peer's, in at least 4 of 5 seeds", _wins, among_all=True),
        Target(
            "≥ 20× faster than the fastest skscope solver within 10 %",
            _faster_than_near("skscope", 0.10, 20.0),
            among_all=True,
        ),
        Target("faster than abess", _faster_than("abess", 1.0)),
    ),
    "glm_sizes": (
        Target("recall 1", _recall),
        Target("linear: ≥ 2× faster than abess", _faster_than("abess", 2.0), applies="linear"),
        Target(
            "logistic, two larger sizes: ≥ 5× faster than abess",
            _faster_than("abess", 5.0),
            applies="logistic",
            but=("p = 1000,",),
        ),
    ),
    "correlated": (
        Target("objective at most every peer's, in at least 4 of 5 seeds", _wins, among_all=True),
        Target("faster than every peer within 2 %", _faster_than_near("", 0.02, 1.0), among_all=True),
    ),
    "sparse_text": (
        Target("objective at most that of L1, refitted", _no_worse("objective", "L1")),
        Target("test error at most that of L1, refitted", _no_worse("test_error", "L1")),
        Target("in less time than L1, where that has 95 % of k features", _faster_than_reaching("L1", 0.95)),
        Target("≥ 50× faster than abess", _faster_than("abess", 50.0)),
    ),
    "precision": (
        Target("F-score at least that of scikit-learn", _no_worse("f_score", _LASSO, -1.0, ".3f")),
        Target("Frobenius error at most that of scikit-learn", _no_worse("frobenius", _LASSO, 1.0, ".3f")),
        Target("≤ ¼ of the time of scikit-learn's own settings", _within(f"{_LASSO})", 0.25)),
    ),
    "weak_edges": (),
    "paths": (Target("50 values of k in ≤ 5× the time of the largest fit", _within("ksparse", 5.0)),),
}
