"""Experiments run in this process, and their claims found by their words."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ksparse.experiments import Claim, Experiment, Settings, Table

# Before any figure is made, so that no display is needed.
mpl.use("Agg")


def results(experiment: Experiment, settings: Settings) -> Table:
    """The rows of all tasks, with the names of their places."""
    return Table({**task.place, **row} for task in experiment.tasks(settings) for row in experiment.run(settings, task))


def show_all(experiment: Experiment, settings: Settings, table: Table) -> dict[str, Figure]:
    """Draw all figures, and check that the tables have a cell for each head."""
    for text in experiment.text_tables(settings, table):
        assert text.rows
        assert all(len(row) == len(text.heads) for row in text.rows)
    figures = {}
    for picture in experiment.pictures(settings, table):
        figure = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figure)
        figure.draw_without_rendering()
        assert "step" in picture.caption.lower()  # that of each method is to be said
        figures[picture.name] = figure
    return figures


def claim_with(words: str, experiment: Experiment, settings: Settings, table: Table) -> Claim:
    """The one claim whose words contain these."""
    (found,) = [claim for claim in experiment.claims(settings, table) if words in claim.words]
    return found


def changed(table: Table, name: str, factor: float, shift: float = 0.0, **values: Any) -> Table:
    """The table with the numbers of a name scaled and shifted in the rows that have these values."""
    rows = []
    for row in table.rows:
        chosen = name in row and all(row.get(key) == value for key, value in values.items())
        rows.append({**row, name: row[name] * factor + shift} if chosen else row)
    return Table(rows)
