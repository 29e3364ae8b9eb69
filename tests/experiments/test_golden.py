"""A quick run gives what it gave before, within what another machine or other roundings may change."""

from __future__ import annotations

from typing import Any

import pytest

from ksparse.experiments import EXPERIMENTS, Table, experiment_named

from .golden import SUMMARIES, known, quick_results, summary
from .helpers import changed

# Seeds are fixed, so that runs differ by rounding alone. With all data (X, Σ, Q) multiplied by 1 + 1e-9·N(0, 1), which
# is 10⁷ times what rounding does, no support and no number of iterations changed in two runs; means moved by at most
# 2e-8 of their size; with 1e-13, or with compiled code for an old processor, they moved by less than 3e-12. The share
# leaves room for 500 times the former, and is still far below what another step does: 0.3/L in place of 1/L moves
# FGraHTP's errors by 1e-4 to 2e-3 of their size.
SHARE = 1e-5
#: For means that are 0.
SMALLEST = 1e-9
#: Long runs that end by a tolerance may end an iteration sooner or later.
ROUGHER = {"iterations": 0.02}
#: A tie that is decided otherwise may change a support, and all that follows in that setting: in one of so many
#: settings, or in one of an experiment with fewer.
TIES = 20


def differences(name: str, table: Table) -> list[str]:
    """The settings in which a table differs from the file, if they are more than ties explain."""
    now = {(line["setting"], line["measure"]): float(line["mean"]) for line in summary(name, table)}
    then = {(line["setting"], line["measure"]): float(line["mean"]) for line in known(name)}
    if now.keys() != then.keys():
        return [f"{key}: not in both" for key in now.keys() ^ then.keys()]
    found: dict[str, str] = {}
    for (setting, measure), mean in then.items():
        value = now[setting, measure]
        if not abs(value - mean) <= max(ROUGHER.get(measure, SHARE) * abs(mean), SMALLEST):
            found.setdefault(setting, f"{setting}: {measure} {value:.8g}, was {mean:.8g}")
    settings = len({setting for setting, _ in then})
    return list(found.values()) if len(found) > max(settings // TIES, 1) else []


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_quick_run_gives_what_it_gave(name: str) -> None:
    table = quick_results(experiment_named(name))
    assert differences(name, table) == []
    # A measure that is off by a thousandth is noticed, and one setting that is far off is not.
    measure = SUMMARIES[name][2][0]
    assert differences(name, changed(table, measure, 1.001))
    first = next(row for row in table.rows if measure in row)
    place: dict[str, Any] = {part: first.get(part) for part in SUMMARIES[name][1]}
    assert differences(name, changed(table, measure, 0.5, 0.0, **place)) == []


def test_all_experiments_without_data_are_compared() -> None:
    assert set(SUMMARIES) == {each.name for each in EXPERIMENTS} - {"rcv1", "breast-cancer"}
