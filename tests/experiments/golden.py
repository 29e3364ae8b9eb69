"""What a quick run gives, in short: the mean of each measure over the replications of a setting.

    python -m tests.experiments.golden

writes `golden.csv` again, after a change that is meant to change results.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from ksparse.experiments import Experiment, Table, experiment_named
from ksparse.threads import one_thread

FILE = Path(__file__).with_name("golden.csv")
#: For each experiment that needs no data: which rows, what distinguishes settings, and which measures are compared.
#: Replications of matrices, of which there are two, are settings of their own.
SUMMARIES: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "logistic-n": ({"kind": "main"}, ("n", "method"), ("error", "loss", "recall", "iterations")),
    "logistic-k": ({"kind": "main"}, ("k", "method"), ("error", "loss", "recall", "iterations")),
    "precision": (
        {},
        ("kind", "p", "replication", "multiple", "method"),
        ("error", "loss", "fscore", "edges", "held_out", "iterations"),
    ),
    "heatmaps": ({}, ("replication", "method"), ("error", "loss", "fscore", "edges", "iterations")),
    "compressed-sensing": ({"kind": "main"}, ("coefficients", "k", "method"), ("success", "iterations")),
    "theory": (
        {},
        ("part", "loss", "n", "k", "p", "noise", "multiple", "method"),
        ("error", "monotone", "ended", "iterations", "bound", "gradient"),
    ),
}


def quick_results(experiment: Experiment) -> Table:
    """A quick run, as the command makes it."""
    settings = experiment.settings("quick")
    with one_thread():
        return Table(
            {**task.place, **row} for task in experiment.tasks(settings) for row in experiment.run(settings, task)
        )


def summary(name: str, table: Table) -> list[dict[str, Any]]:
    """Means of the measures in each setting."""
    chosen, names, measures = SUMMARIES[name]
    rows = table.where(**chosen).rows
    settings = dict.fromkeys(tuple(row.get(part) for part in names) for row in rows)
    lines = []
    for setting in settings:
        here = Table(rows).where(**dict(zip(names, setting, strict=True)))
        words = ", ".join(str(part) for part in setting if part is not None)
        for measure in measures:
            if here.values(measure).size:
                lines.append({"experiment": name, "setting": words, "measure": measure, "mean": here.mean(measure)})
    return lines


def known(name: str) -> list[dict[str, str]]:
    """The lines of an experiment in the file."""
    lines = csv.DictReader(FILE.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["experiment"] == name]


if __name__ == "__main__":
    everything = [line for name in SUMMARIES for line in summary(name, quick_results(experiment_named(name)))]
    FILE.write_text(Table(everything).csv(), encoding="utf-8")
    sys.stdout.write(f"{len(everything)} lines in {FILE}\n")
