"""A quick run gives the same means as before, up to what another machine or other rounding may change."""

from __future__ import annotations

import pandas as pd
import pytest

from reproduction.experiments import EXPERIMENTS

from .golden import SUMMARIES, read_golden, run_quickly, summarize_golden
from .helpers import changed

# Seeds are fixed, so runs differ by rounding only. With all data (X, Σ, Q) multiplied by 1 + 1e-9·N(0, 1), which is 10⁷
# times rounding, no support and no number of iterations changed in two runs, and means changed by at most 2e-8 of
# their size; with 1e-13, or with compiled code for an old processor, by less than 3e-12. The tolerance allows 500 times
# the former, and is far below the effect of another step: 0.3/L in place of 1/L changes FGraHTP's errors by 1e-4 to
# 2e-3 of their size.
RELATIVE = 1e-5
#: For means that are 0.
ABSOLUTE = 1e-9
#: Long runs that end by a tolerance may end an iteration sooner or later.
RELATIVE_ITERATIONS = 0.02
#: A tie that is broken differently may change a support and everything after it in that setting: in one of this many
#: settings, or in one of an experiment with fewer.
TIES = 20


def find_differences(name: str, frame: pd.DataFrame) -> list[str]:
    """The settings in which results differ from the file, if they are more than ties explain."""
    key = ["setting", "measure"]
    lines = read_golden(name).merge(summarize_golden(name, frame), on=key, how="outer", suffixes=("", "_now"))
    tolerance = lines["measure"].map({"iterations": RELATIVE_ITERATIONS}).fillna(RELATIVE)
    allowed = (tolerance * lines["mean"].abs()).clip(lower=ABSOLUTE)
    wrong = lines[~((lines["mean_now"] - lines["mean"]).abs() <= allowed)]
    settings = wrong["setting"].nunique()
    return (
        wrong.astype(str).agg(" ".join, axis=1).tolist()
        if settings > max(len(set(lines["setting"])) // TIES, 1)
        else []
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMMARIES)
def test_a_quick_run_gives_the_same_means(name: str) -> None:
    frame = run_quickly(name)
    assert find_differences(name, frame) == []
    # A measure that is off by a thousandth is noticed; a single setting that is far off is not.
    chosen, columns, measures = SUMMARIES[name]
    assert find_differences(name, changed(frame, measures[0], 1.001))
    first = frame[frame[measures[0]].notna()].iloc[0]
    one = {column: first[column] for column in [*columns, *chosen] if not pd.isna(first[column])}
    assert find_differences(name, changed(frame, measures[0], 0.5, **one)) == []


def test_all_experiments_without_data_are_compared() -> None:
    assert set(SUMMARIES) == {each.name for each in EXPERIMENTS} - {"rcv1", "breast-cancer"}
