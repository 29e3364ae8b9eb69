"""Experiments run in this process, and their results as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from reproduction.base import Array, Experiment, Row, Settings
from reproduction.claims import Claim
from reproduction.experiments import EXPERIMENTS
from reproduction.frames import select_rows

# Before any figure is made, so that no display is needed.
mpl.use("Agg")


def experiment_named(name: str) -> Experiment:
    return next(each for each in EXPERIMENTS if each.name == name)


def results(experiment: Experiment, settings: Settings) -> pd.DataFrame:
    """The rows of all tasks with their keys, computed on one thread."""
    with threadpool_limits(1):
        return frame_of(
            {**task.key, **row} for task in experiment.list_tasks(settings) for row in experiment.run(settings, task)
        )


def frame_of(rows: Iterable[Row]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The rows, each without the columns that it lacks."""
    return [
        {name: value for name, value in row.items() if not pd.isna(value)} for row in frame.to_dict(orient="records")
    ]


def values_of(frame: pd.DataFrame, name: str, **values: Any) -> Array:
    """The numbers of a column in the rows with these values."""
    rows = select_rows(frame, **values)
    return rows[name].dropna().to_numpy(dtype=float) if name in rows else np.empty(0)


def show_all(experiment: Experiment, settings: Settings, frame: pd.DataFrame) -> dict[str, Figure]:
    """Draw all figures, and check that every row of the tables has a cell for each column."""
    for table in experiment.make_tables(settings, frame):
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows)
    figures = {}
    for picture in experiment.draw_pictures(settings, frame):
        figure = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        figure.draw_without_rendering()
        assert "step" in (picture.title + picture.caption).lower()  # the step of each method is stated
        figures[picture.name] = figure
    return figures


def claim_with(text: str, experiment: Experiment, settings: Settings, frame: pd.DataFrame) -> Claim:
    """The only claim whose text contains this."""
    (found,) = [claim for claim in experiment.judge_claims(settings, frame) if text in claim.text]
    return found


def changed(frame: pd.DataFrame, name: str, factor: float, shift: float = 0.0, **values: Any) -> pd.DataFrame:
    """The results with a column scaled and shifted in the rows with these values."""
    copy = frame.copy()
    chosen = select_rows(frame, **values).index
    copy[name] = copy[name].astype(float)
    copy.loc[chosen, name] = copy.loc[chosen, name] * factor + shift
    return copy
