"""A quick run gives what it gave before, within what another machine or other roundings may change."""

from __future__ import annotations

import numpy as np
import pytest

from ksparse.experiments import EXPERIMENTS, Table, experiment_named

from .golden import SUMMARIES, known, quick_results, summary

#: How far means may be apart: a share of them, and so many of their standard errors.
SHARE, ERRORS = 0.2, 4.0
#: Shares and scores may differ by this much: one of a few trials may end otherwise.
ABSOLUTE = {"success": 0.35, "recall": 0.06, "fscore": 0.1}


def differences(name: str, table: Table) -> list[str]:
    """Where a table differs from the file."""
    now = {(line["place"], line["measure"]): float(line["mean"]) for line in summary(name, table)}
    then = {(line["place"], line["measure"]): line for line in known(name)}
    found = [f"{key}: not in both" for key in now.keys() ^ then.keys()]
    for (place, measure), line in then.items():
        mean, error = float(line["mean"]), float(np.nan_to_num(float(line["error"])))
        allowed = max(SHARE * abs(mean) + ERRORS * error, ABSOLUTE.get(measure, 1e-6))
        value = now.get((place, measure), np.nan)
        if not abs(value - mean) <= allowed:
            found.append(f"{place}, {measure}: {value:.4g}, was {mean:.4g} ± {error:.2g}")
    return found


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_quick_run_gives_what_it_gave(name: str) -> None:
    table = quick_results(experiment_named(name))
    assert differences(name, table) == []
    # Results that are half as good, or half as large, would be noticed.
    measure = SUMMARIES[name][2][0]
    worse = Table({**row, measure: 0.3 * row[measure]} if measure in row else row for row in table.rows)
    assert differences(name, worse)


def test_all_experiments_without_data_are_compared() -> None:
    assert set(SUMMARIES) == {each.name for each in EXPERIMENTS} - {"rcv1", "breast-cancer"}
