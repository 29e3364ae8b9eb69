"""Whether a line says that two columns are a time until an event, and which command it names."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.survival_hint import suggest_survival_analysis
from ksparse.cli.target import Target
from tests.real_data import needs_data

from .helpers import accepted

TIME, EVENT = np.arange(1.0, 13.0), np.tile([0, 1, 1], 4)


def suggest(target: str, columns: dict[str, Any], dropped: tuple[str, ...] = ()) -> str:
    frame = pd.DataFrame(columns)
    found = suggest_survival_analysis(Target.of_column(target, frame[target]), frame, "a.csv", dropped)
    return " ".join(found)


@pytest.mark.parametrize(
    ("time", "event"),
    [
        ("time", "status"),
        ("week", "arrest"),
        ("duration", "observed"),
        ("T", "E"),
        ("os_months", "os_status"),
        ("OS.time", "OS"),
        ("PFS (days)", "PFS event"),
        ("survivalTime", "vitalStatus"),
        ("days_to_death", "deceased"),
        ("follow-up time", "censored"),
        ("tenure", "churned"),
    ],
)
def test_names_of_times_and_events(time: str, event: str) -> None:
    columns = {"age": TIME, time: TIME, event: EVENT}
    command = f"ksparse fit a.csv --time {shlex.quote(time)} --event {shlex.quote(event)}"
    assert suggest(time, columns).endswith(command)
    assert suggest(event, columns).endswith(command)
    assert suggest("age", columns) == ""


def test_the_event_of_the_same_end_point_is_meant() -> None:
    columns = {"pfs_status": EVENT, "pfs_months": TIME, "os_status": EVENT, "os_months": TIME}
    assert suggest("os_months", columns).endswith("--time os_months --event os_status")
    assert suggest("pfs_status", columns).endswith("--time pfs_months --event pfs_status")


@pytest.mark.parametrize(
    ("values", "event"),
    [
        (EVENT, "status"),
        (EVENT + 1, "status=2"),
        (np.tile([0, 1, 2], 4), "status=2"),
        (np.where(EVENT, "yes", "no"), "status"),
        (np.where(EVENT, "Dead", "Alive"), "status=Dead"),
        (np.where(EVENT, "1:DECEASED", "0:LIVING"), "status=1:DECEASED"),
    ],
)
def test_the_value_of_the_event_is_named(values: Any, event: str) -> None:
    assert suggest("time", {"time": TIME, "status": values}).endswith(f"--time time --event {event}")


def test_what_is_wrong_depends_on_the_target() -> None:
    columns = {"time": TIME, "cens": EVENT, "age": TIME}
    assert "times that were cut off are taken for complete ones here" in suggest("time", columns)
    said = suggest("cens", columns)
    assert "'time' is a feature here, though it is known only afterwards" in said
    assert "cut off" not in said
    said = suggest("cens", columns, dropped=("time",))
    assert "how long each row was observed does not count here" in said
    assert "is a feature here" not in said
    assert "cut off are taken" in suggest("time", columns, dropped=("cens",))


def test_other_columns_are_no_times_and_events() -> None:
    assert suggest("time", {"time": TIME, "status": [f"case {i}" for i in range(12)]}) == ""
    assert suggest("status", {"time": ["early", "late"] * 6, "status": EVENT}) == ""


@needs_data
@pytest.mark.slow
def test_the_command_that_it_names_works(capsys: pytest.CaptureFixture[str]) -> None:
    table, plain = (
        Path(os.environ["KSPARSE_DATA"]) / "tables" / "pbc.csv",
        ["--k", "1", "--alpha", "0.1", "--resamples", "0"],
    )
    text = accepted(capsys, "fit", table, "--target", "time", *plain)
    line = next(line for line in text.splitlines() if "survival analysis" in line)
    assert line.endswith("--time time --event status=2")
    text = accepted(capsys, *shlex.split(line[line.index("ksparse fit ") :])[1:], *plain)
    assert "Events: 161 of 418 rows, 'status=2'" in text
