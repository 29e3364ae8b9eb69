"""What the captions of charts say, of each model of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.report import render_report
from tests.problems import draw_survival

from .pages import find_state, fit, fit_diabetes, read_data

N = 240
RNG = np.random.default_rng(9)
X = RNG.standard_normal((N, 3))
DOTS = "with 95% intervals; ticks are rows whose time was cut off."


def write(folder: Path, rows: int = N, **columns: Any) -> str:
    path = folder / "table.csv"
    pd.DataFrame(X[:rows], columns=["a", "b", "c"]).assign(**columns).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("test", [0.25, 0.0])
def test_a_quantile_has_its_fraction_of_rows_below_it(test: float, tmp_path: Path) -> None:
    y = X[:, 0] + RNG.standard_normal(N)
    options: dict[str, Any] = {"target": "y", "task": "quantile", "quantile": 0.9, "alpha": 0.01, "resamples": 0}
    fitted = fit(data=write(tmp_path, y=y), ks=(0, 1), test=test, **options)
    data = read_data(render_report(fitted))
    rows = fitted.test if test else fitted.train
    for k in (0, 1):
        predicted = fitted.find_models(k)[0].estimator.predict(fitted.training.encode(fitted.data.X, rows))
        below = f"{100 * np.mean(fitted.y[rows] <= predicted):.1f}%"
        first, second = find_state(data, k)["captions"]
        which = f"the {len(rows)} {'held-out rows' if test else 'rows it was fitted to'}"
        assert first.startswith("Each point is a row. About 90% of new rows should lie on the line or below it")
        assert first.endswith(f"not above the predicted 0.9-quantile; of {which}, {below} do.")
        assert (
            second == "True minus predicted value: about 90% should lie at 0 or below, everywhere from left to right."
        )


def test_a_mean_is_right_on_the_line() -> None:
    state = read_data(render_report(fit_diabetes(), resamples=0))["states"][0]
    assert state["captions"] == [
        "Each point is a row; on the line, the prediction is right.",
        "True minus predicted value: no pattern should be left.",
    ]


@pytest.mark.parametrize(("rows", "said"), [(120, "low or high"), (N, "low, middle or high")])
def test_the_caption_names_the_risk_groups_that_are_drawn(rows: int, said: str, tmp_path: Path) -> None:
    y = draw_survival(X[:rows, 0])
    path = write(tmp_path, rows, days=y["time"], died=y["event"].astype(int))
    fitted = fit(data=path, time="days", event="died", ks=(0, 1), alpha=0.01, resamples=0)
    data = read_data(render_report(fitted))
    drawn = find_state(data, 1)
    assert drawn["captions"] == [
        f"Kaplan–Meier curves of rows with {said} predicted risk, {DOTS} The further apart, the better."
    ]
    assert [f"{name} risk" for name in said.replace(" or ", ", ").split(", ")] == [g["name"] for g in drawn["survival"]]
    # Without features, all rows have the same risk.
    (group,) = find_state(data, 0)["survival"]
    assert (group["name"], group["rows"]) == ("all", len(fitted.test))
    expected = f"Kaplan–Meier curve of all rows, which have the same predicted risk, {DOTS}"
    assert find_state(data, 0)["captions"] == [expected]
