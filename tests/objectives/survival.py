"""Times until an event, and Cox's partial likelihood by its definition, risk set by risk set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ksparse._types import AnyArray, Array
from ksparse.objectives.survival import ENTRY, EVENT, STRATUM, TIME, encode_survival, make_survival_target


def draw_survival(
    margins: Array, seed: int = 0, *, ties: bool = True, entry: bool = False, strata: bool = False
) -> AnyArray:
    """Times with hazards exp(margins), a third of them censored, and ties, entry times and strata if asked for."""
    rng = np.random.default_rng(seed)
    n = len(margins)
    times = rng.exponential(np.exp(-margins)) + 0.05
    entries = rng.uniform(0, 0.6, n) * times * (rng.random(n) < 0.7)
    if ties:
        times, entries = np.ceil(times * 5) / 5, np.floor(entries * 5) / 5
    labels = np.array(["b", "a", "c"])[np.arange(n) % 3]
    return make_survival_target(
        times, rng.random(n) < 0.67, entry=entries if entry else None, strata=labels if strata else None
    )


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
