"""What the paper says of its results, and whether ours say the same: computed, never typed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as t_distribution

from .._types import Array
from .tables import Table

__all__ = [
    "Claim",
    "Verdict",
    "at_limits",
    "clearly",
    "comparable",
    "compared",
    "falls",
    "joined",
    "leads",
    "median_ratio",
    "per_iteration",
    "rises",
    "verdict",
]

#: Shares of the settings in which a claim must be true to hold, and to hold partly.
HOLDS, PARTLY = 0.8, 0.3
#: Ratios below it have one digit that counts, wherever it is.
SMALL_RATIO = 0.1
#: A trend that goes back by more than this share of its way is said to.
TURN = 0.05
#: A difference is called clear if chance alone, by Student's t, would make one as large less often than this.
CHANCE = 0.05


@dataclass(frozen=True)
class Verdict:
    """Whether something is so, and the numbers that say it.

    Attributes
    ----------
    share : float
        Share of the settings in which it is so.
    numbers : str
        What was measured.
    """

    share: float
    numbers: str

    @property
    def word(self) -> str:
        """How it is called: "not measured" if there is nothing to judge."""
        if np.isnan(self.share):
            return "not measured"
        if self.share >= HOLDS:
            return "holds"
        return "partly" if self.share >= PARTLY else "does not hold"


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Attributes
    ----------
    where : str
        Its place in the paper.
    words : str
        The paper's words, in short.
    faithful : Verdict
        For the methods as the paper states them.
    ours : Verdict or None
        The same for the default solver in the place of GraHTP; None where it says nothing about it.
    reason : str
        Why it may be otherwise here than in the paper; for a reader, where it does not hold.
    """

    where: str
    words: str
    faithful: Verdict
    ours: Verdict | None = None
    reason: str = ""

    @property
    def why(self) -> str:
        """The reason, where it is needed."""
        return self.reason if self.faithful.word in ("partly", "does not hold") else ""


def verdict(truths: Iterable[bool], numbers: str) -> Verdict:
    """A verdict from what is so in each setting."""
    known = [bool(truth) for truth in truths]
    return Verdict(float(np.mean(known)) if known else np.nan, numbers)


def compared(
    table: Table, measure: str, over: str, method: str, others: Iterable[str], slack: float = 0.0, sign: float = 1.0
) -> Verdict:
    """Whether the mean of a measure for one method is at most that of each other, give or take a share of it.

    Parameters
    ----------
    table : Table
        Results.
    measure, over : str
        What is compared, and the name whose values are the settings.
    method : str
        The method that is to be better.
    others : iterable of str
        Those that it is compared with.
    slack : float, default=0
        By which share it may be worse.
    sign : float, default=1
        Lower is better; with -1, higher is.
    """
    truths: list[bool] = []
    ratios: list[float] = []
    clear: Counter[str] = Counter()
    for here in table.parts(over).values():
        own = here.mean(measure, method=method)
        for other in others:
            its = here.mean(measure, method=other)
            if np.isfinite(own) and np.isfinite(its):
                truths.append(sign * own <= sign * its + slack * abs(its))
                ratios.append(own / its if its else np.nan)
                clear.update(clearly(here, measure, method, other, sign))
    said = f"{sum(truths)} of {len(truths)} comparisons"
    aside = "; the margin left aside" if slack else ""
    said += f" ({clear['for']} clearly for it, {clear['against']} clearly against{aside})" if clear else ""
    return verdict(truths, f"{said}; median ratio {median_ratio(ratios)}")


def clearly(table: Table, measure: str, method: str, other: str, sign: float) -> list[str]:
    """For which of two methods the same data speak by more than chance; nothing for fewer than two replications."""
    values = [
        {row.get("replication"): row[measure] for row in table.where(method=name).rows if measure in row}
        for name in (method, other)
    ]
    differences = sign * np.array([values[0][each] - values[1][each] for each in values[0] if each in values[1]])
    if differences.size < 2:
        return []
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    if abs(differences.mean()) <= t_distribution.isf(CHANCE / 2.0, differences.size - 1) * error:
        return ["neither"]
    return ["for" if differences.mean() < 0.0 else "against"]


def leads(table: Table, measure: str, over: str, method: str, others: Iterable[str], sign: float = 1.0) -> Verdict:
    """Whether the mean of a measure for one method is below those of all others at once: for superlatives.

    The parameters are those of `compared`.
    """
    truths, ratios = [], []
    for place in table.distinct(over):
        own = table.mean(measure, **{over: place, "method": method})
        its = [table.mean(measure, **{over: place, "method": other}) for other in others]
        known = [sign * value for value in its if np.isfinite(value)]
        if np.isfinite(own) and known:
            best = sign * min(known)
            truths.append(sign * own < min(known))
            ratios.append(own / best if best else np.nan)
    return verdict(
        truths,
        f"first in {sum(truths)} of {len(truths)} settings; median ratio to the best other {median_ratio(ratios)}",
    )


def per_iteration(table: Table) -> Table:
    """The rows with their seconds for each iteration, as `pace`."""
    timed = (row for row in table.rows if "seconds" in row and "iterations" in row)
    return Table({**row, "pace": row["seconds"] / max(row["iterations"], 1)} for row in timed)


def at_limits(judged: Verdict, table: Table, methods: Iterable[str]) -> Verdict:
    """A verdict that says how many runs were ended by the limit of iterations."""
    shares = []
    for method in methods:
        ends = [row.get("status") == "max_iter" for row in table.where(method=method).rows]
        if any(ends):
            shares.append(f"{method} {np.mean(ends):.0%}")
    if not shares:
        return judged
    return Verdict(judged.share, f"{judged.numbers}; runs that the limit of iterations ended: {', '.join(shares)}")


def comparable(table: Table, measure: str, over: str, method: str, other: str, tolerance: float = 0.1) -> Verdict:
    """Whether the means of two methods differ by at most a share of the larger one."""
    truths, ratios = [], []
    for place in table.distinct(over):
        own, its = (table.mean(measure, **{over: place, "method": name}) for name in (method, other))
        if np.isfinite(own) and np.isfinite(its):
            truths.append(abs(own - its) <= tolerance * max(abs(own), abs(its)))
            ratios.append(own / its if its else np.nan)
    settings = f"within {100 * tolerance:.3g} % in {sum(truths)} of {len(truths)} settings"
    return verdict(truths, f"{settings}; median ratio {median_ratio(ratios)}")


def median_ratio(ratios: Iterable[float]) -> str:
    """Median of the ratios that there are, in two digits or more; "unknown" if there is none."""
    known = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not known:
        return "unknown"
    median = float(np.median(known))
    return f"{median:.2f}" if median >= SMALL_RATIO else f"{median:.1g}"


def joined(verdicts: dict[str, Verdict]) -> Verdict:
    """A verdict on several things that are said at once: as good as the weakest of them."""
    shares = [each.share for each in verdicts.values() if not np.isnan(each.share)]
    numbers = "; ".join(f"{name}: {each.numbers}" for name, each in verdicts.items())
    return Verdict(min(shares, default=np.nan), numbers)


def falls(table: Table, measure: str, over: str, methods: Iterable[str]) -> Verdict:
    """Whether the mean of a measure falls from the first to the last setting, and mostly in between (Kendall's τ)."""
    return _trend(table, measure, over, methods, -1.0)


def rises(table: Table, measure: str, over: str, methods: Iterable[str]) -> Verdict:
    """The same for a measure that rises."""
    return _trend(table, measure, over, methods, 1.0)


def _trend(table: Table, measure: str, over: str, methods: Iterable[str], sign: float) -> Verdict:
    truths, parts = [], []
    for method in methods:
        places, means, _ = table.series(over, measure, method=method)
        places, means = (values[np.isfinite(means)] for values in (places, means))
        if means.size < 2:
            continue
        signs = np.sign(means[None, :] - means[:, None])[np.triu_indices(means.size, 1)]
        tau = float(signs.mean())
        truths.append(sign * (means[-1] - means[0]) > 0 and sign * tau > 0)
        turn = _turn(places, sign * means, over)
        parts.append(f"{method} {means[0]:.3g} → {means[-1]:.3g} (τ = {tau:+.2f}{turn})")
    return verdict(truths, "; ".join(parts))


def _turn(places: Array, means: Array, over: str) -> str:
    """Where means that should rise are largest, if that is not at the end but for a little."""
    peak = int(np.argmax(means))
    if means[peak] - means[-1] <= TURN * (means.max() - means.min()):
        return ""
    return f"; {abs(means[peak]):.3g} at {over} = {places[peak]:g}"
