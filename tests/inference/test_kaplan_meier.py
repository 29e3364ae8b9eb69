"""The Kaplan–Meier estimate against its definition and statsmodels."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ksparse import make_survival_target
from ksparse.inference import kaplan_meier
from tests.problems import draw_survival

SurvfuncRight: Any = import_module("statsmodels.duration.survfunc").SurvfuncRight
MARGINS = np.random.default_rng(0).standard_normal(50)


@pytest.mark.parametrize("entry", [False, True])
def test_the_estimate_is_that_of_statsmodels(entry: bool) -> None:
    y = draw_survival(MARGINS, entry=entry)
    # statsmodels has a sample at risk at the time of its entry; here, as in R, it is from then on.
    peer = SurvfuncRight(y["time"], y["event"].astype(int), entry=y["entry"] + 1e-9 if entry else None)
    found = kaplan_meier(y)
    np.testing.assert_allclose(found.times, peer.surv_times)
    np.testing.assert_allclose(found.survival, peer.surv_prob)
    np.testing.assert_allclose(found.at_risk, peer.n_risk)
    np.testing.assert_allclose(found.events, peer.n_events)
    inside = (found.survival > 0) & (found.survival < 1)
    width = stats.norm.ppf(0.975) * peer.surv_prob_se / (found.survival * np.abs(np.log(found.survival)))
    np.testing.assert_allclose(found.low[inside], (found.survival ** np.exp(width))[inside])
    np.testing.assert_allclose(found.high[inside], (found.survival ** np.exp(-width))[inside])


def test_ends() -> None:
    found = kaplan_meier(make_survival_target([1.0, 2.0], [True, True]))
    assert (found.survival[-1], found.low[-1], found.high[-1]) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(found.find_survival([0.0, 1.0, 1.5, 9.0]), [1.0, 0.5, 0.5, 0.0])
    nobody = kaplan_meier(make_survival_target([1.0, 2.0], [False, False]))
    assert nobody.times.size == 0
    assert nobody.find_survival([5.0]).tolist() == [1.0]
    assert nobody.last == 2.0
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        kaplan_meier([[1.0, 1]], level=95)
