"""Cox's partial likelihood by its definition, risk set by risk set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ksparse._types import Array
from ksparse.objectives.survival import ENTRY, EVENT, STRATUM, TIME, encode_survival


def partial_likelihood(margins: Array, y: Any, weights: Array, ties: str) -> float:
    """Minus the log partial likelihood, minus its least value: sums over explicit risk sets, stratum by stratum."""
    target, weights = encode_survival(y), weights / weights.sum()
    total = 0.0
    for stratum in np.unique(target[:, STRATUM]):
        inside = (target[:, STRATUM] == stratum) & (weights > 0)
        time, event, entry = target[inside][:, [TIME, EVENT, ENTRY]].T
        m, s = margins[inside], weights[inside]
        for t in np.unique(time[event > 0]):
            dead = (time == t) & (event > 0)
            at_risk = (entry < t) & (t <= time)
            d, weight = int(dead.sum()), s[dead].sum()
            every, tied = s[at_risk] @ np.exp(m[at_risk]), s[dead] @ np.exp(m[dead])
            total -= s[dead] @ m[dead] + weight * np.log(weight)
            for step in range(d):
                gone = step / d if ties == "efron" else 0.0
                total += weight / d * (np.log(every - gone * tied) - np.log(1.0 - gone))
    return total
