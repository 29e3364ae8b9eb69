"""Experiments run and drawn in one process, for the tests."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from ksparse.experiments.base import Experiment
from ksparse.experiments.tables import Table


def results(experiment: Experiment, settings: Any) -> Table:
    """The rows of all tasks, with their places."""
    return Table({**task.place, **row} for task in experiment.tasks(settings) for row in experiment.run(settings, task))


def drawn(experiment: Experiment, settings: Any, table: Table) -> dict[str, Figure]:
    """The figures by name, drawn."""
    figures = {}
    for picture in experiment.pictures(settings, table):
        figures[picture.name] = Figure(figsize=picture.size, layout="constrained")
        picture.draw(figures[picture.name])
        figures[picture.name].draw_without_rendering()
    return figures
