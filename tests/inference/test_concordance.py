"""The concordance index against all pairs one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse import make_survival_target
from ksparse.inference import concordance_index, concordance_interval
from ksparse.objectives.survival import encode_survival
from tests.problems import draw_survival

N = 60
RISK = np.random.default_rng(1).standard_normal(N)


def count_pairs(y: Any, risk: Any, weights: Any) -> float:
    time, event, entry, stratum = encode_survival(y).T
    right = total = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(risk)):
            longer = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if i != j and longer and entry[j] < time[i] and stratum[i] == stratum[j]:
                total += weights[i] * weights[j]
                right += weights[i] * weights[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    return right / total


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("entry", [False, True])
def test_all_pairs(entry: bool, strata: bool, ties: bool, rounded: bool) -> None:
    y = draw_survival(RISK, ties=ties, entry=entry, strata=strata)
    risk = np.round(RISK) if rounded else RISK + np.random.default_rng(2).standard_normal(N)
    assert concordance_index(y, risk) == pytest.approx(count_pairs(y, risk, np.ones(N)), rel=1e-12)
    weights = np.random.default_rng(3).integers(0, 3, N)
    assert concordance_index(y, risk, weights) == pytest.approx(count_pairs(y, risk, weights), rel=1e-12)


def test_ends() -> None:
    time = np.arange(1.0, 11.0)
    y = make_survival_target(time, np.ones(10, bool))
    assert concordance_index(y, -time) == pytest.approx(1.0)
    assert concordance_index(y, time) == pytest.approx(0.0, abs=1e-12)
    assert concordance_index(y, np.ones(10)) == 0.5
    perfect = concordance_interval(y, -time)
    assert perfect.value == pytest.approx(1.0)
    assert perfect.high == 1.0
    assert perfect.low == pytest.approx(0.025**0.2)
    nothing = concordance_interval(make_survival_target([1.0, 2.0], [False, True]), [1.0, 2.0])
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    assert str(nothing) == "C-index nan, 95 % no interval (2 rows, no comparable pairs)"
    with pytest.raises(ValueError, match="risk has 1 NaN"):
        concordance_index(y, np.where(time == 3, np.nan, time))
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        concordance_interval(y, time, level=95)


def test_the_standard_error_is_the_jackknifes() -> None:
    y = draw_survival(RISK, entry=True)
    risk = RISK + np.random.default_rng(2).standard_normal(N)
    index = concordance_index(y, risk)
    left_out = [concordance_index(np.delete(y, i), np.delete(risk, i)) for i in range(N)]
    jackknife = np.sqrt((N - 1) / N * np.square(np.array(left_out) - np.mean(left_out)).sum())
    interval = concordance_interval(y, risk, level=0.6826894921370859)
    logits = np.log([interval.low / (1 - interval.low), interval.high / (1 - interval.high)])
    assert np.diff(logits)[0] / 2 * index * (1 - index) == pytest.approx(jackknife, rel=0.05)


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    """The index of exponential times with hazard exp(bx) is that of all pairs of a large sample."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(4000)
    truth = concordance_index(make_survival_target(rng.exponential(np.exp(-x)), np.ones(4000, bool)), x)
    covered = []
    for _ in range(400):
        x = rng.standard_normal(60)
        found = concordance_interval(make_survival_target(rng.exponential(np.exp(-x)), np.ones(60, bool)), x)
        covered.append(found.low <= truth <= found.high)
    assert 0.92 <= np.mean(covered) <= 0.98
