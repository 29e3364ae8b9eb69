"""The paper's claims and their verdicts, which are computed from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import t as t_distribution

from .frames import mean_table, select_rows, split_rows, summarize

__all__ = [
    "Claim",
    "Verdict",
    "add_limits",
    "add_seconds_per_iteration",
    "combine",
    "find_clear_difference",
    "format_median_ratio",
    "judge",
    "judge_best",
    "judge_better",
    "judge_comparable",
    "judge_theorem",
    "judge_trend",
]

#: Fractions of the settings in which a claim must be true to hold, and to hold partly; then the same for theorems.
HOLDS, PARTLY = 0.8, 0.3
THEOREM_HOLDS, THEOREM_PARTLY = 1.0, 0.8
#: Ratios below this are written with one significant digit.
SMALL_RATIO = 0.1
#: A trend that turns back by more than this fraction of its range is reported.
TURN = 0.05
#: Significance level of Student's t-test for a clear difference.
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Verdict:
    """Whether a claim is true, with the numbers that decide.

    Attributes
    ----------
    fraction : float
        Fraction of the settings in which it is true; NaN if there are none.
    numbers : str
        What was measured.
    theorem : bool
        Whether exceptions are not allowed: a theorem must hold in every run.
    """

    fraction: float
    numbers: str
    theorem: bool = False

    @property
    def word(self) -> str:
        """The verdict: "holds", "partly", "does not hold", or "not measured"."""
        holds, partly = (THEOREM_HOLDS, THEOREM_PARTLY) if self.theorem else (HOLDS, PARTLY)
        if np.isnan(self.fraction):
            return "not measured"
        if self.fraction >= holds:
            return "holds"
        return "partly" if self.fraction >= partly else "does not hold"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    Attributes
    ----------
    source : str
        Where it is in the paper.
    text : str
        The statement, abbreviated.
    published : Verdict
        For the methods as published.
    default : Verdict or None
        For the default solver of ksparse in place of GraHTP; None if the claim does not concern it.
    reason : str
        Why our results may differ from the paper's.
    """

    source: str
    text: str
    published: Verdict
    default: Verdict | None = None
    reason: str = ""

    @property
    def explanation(self) -> str:
        """The reason, if the claim does not hold fully."""
        return self.reason if self.published.word in ("partly", "does not hold") else ""


def judge(truths: Iterable[bool], numbers: str) -> Verdict:
    """Verdict from whether a claim is true in each setting."""
    known = [bool(truth) for truth in truths]
    return Verdict(float(np.mean(known)) if known else np.nan, numbers)


def judge_theorem(truths: Iterable[bool], runs: str, numbers: str) -> Verdict:
    """Verdict on a theorem from whether it is true in each run; `runs` says what the runs are."""
    known = [bool(truth) for truth in truths]
    return replace(judge(known, f"{sum(known)} of {len(known)} {runs}; {numbers}"), theorem=True)


def judge_better(
    frame: pd.DataFrame,
    measure: str,
    over: str,
    method: str,
    others: Iterable[str],
    *,
    slack: float = 0.0,
    sign: float = 1.0,
) -> Verdict:
    """Whether the mean of a measure for one method is at most that of each other method.

    Parameters
    ----------
    frame : DataFrame
        Results.
    measure, over : str
        What is compared, and the column whose values are the settings.
    method : str
        The method that should be better.
    others : iterable of str
        The methods it is compared with, one at a time.
    slack : float, default=0
        Relative amount by which it may be worse; negative if it must be better by a margin.
    sign : float, default=1
        1 if lower is better, -1 if higher is.
    """
    truths: list[bool] = []
    ratios: list[float] = []
    clear: Counter[str] = Counter()
    groups = split_rows(frame, over)
    for rival in others:
        means = mean_table(frame, measure, over, (method, rival)).dropna()
        for setting, own, other in means.itertuples():
            truths.append(sign * own <= sign * other + slack * abs(other))
            ratios.append(_ratio(own, other))
            clear.update(find_clear_difference(groups[setting], measure, method, rival, sign))
    numbers = f"{sum(truths)} of {len(truths)} comparisons"
    margin = ", ignoring the margin" if slack else ""
    numbers += f" ({clear['better']} clearly better, {clear['worse']} clearly worse{margin})" if clear else ""
    return judge(truths, f"{numbers}; median ratio {format_median_ratio(ratios)}")


def find_clear_difference(frame: pd.DataFrame, measure: str, method: str, other: str, sign: float) -> list[str]:
    """["better"], ["worse"] or ["neither"], by a paired t-test over replications; [] for fewer than two pairs."""
    if measure not in frame or "replication" not in frame:
        return []
    pairs = [select_rows(frame, method=name).dropna(subset=[measure]) for name in (method, other)]
    own, its = (rows.drop_duplicates("replication", keep="last").set_index("replication")[measure] for rows in pairs)
    differences = sign * (own - its).dropna().to_numpy(dtype=float)
    if differences.size < 2:
        return []
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    if abs(differences.mean()) <= t_distribution.isf(SIGNIFICANCE / 2.0, differences.size - 1) * error:
        return ["neither"]
    return ["better" if differences.mean() < 0.0 else "worse"]


def judge_best(
    frame: pd.DataFrame, measure: str, over: str, method: str, others: Iterable[str], sign: float = 1.0
) -> Verdict:
    """Whether the mean of a measure for one method is below those of all others at once: for superlatives.

    The parameters are those of `judge_better`.
    """
    rivals = tuple(others)
    means = sign * mean_table(frame, measure, over, (method, *rivals)).dropna(subset=method)
    pairs = [(own, min(known)) for own, *rest in means.to_numpy() if (known := [x for x in rest if np.isfinite(x)])]
    truths = [own < best for own, best in pairs]
    ratio = format_median_ratio(_ratio(own, best) for own, best in pairs)
    return judge(
        truths, f"best in {sum(truths)} of {len(truths)} settings; median ratio to the best other method {ratio}"
    )


def judge_comparable(
    frame: pd.DataFrame, measure: str, over: str, method: str, other: str, tolerance: float = 0.1
) -> Verdict:
    """Whether the means of two methods differ by at most a fraction of the larger one."""
    pairs = mean_table(frame, measure, over, (method, other)).dropna().to_numpy()
    truths = [abs(own - its) <= tolerance * max(abs(own), abs(its)) for own, its in pairs]
    count = f"within {100 * tolerance:.3g} % in {sum(truths)} of {len(truths)} settings"
    return judge(truths, f"{count}; median ratio {format_median_ratio(_ratio(own, its) for own, its in pairs)}")


def judge_trend(frame: pd.DataFrame, measure: str, over: str, methods: Iterable[str], sign: float) -> Verdict:
    """Whether the mean of a measure rises (sign 1) or falls (-1): first to last value, and by Kendall's τ."""
    truths, parts = [], []
    for method in methods:
        means = summarize(frame, over, measure, method=method)["mean"]
        if len(means) < 2:
            continue
        values = means.to_numpy(dtype=float)
        tau = float(np.sign(values[None, :] - values[:, None])[np.triu_indices(values.size, 1)].mean())
        truths.append(sign * (values[-1] - values[0]) > 0 and sign * tau > 0)
        turn = _describe_turn(sign * means, over)
        parts.append(f"{method} {values[0]:.3g} → {values[-1]:.3g} (τ = {tau:+.2f}{turn})")
    return judge(truths, "; ".join(parts))


def _describe_turn(means: pd.Series, over: str) -> str:
    """Where means that should rise have their maximum, if it is clearly above the last value."""
    if means.max() - means.iloc[-1] <= TURN * (means.max() - means.min()):
        return ""
    return f"; {abs(means.max()):.3g} at {over} = {means.idxmax():g}"


def add_seconds_per_iteration(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column `pace`: seconds per iteration."""
    if not {"seconds", "iterations"} <= set(frame):
        return frame.iloc[:0]
    return frame.assign(pace=frame["seconds"] / frame["iterations"].clip(lower=1))


def add_limits(verdict: Verdict, frame: pd.DataFrame, methods: Iterable[str]) -> Verdict:
    """The verdict with the fractions of the runs that stopped at the iteration limit."""
    parts = []
    for method in methods:
        rows = select_rows(frame, method=method)
        if "status" in rows and (rows["status"] == "max_iter").any():
            parts.append(f"{method} {(rows['status'] == 'max_iter').mean():.0%}")
    if not parts:
        return verdict
    return replace(verdict, numbers=f"{verdict.numbers}; stopped at the iteration limit: {', '.join(parts)}")


def combine(verdicts: dict[str, Verdict]) -> Verdict:
    """Verdict on a claim with several parts: that of its weakest part; of theorems, all parts must be measured."""
    theorem = bool(verdicts) and all(each.theorem for each in verdicts.values())
    fractions = [each.fraction for each in verdicts.values() if theorem or not np.isnan(each.fraction)]
    numbers = "; ".join(f"{name}: {each.numbers}" for name, each in verdicts.items())
    return Verdict(float(np.min(fractions)) if fractions else np.nan, numbers, theorem)


def _ratio(value: float, reference: float) -> float:
    return value / reference if reference else np.nan


def format_median_ratio(ratios: Iterable[float]) -> str:
    """Median of the finite ratios with two digits or one significant digit; "unknown" if there is none."""
    known = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not known:
        return "unknown"
    median = float(np.median(known))
    return f"{median:.2f}" if median >= SMALL_RATIO else f"{median:.1g}"
