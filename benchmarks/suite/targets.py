"""The targets of ksparse in each case, and the verdicts that follow from the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .family_data import TEST_FRACTION
from .summaries import Comparison, Ratio

__all__ = ["TARGETS", "Target", "Verdict"]

#: Fraction of the seeds on which no peer may be better: 4 of 5.
REQUIRED_WINS = 0.8


@dataclass(frozen=True)
class Verdict:
    """A measured value of one variant, and whether it meets the target; None if that could not be decided."""

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
        The target in words.
    judge : callable
        Maps a comparison to a verdict; to None if nothing relevant was measured.
    prefix : str
        Only variants whose names start with this are judged.
    excluding : tuple of str
        Variants whose names contain one of these are not judged.
    needs_all_peers : bool
        Whether the target can be met only if all peers were measured.
    """

    text: str
    judge: Callable[[Comparison], Verdict | None]
    prefix: str = ""
    excluding: tuple[str, ...] = ()
    needs_all_peers: bool = False

    def applies_to(self, variant: str) -> bool:
        """Return whether a variant is judged."""
        return variant.startswith(self.prefix) and not any(part in variant for part in self.excluding)


def _list_peers(comparison: Comparison, prefix: str) -> list[str]:
    return [name for name in comparison.peers if name.startswith(prefix)]


def _judge_wins(comparison: Comparison) -> Verdict | None:
    if not comparison.peers:
        return None
    won, peer = comparison.count_wins()
    better = f" ({peer})" if peer else ""
    return Verdict(f"{won} of {len(comparison.seeds)}{better}", won >= REQUIRED_WINS * len(comparison.seeds))


def _judge_ratio(ratio: Ratio | None, least: float, otherwise: str) -> Verdict:
    if ratio is None:
        return Verdict(otherwise, True)
    if ratio.value >= least:
        return Verdict(str(ratio), True)
    return Verdict(f"{ratio} (time limit)", None) if ratio.is_bound else Verdict(f"{ratio} ({ratio.peer})", False)


def _require_speedup(prefix: str, least: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _list_peers(comparison, prefix)
        return _judge_ratio(comparison.compute_ratio(peers), least, "failed") if peers else None

    return judge


def _require_speedup_over_large(prefix: str, fraction: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _list_peers(comparison, prefix)
        done = [name for name in peers if np.isfinite(comparison.median(name, "objective"))]
        if not peers:
            return None
        if not done:
            return _judge_ratio(comparison.compute_ratio(peers), 1.0, "failed")
        large = comparison.select_large(fraction, done)
        if not large:
            return Verdict(f"none has {100 * fraction:g} % of k", None)
        return _judge_ratio(comparison.compute_ratio(large), 1.0, "failed")

    return judge


def _require_speedup_over_near(prefix: str, tolerance: float, least: float) -> Callable[[Comparison], Verdict | None]:
    def judge(comparison: Comparison) -> Verdict | None:
        peers = _list_peers(comparison, prefix)
        if not peers:
            return None
        near = comparison.select_near(tolerance, peers)
        return _judge_ratio(comparison.compute_ratio(near), least, f"none within {100 * tolerance:g} %")

    return judge


def _judge_recall(comparison: Comparison) -> Verdict:
    lowest = comparison.aggregate(comparison.ours, "recall", min)
    return Verdict(f"{lowest:.3g}", lowest == 1.0)


def _require_no_worse(
    measure: str, prefix: str, sign: float = 1.0, digits: str = ".4g"
) -> Callable[[Comparison], Verdict | None]:
    """Compare our median of a measure with the best of these peers; lower is better, unless the sign is negative."""

    def judge(comparison: Comparison) -> Verdict | None:
        values = [comparison.median(name, measure) for name in _list_peers(comparison, prefix)]
        known = [sign * value for value in values if not np.isnan(value)]
        if not known:
            return None
        ours, best = comparison.median(comparison.ours, measure), sign * min(known)
        return Verdict(f"{ours:{digits}} vs. {best:{digits}}", sign * ours <= sign * best + 1e-6 * abs(best))

    return judge


def _require_concordance(method: str) -> Callable[[Comparison], Verdict | None]:
    """Compare the mean concordance index of one of our methods with the highest of a peer, on the same splits.

    The standard error of a mean over splits that share rows is that of Nadeau and Bengio (2003).
    """

    def judge(comparison: Comparison) -> Verdict | None:
        pairs = {name: comparison.pair("test_error", name, method) for name in comparison.peers}
        known = {name: differences for name, differences in pairs.items() if differences.size > 1}
        if not known:
            return None
        peer = min(known, key=lambda name: float(known[name].mean()))
        differences = known[peer]
        mean, count = float(differences.mean()), differences.size
        error = float(differences.std(ddof=1)) * np.sqrt(1.0 / count + TEST_FRACTION / (1.0 - TEST_FRACTION))
        return Verdict(f"{mean:+.3f} ± {error:.3f} ({peer})", bool(mean >= -error))

    return judge


def _require_time_fraction(method: str, most: float) -> Callable[[Comparison], Verdict | None]:
    """Compare our time with a fraction of the time of another method."""

    def judge(comparison: Comparison) -> Verdict | None:
        ratio = comparison.compute_ratio([method] if method in comparison.methods else [])
        if ratio is None:
            return None
        fraction = 1.0 / ratio.value
        if ratio.is_bound:
            return Verdict(f"< {fraction:.2f}", True if fraction <= most else None)
        return Verdict(f"{fraction:.2f}", fraction <= most)

    return judge


_LASSO = "graphical lasso (scikit-learn"

TARGETS: dict[str, tuple[Target, ...]] = {
    "paper_logistic": (
        Target("objective no higher than any peer's on at least 4 of 5 seeds", _judge_wins, needs_all_peers=True),
        Target(
            "≥ 20× faster than the fastest skscope solver whose objective is within 10 %",
            _require_speedup_over_near("skscope", 0.10, 20.0),
            needs_all_peers=True,
        ),
        Target("faster than abess", _require_speedup("abess", 1.0)),
    ),
    "glm_sizes": (
        Target("recall 1", _judge_recall),
        Target("linear: ≥ 2× faster than abess", _require_speedup("abess", 2.0), prefix="linear"),
        Target(
            "logistic, two larger sizes: ≥ 5× faster than abess",
            _require_speedup("abess", 5.0),
            prefix="logistic",
            excluding=("p = 1000,",),
        ),
    ),
    "correlated": (
        Target("objective no higher than any peer's on at least 4 of 5 seeds", _judge_wins, needs_all_peers=True),
        Target(
            "faster than every peer whose objective is within 2 %",
            _require_speedup_over_near("", 0.02, 1.0),
            needs_all_peers=True,
        ),
    ),
    "families": (
        Target("objective no higher than any peer's on at least 4 of 5 seeds", _judge_wins, needs_all_peers=True),
        Target("faster than abess", _require_speedup("abess", 1.0)),
        Target("Cox: faster than Coxnet", _require_speedup("Coxnet", 1.0), prefix="Cox"),
    ),
    "survival": (
        Target("objective no higher than any peer's on at least 80 % of the splits", _judge_wins, needs_all_peers=True),
        Target(
            "concordance index of test rows not below the best peer's by more than a standard error: no ridge",
            _require_concordance("ksparse"),
        ),
        Target("the same, with the ridge chosen by cross-validation", _require_concordance("ksparse, ridge by CV")),
        Target("faster than abess", _require_speedup("abess", 1.0)),
        Target("faster than Coxnet", _require_speedup("Coxnet", 1.0)),
    ),
    "sparse_text": (
        Target("objective no higher than that of refitted L1", _require_no_worse("objective", "L1")),
        Target("test error no higher than that of refitted L1", _require_no_worse("test_error", "L1")),
        Target("faster than every L1 solver with at least 95 % of k features", _require_speedup_over_large("L1", 0.95)),
        Target("≥ 50× faster than abess", _require_speedup("abess", 50.0)),
    ),
    "precision": (
        Target("F-score no lower than that of scikit-learn", _require_no_worse("f_score", _LASSO, -1.0, ".3f")),
        Target(
            "Frobenius error no higher than that of scikit-learn", _require_no_worse("frobenius", _LASSO, 1.0, ".3f")
        ),
        Target("≤ ¼ of the time of scikit-learn with default settings", _require_time_fraction(f"{_LASSO})", 0.25)),
    ),
    "weak_edges": (),
    "paths": (
        Target("50 values of k in ≤ 5× the time of the fit with the largest k", _require_time_fraction("ksparse", 5.0)),
    ),
}
