"""The Kaplan–Meier estimate of survival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._types import AnyArray, Array
from ..objectives.survival import ENTRY, EVENT, TIME, encode_survival
from ..validation import check_positive_number

__all__ = ["RISK_GROUPS", "KaplanMeier", "group_by_risk", "kaplan_meier"]


#: Names of risk groups, by their number.
RISK_GROUPS: dict[int, tuple[str, ...]] = {
    1: ("all",),
    2: ("low risk", "high risk"),
    3: ("low risk", "middle risk", "high risk"),
}


@dataclass(frozen=True)
class KaplanMeier:
    """Survival over time: what `kaplan_meier` returns.

    Attributes
    ----------
    times : ndarray
        The distinct times with events, increasing.
    survival, low, high : ndarray
        The probability to have no event until each time and at it, and the ends of its interval.
    at_risk, events : ndarray
        How many samples are at risk at each time, and how many have their event then.
    censored : ndarray
        The times at which samples were censored.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.inference import kaplan_meier
    >>> found = kaplan_meier(make_survival_target([1.0, 2.0, 3.0, 4.0], [True, False, True, False]))
    >>> found.find_survival([0.5, 1.0, 9.0])
    array([1.   , 0.75 , 0.375])
    """

    times: Array
    survival: Array
    low: Array
    high: Array
    at_risk: Array
    events: Array
    censored: Array

    @property
    def last(self) -> float:
        """The last time at which a sample was seen."""
        return float(max(self.times.max(initial=0.0), self.censored.max(initial=0.0)))

    def find_survival(self, times: Any) -> Array:
        """The estimate at some times: 1 before the first event."""
        found: Array = np.append(1.0, self.survival)[np.searchsorted(self.times, times, side="right")]
        return found


def kaplan_meier(y: Any, *, level: float = 0.95) -> KaplanMeier:
    """The Kaplan–Meier estimate of survival, with pointwise intervals of the log-log transformation.

    Parameters
    ----------
    y : structured array, data frame or array of shape (n, 2)
        Times and events, and entry times, as `ksparse.make_survival_target` makes them; strata are not told apart.
    level : float, default=0.95
        The level of the intervals, which come from Greenwood's variance.

    Returns
    -------
    KaplanMeier
        The estimate.

    References
    ----------
    E. L. Kaplan and P. Meier, *Nonparametric estimation from incomplete observations*, JASA 53 (1958), 457–481.

    Examples
    --------
    >>> from ksparse import make_survival_target
    >>> from ksparse.inference import kaplan_meier
    >>> found = kaplan_meier(make_survival_target([1.0, 2.0, 3.0, 4.0], [True, False, True, False]))
    >>> found.times, found.survival
    (array([1., 3.]), array([0.75 , 0.375]))
    """
    if check_positive_number(level, "level") >= 1.0:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level!r}")
    target = encode_survival(y)
    time, happened = target[:, TIME], target[:, EVENT] > 0
    times, events = np.unique(time[happened], return_counts=True)
    seen, entered = (np.sort(part) for part in (time, target[:, ENTRY]))
    # Who is seen at a time or later, without those who enter at it or later.
    at_risk = np.searchsorted(entered, times) - np.searchsorted(seen, times)
    survival: Array = np.cumprod(1.0 - events / at_risk, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        greenwood = np.cumsum(events / (at_risk * (at_risk - events)))
        spread = float(stats.norm.ppf(0.5 + 0.5 * level)) * np.sqrt(greenwood) / np.abs(np.log(survival))
        low, high = survival ** np.exp(spread), survival ** np.exp(-spread)
    dead = survival <= 0
    low, high = np.where(dead, 0.0, low), np.where(dead, 0.0, high)
    return KaplanMeier(
        times, survival, low, high, at_risk.astype(np.float64), events.astype(np.float64), np.sort(time[~happened])
    )


def group_by_risk(risk: Array, reference: Array, count: int = 3) -> AnyArray:
    """The risk group of each sample, from 0 to count − 1: between quantiles of the risks of a reference.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.inference.censored import group_by_risk
    >>> group_by_risk(np.array([-9.0, 0.5, 9.0]), np.linspace(0, 1, 99))
    array([0, 1, 2])
    """
    edges = np.quantile(reference, np.arange(1, count) / count)
    return np.searchsorted(edges, risk, side="left")
